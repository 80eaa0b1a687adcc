// A prompt that is ready for a model of any family.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace omniphi {

// Which media a request carries. It stays the same for the whole generation.
enum class InputMode : uint8_t { kLanguage, kVision, kSpeech, kVisionSpeech };

// "language", "vision", "speech", "vision_speech".
const char* input_mode_name(InputMode mode);

// How an image of a size is cut, and what it costs.
struct ImageLayout {
  int grid_cols = 0, grid_rows = 0;           // local crops; the global view comes on top
  int resized_width = 0, resized_height = 0;  // pixels after the resize that keeps the aspect ratio (to truncation)
  int left = 0, top = 0;                      // where the resized image stands in the padded one
  int padded_width = 0, padded_height = 0;    // crop size * grid_cols, crop size * grid_rows: the rest is white
  int valid_cols = 0, valid_rows = 0;         // patches that the tower attends to, in the padded image
  int crops = 0;                              // 1 + grid_cols * grid_rows
  int tokens = 0;                             // image tokens in the prompt
};

// One image as the vision tower takes it.
struct ImageInput {
  ImageLayout layout;
  Tensor pixel_values;  // [crops, 3, side, side], normalised; crop 0 is the global view, the rest row by row
  std::vector<uint8_t> patch_mask;  // [crops, side / 14, side / 14], 1 where a patch holds image; empty: all do
  int num_tokens() const { return layout.tokens; }
};

// One audio as the encoder takes it.
struct AudioInput {
  Tensor features;          // [frames, mel channels]
  int64_t num_tokens = 0;   // audio tokens in the prompt
  int sample_rate = 0;      // of the source, Hz
  int channels = 0;         // of the source
  int64_t num_samples = 0;  // of the source, a channel
  double seconds = 0;       // num_samples / sample_rate
};

// Where a medium's embeddings stand in a prompt.
struct MediaSlot {
  enum class Kind : uint8_t { kImage, kAudio };
  Kind kind = Kind::kImage;
  int index = 0;       // among the media of its kind, in order of appearance
  int64_t offset = 0;  // first of its rows in the expanded prompt
  int64_t tokens = 0;
};

struct ModelInput {
  std::vector<int32_t> ids;      // expanded: a medium's id stands once for each of its tokens. Negative ids are no text
  std::vector<MediaSlot> slots;  // in order of offset
  std::vector<ImageInput> images;
  std::vector<AudioInput> audios;
  InputMode mode = InputMode::kLanguage;

  int64_t image_tokens() const {
    int64_t total = 0;
    for (const ImageInput& image : images) total += image.num_tokens();
    return total;
  }
  int64_t audio_tokens() const {
    int64_t total = 0;
    for (const AudioInput& audio : audios) total += audio.num_tokens;
    return total;
  }
};

}  // namespace omniphi

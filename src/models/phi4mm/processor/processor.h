// From a prompt's token ids with one id per medium to everything that the model reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/media_slot.h"
#include "models/phi4mm/config.h"
#include "models/phi4mm/processor/audio_processor.h"
#include "models/phi4mm/processor/image_processor.h"

namespace omniphi::phi4mm {

// Which media a request carries; it selects the LoRA branch and the audio projection for the whole generation.
enum class InputMode : uint8_t { kLanguage, kVision, kSpeech, kVisionSpeech };

// "language", "vision", "speech", "vision_speech".
const char* input_mode_name(InputMode mode);

// none for language, vision for vision and vision_speech, speech for speech.
Adapter adapter_of(InputMode mode);

using omniphi::MediaSlot;

// A prompt that is ready for the model.
struct ModelInput {
  std::vector<int32_t> ids;      // expanded: a medium's id stands once for each of its tokens
  std::vector<MediaSlot> slots;  // in order of offset
  std::vector<ImageInput> images;
  std::vector<AudioInput> audios;
  InputMode mode = InputMode::kLanguage;

  int64_t image_tokens() const;
  int64_t audio_tokens() const;
};

// Expands the one id of every medium. Media are taken in order of appearance. Throws kInput when the number of media
// ids and of media differ, when ids are outside the vocabulary, when the list is empty, or when a prompt seems to be
// expanded already.
ModelInput build_input(const Config& config, const std::vector<int32_t>& ids, std::vector<ImageInput> images,
                       std::vector<AudioInput> audios);

}  // namespace omniphi::phi4mm

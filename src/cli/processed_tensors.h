// The processor's output under the names and shapes of the reference (tests/parity/phi4mm/README.md, section 1).
#pragma once

#include <cstdint>
#include <vector>

#include "io/safetensors_writer.h"
#include "models/model_input.h"

namespace omniphi::cli {

// Owns what it shows.
//   input_ids             [S] I32
//   pixel_values          [N, K, 3, side, side] F32, unused crops of images with fewer than K are zero
//   image_attention_mask  [N, K, side / 14, side / 14] U8, unused crops all one; Phi-4-multimodal's alone
//   image_sizes           [N, 2] I32, height and width of the padded image
//   num_img_tokens        [N] I32
//   audio_features        [B, T, 80] F32, shorter audios padded with zeros
//   audio_attention_mask  [B, T] U8, only when B > 1
//   audio_embed_sizes     [B] I32
// Media that the prompt lacks have no tensors.
class ProcessedTensors {
 public:
  explicit ProcessedTensors(const ModelInput& input);

  std::vector<NamedView> views() const;

 private:
  void add_images(const std::vector<ImageInput>& images);
  void add_audios(const std::vector<AudioInput>& audios);

  std::vector<int32_t> ids_;
  int64_t images_ = 0, crops_ = 0;
  int64_t side_ = 0, patches_ = 0;  // pixels and masked patches a side of a crop
  std::vector<float> pixels_;
  std::vector<uint8_t> patch_mask_;
  std::vector<int32_t> image_sizes_, image_tokens_;
  int64_t audios_ = 0, frames_ = 0, mel_ = 0;
  std::vector<float> features_;
  std::vector<uint8_t> frame_mask_;
  std::vector<int32_t> audio_tokens_;
};

}  // namespace omniphi::cli

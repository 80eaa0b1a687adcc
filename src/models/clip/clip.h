// The vision tower of Phi-3-vision: CLIP's image encoder (Radford et al., "Learning Transferable Visual Models From
// Natural Language Supervision", 2021), up to the output of its last but one block.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/linear.h"
#include "layers/norm.h"
#include "models/trace.h"
#include "models/vit/vit.h"

namespace omniphi {

class Clip {
 public:
  int width = 0, heads = 0;
  int image_size = 336, patch_size = 14;
  WeightRef class_embedding;     // [width]: row 0, before the patches
  Linear patch_embedding;        // [width, 3 * patch * patch], no bias
  WeightRef position_embedding;  // [1 + patches, width]
  LayerNorm pre_layernorm;
  std::vector<VitBlock> blocks;  // without the checkpoint's last one, which is never used

  int grid() const { return image_size / patch_size; }  // patches a side
  int64_t patches() const { return int64_t{grid()} * grid(); }

  // One crop. pixel_values [3, image_size, image_size]; features [patches, width]: the last block's outputs without the
  // class token's.
  void forward(const KernelContext& ctx, const float* pixel_values, float* features, Trace* trace = nullptr) const;

 private:
  void embed(const KernelContext& ctx, const float* pixel_values, float* hidden_states) const;
};

}  // namespace omniphi

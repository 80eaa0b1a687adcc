// The vision tower: SigLIP (Zhai et al., "Sigmoid Loss for Language Image Pre-Training", 2023) with NaViT's patch masks
// and spread positions (Dehghani et al., "Patch n' Pack", 2023), up to the output of its last but one block.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/linear.h"
#include "models/trace.h"
#include "models/vit/vit.h"

namespace omniphi {

class Siglip {
 public:
  int width = 0, heads = 0;
  int image_size = 448, patch_size = 14;
  Linear patch_embedding;        // [width, 3 * patch * patch]
  WeightRef position_embedding;  // [patches, width]
  std::vector<VitBlock> blocks;  // without the checkpoint's last one, which is never used

  int grid() const { return image_size / patch_size; }  // patches a side
  int pooled_tokens() const { return grid() / 2 * (grid() / 2); }

  // One crop. pixel_values [3, image_size, image_size]; patch_mask [grid, grid], 1 in a top-left rectangle; pooled
  // [(grid / 2)^2, width]: 2x2 averages of the last block's outputs. Masked patches are left out as keys, yet computed
  // as queries: pooling mixes them into the cells on an odd edge.
  void forward(const KernelContext& ctx, const float* pixel_values, const uint8_t* patch_mask, float* pooled,
               Trace* trace = nullptr) const;

 private:
  void embed(const KernelContext& ctx, const float* pixel_values, const uint8_t* patch_mask,
             float* hidden_states) const;
  void pool(const KernelContext& ctx, const float* hidden_states, float* pooled) const;
};

}  // namespace omniphi

// What the image towers have in common: pre-norm transformer blocks over patches (Dosovitskiy et al., "An Image is
// Worth 16x16 Words", 2021).
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "layers/linear.h"
#include "layers/norm.h"

namespace omniphi {

struct VitBlock {
  LayerNorm layer_norm1;
  Linear q_proj, k_proj, v_proj, out_proj;  // [width, width]
  LayerNorm layer_norm2;
  Linear fc1;  // [mlp, width]
  Linear fc2;  // [width, mlp]

  // hidden_states [m, width] in place. key_mask [m], 1 where a row may be attended; null: everywhere. Rows that may not
  // be attended are computed as queries all the same.
  void forward(const KernelContext& ctx, int heads, Activation activation, const uint8_t* key_mask, int64_t m,
               float* hidden_states) const;
};

// The pixels of each patch of image [3, side, side] as a row (channel, row, column): a product with it is a convolution
// whose stride is its size. patches [(side / patch)^2, 3 * patch * patch], row by row.
void gather_patches(const float* image, int side, int patch, float* patches);

}  // namespace omniphi

// Self-attention over rows that are all at hand, for the towers: keys and values go through the same blocks as the
// decoder's cache.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernels.h"

namespace omniphi {

struct DenseAttention {
  int heads = 0, head_dim = 0;
  float scale = 1;
  const float* relative_bias = nullptr;  // [heads, 2 * bias_reach], see AttentionArgs; null: none
  int bias_reach = 0;

  // What one call may attend to besides everything.
  struct Mask {
    const uint8_t* key_mask = nullptr;     // [m], 1 = may be attended
    const int32_t* range_begin = nullptr;  // [m]
    const int32_t* range_end = nullptr;    // [m]
  };

  // q, k, v and out [m, heads * head_dim], dense; out must not overlap the others.
  void forward(const KernelContext& ctx, const float* q, const float* k, const float* v, int64_t m, const Mask& mask,
               float* out) const;
};

}  // namespace omniphi

// Rotary embedding. Lanes run over dimensions; a pair is rotated in the lane of its first half.
#pragma once

#include "kernels/cpu/rows.inl.h"

namespace omniphi::OMNIPHI_SIMD {

void rope(const KernelContext& ctx, const RopeArgs& args) {
  const int64_t half = args.rotary / 2;
  for_rows(ctx, args.m, int64_t{args.heads} * args.rotary, [&](int64_t row) {
    const float* cosines = args.cos + row * half;
    const float* sines = args.sin + row * half;
    for (int64_t h = 0; h < args.heads; ++h) {
      float* low = args.x + row * args.ldx + h * args.head_dim;
      float* high = low + half;
      for_lanes(half, [&](int64_t d, int64_t n) {
        const F32 a = load_lanes(low + d, n), b = load_lanes(high + d, n);
        const F32 c = load_lanes(cosines + d, n), s = load_lanes(sines + d, n);
        store_lanes(low + d, fnma(b, s, mul(a, c)), n);
        store_lanes(high + d, fma(a, s, mul(b, c)), n);
      });
    }
  });
}

}  // namespace omniphi::OMNIPHI_SIMD

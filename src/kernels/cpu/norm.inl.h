// RMSNorm and LayerNorm along rows.
#pragma once

#include "kernels/cpu/rows.inl.h"

namespace omniphi::OMNIPHI_SIMD {

// The sum of f(x) over a row: four sums of vectors, so that additions need not wait for each other, added in a fixed
// order; the order depends on n alone.
template <typename F>
OMNIPHI_INLINE float sum_row(const float* x, int64_t n, const F& f) {
  F32 s0 = zero(), s1 = zero(), s2 = zero(), s3 = zero();
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    s0 = f(s0, load(x + i), kLanes);
    s1 = f(s1, load(x + i + kLanes), kLanes);
    s2 = f(s2, load(x + i + 2 * kLanes), kLanes);
    s3 = f(s3, load(x + i + 3 * kLanes), kLanes);
  }
  for (; i < n; i += kLanes) {
    const int64_t lanes = min_i64(kLanes, n - i);
    s0 = f(s0, load_lanes(x + i, lanes), lanes);
  }
  return sum(OMNIPHI_SIMD::add(OMNIPHI_SIMD::add(s0, s1), OMNIPHI_SIMD::add(s2, s3)));
}

// 1 / sqrt(squares / n + eps) in every lane.
OMNIPHI_INLINE F32 inverse_deviation(float squares, int64_t n, float eps) {
  const F32 mean = div(set(squares), set(static_cast<float>(n)));
  return div(set(1.0f), sqrt(add(mean, set(eps))));
}

void rms_norm(const KernelContext& ctx, const NormArgs& args) {
  for_rows(ctx, args.m, args.n, [&](int64_t row) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    const float squares = sum_row(x, args.n, [](F32 s, F32 v, int64_t) { return fma(v, v, s); });
    const F32 factor = inverse_deviation(squares, args.n, args.eps);
    for_lanes(args.n, [&](int64_t i, int64_t lanes) {
      const F32 normal = mul(load_lanes(x + i, lanes), factor);
      store_lanes(y + i, mul(normal, load_vector(args.weight, i, lanes)), lanes);
    });
  });
}

void layer_norm(const KernelContext& ctx, const NormArgs& args) {
  for_rows(ctx, args.m, args.n, [&](int64_t row) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    const float total = sum_row(x, args.n, [](F32 s, F32 v, int64_t) { return add(s, v); });
    const F32 mean = div(set(total), set(static_cast<float>(args.n)));
    // The mean is taken off first: a sum of squares minus a square would cancel. Lanes behind the row must stay 0.
    const float squares = sum_row(x, args.n, [&](F32 s, F32 v, int64_t lanes) {
      const F32 d = sub(v, mean);
      const F32 kept = lanes == kLanes ? d : select(first(lanes), d, zero());
      return fma(kept, kept, s);
    });
    const F32 factor = inverse_deviation(squares, args.n, args.eps);
    for_lanes(args.n, [&](int64_t i, int64_t lanes) {
      const F32 normal = mul(sub(load_lanes(x + i, lanes), mean), factor);
      const F32 bias = load_vector(args.bias, i, lanes);
      store_lanes(y + i, fma(normal, load_vector(args.weight, i, lanes), bias), lanes);
    });
  });
}

}  // namespace omniphi::OMNIPHI_SIMD

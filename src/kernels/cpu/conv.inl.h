// The convolutions of the audio encoder: channel-last, so that lanes run over channels.
#pragma once

#include "kernels/cpu/rows.inl.h"

namespace omniphi::OMNIPHI_SIMD {

// A weight [channels, taps] widened and transposed to [taps, channels], in the workspace.
OMNIPHI_INLINE float* transpose_taps(const KernelContext& ctx, const WeightRef& weight, int64_t channels,
                                     int64_t taps) {
  float* turned = take_floats(ctx, channels * taps);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t j = 0; j < taps; ++j) store_n(turned + j * channels + c, load_vector(weight, c * weight.ld + j, 1), 1);
  }
  return turned;
}

void conv3x3_stride2(const KernelContext& ctx, const Conv3x3Args& args) {
  const Workspace::Mark mark(*ctx.workspace);
  const float* weight = transpose_taps(ctx, args.weight, args.c_out, 9);
  const int64_t out_h = (args.h + 1) / 2, out_w = (args.w + 1) / 2, channels = args.c_out;
  for_rows(ctx, out_h * out_w, channels * 9, [&](int64_t row) {
    const int64_t top = row / out_w * 2 - 1, left = row % out_w * 2 - 1;
    const int64_t y0 = max_i64(0, -top), y1 = min_i64(3, args.h - top);
    const int64_t x0 = max_i64(0, -left), x1 = min_i64(3, args.w - left);
    for_lanes(channels, [&](int64_t c, int64_t lanes) {
      F32 total = load_vector(args.bias, c, lanes);
      for (int64_t i = y0; i < y1; ++i) {
        for (int64_t j = x0; j < x1; ++j) {
          const float* x = args.x + ((top + i) * args.w + left + j) * args.c_in;
          const F32 value = args.c_in == 1 ? set(*x) : load_lanes(x + c, lanes);
          total = fma(value, load_lanes(weight + (i * 3 + j) * channels + c, lanes), total);
        }
      }
      store_lanes(args.y + row * channels + c, total, lanes);
    });
  });
}

void causal_conv(const KernelContext& ctx, const CausalConvArgs& args) {
  const Workspace::Mark mark(*ctx.workspace);
  const float* weight = transpose_taps(ctx, args.weight, args.n, args.kernel);
  for_rows(ctx, args.m, args.n * args.kernel, [&](int64_t t) {
    const int64_t before = args.kernel - 1;
    for_lanes(args.n, [&](int64_t c, int64_t lanes) {
      F32 total = load_vector(args.bias, c, lanes);
      for (int64_t j = max_i64(0, before - t); j < args.kernel; ++j) {
        const F32 value = load_lanes(args.x + (t - before + j) * args.n + c, lanes);
        total = fma(value, load_lanes(weight + j * args.n + c, lanes), total);
      }
      store_lanes(args.y + t * args.n + c, total, lanes);
    });
  });
}

}  // namespace omniphi::OMNIPHI_SIMD

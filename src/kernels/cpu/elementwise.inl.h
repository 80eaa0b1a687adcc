// Maps over rows: activations, gated products, sums, embedding rows.
#pragma once

#include "kernels/cpu/math.inl.h"
#include "kernels/cpu/rows.inl.h"

namespace omniphi::OMNIPHI_SIMD {

template <typename F>
OMNIPHI_INLINE void map_rows(const KernelContext& ctx, const ActivationArgs& args, const F& f) {
  for_rows(ctx, args.m, args.n, [&](int64_t row) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    for_lanes(args.n, [&](int64_t i, int64_t lanes) { store_lanes(y + i, f(load_lanes(x + i, lanes)), lanes); });
  });
}

void activation(const KernelContext& ctx, const ActivationArgs& args) {
  switch (args.kind) {
    case Activation::kRelu:  // x comes second, so that NaN stays NaN
      return map_rows(ctx, args, [](F32 x) { return max(zero(), x); });
    case Activation::kSwish:
      return map_rows(ctx, args, [](F32 x) { return swish(x); });
    case Activation::kGeluTanh:
      return map_rows(ctx, args, [](F32 x) { return gelu_tanh(x); });
    case Activation::kGeluErf:
      return map_rows(ctx, args, [](F32 x) { return gelu_erf(x); });
    case Activation::kGeluQuick:
      return map_rows(ctx, args, [](F32 x) { return gelu_quick(x); });
  }
}

void gated(const KernelContext& ctx, const GatedArgs& args) {
  for_rows(ctx, args.m, args.n, [&](int64_t row) {
    const float* x = args.x + row * args.ldx;
    const float* value = args.gate_first ? x + args.n : x;
    const float* gate = args.gate_first ? x : x + args.n;
    float* y = args.y + row * args.ldy;
    for_lanes(args.n, [&](int64_t i, int64_t lanes) {
      const F32 v = add(load_lanes(value + i, lanes), load_vector(args.value_bias, i, lanes));
      const F32 g = add(load_lanes(gate + i, lanes), load_vector(args.gate_bias, i, lanes));
      store_lanes(y + i, mul(v, swish(g)), lanes);
    });
  });
}

void add(const KernelContext& ctx, const AddArgs& args) {
  const F32 scale = set(args.scale);
  for_rows(ctx, args.m, args.n, [&](int64_t row) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    for_lanes(args.n, [&](int64_t i, int64_t lanes) {
      store_lanes(y + i, fma(scale, load_lanes(x + i, lanes), load_lanes(y + i, lanes)), lanes);
    });
  });
}

void embed(const KernelContext& ctx, const EmbedArgs& args) {
  const int64_t bytes = args.table.dtype == DType::kF32 ? 4 : 2;
  for_rows(ctx, args.m, args.n, [&](int64_t row) {
    WeightRef source = args.table;
    source.data = static_cast<const char*>(source.data) + args.ids[row] * source.ld * bytes;
    float* y = args.y + row * args.ldy;
    for_lanes(args.n, [&](int64_t i, int64_t lanes) { store_lanes(y + i, load_vector(source, i, lanes), lanes); });
  });
}

}  // namespace omniphi::OMNIPHI_SIMD

#include "layers/elementwise.h"

namespace omniphi {
namespace {

GatedArgs gated_args(const float* x, int64_t m, int64_t n, float* y) {
  GatedArgs args;
  args.x = x;
  args.ldx = 2 * n;
  args.y = y;
  args.ldy = n;
  args.m = m;
  args.n = n;
  return args;
}

}  // namespace

void activate(const KernelContext& ctx, Activation kind, float* x, int64_t m, int64_t n) {
  ActivationArgs args;
  args.kind = kind;
  args.x = x;
  args.ldx = n;
  args.y = x;
  args.ldy = n;
  args.m = m;
  args.n = n;
  ctx.kernels->activation(ctx, args);
}

void silu_gate(const KernelContext& ctx, const float* x, int64_t m, int64_t n, float* y) {
  GatedArgs args = gated_args(x, m, n, y);
  args.gate_first = true;
  ctx.kernels->gated(ctx, args);
}

void swish_glu(const KernelContext& ctx, const float* x, int64_t m, int64_t n, float* y, WeightRef value_bias,
               WeightRef gate_bias) {
  GatedArgs args = gated_args(x, m, n, y);
  args.value_bias = value_bias;
  args.gate_bias = gate_bias;
  ctx.kernels->gated(ctx, args);
}

void add_scaled(const KernelContext& ctx, const float* x, int64_t m, int64_t n, float* y, float scale) {
  AddArgs args;
  args.x = x;
  args.ldx = n;
  args.y = y;
  args.ldy = n;
  args.m = m;
  args.n = n;
  args.scale = scale;
  ctx.kernels->add(ctx, args);
}

}  // namespace omniphi

#include "layers/norm.h"

namespace omniphi {
namespace {

NormArgs norm_args(const float* x, int64_t m, float* y, int64_t n) {
  NormArgs args;
  args.x = x;
  args.ldx = n;
  args.y = y;
  args.ldy = n;
  args.m = m;
  args.n = n;
  return args;
}

}  // namespace

void RmsNorm::forward(const KernelContext& ctx, const float* x, int64_t m, float* y) const {
  NormArgs args = norm_args(x, m, y, size);
  args.weight = weight;
  args.eps = eps;
  ctx.kernels->rms_norm(ctx, args);
}

void LayerNorm::forward(const KernelContext& ctx, const float* x, int64_t m, float* y) const {
  NormArgs args = norm_args(x, m, y, size);
  args.weight = weight;
  args.bias = bias;
  args.eps = eps;
  ctx.kernels->layer_norm(ctx, args);
}

}  // namespace omniphi

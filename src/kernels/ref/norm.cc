#include <cmath>

#include "kernels/ops.h"
#include "kernels/ref/weights.h"

namespace omniphi::ref {

void rms_norm(const KernelContext& ctx, const NormArgs& args) {
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    double squares = 0;
    for (int64_t i = 0; i < args.n; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double factor = 1 / std::sqrt(squares / static_cast<double>(args.n) + args.eps);
    for (int64_t i = 0; i < args.n; ++i) y[i] = static_cast<float>(x[i] * factor * weight_at(args.weight, i));
  });
}

void layer_norm(const KernelContext& ctx, const NormArgs& args) {
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    const auto n = static_cast<double>(args.n);
    double sum = 0;
    for (int64_t i = 0; i < args.n; ++i) sum += x[i];
    const double mean = sum / n;
    double squares = 0;
    for (int64_t i = 0; i < args.n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double factor = 1 / std::sqrt(squares / n + args.eps);
    for (int64_t i = 0; i < args.n; ++i) {
      const double normal = (x[i] - mean) * factor;
      y[i] = static_cast<float>(normal * weight_at(args.weight, i) + weight_or_zero(args.bias, i));
    }
  });
}

}  // namespace omniphi::ref

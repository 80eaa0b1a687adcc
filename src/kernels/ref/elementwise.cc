#include <cmath>

#include "kernels/ops.h"
#include "kernels/ref/weights.h"

namespace omniphi::ref {
namespace {

double swish(double x) { return x / (1 + std::exp(-x)); }

double activate(Activation kind, double x) {
  constexpr double kSqrtHalf = 0.70710678118654752440;       // sqrt(1/2)
  constexpr double kSqrtTwoOverPi = 0.79788456080286535588;  // sqrt(2/pi)
  switch (kind) {
    case Activation::kRelu:
      return x < 0 ? 0 : x;  // NaN stays NaN
    case Activation::kSwish:
      return swish(x);
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
    case Activation::kGeluErf:
      return 0.5 * x * std::erfc(-x * kSqrtHalf);
    case Activation::kGeluQuick:
      return x / (1 + std::exp(-1.702 * x));
  }
  return x;
}

}  // namespace

void activation(const KernelContext& ctx, const ActivationArgs& args) {
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    for (int64_t i = 0; i < args.n; ++i) y[i] = static_cast<float>(activate(args.kind, x[i]));
  });
}

void gated(const KernelContext& ctx, const GatedArgs& args) {
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    const float* x = args.x + row * args.ldx;
    const float* value = args.gate_first ? x + args.n : x;
    const float* gate = args.gate_first ? x : x + args.n;
    float* y = args.y + row * args.ldy;
    for (int64_t i = 0; i < args.n; ++i) {
      const double v = static_cast<double>(value[i]) + weight_or_zero(args.value_bias, i);
      const double g = static_cast<double>(gate[i]) + weight_or_zero(args.gate_bias, i);
      y[i] = static_cast<float>(v * swish(g));
    }
  });
}

void add(const KernelContext& ctx, const AddArgs& args) {
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    for (int64_t i = 0; i < args.n; ++i) y[i] += args.scale * x[i];
  });
}

void embed(const KernelContext& ctx, const EmbedArgs& args) {
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    float* y = args.y + row * args.ldy;
    for (int64_t i = 0; i < args.n; ++i) y[i] = weight_at(args.table, args.ids[row], i);
  });
}

}  // namespace omniphi::ref

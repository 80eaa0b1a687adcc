#include <cmath>

#include "kernels/ops.h"

namespace omniphi::ref {

void log_sum_exp(const KernelContext& ctx, const LogSumExpArgs& args) {
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    const float* x = args.logits + row * args.ldx;
    int64_t best = 0;
    for (int64_t i = 1; i < args.n && !std::isnan(x[best]); ++i) {
      if (x[i] > x[best] || std::isnan(x[i])) best = i;
    }
    args.argmax[row] = static_cast<int32_t>(best);
    // Infinite and NaN maxima are the result themselves; inf - inf would hide which it was.
    args.log_sum_exp[row] = x[best];
    if (!std::isfinite(x[best])) return;
    double sum = 0;
    for (int64_t i = 0; i < args.n; ++i) sum += std::exp(static_cast<double>(x[i]) - x[best]);
    args.log_sum_exp[row] = static_cast<float>(x[best] + std::log(sum));
  });
}

}  // namespace omniphi::ref

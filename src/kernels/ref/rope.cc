#include "kernels/ops.h"

namespace omniphi::ref {

void rope(const KernelContext& ctx, const RopeArgs& args) {
  const int half = args.rotary / 2;
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    const float* cosine = args.cos + row * half;
    const float* sine = args.sin + row * half;
    for (int h = 0; h < args.heads; ++h) {
      float* x = args.x + row * args.ldx + static_cast<int64_t>(h) * args.head_dim;
      for (int d = 0; d < half; ++d) {
        const double low = x[d], high = x[d + half];
        x[d] = static_cast<float>(low * cosine[d] - high * sine[d]);
        x[d + half] = static_cast<float>(high * cosine[d] + low * sine[d]);
      }
    }
  });
}

}  // namespace omniphi::ref

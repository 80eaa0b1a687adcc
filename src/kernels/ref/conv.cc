#include "kernels/ops.h"
#include "kernels/ref/weights.h"

namespace omniphi::ref {

void conv3x3_stride2(const KernelContext& ctx, const Conv3x3Args& args) {
  const int64_t out_h = (args.h + 1) / 2, out_w = (args.w + 1) / 2;
  ctx.pool->parallel_for(out_h, [&](int64_t oy, int) {
    for (int64_t ox = 0; ox < out_w; ++ox) {
      for (int64_t c = 0; c < args.c_out; ++c) {
        double sum = weight_or_zero(args.bias, c);
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t iy = 2 * oy + tap / 3 - 1, ix = 2 * ox + tap % 3 - 1;
          if (iy < 0 || iy >= args.h || ix < 0 || ix >= args.w) continue;
          const float x = args.x[(iy * args.w + ix) * args.c_in + (args.c_in == 1 ? 0 : c)];
          sum += static_cast<double>(x) * weight_at(args.weight, c, tap);
        }
        args.y[(oy * out_w + ox) * args.c_out + c] = static_cast<float>(sum);
      }
    }
  });
}

void causal_conv(const KernelContext& ctx, const CausalConvArgs& args) {
  ctx.pool->parallel_for(args.m, [&](int64_t t, int) {
    for (int64_t c = 0; c < args.n; ++c) {
      double sum = weight_or_zero(args.bias, c);
      for (int64_t j = 0; j < args.kernel; ++j) {
        const int64_t source = t - (args.kernel - 1) + j;
        if (source >= 0) sum += static_cast<double>(args.x[source * args.n + c]) * weight_at(args.weight, c, j);
      }
      args.y[t * args.n + c] = static_cast<float>(sum);
    }
  });
}

}  // namespace omniphi::ref

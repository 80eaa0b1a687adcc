#include <algorithm>

#include "kernels/ops.h"
#include "kernels/ref/weights.h"

namespace omniphi::ref {
namespace {

// Columns that share a pass over a row of a: four independent sums hide the latency of an addition.
constexpr int64_t kColumns = 4;

void finish(const MatmulArgs& args, int64_t row, int64_t column, double sum) {
  float& c = args.c[row * args.ldc + column];
  if (args.accumulate) {
    c += args.scale * static_cast<float>(sum);
  } else {
    c = static_cast<float>(sum + weight_or_zero(args.bias, column));
  }
}

}  // namespace

void matmul(const KernelContext& ctx, const MatmulArgs& args) {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t k = args.k;
  float* scratch = take_floats(ctx, thread_count(ctx) * kColumns * k);
  ctx.pool->parallel_for((args.n + kColumns - 1) / kColumns, [&](int64_t block, int thread) {
    float* w = scratch + thread * kColumns * k;
    const int64_t first = block * kColumns;
    const int64_t columns = std::min(kColumns, args.n - first);
    for (int64_t j = 0; j < kColumns; ++j) {
      for (int64_t i = 0; i < k; ++i) w[j * k + i] = j < columns ? weight_at(args.w, first + j, i) : 0.0f;
    }
    for (int64_t row = 0; row < args.m; ++row) {
      const float* a = args.a + row * args.lda;
      double sums[kColumns] = {};
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t j = 0; j < kColumns; ++j) sums[j] += static_cast<double>(a[i]) * w[j * k + i];
      }
      for (int64_t j = 0; j < columns; ++j) finish(args, row, first + j, sums[j]);
    }
  });
}

}  // namespace omniphi::ref

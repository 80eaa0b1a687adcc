// Work over the rows of a matrix.
#pragma once

#include "kernels/cpu/simd_common.inl.h"
#include "kernels/ops.h"

namespace omniphi::OMNIPHI_SIMD {

// Calls f(row) for every row. Rows go to threads in groups of about kGrain values: a call with fewer runs on the
// caller, because waking a thread costs more than the work.
template <typename F>
OMNIPHI_INLINE void for_rows(const KernelContext& ctx, int64_t rows, int64_t row_values, const F& f) {
  constexpr int64_t kGrain = 16384;
  const int64_t group = max_i64(1, kGrain / max_i64(1, row_values));
  ctx.pool->parallel_for((rows + group - 1) / group, [&](int64_t index, int) {
    const int64_t end = min_i64((index + 1) * group, rows);
    for (int64_t row = index * group; row < end; ++row) f(row);
  });
}

}  // namespace omniphi::OMNIPHI_SIMD

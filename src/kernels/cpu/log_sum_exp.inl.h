// log(sum(exp)) and the largest value of long rows.
#pragma once

#include "kernels/cpu/math.inl.h"
#include "kernels/cpu/rows.inl.h"

namespace omniphi::OMNIPHI_SIMD {

inline constexpr int kRowChains = 4;  // independent accumulators: vector v of a row belongs to chain v % kRowChains

// Calls f(chain, index, lanes) along a row.
template <typename F>
OMNIPHI_INLINE void for_chains(int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + kRowChains * kLanes <= n; i += kRowChains * kLanes) {
#pragma GCC unroll 4
    for (int chain = 0; chain < kRowChains; ++chain) f(chain, i + chain * kLanes, int64_t{kLanes});
  }
  for (int chain = 0; i < n; ++chain, i += kLanes) f(chain, i, min_i64(kLanes, n - i));
}

// The largest value, NaN when there is one.
OMNIPHI_INLINE float largest_of(const float* x, int64_t n) {
  const F32 lowest = set(-__builtin_inff());
  F32 most[kRowChains], nan[kRowChains];
#pragma GCC unroll 4
  for (int chain = 0; chain < kRowChains; ++chain) {
    most[chain] = lowest;
    nan[chain] = zero();
  }
  for_chains(n, [&](int chain, int64_t i, int64_t lanes) {
    const F32 loaded = load_lanes(x + i, lanes);
    const F32 v = lanes == kLanes ? loaded : select(first(lanes), loaded, lowest);
    most[chain] = max(v, most[chain]);  // passes over NaN
    nan[chain] = select(equal(v, v), nan[chain], set(1));
  });
  const F32 found = max(max(nan[0], nan[1]), max(nan[2], nan[3]));
  if (any(less(zero(), found))) return __builtin_nanf("");
  return max_lane(max(max(most[0], most[1]), max(most[2], most[3])));
}

// The first index whose value is `value`, or is NaN when `value` is. There is one.
OMNIPHI_INLINE int64_t first_index(const float* x, int64_t n, float value) {
  int64_t i = 0;
  const F32 wanted = set(value);
  const bool nan = value != value;
  constexpr uint32_t kAll = (uint64_t{1} << kLanes) - 1;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 v = load(x + i);
    const uint32_t hits = nan ? mask_bits(equal(v, v)) ^ kAll : mask_bits(equal(v, wanted));
    if (hits != 0) return i + __builtin_ctz(hits);
  }
  while (i < n - 1 && !(nan ? x[i] != x[i] : x[i] == value)) ++i;
  return i;
}

OMNIPHI_INLINE float log_sum(const float* x, int64_t n, float largest) {
  const F32 shift = set(largest);
  F32 sums[kRowChains];
#pragma GCC unroll 4
  for (int chain = 0; chain < kRowChains; ++chain) sums[chain] = zero();
  for_chains(n, [&](int chain, int64_t i, int64_t lanes) {
    const F32 e = exp(sub(load_lanes(x + i, lanes), shift));
    sums[chain] = add(sums[chain], lanes == kLanes ? e : select(first(lanes), e, zero()));
  });
  return largest + __builtin_logf(sum(add(add(sums[0], sums[1]), add(sums[2], sums[3]))));
}

void log_sum_exp(const KernelContext& ctx, const LogSumExpArgs& args) {
  for_rows(ctx, args.m, args.n, [&](int64_t row) {
    const float* x = args.logits + row * args.ldx;
    const float largest = largest_of(x, args.n);
    args.argmax[row] = static_cast<int32_t>(first_index(x, args.n, largest));
    // Infinite and NaN maxima are the result themselves; inf - inf would hide which it was.
    const bool finite = largest - largest == 0;
    args.log_sum_exp[row] = finite ? log_sum(x, args.n, largest) : largest;
  });
}

}  // namespace omniphi::OMNIPHI_SIMD

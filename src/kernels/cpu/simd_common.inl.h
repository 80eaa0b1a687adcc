// What both vector widths share: reductions over lanes, and loads by weight type. Included by simd_avx2.h and
// simd_avx512.h, once in each file that is compiled for an instruction set.
#pragma once

#include "kernels/kernels.h"

namespace omniphi::OMNIPHI_SIMD {

// The sum of the lanes, with the bits of sum4().
OMNIPHI_INLINE float sum(F32 x) {
  const __m128 quad = fold(x);
  const __m128 pair = _mm_add_ps(quad, _mm_movehl_ps(quad, quad));
  return _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps(pair, pair, 1)));
}

// The largest lane. NaN lanes may be lost.
OMNIPHI_INLINE float max_lane(F32 x) {
  const __m128 quad = fold_max(x);
  const __m128 pair = _mm_max_ps(quad, _mm_movehl_ps(quad, quad));
  return _mm_cvtss_f32(_mm_max_ss(pair, _mm_shuffle_ps(pair, pair, 1)));
}

// Loads of one weight type, as template arguments of kernels. `index` counts elements from p.
struct AsF32 {
  static constexpr int kBytes = 4;
  static inline __attribute__((always_inline)) F32 load(const char* p, int64_t index) {
    return OMNIPHI_SIMD::load(reinterpret_cast<const float*>(p + index * 4));
  }
  static inline __attribute__((always_inline)) F32 load_n(const char* p, int64_t index, int64_t n) {
    return OMNIPHI_SIMD::load_n(reinterpret_cast<const float*>(p + index * 4), n);
  }
};
struct AsBf16 {
  static constexpr int kBytes = 2;
  static inline __attribute__((always_inline)) F32 load(const char* p, int64_t index) {
    return load_bf16(p + index * 2);
  }
  static inline __attribute__((always_inline)) F32 load_n(const char* p, int64_t index, int64_t n) {
    return load_bf16_n(p + index * 2, n);
  }
};
struct AsF16 {
  static constexpr int kBytes = 2;
  static inline __attribute__((always_inline)) F32 load(const char* p, int64_t index) {
    return load_f16(p + index * 2);
  }
  static inline __attribute__((always_inline)) F32 load_n(const char* p, int64_t index, int64_t n) {
    return load_f16_n(p + index * 2, n);
  }
};

// Elements [index, index + n) of a bias-like vector of any type, n <= kLanes; zeros where it is absent.
OMNIPHI_INLINE F32 load_vector(const WeightRef& w, int64_t index, int64_t n) {
  const char* p = static_cast<const char*>(w.data);
  if (p == nullptr) return zero();
  switch (w.dtype) {
    case DType::kBF16:
      return n == kLanes ? AsBf16::load(p, index) : AsBf16::load_n(p, index, n);
    case DType::kF16:
      return n == kLanes ? AsF16::load(p, index) : AsF16::load_n(p, index, n);
    default:
      return n == kLanes ? AsF32::load(p, index) : AsF32::load_n(p, index, n);
  }
}

OMNIPHI_INLINE int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
OMNIPHI_INLINE int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

// Calls f(index, lanes) along a row of n values: whole vectors, then the tail. The same code runs for both.
template <typename F>
OMNIPHI_INLINE void for_lanes(int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) f(i, static_cast<int64_t>(kLanes));
  if (i < n) f(i, n - i);
}

// load and store of `lanes` values, whole vectors unmasked.
OMNIPHI_INLINE F32 load_lanes(const float* p, int64_t lanes) { return lanes == kLanes ? load(p) : load_n(p, lanes); }
OMNIPHI_INLINE void store_lanes(float* p, F32 x, int64_t lanes) {
  if (lanes == kLanes) {
    store(p, x);
  } else {
    store_n(p, x, lanes);
  }
}

}  // namespace omniphi::OMNIPHI_SIMD

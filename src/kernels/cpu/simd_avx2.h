// Eight float lanes in AVX2 registers, with FMA and F16C. simd_avx512.h gives the same names for sixteen lanes; kernels
// are written once against them. Only files compiled with the matching flags may include this.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define OMNIPHI_SIMD avx2

namespace omniphi::avx2 {

inline constexpr int kLanes = 8;

struct F32 {
  __m256 v;
};
struct Mask {
  __m256 m;  // all bits of a lane, or none
};

#define OMNIPHI_INLINE static inline __attribute__((always_inline))

OMNIPHI_INLINE F32 zero() { return {_mm256_setzero_ps()}; }
OMNIPHI_INLINE F32 set(float x) { return {_mm256_set1_ps(x)}; }

// The first n lanes, 0 <= n <= kLanes.
OMNIPHI_INLINE Mask first(int64_t n) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lanes))};
}

// Unaligned by any number of bytes. The _n forms touch only the first n values; the other lanes are 0.
OMNIPHI_INLINE F32 load(const float* p) { return {_mm256_loadu_ps(p)}; }
OMNIPHI_INLINE F32 load_n(const float* p, int64_t n) {
  return {_mm256_maskload_ps(p, _mm256_castps_si256(first(n).m))};
}
OMNIPHI_INLINE void store(float* p, F32 x) { _mm256_storeu_ps(p, x.v); }
OMNIPHI_INLINE void store_n(float* p, F32 x, int64_t n) {
  _mm256_maskstore_ps(p, _mm256_castps_si256(first(n).m), x.v);
}

// AVX2 has no masked load of 16-bit values: a tail is copied, so that nothing behind it is read.
OMNIPHI_INLINE __m128i load16_n(const void* p, int64_t n) {
  alignas(16) uint16_t copy[8] = {};
  __builtin_memcpy(copy, p, static_cast<size_t>(n) * 2);
  return _mm_load_si128(reinterpret_cast<const __m128i*>(copy));
}
OMNIPHI_INLINE __m256 widen_bf16(__m128i x) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}
OMNIPHI_INLINE F32 load_bf16(const void* p) { return {widen_bf16(_mm_loadu_si128(static_cast<const __m128i*>(p)))}; }
OMNIPHI_INLINE F32 load_bf16_n(const void* p, int64_t n) { return {widen_bf16(load16_n(p, n))}; }
OMNIPHI_INLINE F32 load_f16(const void* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
}
OMNIPHI_INLINE F32 load_f16_n(const void* p, int64_t n) { return {_mm256_cvtph_ps(load16_n(p, n))}; }

// Rounds to nearest, ties to even; NaN stays NaN. Writes kLanes (or the first n) bf16 values.
OMNIPHI_INLINE __m128i round_bf16(F32 x) {
  const __m256i bits = _mm256_castps_si256(x.v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256 nan = _mm256_cmp_ps(x.v, x.v, _CMP_UNORD_Q);
  const __m256i chosen = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(nan));
  const __m256i high = _mm256_srli_epi32(chosen, 16);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(high, high), 0x08);
  return _mm256_castsi256_si128(packed);
}
OMNIPHI_INLINE void store_bf16(void* p, F32 x) { _mm_storeu_si128(static_cast<__m128i*>(p), round_bf16(x)); }
OMNIPHI_INLINE void store_bf16_n(void* p, F32 x, int64_t n) {
  alignas(16) uint16_t copy[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(copy), round_bf16(x));
  __builtin_memcpy(p, copy, static_cast<size_t>(n) * 2);
}

OMNIPHI_INLINE F32 fma(F32 a, F32 b, F32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }    // a * b + c
OMNIPHI_INLINE F32 fnma(F32 a, F32 b, F32 c) { return {_mm256_fnmadd_ps(a.v, b.v, c.v)}; }  // c - a * b
OMNIPHI_INLINE F32 add(F32 a, F32 b) { return {_mm256_add_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 sub(F32 a, F32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 mul(F32 a, F32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 div(F32 a, F32 b) { return {_mm256_div_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 sqrt(F32 a) { return {_mm256_sqrt_ps(a.v)}; }
// When a lane of either is NaN, the result is b's lane.
OMNIPHI_INLINE F32 max(F32 a, F32 b) { return {_mm256_max_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 min(F32 a, F32 b) { return {_mm256_min_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 abs(F32 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
OMNIPHI_INLINE F32 copy_sign(F32 magnitude, F32 sign) {
  const __m256 bit = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(_mm256_andnot_ps(bit, magnitude.v), _mm256_and_ps(bit, sign.v))};
}
OMNIPHI_INLINE F32 round(F32 a) {  // nearest, ties to even
  return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
// x * 2^n for whole n in [-152, 128], in two steps: one factor can't be 2^128 or subnormal.
OMNIPHI_INLINE __m256 pow2(__m256i n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
OMNIPHI_INLINE F32 scale_by_pow2(F32 x, F32 n) {
  const __m256i whole = _mm256_cvtps_epi32(n.v), half = _mm256_srai_epi32(whole, 1);
  return {_mm256_mul_ps(_mm256_mul_ps(x.v, pow2(half)), pow2(_mm256_sub_epi32(whole, half)))};
}

// Comparisons are false where a lane is NaN.
OMNIPHI_INLINE Mask less(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
OMNIPHI_INLINE Mask less_equal(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
OMNIPHI_INLINE Mask equal(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
OMNIPHI_INLINE Mask both(Mask a, Mask b) { return {_mm256_and_ps(a.m, b.m)}; }
OMNIPHI_INLINE F32 select(Mask m, F32 yes, F32 no) { return {_mm256_blendv_ps(no.v, yes.v, m.m)}; }
OMNIPHI_INLINE bool any(Mask m) { return _mm256_movemask_ps(m.m) != 0; }
OMNIPHI_INLINE uint32_t mask_bits(Mask m) { return static_cast<uint32_t>(_mm256_movemask_ps(m.m)); }  // bit i is lane i
// Lane i is set where byte i of the first n bytes at p is not 0.
OMNIPHI_INLINE Mask mask_from_bytes(const uint8_t* p, int64_t n) {
  uint64_t bytes = 0;
  __builtin_memcpy(&bytes, p, static_cast<size_t>(n));
  const __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes)));
  return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(lanes, _mm256_setzero_si256()))};
}

// The first step of a sum over lanes: see simd_common.inl.h.
OMNIPHI_INLINE __m128 fold(F32 x) { return _mm_add_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1)); }
// Sums of the lanes of four vectors. Lanes are added in one order: lane i and lane i + kLanes / 2, and so on by halves.
OMNIPHI_INLINE __m128 sum4(F32 a, F32 b, F32 c, F32 d) {
  const __m128 fa = fold(a), fb = fold(b), fc = fold(c), fd = fold(d);
  const __m128 ab = _mm_add_ps(_mm_unpacklo_ps(fa, fb), _mm_unpackhi_ps(fa, fb));
  const __m128 cd = _mm_add_ps(_mm_unpacklo_ps(fc, fd), _mm_unpackhi_ps(fc, fd));
  return _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
}
// The first step of a maximum over lanes.
OMNIPHI_INLINE __m128 fold_max(F32 x) { return _mm_max_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1)); }

}  // namespace omniphi::avx2

#include "kernels/cpu/simd_common.inl.h"

// Sixteen float lanes in AVX-512 registers. simd_avx2.h gives the same names for eight lanes; kernels are written once
// against them. Only files compiled with the matching flags may include this.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define OMNIPHI_SIMD avx512

namespace omniphi::avx512 {

inline constexpr int kLanes = 16;

struct F32 {
  __m512 v;
};
struct Mask {
  __mmask16 m;
};

#define OMNIPHI_INLINE static inline __attribute__((always_inline))

OMNIPHI_INLINE F32 zero() { return {_mm512_setzero_ps()}; }
OMNIPHI_INLINE F32 set(float x) { return {_mm512_set1_ps(x)}; }

// The first n lanes, 0 <= n <= kLanes.
OMNIPHI_INLINE Mask first(int64_t n) { return {static_cast<__mmask16>((uint32_t{1} << n) - 1)}; }

// Unaligned by any number of bytes. The _n forms touch only the first n values; the other lanes are 0.
OMNIPHI_INLINE F32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
OMNIPHI_INLINE F32 load_n(const float* p, int64_t n) { return {_mm512_maskz_loadu_ps(first(n).m, p)}; }
OMNIPHI_INLINE void store(float* p, F32 x) { _mm512_storeu_ps(p, x.v); }
OMNIPHI_INLINE void store_n(float* p, F32 x, int64_t n) { _mm512_mask_storeu_ps(p, first(n).m, x.v); }

OMNIPHI_INLINE __m512 widen_bf16(__m256i x) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}
OMNIPHI_INLINE F32 load_bf16(const void* p) { return {widen_bf16(_mm256_loadu_si256(static_cast<const __m256i*>(p)))}; }
OMNIPHI_INLINE F32 load_bf16_n(const void* p, int64_t n) {
  return {widen_bf16(_mm256_maskz_loadu_epi16(first(n).m, p))};
}
OMNIPHI_INLINE F32 load_f16(const void* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)))};
}
OMNIPHI_INLINE F32 load_f16_n(const void* p, int64_t n) {
  return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(n).m, p))};
}

// Rounds to nearest, ties to even; NaN stays NaN. Writes kLanes (or the first n) bf16 values.
OMNIPHI_INLINE __m256i round_bf16(F32 x) {
  const __m512i bits = _mm512_castps_si512(x.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16));
}
OMNIPHI_INLINE void store_bf16(void* p, F32 x) { _mm256_storeu_si256(static_cast<__m256i*>(p), round_bf16(x)); }
OMNIPHI_INLINE void store_bf16_n(void* p, F32 x, int64_t n) { _mm256_mask_storeu_epi16(p, first(n).m, round_bf16(x)); }

OMNIPHI_INLINE F32 fma(F32 a, F32 b, F32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }    // a * b + c
OMNIPHI_INLINE F32 fnma(F32 a, F32 b, F32 c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }  // c - a * b
OMNIPHI_INLINE F32 add(F32 a, F32 b) { return {_mm512_add_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 sub(F32 a, F32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 mul(F32 a, F32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 div(F32 a, F32 b) { return {_mm512_div_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 sqrt(F32 a) { return {_mm512_sqrt_ps(a.v)}; }
// When a lane of either is NaN, the result is b's lane.
OMNIPHI_INLINE F32 max(F32 a, F32 b) { return {_mm512_max_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 min(F32 a, F32 b) { return {_mm512_min_ps(a.v, b.v)}; }
OMNIPHI_INLINE F32 abs(F32 a) { return {_mm512_abs_ps(a.v)}; }
OMNIPHI_INLINE F32 copy_sign(F32 magnitude, F32 sign) {
  const __m512 bit = _mm512_set1_ps(-0.0f);
  return {_mm512_or_ps(_mm512_andnot_ps(bit, magnitude.v), _mm512_and_ps(bit, sign.v))};
}
OMNIPHI_INLINE F32 round(F32 a) {  // nearest, ties to even
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
// x * 2^n for whole n in [-152, 128].
OMNIPHI_INLINE F32 scale_by_pow2(F32 x, F32 n) { return {_mm512_scalef_ps(x.v, n.v)}; }

// Comparisons are false where a lane is NaN.
OMNIPHI_INLINE Mask less(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
OMNIPHI_INLINE Mask less_equal(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
OMNIPHI_INLINE Mask equal(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
OMNIPHI_INLINE Mask both(Mask a, Mask b) { return {static_cast<__mmask16>(a.m & b.m)}; }
OMNIPHI_INLINE F32 select(Mask m, F32 yes, F32 no) { return {_mm512_mask_mov_ps(no.v, m.m, yes.v)}; }
OMNIPHI_INLINE bool any(Mask m) { return m.m != 0; }
OMNIPHI_INLINE uint32_t mask_bits(Mask m) { return m.m; }  // bit i is lane i
// Lane i is set where byte i of the first n bytes at p is not 0.
OMNIPHI_INLINE Mask mask_from_bytes(const uint8_t* p, int64_t n) {
  const __m128i bytes = _mm_maskz_loadu_epi8(first(n).m, p);
  return {_mm_test_epi8_mask(bytes, bytes)};
}

// The first steps of a sum over lanes: see simd_common.inl.h.
OMNIPHI_INLINE __m128 fold(F32 x) {
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
// Sums of the lanes of four vectors. Lanes are added in one order: lane i and lane i + kLanes / 2, and so on by halves.
// Quarters of different vectors share a register from the first step on, which takes half as many shuffles as folding
// each vector on its own.
OMNIPHI_INLINE __m128 sum4(F32 a, F32 b, F32 c, F32 d) {
  const __m512 ab = _mm512_add_ps(_mm512_shuffle_f32x4(a.v, b.v, 0x44), _mm512_shuffle_f32x4(a.v, b.v, 0xee));
  const __m512 cd = _mm512_add_ps(_mm512_shuffle_f32x4(c.v, d.v, 0x44), _mm512_shuffle_f32x4(c.v, d.v, 0xee));
  const __m512 quads = _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
  const __m512 pairs = _mm512_add_ps(quads, _mm512_permute_ps(quads, 0x4e));
  const __m512 sums = _mm512_add_ps(pairs, _mm512_permute_ps(pairs, 0xb1));
  const __m512i firsts = _mm512_castsi128_si512(_mm_setr_epi32(0, 4, 8, 12));
  return _mm512_castps512_ps128(_mm512_permutexvar_ps(firsts, sums));
}
// The first step of a maximum over lanes, as fold() for a sum.
OMNIPHI_INLINE __m128 fold_max(F32 x) {
  const __m256 half = _mm256_max_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
  return _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

}  // namespace omniphi::avx512

#include "kernels/cpu/simd_common.inl.h"

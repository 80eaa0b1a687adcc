#include "media/resize_rows.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace omniphi {
namespace {

constexpr int kWeightBits = 22;
constexpr int32_t kHalf = 1 << (kWeightBits - 1);

// Weights are not negative, so sums aren't; a row of rounded weights may sum to a little more than one.
inline uint8_t to_byte(int32_t sum) { return static_cast<uint8_t>(std::min(sum >> kWeightBits, 255)); }

void resize_row_plain(const uint8_t* rgbx, const RowWeights& weights, uint8_t* out) {
  for (int x = 0; x < weights.width; ++x, out += 3) {
    const uint8_t* pixel = rgbx + static_cast<size_t>(weights.first[x]) * 4;
    const int32_t* weight = weights.weight + static_cast<size_t>(x) * static_cast<size_t>(weights.taps);
    int32_t red = kHalf, green = kHalf, blue = kHalf;
    for (int k = 0; k < weights.taps; ++k, pixel += 4) {
      red += weight[k] * pixel[0];
      green += weight[k] * pixel[1];
      blue += weight[k] * pixel[2];
    }
    out[0] = to_byte(red);
    out[1] = to_byte(green);
    out[2] = to_byte(blue);
  }
}

void blend_rows_plain(const uint8_t* const* rows, const int32_t* weight, int count, size_t from, size_t bytes,
                      uint8_t* out) {
  constexpr size_t kBlock = 64;  // sums that stay in registers or the nearest cache
  int32_t sums[kBlock];
  for (size_t begin = from; begin < bytes; begin += kBlock) {
    const size_t block = std::min(kBlock, bytes - begin);
    std::fill(sums, sums + block, kHalf);
    for (int k = 0; k < count; ++k) {
      for (size_t i = 0; i < block; ++i) sums[i] += weight[k] * rows[k][begin + i];
    }
    for (size_t i = 0; i < block; ++i) out[begin + i] = to_byte(sums[i]);
  }
}

#if defined(__x86_64__)
#define OMNIPHI_TARGET_AVX2 __attribute__((target("avx2")))

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

// Two taps a step: eight lanes are the RGBx of two neighbouring pixels.
OMNIPHI_TARGET_AVX2 void resize_row_avx2(const uint8_t* rgbx, const RowWeights& weights, uint8_t* out) {
  const __m128i half = _mm_set1_epi32(kHalf);
  const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  for (int x = 0; x < weights.width; ++x, out += 3) {
    const uint8_t* pixel = rgbx + static_cast<size_t>(weights.first[x]) * 4;
    const int32_t* weight = weights.weight + static_cast<size_t>(x) * static_cast<size_t>(weights.taps);
    __m256i sums = _mm256_setzero_si256();
    for (int k = 0; k < weights.taps; k += 2, pixel += 8) {
      const __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixel)));
      const __m128i pair = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weight + k));
      const __m256i scale = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(pair), spread);
      sums = _mm256_add_epi32(sums, _mm256_mullo_epi32(lanes, scale));
    }
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_srai_epi32(_mm_add_epi32(sum, half), kWeightBits);
    sum = _mm_packus_epi16(_mm_packus_epi32(sum, sum), sum);
    const int32_t packed = _mm_cvtsi128_si32(sum);
    std::memcpy(out, &packed, 3);
  }
}

// 32 bytes a step, their sums in four registers. Returns the bytes done: all but the last few.
OMNIPHI_TARGET_AVX2 size_t blend_rows_avx2(const uint8_t* const* rows, const int32_t* weight, int count, size_t bytes,
                                           uint8_t* out) {
  size_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    __m256i sums[4];
    for (__m256i& sum : sums) sum = _mm256_set1_epi32(kHalf);
    for (int k = 0; k < count; ++k) {
      const __m256i scale = _mm256_set1_epi32(weight[k]);
      for (int part = 0; part < 4; ++part) {
        const auto* source = reinterpret_cast<const __m128i*>(rows[k] + i + static_cast<size_t>(part) * 8);
        const __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(source));
        sums[part] = _mm256_add_epi32(sums[part], _mm256_mullo_epi32(lanes, scale));
      }
    }
    for (__m256i& sum : sums) sum = _mm256_srai_epi32(sum, kWeightBits);
    // Packing works within halves of 128 bits; the permutation puts groups of four back in order.
    const __m256i words_low = _mm256_packus_epi32(sums[0], sums[1]);
    const __m256i words_high = _mm256_packus_epi32(sums[2], sums[3]);
    const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(words_low, words_high),
                                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), packed);
  }
  return i;
}
#endif

}  // namespace

void expand_row(const uint8_t* rgb, int width, uint8_t* out) {
  for (int x = 0; x < width; ++x, rgb += 3, out += 4) {
    out[0] = rgb[0];
    out[1] = rgb[1];
    out[2] = rgb[2];
  }
}

void resize_row(const uint8_t* rgbx, const RowWeights& weights, uint8_t* out) {
#if defined(__x86_64__)
  if (has_avx2()) return resize_row_avx2(rgbx, weights, out);
#endif
  resize_row_plain(rgbx, weights, out);
}

void blend_rows(const uint8_t* const* rows, const int32_t* weight, int count, size_t bytes, uint8_t* out) {
  size_t done = 0;
#if defined(__x86_64__)
  if (has_avx2()) done = blend_rows_avx2(rows, weight, count, bytes, out);
#endif
  blend_rows_plain(rows, weight, count, done, bytes, out);
}

}  // namespace omniphi

// One tile of a matrix product: R rows of a against C rows of w.
//
// Every output element owns one vector whose lanes run over k, and one sum over lanes in a fixed order at the end. Rows
// and columns are only ever tiled, and k is cut only by keeping the vector in memory between two cuts, so an element
// has the same bits in a tile of any size, alone or among hundreds of rows.
#pragma once

#include "kernels/cpu/simd_common.inl.h"

namespace omniphi::OMNIPHI_SIMD {

struct TileInput {
  const float* a;  // [R, k], lda
  int64_t lda;
  const char* w;  // [C, k], ldw elements of the weight's type
  int64_t ldw;
  int64_t k;
  int64_t ahead;     // bytes from w to what should be fetched from memory meanwhile
  float* partial;    // the vectors of the elements, [R, C, kLanes]
  bool first, last;  // first: start from zero, not from partial; last: write c, not partial
};

struct TileOutput {
  float* c;  // [R, C], ldc
  int64_t ldc;
  const MatmulArgs* args;
  int64_t column;  // of c, for the bias
};

// What a tile's weights come from: a cache, or memory. A stream from memory is fetched ahead by hand, because a tile
// reads too many rows at once for the processor to guess.
enum class Source { kCache, kMemory };

// One step along k. The smaller side of the tile stays in registers while the other passes through one: 6 x 4 of 32
// registers and 3 x 4 of 16 leave no room for both.
template <int R, int C, typename LoadA, typename LoadW>
OMNIPHI_INLINE void tile_step(F32 (&acc)[R][C], const LoadA& load_a, const LoadW& load_w) {
  if constexpr (R <= C) {
    F32 a[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) a[r] = load_a(r);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const F32 w = load_w(c);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) acc[r][c] = fma(a[r], w, acc[r][c]);
    }
  } else {
    F32 w[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) w[c] = load_w(c);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const F32 a = load_a(r);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) acc[r][c] = fma(a, w[c], acc[r][c]);
    }
  }
}

template <typename W, Source kSource, int R, int C>
OMNIPHI_INLINE void tile_steps(const TileInput& in, F32 (&acc)[R][C]) {
  const float* a = in.a;
  const char* w = in.w;
  const int64_t lda = in.lda, ldw = in.ldw * W::kBytes, ahead = in.ahead;
  int64_t i = 0;
  for (; i + kLanes <= in.k; i += kLanes) {
    if constexpr (kSource == Source::kMemory) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) __builtin_prefetch(w + c * ldw + ahead + i * W::kBytes, 0, R == 1 ? 3 : 2);
    }
    tile_step(
        acc, [&](int r) { return load(a + r * lda + i); }, [&](int c) { return W::load(w + c * ldw, i); });
  }
  const int64_t lanes = in.k - i;
  if (lanes == 0) return;
  tile_step(
      acc, [&](int r) { return load_n(a + r * lda + i, lanes); },
      [&](int c) { return W::load_n(w + c * ldw, i, lanes); });
}

// What becomes of sums: the same operations for four columns as for one.
OMNIPHI_INLINE __m128 finish4(const MatmulArgs& args, __m128 sums, const float* bias, const float* c) {
  if (args.accumulate) return _mm_add_ps(_mm_loadu_ps(c), _mm_mul_ps(_mm_set1_ps(args.scale), sums));
  return bias != nullptr ? _mm_add_ps(sums, _mm_loadu_ps(bias)) : sums;
}
OMNIPHI_INLINE float finish1(const MatmulArgs& args, float sum, const float* bias, const float* c) {
  if (args.accumulate) return *c + args.scale * sum;
  return bias != nullptr ? sum + *bias : sum;
}

template <int R, int C>
OMNIPHI_INLINE void tile_finish(const TileOutput& out, const F32 (&acc)[R][C]) {
  const MatmulArgs& args = *out.args;
  alignas(64) float widened[kLanes];
  const bool has_bias = args.bias.data != nullptr;
  if (has_bias) store(widened, load_vector(args.bias, out.column, C));
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    float* c = out.c + r * out.ldc;
    if constexpr (C % 4 == 0) {
#pragma GCC unroll 2
      for (int j = 0; j < C; j += 4) {
        const __m128 sums = sum4(acc[r][j], acc[r][j + 1], acc[r][j + 2], acc[r][j + 3]);
        _mm_storeu_ps(c + j, finish4(args, sums, has_bias ? widened + j : nullptr, c + j));
      }
    } else {
      for (int j = 0; j < C; ++j) c[j] = finish1(args, sum(acc[r][j]), has_bias ? widened + j : nullptr, c + j);
    }
  }
}

template <typename W, Source kSource, int R, int C>
static void tile(const TileInput& in, const TileOutput& out) {
  F32 acc[R][C];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) acc[r][c] = in.first ? zero() : load(in.partial + (r * C + c) * kLanes);
  }
  tile_steps<W, kSource>(in, acc);
  if (in.last) return tile_finish(out, acc);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) store(in.partial + (r * C + c) * kLanes, acc[r][c]);
  }
}

using TileFunction = void (*)(const TileInput&, const TileOutput&);

// The most rows of a tile, and its columns: as many accumulators as the registers hold beside the operands.
inline constexpr int kTileRows = kLanes == 16 ? 6 : 3;
inline constexpr int kTileColumns = 4;
// A single row takes more columns: that many independent sums hide the latency of a multiply-add.
inline constexpr int kRowColumns = 8;

// The tile of `rows` rows, 1 <= rows <= kTileRows, and C columns.
template <typename W, Source kSource, int C, int R = kTileRows>
OMNIPHI_INLINE TileFunction choose_tile(int64_t rows) {
  if constexpr (R > 1) {
    if (rows < R) return choose_tile<W, kSource, C, R - 1>(rows);
  }
  return tile<W, kSource, R, C>;
}

OMNIPHI_INLINE int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The height of tiles that cover `rows` rows evenly: 13 rows are 5 + 5 + 3, not 6 + 6 + 1.
OMNIPHI_INLINE int64_t even_tile_rows(int64_t rows) { return ceil_div(rows, ceil_div(rows, kTileRows)); }

}  // namespace omniphi::OMNIPHI_SIMD

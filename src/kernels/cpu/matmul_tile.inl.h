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
  float* partial;  // the vectors of the elements, [R, C, kLanes], with partial_ld floats from row to row
  int64_t partial_ld;
  bool first, last;  // first: start from zero, not from partial; last: write c, not partial
};

struct TileOutput {
  float* c;  // [R, C], ldc
  int64_t ldc;
  const MatmulArgs* args;
  int64_t column;  // of c, for the bias
};

template <typename W, int R, int C>
OMNIPHI_INLINE void tile_steps(const TileInput& in, F32 (&acc)[R][C]) {
  int64_t i = 0;
  for (; i + kLanes <= in.k; i += kLanes) {
    F32 w[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) w[c] = W::load(in.w + c * in.ldw * W::kBytes, i);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const F32 a = load(in.a + r * in.lda + i);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) acc[r][c] = fma(a, w[c], acc[r][c]);
    }
  }
  if (i == in.k) return;
  const int64_t lanes = in.k - i;
  F32 w[C];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c) w[c] = W::load_n(in.w + c * in.ldw * W::kBytes, i, lanes);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const F32 a = load_n(in.a + r * in.lda + i, lanes);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) acc[r][c] = fma(a, w[c], acc[r][c]);
  }
}

// The sums over lanes of one row of a tile.
template <int C>
OMNIPHI_INLINE void tile_row_sums(const F32 (&acc)[C], float (&sums)[C]) {
  if constexpr (C % 4 == 0) {
#pragma GCC unroll 2
    for (int c = 0; c < C; c += 4) _mm_storeu_ps(sums + c, sum4(acc[c], acc[c + 1], acc[c + 2], acc[c + 3]));
  } else {
    for (int c = 0; c < C; ++c) sums[c] = sum(acc[c]);
  }
}

template <int R, int C>
OMNIPHI_INLINE void tile_finish(const TileOutput& out, const F32 (&acc)[R][C]) {
  const MatmulArgs& args = *out.args;
  alignas(64) float bias[kLanes];
  if (args.bias.data != nullptr) store(bias, load_vector(args.bias, out.column, C));
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    float sums[C];
    tile_row_sums(acc[r], sums);
    float* c = out.c + r * out.ldc;
    if (args.accumulate) {
      for (int j = 0; j < C; ++j) c[j] += args.scale * sums[j];
    } else if (args.bias.data != nullptr) {
      for (int j = 0; j < C; ++j) c[j] = sums[j] + bias[j];
    } else {
      for (int j = 0; j < C; ++j) c[j] = sums[j];
    }
  }
}

template <typename W, int R, int C>
static void tile(const TileInput& in, const TileOutput& out) {
  F32 acc[R][C];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) acc[r][c] = in.first ? zero() : load(in.partial + r * in.partial_ld + c * kLanes);
  }
  tile_steps<W>(in, acc);
  if (in.last) return tile_finish(out, acc);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) store(in.partial + r * in.partial_ld + c * kLanes, acc[r][c]);
  }
}

using TileFunction = void (*)(const TileInput&, const TileOutput&);

// The most rows of a tile, and its columns: as many accumulators as the registers hold beside the operands.
inline constexpr int kTileRows = kLanes == 16 ? 6 : 3;
inline constexpr int kTileColumns = 4;
// A single row takes more columns: that many independent sums hide the latency of a multiply-add.
inline constexpr int kRowColumns = 8;

// The tile of `rows` rows, 1 <= rows <= kTileRows, and C columns.
template <typename W, int C, int R = kTileRows>
OMNIPHI_INLINE TileFunction choose_tile(int64_t rows) {
  if constexpr (R > 1) {
    if (rows < R) return choose_tile<W, C, R - 1>(rows);
  }
  return tile<W, R, C>;
}

}  // namespace omniphi::OMNIPHI_SIMD

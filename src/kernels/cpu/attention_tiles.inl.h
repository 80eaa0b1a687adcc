// The two products of attention in registers: scores = q k^T with lanes over keys, and values = p v with lanes over the
// head's dimensions. A result has one accumulator and one order of additions, whatever the size of the tile it is in.
#pragma once

#include "kernels/cpu/simd_common.inl.h"

namespace omniphi::OMNIPHI_SIMD {

inline constexpr int kSpan = 256;                            // kAttentionSpan
inline constexpr int kRowsAtOnce = 6;                        // rows of q or p in a register tile
inline constexpr int kVectorsAtOnce = kLanes == 16 ? 4 : 2;  // vectors of keys or dimensions beside them

// The smallest block of the cache has 16 keys: so many bytes of a dimension lie together.
inline constexpr int kPrefetchBytes = 32;

// Vectors that up to kRowsAtOnce rows meet at a time when keys and values stream from memory: as many as registers
// allow, so that each step reads a long piece and has enough sums to hide the latency of one.
constexpr int wide_vectors(int rows) {
  if (kLanes == 16) return rows <= 3 ? 8 : 4;
  return rows == 1 ? 8 : rows <= 3 ? 4 : 2;
}

// scores[r][j] = sum over d, ascending, of q[r][d] * key j's d.
struct ScoreTile {
  const float* q;  // [rows, ldq]
  int64_t ldq;
  const char* const* keys;  // [vectors]: dimension 0 of each; streamed ones are followed by those that come next
  int64_t stride;           // elements from one dimension to the next
  int64_t dim;
  float* scores;  // [rows, kSpan]
};

template <int kRows, int kVectors, typename T, bool kStreamed>
static void score_tile(const ScoreTile& t) {
  F32 acc[kRows][kVectors];
  const char* keys[kVectors];
  [[maybe_unused]] const char* next[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    keys[v] = t.keys[v];
    if constexpr (kStreamed) next[v] = t.keys[kVectors + v];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) acc[r][v] = zero();
  }
  const float* q = t.q;
  const int64_t end = t.dim * t.stride, ldq = t.ldq;
  for (int64_t at = 0; at < end; at += t.stride, ++q) {
    if constexpr (kStreamed) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        if (v * kLanes * T::kBytes % kPrefetchBytes == 0) __builtin_prefetch(next[v] + at * T::kBytes, 0, 2);
      }
    }
    // The fewer of both stay in registers through the step, the others pass one by one.
    if constexpr (kRows < kVectors) {
      F32 x[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) x[r] = set(q[r * ldq]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const F32 key = T::load(keys[v], at);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) acc[r][v] = fma(x[r], key, acc[r][v]);
      }
    } else {
      F32 key[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) key[v] = T::load(keys[v], at);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const F32 x = set(q[r * ldq]);
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) acc[r][v] = fma(x, key[v], acc[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store(t.scores + r * kSpan + v * kLanes, acc[r][v]);
  }
}

using ScoreFunction = void (*)(const ScoreTile&);

template <int kVectors>
static ScoreFunction packed_score_function_of(int rows) {
  switch (rows) {
    case 1:
      return score_tile<1, kVectors, AsF32, false>;
    case 2:
      return score_tile<2, kVectors, AsF32, false>;
    case 3:
      return score_tile<3, kVectors, AsF32, false>;
    case 4:
      return score_tile<4, kVectors, AsF32, false>;
    case 5:
      return score_tile<5, kVectors, AsF32, false>;
    default:
      return score_tile<6, kVectors, AsF32, false>;
  }
}

// Keys widened into scratch: 1 to kVectorsAtOnce vectors side by side.
static ScoreFunction packed_score_function(int rows, int64_t vectors) {
  if (vectors <= 1) return packed_score_function_of<1>(rows);
  if (vectors == 2) return packed_score_function_of<2>(rows);
  if (vectors == 3 && kVectorsAtOnce > 3) return packed_score_function_of<kVectorsAtOnce - 1>(rows);
  return packed_score_function_of<kVectorsAtOnce>(rows);
}

// Keys where they lie in the cache: wide_vectors(rows) vectors at a time.
template <typename T>
static ScoreFunction streamed_score_function(int rows) {
  switch (rows) {
    case 1:
      return score_tile<1, wide_vectors(1), T, true>;
    case 2:
      return score_tile<2, wide_vectors(2), T, true>;
    case 3:
      return score_tile<3, wide_vectors(3), T, true>;
    case 4:
      return score_tile<4, wide_vectors(4), T, true>;
    case 5:
      return score_tile<5, wide_vectors(5), T, true>;
    default:
      return score_tile<6, wide_vectors(6), T, true>;
  }
}

// out[r][d] += sum over j, ascending, of p[r][j] * values[j][d]. The accumulator passes through memory between pieces
// of a span, which changes no bit.
struct ValueTile {
  const float* p;      // [rows, kSpan]
  const char* values;  // [count, stride]
  int64_t stride;      // elements from one key to the next
  int64_t count;       // keys
  int64_t tail;        // lanes of the last vector, when the kernel is one with a tail
  float* out;          // [rows, ldo]
  int64_t ldo;
};

template <int kRows, int kVectors, typename T, bool kTail>
static void value_tile(const ValueTile& t) {
  F32 acc[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) acc[r][v] = load(t.out + r * t.ldo + v * kLanes);
  }
  const float* p = t.p;
  const float* const end = t.p + t.count;
  const char* values = t.values;
  for (; p != end; ++p, values += t.stride * T::kBytes) {
    const auto value_at = [&](int v) {
      const bool partial = kTail && v == kVectors - 1;
      return partial ? T::load_n(values, v * kLanes, t.tail) : T::load(values, v * kLanes);
    };
    if constexpr (kRows < kVectors) {
      F32 weight[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) weight[r] = set(p[r * kSpan]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const F32 value = value_at(v);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) acc[r][v] = fma(weight[r], value, acc[r][v]);
      }
    } else {
      F32 value[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) value[v] = value_at(v);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const F32 weight = set(p[r * kSpan]);
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) acc[r][v] = fma(weight, value[v], acc[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store(t.out + r * t.ldo + v * kLanes, acc[r][v]);
  }
}

using ValueFunction = void (*)(const ValueTile&);

template <int kVectors, typename T, bool kTail>
static ValueFunction value_function_of(int rows) {
  switch (rows) {
    case 1:
      return value_tile<1, kVectors, T, kTail>;
    case 2:
      return value_tile<2, kVectors, T, kTail>;
    case 3:
      return value_tile<3, kVectors, T, kTail>;
    case 4:
      return value_tile<4, kVectors, T, kTail>;
    case 5:
      return value_tile<5, kVectors, T, kTail>;
    default:
      return value_tile<6, kVectors, T, kTail>;
  }
}

// The kernel for `rows` rows of p and `vectors` vectors of dimensions: 1 to kVectorsAtOnce, or wide_vectors(rows).
template <typename T, bool kTail>
static ValueFunction value_function(int rows, int vectors) {
  if (vectors > kVectorsAtOnce) {
    if (rows == 1) return value_tile<1, wide_vectors(1), T, kTail>;
    if (rows == 2) return value_tile<2, wide_vectors(2), T, kTail>;
    return value_tile<3, wide_vectors(3), T, kTail>;
  }
  if (vectors == 1) return value_function_of<1, T, kTail>(rows);
  if (vectors == 2) return value_function_of<2, T, kTail>(rows);
  if (vectors == 3) return value_function_of < kVectorsAtOnce == 2 ? 2 : 3, T, kTail > (rows);
  return value_function_of<kVectorsAtOnce, T, kTail>(rows);
}

}  // namespace omniphi::OMNIPHI_SIMD

// One tile of query rows against one span of keys, and the merging of spans. A row is a query in a head; the rows of a
// tile share a key and value head.
#pragma once

#include "kernels/cpu/attention_softmax.inl.h"
#include "kernels/cpu/attention_tiles.inl.h"
#include "kernels/ops.h"

namespace omniphi::OMNIPHI_SIMD {

static_assert(kSpan == kAttentionSpan);

inline constexpr int kTileRows = 96;  // rows share a span's keys in the second-level cache
inline constexpr int kKeyVectors = kSpan / kLanes;
inline constexpr int64_t kValueRun = 64;  // keys whose values stay in the first-level cache

OMNIPHI_INLINE int64_t padded_dim(int64_t dim) { return (dim + kLanes - 1) / kLanes * kLanes; }

// Rows [row, row + rows) of a key and value head; row i is query i / group in head kv_head * group + i % group.
struct Tile {
  const AttentionArgs* args;
  const AttentionSequence* sequence;
  int64_t kv_head, group, row;
  int rows;
  KeyRange seen[kTileRows];  // the keys that a row sees, but for the key mask

  int64_t query(int r) const { return (row + r) / group; }
  int64_t head(int r) const { return kv_head * group + (row + r) % group; }
};

static KeyRange keys_of_query(const AttentionArgs& args, const AttentionSequence& sequence, int64_t i) {
  KeyRange seen = {0, sequence.keys};
  if (args.causal) seen.end = min_i64(seen.end, sequence.first + i + 1);
  if (sequence.range_begin) seen = intersect(seen, {sequence.range_begin[i], sequence.range_end[i]});
  return seen;
}

// The smallest range that holds what rows [from, to) of a tile see in `within`. Empty: {0, 0}.
static KeyRange keys_of_rows(const Tile& tile, int from, int to, KeyRange within) {
  KeyRange all = {INT64_MAX, 0};
  for (int r = from; r < to; ++r) {
    const KeyRange seen = intersect(tile.seen[r], within);
    if (seen.begin < seen.end) all = {min_i64(all.begin, seen.begin), max_i64(all.end, seen.end)};
  }
  return all.begin < all.end ? all : KeyRange{0, 0};
}

// What a span, or the spans so far, give for the rows of a tile: sum is 0 while a row has seen no key.
struct Partial {
  float* out;  // [rows, padded_dim], not yet divided by sum
  float* max;  // [rows]
  float* sum;  // [rows]
};

inline constexpr int64_t kPartialHead = 2 * ((kTileRows + 15) / 16 * 16);  // floats of max and sum

static int64_t partial_floats(int rows, int64_t dim) { return kPartialHead + rows * padded_dim(dim); }
static Partial partial_at(float* memory) { return {memory + kPartialHead, memory, memory + kPartialHead / 2}; }

// Memory of one thread. All pieces are aligned to 64 bytes.
struct SpanScratch {
  float* q;       // [kTileRows, padded_dim]
  float* scores;  // [kTileRows, kSpan]: scores, then their exponentials
  float* keys;    // [dim, kVectorsAtOnce * kLanes]
  float* values;  // [kValueRun, padded_dim]
};

static int64_t span_scratch_floats(int64_t dim) {
  return padded_dim(dim) * (kTileRows + kVectorsAtOnce * kLanes + kValueRun) + kTileRows * kSpan;
}
static SpanScratch span_scratch_at(float* memory, int64_t dim) {
  SpanScratch scratch;
  scratch.q = memory;
  scratch.scores = scratch.q + kTileRows * padded_dim(dim);
  scratch.keys = scratch.scores + kTileRows * kSpan;
  scratch.values = scratch.keys + kVectorsAtOnce * kLanes * padded_dim(dim);
  return scratch;
}

// The queries of a tile, row after row.
static void pack_queries(const Tile& tile, const SpanScratch& scratch) {
  const int64_t dim = tile.args->head_dim;
  for (int r = 0; r < tile.rows; ++r) {
    const float* from = tile.sequence->q + tile.query(r) * tile.args->ldq + tile.head(r) * dim;
    float* to = scratch.q + r * padded_dim(dim);
    for_lanes(dim, [&](int64_t d, int64_t n) { store(to + d, load_lanes(from + d, n)); });
  }
}

// A span's keys as one tile needs them. Positions count from the span's begin.
struct SpanKeys {
  int64_t begin;
  KeyRange needed;                           // by any row; not empty
  KeyRange groups[kTileRows / kRowsAtOnce];  // by the rows of a register tile
  // Dimension 0 of each vector of keys, and of the first ones of the next span, which are prefetched.
  const char* keys[kKeyVectors + wide_vectors(1)];
};

// Rows of a tile that begin a register tile, and how many it has.
template <typename F>
OMNIPHI_INLINE void for_groups(const Tile& tile, const F& f) {
  for (int r = 0; r < tile.rows; r += kRowsAtOnce) f(r, static_cast<int>(min_i64(kRowsAtOnce, tile.rows - r)));
}

static SpanKeys find_keys(const Tile& tile, int64_t begin, KeyRange needed) {
  const KvBlocks& kv = tile.sequence->kv;
  const int64_t bytes = kv.dtype == DType::kBF16 ? 2 : 4, dim = tile.args->head_dim, block = kv.block_tokens;
  SpanKeys span;
  span.begin = begin;
  span.needed = {needed.begin - begin, needed.end - begin};
  for_groups(tile, [&](int r, int rows) {
    const KeyRange group = keys_of_rows(tile, r, r + rows, {begin, begin + kSpan});
    span.groups[r / kRowsAtOnce] = group.end == 0 ? group : KeyRange{group.begin - begin, group.end - begin};
  });
  // Vectors past the last key repeat it: their scores are computed in whole tiles and thrown away.
  const int64_t last_vector = (tile.sequence->keys - begin - 1) / kLanes;
  for (int v = 0; v < kKeyVectors + wide_vectors(1); ++v) {
    const int64_t j = begin + min_i64(v, last_vector) * kLanes;
    const char* data = static_cast<const char*>(kv.blocks[j / block]);
    span.keys[v] = data + (tile.kv_head * 2 * dim * block + j % block) * bytes;
  }
  return span;
}

template <typename T>
static void scores_of(const Tile& tile, const SpanKeys& span, const SpanScratch& scratch) {
  const int64_t dim = tile.args->head_dim, ldq = padded_dim(dim), block = tile.sequence->kv.block_tokens;
  if (tile.rows <= kRowsAtOnce) {
    const ScoreFunction function = streamed_score_function<T>(tile.rows);
    const int64_t step = wide_vectors(tile.rows) * kLanes;
    for (int64_t j = span.needed.begin / step * step; j < span.needed.end; j += step)
      function({scratch.q, ldq, span.keys + j / kLanes, block, dim, scratch.scores + j});
    return;
  }
  constexpr int64_t kStep = kVectorsAtOnce * kLanes;
  for (int64_t j = span.needed.begin / kStep * kStep; j < span.needed.end; j += kStep) {
    // Blocks of the cache map few cache sets; a dense copy stays in the first-level cache for all rows.
    const char* const* from = span.keys + j / kLanes;
    for (int64_t d = 0; d < dim; ++d) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectorsAtOnce; ++v)
        store(scratch.keys + d * kStep + v * kLanes, T::load(from[v], d * block));
    }
    const char* keys[kVectorsAtOnce];
    for (int v = 0; v < kVectorsAtOnce; ++v) keys[v] = reinterpret_cast<const char*>(scratch.keys + v * kLanes);
    for_groups(tile, [&](int r, int rows) {
      const KeyRange group = span.groups[r / kRowsAtOnce];
      if (group.begin >= j + kStep || group.end <= j) return;
      const int64_t vectors = min_i64(kVectorsAtOnce, (group.end - j + kLanes - 1) / kLanes);
      packed_score_function(rows,
                            vectors)({scratch.q + r * ldq, ldq, keys, kStep, dim, scratch.scores + r * kSpan + j});
    });
  }
}

static void softmax_of(const Tile& tile, const SpanKeys& span, const SpanScratch& scratch, const Partial& result) {
  const AttentionArgs& args = *tile.args;
  const int64_t reach = args.bias_reach;
  for (int r = 0; r < tile.rows; ++r) {
    SoftmaxRow row;
    row.span = span.begin;
    row.steps = softmax_steps(span.groups[r / kRowsAtOnce]);
    row.seen = tile.seen[r];
    row.key_mask = tile.sequence->key_mask;
    row.keys = tile.sequence->keys;
    row.scale = args.scale;
    row.bias = args.relative_bias ? args.relative_bias + tile.head(r) * 2 * reach + reach : nullptr;
    row.position = tile.sequence->first + tile.query(r);
    row.reach = reach;
    softmax_row(row, scratch.scores + r * kSpan, result.max + r, result.sum + r);
  }
}

// Adds the values of keys [j, j + count) of the span, which lie behind each other at `piece.values`.
template <typename T, bool kTail>
static void add_values(const Tile& tile, const SpanKeys& span, const float* p, int64_t j, const ValueTile& piece) {
  const int64_t vectors = piece.ldo / kLanes;
  const int64_t wide = tile.rows <= kRowsAtOnce ? wide_vectors(tile.rows) : kVectorsAtOnce;
  for (int64_t begin = 0, n = 0; begin < vectors; begin += n) {
    const int64_t left = vectors - begin, parts = (left + kVectorsAtOnce - 1) / kVectorsAtOnce;
    n = wide > kVectorsAtOnce && left >= wide ? wide : (left + parts - 1) / parts;
    const bool tail = kTail && begin + n == vectors;
    for_groups(tile, [&](int r, int rows) {
      const KeyRange keys = intersect(span.groups[r / kRowsAtOnce], {j, j + piece.count});
      if (keys.begin >= keys.end) return;
      ValueTile t = piece;
      t.p = p + r * kSpan + keys.begin;
      t.values += ((keys.begin - j) * piece.stride + begin * kLanes) * T::kBytes;
      t.count = keys.end - keys.begin;
      t.out += r * piece.ldo + begin * kLanes;
      const int width = static_cast<int>(n);
      (tail ? value_function<T, kTail>(rows, width) : value_function<T, false>(rows, width))(t);
    });
  }
}

// Copies the values of keys [j, j + count) into scratch, widened and padded with zeros.
template <typename T>
static void pack_values(const ValueTile& piece, int64_t dim, float* to) {
  const int64_t ld = padded_dim(dim);
  for (int64_t i = 0; i < piece.count; ++i) {
    for_lanes(dim, [&](int64_t d, int64_t n) {
      const int64_t index = i * piece.stride + d;
      store(to + i * ld + d, n == kLanes ? T::load(piece.values, index) : T::load_n(piece.values, index, n));
    });
  }
}

// Values that stream from memory are asked for one run ahead.
static void prefetch_values(const Tile& tile, int64_t position, int64_t count) {
  const KvBlocks& kv = tile.sequence->kv;
  if (position + count > tile.sequence->keys) return;
  const int64_t bytes = kv.dtype == DType::kBF16 ? 2 : 4, dim = tile.args->head_dim, block = kv.block_tokens;
  const char* values = static_cast<const char*>(kv.blocks[position / block]) +
                       ((tile.kv_head * 2 + 1) * dim * block + position % block * dim) * bytes;
  for (int64_t i = 0; i < count * dim * bytes; i += 64) __builtin_prefetch(values + i, 0, 2);
}

template <typename T>
static void values_of(const Tile& tile, const SpanKeys& span, const SpanScratch& scratch, float* out) {
  const KvBlocks& kv = tile.sequence->kv;
  const int64_t dim = tile.args->head_dim, ldo = padded_dim(dim), block = kv.block_tokens;
  const bool ragged = ldo != dim, narrow = T::kBytes == 2;
  const bool many = tile.rows > kRowsAtOnce;
  const bool packed = many ? narrow || ragged || block < kValueRun : narrow && ragged;
  for (int64_t i = 0; i < tile.rows * ldo; i += kLanes) store(out + i, zero());
  // Values past the last key that is needed are never touched: they may be anything, and 0 * NaN is not 0.
  for (int64_t run = span.needed.begin; run < span.needed.end;) {
    const int64_t run_end = min_i64(span.needed.end, (run / kValueRun + 1) * kValueRun);
    for (int64_t j = run; j < run_end;) {
      const int64_t position = span.begin + j, slot = position % block;
      ValueTile piece{};
      piece.count = min_i64(run_end - j, block - slot);
      piece.values = static_cast<const char*>(kv.blocks[position / block]) +
                     ((tile.kv_head * 2 + 1) * dim * block + slot * dim) * T::kBytes;
      piece.stride = dim;
      piece.tail = dim - (ldo - kLanes);
      piece.out = out;
      piece.ldo = ldo;
      if (!many) prefetch_values(tile, position + kValueRun, piece.count);
      if (packed) {
        pack_values<T>(piece, dim, scratch.values + (j - run) * ldo);
      } else if (ragged) {
        add_values<AsF32, true>(tile, span, scratch.scores, j, piece);
      } else {
        add_values<T, false>(tile, span, scratch.scores, j, piece);
      }
      j += piece.count;
    }
    if (packed) {
      const auto* values = reinterpret_cast<const char*>(scratch.values);
      add_values<AsF32, false>(tile, span, scratch.scores, run, {nullptr, values, ldo, run_end - run, 0, out, ldo});
    }
    run = run_end;
  }
}

// The rows of a tile over the keys of span `index`, from zero. The tile's queries are packed.
static void attend_span(const Tile& tile, int64_t index, const SpanScratch& scratch, const Partial& result) {
  const int64_t begin = index * kSpan;
  const KeyRange needed = keys_of_rows(tile, 0, tile.rows, {begin, begin + kSpan});
  if (needed.begin >= needed.end) {
    for (int r = 0; r < tile.rows; ++r) result.sum[r] = 0;
    return;
  }
  const SpanKeys span = find_keys(tile, begin, needed);
  if (tile.sequence->kv.dtype == DType::kBF16) {
    scores_of<AsBf16>(tile, span, scratch);
    softmax_of(tile, span, scratch, result);
    values_of<AsBf16>(tile, span, scratch, result.out);
  } else {
    scores_of<AsF32>(tile, span, scratch);
    softmax_of(tile, span, scratch, result);
    values_of<AsF32>(tile, span, scratch, result.out);
  }
}

// state = state + span, where the span comes after all that is in the state.
static void merge(const Tile& tile, const Partial& span, const Partial& state) {
  const int64_t ld = padded_dim(tile.args->head_dim);
  for (int r = 0; r < tile.rows; ++r) {
    if (span.sum[r] == 0) continue;
    float* to = state.out + r * ld;
    const float* from = span.out + r * ld;
    if (state.sum[r] == 0) {
      // Adding 0 turns -0 to 0: an underflown sum is -0 or 0 by how many hidden keys a tile happened to add to it.
      for (int64_t d = 0; d < ld; d += kLanes) store(to + d, add(load(from + d), zero()));
      state.max[r] = span.max[r];
      state.sum[r] = span.sum[r];
      continue;
    }
    const float largest = state.max[r] > span.max[r] ? state.max[r] : span.max[r];
    const F32 keep = exp(set(state.max[r] - largest)), gain = exp(set(span.max[r] - largest));
    for (int64_t d = 0; d < ld; d += kLanes)
      store(to + d, fma(load(to + d), keep, mul(add(load(from + d), zero()), gain)));
    store_n(state.sum + r, fma(set(state.sum[r]), keep, mul(set(span.sum[r]), gain)), 1);
    state.max[r] = largest;
  }
}

static void start(const Tile& tile, const Partial& state) {
  for (int r = 0; r < tile.rows; ++r) state.sum[r] = 0;
}

// Divides by the sums and writes the tile's rows of the output; zeros for rows that saw no key.
static void finish(const Tile& tile, const Partial& state) {
  const int64_t dim = tile.args->head_dim, ld = padded_dim(dim);
  for (int r = 0; r < tile.rows; ++r) {
    float* out = tile.sequence->out + tile.query(r) * tile.args->ldo + tile.head(r) * dim;
    const bool seen = state.sum[r] != 0;
    const F32 divisor = set(state.sum[r]);
    for_lanes(dim, [&](int64_t d, int64_t n) {
      store_lanes(out + d, seen ? div(load(state.out + r * ld + d), divisor) : zero(), n);
    });
  }
}

}  // namespace omniphi::OMNIPHI_SIMD

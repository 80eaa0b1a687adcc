// One tile of query rows against one span of keys, and the merging of spans. A row is a query in a head; the rows of a
// tile share a key and value head.
#pragma once

#include "kernels/cpu/attention_tiles.inl.h"
#include "kernels/cpu/math.inl.h"
#include "kernels/ops.h"

namespace omniphi::OMNIPHI_SIMD {

static_assert(kSpan == kAttentionSpan);

inline constexpr int kTileRows = 48;             // rows share a span's keys in the second-level cache
inline constexpr int kSoftmaxKeys = 4 * kLanes;  // keys that the softmax takes at a time
inline constexpr int kKeyVectors = kSpan / kLanes;
inline constexpr int64_t kValueRun = 64;  // keys whose values stay in the first-level cache

struct KeyRange {
  int64_t begin, end;  // empty when begin >= end
};

OMNIPHI_INLINE KeyRange intersect(KeyRange a, KeyRange b) { return {max_i64(a.begin, b.begin), min_i64(a.end, b.end)}; }

OMNIPHI_INLINE int64_t padded_dim(int64_t dim) { return (dim + kLanes - 1) / kLanes * kLanes; }

// Rows [row, row + rows) of a key and value head; row i is query i / group in head kv_head * group + i % group.
struct Tile {
  const AttentionArgs* args;
  const AttentionSequence* sequence;
  int64_t kv_head, group, row;
  int rows;

  int64_t query(int r) const { return (row + r) / group; }
  int64_t head(int r) const { return kv_head * group + (row + r) % group; }

  // The keys that row r may see, but for the key mask.
  KeyRange keys(int r) const {
    const int64_t i = query(r);
    KeyRange seen = {0, sequence->keys};
    if (args->causal) seen.end = min_i64(seen.end, sequence->first + i + 1);
    if (sequence->range_begin) seen = intersect(seen, {sequence->range_begin[i], sequence->range_end[i]});
    return seen;
  }

  // The smallest range that holds the keys of all rows.
  KeyRange all_keys() const {
    KeyRange all = {sequence->keys, 0};
    for (int r = 0; r < rows; ++r) {
      const KeyRange seen = keys(r);
      if (seen.begin >= seen.end) continue;
      all = {min_i64(all.begin, seen.begin), max_i64(all.end, seen.end)};
    }
    return all;
  }
};

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
  float* q;       // [groups of kRowsAtOnce rows][dim, rows of the group]
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

// The queries of a tile, rows of a register tile interleaved.
static void pack_queries(const Tile& tile, const SpanScratch& scratch) {
  const int64_t dim = tile.args->head_dim;
  for (int r = 0; r < tile.rows; ++r) {
    const int group = r / kRowsAtOnce * kRowsAtOnce;
    const int rows = static_cast<int>(min_i64(kRowsAtOnce, tile.rows - group));
    const float* from = tile.sequence->q + tile.query(r) * tile.args->ldq + tile.head(r) * dim;
    float* to = scratch.q + group * dim + (r - group);
    for (int64_t d = 0; d < dim; ++d) to[d * rows] = from[d];
  }
}

// A span's keys and values as one tile needs them.
struct SpanKeys {
  int64_t begin;                  // position of the span
  KeyRange needed;                // within the span, counted from its begin; not empty
  int64_t first, last;            // `needed` in whole softmax steps, counted from the span's begin
  const char* keys[kKeyVectors];  // dimension 0 of each vector of keys
};

static SpanKeys find_keys(const Tile& tile, int64_t begin, KeyRange needed) {
  const KvBlocks& kv = tile.sequence->kv;
  const int64_t bytes = kv.dtype == DType::kBF16 ? 2 : 4, dim = tile.args->head_dim, block = kv.block_tokens;
  SpanKeys span;
  span.begin = begin;
  span.needed = {needed.begin - begin, needed.end - begin};
  span.first = span.needed.begin / kSoftmaxKeys * kSoftmaxKeys;
  span.last = (span.needed.end + kSoftmaxKeys - 1) / kSoftmaxKeys * kSoftmaxKeys;
  // Vectors past the last key repeat it: their scores are computed in whole tiles and thrown away.
  const int64_t last_vector = (min_i64(begin + kSpan, tile.sequence->keys) - begin - 1) / kLanes;
  for (int v = 0; v < kKeyVectors; ++v) {
    const int64_t j = begin + min_i64(v, last_vector) * kLanes;
    const char* data = static_cast<const char*>(kv.blocks[j / block]);
    span.keys[v] = data + (tile.kv_head * 2 * dim * block + j % block) * bytes;
  }
  return span;
}

template <typename T>
static void scores_of(const Tile& tile, const SpanKeys& span, const SpanScratch& scratch) {
  const int64_t dim = tile.args->head_dim, block = tile.sequence->kv.block_tokens;
  if (tile.rows <= kRowsAtOnce) {
    const ScoreFunction function = streamed_score_function<T>(tile.rows);
    const int64_t step = wide_vectors(tile.rows) * kLanes;
    for (int64_t j = span.first / step * step; j < span.last; j += step)
      function({scratch.q, span.keys + j / kLanes, block, dim, scratch.scores + j});
    return;
  }
  constexpr int64_t kStep = kVectorsAtOnce * kLanes;
  for (int64_t j = span.first; j < span.last; j += kStep) {
    // Blocks of the cache map few cache sets; a dense copy stays in the first-level cache for all rows.
    float* packed = scratch.keys;
    for (int64_t d = 0; d < dim; ++d) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectorsAtOnce; ++v)
        store(packed + d * kStep + v * kLanes, T::load(span.keys[j / kLanes + v], d * block));
    }
    const char* keys[kVectorsAtOnce];
    for (int v = 0; v < kVectorsAtOnce; ++v) keys[v] = reinterpret_cast<const char*>(packed + v * kLanes);
    for (int r = 0; r < tile.rows; r += kRowsAtOnce) {
      const int rows = static_cast<int>(min_i64(kRowsAtOnce, tile.rows - r));
      packed_score_function(rows)({scratch.q + r * dim, keys, kStep, dim, scratch.scores + r * kSpan + j});
    }
  }
}

// A row's way to its softmax.
struct SoftmaxRow {
  KeyRange seen;            // positions
  const uint8_t* key_mask;  // of position 0, or null
  int64_t keys;
  float scale;
  const float* bias;  // of distance 0, or null
  int64_t position, reach;
};

OMNIPHI_INLINE F32 relative_bias(const SoftmaxRow& row, int64_t j) {
  const int64_t distance = j - row.position;
  if (distance >= -row.reach && distance + kLanes <= row.reach) return load(row.bias + distance);
  alignas(64) float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = row.bias[max_i64(-row.reach, min_i64(distance + i, row.reach - 1))];
  return load(lanes);
}

// The final scores of positions [j, j + kLanes): -inf where the key is not seen, whatever the product gave there.
OMNIPHI_INLINE F32 final_scores(const SoftmaxRow& row, int64_t j, F32 dots) {
  const F32 hidden = set(-__builtin_inff());
  F32 x = row.bias ? fma(dots, set(row.scale), relative_bias(row, j)) : mul(dots, set(row.scale));
  if (j < row.seen.begin) x = select(first(min_i64(row.seen.begin - j, kLanes)), hidden, x);
  if (j + kLanes > row.seen.end) x = select(first(max_i64(row.seen.end - j, 0)), x, hidden);
  if (row.key_mask) {
    const int64_t n = min_i64(row.keys - j, kLanes);
    x = n > 0 ? select(mask_from_bytes(row.key_mask + j, n), x, hidden) : hidden;
  }
  return x;
}

OMNIPHI_INLINE bool any_nan(const float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] != x[i]) return true;
  }
  return false;
}

// Turns a row's products into exp(score - max). Lane i of partial sum v % 4 takes the keys of vector v.
static void softmax_row(const SoftmaxRow& row, const SpanKeys& span, float* scores, float* max_out, float* sum_out) {
  F32 max4[4];
  for (int v = 0; v < 4; ++v) max4[v] = set(-__builtin_inff());
  for (int64_t j = span.first; j < span.last; j += kSoftmaxKeys) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const int64_t at = j + v * kLanes;
      const F32 x = final_scores(row, span.begin + at, load(scores + at));
      store(scores + at, x);
      max4[v] = max(x, max4[v]);  // passes over NaN
    }
  }
  float largest = max_lane(max(max(max4[0], max4[1]), max(max4[2], max4[3])));
  if (largest == -__builtin_inff()) {
    if (!any_nan(scores + span.first, span.last - span.first)) {  // no key is seen
      for (int64_t j = span.first; j < span.last; j += kLanes) store(scores + j, zero());
      *max_out = largest;
      *sum_out = 0;
      return;
    }
    largest = 0;  // NaN goes into the sum and the result
  }
  const F32 shift = set(largest);
  F32 sum4[4];
  for (int v = 0; v < 4; ++v) sum4[v] = zero();
  for (int64_t j = span.first; j < span.last; j += kSoftmaxKeys) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const F32 weight = exp(sub(load(scores + j + v * kLanes), shift));
      store(scores + j + v * kLanes, weight);
      sum4[v] = add(sum4[v], weight);
    }
  }
  *max_out = largest;
  *sum_out = sum(add(add(sum4[0], sum4[1]), add(sum4[2], sum4[3])));
}

static void softmax_of(const Tile& tile, const SpanKeys& span, const SpanScratch& scratch, const Partial& result) {
  const AttentionArgs& args = *tile.args;
  const int64_t reach = args.bias_reach;
  for (int r = 0; r < tile.rows; ++r) {
    SoftmaxRow row;
    row.seen = tile.keys(r);
    row.key_mask = tile.sequence->key_mask;
    row.keys = tile.sequence->keys;
    row.scale = args.scale;
    row.bias = args.relative_bias ? args.relative_bias + tile.head(r) * 2 * reach + reach : nullptr;
    row.position = tile.sequence->first + tile.query(r);
    row.reach = reach;
    softmax_row(row, span, scratch.scores + r * kSpan, result.max + r, result.sum + r);
  }
}

// Adds the values of keys [j, j + count), which lie behind each other at `values`.
template <typename T, bool kTail>
static void add_values(const Tile& tile, const SpanScratch& scratch, int64_t j, const ValueTile& piece) {
  const int64_t ldo = padded_dim(tile.args->head_dim), vectors = ldo / kLanes;
  const int64_t parts = (vectors + kVectorsAtOnce - 1) / kVectorsAtOnce;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t from = vectors * part / parts, to = vectors * (part + 1) / parts;
    const bool tail = kTail && to == vectors;
    ValueTile t = piece;
    t.values += from * kLanes * T::kBytes;
    for (int r = 0; r < tile.rows; r += kRowsAtOnce) {
      const int rows = static_cast<int>(min_i64(kRowsAtOnce, tile.rows - r)), n = static_cast<int>(to - from);
      t.p = scratch.scores + r * kSpan + j;
      t.out = piece.out + r * ldo + from * kLanes;
      (tail ? value_function<T, kTail>(rows, n) : value_function<T, false>(rows, n))(t);
    }
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
      if (packed) {
        pack_values<T>(piece, dim, scratch.values + (j - run) * ldo);
      } else if (ragged) {
        add_values<AsF32, true>(tile, scratch, j, piece);
      } else {
        add_values<T, false>(tile, scratch, j, piece);
      }
      j += piece.count;
    }
    if (packed) {
      const auto* values = reinterpret_cast<const char*>(scratch.values);
      add_values<AsF32, false>(tile, scratch, run, {nullptr, values, ldo, run_end - run, 0, out, ldo});
    }
    run = run_end;
  }
}

// The rows of a tile over the keys of span `index`, from zero. The tile's queries are packed.
static void attend_span(const Tile& tile, int64_t index, const SpanScratch& scratch, const Partial& result) {
  const int64_t begin = index * kSpan;
  const KeyRange needed = intersect(tile.all_keys(), {begin, begin + kSpan});
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

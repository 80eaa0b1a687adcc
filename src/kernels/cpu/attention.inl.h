// Attention over paged keys and values: cuts the queries into tiles and shares them, or the spans of few tiles, among
// the threads. Either way a row meets the same spans in the same order.
#pragma once

#include "kernels/cpu/attention_span.inl.h"

namespace omniphi::OMNIPHI_SIMD {

inline constexpr int64_t kManyTiles = 64;  // a thread: so many tiles balance whatever their lengths

// Tiles of one call, numbered sequence after sequence, head after head, the last rows of a head first: under a causal
// mask those take longest, so that the short ones fill up the end.
struct TilePlan {
  const AttentionArgs* args;
  const AttentionSequence* sequences;
  int64_t count;        // sequences
  int64_t* first_tile;  // [count + 1]

  int64_t group() const { return args->heads / args->kv_heads; }
  int64_t tiles() const { return first_tile[count]; }
  int64_t tiles_of_head(int64_t s) const { return (sequences[s].m * group() + kTileRows - 1) / kTileRows; }

  // Rows of a tile of sequence s: even shares in whole register tiles.
  int64_t rows_of_tile(int64_t s) const {
    const int64_t tiles = tiles_of_head(s), share = (sequences[s].m * group() + tiles - 1) / tiles;
    return (share + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce;
  }

  Tile tile(int64_t index) const {
    const int64_t s = last_not_above(first_tile, count, index);
    const int64_t in_sequence = index - first_tile[s], tiles = tiles_of_head(s), rows = rows_of_tile(s);
    const int64_t row = (tiles - 1 - in_sequence % tiles) * rows, all = sequences[s].m * group();
    Tile t;
    t.args = args;
    t.sequence = sequences + s;
    t.kv_head = in_sequence / tiles;
    t.group = group();
    t.row = row;
    t.rows = static_cast<int>(min_i64(rows, all - row));
    for (int r = 0; r < t.rows; ++r) t.seen[r] = keys_of_query(*args, sequences[s], t.query(r));
    return t;
  }

  // The last i in [0, n) with sorted[i] <= x.
  static int64_t last_not_above(const int64_t* sorted, int64_t n, int64_t x) {
    int64_t low = 0, high = n;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (sorted[middle] <= x ? low : high) = middle;
    }
    return low;
  }
};

struct SpanRange {
  int64_t begin, count;  // count is at least 1: a tile that sees no key still writes zeros
};

static SpanRange spans_of(const Tile& tile) {
  const KeyRange keys = keys_of_rows(tile, 0, tile.rows, {0, tile.sequence->keys});
  if (keys.begin >= keys.end) return {0, 1};
  return {keys.begin / kSpan, (keys.end + kSpan - 1) / kSpan - keys.begin / kSpan};
}

static int64_t* take_indices(const KernelContext& ctx, int64_t count) {
  return reinterpret_cast<int64_t*>(take_floats(ctx, 2 * count));
}

// Each thread takes whole tiles and goes through their spans.
static void attend_by_tile(const KernelContext& ctx, const TilePlan& plan) {
  const int64_t dim = plan.args->head_dim, partial = partial_floats(kTileRows, dim);
  const int64_t each = span_scratch_floats(dim) + 2 * partial;
  float* memory = take_floats(ctx, each * thread_count(ctx));
  ctx.pool->parallel_for(plan.tiles(), [&](int64_t index, int thread) {
    float* mine = memory + thread * each;
    const Partial span = partial_at(mine), state = partial_at(mine + partial);
    const SpanScratch scratch = span_scratch_at(mine + 2 * partial, dim);
    const Tile tile = plan.tile(index);
    const SpanRange spans = spans_of(tile);
    pack_queries(tile, scratch);
    start(tile, state);
    for (int64_t s = 0; s < spans.count; ++s) {
      attend_span(tile, spans.begin + s, scratch, span);
      merge(tile, span, state);
    }
    finish(tile, state);
  });
}

// A state that goes from one wave to the next.
static void copy_partial(const Tile& tile, const Partial& from, const Partial& to) {
  for (int r = 0; r < tile.rows; ++r) {
    to.sum[r] = from.sum[r];
    to.max[r] = from.max[r];
  }
  const int64_t floats = tile.rows * padded_dim(tile.args->head_dim);
  for (int64_t i = 0; i < floats; i += kLanes) store(to.out + i, load(from.out + i));
}

// Few tiles with many spans, as in decoding a long sequence: threads take single spans, wave after wave, and what a
// wave gave is merged tile by tile in ascending order. At most one tile is unfinished after a wave.
static void attend_by_span(const KernelContext& ctx, const TilePlan& plan, const int64_t* first_span) {
  const int threads = thread_count(ctx);
  const int64_t dim = plan.args->head_dim, partial = partial_floats(kTileRows, dim);
  const int64_t scratch_floats = span_scratch_floats(dim), wave = 8 * threads;
  const int64_t total = first_span[plan.tiles()];
  float* partials = take_floats(ctx, (wave + 2) * partial);
  float* memory = take_floats(ctx, (scratch_floats + partial) * threads);
  for (int64_t from = 0, parity = 0; from < total; from += wave, parity ^= 1) {
    const int64_t to = min_i64(from + wave, total);
    ctx.pool->parallel_for(to - from, [&](int64_t unit, int thread) {
      const int64_t index = TilePlan::last_not_above(first_span, plan.tiles(), from + unit);
      const Tile tile = plan.tile(index);
      const SpanScratch scratch = span_scratch_at(memory + thread * (scratch_floats + partial), dim);
      pack_queries(tile, scratch);
      attend_span(tile, spans_of(tile).begin + from + unit - first_span[index], scratch,
                  partial_at(partials + unit * partial));
    });
    const int64_t first_tile = TilePlan::last_not_above(first_span, plan.tiles(), from);
    const int64_t last_tile = TilePlan::last_not_above(first_span, plan.tiles(), to - 1);
    ctx.pool->parallel_for(last_tile - first_tile + 1, [&](int64_t i, int thread) {
      const int64_t index = first_tile + i, begin = first_span[index], end = first_span[index + 1];
      const Tile tile = plan.tile(index);
      const Partial state = partial_at(memory + thread * (scratch_floats + partial) + scratch_floats);
      start(tile, state);
      if (begin < from) copy_partial(tile, partial_at(partials + (wave + parity) * partial), state);
      for (int64_t unit = max_i64(begin, from); unit < min_i64(end, to); ++unit)
        merge(tile, partial_at(partials + (unit - from) * partial), state);
      if (end <= to) {
        finish(tile, state);
      } else {
        copy_partial(tile, state, partial_at(partials + (wave + 1 - parity) * partial));
      }
    });
  }
}

void attention(const KernelContext& ctx, const AttentionArgs& args) {
  const Workspace::Mark mark(*ctx.workspace);
  TilePlan plan;
  plan.args = &args;
  plan.sequences = attention_sequences(args, &plan.count);
  plan.first_tile = take_indices(ctx, plan.count + 1);
  plan.first_tile[0] = 0;
  for (int64_t s = 0; s < plan.count; ++s)
    plan.first_tile[s + 1] = plan.first_tile[s] + args.kv_heads * plan.tiles_of_head(s);
  const int64_t tiles = plan.tiles(), threads = thread_count(ctx);
  if (threads == 1 || tiles > kManyTiles * threads) return attend_by_tile(ctx, plan);
  int64_t* first_span = take_indices(ctx, tiles + 1);
  first_span[0] = 0;
  int64_t longest = 0;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t spans = spans_of(plan.tile(t)).count;
    first_span[t + 1] = first_span[t] + spans;
    longest = max_i64(longest, spans);
  }
  if (longest == 1 || longest * threads * 2 <= first_span[tiles]) return attend_by_tile(ctx, plan);
  attend_by_span(ctx, plan, first_span);
}

}  // namespace omniphi::OMNIPHI_SIMD

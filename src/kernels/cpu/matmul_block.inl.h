// Products of more than a few rows: blocks of weights stay in cache while rows pass.
#pragma once

#include "kernels/cpu/matmul_tile.inl.h"
#include "kernels/ops.h"

namespace omniphi::OMNIPHI_SIMD {

// kBlockRows x kBlockColumns partial vectors and a block of weights of kBlockDepth fit the second-level cache, a tile
// of rows and a tile of weights of kBlockDepth the first.
inline constexpr int64_t kBlockRows = 96;
inline constexpr int64_t kBlockColumns = 64;
inline constexpr int64_t kBlockDepth = 1024;

// Up to this many rows a block of all rows fits the first-level cache, and weights pass by it once, from memory.
inline constexpr int64_t kFewRowsMost = 16;
inline constexpr int64_t kFewRowsValues = 8192;

// A block of weights, widened once and laid out in the order in which tiles read it: groups of kTileColumns columns,
// vector after vector along k, column after column within. Widening is exact, so no bits depend on it.
struct Packed {
  static constexpr int kBytes = 4;
  static constexpr int64_t kLd = kLanes;
  static inline __attribute__((always_inline)) F32 load(const char* p, int64_t index) {
    return OMNIPHI_SIMD::load(reinterpret_cast<const float*>(p) + index * kTileColumns);
  }
  // What lies behind the depth was packed as 0.
  static inline __attribute__((always_inline)) F32 load_n(const char* p, int64_t index, int64_t) {
    return load(p, index);
  }
};

template <typename W>
static void pack(const char* w, int64_t ldw, int64_t columns, int64_t depth, float* packed) {
  for (int64_t column = 0; column + kTileColumns <= columns; column += kTileColumns) {
    const char* source = w + column * ldw * W::kBytes;
    for_lanes(depth, [&](int64_t i, int64_t lanes) {
      for (int64_t c = 0; c < kTileColumns; ++c, packed += kLanes) {
        const char* p = source + c * ldw * W::kBytes;
        store(packed, lanes == kLanes ? W::load(p, i) : W::load_n(p, i, lanes));
      }
    });
  }
}

// How the tiles of a block are reached.
enum class Plan {
  kFewRows,  // column tiles outside, row tiles inside: weights come from memory and are read once
  kDirect,   // row tiles outside; weights are widened by every tile of rows
  kPacked,   // row tiles outside; weights are widened once a block
};

// Rows x columns of c over one cut of k.
struct Block {
  int64_t row, rows, column, columns, depth, depth_count;
};

template <typename W, Plan kPlan>
struct BlockTiles {
  const MatmulArgs& args;
  const Block& b;
  float* partial;       // kBlockRows x kBlockColumns vectors, those of a tile together
  const float* packed;  // what pack() made of the block's weights

  void run() const {
    const int64_t tile_rows = even_tile_rows(b.rows);
    if constexpr (kPlan == Plan::kFewRows) {
      for (int64_t column = 0, count; column < b.columns; column += count) {
        count = b.columns - column >= kTileColumns ? kTileColumns : 1;
        for (int64_t row = 0; row < b.rows; row += tile_rows)
          tile_at(row, min_i64(tile_rows, b.rows - row), column, count);
      }
    } else {
      for (int64_t row = 0; row < b.rows; row += tile_rows) {
        for (int64_t column = 0, count; column < b.columns; column += count) {
          count = b.columns - column >= kTileColumns ? kTileColumns : 1;
          tile_at(row, min_i64(tile_rows, b.rows - row), column, count);
        }
      }
    }
  }

  void tile_at(int64_t row, int64_t rows, int64_t column, int64_t columns) const {
    constexpr Source kSource = kPlan == Plan::kFewRows ? Source::kMemory : Source::kCache;
    const int64_t ldw = args.w.ld;
    const char* w = static_cast<const char*>(args.w.data) + ((b.column + column) * ldw + b.depth) * W::kBytes;
    TileInput in{.a = args.a + (b.row + row) * args.lda + b.depth,
                 .lda = args.lda,
                 .w = w,
                 .ldw = ldw,
                 .k = b.depth_count,
                 .ahead = column + 2 * kTileColumns < b.columns ? 2 * kTileColumns * ldw * W::kBytes : 0,
                 .partial = partial + (row * kBlockColumns + column * rows) * kLanes,
                 .first = b.depth == 0,
                 .last = b.depth + b.depth_count == args.k};
    const TileOutput out{args.c + (b.row + row) * args.ldc + b.column + column, args.ldc, &args, b.column + column};
    if (columns == 1) return choose_tile<W, kSource, 1>(rows)(in, out);
    if constexpr (kPlan == Plan::kPacked) {
      in.w = reinterpret_cast<const char*>(packed + column * ceil_div(b.depth_count, kLanes) * kLanes);
      in.ldw = Packed::kLd;
      choose_tile<Packed, kSource, kTileColumns>(rows)(in, out);
    } else {
      choose_tile<W, kSource, kTileColumns>(rows)(in, out);
    }
  }
};

// How a product is cut into blocks. A panel is the rows that meet a block of columns in one go.
struct Cut {
  int64_t columns, column_blocks, panel_rows, panels, depth;
};

OMNIPHI_INLINE Cut cut_blocks(const MatmulArgs& args, Plan plan, int64_t threads) {
  Cut cut;
  // Enough blocks to keep the threads equally busy, of enough work each to pay for waking one: smaller ones where there
  // are few columns, then several panels.
  constexpr int64_t kBlockWork = int64_t{1} << 17;
  const int64_t work = max_i64(1, args.m * args.n * args.k / kBlockWork);
  const int64_t wanted = min_i64(8 * threads, work);
  const int64_t share = ceil_div(ceil_div(args.n, wanted), 16) * 16;
  cut.columns = max_i64(16, min_i64(kBlockColumns, share));
  cut.column_blocks = ceil_div(args.n, cut.columns);
  const int64_t row_blocks = ceil_div(args.m, kBlockRows);
  cut.panels = min_i64(row_blocks, ceil_div(wanted, cut.column_blocks));
  cut.panel_rows = ceil_div(row_blocks, cut.panels) * kBlockRows;
  // Depths of equal length, in whole vectors, so that only the last has a tail.
  const int64_t limit = plan == Plan::kFewRows ? min_i64(kBlockDepth, kFewRowsValues / args.m) : kBlockDepth;
  const int64_t depths = ceil_div(args.k, limit);
  cut.depth = ceil_div(ceil_div(args.k, depths), kLanes) * kLanes;
  return cut;
}

template <typename W, Plan kPlan>
static void matmul_blocks(const KernelContext& ctx, const MatmulArgs& args) {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t threads = thread_count(ctx);
  constexpr int64_t kPartial = kBlockRows * kBlockColumns * kLanes;
  constexpr int64_t kScratch = kPartial + (kPlan == Plan::kPacked ? kBlockColumns * kBlockDepth : 0);
  float* scratch = take_floats(ctx, threads * kScratch);
  const Cut cut = cut_blocks(args, kPlan, threads);
  ctx.pool->parallel_for(cut.column_blocks * cut.panels, [&](int64_t index, int thread) {
    float* partial = scratch + thread * kScratch;
    float* packed = partial + kPartial;
    Block b{};
    b.column = index / cut.panels * cut.columns;
    b.columns = min_i64(cut.columns, args.n - b.column);
    const int64_t begin = index % cut.panels * cut.panel_rows, end = min_i64(begin + cut.panel_rows, args.m);
    for (b.row = begin; b.row < end; b.row += kBlockRows) {
      b.rows = min_i64(kBlockRows, end - b.row);
      for (b.depth = 0; b.depth < args.k; b.depth += cut.depth) {
        b.depth_count = min_i64(cut.depth, args.k - b.depth);
        if constexpr (kPlan == Plan::kPacked) {
          const char* w = static_cast<const char*>(args.w.data) + (b.column * args.w.ld + b.depth) * W::kBytes;
          pack<W>(w, args.w.ld, b.columns, b.depth_count, packed);
        }
        BlockTiles<W, kPlan>{args, b, partial, packed}.run();
      }
    }
  });
}

}  // namespace omniphi::OMNIPHI_SIMD

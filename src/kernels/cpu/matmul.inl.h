// Matrix products with weights where they lie.
#pragma once

#include "kernels/cpu/matmul_tile.inl.h"
#include "kernels/ops.h"

namespace omniphi::OMNIPHI_SIMD {

// Up to this many rows the weights are streamed from memory once, and speed is the memory's. Beyond, blocks of weights
// are kept in cache while rows pass.
inline constexpr int64_t kThinRows = 2 * kTileRows;

// Blocks of the cached path: kBlockRows x kBlockColumns partial vectors, a kBlockColumns x kBlockDepth block of weights
// and a tile of rows of kBlockDepth fit the second-level cache, the tile of rows the first.
inline constexpr int64_t kBlockRows = 16 * kTileRows;
inline constexpr int64_t kBlockColumns = 32;
inline constexpr int64_t kBlockDepth = 1024;

OMNIPHI_INLINE int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Columns [begin, end) of all rows, k in one piece.
template <typename W>
static void thin_columns(const MatmulArgs& args, int64_t begin, int64_t end) {
  TileInput in{.lda = args.lda, .ldw = args.w.ld, .k = args.k, .first = true, .last = true};
  TileOutput out{.ldc = args.ldc, .args = &args};
  for (int64_t column = begin; column < end;) {
    const int64_t left = end - column;
    const int64_t columns = args.m == 1 && left >= kRowColumns ? kRowColumns : left >= kTileColumns ? kTileColumns : 1;
    in.w = static_cast<const char*>(args.w.data) + column * args.w.ld * W::kBytes;
    out.column = column;
    for (int64_t row = 0; row < args.m; row += kTileRows) {
      const int64_t rows = min_i64(kTileRows, args.m - row);
      in.a = args.a + row * args.lda;
      out.c = args.c + row * args.ldc + column;
      if (columns == kRowColumns) {
        tile<W, 1, kRowColumns>(in, out);
      } else {
        (columns == kTileColumns ? choose_tile<W, kTileColumns>(rows) : choose_tile<W, 1>(rows))(in, out);
      }
    }
    column += columns;
  }
}

template <typename W>
static void thin(const KernelContext& ctx, const MatmulArgs& args) {
  // Chunks of about 256 KB of weights: long enough to stream, short enough that threads end together. Whole cache lines
  // of c, so that threads don't write to the same one.
  constexpr int64_t kChunkBytes = 256 * 1024;
  int64_t chunk = kChunkBytes / max_i64(1, args.k * W::kBytes);
  chunk = max_i64(16, ceil_div(chunk, 16) * 16);
  ctx.pool->parallel_for(ceil_div(args.n, chunk), [&](int64_t index, int) {
    thin_columns<W>(args, index * chunk, min_i64((index + 1) * chunk, args.n));
  });
}

struct Block {
  int64_t row, rows, column, columns, depth, depth_count;
};

// One block of rows and columns over one cut of k.
template <typename W>
static void block_tiles(const MatmulArgs& args, const Block& b, const char* w, int64_t ldw, float* partial) {
  TileInput in{.lda = args.lda,
               .ldw = ldw,
               .k = b.depth_count,
               .partial_ld = kBlockColumns * kLanes,
               .first = b.depth == 0,
               .last = b.depth + b.depth_count == args.k};
  TileOutput out{.ldc = args.ldc, .args = &args};
  for (int64_t row = 0; row < b.rows; row += kTileRows) {
    const int64_t rows = min_i64(kTileRows, b.rows - row);
    in.a = args.a + (b.row + row) * args.lda + b.depth;
    const TileFunction wide = choose_tile<W, kTileColumns>(rows), narrow = choose_tile<W, 1>(rows);
    for (int64_t column = 0; column < b.columns;) {
      const int64_t columns = b.columns - column >= kTileColumns ? kTileColumns : 1;
      in.w = w + column * ldw * W::kBytes;
      in.partial = partial + (row * kBlockColumns + column) * kLanes;
      out.c = args.c + (b.row + row) * args.ldc + b.column + column;
      out.column = b.column + column;
      (columns == kTileColumns ? wide : narrow)(in, out);
      column += columns;
    }
  }
}

template <typename W>
static void cached(const KernelContext& ctx, const MatmulArgs& args) {
  const Workspace::Mark mark(*ctx.workspace);
  const int threads = thread_count(ctx);
  constexpr int64_t kPartial = kBlockRows * kBlockColumns * kLanes;
  float* scratch = take_floats(ctx, threads * kPartial);
  // Depths of equal length, in whole vectors, so that only the last has a tail.
  const int64_t depths = ceil_div(args.k, kBlockDepth);
  const int64_t depth = ceil_div(ceil_div(args.k, depths), kLanes) * kLanes;
  const int64_t column_blocks = ceil_div(args.n, kBlockColumns);
  const int64_t row_blocks = ceil_div(args.m, kBlockRows);
  // A panel is the rows that meet a block of columns in one go; more than one only where columns are too few to share.
  const int64_t panels = min_i64(row_blocks, ceil_div(8 * threads, column_blocks));
  const int64_t panel_rows = ceil_div(row_blocks, panels) * kBlockRows;
  ctx.pool->parallel_for(column_blocks * panels, [&](int64_t index, int thread) {
    float* partial = scratch + thread * kPartial;
    Block b{};
    b.column = index / panels * kBlockColumns;
    b.columns = min_i64(kBlockColumns, args.n - b.column);
    const int64_t begin = index % panels * panel_rows, end = min_i64(begin + panel_rows, args.m);
    for (b.row = begin; b.row < end; b.row += kBlockRows) {
      b.rows = min_i64(kBlockRows, end - b.row);
      for (b.depth = 0; b.depth < args.k; b.depth += depth) {
        b.depth_count = min_i64(depth, args.k - b.depth);
        const char* w = static_cast<const char*>(args.w.data) + (b.column * args.w.ld + b.depth) * W::kBytes;
        block_tiles<W>(args, b, w, args.w.ld, partial);
      }
    }
  });
}

template <typename W>
static void matmul_as(const KernelContext& ctx, const MatmulArgs& args) {
  if (args.m <= kThinRows || args.k == 0) {
    thin<W>(ctx, args);
  } else {
    cached<W>(ctx, args);
  }
}

void matmul(const KernelContext& ctx, const MatmulArgs& args) {
  if (args.m <= 0 || args.n <= 0) return;
  switch (args.w.dtype) {
    case DType::kBF16:
      return matmul_as<AsBf16>(ctx, args);
    case DType::kF16:
      return matmul_as<AsF16>(ctx, args);
    default:
      return matmul_as<AsF32>(ctx, args);
  }
}

}  // namespace omniphi::OMNIPHI_SIMD

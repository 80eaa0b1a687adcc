// Matrix products with weights where they lie.
#pragma once

#include "kernels/cpu/matmul_block.inl.h"

namespace omniphi::OMNIPHI_SIMD {

// Up to this many rows one tile holds them all and k need not be cut: the speed is that of the memory.
inline constexpr int64_t kThinRows = 4;

// Widening a block of 16-bit weights once pays where sixteen registers make small tiles and enough rows share it.
inline constexpr int64_t kPackRows = 64;

// With one row and long vectors the processor's own guesses do better than fetching by hand.
inline constexpr Source kRowSource = kLanes == 16 ? Source::kCache : Source::kMemory;

// Columns [begin, end) of all rows, k in one piece.
template <typename W>
static void thin_columns(const MatmulArgs& args, int64_t begin, int64_t end) {
  TileInput in{.lda = args.lda, .ldw = args.w.ld, .k = args.k, .first = true, .last = true};
  TileOutput out{.ldc = args.ldc, .args = &args};
  const int64_t tile_rows = even_tile_rows(args.m);
  for (int64_t column = begin, columns; column < end; column += columns) {
    const int64_t left = end - column;
    columns = args.m == 1 && left >= kRowColumns ? kRowColumns : left >= kTileColumns ? kTileColumns : 1;
    in.w = static_cast<const char*>(args.w.data) + column * args.w.ld * W::kBytes;
    in.ahead = left > kRowColumns ? kRowColumns * args.w.ld * W::kBytes : 0;
    out.column = column;
    for (int64_t row = 0; row < args.m; row += tile_rows) {
      const int64_t rows = min_i64(tile_rows, args.m - row);
      in.a = args.a + row * args.lda;
      out.c = args.c + row * args.ldc + column;
      if (columns == kRowColumns) {
        tile<W, kRowSource, 1, kRowColumns>(in, out);
      } else if (columns == kTileColumns) {
        choose_tile<W, Source::kMemory, kTileColumns>(rows)(in, out);
      } else {
        choose_tile<W, Source::kMemory, 1>(rows)(in, out);
      }
    }
  }
}

template <typename W>
static void matmul_thin(const KernelContext& ctx, const MatmulArgs& args) {
  // Chunks of 256 KB to 2 MB of weights, sixteen a thread: long enough to stream, short enough that threads end
  // together. Whole cache lines of c, so that threads don't write to the same one.
  constexpr int64_t kSmallest = 256 * 1024, kLargest = 2048 * 1024;
  const int64_t row_bytes = max_i64(1, args.k * W::kBytes);
  const int64_t share = args.n * row_bytes / (16 * thread_count(ctx));
  const int64_t chunk_bytes = min_i64(kLargest, max_i64(kSmallest, share));
  const int64_t chunk = max_i64(16, chunk_bytes / row_bytes / 16 * 16);
  ctx.pool->parallel_for(ceil_div(args.n, chunk), [&](int64_t index, int) {
    thin_columns<W>(args, index * chunk, min_i64((index + 1) * chunk, args.n));
  });
}

template <typename W>
static void matmul_as(const KernelContext& ctx, const MatmulArgs& args) {
  if (args.m <= kThinRows || args.k == 0) return matmul_thin<W>(ctx, args);
  if (args.m <= kFewRowsMost) return matmul_blocks<W, Plan::kFewRows>(ctx, args);
  if constexpr (kLanes == 8 && W::kBytes == 2) {
    if (args.m > kPackRows) return matmul_blocks<W, Plan::kPacked>(ctx, args);
  }
  matmul_blocks<W, Plan::kDirect>(ctx, args);
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

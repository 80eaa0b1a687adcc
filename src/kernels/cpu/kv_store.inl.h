// Rounds keys and values and lays them into the blocks of the cache, keys transposed. Rounding is exact arithmetic: all
// implementations store the same bits.
#pragma once

#include "kernels/cpu/simd_common.inl.h"
#include "kernels/ops.h"

namespace omniphi::OMNIPHI_SIMD {

struct StoreF32 {
  static constexpr int kBytes = 4;
  static inline __attribute__((always_inline)) void store_n(char* p, F32 x, int64_t n) {
    store_lanes(reinterpret_cast<float*>(p), x, n);
  }
};
struct StoreBf16 {
  static constexpr int kBytes = 2;
  static inline __attribute__((always_inline)) void store_n(char* p, F32 x, int64_t n) {
    if (n == kLanes) {
      store_bf16(p, x);
    } else {
      store_bf16_n(p, x, n);
    }
  }
};

// One head's keys and values of tokens that lie in one vector of slots of one block.
struct KvPiece {
  const float* k;  // [tokens, head_dim], ldk
  const float* v;
  int64_t ldk, tokens, head_dim;
  char* keys;    // dimension 0, slot of the first token
  char* values;  // slot of the first token
  int64_t block_tokens;
};

template <typename Store>
static void store_piece(const KvPiece& piece) {
  for (int64_t t = 0; t < piece.tokens; ++t) {
    for_lanes(piece.head_dim, [&](int64_t d, int64_t n) {
      Store::store_n(piece.values + (t * piece.head_dim + d) * Store::kBytes,
                     load_lanes(piece.v + t * piece.ldk + d, n), n);
    });
  }
  for_lanes(piece.head_dim, [&](int64_t d, int64_t n) {
    alignas(64) float square[kLanes][kLanes];  // [dimension, token]
    for (int64_t t = 0; t < piece.tokens; ++t) {
      const float* k = piece.k + t * piece.ldk + d;
      for (int64_t i = 0; i < n; ++i) square[i][t] = k[i];
    }
    for (int64_t i = 0; i < n; ++i) {
      Store::store_n(piece.keys + (d + i) * piece.block_tokens * Store::kBytes, load(square[i]), piece.tokens);
    }
  });
}

// The tokens of vector of slots `vector` (position / kLanes) that the call stores, for all heads.
template <typename Store>
static void store_vector(const KvStoreArgs& args, int64_t vector) {
  const int64_t dim = args.head_dim, block = args.kv.block_tokens;
  const int64_t begin = max_i64(args.first, vector * kLanes), end = min_i64(args.first + args.m, (vector + 1) * kLanes);
  char* data = static_cast<char*>(args.kv.blocks[begin / block]);
  for (int64_t h = 0; h < args.kv_heads; ++h) {
    const int64_t base = h * 2 * dim * block, slot = begin % block, from = (begin - args.first) * args.ldk + h * dim;
    store_piece<Store>({args.k + from, args.v + from, args.ldk, end - begin, dim, data + (base + slot) * Store::kBytes,
                        data + (base + dim * block + slot * dim) * Store::kBytes, block});
  }
}

void kv_store(const KernelContext& ctx, const KvStoreArgs& args) {
  if (args.m <= 0) return;
  const int64_t first_vector = args.first / kLanes, vectors = (args.first + args.m - 1) / kLanes + 1 - first_vector;
  ctx.pool->parallel_for(vectors, [&](int64_t i, int) {
    if (args.kv.dtype == DType::kBF16) {
      store_vector<StoreBf16>(args, first_vector + i);
    } else {
      store_vector<StoreF32>(args, first_vector + i);
    }
  });
}

}  // namespace omniphi::OMNIPHI_SIMD

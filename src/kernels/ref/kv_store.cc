#include "kernels/ops.h"

namespace omniphi::ref {
namespace {

void put(const KvBlocks& kv, int64_t block, int64_t index, float value) {
  if (kv.dtype == DType::kBF16) {
    static_cast<uint16_t*>(kv.blocks[block])[index] = f32_to_bf16(value);
  } else {
    static_cast<float*>(kv.blocks[block])[index] = value;
  }
}

}  // namespace

void kv_store(const KernelContext& ctx, const KvStoreArgs& args) {
  const int64_t size = args.kv.block_tokens, dim = args.head_dim;
  ctx.pool->parallel_for(args.m, [&](int64_t row, int) {
    const int64_t block = (args.first + row) / size, slot = (args.first + row) % size;
    for (int h = 0; h < args.kv_heads; ++h) {
      const int64_t keys = h * 2 * dim * size, values = keys + dim * size;
      const float* k = args.k + row * args.ldk + h * dim;
      const float* v = args.v + row * args.ldk + h * dim;
      for (int64_t d = 0; d < dim; ++d) {
        put(args.kv, block, keys + d * size + slot, k[d]);
        put(args.kv, block, values + slot * dim + d, v[d]);
      }
    }
  });
}

}  // namespace omniphi::ref

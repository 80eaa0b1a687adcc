#include "layers/dense_attention.h"

namespace omniphi {

void DenseAttention::forward(const KernelContext& ctx, const float* q, const float* k, const float* v, int64_t m,
                             const Mask& mask, float* out) const {
  const Workspace::Mark scratch(*ctx.workspace);
  constexpr int kBlock = static_cast<int>(kAttentionSpan);
  const int64_t width = int64_t{heads} * head_dim;
  const int64_t block_count = (m + kBlock - 1) / kBlock;
  const int64_t block_elements = kv_block_elements(heads, head_dim, kBlock);
  void** blocks = ctx.workspace->take<void*>(static_cast<size_t>(block_count));
  for (int64_t b = 0; b < block_count; ++b) {
    blocks[b] = ctx.workspace->take<float>(static_cast<size_t>(block_elements));
  }

  KvStoreArgs store;
  store.k = k;
  store.v = v;
  store.ldk = width;
  store.m = m;
  store.kv_heads = heads;
  store.head_dim = head_dim;
  store.kv = KvBlocks{blocks, DType::kF32, kBlock};
  ctx.kernels->kv_store(ctx, store);

  AttentionSequence sequence;
  sequence.q = q;
  sequence.out = out;
  sequence.m = m;
  sequence.keys = m;
  sequence.kv = store.kv;
  sequence.key_mask = mask.key_mask;
  sequence.range_begin = mask.range_begin;
  sequence.range_end = mask.range_end;

  AttentionArgs args;
  args.sequences = std::span<const AttentionSequence>(&sequence, 1);
  args.ldq = width;
  args.ldo = width;
  args.heads = heads;
  args.kv_heads = heads;
  args.head_dim = head_dim;
  args.scale = scale;
  args.relative_bias = relative_bias;
  args.bias_reach = bias_reach;
  ctx.kernels->attention(ctx, args);
}

}  // namespace omniphi

#include "models/decoder/decoder.h"

#include <algorithm>
#include <cmath>

#include "layers/elementwise.h"

namespace omniphi {

// What all layers of a step share.
struct Decoder::StepTables {
  const float* cos = nullptr;  // [tokens, rotary / 2]
  const float* sin = nullptr;  // [tokens, rotary / 2]
  std::span<const AdapterRows> adapters;
  const int32_t* range_begin = nullptr;  // [tokens]: first key that a query sees; null: no window
  const int32_t* range_end = nullptr;    // [tokens]
};

namespace {

// Neighbouring sequences with the same branch become one span. Returns how many.
size_t adapter_rows(const Batch& batch, AdapterRows* spans) {
  size_t count = 0;
  int64_t row = 0;
  for (const BatchSequence& sequence : batch.sequences) {
    if (count > 0 && spans[count - 1].adapter == sequence.adapter) {
      spans[count - 1].count += sequence.rows;
    } else {
      spans[count++] = AdapterRows{row, sequence.rows, sequence.adapter};
    }
    row += sequence.rows;
  }
  return count;
}

}  // namespace

void Decoder::embed(const KernelContext& ctx, std::span<const int32_t> ids, float* hidden_states) const {
  EmbedArgs args;
  args.table = embed_tokens;
  args.ids = ids.data();
  args.y = hidden_states;
  args.ldy = shape.hidden;
  args.m = static_cast<int64_t>(ids.size());
  args.n = shape.hidden;
  ctx.kernels->embed(ctx, args);
}

void Decoder::forward(const KernelContext& ctx, const Batch& batch, float* hidden_states, Trace* trace) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t m = batch.tokens();
  const int half = rope.rotary_dim() / 2;
  float* cos = ctx.workspace->take<float>(static_cast<size_t>(m * half));
  float* sin = ctx.workspace->take<float>(static_cast<size_t>(m * half));
  int64_t start = 0;
  for (const BatchSequence& sequence : batch.sequences) {
    ctx.pool->parallel_for(sequence.rows, [&](int64_t row, int) {
      const int64_t at = (start + row) * half;
      rope.angles(sequence.regime, sequence.first + row, cos + at, sin + at);
    });
    start += sequence.rows;
  }
  AdapterRows* spans = ctx.workspace->take<AdapterRows>(batch.sequences.size());
  StepTables tables;
  tables.cos = cos;
  tables.sin = sin;
  tables.adapters = std::span<const AdapterRows>(spans, adapter_rows(batch, spans));
  if (sliding_window > 0) window_ranges(ctx, batch, &tables);

  if (trace != nullptr) trace->stage("decoder.inputs_embeds", hidden_states, Shape{m, shape.hidden});
  for (size_t layer = 0; layer < blocks.size(); ++layer) {
    attention(ctx, blocks[layer], batch, tables, layer, hidden_states);
    mlp(ctx, blocks[layer], tables, m, hidden_states);
    if (trace != nullptr) {
      trace->stage("decoder.layer" + std::to_string(layer), hidden_states, Shape{m, shape.hidden});
    }
  }
  norm.forward(ctx, hidden_states, m, hidden_states);
  if (trace != nullptr) trace->stage("decoder.final_norm", hidden_states, Shape{m, shape.hidden});
}

void Decoder::window_ranges(const KernelContext& ctx, const Batch& batch, StepTables* tables) const {
  const auto m = static_cast<size_t>(batch.tokens());
  int32_t* begin = ctx.workspace->take<int32_t>(m);
  int32_t* end = ctx.workspace->take<int32_t>(m);
  tables->range_begin = begin;
  tables->range_end = end;
  for (const BatchSequence& sequence : batch.sequences) {
    for (int64_t position = sequence.first; position < sequence.first + sequence.rows; ++position) {
      *begin++ = static_cast<int32_t>(std::max<int64_t>(0, position - sliding_window));
      *end++ = static_cast<int32_t>(position + 1);
    }
  }
}

// hidden_states += o_proj(attention(input_layernorm(hidden_states)))
void Decoder::attention(const KernelContext& ctx, const DecoderBlock& block, const Batch& batch,
                        const StepTables& tables, size_t layer, float* hidden_states) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t m = batch.tokens();
  const int64_t query_width = int64_t{shape.heads} * shape.head_dim;
  const int64_t kv_width = int64_t{shape.kv_heads} * shape.head_dim;
  const int64_t qkv_width = query_width + 2 * kv_width;
  const auto take = [&](int64_t width) { return ctx.workspace->take<float>(static_cast<size_t>(m * width)); };
  float* normed = take(shape.hidden);  // [m, hidden]
  float* qkv = take(qkv_width);        // [m, (heads + 2 * kv_heads) * head_dim]
  float* context = take(query_width);  // [m, heads * head_dim]
  float* output = normed;              // [m, hidden]

  block.input_layernorm.forward(ctx, hidden_states, m, normed);
  block.qkv_proj.forward(ctx, normed, m, qkv, tables.adapters);

  RopeArgs rotate;  // queries and keys stand side by side: one call turns both
  rotate.x = qkv;
  rotate.ldx = qkv_width;
  rotate.m = m;
  rotate.heads = shape.heads + shape.kv_heads;
  rotate.head_dim = shape.head_dim;
  rotate.rotary = rope.rotary_dim();
  rotate.cos = tables.cos;
  rotate.sin = tables.sin;
  ctx.kernels->rope(ctx, rotate);

  AttentionSequence* sequences = ctx.workspace->take<AttentionSequence>(batch.sequences.size());
  int64_t row = 0;
  for (size_t i = 0; i < batch.sequences.size(); ++i) {
    const BatchSequence& sequence = batch.sequences[i];
    const float* rows = qkv + row * qkv_width;
    KvStoreArgs store;
    store.k = rows + query_width;
    store.v = rows + query_width + kv_width;
    store.ldk = qkv_width;
    store.m = sequence.rows;
    store.first = sequence.first;
    store.kv_heads = shape.kv_heads;
    store.head_dim = shape.head_dim;
    store.kv = sequence.kv[layer];
    ctx.kernels->kv_store(ctx, store);

    AttentionSequence& attended = sequences[i] = AttentionSequence{};
    attended.q = rows;
    attended.out = context + row * query_width;
    attended.m = sequence.rows;
    attended.first = sequence.first;
    attended.keys = sequence.first + sequence.rows;
    attended.kv = sequence.kv[layer];
    if (tables.range_begin != nullptr) {
      attended.range_begin = tables.range_begin + row;
      attended.range_end = tables.range_end + row;
    }
    row += sequence.rows;
  }

  AttentionArgs args;
  args.sequences = std::span<const AttentionSequence>(sequences, batch.sequences.size());
  args.ldq = qkv_width;
  args.ldo = query_width;
  args.heads = shape.heads;
  args.kv_heads = shape.kv_heads;
  args.head_dim = shape.head_dim;
  args.scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  args.causal = true;
  ctx.kernels->attention(ctx, args);

  block.o_proj.forward(ctx, context, m, output, tables.adapters);
  add_scaled(ctx, output, m, shape.hidden, hidden_states);
}

// hidden_states += down_proj(up * silu(gate)) with [gate, up] = gate_up_proj(post_attention_layernorm(hidden_states))
void Decoder::mlp(const KernelContext& ctx, const DecoderBlock& block, const StepTables& tables, int64_t m,
                  float* hidden_states) const {
  const Workspace::Mark mark(*ctx.workspace);
  const auto take = [&](int64_t width) { return ctx.workspace->take<float>(static_cast<size_t>(m * width)); };
  float* normed = take(shape.hidden);             // [m, hidden]
  float* gate_up = take(2 * shape.intermediate);  // [m, 2 * intermediate]
  float* gated = take(shape.intermediate);        // [m, intermediate]
  float* output = normed;                         // [m, hidden]

  block.post_attention_layernorm.forward(ctx, hidden_states, m, normed);
  block.gate_up_proj.forward(ctx, normed, m, gate_up, tables.adapters);
  silu_gate(ctx, gate_up, m, shape.intermediate, gated);
  block.down_proj.forward(ctx, gated, m, output, tables.adapters);
  add_scaled(ctx, output, m, shape.hidden, hidden_states);
}

void Decoder::head(const KernelContext& ctx, const float* hidden_states, int64_t m, float* logits) const {
  MatmulArgs args;
  args.a = hidden_states;
  args.lda = shape.hidden;
  args.w = lm_head;
  args.c = logits;
  args.ldc = shape.vocab;
  args.m = m;
  args.n = shape.vocab;
  args.k = shape.hidden;
  ctx.kernels->matmul(ctx, args);
}

}  // namespace omniphi

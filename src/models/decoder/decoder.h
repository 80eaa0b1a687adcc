// The language model: a pre-norm decoder with grouped-query attention, LongRoPE and switched LoRA branches. Multi-head
// attention is the case of as many key heads as query heads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "layers/linear.h"
#include "layers/long_rope.h"
#include "layers/norm.h"
#include "models/trace.h"

namespace omniphi {

// One sequence's share of a batch: its next `rows` tokens, whose keys and values go to positions [first, first + rows).
struct BatchSequence {
  int64_t rows = 0;
  int64_t first = 0;  // tokens that the cache holds already
  RopeRegime regime = RopeRegime::kShort;
  int adapter = -1;              // index into Linear::adapters; -1: none
  std::span<const KvBlocks> kv;  // [layers], with room for first + rows tokens
};

// Ragged: the rows of all sequences stand one behind the other.
struct Batch {
  std::vector<BatchSequence> sequences;

  int64_t tokens() const {
    int64_t total = 0;
    for (const BatchSequence& sequence : sequences) total += sequence.rows;
    return total;
  }
};

struct DecoderBlock {
  RmsNorm input_layernorm;
  Linear qkv_proj;  // [(heads + 2 * kv_heads) * head_dim, hidden]: queries, keys, values
  Linear o_proj;    // [hidden, heads * head_dim]
  RmsNorm post_attention_layernorm;
  Linear gate_up_proj;  // [2 * intermediate, hidden]: gate, up
  Linear down_proj;     // [hidden, intermediate]
};

struct DecoderShape {
  int64_t vocab = 0, hidden = 0, intermediate = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;
};

class Decoder {
 public:
  DecoderShape shape;
  WeightRef embed_tokens;  // [vocab, hidden]
  WeightRef lm_head;       // [vocab, hidden]; embed_tokens where the two are tied
  std::vector<DecoderBlock> blocks;
  RmsNorm norm;
  LongRope rope;
  // A query sees itself and so many keys before it, as the publisher's code masks i - j > window. 0: all before it.
  int sliding_window = 0;

  // hidden_states [m, hidden] = rows of embed_tokens.
  void embed(const KernelContext& ctx, std::span<const int32_t> ids, float* hidden_states) const;

  // hidden_states [batch.tokens(), hidden]: embeddings in, normalised outputs of the last block out.
  void forward(const KernelContext& ctx, const Batch& batch, float* hidden_states, Trace* trace = nullptr) const;

  // logits [m, vocab] of normalised hidden states [m, hidden].
  void head(const KernelContext& ctx, const float* hidden_states, int64_t m, float* logits) const;

 private:
  struct StepTables;
  // What each row sees through the sliding window.
  void window_ranges(const KernelContext& ctx, const Batch& batch, StepTables* tables) const;
  void attention(const KernelContext& ctx, const DecoderBlock& block, const Batch& batch, const StepTables& tables,
                 size_t layer, float* hidden_states) const;
  void mlp(const KernelContext& ctx, const DecoderBlock& block, const StepTables& tables, int64_t m,
           float* hidden_states) const;
};

}  // namespace omniphi

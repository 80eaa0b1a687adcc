#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ops.h"

namespace omniphi::ref {
namespace {

// Keys of one query in one head, read one by one where they lie.
struct Head {
  const KvBlocks& kv;
  int64_t base;  // of the head's keys in a block
  int64_t dim;

  float at(int64_t block, int64_t index) const {
    const void* data = kv.blocks[block];
    return kv.dtype == DType::kBF16 ? bf16_to_f32(static_cast<const uint16_t*>(data)[index])
                                    : static_cast<const float*>(data)[index];
  }
  float key(int64_t j, int64_t d) const {
    return at(j / kv.block_tokens, base + d * kv.block_tokens + j % kv.block_tokens);
  }
  float value(int64_t j, int64_t d) const {
    return at(j / kv.block_tokens, base + dim * kv.block_tokens + (j % kv.block_tokens) * dim + d);
  }
};

// One query of one head.
struct Query {
  const AttentionArgs& args;
  const AttentionSequence& sequence;
  int64_t index;  // among the sequence's queries
  int head;

  bool sees(int64_t key) const {
    if (args.causal && key > sequence.first + index) return false;
    if (sequence.range_begin && (key < sequence.range_begin[index] || key >= sequence.range_end[index])) return false;
    return !sequence.key_mask || sequence.key_mask[key] != 0;
  }

  double bias(int64_t key) const {
    if (!args.relative_bias) return 0;
    const int64_t reach = args.bias_reach;
    const int64_t distance = std::clamp(key - (sequence.first + index), -reach, reach - 1);
    return args.relative_bias[head * 2 * reach + distance + reach];
  }
};

// What one span gives on its own: the weights exp(score - max), 0 for keys that are not seen.
struct Span {
  double weights[kAttentionSpan];
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  bool seen = false;

  Span(const Query& query, const Head& head, int64_t begin, int64_t end) {
    const float* q = query.sequence.q + query.index * query.args.ldq + query.head * head.dim;
    for (int64_t j = begin; j < end; ++j) {
      double& score = weights[j - begin];
      score = -std::numeric_limits<double>::infinity();
      if (!query.sees(j)) continue;
      double dot = 0;
      for (int64_t d = 0; d < head.dim; ++d) dot += static_cast<double>(q[d]) * head.key(j, d);
      score = query.args.scale * dot + query.bias(j);
      max = std::max(max, score);
      seen = true;
    }
    for (int64_t j = begin; seen && j < end; ++j) {
      weights[j - begin] = query.sees(j) ? std::exp(weights[j - begin] - max) : 0;
      sum += weights[j - begin];
    }
  }
};

void attend(const Query& query, const Head& head, float* out) {
  std::fill(out, out + head.dim, 0.0f);
  bool first = true;
  double max = 0, sum = 0;  // of the spans so far
  for (int64_t begin = 0; begin < query.sequence.keys; begin += kAttentionSpan) {
    const int64_t end = std::min(begin + kAttentionSpan, query.sequence.keys);
    const Span span(query, head, begin, end);
    if (!span.seen) continue;
    const double merged = first ? span.max : std::max(max, span.max);
    const double keep = first ? 0 : std::exp(max - merged), add = std::exp(span.max - merged);
    for (int64_t d = 0; d < head.dim; ++d) {
      double value = 0;
      for (int64_t j = begin; j < end; ++j) {
        const double weight = span.weights[j - begin];
        if (weight != 0) value += weight * head.value(j, d);
      }
      out[d] = static_cast<float>(out[d] * keep + value * add);
    }
    sum = sum * keep + span.sum * add;
    max = merged;
    first = false;
  }
  if (first) return;
  for (int64_t d = 0; d < head.dim; ++d) out[d] = static_cast<float>(out[d] / sum);
}

}  // namespace

void attention(const KernelContext& ctx, const AttentionArgs& args) {
  const int group = args.heads / args.kv_heads;
  for (const AttentionSequence& sequence : args.sequences) {
    ctx.pool->parallel_for(sequence.m * args.heads, [&](int64_t item, int) {
      const Query query{args, sequence, item / args.heads, static_cast<int>(item % args.heads)};
      const int64_t base = int64_t{2} * (query.head / group) * args.head_dim * sequence.kv.block_tokens;
      attend(query, Head{sequence.kv, base, args.head_dim},
             sequence.out + query.index * args.ldo + static_cast<int64_t>(query.head) * args.head_dim);
    });
  }
}

}  // namespace omniphi::ref

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ops.h"

namespace omniphi::ref {
namespace {

// The keys and values of one head of a sequence, widened: [keys, dim] each.
struct Head {
  const float* keys;
  const float* values;
  int64_t dim;

  const float* key(int64_t j) const { return keys + j * dim; }
  const float* value(int64_t j) const { return values + j * dim; }
};

float stored(const KvBlocks& kv, int64_t block, int64_t index) {
  const void* data = kv.blocks[block];
  return kv.dtype == DType::kBF16 ? bf16_to_f32(static_cast<const uint16_t*>(data)[index])
                                  : static_cast<const float*>(data)[index];
}

// Copies a head out of its blocks.
void gather(const AttentionSequence& sequence, int64_t kv_head, int64_t dim, float* keys, float* values) {
  const int64_t slots = sequence.kv.block_tokens;
  const int64_t base = 2 * kv_head * dim * slots;
  for (int64_t j = 0; j < sequence.keys; ++j) {
    const int64_t block = j / slots, slot = j % slots;
    for (int64_t d = 0; d < dim; ++d) {
      keys[j * dim + d] = stored(sequence.kv, block, base + d * slots + slot);
      values[j * dim + d] = stored(sequence.kv, block, base + (slots + slot) * dim + d);
    }
  }
}

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
      const float* key = head.key(j);
      for (int64_t d = 0; d < head.dim; ++d) dot += static_cast<double>(q[d]) * key[d];
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
        if (weight != 0) value += weight * head.value(j)[d];
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
  const int64_t group = args.heads / args.kv_heads, dim = args.head_dim;
  for (const AttentionSequence& sequence : args.sequences) {
    const Workspace::Mark mark(*ctx.workspace);
    float* keys = take_floats(ctx, sequence.keys * dim);
    float* values = take_floats(ctx, sequence.keys * dim);
    for (int64_t kv_head = 0; kv_head < args.kv_heads; ++kv_head) {
      gather(sequence, kv_head, dim, keys, values);
      ctx.pool->parallel_for(sequence.m * group, [&](int64_t item, int) {
        const Query query{args, sequence, item / group, static_cast<int>(kv_head * group + item % group)};
        attend(query, Head{keys, values, dim}, sequence.out + query.index * args.ldo + query.head * dim);
      });
    }
  }
}

}  // namespace omniphi::ref

// Random attention problems with keys and values in paged caches, and an oracle in double precision that knows nothing
// of spans, blocks or tiles.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/testing.h"

namespace omniphi::testing_attention {

using kernel_testing::Runner;

inline std::vector<float> random_floats(std::mt19937& rng, int64_t count, float deviation = 1) {
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(rng);
  return values;
}

// Blocks of one sequence, filled with NaN: whatever was not stored must not show in any result.
class Cache {
 public:
  Cache(DType dtype, int block_tokens, int kv_heads, int head_dim, int64_t tokens) {
    const int64_t elements = kv_block_elements(kv_heads, head_dim, block_tokens);
    const size_t bytes = static_cast<size_t>(elements) * dtype_size(dtype);
    for (int64_t b = 0; b < (tokens + block_tokens - 1) / block_tokens; ++b) {
      memory_.emplace_back(::operator new (bytes, std::align_val_t{64}));
      std::memset(memory_.back().get(), 0xff, bytes);  // NaN in both dtypes
      blocks_.push_back(memory_.back().get());
    }
    view = {.blocks = blocks_.data(), .dtype = dtype, .block_tokens = block_tokens};
  }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  KvBlocks view;

 private:
  struct Free {
    void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  std::vector<std::unique_ptr<void, Free>> memory_;
  std::vector<void*> blocks_;
};

// The shape of a sequence and of the call it is in.
struct Shape {
  int heads = 3, kv_heads = 1, head_dim = 64;
  int64_t m = 1, first = 0, keys = 1;
  bool causal = true;
  bool key_mask = false;  // masks a third of the keys
  bool ranges = false;    // random ranges, some of them empty
  int bias_reach = 0;     // 0: no relative bias
  float deviation = 1;    // of queries and keys
};

inline std::string describe(const Shape& s) {
  return "heads " + std::to_string(s.heads) + "/" + std::to_string(s.kv_heads) + " dim " + std::to_string(s.head_dim) +
         " m " + std::to_string(s.m) + " first " + std::to_string(s.first) + " keys " + std::to_string(s.keys) +
         (s.causal ? " causal" : "") + (s.key_mask ? " key_mask" : "") + (s.ranges ? " ranges" : "") +
         (s.bias_reach ? " reach " + std::to_string(s.bias_reach) : "");
}

// One sequence with its inputs in plain order.
struct Problem {
  Problem(const Shape& s, uint32_t seed) : shape(s) {
    std::mt19937 rng(seed);
    scale = 1 / std::sqrt(static_cast<float>(s.head_dim));
    q = random_floats(rng, s.m * s.heads * s.head_dim, s.deviation);
    k = random_floats(rng, s.keys * s.kv_heads * s.head_dim, s.deviation);
    v = random_floats(rng, s.keys * s.kv_heads * s.head_dim);
    if (s.bias_reach) bias = random_floats(rng, int64_t{2} * s.heads * s.bias_reach);
    if (s.key_mask) {
      for (int64_t j = 0; j < s.keys; ++j) mask.push_back(rng() % 3 != 0);
    }
    for (int64_t i = 0; s.ranges && i < s.m; ++i) {
      const auto a = static_cast<int32_t>(rng() % (s.keys + 1)), b = static_cast<int32_t>(rng() % (s.keys + 1));
      begin.push_back(std::min(a, b));
      end.push_back(rng() % 8 == 0 ? std::min(a, b) : std::max(a, b));
    }
  }

  bool sees(int64_t i, int64_t j) const {
    if (shape.causal && j > shape.first + i) return false;
    if (!begin.empty() && (j < begin[i] || j >= end[i])) return false;
    return mask.empty() || mask[j] != 0;
  }

  // The call's arguments without its sequences.
  AttentionArgs args() const {
    const int64_t ld = static_cast<int64_t>(shape.heads) * shape.head_dim;
    return {.ldq = ld,
            .ldo = ld,
            .heads = shape.heads,
            .kv_heads = shape.kv_heads,
            .head_dim = shape.head_dim,
            .scale = scale,
            .causal = shape.causal,
            .relative_bias = bias.empty() ? nullptr : bias.data(),
            .bias_reach = shape.bias_reach};
  }

  // Queries [from, to) over the first `keys` keys of a cache.
  AttentionSequence sequence(const Cache& cache, int64_t from, int64_t to, int64_t keys, float* out) const {
    return {.q = q.data() + from * shape.heads * shape.head_dim,
            .out = out,
            .m = to - from,
            .first = shape.first + from,
            .keys = keys,
            .kv = cache.view,
            .key_mask = mask.empty() ? nullptr : mask.data(),
            .range_begin = begin.empty() ? nullptr : begin.data() + from,
            .range_end = end.empty() ? nullptr : end.data() + from};
  }

  // Stores keys and values [from, to).
  void store(const KernelContext& ctx, const Cache& cache, int64_t from, int64_t to) const {
    const int64_t ld = static_cast<int64_t>(shape.kv_heads) * shape.head_dim;
    ctx.kernels->kv_store(ctx, {.k = k.data() + from * ld,
                                .v = v.data() + from * ld,
                                .ldk = ld,
                                .m = to - from,
                                .first = from,
                                .kv_heads = shape.kv_heads,
                                .head_dim = shape.head_dim,
                                .kv = cache.view});
  }

  Shape shape;
  float scale = 1;
  std::vector<float> q, k, v, bias;  // [m, heads, head_dim], [keys, kv_heads, head_dim] twice, [heads, 2 * reach]
  std::vector<uint8_t> mask;
  std::vector<int32_t> begin, end;
};

// All queries at once with everything stored: [m, heads, head_dim].
inline std::vector<float> attend(const KernelContext& ctx, const Problem& problem, DType dtype, int block_tokens) {
  const Shape& s = problem.shape;
  const Cache cache(dtype, block_tokens, s.kv_heads, s.head_dim, s.keys);
  problem.store(ctx, cache, 0, s.keys);
  std::vector<float> out(problem.q.size(), std::numeric_limits<float>::quiet_NaN());
  const AttentionSequence sequence = problem.sequence(cache, 0, s.m, s.keys, out.data());
  AttentionArgs args = problem.args();
  args.sequences = {&sequence, 1};
  ctx.kernels->attention(ctx, args);
  return out;
}

// One row of the oracle: the output of a query in a head, and how far a float computation may be from it.
struct Expected {
  std::vector<double> out, tolerance;
};

// The textbook formula in double. The tolerance follows the error of the scores (a dot of head_dim products) and of the
// weighted sum: |error| <= sum_j p_j |v_j| * (2 * score error + (keys in a span + a few) * epsilon).
inline Expected oracle(const Problem& problem, DType dtype, int64_t i, int head) {
  const Shape& s = problem.shape;
  const int64_t dim = s.head_dim, kv_head = head / (s.heads / s.kv_heads);
  const auto stored = [&](const std::vector<float>& x, int64_t j, int64_t d) -> double {
    const float value = x[(j * s.kv_heads + kv_head) * dim + d];
    return dtype == DType::kBF16 ? bf16_to_f32(f32_to_bf16(value)) : value;
  };
  constexpr double kEpsilon = 6e-8;
  std::vector<double> weights(static_cast<size_t>(s.keys), 0.0);
  double max = -std::numeric_limits<double>::infinity(), sum = 0, score_error = 0;
  for (int64_t j = 0; j < s.keys; ++j) {
    if (!problem.sees(i, j)) continue;
    double dot = 0, magnitude = 0;
    for (int64_t d = 0; d < dim; ++d) {
      const double product = problem.q[(i * s.heads + head) * dim + d] * stored(problem.k, j, d);
      dot += product;
      magnitude += std::abs(product);
    }
    weights[j] = problem.scale * dot;
    if (s.bias_reach) {
      const int64_t reach = s.bias_reach, distance = j - (s.first + i);
      weights[j] += problem.bias[head * 2 * reach + std::clamp(distance, -reach, reach - 1) + reach];
    }
    score_error = std::max(score_error, kEpsilon * (problem.scale * magnitude * static_cast<double>(dim) / 4 +
                                                    4 * std::abs(weights[j]) + 4));
    max = std::max(max, weights[j]);
  }
  for (int64_t j = 0; j < s.keys; ++j) {
    weights[j] = problem.sees(i, j) ? std::exp(weights[j] - max) : 0;
    sum += weights[j];
  }
  Expected expected{std::vector<double>(dim, 0.0), std::vector<double>(dim, 0.0)};
  for (int64_t d = 0; sum > 0 && d < dim; ++d) {
    double magnitude = 0;
    for (int64_t j = 0; j < s.keys; ++j) {
      expected.out[d] += weights[j] / sum * stored(problem.v, j, d);
      magnitude += weights[j] / sum * std::abs(stored(problem.v, j, d));
    }
    expected.tolerance[d] = magnitude * (2 * score_error + 128 * kEpsilon);
  }
  return expected;
}

inline std::string isa_test_name(const ::testing::TestParamInfo<Isa>& isa) { return isa_name(isa.param); }

}  // namespace omniphi::testing_attention

// A query's attention has the same bits whatever it is computed with: other queries, chunks, block sizes, threads,
// later keys, other sequences.
#include <gtest/gtest.h>

#include "kernels/attention_testing.h"

namespace omniphi {
namespace {

using namespace testing_attention;

// True when both hold the same bits.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// Shapes that reach every path: few and many rows, whole and ragged vectors of dimensions, one and several spans, every
// kind of mask, grouped heads.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  const struct {
    int heads, kv_heads, dim;
  } heads[] = {{2, 2, 16}, {3, 1, 20}, {6, 2, 72}, {8, 1, 64}, {3, 1, 128}, {2, 2, 96}};
  for (const auto& h : heads) {
    all.push_back({.heads = h.heads, .kv_heads = h.kv_heads, .head_dim = h.dim, .m = 70, .first = 450, .keys = 520});
    all.push_back({.heads = h.heads,
                   .kv_heads = h.kv_heads,
                   .head_dim = h.dim,
                   .m = 61,
                   .keys = 300,
                   .causal = false,
                   .key_mask = true,
                   .ranges = true,
                   .bias_reach = 40});
    all.push_back({.heads = h.heads,
                   .kv_heads = h.kv_heads,
                   .head_dim = h.dim,
                   .m = 1,
                   .first = 1300,
                   .keys = 1301,
                   .ranges = true});
  }
  return all;
}

class AttentionBitsTest : public ::testing::TestWithParam<Isa> {
 protected:
  // Cuts the problem at random: chunks of tokens are stored and attended in turn (a causal problem sees only what is
  // stored; any other has everything stored first).
  std::vector<float> in_chunks(const Runner& runner, const Problem& problem, DType dtype, int block, uint32_t seed) {
    const Shape& s = problem.shape;
    std::mt19937 rng(seed);
    const Cache cache(dtype, block, s.kv_heads, s.head_dim, s.keys);
    problem.store(runner.context, cache, 0, s.causal ? s.first : s.keys);
    std::vector<float> out(problem.q.size());
    AttentionArgs args = problem.args();
    for (int64_t from = 0; from < s.m;) {
      const int64_t to = std::min<int64_t>(s.m, from + 1 + rng() % (seed % 2 ? 4 : 40));
      const int64_t keys = s.causal ? s.first + to : s.keys;
      if (s.causal) problem.store(runner.context, cache, s.first + from, keys);
      const AttentionSequence sequence =
          problem.sequence(cache, from, to, keys, out.data() + from * s.heads * s.head_dim);
      args.sequences = {&sequence, 1};
      runner.context.kernels->attention(runner.context, args);
      from = to;
    }
    return out;
  }

  Runner one_{GetParam(), 1};
};

TEST_P(AttentionBitsTest, ChunksBlockSizesAndThreads) {
  std::vector<std::unique_ptr<Runner>> runners;
  for (int threads = 1; threads <= 4; ++threads) runners.push_back(std::make_unique<Runner>(GetParam(), threads));
  uint32_t seed = 1;
  for (const Shape& shape : shapes()) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const Problem problem(shape, ++seed);
      const std::vector<float> whole = attend(one_.context, problem, dtype, 256);
      for (const float value : whole) ASSERT_TRUE(std::isfinite(value));
      for (const int block : {16, 32, 64, 128, 256}) {
        if (GetParam() == Isa::kRef && block != 16 && block != 256) continue;  // slow, and the same code for all
        Runner& runner = *runners[seed % 4];
        ASSERT_TRUE(same(whole, attend(runner.context, problem, dtype, block)))
            << describe(shape) << " block " << block;
        ASSERT_TRUE(same(whole, in_chunks(runner, problem, dtype, block, ++seed)))
            << describe(shape) << " " << dtype_name(dtype) << " block " << block << " seed " << seed;
      }
      for (const auto& runner : runners) {
        if (GetParam() == Isa::kRef && runner->pool.threads() % 2 == 1) continue;
        ASSERT_TRUE(same(whole, attend(runner->context, problem, dtype, 32)))
            << describe(shape) << " threads " << runner->pool.threads();
      }
    }
  }
}

TEST_P(AttentionBitsTest, LaterKeysDoNotMatter) {
  const Problem problem({.heads = 3, .kv_heads = 1, .head_dim = 72, .m = 7, .first = 250, .keys = 900}, 5);
  const std::vector<float> all = attend(one_.context, problem, DType::kBF16, 64);
  for (const int64_t keys : {257, 258, 300, 512, 513, 899}) {
    Problem fewer = problem;
    fewer.shape.keys = keys;
    ASSERT_TRUE(same(all, attend(one_.context, fewer, DType::kBF16, 64))) << keys;
  }
}

TEST_P(AttentionBitsTest, SequencesInOneCall) {
  std::mt19937 rng(11);
  for (int round = 0; round < 6; ++round) {
    Runner runner(GetParam(), 1 + round % 4);
    std::vector<std::unique_ptr<Problem>> problems;
    std::vector<std::unique_ptr<Cache>> caches;
    std::vector<std::vector<float>> outs;
    std::vector<AttentionSequence> sequences;
    const int blocks[] = {16, 64, 256};
    const DType dtype = round % 2 ? DType::kBF16 : DType::kF32;
    for (int i = 0; i < 9; ++i) {
      const int64_t keys = 1 + static_cast<int64_t>(rng() % (i % 3 ? 600 : 40));
      const int64_t m = i % 4 == 0 ? 1 : i == 3 ? 0 : 1 + static_cast<int64_t>(rng() % keys);
      problems.push_back(std::make_unique<Problem>(Shape{.heads = 6,
                                                         .kv_heads = 2,
                                                         .head_dim = 40,
                                                         .m = m,
                                                         .first = keys - m,
                                                         .keys = keys,
                                                         .key_mask = i % 2 == 0,
                                                         .ranges = i % 5 == 0},
                                                   rng()));
      caches.push_back(std::make_unique<Cache>(dtype, blocks[i % 3], 2, 40, keys));
      problems.back()->store(runner.context, *caches.back(), 0, keys);
      outs.emplace_back(problems.back()->q.size());
      sequences.push_back(problems.back()->sequence(*caches.back(), 0, m, keys, outs.back().data()));
    }
    AttentionArgs args = problems[0]->args();
    args.sequences = sequences;
    runner.context.kernels->attention(runner.context, args);
    for (size_t i = 0; i < problems.size(); ++i)
      ASSERT_TRUE(same(outs[i], attend(one_.context, *problems[i], dtype, 32))) << round << ": sequence " << i;
  }
}

// Long contexts with few rows are cut by spans, in waves, when there are threads to fill.
TEST_P(AttentionBitsTest, OneLongSequenceOnManyThreads) {
  const Problem problem({.heads = 2, .kv_heads = 1, .head_dim = 16, .m = 2, .first = 29998, .keys = 30000}, 3);
  const std::vector<float> expected = attend(one_.context, problem, DType::kBF16, 256);
  for (const int threads : {2, 3, 4}) {
    Runner runner(GetParam(), threads);
    ASSERT_TRUE(same(expected, attend(runner.context, problem, DType::kBF16, 64))) << threads;
  }
  // Two long ones among short ones.
  Runner runner(GetParam(), 4);
  const Problem brief({.heads = 2, .kv_heads = 1, .head_dim = 16, .m = 1, .first = 9, .keys = 10}, 4);
  const Cache cache(DType::kBF16, 64, 1, 16, 30000), brief_cache(DType::kBF16, 64, 1, 16, 10);
  problem.store(runner.context, cache, 0, 30000);
  brief.store(runner.context, brief_cache, 0, 10);
  std::vector<std::vector<float>> outs(5, std::vector<float>(64));
  std::vector<AttentionSequence> sequences;
  for (int i = 0; i < 5; ++i) {
    const bool is_long = i == 1 || i == 2;
    sequences.push_back(is_long ? problem.sequence(cache, 0, 2, 30000, outs[i].data())
                                : brief.sequence(brief_cache, 0, 1, 10, outs[i].data()));
  }
  AttentionArgs args = problem.args();
  args.sequences = sequences;
  runner.context.kernels->attention(runner.context, args);
  const std::vector<float> expected_brief = attend(one_.context, brief, DType::kBF16, 16);
  for (int i = 0; i < 5; ++i) {
    const bool is_long = i == 1 || i == 2;
    outs[i].resize(is_long ? 64 : 32);
    ASSERT_TRUE(same(outs[i], is_long ? expected : expected_brief)) << i;
  }
}

TEST_P(AttentionBitsTest, UnderflowKeepsItsSign) {
  // Weighted values below the smallest float leave a sum of -0 behind, which 0 times the value of a key that is not
  // seen could turn to 0. Key 0 has all the weight and the value 0; odd keys have values that underflow.
  Problem problem({.heads = 1, .kv_heads = 1, .head_dim = 16, .m = 30, .keys = 30}, 8);
  std::fill(problem.q.begin(), problem.q.end(), 1.0f);
  std::fill(problem.k.begin(), problem.k.end(), 0.0f);
  std::fill(problem.k.begin(), problem.k.begin() + 16, 1.0f);
  for (size_t i = 0; i < problem.v.size(); ++i)
    problem.v[i] = i / 16 % 2 ? -std::numeric_limits<float>::denorm_min() : 0.0f;
  const std::vector<float> whole = attend(one_.context, problem, DType::kF32, 16);
  for (uint32_t seed : {1u, 2u, 3u, 5u, 7u})
    ASSERT_TRUE(same(whole, in_chunks(one_, problem, DType::kF32, 16, seed))) << seed;
}

INSTANTIATE_TEST_SUITE_P(Isas, AttentionBitsTest, ::testing::ValuesIn(supported_isas()), isa_test_name);

}  // namespace
}  // namespace omniphi

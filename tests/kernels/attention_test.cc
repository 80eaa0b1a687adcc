// Attention against the textbook formula in double precision, on every instruction set.
#include <gtest/gtest.h>

#include "kernels/attention_testing.h"

namespace omniphi {
namespace {

using namespace testing_attention;

class AttentionTest : public ::testing::TestWithParam<Isa> {
 protected:
  // Compares every query and head (or, of a large problem, a sample of them) with the oracle.
  void expect_close(const Shape& shape, DType dtype, int block_tokens) {
    const Problem problem(shape, 7);
    const std::vector<float> out = attend(runner_.context, problem, dtype, block_tokens);
    const int64_t step = std::max<int64_t>(1, shape.m * shape.heads * shape.keys / 20000) | 1;
    for (int64_t row = 0; row < shape.m * shape.heads; row += step) {
      const Expected expected = oracle(problem, dtype, row / shape.heads, static_cast<int>(row % shape.heads));
      for (int d = 0; d < shape.head_dim; ++d) {
        const double found = out[row * shape.head_dim + d];
        ASSERT_LE(std::abs(found - expected.out[d]), expected.tolerance[d])
            << describe(shape) << " " << dtype_name(dtype) << " block " << block_tokens << ": query "
            << row / shape.heads << " head " << row % shape.heads << " dim " << d << " found " << found << " expected "
            << expected.out[d];
      }
    }
  }

  Runner runner_{GetParam(), 2};
};

TEST_P(AttentionTest, HeadDimensionsAndGroups) {
  for (const int dim : {16, 20, 64, 72, 96, 128, 7}) {
    for (const auto& [heads, kv_heads] : {std::pair{2, 2}, {6, 2}, {8, 1}}) {
      for (const DType dtype : {DType::kF32, DType::kBF16}) {
        expect_close({.heads = heads, .kv_heads = kv_heads, .head_dim = dim, .m = 37, .first = 260, .keys = 297}, dtype,
                     32);
      }
    }
  }
}

TEST_P(AttentionTest, KeyCountsAroundSpansAndVectors) {
  for (const int64_t keys : {1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 511, 512, 513, 767, 769, 1500}) {
    for (const int64_t m : {1, 5}) {
      if (m > keys) continue;
      expect_close({.head_dim = 20, .m = m, .first = keys - m, .keys = keys}, DType::kBF16, 16);
      expect_close({.head_dim = 16, .m = m, .keys = keys, .causal = false}, DType::kF32, 256);
    }
  }
}

TEST_P(AttentionTest, Masks) {
  for (const bool causal : {false, true}) {
    for (const bool ranges : {false, true}) {
      for (const bool key_mask : {false, true}) {
        for (const int reach : {0, 5, 300}) {
          const Shape shape{.heads = 4,
                            .kv_heads = 2,
                            .head_dim = 24,
                            .m = 600,
                            .keys = 600,
                            .causal = causal,
                            .key_mask = key_mask,
                            .ranges = ranges,
                            .bias_reach = reach};
          expect_close(shape, DType::kF32, 64);
        }
      }
    }
  }
}

TEST_P(AttentionTest, LargeScores) {
  // Scores of several hundred: the softmax must not overflow and the running maximum must move between spans.
  expect_close({.head_dim = 64, .m = 20, .first = 980, .keys = 1000, .deviation = 6}, DType::kF32, 128);
}

TEST_P(AttentionTest, TowerShapes) {
  expect_close({.heads = 2, .kv_heads = 2, .head_dim = 72, .m = 1024, .keys = 1024, .causal = false}, DType::kF32, 256);
  expect_close({.heads = 2, .kv_heads = 2, .head_dim = 64, .m = 500, .keys = 500, .causal = false, .bias_reach = 500},
               DType::kF32, 256);
}

TEST_P(AttentionTest, QueriesThatSeeNothingGiveZeros) {
  Problem problem({.heads = 3, .kv_heads = 3, .head_dim = 20, .m = 300, .keys = 300, .causal = false, .ranges = true},
                  3);
  for (int i = 0; i < 300; i += 2) problem.end[i] = problem.begin[i];
  const std::vector<float> out = attend(runner_.context, problem, DType::kF32, 16);
  for (int i = 0; i < 300; i += 2) {
    for (int d = 0; d < 60; ++d) ASSERT_EQ(out[i * 60 + d], 0.0f) << "query " << i;
  }
  problem = Problem({.head_dim = 16, .m = 9, .keys = 520, .causal = false, .key_mask = true}, 4);
  std::fill(problem.mask.begin(), problem.mask.end(), uint8_t{0});
  for (const float value : attend(runner_.context, problem, DType::kBF16, 32)) ASSERT_EQ(value, 0.0f);
}

TEST_P(AttentionTest, NanQueryGivesNan) {
  Problem problem({.head_dim = 64, .m = 40, .first = 600, .keys = 640}, 5);
  problem.q[17 * 3 * 64 + 64 + 5] = std::numeric_limits<float>::quiet_NaN();  // query 17, head 1
  const std::vector<float> out = attend(runner_.context, problem, DType::kF32, 64);
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    ASSERT_EQ(std::isnan(out[i]), i / 64 == 17 * 3 + 1) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, AttentionTest, ::testing::ValuesIn(supported_isas()), isa_test_name);

}  // namespace
}  // namespace omniphi

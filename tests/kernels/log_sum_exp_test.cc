#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/kernels.h"

namespace omniphi {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string isa_param_name(const ::testing::TestParamInfo<Isa>& isa) { return isa_name(isa.param); }

struct Result {
  float log_sum_exp;
  int32_t argmax;
};

class LogSumExpTest : public ::testing::TestWithParam<Isa> {
 protected:
  std::vector<Result> run(const std::vector<float>& x, int64_t m, int64_t n, int64_t ldx) {
    std::vector<float> sums(m);
    std::vector<int32_t> largest(m);
    context_.kernels->log_sum_exp(
        context_,
        {.logits = x.data(), .ldx = ldx, .m = m, .n = n, .log_sum_exp = sums.data(), .argmax = largest.data()});
    std::vector<Result> results;
    for (int64_t i = 0; i < m; ++i) results.push_back({sums[i], largest[i]});
    return results;
  }
  Result run(const std::vector<float>& x) {
    return run(x, 1, static_cast<int64_t>(x.size()), static_cast<int64_t>(x.size()))[0];
  }

  ThreadPool pool_{3};
  Workspace workspace_;
  KernelContext context_{&kernel_table(GetParam()), &pool_, &workspace_};
  std::mt19937 rng_{4};
};

TEST_P(LogSumExpTest, AgainstDouble) {
  for (const int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 127, 130, 1000, 4099, 200064}) {
    for (const float deviation : {0.01f, 3.0f, 60.0f}) {
      std::normal_distribution<float> normal(1, deviation);
      std::vector<float> x(n);
      for (float& value : x) value = normal(rng_);
      int64_t best = 0;
      for (int64_t i = 0; i < n; ++i) best = x[i] > x[best] ? i : best;
      double sum = 0;
      for (const float value : x) sum += std::exp(static_cast<double>(value) - x[best]);
      const Result found = run(x);
      EXPECT_EQ(found.argmax, best) << n;
      // The sum has chains of n / 32 or more additions of rounded exponentials; the result itself is rounded.
      const double expected = x[best] + std::log(sum);
      EXPECT_NEAR(found.log_sum_exp, expected, 1e-6 + 1.2e-7 * std::abs(expected) + 1e-9 * std::sqrt(n)) << n;
    }
  }
}

TEST_P(LogSumExpTest, FirstOfEqualValues) {
  for (const int64_t n : {3, 16, 40, 333}) {
    for (int64_t at = 0; at + 1 < n; ++at) {
      std::vector<float> x(n, -2.0f);
      x[at] = x[n - 1] = x[(at + n) / 2] = 5;
      ASSERT_EQ(run(x).argmax, at) << n;
    }
  }
  EXPECT_EQ(run(std::vector<float>(100, 1.5f)).argmax, 0);
  EXPECT_EQ(run({-0.0f, 0.0f}).argmax, 0);
  EXPECT_EQ(run({0.0f, -0.0f}).argmax, 0);
}

TEST_P(LogSumExpTest, NanAndInfinityShow) {
  for (const int64_t n : {1, 5, 16, 100, 1027}) {
    for (int64_t at = 0; at < n; at += 1 + n / 40) {
      std::vector<float> x(n, 0.25f);
      x[at] = kNan;
      EXPECT_TRUE(std::isnan(run(x).log_sum_exp)) << n << " " << at;
      EXPECT_EQ(run(x).argmax, at);
      x[n - 1] = kInf;
      EXPECT_TRUE(at == n - 1 || std::isnan(run(x).log_sum_exp)) << n << " " << at;
      x[at] = kInf;
      EXPECT_EQ(run(x).log_sum_exp, kInf);
      EXPECT_EQ(run(x).argmax, at);
    }
    const Result lowest = run(std::vector<float>(n, -kInf));
    EXPECT_EQ(lowest.log_sum_exp, -kInf);
    EXPECT_EQ(lowest.argmax, 0);
    std::vector<float> single(n, -kInf);
    single[n / 2] = -3.5f;
    EXPECT_EQ(run(single).log_sum_exp, -3.5f);
    EXPECT_EQ(run(single).argmax, n / 2);
  }
}

TEST_P(LogSumExpTest, RowsDoNotKnowOfEachOther) {
  constexpr int64_t kRows = 70, kN = 1003, kLd = 1010;
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> x(kRows * kLd);
  for (float& value : x) value = normal(rng_);
  const std::vector<Result> together = run(x, kRows, kN, kLd);
  for (int64_t row = 0; row < kRows; ++row) {
    const Result alone = run(std::vector<float>(x.begin() + row * kLd, x.begin() + row * kLd + kN));
    EXPECT_EQ(std::memcmp(&alone, &together[row], sizeof alone), 0) << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, LogSumExpTest, ::testing::ValuesIn(supported_isas()), isa_param_name);

}  // namespace
}  // namespace omniphi

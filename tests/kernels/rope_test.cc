#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/kernels.h"

namespace omniphi {
namespace {

std::string isa_param_name(const ::testing::TestParamInfo<Isa>& isa) { return isa_name(isa.param); }

class RopeTest : public ::testing::TestWithParam<Isa> {
 protected:
  void run(std::vector<float>& x, RopeArgs args) {
    args.x = x.data();
    context_.kernels->rope(context_, args);
  }

  ThreadPool pool_{3};
  Workspace workspace_;
  KernelContext context_{&kernel_table(GetParam()), &pool_, &workspace_};
  std::mt19937 rng_{4};
  std::normal_distribution<float> normal_;
};

TEST_P(RopeTest, RotatesPairsAndLeavesTheRest) {
  const struct {
    int64_t m;
    int heads, head_dim, rotary, gap;
  } cases[] = {{1, 1, 2, 2, 0}, {3, 2, 20, 14, 5}, {40, 24, 128, 96, 0}, {2, 3, 64, 64, 7}, {200, 5, 96, 72, 1}};
  for (const auto& c : cases) {
    const int half = c.rotary / 2;
    const int64_t ld = int64_t{c.heads} * c.head_dim + c.gap;
    std::vector<float> x(c.m * ld), cosines(c.m * half), sines(c.m * half);
    for (float& value : x) value = normal_(rng_);
    for (size_t i = 0; i < cosines.size(); ++i) {
      const float angle = 10 * normal_(rng_);
      cosines[i] = std::cos(angle);
      sines[i] = std::sin(angle);
    }
    std::vector<float> found = x;
    run(found, {.ldx = ld,
                .m = c.m,
                .heads = c.heads,
                .head_dim = c.head_dim,
                .rotary = c.rotary,
                .cos = cosines.data(),
                .sin = sines.data()});
    for (int64_t i = 0; i < c.m * ld; ++i) {
      const int64_t row = i / ld, column = i % ld, d = column % c.head_dim;
      if (column >= int64_t{c.heads} * c.head_dim || d >= c.rotary) {
        ASSERT_EQ(found[i], x[i]) << i;
        continue;
      }
      const int64_t pair = d % half, low = i - d + pair;
      const double cosine = cosines[row * half + pair], sine = sines[row * half + pair];
      const double expected =
          d < half ? x[low] * cosine - x[low + half] * sine : x[low + half] * cosine + x[low] * sine;
      ASSERT_NEAR(found[i], expected, 2e-7 * (std::abs(x[low]) + std::abs(x[low + half]))) << i;
    }
  }
}

TEST_P(RopeTest, RowsDoNotKnowOfEachOther) {
  constexpr int64_t kRows = 300, kLd = 3 * 40;
  std::vector<float> x(kRows * kLd), cosines(kRows * 15), sines(kRows * 15);
  for (auto* values : {&x, &cosines, &sines}) {
    for (float& value : *values) value = normal_(rng_);
  }
  RopeArgs args{
      .ldx = kLd, .m = kRows, .heads = 3, .head_dim = 40, .rotary = 30, .cos = cosines.data(), .sin = sines.data()};
  std::vector<float> together = x;
  run(together, args);
  args.m = 1;
  for (int64_t row = 0; row < kRows; ++row) {
    std::vector<float> alone(x.begin() + row * kLd, x.begin() + (row + 1) * kLd);
    args.cos = cosines.data() + row * 15;
    args.sin = sines.data() + row * 15;
    run(alone, args);
    ASSERT_EQ(std::memcmp(alone.data(), together.data() + row * kLd, kLd * sizeof(float)), 0) << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, RopeTest, ::testing::ValuesIn(supported_isas()), isa_param_name);

}  // namespace
}  // namespace omniphi

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cases.h"
#include "kernels/testing.h"

namespace omniphi::kernel_testing {
namespace {

constexpr DType kTypes[] = {DType::kBF16, DType::kF16, DType::kF32};

// Everything that one product needs, made from a case.
struct Problem {
  Problem(const MatmulCase& c, DType dtype)
      : rng(static_cast<uint32_t>(c.m * 7919 + c.n * 31 + c.k)),
        a(c.m, c.k, c.padding),
        w(rng, c.n, c.k, dtype, c.padding, c.offset),
        bias(rng, 1, c.n, dtype, 0, c.offset),
        start(c.m, c.n, c.padding) {
    a.fill_normal(rng);
    start.fill_normal(rng);
    args.lda = a.ld;
    args.w = w.ref();
    if (c.bias) args.bias = bias.ref();
    args.n = c.n;
    args.k = c.k;
    args.accumulate = c.accumulate;
    args.scale = c.accumulate ? 1.75f : 1.0f;
  }

  // Rows [first, first + m) of the product, computed in one call.
  Matrix run(Runner& runner, int64_t first, int64_t m) {
    Matrix c(m, start.columns, start.ld - start.columns);
    for (int64_t i = 0; i < m; ++i) std::copy_n(start.row(first + i), start.columns, c.row(i));
    MatmulArgs call = args;
    call.a = a.row(first);
    call.m = m;
    call.c = c.data.data();
    call.ldc = c.ld;
    runner.kernels().matmul(runner.context, call);
    EXPECT_TRUE(c.padding_intact());
    return c;
  }

  std::mt19937 rng;
  Matrix a;
  Weight w, bias;
  Matrix start;
  MatmulArgs args;
};

// The product in double, and what rounding may add: k additions of terms whose magnitudes sum to `size`.
struct Expected {
  double value, tolerance;
};

Expected expected_at(const Problem& p, int64_t i, int64_t j) {
  double sum = 0, size = 0;
  for (int64_t x = 0; x < p.args.k; ++x) {
    const double term = static_cast<double>(p.a.at(i, x)) * p.w.at(j, x);
    sum += term;
    size += std::abs(term);
  }
  // Each of 8 or 16 lanes adds k / 8 terms at most; errors of roundings partly cancel, so the bound is generous.
  const double steps = static_cast<double>(p.args.k) / 8 + 8;
  if (p.args.accumulate) {
    const double start = p.start.at(i, j);
    size = std::abs(start) + p.args.scale * size;
    sum = start + p.args.scale * sum;
  } else if (p.args.bias.data != nullptr) {
    sum += p.bias.at(0, j);
    size += std::abs(p.bias.at(0, j));
  }
  return {sum, steps * size * 0x1p-24};
}

class MatmulTest : public ::testing::TestWithParam<Isa> {};

TEST_P(MatmulTest, MatchesDoublePrecision) {
  Runner runner(GetParam(), 2);
  for (const MatmulCase& c : matmul_cases()) {
    if (c.use != Use::kTest) continue;
    for (const DType dtype : kTypes) {
      SCOPED_TRACE(describe(c) + " " + dtype_name(dtype));
      Problem p(c, dtype);
      const Matrix got = p.run(runner, 0, c.m);
      for (int64_t i = 0; i < c.m; ++i) {
        for (int64_t j = 0; j < c.n; ++j) {
          const Expected e = expected_at(p, i, j);
          ASSERT_NEAR(got.at(i, j), e.value, e.tolerance) << "row " << i << " column " << j;
        }
      }
    }
  }
}

// A row alone has the bits that it has in any batch and at any place, on any number of threads.
TEST_P(MatmulTest, RowsAreIndependentOfTheBatch) {
  for (const DType dtype : kTypes) {
    for (const int64_t k : {7, 100, 1500}) {
      const MatmulCase shape{"batch", Use::kTest, 64, 45, k, 0, 1, true, false};
      Problem p(shape, dtype);
      Runner alone(GetParam(), 1);
      std::vector<Matrix> rows;
      for (int64_t i = 0; i < shape.m; ++i) rows.push_back(p.run(alone, i, 1));
      for (int threads = 1; threads <= 4; ++threads) {
        Runner runner(GetParam(), threads);
        for (int64_t m = 1; m <= shape.m; m += (threads == 2 ? 1 : 9)) {
          for (const int64_t first : {int64_t{0}, shape.m - m}) {
            const Matrix batch = p.run(runner, first, m);
            for (int64_t i = 0; i < m; ++i) {
              ASSERT_TRUE(same_bits(batch.row(i), rows[static_cast<size_t>(first + i)].row(0), shape.n))
                  << "row " << first + i << " in a batch of " << m << ", " << threads << " threads, k " << k;
            }
          }
        }
      }
    }
  }
}

// Columns keep their bits when the weight is cut into sections, as tensor-parallel shards and fused projections are.
TEST_P(MatmulTest, ColumnsAreIndependentOfTheCut) {
  Runner runner(GetParam(), 2);
  for (const int64_t m : {1, 5, 80}) {
    const MatmulCase shape{"cut", Use::kTest, m, 77, 300, 0, 0, false, false};
    Problem p(shape, DType::kBF16);
    const Matrix whole = p.run(runner, 0, m);
    for (int64_t j = 0; j < shape.n; ++j) {
      Matrix one(m, 1);
      MatmulArgs call = p.args;
      call.a = p.a.row(0);
      call.m = m;
      call.n = 1;
      call.w.data = static_cast<const char*>(call.w.data) + j * call.w.ld * 2;
      call.c = one.data.data();
      call.ldc = 1;
      runner.kernels().matmul(runner.context, call);
      for (int64_t i = 0; i < m; ++i) {
        const float expected = whole.at(i, j), got = one.at(i, 0);
        ASSERT_TRUE(same_bits(&expected, &got, 1)) << "row " << i << " column " << j << " of " << m << " rows";
      }
    }
  }
}

// A row or a weight that is not finite spoils its own results and no others.
TEST_P(MatmulTest, NotFiniteValuesStayWhereTheyAre) {
  Runner runner(GetParam(), 2);
  for (const int64_t m : {1, 9, 40}) {
    const MatmulCase shape{"nan", Use::kTest, m, 40, 130, 0, 0, false, false};
    Problem p(shape, DType::kF32);
    const int64_t bad_row = m / 2;
    p.a.row(bad_row)[129] = std::numeric_limits<float>::quiet_NaN();
    p.w.set(11, 3, std::numeric_limits<float>::infinity());
    const Matrix got = p.run(runner, 0, m);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < shape.n; ++j) {
        if (i == bad_row) {
          EXPECT_TRUE(std::isnan(got.at(i, j))) << i << " " << j;
        } else {
          EXPECT_EQ(std::isinf(got.at(i, j)), j == 11) << i << " " << j;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, MatmulTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return isa_name(isa.param); });

}  // namespace
}  // namespace omniphi::kernel_testing

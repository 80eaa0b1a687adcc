// Norms, activations, gated products, sums and embedding rows.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/cases.h"
#include "kernels/testing.h"

namespace omniphi::kernel_testing {
namespace {

constexpr DType kTypes[] = {DType::kBF16, DType::kF16, DType::kF32};

// Runs one kernel over rows [first, first + m) of x, into y.
using Call = std::function<void(Runner&, const Matrix& x, int64_t first, int64_t m, Matrix& y)>;

// A kernel over rows with its weights: how to call it, how wide its input is, and its value in double.
struct Op {
  std::string name;
  Call call;
  int64_t input_width = 1;  // times n
  // The value at (row, column) and the magnitude that its rounding errors scale with.
  std::function<std::pair<double, double>(const Matrix& x, int64_t row, int64_t column)> expected;
};

struct RowWeights {
  RowWeights(std::mt19937& rng, const RowsCase& c, DType dtype)
      : weight(rng, 1, c.n, dtype, 0, c.offset), bias(rng, 1, c.n, dtype, 0, c.offset) {}
  Weight weight, bias;
};

NormArgs norm_args(const Matrix& x, int64_t first, int64_t m, Matrix& y) {
  NormArgs args;
  args.x = x.row(first);
  args.ldx = x.ld;
  args.y = y.data.data();
  args.ldy = y.ld;
  args.m = m;
  args.n = y.columns;
  args.eps = 1e-5f;
  return args;
}

Op rms_norm_op(const RowWeights& w) {
  return {"rms_norm",
          [&w](Runner& r, const Matrix& x, int64_t first, int64_t m, Matrix& y) {
            NormArgs args = norm_args(x, first, m, y);
            args.weight = w.weight.ref();
            r.kernels().rms_norm(r.context, args);
          },
          1,
          [&w](const Matrix& x, int64_t i, int64_t j) {
            double squares = 0;
            for (int64_t t = 0; t < x.columns; ++t) squares += static_cast<double>(x.at(i, t)) * x.at(i, t);
            const double value =
                x.at(i, j) / std::sqrt(squares / static_cast<double>(x.columns) + 1e-5) * w.weight.at(0, j);
            return std::pair(value, std::abs(value));
          }};
}

Op layer_norm_op(const RowWeights& w) {
  return {"layer_norm",
          [&w](Runner& r, const Matrix& x, int64_t first, int64_t m, Matrix& y) {
            NormArgs args = norm_args(x, first, m, y);
            args.weight = w.weight.ref();
            args.bias = w.bias.ref();
            r.kernels().layer_norm(r.context, args);
          },
          1,
          [&w](const Matrix& x, int64_t i, int64_t j) {
            const auto n = static_cast<double>(x.columns);
            double sum = 0, squares = 0;
            for (int64_t t = 0; t < x.columns; ++t) sum += x.at(i, t);
            for (int64_t t = 0; t < x.columns; ++t) squares += std::pow(x.at(i, t) - sum / n, 2);
            const double factor = w.weight.at(0, j) / std::sqrt(squares / n + 1e-5);
            const double value = (x.at(i, j) - sum / n) * factor + w.bias.at(0, j);
            // The mean is rounded once: an error of an ulp of it is divided by the deviation with the rest.
            const double size = (std::abs(x.at(i, j)) + std::abs(sum / n)) * std::abs(factor);
            return std::pair(value, size + std::abs(w.bias.at(0, j)));
          }};
}

double swish(double x) { return x / (1 + std::exp(-x)); }

Op gated_op(const RowWeights& w, bool gate_first) {
  return {gate_first ? "gated_gate_first" : "gated_value_first",
          [&w, gate_first](Runner& r, const Matrix& x, int64_t first, int64_t m, Matrix& y) {
            GatedArgs args;
            args.x = x.row(first);
            args.ldx = x.ld;
            args.y = y.data.data();
            args.ldy = y.ld;
            args.m = m;
            args.n = y.columns;
            args.gate_first = gate_first;
            if (!gate_first) {
              args.value_bias = w.bias.ref();
              args.gate_bias = w.weight.ref();
            }
            r.kernels().gated(r.context, args);
          },
          2,
          [&w, gate_first](const Matrix& x, int64_t i, int64_t j) {
            const int64_t n = x.columns / 2;
            const double a = x.at(i, j), b = x.at(i, n + j);
            const double value = gate_first ? b : a + w.bias.at(0, j);
            const double gate = gate_first ? a : b + w.weight.at(0, j);
            return std::pair(value * swish(gate), (std::abs(value) + 1) * (std::abs(gate) + 1));
          }};
}

double activate(Activation kind, double x) {
  switch (kind) {
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kSwish:
      return swish(x);
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluErf:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluQuick:
      return x / (1 + std::exp(-1.702 * x));
  }
  return 0;
}

constexpr Activation kKinds[] = {Activation::kRelu, Activation::kSwish, Activation::kGeluTanh, Activation::kGeluErf,
                                 Activation::kGeluQuick};

ActivationArgs activation_args(Activation kind, const Matrix& x, int64_t first, int64_t m, Matrix& y) {
  ActivationArgs args;
  args.kind = kind;
  args.x = x.row(first);
  args.ldx = x.ld;
  args.y = y.data.data();
  args.ldy = y.ld;
  args.m = m;
  args.n = y.columns;
  return args;
}

Op activation_op(Activation kind) {
  return {"activation " + std::to_string(static_cast<int>(kind)),
          [kind](Runner& r, const Matrix& x, int64_t first, int64_t m, Matrix& y) {
            r.kernels().activation(r.context, activation_args(kind, x, first, m, y));
          },
          1,
          [kind](const Matrix& x, int64_t i, int64_t j) {
            return std::pair(activate(kind, x.at(i, j)), static_cast<double>(std::abs(x.at(i, j))));
          }};
}

Op add_op() {
  return {"add",
          [](Runner& r, const Matrix& x, int64_t first, int64_t m, Matrix& y) {
            for (int64_t i = 0; i < m; ++i) std::fill_n(y.row(i), y.columns, 0.5f);
            AddArgs args;
            args.x = x.row(first);
            args.ldx = x.ld;
            args.y = y.data.data();
            args.ldy = y.ld;
            args.m = m;
            args.n = y.columns;
            args.scale = -3;
            r.kernels().add(r.context, args);
          },
          1,
          [](const Matrix& x, int64_t i, int64_t j) {
            return std::pair(0.5 - 3.0 * x.at(i, j), 0.5 + 3.0 * std::abs(x.at(i, j)));
          }};
}

std::vector<Op> row_ops(const RowWeights& w) {
  std::vector<Op> ops = {rms_norm_op(w), layer_norm_op(w), gated_op(w, true), gated_op(w, false), add_op()};
  for (const Activation kind : kKinds) ops.push_back(activation_op(kind));
  return ops;
}

Matrix random_input(const RowsCase& c, int64_t width) {
  std::mt19937 rng(static_cast<uint32_t>(c.m * 131 + c.n));
  Matrix x(c.m, c.n * width, c.padding);
  x.fill_normal(rng, 2);
  return x;
}

class RowsTest : public ::testing::TestWithParam<Isa> {};

TEST_P(RowsTest, MatchDoublePrecision) {
  Runner runner(GetParam(), 2);
  for (const RowsCase& c : rows_cases()) {
    if (c.use != Use::kTest) continue;
    for (const DType dtype : kTypes) {
      std::mt19937 rng(7);
      const RowWeights w(rng, c, dtype);
      for (const Op& op : row_ops(w)) {
        SCOPED_TRACE(op.name + " " + describe(c) + " " + dtype_name(dtype));
        const Matrix x = random_input(c, op.input_width);
        Matrix y(c.m, c.n, c.padding);
        op.call(runner, x, 0, c.m, y);
        EXPECT_TRUE(y.padding_intact());
        for (int64_t i = 0; i < c.m; i += std::max<int64_t>(1, c.m / 5)) {
          for (int64_t j = 0; j<c.n; j += c.n> 200 ? 7 : 1) {
            const auto [value, size] = op.expected(x, i, j);
            ASSERT_NEAR(y.at(i, j), value, 8 * size * 0x1p-23) << "row " << i << " column " << j;
          }
        }
      }
    }
  }
}

TEST_P(RowsTest, RowsAreIndependentOfTheBatch) {
  Runner alone(GetParam(), 1);
  for (const int64_t n : {5, 100, 1153}) {
    const RowsCase c{"batch", Use::kTest, 64, n, 1, 1};
    std::mt19937 rng(7);
    const RowWeights w(rng, c, DType::kBF16);
    for (const Op& op : row_ops(w)) {
      const Matrix x = random_input(c, op.input_width);
      Matrix rows(c.m, n);
      for (int64_t i = 0; i < c.m; ++i) {
        Matrix one(1, n);
        op.call(alone, x, i, 1, one);
        std::copy_n(one.row(0), n, rows.row(i));
      }
      for (int threads = 1; threads <= 4; ++threads) {
        Runner runner(GetParam(), threads);
        for (int64_t m = 1; m <= c.m; m += 7) {
          Matrix y(m, n);
          op.call(runner, x, c.m - m, m, y);
          for (int64_t i = 0; i < m; ++i) {
            ASSERT_TRUE(same_bits(y.row(i), rows.row(c.m - m + i), n))
                << op.name << " row " << i << " of " << m << " columns " << n << ", " << threads << " threads";
          }
        }
      }
    }
  }
}

// A value of a map has the same bits wherever it stands in a row: in a whole vector or in a tail.
TEST_P(RowsTest, MapsDoNotDependOnTheColumn) {
  Runner runner(GetParam(), 1);
  for (const Activation kind : kKinds) {
    for (const float value : {-7.3f, -0.51f, 0.0f, 0.3f, 1.7f, 12.0f}) {
      Matrix x(1, 45), y(1, 45);
      std::fill(x.data.begin(), x.data.end(), value);
      runner.kernels().activation(runner.context, activation_args(kind, x, 0, 1, y));
      for (int64_t j = 1; j < 45; ++j) ASSERT_TRUE(same_bits(y.row(0), y.row(0) + j, 1)) << "column " << j;
    }
  }
}

TEST_P(RowsTest, ActivationsAreAccurateOverTheirWholeRange) {
  Runner runner(GetParam(), 2);
  constexpr int64_t kCount = 400001;
  Matrix x(1, kCount), y(1, kCount);
  for (int64_t j = 0; j < kCount; ++j) x.row(0)[j] = static_cast<float>(j - kCount / 2) * 1e-4f;  // -20 to 20
  for (const Activation kind : kKinds) {
    runner.kernels().activation(runner.context, activation_args(kind, x, 0, 1, y));
    double worst = 0;
    for (int64_t j = 0; j < kCount; ++j) {
      const double v = x.at(0, j);
      worst = std::max(worst, std::abs(y.at(0, j) - activate(kind, v)) / std::max(1.0, std::abs(v)));
    }
    EXPECT_LT(worst, 2e-7) << "kind " << static_cast<int>(kind);
  }
}

TEST_P(RowsTest, ActivationsAtTheEdges) {
  Runner runner(GetParam(), 1);
  const float inf = std::numeric_limits<float>::infinity();
  for (const Activation kind : kKinds) {
    Matrix x(1, 6), y(1, 6);
    x.data = {std::numeric_limits<float>::quiet_NaN(), inf, 1e30f, -1e30f, 0.0f, -1e-40f};
    runner.kernels().activation(runner.context, activation_args(kind, x, 0, 1, y));
    const std::string name = "kind " + std::to_string(static_cast<int>(kind));
    EXPECT_TRUE(std::isnan(y.data[0])) << name;
    EXPECT_EQ(y.data[1], inf) << name;
    EXPECT_EQ(y.data[2], 1e30f) << name;
    EXPECT_EQ(y.data[3], 0.0f) << name;
    EXPECT_EQ(y.data[4], 0.0f) << name;
    EXPECT_NEAR(y.data[5], 0.0f, 1e-40f) << name;
  }
}

// swish(x) = x / (1 + e^-x): where the exponential is large it shows through, so this is a test of exp over all the
// results that a float can hold.
TEST_P(RowsTest, ExponentialIsAccurateInTheTails) {
  Runner runner(GetParam(), 1);
  constexpr int64_t kCount = 70001;
  Matrix x(1, kCount), y(1, kCount);
  for (int64_t j = 0; j < kCount; ++j) x.row(0)[j] = -18 - static_cast<float>(j) * 1e-3f;  // -18 to -88
  runner.kernels().activation(runner.context, activation_args(Activation::kSwish, x, 0, 1, y));
  for (int64_t j = 0; j < kCount; ++j) {
    const double value = swish(x.at(0, j));
    ASSERT_NEAR(y.at(0, j), value, std::abs(value) * 3e-7) << x.at(0, j);
  }
}

TEST_P(RowsTest, NormsInPlace) {
  Runner runner(GetParam(), 2);
  const RowsCase c{"in_place", Use::kTest, 20, 77, 3, 0};
  std::mt19937 rng(3);
  const RowWeights w(rng, c, DType::kF32);
  for (const Op& op : {rms_norm_op(w), layer_norm_op(w), activation_op(Activation::kGeluTanh)}) {
    Matrix x = random_input(c, 1);
    Matrix y(c.m, c.n, c.padding);
    op.call(runner, x, 0, c.m, y);
    op.call(runner, x, 0, c.m, x);
    for (int64_t i = 0; i < c.m; ++i) ASSERT_TRUE(same_bits(x.row(i), y.row(i), c.n)) << op.name << " row " << i;
  }
}

TEST_P(RowsTest, EmbeddingCopiesRowsExactly) {
  Runner runner(GetParam(), 3);
  for (const DType dtype : kTypes) {
    for (const int64_t n : {1, 17, 96}) {
      std::mt19937 rng(11);
      const Weight table(rng, 50, n, dtype, 2, 1);
      std::vector<int32_t> ids(400);
      for (int32_t& id : ids) id = static_cast<int32_t>(rng() % 50);
      Matrix y(400, n, 1);
      EmbedArgs args;
      args.table = table.ref();
      args.ids = ids.data();
      args.y = y.data.data();
      args.ldy = y.ld;
      args.m = 400;
      args.n = n;
      runner.kernels().embed(runner.context, args);
      EXPECT_TRUE(y.padding_intact());
      for (int64_t i = 0; i < 400; ++i) {
        for (int64_t j = 0; j < n; ++j) ASSERT_EQ(y.at(i, j), table.at(ids[static_cast<size_t>(i)], j));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, RowsTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return isa_name(isa.param); });

}  // namespace
}  // namespace omniphi::kernel_testing

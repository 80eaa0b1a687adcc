#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cases.h"
#include "kernels/testing.h"

namespace omniphi::kernel_testing {
namespace {

constexpr DType kTypes[] = {DType::kBF16, DType::kF16, DType::kF32};

class ConvTest : public ::testing::TestWithParam<Isa> {};

// The oracle pads the plane with a rim of zeros instead of clipping the taps.
TEST_P(ConvTest, Plane3x3MatchesAPaddedPlane) {
  for (const Conv3x3Case& c : conv3x3_cases()) {
    if (c.use != Use::kTest) continue;
    for (const DType dtype : kTypes) {
      SCOPED_TRACE(std::string(c.name) + " " + dtype_name(dtype));
      std::mt19937 rng(5);
      Matrix x(c.h * c.w, c.c_in);
      x.fill_normal(rng);
      const Weight weight(rng, c.c_out, 9, dtype, 0, 1), bias(rng, 1, c.c_out, dtype, 0, 1);
      const int64_t out_h = (c.h + 1) / 2, out_w = (c.w + 1) / 2;
      std::vector<double> padded(static_cast<size_t>((c.h + 3) * (c.w + 3) * c.c_in), 0.0);
      const auto at = [&](int64_t y, int64_t xx, int64_t channel) -> double& {
        return padded[static_cast<size_t>(((y + 1) * (c.w + 3) + xx + 1) * c.c_in + channel)];
      };
      for (int64_t i = 0; i < c.h * c.w; ++i) {
        for (int64_t channel = 0; channel < c.c_in; ++channel) at(i / c.w, i % c.w, channel) = x.at(i, channel);
      }
      for (int threads = 1; threads <= 3; ++threads) {
        Runner runner(GetParam(), threads);
        Matrix y(out_h * out_w, c.c_out);
        Conv3x3Args args;
        args.x = x.data.data();
        args.y = y.data.data();
        args.h = c.h;
        args.w = c.w;
        args.c_in = c.c_in;
        args.c_out = c.c_out;
        args.weight = weight.ref();
        args.bias = bias.ref();
        runner.kernels().conv3x3_stride2(runner.context, args);
        for (int64_t i = 0; i < out_h * out_w; ++i) {
          for (int64_t channel = 0; channel < c.c_out; ++channel) {
            double sum = bias.at(0, channel);
            for (int64_t tap = 0; tap < 9; ++tap) {
              const int64_t source = c.c_in == 1 ? 0 : channel;
              sum += at(i / out_w * 2 + tap / 3 - 1, i % out_w * 2 + tap % 3 - 1, source) * weight.at(channel, tap);
            }
            ASSERT_NEAR(y.at(i, channel), sum, 1e-5) << "pixel " << i << " channel " << channel;
          }
        }
      }
    }
  }
}

Matrix run_causal(Runner& runner, const Matrix& x, int64_t m, const Weight& weight, const Weight& bias, int kernel) {
  Matrix y(m, x.columns);
  CausalConvArgs args;
  args.x = x.data.data();
  args.y = y.data.data();
  args.m = m;
  args.n = x.columns;
  args.kernel = kernel;
  args.weight = weight.ref();
  args.bias = bias.ref();
  runner.kernels().causal_conv(runner.context, args);
  return y;
}

TEST_P(ConvTest, CausalMatchesItsDefinitionAndNeverLooksAhead) {
  for (const CausalConvCase& c : causal_conv_cases()) {
    if (c.use != Use::kTest) continue;
    for (const DType dtype : kTypes) {
      SCOPED_TRACE(std::string(c.name) + " " + dtype_name(dtype));
      std::mt19937 rng(5);
      Matrix x(c.m, c.n);
      x.fill_normal(rng);
      const Weight weight(rng, c.n, c.kernel, dtype, 0, 1), bias(rng, 1, c.n, dtype, 0, 1);
      Runner runner(GetParam(), 2);
      const Matrix y = run_causal(runner, x, c.m, weight, bias, c.kernel);
      for (int64_t t = 0; t < c.m; ++t) {
        for (int64_t j = 0; j < c.n; ++j) {
          double sum = bias.at(0, j);
          for (int64_t back = 0; back < c.kernel && back <= t; ++back) {
            sum += static_cast<double>(x.at(t - back, j)) * weight.at(j, c.kernel - 1 - back);
          }
          ASSERT_NEAR(y.at(t, j), sum, 1e-5) << "row " << t << " channel " << j;
        }
      }
      for (int64_t m = 1; m < c.m; m += 5) {
        const Matrix part = run_causal(runner, x, m, weight, bias, c.kernel);
        ASSERT_TRUE(same_bits(part.row(0), y.row(0), m * c.n)) << "first " << m << " rows";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, ConvTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return isa_name(isa.param); });

}  // namespace
}  // namespace omniphi::kernel_testing

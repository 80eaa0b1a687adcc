#include "layers/linear.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace omniphi {
namespace {

struct Fixture {
  ThreadPool pool{2};
  Workspace workspace;
  KernelContext ctx{&kernel_table(choose_isa()), &pool, &workspace};
};

Tensor random_tensor(Shape shape, unsigned seed) {
  Tensor tensor(std::move(shape));
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.5f);
  for (float& value : tensor.data) value = normal(random);
  return tensor;
}

// y[row] += scale * b (a x[row]), in double.
void add_product(const Tensor& w, const std::vector<double>& x, double scale, std::vector<double>* y) {
  for (int64_t o = 0; o < w.shape[0]; ++o) {
    double sum = 0;
    for (int64_t i = 0; i < w.shape[1]; ++i)
      sum += w.data[static_cast<size_t>(o * w.shape[1] + i)] * x[static_cast<size_t>(i)];
    (*y)[static_cast<size_t>(o)] += scale * sum;
  }
}

TEST(Linear, EachRowGetsItsOwnBranch) {
  Fixture f;
  const int64_t in = 37, out = 21, rows = 9;
  const Tensor weight = random_tensor({out, in}, 1), bias = random_tensor({out}, 2);
  const Tensor a0 = random_tensor({5, in}, 3), b0 = random_tensor({out, 5}, 4);
  const Tensor a1 = random_tensor({8, in}, 5), b1 = random_tensor({out, 8}, 6);
  const Tensor x = random_tensor({rows, in}, 7);
  Linear linear(weight.view(), bias.view());
  linear.adapters = {LoraBranch{weight_ref(a0.view()), weight_ref(b0.view()), 5, 2.0f},
                     LoraBranch{weight_ref(a1.view()), weight_ref(b1.view()), 8, 3.0f}};
  const std::vector<AdapterRows> spans = {{0, 2, 0}, {2, 3, -1}, {5, 4, 1}};
  std::vector<float> y(static_cast<size_t>(rows * out));
  linear.forward(f.ctx, x.data.data(), rows, y.data(), spans);

  for (const AdapterRows& span : spans) {
    for (int64_t row = span.begin; row < span.begin + span.count; ++row) {
      const std::vector<double> input(x.data.begin() + row * in, x.data.begin() + (row + 1) * in);
      std::vector<double> expected(bias.data.begin(), bias.data.end());
      add_product(weight, input, 1, &expected);
      if (span.adapter >= 0) {
        const Tensor& a = span.adapter == 0 ? a0 : a1;
        std::vector<double> low(static_cast<size_t>(a.shape[0]));
        add_product(a, input, 1, &low);
        add_product(span.adapter == 0 ? b0 : b1, low, span.adapter == 0 ? 2 : 3, &expected);
      }
      for (int64_t o = 0; o < out; ++o) {
        EXPECT_NEAR(y[static_cast<size_t>(row * out + o)], expected[static_cast<size_t>(o)], 2e-5) << row << " " << o;
      }
      // Alone, the row has the same bits.
      std::vector<float> alone(static_cast<size_t>(out));
      const AdapterRows one{0, 1, span.adapter};
      linear.forward(f.ctx, x.data.data() + row * in, 1, alone.data(), std::span(&one, 1));
      EXPECT_EQ(alone, std::vector<float>(y.begin() + row * out, y.begin() + (row + 1) * out));
    }
  }
}

TEST(WeightRef, OneRowIsEverythingBehindTheFirstExtent) {
  const Tensor conv(Shape{4, 3, 1, 1}), vector(Shape{7});
  EXPECT_EQ(weight_ref(conv.view()).ld, 3);
  EXPECT_EQ(weight_ref(vector.view()).ld, 1);
  EXPECT_EQ(weight_ref(View{}).data, nullptr);
}

}  // namespace
}  // namespace omniphi

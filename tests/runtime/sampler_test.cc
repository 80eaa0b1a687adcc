#include "runtime/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "base/error.h"

namespace omniphi {
namespace {

std::map<int32_t, int> draw_many(const SamplingOptions& options, const std::vector<float>& logits, int draws) {
  std::map<int32_t, int> counts;
  Sampler sampler(options, static_cast<int>(logits.size()), {});
  for (int i = 0; i < draws; ++i) ++counts[sampler.sample(logits, i)];
  return counts;
}

TEST(Sampler, ZeroTemperatureTakesTheFirstLargest) {
  Sampler sampler({}, 4, {});
  EXPECT_EQ(sampler.sample(std::vector<float>{1, 3, 3, 2}, 0), 1);
}

TEST(Sampler, DrawsFollowTheSoftmax) {
  SamplingOptions options;
  options.temperature = 2;
  const std::vector<float> logits = {0, 2, 4, -2};
  const int draws = 40000;
  const auto counts = draw_many(options, logits, draws);
  double total = 0;
  for (const float logit : logits) total += std::exp(logit / 2);
  for (size_t i = 0; i < logits.size(); ++i) {
    const double p = std::exp(logits[i] / 2) / total;
    const double sigma = std::sqrt(p * (1 - p) / draws);
    EXPECT_NEAR(static_cast<double>(counts.at(static_cast<int32_t>(i))) / draws, p, 5 * sigma) << i;
  }
}

TEST(Sampler, TopKTopPAndMinPCutTheTail) {
  const std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.15f), std::log(0.05f)};
  SamplingOptions options;
  options.temperature = 1;
  options.top_k = 2;
  EXPECT_EQ(draw_many(options, logits, 2000).size(), 2u);
  options.top_k = 0;
  options.top_p = 0.79f;  // 0.5 is not enough, 0.5 + 0.3 is
  EXPECT_EQ(draw_many(options, logits, 2000).size(), 2u);
  options.top_p = 0.81f;
  EXPECT_EQ(draw_many(options, logits, 2000).size(), 3u);
  options.top_p = 1;
  options.min_p = 0.29f;  // of 0.5: 0.145
  EXPECT_EQ(draw_many(options, logits, 2000).size(), 3u);
  options.min_p = 1;
  EXPECT_EQ(draw_many(options, logits, 2000).size(), 1u);
}

TEST(Sampler, PenaltiesAndBias) {
  SamplingOptions options;
  options.repetition_penalty = 2;
  const std::vector<int32_t> prompt = {0};
  {
    Sampler sampler(options, 3, prompt);
    EXPECT_EQ(sampler.sample(std::vector<float>{3, 2, -9}, 0), 1);       // 3 / 2 < 2
    EXPECT_EQ(sampler.sample(std::vector<float>{-1, -1.5f, -9}, 0), 1);  // -1 * 2 < -1.5
  }
  options = {};
  options.presence_penalty = 1;
  {
    Sampler sampler(options, 3, prompt);  // the prompt doesn't count
    EXPECT_EQ(sampler.sample(std::vector<float>{3, 2.5f, 0}, 0), 0);
    sampler.accept(0);
    sampler.accept(0);
    EXPECT_EQ(sampler.sample(std::vector<float>{3, 2.5f, 0}, 2), 1);
    EXPECT_EQ(sampler.sample(std::vector<float>{4, 2.5f, 0}, 2), 0);  // once, however often it occurred
  }
  options = {};
  options.frequency_penalty = 0.5f;
  {
    Sampler sampler(options, 3, prompt);
    sampler.accept(0);
    EXPECT_EQ(sampler.sample(std::vector<float>{3, 2.4f, 0}, 1), 0);
    sampler.accept(0);
    EXPECT_EQ(sampler.sample(std::vector<float>{3, 2.4f, 0}, 2), 1);
  }
  options = {};
  options.logit_bias = {{0, -INFINITY}, {2, 5}};
  Sampler sampler(options, 3, prompt);
  EXPECT_EQ(sampler.sample(std::vector<float>{9, 2, 0}, 0), 2);
}

TEST(Sampler, LogitsStayAsTheyAre) {
  SamplingOptions options;
  options.temperature = 1;
  options.logit_bias = {{1, 3}};
  const std::vector<float> logits = {1, 2, 3};
  std::vector<float> copy = logits;
  Sampler sampler(options, 3, {});
  sampler.sample(copy, 0);
  EXPECT_EQ(copy, logits);
}

TEST(SamplingOptions, NamesWhatIsOutOfRange) {
  const auto refused = [](auto change) -> std::string {
    SamplingOptions options;
    change(options);
    try {
      options.check(10);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.where();
    }
    return "";
  };
  EXPECT_EQ(refused([](SamplingOptions&) {}), "");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.temperature = -1; }), "temperature");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.temperature = NAN; }), "temperature");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.top_k = -1; }), "top_k");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.top_p = 0; }), "top_p");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.min_p = 1.5f; }), "min_p");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.repetition_penalty = 0; }), "repetition_penalty");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.presence_penalty = 3; }), "presence_penalty");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.frequency_penalty = NAN; }), "frequency_penalty");
  EXPECT_EQ(refused([](SamplingOptions& o) { o.logit_bias = {{10, 1}}; }), "logit_bias id");
}

}  // namespace
}  // namespace omniphi

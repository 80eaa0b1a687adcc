#include "layers/long_rope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "testing/golden.h"

namespace omniphi {
namespace {

using testing::read_test_json;

LongRope rope_of(const nlohmann::json& config) {
  const int head_dim = config.at("hidden_size").get<int>() / config.at("num_attention_heads").get<int>();
  return LongRope(static_cast<int>(head_dim * config.at("partial_rotary_factor").get<double>()),
                  config.at("rope_theta"), config.at("original_max_position_embeddings"),
                  config.at("max_position_embeddings"), config.at("rope_scaling").at("short_factor"),
                  config.at("rope_scaling").at("long_factor"));
}

// At position 131,071 an angle is a float32 with a spacing of 1/128: an inverse frequency that is off by one unit in
// the last place moves it by as much. cos and sin of equal angles agree to rounding.
TEST(LongRope, AgreesWithTheReferenceAtEveryPositionOfTheReleasedModel) {
  const LongRope rope =
      rope_of(read_test_json(std::string(OMNIPHI_SOURCE_DIR) + "/tests/data/configs/phi4mm_config.json"));
  const auto oracle = read_test_json(std::string(OMNIPHI_SOURCE_DIR) + "/tests/data/longrope_phi4mm.json");
  EXPECT_EQ(rope.rotary_dim(), 96);
  EXPECT_NEAR(rope.attention_factor(), oracle.at("attention_factor").get<double>(), 1e-7);
  std::vector<float> cos(48), sin(48);
  for (const auto& row : oracle.at("rows")) {
    const RopeRegime regime = row.at("regime") == "long" ? RopeRegime::kLong : RopeRegime::kShort;
    const int64_t position = row.at("position");
    rope.angles(regime, position, cos.data(), sin.data());
    for (size_t i = 0; i < cos.size(); ++i) {
      EXPECT_NEAR(cos[i], row.at("cos")[i].get<double>(), 3e-7) << row.at("regime") << " " << position << " " << i;
      EXPECT_NEAR(sin[i], row.at("sin")[i].get<double>(), 3e-7) << row.at("regime") << " " << position << " " << i;
    }
  }
}

TEST(LongRope, AgreesWithTheGoldenTablesAroundTheSwitch) {
  const LongRope rope = rope_of(read_test_json(testing::golden_root() + "/checkpoint/config.json"));
  const auto golden = read_test_json(testing::golden_root() + "/tables/longrope.json");
  EXPECT_NEAR(rope.attention_factor(), golden.at("attention_factor").get<double>(), 2e-7);
  std::vector<float> cos(6), sin(6);
  int rows = 0;
  for (const auto& [name, row] : golden.at("tables").items()) {
    long position = 0, length = 0;
    ASSERT_EQ(std::sscanf(name.c_str(), "pos=%ld total_len=%ld", &position, &length), 2) << name;
    rope.angles(rope.regime(length), position, cos.data(), sin.data());
    for (size_t i = 0; i < cos.size(); ++i) {
      EXPECT_NEAR(cos[i], row.at("cos")[i].get<double>(), 3e-7) << name << " " << i;
      EXPECT_NEAR(sin[i], row.at("sin")[i].get<double>(), 3e-7) << name << " " << i;
    }
    ++rows;
  }
  EXPECT_GT(rows, 3);
}

TEST(LongRope, SwitchesBeyondTheOriginalContext) {
  const LongRope rope(4, 10000, 640, 20480, {1, 1}, {2, 3});
  EXPECT_EQ(rope.regime(1), RopeRegime::kShort);
  EXPECT_EQ(rope.regime(640), RopeRegime::kShort);
  EXPECT_EQ(rope.regime(641), RopeRegime::kLong);
}

TEST(LongRope, AModelThatWasNeverExtendedHasNoAttentionFactor) {
  EXPECT_EQ(LongRope(4, 10000, 4096, 4096, {1, 1}, {1, 1}).attention_factor(), 1.0f);
}

}  // namespace
}  // namespace omniphi

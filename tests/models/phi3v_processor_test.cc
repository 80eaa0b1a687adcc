// From ids with one -k for each picture to the expanded prompt.
#include "models/phi3v/processor/processor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace omniphi::phi3v {
namespace {

Config small_config() {
  Config config;
  config.decoder.vocab_size = 32'064;
  return config;
}

ImageInput picture(int width, int height, int crops) {
  ImageInput input;
  input.layout = image_layout(width, height, crops);
  return input;
}

std::vector<ImageInput> pictures(size_t count) {
  std::vector<ImageInput> list;
  for (size_t i = 0; i < count; ++i) list.push_back(picture(300, 200, 1));
  return list;
}

TEST(Phi3vInput, EachPictureTakesItsTokens) {
  std::vector<ImageInput> images;
  images.push_back(picture(336, 336, 1));
  images.push_back(picture(700, 700, 4));
  const ModelInput input = build_input(small_config(), {1, 32010, -1, 1, 13, -2, 1, 5}, std::move(images));
  ASSERT_EQ(input.slots.size(), 2u);
  EXPECT_EQ(input.slots[0].offset, 2);
  EXPECT_EQ(input.slots[0].tokens, 313);
  EXPECT_EQ(input.slots[1].offset, 2 + 313 + 2);
  EXPECT_EQ(input.slots[1].tokens, 757);
  EXPECT_EQ(input.slots[1].index, 1);
  EXPECT_EQ(input.image_tokens(), 313 + 757);
  EXPECT_EQ(input.ids.size(), 6u + 313 + 757);
  EXPECT_EQ(std::count(input.ids.begin(), input.ids.end(), -1), 313);
  EXPECT_EQ(std::count(input.ids.begin(), input.ids.end(), -2), 757);
  EXPECT_EQ(input.ids.back(), 5);
  EXPECT_EQ(input.ids[2], -1);
  EXPECT_EQ(input.ids[2 + 313], 1);
}

TEST(Phi3vInput, TextAlone) {
  const ModelInput input = build_input(small_config(), {1, 2, 3}, {});
  EXPECT_EQ(input.ids, (std::vector<int32_t>{1, 2, 3}));
  EXPECT_TRUE(input.slots.empty());
}

TEST(Phi3vInput, AudioIsRefusedByName) {
  try {
    check_slots(small_config(), {1, 2}, 0, 1);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(error.remedy().find("can't hear"), std::string::npos);
  }
}

struct BadPrompt {
  const char* name;
  std::vector<int32_t> ids;
  size_t images;
  const char* where;
  const char* found;
  const char* expected;
  const char* remedy;  // a part of it
};

void PrintTo(const BadPrompt& prompt, std::ostream* out) { *out << prompt.name; }

class Phi3vBadPrompt : public ::testing::TestWithParam<BadPrompt> {};

TEST_P(Phi3vBadPrompt, IsRefusedByName) {
  const BadPrompt& bad = GetParam();
  try {
    build_input(small_config(), bad.ids, pictures(bad.images));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where(), bad.where);
    EXPECT_EQ(error.found(), bad.found);
    EXPECT_EQ(error.expected(), bad.expected);
    EXPECT_NE(error.remedy().find(bad.remedy), std::string::npos) << error.remedy();
  }
}

const BadPrompt kBadPrompts[] = {
    {"Empty", {}, 0, "prompt", "no tokens", "at least one token", ""},
    {"BeyondTheVocabulary",
     {1, 32064},
     0,
     "prompt token 1",
     "id 32064",
     "an id from 0 to 32063, or -k for picture k",
     ""},
    {"NoPictures", {1, -1}, 0, "token ids", "-1", "none, for no picture is given", "Number the pictures"},
    {"Missing", {1, 2}, 1, "token ids", "no -1", "-1 once, for the one picture", "leave the picture out"},
    {"Repeated",
     {1, -1, 5, -1},
     2,
     "token ids",
     "-1 repeated",
     "-1 to -2, once each and in this order, for 2 pictures",
     "its own number"},
    {"Expanded", {1, -1, -1, -1}, 1, "token ids", "-1 repeated", "-1 once, for the one picture", "expanded already"},
    {"Gap",
     {1, -1, 5, -3},
     2,
     "token ids",
     "-3",
     "-1 to -2, once each and in this order, for 2 pictures",
     "Number the pictures from 1"},
    {"Swapped",
     {1, -2, 5, -1},
     2,
     "token ids",
     "-2 before -1",
     "-1 to -2, once each and in this order, for 2 pictures",
     "Swap the pictures"},
    {"Least", {INT32_MIN}, 1, "token id 0", "-2147483648", "an id, or -k for picture k", ""},
};
INSTANTIATE_TEST_SUITE_P(All, Phi3vBadPrompt, ::testing::ValuesIn(kBadPrompts),
                         [](const auto& prompt) { return std::string(prompt.param.name); });

}  // namespace
}  // namespace omniphi::phi3v

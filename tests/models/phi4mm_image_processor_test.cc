// The HD transform against the reference's tables and against pixel_values, masks and counts of every golden image
// case.
#include "models/phi4mm/processor/image_processor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "media/image_decode.h"
#include "media/resize.h"
#include "testing/golden.h"
#include "testing/sha256.h"

namespace omniphi::phi4mm {
namespace {

using testing::Golden;
using testing::golden_path;
using testing::golden_root;
using testing::read_test_file;
using testing::read_test_json;

constexpr double kPixelTolerance = 2e-7;

Image decode_as_reference(const std::string& path) {
  ImageOptions options;
  options.reference_media = true;
  return decode_image(read_test_file(path), path, options);
}

TEST(ImageLayout, EveryRowOfTheReferencesTable) {
  const nlohmann::json rows = read_test_json(golden_root() + "/tables/image_tokens.json").at("rows");
  ASSERT_GT(rows.size(), 180u);
  int refused = 0;
  for (const nlohmann::json& row : rows) {
    const auto width = row.at(0).get<int64_t>(), height = row.at(1).get<int64_t>();
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height));
    if (row.at(2).is_string()) {
      ++refused;
      EXPECT_THROW(image_layout(width, height, 36), Error);
      continue;
    }
    const ImageLayout layout = image_layout(width, height, 36);
    EXPECT_EQ(layout.grid_cols, row.at(2));
    EXPECT_EQ(layout.grid_rows, row.at(3));
    EXPECT_EQ(layout.valid_cols, row.at(4));
    EXPECT_EQ(layout.valid_rows, row.at(5));
    EXPECT_EQ(layout.tokens, row.at(6));
  }
  EXPECT_GE(refused, 1);
}

// dynamic_hd below 36: the publisher's rule, run in Python (tools/make_image_tables.py).
TEST(ImageLayout, EveryCropLimit) {
  const nlohmann::json table = read_test_json(std::string(OMNIPHI_SOURCE_DIR) + "/tests/models/data/crop_limits.json");
  ASSERT_GT(table.at("rows").size(), 500u);
  for (const nlohmann::json& row : table.at("rows")) {
    const auto width = row.at(0).get<int64_t>(), height = row.at(1).get<int64_t>();
    const auto limit = row.at(2).get<int>();
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", limit " + std::to_string(limit));
    if (row.size() == 3) {
      EXPECT_THROW(image_layout(width, height, limit), Error);
      continue;
    }
    const ImageLayout layout = image_layout(width, height, limit);
    EXPECT_EQ(layout.grid_cols, row.at(3));
    EXPECT_EQ(layout.grid_rows, row.at(4));
    EXPECT_EQ(layout.resized_width, row.at(5));
    EXPECT_EQ(layout.resized_height, row.at(6));
    EXPECT_EQ(layout.tokens, row.at(7));
  }
}

TEST(ImageLayout, FiguresThatPlanIsHeldTo) {
  EXPECT_EQ(image_layout(448, 448, 36).tokens, 545);
  EXPECT_EQ(image_layout(1344, 1792, 36).tokens, 3409);
  EXPECT_EQ(image_layout(2688, 2688, 36).tokens, 9585);
  EXPECT_EQ(image_layout(448, 16'128, 36).tokens, kImageMaxTokens);
}

TEST(ImageLayout, NoImageTakesMoreThanTheMaximum) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(3, 17);
  for (int i = 0; i < 20'000; ++i) {
    const auto width = static_cast<int64_t>(std::exp2(exponent(random)));
    const auto height = static_cast<int64_t>(std::exp2(exponent(random)));
    const int limit = 1 + static_cast<int>(random() % 36);
    ImageLayout layout;
    try {
      layout = image_layout(width, height, limit);
    } catch (const Error&) {
      continue;
    }
    ASSERT_LE(layout.grid_cols * layout.grid_rows, limit);
    ASSERT_LE(layout.tokens, kImageMaxTokens);
    ASSERT_GE(layout.valid_cols, 1);
    ASSERT_LE(layout.resized_width, layout.padded_width);
    ASSERT_LE(layout.resized_height, layout.padded_height);
    ASSERT_TRUE(layout.resized_width == layout.padded_width || layout.resized_height == layout.padded_height);
  }
}

TEST(ImageLayout, RefusesByName) {
  try {
    image_layout(100, 1, 36, "strip.png");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where(), "strip.png");
    EXPECT_NE(error.found().find("100 x 1"), std::string::npos);
    EXPECT_NE(error.expected().find("10 pixels"), std::string::npos);
  }
  for (const int limit : {0, -1, 37}) {
    try {
      image_layout(100, 100, limit);
      FAIL() << "accepted " << limit;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    }
  }
  EXPECT_THROW(image_layout(0, 100, 36), Error);
  EXPECT_THROW(image_layout(100, int64_t{1} << 40, 36), Error);
}

// The 8-bit image after resize and padding, against the digest of the reference's and, where stored, its very pixels.
TEST(ImageResize, EveryGoldenImageIsBitExact) {
  int compared = 0;
  for (const nlohmann::json& entry : read_test_json(golden_root() + "/tables/images.json")) {
    const std::string media = entry.at("media");
    SCOPED_TRACE(media);
    const std::string path = golden_path(media);
    if (path.empty()) continue;
    const Image image = decode_as_reference(path);
    EXPECT_EQ(testing::sha256(image.rgb.data(), image.rgb.size()), entry.at("decoded_rgb_sha256"));
    const ImageLayout layout = image_layout(image.width, image.height, 36);
    ASSERT_EQ(layout.padded_width, entry.at("out_width"));
    ASSERT_EQ(layout.padded_height, entry.at("out_height"));
    EXPECT_EQ(layout.valid_cols, entry.at("valid_patch_cols"));
    EXPECT_EQ(layout.valid_rows, entry.at("valid_patch_rows"));
    Image padded(layout.padded_width, layout.padded_height);
    std::fill(padded.rgb.begin(), padded.rgb.end(), uint8_t{255});
    resize_bilinear(image, layout.resized_width, layout.resized_height, padded.rgb.data(), padded.stride());
    EXPECT_EQ(testing::sha256(padded.rgb.data(), padded.rgb.size()), entry.at("resized_rgb_sha256"));
    ++compared;
    if (entry.at("resized_png").is_null()) continue;
    const std::string png = golden_path(entry.at("resized_png"));
    if (png.empty()) continue;
    const Image expected = decode_as_reference(png);
    const auto [ours, theirs] = std::mismatch(padded.rgb.begin(), padded.rgb.end(), expected.rgb.begin());
    EXPECT_EQ(ours, padded.rgb.end()) << "first at byte " << ours - padded.rgb.begin();
  }
  EXPECT_GE(compared, 9);
}

std::vector<std::string> image_cases() {
  std::vector<std::string> names;
  const nlohmann::json manifest = read_test_json(golden_root() + "/manifest.json");
  for (const nlohmann::json& entry : manifest.at("cases")) {
    if (!entry.at("images").empty()) names.push_back(entry.at("name"));
  }
  return names;
}

class GoldenImages : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenImages, EveryProcessorStage) {
  const Golden golden = Golden::load(GetParam());
  std::vector<ImageInput> inputs;
  for (const std::string media : golden.json.at("images")) {
    const std::string path = golden_path(media);
    if (path.empty()) GTEST_SKIP() << media << " is third-party media that this checkout does not carry";
    inputs.push_back(process_image(decode_as_reference(path), 36, media));
  }
  const size_t plane = 3 * 448 * 448, patches = 32 * 32;
  int most = 0;
  for (const ImageInput& input : inputs) most = std::max(most, input.layout.crops);

  // The reference pads the crops of smaller images: pixels with 0, the mask with 1.
  std::vector<float> pixels(inputs.size() * static_cast<size_t>(most) * plane, 0.0f), global;
  std::vector<uint8_t> mask(inputs.size() * static_cast<size_t>(most) * patches, 1);
  std::vector<int> sizes, tokens;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ImageInput& input = inputs[i];
    const std::vector<float>& data = input.pixel_values.data;
    ASSERT_EQ(input.pixel_values.shape, Shape({input.layout.crops, 3, 448, 448}));
    ASSERT_EQ(input.patch_mask.size(), static_cast<size_t>(input.layout.crops) * patches);
    std::copy(data.begin(), data.end(),
              pixels.begin() + static_cast<std::ptrdiff_t>(i * static_cast<size_t>(most) * plane));
    std::copy(input.patch_mask.begin(), input.patch_mask.end(),
              mask.begin() + static_cast<std::ptrdiff_t>(i * static_cast<size_t>(most) * patches));
    global.insert(global.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(plane));
    sizes.push_back(input.layout.padded_height);
    sizes.push_back(input.layout.padded_width);
    tokens.push_back(input.num_tokens());
  }
  EXPECT_EQ(nlohmann::json(tokens), golden.json.at("num_img_tokens"));
  EXPECT_TRUE(testing::compare(golden, "image_sizes", sizes, 0));
  EXPECT_TRUE(testing::compare(golden, "image_attention_mask", mask, 0));
  EXPECT_TRUE(testing::compare(golden, "pixel_values_global", global, kPixelTolerance));
  EXPECT_TRUE(testing::compare(golden, "pixel_values", pixels, kPixelTolerance));
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenImages, ::testing::ValuesIn(image_cases()),
                         [](const auto& golden) { return golden.param; });

}  // namespace
}  // namespace omniphi::phi4mm

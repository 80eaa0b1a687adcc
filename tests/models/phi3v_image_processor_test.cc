// The HD transform against the reference's sizes, and its pixels for every picture of the goldens at 1, 4 and 16 crops.
#include "models/phi3v/processor/image_processor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "media/image_decode.h"
#include "testing/phi3v_golden.h"
#include "testing/sha256.h"

namespace omniphi::phi3v {
namespace {

using nlohmann::json;
using testing::compare_phi3v;
using testing::GoldenTensor;
using testing::phi3v_path;
using testing::phi3v_root;
using testing::phi3v_tensor;
using testing::read_test_file;
using testing::read_test_json;

constexpr double kPixelTolerance = 2e-6;
constexpr size_t kCropFloats = size_t{3} * kCropSize * kCropSize;

Image decode_as_reference(const std::string& path) {
  ImageOptions options;
  options.reference_media = true;
  return decode_image(read_test_file(path), path, options);
}

std::string hash(const Image& image) { return testing::sha256(image.rgb.data(), image.rgb.size()); }

TEST(Phi3vImageLayout, EveryRowOfTheReferencesTable) {
  const json rows = read_test_json(phi3v_root() + "/images/sizes.json").at("rows");
  ASSERT_GT(rows.size(), 500u);
  int refused = 0;
  for (const json& row : rows) {
    const auto width = row.at(0).get<int64_t>(), height = row.at(1).get<int64_t>();
    const int crops = row.at(2);
    SCOPED_TRACE(row.dump());
    if (row.at(5) == -1) {
      ++refused;
      EXPECT_THROW(image_layout(width, height, crops), Error);
      continue;
    }
    const ImageLayout layout = image_layout(width, height, crops);
    EXPECT_EQ(layout.padded_width, row.at(3));
    EXPECT_EQ(layout.padded_height, row.at(4));
    EXPECT_EQ(layout.tokens, row.at(5));
  }
  EXPECT_GE(refused, 1);
}

// Section 3's formula for tokens, and everything that must hold for any image.
TEST(Phi3vImageLayout, HoldsForRandomSizes) {
  std::mt19937 rng(5);
  for (int i = 0; i < 20'000; ++i) {
    const int64_t width = 1 + static_cast<int64_t>(rng() % 4000), height = 1 + static_cast<int64_t>(rng() % 4000);
    const int limit = 1 + static_cast<int>(rng() % kMaxCropsLimit);
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + " at " + std::to_string(limit));
    if (std::max(width, height) / std::min(width, height) >= kCropSize) continue;  // may be refused
    const ImageLayout l = image_layout(width, height, limit);
    const int grid = l.grid_cols * l.grid_rows;
    ASSERT_LE(grid, limit);
    ASSERT_EQ(l.crops, grid + 1);
    ASSERT_EQ(l.tokens, (grid + 1) * 144 + 1 + (l.grid_rows + 1) * 12);
    ASSERT_LE(l.tokens, kMaxImageTokens);
    ASSERT_EQ(l.padded_width, kCropSize * l.grid_cols);
    ASSERT_EQ(l.padded_height, kCropSize * l.grid_rows);
    const int right = l.padded_width - l.left - l.resized_width, below = l.padded_height - l.top - l.resized_height;
    ASSERT_TRUE(l.left == 0 ? right == 0 || right == 1 : right == l.left || right == l.left + 1);
    ASSERT_TRUE(l.top == 0 ? below == 0 || below == 1 : below == l.top || below == l.top + 1);
    ASSERT_LT(std::max(l.left + right, l.top + below), kCropSize);
    // Its mirror at the diagonal is cut as the mirror.
    const ImageLayout mirror = image_layout(height, width, limit);
    if (width == height) continue;
    ASSERT_EQ(mirror.resized_width, l.resized_height);
    ASSERT_EQ(mirror.top, l.left);
    ASSERT_EQ(mirror.grid_rows, l.grid_cols);
  }
}

TEST(Phi3vImageLayout, TokensOfTheUsualGrids) {
  EXPECT_EQ(image_layout(336, 336, 1).tokens, 313);
  EXPECT_EQ(image_layout(800, 800, 4).tokens, 757);
  EXPECT_EQ(image_layout(300, 1300, 4).tokens, 781);
  EXPECT_EQ(image_layout(10, 1600, 16).tokens, kMaxImageTokens);
}

TEST(Phi3vImageLayout, SaysWhatIsWrong) {
  try {
    image_layout(1, 337, 1, "stripe.png");
    FAIL() << "an image that loses its short side";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where(), "stripe.png");
    EXPECT_EQ(error.found(), "1 x 337 pixels");
    EXPECT_EQ(error.expected(), "an aspect ratio of at most 336 to 1 at 1 crop");
  }
  EXPECT_EQ(image_layout(1, 336, 1).resized_width, 1);
  for (const int crops : {0, -1, 17}) EXPECT_THROW(image_layout(336, 336, crops), Error) << crops;
  EXPECT_THROW(image_layout(0, 5, 4), Error);
  EXPECT_THROW(image_layout(5, int64_t{1} << 40, 4), Error);
}

// One picture of images.json.
class Phi3vPicture : public ::testing::TestWithParam<std::string> {
 protected:
  static json find(const std::string& file) {
    const json all = read_test_json(phi3v_root() + "/images/images.json");
    for (const json& image : all.at("images")) {
      if (image.at("file") == file) return image;
    }
    return nullptr;
  }
};

// The white around the image and its pixels, byte for byte; then what is made of them.
TEST_P(Phi3vPicture, IsTheReferences) {
  const std::string file = GetParam();
  const std::string path = phi3v_path("media/" + file);
  if (path.empty()) GTEST_SKIP() << file << " needs ../shared";
  const json golden = find(file);
  const auto tensors = testing::read_test_safetensors(phi3v_root() + "/images/images.safetensors");
  const Image image = decode_as_reference(path);
  EXPECT_EQ(image.width, golden.at("width"));
  EXPECT_EQ(image.height, golden.at("height"));
  const bool same_bytes = hash(image) == golden.at("rgb_sha256");
  if (golden.at("lossless") == true) {
    ASSERT_TRUE(same_bytes) << file;
  }
  // Another JPEG decoder may be a few grey levels off.
  const double tolerance = same_bytes ? kPixelTolerance : 4.0 / 255 / 0.26;
  for (const json& run : golden.at("runs")) {
    const int crops = run.at("num_crops");
    SCOPED_TRACE(file + " at " + std::to_string(crops));
    const ImageInput input = process_image(image, crops, file);
    EXPECT_EQ(input.layout.padded_height, run.at("image_sizes").at(0));
    EXPECT_EQ(input.layout.padded_width, run.at("image_sizes").at(1));
    EXPECT_EQ(input.num_tokens(), run.at("num_img_tokens"));
    ASSERT_EQ(input.layout.crops, run.at("used_crops"));
    if (same_bytes) {
      EXPECT_EQ(hash(resize_and_pad(image, input.layout)), run.at("hd_rgb_sha256"));
    }
    const std::string suffix = "." + file + ".c" + std::to_string(crops);
    const std::vector<float>& pixels = input.pixel_values.data;
    const std::vector<float> global(pixels.begin(), pixels.begin() + kCropFloats);
    const std::vector<float> local(pixels.begin() + kCropFloats, pixels.end());
    for (const auto& [part, values] : {std::pair("global", &global), std::pair("crops", &local)}) {
      const GoldenTensor stored = phi3v_tensor(tensors.at(part + suffix), run.at(part));
      EXPECT_TRUE(compare_phi3v(part + suffix, stored, run.at(part), *values, tolerance));
    }
  }
}

std::vector<std::string> pictures() {
  std::vector<std::string> files;
  const json all = read_test_json(phi3v_root() + "/images/images.json");
  for (const json& image : all.at("images")) {
    files.push_back(image.at("file"));
  }
  return files;
}

std::string picture_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Goldens, Phi3vPicture, ::testing::ValuesIn(pictures()), picture_name);

TEST(Phi3vImage, TheOrientationCountsUnlessTheReferenceIsFollowed) {
  const std::string path = phi3v_path("media/exif6_200x120.jpg");
  const Image turned = decode_image(read_test_file(path), path);
  const ImageInput input = process_image(turned, 4, path);
  EXPECT_EQ(turned.width, 120);
  EXPECT_EQ(input.layout.grid_rows, image_layout(120, 200, 4).grid_rows);
  EXPECT_NE(hash(turned), hash(decode_as_reference(path)));
}

}  // namespace
}  // namespace omniphi::phi3v

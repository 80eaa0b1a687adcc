// The resize against SHA-256 digests of Pillow's output, and its vector loops against plain ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "media/resize.h"
#include "media/resize_rows.h"
#include "testing/golden.h"
#include "testing/sha256.h"

namespace omniphi {
namespace {

// As in tools/make_image_tables.py.
Image noise_image(int width, int height) {
  Image image(width, height);
  uint32_t state = 12345;
  for (uint8_t& value : image.rgb) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<uint8_t>(state >> 24);
  }
  return image;
}

TEST(ImageResize, EqualsPillow) {
  const nlohmann::json table =
      testing::read_test_json(std::string(OMNIPHI_SOURCE_DIR) + "/tests/media/data/resize.json");
  ASSERT_GT(table.at("rows").size(), 15u);
  for (const nlohmann::json& row : table.at("rows")) {
    const Image source = noise_image(row.at(0), row.at(1));
    const Image target = resize_bilinear(source, row.at(2), row.at(3));
    EXPECT_EQ(testing::sha256(target.rgb.data(), target.rgb.size()), row.at(4)) << row.dump();
  }
}

TEST(ImageResize, SameSizeCopies) {
  const Image source = noise_image(23, 11);
  EXPECT_EQ(resize_bilinear(source, 23, 11).rgb, source.rgb);
}

TEST(ImageResize, WritesOnlyInsideItsRectangle) {
  const Image source = noise_image(100, 60);
  const Image expected = resize_bilinear(source, 45, 27);
  const size_t stride = 45 * 3 + 5;
  std::vector<uint8_t> target(27 * stride, 77);
  resize_bilinear(source, 45, 27, target.data(), stride);
  for (size_t y = 0; y < 27; ++y) {
    const auto row = target.begin() + static_cast<std::ptrdiff_t>(y * stride);
    EXPECT_TRUE(std::equal(row, row + 45 * 3, expected.rgb.begin() + static_cast<std::ptrdiff_t>(y * 45 * 3)));
    EXPECT_TRUE(std::all_of(row + 45 * 3, row + static_cast<std::ptrdiff_t>(stride), [](int v) { return v == 77; }));
  }
}

// White stays white and a flat picture flat, whatever the rounding of the weights.
TEST(ImageResize, FlatStaysFlat) {
  for (const int value : {0, 1, 254, 255}) {
    Image source(997, 331);
    std::fill(source.rgb.begin(), source.rgb.end(), static_cast<uint8_t>(value));
    const Image target = resize_bilinear(source, 448, 13);
    EXPECT_TRUE(std::all_of(target.rgb.begin(), target.rgb.end(), [&](int v) { return v == value; })) << value;
  }
}

Image transposed(const Image& image) {
  Image turned(image.height, image.width);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) std::copy_n(image.row(y) + 3 * x, 3, turned.row(x) + 3 * y);
  }
  return turned;
}

Image resized(const Image& source, int width, int height, ResizeOrder order) {
  Image target(width, height);
  resize_bilinear(source, width, height, target.rgb.data(), target.stride(), order);
  return target;
}

TEST(ImageResize, ColumnsFirstIsRowsFirstOfTheTransposed) {
  const Image source = noise_image(57, 91);
  for (const auto& [width, height] : {std::pair(20, 30), std::pair(100, 30), std::pair(57, 200), std::pair(20, 91)}) {
    const Image columns = resized(source, width, height, ResizeOrder::kVertical);
    const Image rows = resized(transposed(source), height, width, ResizeOrder::kHorizontal);
    EXPECT_EQ(columns.rgb, transposed(rows).rgb) << width << " x " << height;
  }
  // The order shows, so that the test can fail.
  EXPECT_NE(resized(source, 20, 30, ResizeOrder::kVertical).rgb, resized(source, 20, 30, ResizeOrder::kHorizontal).rgb);
}

TEST(ImageResizeRows, VectorLoopsEqualPlainSums) {
  std::mt19937 random(5);
  for (const size_t bytes : {size_t{1}, size_t{31}, size_t{32}, size_t{33}, size_t{97}, size_t{1344}}) {
    for (const int count : {1, 2, 5, 9}) {
      std::vector<std::vector<uint8_t>> rows(static_cast<size_t>(count), std::vector<uint8_t>(bytes));
      std::vector<int32_t> weight(static_cast<size_t>(count), (1 << 22) / count);
      weight[0] += 1000;  // sums above one are clipped
      std::vector<const uint8_t*> pointers;
      for (auto& row : rows) {
        for (uint8_t& value : row) value = random() % 4 == 0 ? 255 : static_cast<uint8_t>(random());
        pointers.push_back(row.data());
      }
      std::vector<uint8_t> out(bytes);
      blend_rows(pointers.data(), weight.data(), count, bytes, out.data());
      for (size_t i = 0; i < bytes; ++i) {
        int64_t sum = 1 << 21;
        for (size_t k = 0; k < rows.size(); ++k) sum += int64_t{weight[k]} * rows[k][i];
        ASSERT_EQ(out[i], std::min<int64_t>(sum >> 22, 255)) << bytes << " bytes, " << count << " rows, at " << i;
      }
    }
  }
}

}  // namespace
}  // namespace omniphi

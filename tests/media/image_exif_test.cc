// The EXIF orientation: the eight ways, and blocks that are broken.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "media/exif.h"

namespace omniphi {
namespace {

using namespace std::string_literals;

const std::string kBlock =
    "II\x2a\0\x08\0\0\0"
    "\1\0"
    "\x12\1\3\0\1\0\0\0\6\0\0\0"
    "\0\0\0\0"s;

TEST(Exif, ReadsTheTag) {
  EXPECT_EQ(exif_orientation(kBlock), 6);
  EXPECT_EQ(exif_orientation("Exif\0\0"s + kBlock), 6);
  EXPECT_EQ(exif_orientation("MM\0\x2a\0\0\0\x08"
                             "\0\1"
                             "\1\x12\0\3\0\0\0\1\0\x08\0\0"
                             "\0\0\0\0"s),
            8);
}

TEST(Exif, BrokenBlocksMeanUpright) {
  EXPECT_EQ(exif_orientation(""), 1);
  EXPECT_EQ(exif_orientation("Exif\0\0"s), 1);
  std::string far = kBlock;
  far[7] = '\x7f';  // the IFD lies outside
  EXPECT_EQ(exif_orientation(far), 1);
  std::string many = kBlock;
  many[8] = '\xff', many[9] = '\xff', many[10] = '\x13';
  EXPECT_EQ(exif_orientation(many), 1);
  std::string nine = kBlock;
  nine[18] = 9;
  EXPECT_EQ(exif_orientation(nine), 1);
  for (size_t size = 0; size < 22; ++size) EXPECT_EQ(exif_orientation(std::string_view(kBlock).substr(0, size)), 1);
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = kBlock;
    for (int n = 0; n < 3; ++n) bytes[random() % bytes.size()] = static_cast<char>(random());
    const int orientation = exif_orientation(bytes);
    ASSERT_TRUE(orientation >= 1 && orientation <= 8);
  }
}

// A 3 x 2 picture whose pixels are named 1 to 6; the rows are what a viewer shows (EXIF 2.32, tag 274: where the stored
// first row and first column belong).
TEST(Exif, TurnsTheEightWays) {
  Image stored(3, 2);
  for (size_t i = 0; i < 6; ++i)
    stored.rgb[i * 3] = stored.rgb[i * 3 + 1] = stored.rgb[i * 3 + 2] = static_cast<uint8_t>(i + 1);
  const std::array<std::pair<int, std::string>, 8> shown = {{{3, "123456"},
                                                             {3, "321654"},
                                                             {3, "654321"},
                                                             {3, "456123"},
                                                             {2, "142536"},
                                                             {2, "415263"},
                                                             {2, "635241"},
                                                             {2, "362514"}}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Image image = apply_orientation(stored, orientation);
    const auto& [width, digits] = shown[static_cast<size_t>(orientation - 1)];
    EXPECT_EQ(image.width, width) << orientation;
    ASSERT_EQ(image.rgb.size(), 18u);
    std::string found;
    for (size_t i = 0; i < 6; ++i) {
      found += static_cast<char>('0' + image.rgb[i * 3]);
      EXPECT_EQ(image.rgb[i * 3], image.rgb[i * 3 + 2]);
    }
    EXPECT_EQ(found, digits) << orientation;
  }
}

// Larger than the blocks that the transpose works in.
TEST(Exif, TransposesEveryPixel) {
  Image stored(71, 45);
  for (size_t i = 0; i < stored.rgb.size(); ++i) stored.rgb[i] = static_cast<uint8_t>(i * 7 + i / 251);
  const Image image = apply_orientation(stored, 5);
  for (int y = 0; y < 45; ++y) {
    for (int x = 0; x < 71; ++x) {
      for (int c = 0; c < 3; ++c) ASSERT_EQ(image.row(x)[y * 3 + c], stored.row(y)[x * 3 + c]);
    }
  }
}

}  // namespace
}  // namespace omniphi

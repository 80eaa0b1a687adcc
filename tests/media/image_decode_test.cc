// Every format and trait, pixel by pixel against Pillow and against the pixels that files were made from.
#include "media/image_decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "image_fixtures.h"

namespace omniphi {
namespace {

using testing::image_fixtures;
using testing::ImageFixture;

::testing::AssertionResult same_pixels(const Image& image, const Image& expected) {
  if (image.width != expected.width || image.height != expected.height) {
    return ::testing::AssertionFailure() << image.width << " x " << image.height << ", expected " << expected.width
                                         << " x " << expected.height;
  }
  if (image.rgb.size() != expected.rgb.size()) return ::testing::AssertionFailure() << "a fixture of the wrong size";
  const auto [found, wanted] = std::mismatch(image.rgb.begin(), image.rgb.end(), expected.rgb.begin());
  if (found == image.rgb.end()) return ::testing::AssertionSuccess();
  const auto at = static_cast<int>((found - image.rgb.begin()) / 3);
  return ::testing::AssertionFailure() << "pixel (" << at % image.width << ", " << at / image.width << "), channel "
                                       << (found - image.rgb.begin()) % 3 << ": " << +*found << ", expected "
                                       << +*wanted;
}

TEST(ImageDecode, WhatAViewerShows) {
  const std::vector<ImageFixture> fixtures = image_fixtures();
  ASSERT_GT(fixtures.size(), 140u);
  for (const ImageFixture& fixture : fixtures) {
    EXPECT_TRUE(same_pixels(decode_image(fixture.bytes, fixture.name), fixture.viewer)) << fixture.name;
  }
}

TEST(ImageDecode, WhatTheReferenceSees) {
  ImageOptions options;
  options.reference_media = true;
  for (const ImageFixture& fixture : image_fixtures()) {
    EXPECT_TRUE(same_pixels(decode_image(fixture.bytes, fixture.name, options), fixture.reference)) << fixture.name;
  }
}

// The fixtures must be able to tell the two apart.
TEST(ImageDecode, TheModesDiffer) {
  int differ = 0;
  for (const ImageFixture& fixture : image_fixtures()) differ += fixture.viewer.rgb != fixture.reference.rgb;
  EXPECT_GT(differ, 40);
}

// White stays white, black stays black, and everything is the nearest grey: unlike dropping the low byte.
TEST(ImageDecode, SixteenBitsRoundToNearest) {
  for (const ImageFixture& fixture : image_fixtures()) {
    if (fixture.name != "grey16.png") continue;
    const Image image = decode_image(fixture.bytes, fixture.name);
    EXPECT_EQ(image.row(0)[0], 0);    // 0
    EXPECT_EQ(image.row(0)[3], 255);  // 65535
    EXPECT_EQ(image.row(0)[6], 0);    // 128: 0.498
    EXPECT_EQ(image.row(0)[9], 1);    // 129: 0.502
    return;
  }
  FAIL() << "the fixture is missing";
}

TEST(ImageDecode, FormatIsByContentNotByName) {
  for (const ImageFixture& fixture : image_fixtures()) {
    if (fixture.name != "rgb8.png") continue;
    EXPECT_TRUE(same_pixels(decode_image(fixture.bytes, "photo.jpg"), fixture.viewer));
  }
}

TEST(ImageDecode, TrailingBytesAreIgnored) {
  for (const ImageFixture& fixture : image_fixtures()) {
    // A BigTIFF or TIFF with bytes behind it is the same file; so are the others.
    EXPECT_TRUE(same_pixels(decode_image(fixture.bytes + std::string(100, '\x5a'), fixture.name), fixture.viewer))
        << fixture.name;
  }
}

}  // namespace
}  // namespace omniphi

#include "media/png_write.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "media/image_decode.h"

namespace omniphi {
namespace {

TEST(PngWrite, EveryPixelComesBack) {
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(7, 3), std::pair(300, 200)}) {
    Image image(width, height);
    for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * 37 + i / 256);
    const Image read = decode_image(encode_png(image), "own");
    EXPECT_EQ(read.width, width);
    EXPECT_EQ(read.height, height);
    EXPECT_EQ(read.rgb, image.rgb);
  }
}

TEST(PngWrite, APictureWithoutPixelsIsABug) { EXPECT_THROW(encode_png(Image()), Error); }

}  // namespace
}  // namespace omniphi

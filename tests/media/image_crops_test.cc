// Crops and the global view against the formulas in double.
#include "media/image_crops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace omniphi {
namespace {

constexpr std::array<float, 3> kMean = {0.48f, 0.46f, 0.41f};
constexpr std::array<float, 3> kDeviation = {0.27f, 0.26f, 0.28f};

Image noise_image(int width, int height) {
  std::mt19937 random(3);
  Image image(width, height);
  for (uint8_t& value : image.rgb) value = random() % 4 == 0 ? 255 : static_cast<uint8_t>(random());
  return image;
}

double normalised(const Image& image, int x, int y, size_t c) {
  return (image.row(y)[static_cast<size_t>(x) * 3 + c] / 255.0 - static_cast<double>(kMean[c])) /
         static_cast<double>(kDeviation[c]);
}

// Keys's kernel with a = -0.75.
double cubic(double distance) {
  const double a = -0.75, d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// What torch.nn.functional.interpolate(mode="bicubic") gives at (x, y), from normalised values.
double interpolated(const Image& image, int side, int x, int y, size_t c) {
  const double at_x = (x + 0.5) * image.width / side - 0.5, at_y = (y + 0.5) * image.height / side - 0.5;
  const int left = static_cast<int>(std::floor(at_x)), top = static_cast<int>(std::floor(at_y));
  double sum = 0;
  for (int j = top - 1; j <= top + 2; ++j) {
    for (int i = left - 1; i <= left + 2; ++i) {
      sum += cubic(at_x - i) * cubic(at_y - j) *
             normalised(image, std::clamp(i, 0, image.width - 1), std::clamp(j, 0, image.height - 1), c);
    }
  }
  return sum;
}

TEST(ImageCrops, TheGlobalViewIsBicubicWithoutAntiAliasing) {
  constexpr int kSide = 12;
  const PixelScale scale(kMean, kDeviation);
  for (const auto& [cols, rows] : {std::pair(1, 1), std::pair(2, 1), std::pair(1, 2), std::pair(2, 2), std::pair(3, 2),
                                   std::pair(3, 5), std::pair(16, 1)}) {
    const Image image = noise_image(cols * kSide, rows * kSide);
    std::vector<float> view(3 * kSide * kSide);
    write_global_view(image, kSide, scale, view.data());
    double worst = 0;
    for (size_t c = 0; c < 3; ++c) {
      for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x) {
          const size_t at = (c * kSide + static_cast<size_t>(y)) * kSide + static_cast<size_t>(x);
          worst = std::max(worst, std::abs(static_cast<double>(view[at]) - interpolated(image, kSide, x, y, c)));
        }
      }
    }
    EXPECT_LT(worst, 1e-6) << cols << " x " << rows;
  }
}

TEST(ImageCrops, ACropIsItsPixels) {
  constexpr int kSide = 7;
  const PixelScale scale(kMean, kDeviation);
  const Image image = noise_image(30, 20);
  std::vector<float> crop(3 * kSide * kSide);
  write_crop(image, 13, 5, kSide, scale, crop.data());
  for (size_t c = 0; c < 3; ++c) {
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const size_t at = (c * kSide + static_cast<size_t>(y)) * kSide + static_cast<size_t>(x);
        ASSERT_NEAR(static_cast<double>(crop[at]), normalised(image, 13 + x, 5 + y, c), 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace omniphi

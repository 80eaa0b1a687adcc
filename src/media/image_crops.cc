#include "media/image_crops.h"

#include <algorithm>
#include <vector>

namespace omniphi {
namespace {

// The kernel of the global view along one axis. The image's side is a whole multiple n of the view's, so half-pixel
// bicubic (a = -0.75) meets only two phases: on a pixel (n odd) or in the middle of two (n even), where the weights are
// -3/32, 19/32, 19/32, -3/32.
struct ViewTaps {
  std::array<int, 4> index{};
  std::array<int, 4> weight{};  // in 1/32
  int count = 0;
};

std::vector<ViewTaps> view_taps(int length, int side) {
  const int n = length / side;
  std::vector<ViewTaps> taps(static_cast<size_t>(side));
  for (int i = 0; i < side; ++i) {
    ViewTaps& t = taps[static_cast<size_t>(i)];
    if (n % 2 == 1) {
      t = {{i * n + n / 2}, {32}, 1};
      continue;
    }
    const int middle = i * n + n / 2;  // the pixel right of the middle
    constexpr std::array<int, 4> kWeights = {-3, 19, 19, -3};
    for (int k = 0; k < 4; ++k) {
      t.index[static_cast<size_t>(k)] = std::clamp(middle - 2 + k, 0, length - 1);
      t.weight[static_cast<size_t>(k)] = kWeights[static_cast<size_t>(k)];
    }
    t.count = 4;
  }
  return taps;
}

}  // namespace

PixelScale::PixelScale(const std::array<float, 3>& mean, const std::array<float, 3>& deviation) {
  for (size_t c = 0; c < 3; ++c) {
    for (size_t u = 0; u < 256; ++u) table_[c][u] = (static_cast<float>(u) / 255.0f - mean[c]) / deviation[c];
    range_[c] = 1024.0 * 255.0 * static_cast<double>(deviation[c]);
    shift_[c] = static_cast<double>(mean[c]) / static_cast<double>(deviation[c]);
  }
}

void write_crop(const Image& image, int left, int top, int side, const PixelScale& scale, float* out) {
  const auto length = static_cast<size_t>(side), plane = length * length;
  for (int y = 0; y < side; ++y) {
    const uint8_t* pixel = image.row(top + y) + static_cast<size_t>(left) * 3;
    float* red = out + static_cast<size_t>(y) * length;
    for (size_t x = 0; x < length; ++x, pixel += 3) {
      red[x] = scale.of_level(0, pixel[0]);
      red[plane + x] = scale.of_level(1, pixel[1]);
      red[2 * plane + x] = scale.of_level(2, pixel[2]);
    }
  }
}

void write_global_view(const Image& image, int side, const PixelScale& scale, float* out) {
  const std::vector<ViewTaps> cols = view_taps(image.width, side), rows = view_taps(image.height, side);
  const bool copies = cols[0].count == 1 && rows[0].count == 1;
  const auto length = static_cast<size_t>(side), plane = length * length;
  for (size_t y = 0; y < length; ++y) {
    for (size_t x = 0; x < length; ++x) {
      for (size_t c = 0; c < 3; ++c) {
        int sum = 0;
        for (size_t j = 0; j < static_cast<size_t>(rows[y].count); ++j) {
          const uint8_t* row = image.row(rows[y].index[j]);
          int along = 0;
          for (size_t i = 0; i < static_cast<size_t>(cols[x].count); ++i) {
            along += cols[x].weight[i] * row[static_cast<size_t>(cols[x].index[i]) * 3 + c];
          }
          sum += rows[y].weight[j] * along;
        }
        out[c * plane + y * length + x] =
            copies ? scale.of_level(c, static_cast<uint8_t>(sum / 1024)) : scale.of_fraction(c, sum);
      }
    }
  }
}

}  // namespace omniphi

// From a padded 8-bit image to what an image tower takes: normalised square crops and a global view.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "media/image.h"

namespace omniphi {

// (u / 255 - mean) / deviation, channel by channel.
class PixelScale {
 public:
  PixelScale(const std::array<float, 3>& mean, const std::array<float, 3>& deviation);

  // Of a grey level, in float32 step by step as the references' tensors do it.
  float of_level(size_t channel, uint8_t level) const { return table_[channel][level]; }

  // Of what lies between grey levels, in 1/1024: rounded once.
  float of_fraction(size_t channel, int fraction) const {
    return static_cast<float>(fraction / range_[channel] - shift_[channel]);
  }

 private:
  std::array<std::array<float, 256>, 3> table_;
  std::array<double, 3> range_;  // 1024 * 255 * deviation
  std::array<double, 3> shift_;  // mean / deviation
};

// The square of `side` pixels whose first pixel is (left, top), as planes: out [3, side, side].
void write_crop(const Image& image, int left, int top, int side, const PixelScale& scale, float* out);

// The whole image, whose sides are multiples of `side`, shrunk to out [3, side, side]: bicubic with a = -0.75, four
// taps an axis however much it shrinks (no anti-aliasing), half-pixel centres and clamped edges, as
// torch.nn.functional.interpolate(mode="bicubic") does it. An image of one crop is its own view. Weights and pixels are
// integers over 1024, so that a sum is exact and rounded once, in the normalisation: within an ulp or two of the
// references, which sum normalised floats. Results may overshoot the range of pixels.
void write_global_view(const Image& image, int side, const PixelScale& scale, float* out);

}  // namespace omniphi

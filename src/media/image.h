// A decoded picture: what every image decoder makes and every image processor takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omniphi {

// 8-bit RGB, row-major, rows dense: pixel (x, y) starts at rgb[(y * width + x) * 3].
struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgb(static_cast<size_t>(w) * static_cast<size_t>(h) * 3) {}

  size_t stride() const { return static_cast<size_t>(width) * 3; }
  uint8_t* row(int y) { return rgb.data() + static_cast<size_t>(y) * stride(); }
  const uint8_t* row(int y) const { return rgb.data() + static_cast<size_t>(y) * stride(); }
};

}  // namespace omniphi

// Arithmetic on single pixels that several formats need. Internal to src/media.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace omniphi {

// round(a * b / 255) for a, b in 0..255, exactly.
inline uint8_t mul_div_255(unsigned a, unsigned b) {
  const unsigned product = a * b + 128;
  return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

// round(v * 255 / 65535): the file formats define 16-bit samples as fractions of 65535, so white stays white and the
// error is at most half a grey level. Cutting off the low byte (as Pillow does) would darken by half a level on
// average.
inline uint8_t scale_16_to_8(unsigned v) { return static_cast<uint8_t>((v * 255 + 32'895) >> 16); }

// A sample over white: round(c * a / 255 + 255 * (255 - a) / 255).
inline uint8_t over_white(unsigned c, unsigned a) { return static_cast<uint8_t>(255 - mul_div_255(255 - c, a)); }

// Pixels of red, green, blue, alpha to RGB: over white, or with the alpha dropped.
inline void rgba_to_rgb(const uint8_t* rgba, size_t pixels, bool drop_alpha, uint8_t* rgb) {
  for (size_t i = 0; i < pixels; ++i, rgba += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) rgb[c] = drop_alpha ? rgba[c] : over_white(rgba[c], rgba[3]);
  }
}

// Cyan, magenta, yellow, black (255 is full ink) to RGB without a colour profile, with Pillow's rounding.
inline void cmyk_to_rgb(const uint8_t* cmyk, uint8_t* rgb) {
  const int white = 255 - cmyk[3];
  for (int c = 0; c < 3; ++c) {
    rgb[c] = static_cast<uint8_t>(std::max(0, white - mul_div_255(cmyk[c], static_cast<unsigned>(white))));
  }
}

}  // namespace omniphi

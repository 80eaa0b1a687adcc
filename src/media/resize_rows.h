// The two inner loops of the resize, for the widest vectors of the machine. Integers only: all variants give equal
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace omniphi {

// The number of taps of a horizontal resize is a multiple of this; the rest has weight zero.
inline constexpr int kRowTapMultiple = 2;

// Horizontal weights: output x is the sum over k < taps of weight[x * taps + k] times input first[x] + k.
struct RowWeights {
  const int* first;       // [width]
  const int32_t* weight;  // [width, taps], 22 fractional bits, not negative, a row's sum about 1
  int taps;
  int width;
};

// RGB to RGBx of 4 bytes a pixel, so that a pixel is one aligned group of lanes. `out` holds width pixels (and padding
// of at least `taps` zero pixels after them, made once by the caller).
void expand_row(const uint8_t* rgb, int width, uint8_t* out);

// One row of the horizontal pass: from RGBx to RGB, rounded to 8 bits.
void resize_row(const uint8_t* rgbx, const RowWeights& weights, uint8_t* out);

// One row of the vertical pass: out[i] = sum over k < count of weight[k] * rows[k][i], rounded to 8 bits.
void blend_rows(const uint8_t* const* rows, const int32_t* weight, int count, size_t bytes, uint8_t* out);

}  // namespace omniphi

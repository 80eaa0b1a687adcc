// Pillow's 8-bit bilinear resize, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "media/image.h"

namespace omniphi {

// Which axis is resized first; its pass is rounded to 8 bits before the other one.
enum class ResizeOrder : uint8_t {
  kPillow,      // as Pillow 13 chooses
  kHorizontal,  // rows first
  kVertical,    // columns first: what a horizontal first pass gives on the transposed image
};

// Resizes `source` to `width` x `height` (both positive) into `target`, whose rows are `target_stride` bytes apart
// (at least width * 3).
//
// The filter is a triangle, widened by the scale when shrinking (anti-aliased); weights are rounded to 22 fractional
// bits; the first pass is rounded to 8 bits before the second; a pass that would not change the size is skipped. In
// Pillow's order the horizontal pass comes first, except when the height shrinks by more than twice as many pixels as
// the width: so does Pillow 13, with which the goldens are made (Pillow 12 and older always start horizontally; the two
// differ by one grey level here and there). Source: Pillow's Resample.c (ImagingResample with BILINEAR on 8-bit data).
// All integer, so every instruction set gives the same bytes.
void resize_bilinear(const Image& source, int width, int height, uint8_t* target, size_t target_stride,
                     ResizeOrder order = ResizeOrder::kPillow);

// The same into a new image.
Image resize_bilinear(const Image& source, int width, int height);

}  // namespace omniphi

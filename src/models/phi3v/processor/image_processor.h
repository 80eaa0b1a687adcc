// Phi-3-vision's image preprocessing: the HD transform, from RGB pixels to crops and token counts.
#pragma once

#include <cstdint>
#include <string>

#include "media/image.h"
#include "tensor/tensor.h"

namespace omniphi::phi3v {

inline constexpr int kCropSize = 336;          // pixels a side of a crop
inline constexpr int kCropCells = 12;          // 2x2 merged patches a side of a crop, so 144 tokens
inline constexpr int kMaxCropsLimit = 16;      // the most that the publisher advises (`num_crops`)
inline constexpr int kMaxImageTokens = 2'653;  // of any image at 16 crops (336 x 5,376)

// How an image of a size is cut, and what it costs.
struct ImageLayout {
  int grid_cols = 0, grid_rows = 0;           // local crops of 336 x 336; the global view comes on top
  int resized_width = 0, resized_height = 0;  // pixels after the resize that keeps the aspect ratio (to truncation)
  int left = 0, top = 0;                      // where the resized image stands in the padded one
  int padded_width = 0, padded_height = 0;    // 336 * grid_cols, 336 * grid_rows: the rest is white
  int crops = 0;                              // 1 + grid_cols * grid_rows
  int tokens = 0;                             // image tokens in the prompt
};

// The layout of a width x height image with at most `max_crops` local crops (the reference's `num_crops`, 1 to 16).
// Looks at no pixels. Throws Error{kInput} naming `name` when the short side would fall below one pixel, and
// Error{kUsage} when max_crops is out of range.
ImageLayout image_layout(int64_t width, int64_t height, int max_crops, const std::string& name = "image");

// One image as the vision tower takes it.
struct ImageInput {
  ImageLayout layout;
  Tensor pixel_values;  // [crops, 3, 336, 336], normalised; crop 0 is the global view, the rest go row by row
  int num_tokens() const { return layout.tokens; }
};

// Resizes, pads, normalises and cuts. Throws as image_layout does.
ImageInput process_image(const Image& image, int max_crops, const std::string& name = "image");

// Resized and padded, 8 bits a channel: what is normalised and cut.
Image resize_and_pad(const Image& image, const ImageLayout& layout);

}  // namespace omniphi::phi3v

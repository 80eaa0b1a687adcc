// Phi-3-vision's image preprocessing: the HD transform, from RGB pixels to crops and token counts.
#pragma once

#include <cstdint>
#include <string>

#include "media/image.h"
#include "models/model_input.h"

namespace omniphi::phi3v {

using omniphi::ImageInput;
using omniphi::ImageLayout;

inline constexpr int kCropSize = 336;          // pixels a side of a crop
inline constexpr int kCropCells = 12;          // 2x2 merged patches a side of a crop, so 144 tokens
inline constexpr int kMaxCropsLimit = 16;      // the most that the publisher advises (`num_crops`)
inline constexpr int kMaxImageTokens = 2'653;  // of any image at 16 crops (336 x 5,376)

// The layout of a width x height image with at most `max_crops` local crops (the reference's `num_crops`, 1 to 16).
// Looks at no pixels. Throws Error{kInput} naming `name` when the short side would fall below one pixel, and
// Error{kUsage} when max_crops is out of range.
ImageLayout image_layout(int64_t width, int64_t height, int max_crops, const std::string& name = "image");

// Resizes, pads, normalises and cuts. Throws as image_layout does.
ImageInput process_image(const Image& image, int max_crops, const std::string& name = "image");

// Resized and padded, 8 bits a channel: what is normalised and cut.
Image resize_and_pad(const Image& image, const ImageLayout& layout);

}  // namespace omniphi::phi3v

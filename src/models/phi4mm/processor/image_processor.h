// Phi-4-multimodal's image preprocessing: the HD transform, from RGB pixels to crops, masks and token counts.
#pragma once

#include <cstdint>
#include <string>

#include "media/image.h"
#include "models/model_input.h"

namespace omniphi::phi4mm {

using omniphi::ImageInput;
using omniphi::ImageLayout;

inline constexpr int kImageCropSize = 448;      // pixels a side of a crop
inline constexpr int kImagePatchSize = 14;      // pixels a side of a patch
inline constexpr int kImageCropPatches = 32;    // patches a side of a crop
inline constexpr int kImageMaxCropsLimit = 36;  // `dynamic_hd` of the released processor
inline constexpr int kImageMaxTokens = 10'065;  // of any image at 36 crops (448 x 16,128)

// The layout of a width x height image with at most `max_crops` local crops (the reference's `dynamic_hd`, 1 to 36).
// Looks at no pixels. Throws Error{kInput} naming `name` when a side would fall below the reference's ten pixels, and
// Error{kUsage} when max_crops is out of range.
ImageLayout image_layout(int64_t width, int64_t height, int max_crops, const std::string& name = "image");

// Resizes, pads, normalises to -1 to 1 (the global view may overshoot) and cuts. A patch that is partly padded counts
// as image; the global view's all do. Throws as image_layout does.
ImageInput process_image(const Image& image, int max_crops, const std::string& name = "image");

}  // namespace omniphi::phi4mm

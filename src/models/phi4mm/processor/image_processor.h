// Phi-4-multimodal's image preprocessing: the HD transform, from RGB pixels to crops, masks and token counts.
#pragma once

#include <cstdint>
#include <vector>

#include "media/image.h"
#include "tensor/tensor.h"

namespace omniphi {

inline constexpr int kImageCropSize = 448;      // pixels a side of a crop
inline constexpr int kImagePatchSize = 14;      // pixels a side of a patch
inline constexpr int kImageCropPatches = 32;    // patches a side of a crop
inline constexpr int kImageMaxCropsLimit = 36;  // `dynamic_hd` of the released processor
inline constexpr int kImageMaxTokens = 10'065;  // of any image at 36 crops (448 x 16,128)

// How an image of a size is cut, and what it costs.
struct ImageLayout {
  int grid_cols = 0, grid_rows = 0;  // local crops of 448 x 448; the global view comes on top
  int resized_width = 0,
      resized_height = 0;  // pixels after the resize that keeps the aspect ratio (to within truncation)
  int padded_width = 0, padded_height = 0;  // 448 * grid_cols, 448 * grid_rows: the rest is white, right or bottom
  int valid_cols = 0, valid_rows = 0;       // patches that hold image, in the padded image; a partly padded one counts
  int crops = 0;                            // 1 + grid_cols * grid_rows
  int tokens = 0;                           // image tokens in the prompt
};

// The layout of a width x height image with at most `max_crops` local crops (the reference's `dynamic_hd`, 1 to 36).
// Looks at no pixels. Throws Error{kInput} naming `name` when a side would fall below the reference's ten pixels, and
// Error{kUsage} when max_crops is out of range.
ImageLayout image_token_layout(int64_t width, int64_t height, int max_crops, const std::string& name = "image");

// One image as the vision tower takes it.
struct ImageInput {
  ImageLayout layout;
  Tensor pixel_values;              // [crops, 3, 448, 448], -1 to 1 (the global view may overshoot); crop 0 is global
  std::vector<uint8_t> patch_mask;  // [crops, 32, 32], 1 where a patch holds image; all ones for the global view
  int num_tokens() const { return layout.tokens; }
};

// Resizes, pads, normalises and cuts. Throws as image_token_layout does.
ImageInput process_image(const Image& image, int max_crops, const std::string& name = "image");

}  // namespace omniphi

#include "models/phi4mm/processor/image_processor.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "media/image_crops.h"
#include "media/resize.h"

namespace omniphi::phi4mm {
namespace {

constexpr int64_t kCrop = kImageCropSize;
constexpr int kMinSide = 10;  // pixels of the resized image; the reference refuses less
constexpr int64_t kMaxSide = int64_t{1} << 31;

// The grid for images that need more than `max_crops` crops: the pair whose ratio is nearest to the image's, walking in
// increasing product. On an equal distance the later pair wins if the image has more than half of its area. Pairs of
// one product never tie for the nearest (checked for every max_crops up to 36), so their order doesn't matter.
void closest_grid(int64_t width, int64_t height, int max_crops, ImageLayout* layout) {
  const double aspect = static_cast<double>(width) / static_cast<double>(height);
  const double area = static_cast<double>(width) * static_cast<double>(height);
  double best = INFINITY;
  for (int product = 1; product <= max_crops; ++product) {
    for (int cols = 1; cols <= product; ++cols) {
      if (product % cols != 0) continue;
      const int rows = product / cols;
      const double distance = std::abs(aspect - static_cast<double>(cols) / rows);
      const bool tie_won = distance == best && area > 0.5 * kCrop * kCrop * cols * rows;
      if (distance < best || tie_won) {
        best = distance;
        layout->grid_cols = cols;
        layout->grid_rows = rows;
      }
    }
  }
}

// The 8-bit image that is cut: resized into the top left, white elsewhere.
Image resize_and_pad(const Image& image, const ImageLayout& layout) {
  Image padded(layout.padded_width, layout.padded_height);
  resize_bilinear(image, layout.resized_width, layout.resized_height, padded.rgb.data(), padded.stride());
  const size_t used = static_cast<size_t>(layout.resized_width) * 3;
  for (int y = 0; y < padded.height; ++y) {
    const size_t from = y < layout.resized_height ? used : 0;
    std::fill(padded.row(y) + from, padded.row(y) + padded.stride(), uint8_t{255});
  }
  return padded;
}

std::vector<uint8_t> patch_masks(const ImageLayout& layout) {
  constexpr size_t kPatches = kImageCropPatches;
  std::vector<uint8_t> mask(static_cast<size_t>(layout.crops) * kPatches * kPatches, 1);
  for (int tile = 0; tile < layout.crops - 1; ++tile) {
    uint8_t* crop = mask.data() + static_cast<size_t>(tile + 1) * kPatches * kPatches;
    const int first_row = tile / layout.grid_cols * kImageCropPatches;
    const int first_col = tile % layout.grid_cols * kImageCropPatches;
    for (int r = 0; r < kImageCropPatches; ++r) {
      for (int c = 0; c < kImageCropPatches; ++c) {
        *crop++ = first_row + r < layout.valid_rows && first_col + c < layout.valid_cols;
      }
    }
  }
  return mask;
}

}  // namespace

ImageLayout image_layout(int64_t width, int64_t height, int max_crops, const std::string& name) {
  if (max_crops < 1 || max_crops > kImageMaxCropsLimit) {
    throw Error(ErrorKind::kUsage, "max-image-crops", std::to_string(max_crops),
                "1 to " + std::to_string(kImageMaxCropsLimit));
  }
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide) {
    throw Error(ErrorKind::kInput, name, size, "an image with at least one pixel and sides below 2^31");
  }
  ImageLayout layout;
  const int64_t cols = (width + kCrop - 1) / kCrop, rows = (height + kCrop - 1) / kCrop;
  if (cols * rows <= max_crops) {
    layout.grid_cols = static_cast<int>(cols);
    layout.grid_rows = static_cast<int>(rows);
  } else {
    closest_grid(width, height, max_crops, &layout);
  }
  layout.padded_width = kImageCropSize * layout.grid_cols;
  layout.padded_height = kImageCropSize * layout.grid_rows;

  // Doubles and truncation as in the reference: the product of a side and its own ratio must not be rounded otherwise.
  const double ratio_width = layout.padded_width / static_cast<double>(width);
  const double ratio_height = layout.padded_height / static_cast<double>(height);
  layout.resized_width = layout.padded_width;
  layout.resized_height = layout.padded_height;
  if (ratio_width < ratio_height) {
    layout.resized_height = static_cast<int>(static_cast<double>(height) * ratio_width);
  } else {
    layout.resized_width = static_cast<int>(static_cast<double>(width) * ratio_height);
  }
  if (std::min(layout.resized_width, layout.resized_height) < kMinSide) {
    throw Error(ErrorKind::kInput, name, size,
                "an aspect ratio that leaves at least " + std::to_string(kMinSide) +
                    " pixels a side after the resize to " + std::to_string(layout.resized_width) + " x " +
                    std::to_string(layout.resized_height),
                "crop the image or pad its short side");
  }
  const int pad_cols = (layout.padded_width - layout.resized_width) / kImagePatchSize;
  const int pad_rows = (layout.padded_height - layout.resized_height) / kImagePatchSize;
  layout.valid_cols = kImageCropPatches * layout.grid_cols - pad_cols;
  layout.valid_rows = kImageCropPatches * layout.grid_rows - pad_rows;
  layout.crops = 1 + layout.grid_cols * layout.grid_rows;

  // Pooling halves the patches; every row of both parts ends in a separator and one more stands between them.
  const int pooled_cols = (layout.valid_cols + 1) / 2, pooled_rows = (layout.valid_rows + 1) / 2;
  layout.tokens = pooled_rows * (pooled_cols + 1) + 1 + 16 * 17;
  return layout;
}

ImageInput process_image(const Image& image, int max_crops, const std::string& name) {
  ImageInput input;
  input.layout = image_layout(image.width, image.height, max_crops, name);
  const Image padded = resize_and_pad(image, input.layout);
  const PixelScale scale({0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f});

  input.pixel_values = Tensor(Shape{input.layout.crops, 3, kCrop, kCrop});
  constexpr size_t kCropFloats = 3 * kImageCropSize * kImageCropSize;
  write_global_view(padded, kImageCropSize, scale, input.pixel_values.data.data());
  for (int tile = 0; tile < input.layout.crops - 1; ++tile) {
    float* out = input.pixel_values.data.data() + static_cast<size_t>(tile + 1) * kCropFloats;
    write_crop(padded, tile % input.layout.grid_cols * kImageCropSize, tile / input.layout.grid_cols * kImageCropSize,
               kImageCropSize, scale, out);
  }
  input.patch_mask = patch_masks(input.layout);
  return input;
}

}  // namespace omniphi::phi4mm

#include "models/phi3v/processor/image_processor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "media/image_crops.h"
#include "media/resize.h"

namespace omniphi::phi3v {
namespace {

constexpr int kPatchSize = 14;
constexpr int64_t kMaxSide = int64_t{1} << 31;

// CLIP's own statistics.
const PixelScale& pixel_scale() {
  static const PixelScale kScale({0.48145466f, 0.4578275f, 0.40821073f}, {0.26862954f, 0.26130258f, 0.27577711f});
  return kScale;
}

// Crops along the long side: as many as fit with those that the short side then takes. Doubles as in the reference.
int crops_along(double ratio, int max_crops) {
  int along = 1;
  while ((along + 1) * std::ceil((along + 1) / ratio) <= max_crops) ++along;
  return along;
}

}  // namespace

ImageLayout image_layout(int64_t width, int64_t height, int max_crops, const std::string& name) {
  if (max_crops < 1 || max_crops > kMaxCropsLimit) {
    throw Error(ErrorKind::kUsage, "max-image-crops", std::to_string(max_crops),
                "1 to " + std::to_string(kMaxCropsLimit));
  }
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide) {
    throw Error(ErrorKind::kInput, name, size, "an image with at least one pixel and sides below 2^31");
  }
  // A tall image is treated as its mirror at the diagonal: everything happens along the long side.
  const bool tall = width < height;
  const double ratio = static_cast<double>(std::max(width, height)) / static_cast<double>(std::min(width, height));
  const int along = crops_along(ratio, max_crops);
  const int long_side = kCropSize * along;
  const int short_side = static_cast<int>(long_side / ratio);
  if (short_side == 0) {
    throw Error(ErrorKind::kInput, name, size,
                "an aspect ratio of at most " + std::to_string(long_side) + " to 1 at " + std::to_string(max_crops) +
                    (max_crops == 1 ? " crop" : " crops"),
                "crop the image or pad its short side");
  }
  const int across = (short_side + kCropSize - 1) / kCropSize;
  const int before = (kCropSize * across - short_side) / 2;  // an odd pixel of white stands behind the image

  ImageLayout layout;
  layout.grid_cols = tall ? across : along;
  layout.grid_rows = tall ? along : across;
  layout.resized_width = tall ? short_side : long_side;
  layout.resized_height = tall ? long_side : short_side;
  layout.left = tall ? before : 0;
  layout.top = tall ? 0 : before;
  layout.padded_width = kCropSize * layout.grid_cols;
  layout.padded_height = kCropSize * layout.grid_rows;
  layout.valid_cols = layout.padded_width / kPatchSize;  // white is looked at too
  layout.valid_rows = layout.padded_height / kPatchSize;
  layout.crops = 1 + layout.grid_cols * layout.grid_rows;
  // Every row of both parts ends in a separator, and one more stands between them.
  const int rows = kCropCells * layout.grid_rows, cols = kCropCells * layout.grid_cols;
  layout.tokens = rows * (cols + 1) + 1 + kCropCells * (kCropCells + 1);
  return layout;
}

Image resize_and_pad(const Image& image, const ImageLayout& layout) {
  Image padded(layout.padded_width, layout.padded_height);
  std::fill(padded.rgb.begin(), padded.rgb.end(), uint8_t{255});
  const ResizeOrder order = image.width < image.height ? ResizeOrder::kVertical : ResizeOrder::kHorizontal;
  uint8_t* first = padded.row(layout.top) + static_cast<size_t>(layout.left) * 3;
  resize_bilinear(image, layout.resized_width, layout.resized_height, first, padded.stride(), order);
  return padded;
}

ImageInput process_image(const Image& image, int max_crops, const std::string& name) {
  ImageInput input;
  input.layout = image_layout(image.width, image.height, max_crops, name);
  const Image padded = resize_and_pad(image, input.layout);
  input.pixel_values = Tensor(Shape{input.layout.crops, 3, kCropSize, kCropSize});
  constexpr size_t kCropFloats = size_t{3} * kCropSize * kCropSize;
  float* out = input.pixel_values.data.data();
  write_global_view(padded, kCropSize, pixel_scale(), out);
  for (int row = 0; row < input.layout.grid_rows; ++row) {
    for (int col = 0; col < input.layout.grid_cols; ++col) {
      out += kCropFloats;
      write_crop(padded, col * kCropSize, row * kCropSize, kCropSize, pixel_scale(), out);
    }
  }
  return input;
}

}  // namespace omniphi::phi3v

#include "models/phi3v/image_embed.h"

#include <algorithm>

#include "base/error.h"

namespace omniphi::phi3v {

// A cell holds its four patches one behind the other: top left, top right, bottom left, bottom right.
float* ImageEmbed::write_rows(const float* features, int grid_rows, int grid_cols, const float* separator,
                              float* out) const {
  const int64_t width = clip.width, side = clip.grid(), cells = side / 2;
  for (int64_t row = 0; row < cells * grid_rows; ++row) {
    for (int64_t col = 0; col < cells * grid_cols; ++col) {
      const float* crop = features + (row / cells * grid_cols + col / cells) * clip.patches() * width;
      const float* top = crop + (row % cells * 2 * side + col % cells * 2) * width;
      out = std::copy_n(top, 2 * width, out);  // neighbours in a row of patches
      out = std::copy_n(top + side * width, 2 * width, out);
    }
    out = std::copy_n(separator, 4 * width, out);
  }
  return out;
}

Tensor ImageEmbed::encode(const KernelContext& ctx, const ImageInput& image, Trace* trace) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t width = clip.width, merged_width = 4 * width;
  const int64_t crops = image.layout.crops, tokens = image.num_tokens();
  const int64_t crop_floats = image.pixel_values.shape.count() / crops;
  const int64_t crop_features = clip.patches() * width;
  float* features = ctx.workspace->take<float>(static_cast<size_t>(crops * crop_features));  // [crops, 576, width]
  float* merged = ctx.workspace->take<float>(static_cast<size_t>(tokens * merged_width));    // [tokens, 4 * width]
  for (int64_t crop = 0; crop < crops; ++crop) {
    clip.forward(ctx, image.pixel_values.data.data() + crop * crop_floats, features + crop * crop_features, trace);
  }
  if (trace != nullptr) trace->stage("vision.features", features, Shape{crops, clip.patches(), width});

  const float* separator = widen_row(ctx, sub_gn, merged_width);
  float* out = write_rows(features + crop_features, image.layout.grid_rows, image.layout.grid_cols, separator, merged);
  out = std::copy_n(widen_row(ctx, glb_gn, merged_width), merged_width, out);
  out = write_rows(features, 1, 1, separator, out);
  if (out != merged + tokens * merged_width) internal_error("image embedding", "the tokens don't fill their rows");
  if (trace != nullptr) trace->stage("vision.merged", merged, Shape{tokens, merged_width});

  Tensor rows(Shape{tokens, projection.down.out});
  projection.forward(ctx, merged, tokens, rows.data.data());
  if (trace != nullptr) trace->stage("vision.projected", rows.data.data(), rows.shape);
  return rows;
}

}  // namespace omniphi::phi3v

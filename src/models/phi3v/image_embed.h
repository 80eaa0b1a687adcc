// From an image's crops to its rows for the decoder: tower, 2x2 merge, separators, projector.
#pragma once

#include <cstdint>

#include "layers/mlp_projector.h"
#include "models/clip/clip.h"
#include "models/phi3v/processor/image_processor.h"
#include "models/trace.h"
#include "tensor/tensor.h"

namespace omniphi::phi3v {

struct ImageEmbed {
  Clip clip;
  WeightRef sub_gn;         // [4 * width]: ends every row of both parts
  WeightRef glb_gn;         // [4 * width]: between the crops and the global view
  MlpProjector projection;  // 4 * width -> hidden

  // One image's rows for the decoder: [num_tokens, hidden]. The crops are one big grid whose rows run across crop
  // borders, each with a separator behind it; then glb_gn; then the global view's rows in the same way. Separators pass
  // through the projector like everything else.
  Tensor encode(const KernelContext& ctx, const ImageInput& image, Trace* trace = nullptr) const;

 private:
  // merged [rows * cols cells...]: writes rows of 12 cells a crop and a separator, from features [crops, 576, width].
  float* write_rows(const float* features, int grid_rows, int grid_cols, const float* separator, float* out) const;
};

}  // namespace omniphi::phi3v

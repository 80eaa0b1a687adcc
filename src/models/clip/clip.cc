#include "models/clip/clip.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "layers/elementwise.h"

namespace omniphi {

void Clip::forward(const KernelContext& ctx, const float* pixel_values, float* features, Trace* trace) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t rows = 1 + patches();
  float* hidden_states = ctx.workspace->take<float>(static_cast<size_t>(rows * width));  // [1 + patches, width]
  const auto record = [&](const std::string& name) {
    if (trace != nullptr) trace->stage(name, hidden_states, Shape{1, rows, width});
  };
  embed(ctx, pixel_values, hidden_states);
  record("vision.embeddings");
  pre_layernorm.forward(ctx, hidden_states, rows, hidden_states);
  record("vision.pre_layernorm");
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].forward(ctx, heads, Activation::kGeluQuick, nullptr, rows, hidden_states);
    record("vision.layer" + std::to_string(i));
  }
  std::copy_n(hidden_states + width, patches() * width, features);
}

void Clip::embed(const KernelContext& ctx, const float* pixel_values, float* hidden_states) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t rows = 1 + patches();
  const int64_t patch_pixels = int64_t{3} * patch_size * patch_size;
  float* pixels = ctx.workspace->take<float>(static_cast<size_t>(patches() * patch_pixels));  // [patches, 3*p*p]
  float* position = ctx.workspace->take<float>(static_cast<size_t>(rows * width));            // [1 + patches, width]
  int32_t* positions = ctx.workspace->take<int32_t>(static_cast<size_t>(rows));
  std::copy_n(widen_row(ctx, class_embedding, width), width, hidden_states);
  gather_patches(pixel_values, image_size, patch_size, pixels);
  patch_embedding.forward(ctx, pixels, patches(), hidden_states + width);

  std::iota(positions, positions + rows, 0);
  EmbedArgs lookup;
  lookup.table = position_embedding;
  lookup.ids = positions;
  lookup.y = position;
  lookup.ldy = width;
  lookup.m = rows;
  lookup.n = width;
  ctx.kernels->embed(ctx, lookup);
  add_scaled(ctx, position, rows, width, hidden_states);
}

}  // namespace omniphi

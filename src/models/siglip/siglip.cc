#include "models/siglip/siglip.h"

#include "layers/elementwise.h"

namespace omniphi {
namespace {

// Valid rows or columns of a mask that is 1 in a top-left rectangle: the ones in its first column or row.
int count_valid(const uint8_t* mask, int count, int stride) {
  int valid = 0;
  for (int i = 0; i < count; ++i) valid += mask[i * stride] != 0;
  return valid;
}

// The position of each patch: a valid rectangle of rows x cols patches is spread over the whole grid, patches outside
// of it have position 0.
void spread_positions(const uint8_t* patch_mask, int grid, int32_t* positions) {
  const int rows = count_valid(patch_mask, grid, grid);
  const int cols = count_valid(patch_mask, grid, 1);
  for (int r = 0; r < grid; ++r) {
    for (int c = 0; c < grid; ++c) {
      const bool valid = r < rows && c < cols;
      positions[r * grid + c] = valid ? grid * r / rows * grid + grid * c / cols : 0;
    }
  }
}

}  // namespace

void Siglip::forward(const KernelContext& ctx, const float* pixel_values, const uint8_t* patch_mask, float* pooled,
                     Trace* trace) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t patches = int64_t{grid()} * grid();
  float* hidden_states = ctx.workspace->take<float>(static_cast<size_t>(patches * width));  // [patches, width]
  const auto record = [&](const std::string& name) {
    if (trace != nullptr) trace->stage(name, hidden_states, Shape{1, patches, width});
  };
  embed(ctx, pixel_values, patch_mask, hidden_states);
  record("vision.embeddings");
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].forward(ctx, heads, Activation::kGeluTanh, patch_mask, patches, hidden_states);
    record("vision.layer" + std::to_string(i));
  }
  pool(ctx, hidden_states, pooled);
  if (trace != nullptr) trace->stage("vision.pooled", pooled, Shape{1, pooled_tokens(), width});
}

void Siglip::embed(const KernelContext& ctx, const float* pixel_values, const uint8_t* patch_mask,
                   float* hidden_states) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int side = grid();
  const int64_t patches = int64_t{side} * side;
  const int64_t patch_pixels = int64_t{3} * patch_size * patch_size;
  float* pixels = ctx.workspace->take<float>(static_cast<size_t>(patches * patch_pixels));  // [patches, 3*p*p]
  float* position = ctx.workspace->take<float>(static_cast<size_t>(patches * width));       // [patches, width]
  int32_t* positions = ctx.workspace->take<int32_t>(static_cast<size_t>(patches));
  gather_patches(pixel_values, image_size, patch_size, pixels);
  patch_embedding.forward(ctx, pixels, patches, hidden_states);

  spread_positions(patch_mask, side, positions);
  EmbedArgs lookup;
  lookup.table = position_embedding;
  lookup.ids = positions;
  lookup.y = position;
  lookup.ldy = width;
  lookup.m = patches;
  lookup.n = width;
  ctx.kernels->embed(ctx, lookup);
  add_scaled(ctx, position, patches, width, hidden_states);
}

// x += out_proj(attention(layer_norm1(x))); x += fc2(gelu_tanh(fc1(layer_norm2(x))))
void Siglip::pool(const KernelContext& ctx, const float* hidden_states, float* pooled) const {
  const int side = grid();
  const int half = side / 2;
  ctx.pool->parallel_for(int64_t{half} * half, [&](int64_t cell, int) {
    const int64_t top = cell / half * 2, left = cell % half * 2;
    const float* a = hidden_states + (top * side + left) * width;
    const float* b = a + width;
    const float* c = a + int64_t{side} * width;
    const float* d = c + width;
    float* out = pooled + cell * width;
    for (int i = 0; i < width; ++i) out[i] = (a[i] + b[i] + c[i] + d[i]) * 0.25f;
  });
}

}  // namespace omniphi

#include "models/siglip/siglip.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "layers/dense_attention.h"
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
    block_forward(ctx, blocks[i], patch_mask, hidden_states);
    record("vision.layer" + std::to_string(i));
  }
  pool(ctx, hidden_states, pooled);
  if (trace != nullptr) trace->stage("vision.pooled", pooled, Shape{1, pooled_tokens(), width});
}

// A patch's embedding is a product with its pixels (channel, row, column), since the convolution's stride is its size.
void Siglip::embed(const KernelContext& ctx, const float* pixel_values, const uint8_t* patch_mask,
                   float* hidden_states) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int side = grid();
  const int64_t patches = int64_t{side} * side;
  const int64_t patch_pixels = int64_t{3} * patch_size * patch_size;
  float* pixels = ctx.workspace->take<float>(static_cast<size_t>(patches * patch_pixels));  // [patches, 3*p*p]
  float* position = ctx.workspace->take<float>(static_cast<size_t>(patches * width));       // [patches, width]
  int32_t* positions = ctx.workspace->take<int32_t>(static_cast<size_t>(patches));
  for (int64_t p = 0; p < patches; ++p) {
    const int64_t top = p / side * patch_size, left = p % side * patch_size;
    float* to = pixels + p * patch_pixels;
    for (int64_t channel = 0; channel < 3; ++channel) {
      for (int64_t y = 0; y < patch_size; ++y, to += patch_size) {
        const float* from = pixel_values + (channel * image_size + top + y) * image_size + left;
        std::memcpy(to, from, sizeof(float) * static_cast<size_t>(patch_size));
      }
    }
  }
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
void Siglip::block_forward(const KernelContext& ctx, const SiglipBlock& block, const uint8_t* patch_mask,
                           float* hidden_states) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t m = int64_t{grid()} * grid();
  const auto take = [&](int64_t columns) { return ctx.workspace->take<float>(static_cast<size_t>(m * columns)); };
  float* normed = take(width);  // [patches, width]
  float* output = take(width);  // [patches, width]

  block.layer_norm1.forward(ctx, hidden_states, m, normed);
  {
    const Workspace::Mark attention_mark(*ctx.workspace);
    float* q = take(width);  // [patches, heads, head_dim]
    float* k = take(width);
    float* v = take(width);
    block.q_proj.forward(ctx, normed, m, q);
    block.k_proj.forward(ctx, normed, m, k);
    block.v_proj.forward(ctx, normed, m, v);
    DenseAttention attention;
    attention.heads = heads;
    attention.head_dim = width / heads;
    attention.scale = 1.0f / std::sqrt(static_cast<float>(attention.head_dim));
    DenseAttention::Mask mask;
    mask.key_mask = patch_mask;
    attention.forward(ctx, q, k, v, m, mask, normed);
  }
  block.out_proj.forward(ctx, normed, m, output);
  add_scaled(ctx, output, m, width, hidden_states);

  block.layer_norm2.forward(ctx, hidden_states, m, normed);
  float* inner = take(block.fc1.out);  // [patches, mlp]
  block.fc1.forward(ctx, normed, m, inner);
  activate(ctx, Activation::kGeluTanh, inner, m, block.fc1.out);
  block.fc2.forward(ctx, inner, m, output);
  add_scaled(ctx, output, m, width, hidden_states);
}

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

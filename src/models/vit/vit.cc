#include "models/vit/vit.h"

#include <cmath>
#include <cstring>

#include "layers/dense_attention.h"
#include "layers/elementwise.h"

namespace omniphi {

void VitBlock::forward(const KernelContext& ctx, int heads, Activation activation, const uint8_t* key_mask, int64_t m,
                       float* hidden_states) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t width = layer_norm1.size;
  const auto take = [&](int64_t columns) { return ctx.workspace->take<float>(static_cast<size_t>(m * columns)); };
  float* normed = take(width);  // [m, width]
  float* output = take(width);  // [m, width]

  layer_norm1.forward(ctx, hidden_states, m, normed);
  {
    const Workspace::Mark attention_mark(*ctx.workspace);
    float* q = take(width);  // [m, heads, head_dim]
    float* k = take(width);
    float* v = take(width);
    q_proj.forward(ctx, normed, m, q);
    k_proj.forward(ctx, normed, m, k);
    v_proj.forward(ctx, normed, m, v);
    DenseAttention attention;
    attention.heads = heads;
    attention.head_dim = static_cast<int>(width / heads);
    attention.scale = 1.0f / std::sqrt(static_cast<float>(attention.head_dim));
    DenseAttention::Mask mask;
    mask.key_mask = key_mask;
    attention.forward(ctx, q, k, v, m, mask, normed);
  }
  out_proj.forward(ctx, normed, m, output);
  add_scaled(ctx, output, m, width, hidden_states);

  layer_norm2.forward(ctx, hidden_states, m, normed);
  float* inner = take(fc1.out);  // [m, mlp]
  fc1.forward(ctx, normed, m, inner);
  activate(ctx, activation, inner, m, fc1.out);
  fc2.forward(ctx, inner, m, output);
  add_scaled(ctx, output, m, width, hidden_states);
}

void gather_patches(const float* image, int side, int patch, float* patches) {
  const int64_t grid = side / patch;
  float* to = patches;
  for (int64_t p = 0; p < grid * grid; ++p) {
    const int64_t top = p / grid * patch, left = p % grid * patch;
    for (int64_t channel = 0; channel < 3; ++channel) {
      for (int64_t y = 0; y < patch; ++y, to += patch) {
        const float* from = image + (channel * side + top + y) * side + left;
        std::memcpy(to, from, sizeof(float) * static_cast<size_t>(patch));
      }
    }
  }
}

}  // namespace omniphi

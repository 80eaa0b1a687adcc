#include "models/conformer/conformer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "layers/dense_attention.h"
#include "layers/elementwise.h"

namespace omniphi {

void Conformer::forward(const KernelContext& ctx, const float* features, int64_t frames, float* output,
                        Trace* trace) const {
  const Workspace::Mark mark(*ctx.workspace);
  float* normalized = ctx.workspace->take<float>(static_cast<size_t>(frames * mel));  // [frames, mel]
  const float* mean = widen_row(ctx, global_mean, mel);
  const float* invstd = widen_row(ctx, global_invstd, mel);
  for (int64_t t = 0; t < frames; ++t) {
    for (int i = 0; i < mel; ++i) normalized[t * mel + i] = (features[t * mel + i] - mean[i]) * invstd[i];
  }
  if (trace != nullptr) trace->stage("audio.normalized", normalized, Shape{1, frames, mel});

  const int64_t rows = output_rows(frames);
  subsample(ctx, normalized, frames, output);
  if (trace != nullptr) trace->stage("audio.subsampled", output, Shape{1, rows, width});

  int64_t row = 0;
  for (; row + kWindow <= rows; row += kWindow) run_window(ctx, kWindow, output + row * width, trace);
  if (row == rows) return;
  if (rows <= kWindow) {
    run_window(ctx, rows, output, trace);
    return;
  }
  // The last window of a long audio is filled up with zero rows.
  const int64_t rest = rows - row;
  float* window = ctx.workspace->take<float>(static_cast<size_t>(kWindow * width));  // [500, width]
  std::memset(window, 0, sizeof(float) * static_cast<size_t>(kWindow * width));
  std::memcpy(window, output + row * width, sizeof(float) * static_cast<size_t>(rest * width));
  run_window(ctx, kWindow, window, trace);
  std::memcpy(output + row * width, window, sizeof(float) * static_cast<size_t>(rest * width));
}

void Conformer::run_window(const KernelContext& ctx, int64_t m, float* x, Trace* trace) const {
  for (size_t i = 0; i < blocks.size(); ++i) {
    block_forward(ctx, blocks[i], m, x);
    if (trace != nullptr) trace->stage("audio.block" + std::to_string(i), x, Shape{1, m, width});
  }
}

// x += FF_in(x) / 2; x += attention(x); x += conv(x); x += FF_out(x) / 2; x = layer_norm(x)
void Conformer::block_forward(const KernelContext& ctx, const ConformerBlock& block, int64_t m, float* x) const {
  feed_forward(ctx, block.feed_forward_in, m, x);
  attention(ctx, block, m, x);
  convolution(ctx, block.conv, m, x);
  feed_forward(ctx, block.feed_forward_out, m, x);
  block.layer_norm.forward(ctx, x, m, x);
}

void Conformer::feed_forward(const KernelContext& ctx, const ConformerFeedForward& ff, int64_t m, float* x) const {
  const Workspace::Mark mark(*ctx.workspace);
  const auto take = [&](int64_t columns) { return ctx.workspace->take<float>(static_cast<size_t>(m * columns)); };
  float* normed = take(width);      // [m, width]
  float* inner = take(ff.up.out);   // [m, 2 * linear_units]
  float* gated = take(ff.down.in);  // [m, linear_units]
  ff.layer_norm.forward(ctx, x, m, normed);
  ff.up.forward(ctx, normed, m, inner);
  swish_glu(ctx, inner, m, ff.down.in, gated);
  ff.down.forward(ctx, gated, m, normed);
  add_scaled(ctx, normed, m, width, x, 0.5f);
}

void Conformer::attention(const KernelContext& ctx, const ConformerBlock& block, int64_t m, float* x) const {
  const Workspace::Mark mark(*ctx.workspace);
  const auto take = [&] { return ctx.workspace->take<float>(static_cast<size_t>(m * width)); };
  float* normed = take();  // [m, width]
  float* q = take();       // [m, heads, head_dim]
  float* k = take();
  float* v = take();
  block.layer_norm_att.forward(ctx, x, m, normed);
  block.linear_q.forward(ctx, normed, m, q);
  block.linear_k.forward(ctx, normed, m, k);
  block.linear_v.forward(ctx, normed, m, v);

  DenseAttention attend;
  attend.heads = heads;
  attend.head_dim = width / heads;
  attend.scale = 1.0f / std::sqrt(static_cast<float>(attend.head_dim));
  attend.relative_bias = relative_bias.data();
  attend.bias_reach = bias_reach;
  DenseAttention::Mask mask;
  if (chunk_size > 0) {  // a query's chunk sees itself and left_chunk chunks before it, each whole
    int32_t* begin = ctx.workspace->take<int32_t>(static_cast<size_t>(m));
    int32_t* end = ctx.workspace->take<int32_t>(static_cast<size_t>(m));
    for (int64_t i = 0; i < m; ++i) {
      const int64_t chunk = i / chunk_size;
      begin[i] = static_cast<int32_t>(std::max<int64_t>(0, chunk - left_chunk) * chunk_size);
      end[i] = static_cast<int32_t>(std::min(m, (chunk + 1) * chunk_size));
    }
    mask.range_begin = begin;
    mask.range_end = end;
  }
  attend.forward(ctx, q, k, v, m, mask, normed);
  block.linear_out.forward(ctx, normed, m, q);
  add_scaled(ctx, q, m, width, x);
}

void Conformer::convolution(const KernelContext& ctx, const ConformerConvolution& conv, int64_t m, float* x) const {
  const Workspace::Mark mark(*ctx.workspace);
  const auto take = [&](int64_t columns) { return ctx.workspace->take<float>(static_cast<size_t>(m * columns)); };
  float* a = take(width);         // [m, width]
  float* b = take(width);         // [m, width]
  float* both = take(2 * width);  // [m, 2 * width]
  conv.layer_norm.forward(ctx, x, m, a);
  conv.glu.forward(ctx, a, m, both);
  swish_glu(ctx, both, m, width, a, conv.glu_b1, conv.glu_b2);

  CausalConvArgs depthwise;
  depthwise.x = a;
  depthwise.y = b;
  depthwise.m = m;
  depthwise.n = width;
  depthwise.kernel = kernel_size;
  depthwise.weight = conv.dw_conv;
  depthwise.bias = conv.dw_conv_bias;
  ctx.kernels->causal_conv(ctx, depthwise);

  conv.pw_conv.forward(ctx, b, m, a);
  activate(ctx, Activation::kSwish, a, m, width);
  conv.ext_pw_conv.forward(ctx, a, m, b);
  add_scaled(ctx, b, m, width, x);
}

}  // namespace omniphi

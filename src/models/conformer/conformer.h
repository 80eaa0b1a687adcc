// The audio encoder: a Conformer (Gulati et al., 2020) behind three strided convolutions, with T5's relative bias.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/linear.h"
#include "layers/norm.h"
#include "models/trace.h"
#include "tensor/tensor.h"

namespace omniphi {

struct ConformerFeedForward {
  LayerNorm layer_norm;
  Linear up;    // net.0.linear [2 * linear_units, width]: value, gate
  Linear down;  // net.2 [width, linear_units]
};

struct ConformerConvolution {
  LayerNorm layer_norm;
  Linear glu;                       // glu.ext_pw_conv_1d [2 * width, width]: value, gate
  WeightRef glu_b1, glu_b2;         // [width]: added to value and gate
  WeightRef dw_conv, dw_conv_bias;  // dw_sep_conv_1d.dw_conv [width, kernel], [width]
  Linear pw_conv;                   // dw_sep_conv_1d.pw_conv [width, width]
  Linear ext_pw_conv;               // ext_pw_conv_1d [width, width]
};

struct ConformerBlock {
  ConformerFeedForward feed_forward_in, feed_forward_out;
  LayerNorm layer_norm_att;
  Linear linear_q, linear_k, linear_v, linear_out;  // [width, width]
  ConformerConvolution conv;
  LayerNorm layer_norm;
};

// encoder.embed: time and frequency shrink eight times.
struct ConformerSubsampling {
  WeightRef conv0, conv0_bias;  // [channels, 1, 3, 3]
  WeightRef conv2, conv2_bias;  // depthwise
  Linear conv3;                 // 1x1
  WeightRef conv5, conv5_bias;  // depthwise
  Linear conv6;                 // 1x1
  Linear out;                   // [width, channels * mel / 8]
  int channels = 0;
};

class Conformer {
 public:
  int width = 0, heads = 0, kernel_size = 3, mel = 80;
  int chunk_size = -1, left_chunk = 18;
  WeightRef global_mean, global_invstd;  // [mel]
  ConformerSubsampling subsampling;
  std::vector<float> relative_bias;  // [heads, 2 * reach]
  int bias_reach = 0;
  std::vector<ConformerBlock> blocks;

  // Longer audio runs through the blocks in windows of so many rows, each a sequence of its own.
  static constexpr int64_t kWindow = 500;

  static int64_t output_rows(int64_t frames) { return (frames + 7) / 8; }

  // features [frames, mel]; output [output_rows(frames), width]. One audio, unpadded and unmasked; the zero rows that
  // fill up the last window of a long one take part in its attention, as in the reference.
  void forward(const KernelContext& ctx, const float* features, int64_t frames, float* output,
               Trace* trace = nullptr) const;

 private:
  void subsample(const KernelContext& ctx, const float* normalized, int64_t frames, float* output) const;
  void subsample_rows(const KernelContext& ctx, const float* normalized, int64_t frames, int64_t skip, int64_t rows,
                      float* output) const;
  void run_window(const KernelContext& ctx, int64_t m, float* x, Trace* trace) const;
  void block_forward(const KernelContext& ctx, const ConformerBlock& block, int64_t m, float* x) const;
  void feed_forward(const KernelContext& ctx, const ConformerFeedForward& ff, int64_t m, float* x) const;
  void attention(const KernelContext& ctx, const ConformerBlock& block, int64_t m, float* x) const;
  void convolution(const KernelContext& ctx, const ConformerConvolution& conv, int64_t m, float* x) const;
};

}  // namespace omniphi

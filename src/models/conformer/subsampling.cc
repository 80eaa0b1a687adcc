// encoder.embed: three 3x3 convolutions with stride 2, the latter two depthwise with a 1x1 behind, and a projection.
#include <algorithm>

#include "layers/elementwise.h"
#include "models/conformer/conformer.h"

namespace omniphi {
namespace {

struct Plane {
  float* data = nullptr;  // [rows, columns, channels]
  int64_t rows = 0, columns = 0;
};

Plane convolve(const KernelContext& ctx, const Plane& x, int c_in, int c_out, WeightRef weight, WeightRef bias) {
  Plane y;
  y.rows = (x.rows + 1) / 2;
  y.columns = (x.columns + 1) / 2;
  y.data = ctx.workspace->take<float>(static_cast<size_t>(y.rows * y.columns * c_out));
  Conv3x3Args args;
  args.x = x.data;
  args.y = y.data;
  args.h = x.rows;
  args.w = x.columns;
  args.c_in = c_in;
  args.c_out = c_out;
  args.weight = weight;
  args.bias = bias;
  ctx.kernels->conv3x3_stride2(ctx, args);
  return y;
}

Plane pointwise_relu(const KernelContext& ctx, const Plane& x, const Linear& conv) {
  Plane y = x;
  y.data = ctx.workspace->take<float>(static_cast<size_t>(x.rows * x.columns * conv.out));
  conv.forward(ctx, x.data, x.rows * x.columns, y.data);
  activate(ctx, Activation::kRelu, y.data, y.rows * y.columns, conv.out);
  return y;
}

}  // namespace

// The planes between the convolutions are large (160 KB a frame at 1,024 channels), so they are made for a stretch of
// output rows at a time. An output row reaches 7 frames back and 7 ahead; a stretch starts 8 frames early, and its
// first row, which the edge's zeros have touched, is dropped. It ends on a multiple of 8 frames (or at the end), where
// no row reaches past it.
void Conformer::subsample(const KernelContext& ctx, const float* normalized, int64_t frames, float* output) const {
  constexpr int64_t kStretch = 64;
  const int64_t rows = output_rows(frames);
  for (int64_t row = 0; row < rows; row += kStretch) {
    const int64_t count = std::min(kStretch, rows - row);
    const int64_t skip = row == 0 ? 0 : 1;
    const int64_t begin = (row - skip) * 8;
    const int64_t end = std::min(frames, (row + count) * 8);
    subsample_rows(ctx, normalized + begin * mel, end - begin, skip, count, output + row * width);
  }
}

// normalized [frames, mel]; output [rows, width]: the rows from `skip` on.
void Conformer::subsample_rows(const KernelContext& ctx, const float* normalized, int64_t frames, int64_t skip,
                               int64_t rows, float* output) const {
  const Workspace::Mark mark(*ctx.workspace);
  const ConformerSubsampling& s = subsampling;
  const int c = s.channels;
  Plane x{const_cast<float*>(normalized), frames, mel};
  x = convolve(ctx, x, 1, c, s.conv0, s.conv0_bias);
  activate(ctx, Activation::kRelu, x.data, x.rows * x.columns, c);
  x = convolve(ctx, x, c, c, s.conv2, s.conv2_bias);
  x = pointwise_relu(ctx, x, s.conv3);
  x = convolve(ctx, x, c, c, s.conv5, s.conv5_bias);
  x = pointwise_relu(ctx, x, s.conv6);

  // embed.out reads a row channel by channel.
  float* flat = ctx.workspace->take<float>(static_cast<size_t>(rows * x.columns * c));  // [rows, channels, mel / 8]
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t f = 0; f < x.columns; ++f) {
      const float* from = x.data + ((skip + r) * x.columns + f) * c;
      for (int64_t channel = 0; channel < c; ++channel) flat[(r * c + channel) * x.columns + f] = from[channel];
    }
  }
  s.out.forward(ctx, flat, rows, output);
}

}  // namespace omniphi

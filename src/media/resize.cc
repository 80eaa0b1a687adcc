#include "media/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "media/resize_rows.h"

namespace omniphi {
namespace {

constexpr int kWeightBits = 22;

// Weights of every output position along one axis. All positions have `taps` weights; those beyond a position's own
// count are zero, and first + taps may reach past the end of the input, where the row buffers are padded.
struct Axis {
  int taps = 0;
  std::vector<int> first;       // [out] first input position
  std::vector<int> count;       // [out] input positions that take part
  std::vector<int32_t> weight;  // [out, taps], 22 fractional bits
};

// `in` to `out` positions with the triangle filter. The order of the double operations is Pillow's: a different
// rounding of a single weight would show.
Axis make_axis(int in, int out, int tap_multiple) {
  const double scale = static_cast<double>(in) / out;
  const double filter_scale = std::max(scale, 1.0);
  const double inverse = 1.0 / filter_scale;
  const int most = static_cast<int>(std::ceil(filter_scale)) * 2 + 1;
  Axis axis;
  axis.taps = (most + tap_multiple - 1) / tap_multiple * tap_multiple;
  axis.first.resize(static_cast<size_t>(out));
  axis.count.resize(static_cast<size_t>(out));
  axis.weight.assign(static_cast<size_t>(out) * static_cast<size_t>(axis.taps), 0);
  std::vector<double> exact(static_cast<size_t>(most));
  for (int o = 0; o < out; ++o) {
    const double centre = (o + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(centre - filter_scale + 0.5));
    const int end = std::min(in, static_cast<int>(centre + filter_scale + 0.5));
    double total = 0;
    for (int x = begin; x < end; ++x) {
      const double distance = std::abs((x - centre + 0.5) * inverse);
      const double w = distance < 1.0 ? 1.0 - distance : 0.0;
      exact[static_cast<size_t>(x - begin)] = w;
      total += w;
    }
    const auto at = static_cast<size_t>(o);
    axis.first[at] = begin;
    axis.count[at] = end - begin;
    for (int x = 0; x < end - begin; ++x) {
      double w = exact[static_cast<size_t>(x)];
      if (total != 0.0) w /= total;
      axis.weight[at * static_cast<size_t>(axis.taps) + static_cast<size_t>(x)] =
          static_cast<int32_t>(0.5 + w * (1 << kWeightBits));
    }
  }
  return axis;
}

// Gives rows of the horizontally resized image in increasing order, keeping only the last ones that the vertical pass
// still needs: a 100-megapixel image passes through a few rows of memory.
class HorizontalPass {
 public:
  HorizontalPass(const Image& source, int width, int kept_rows)
      : source_(source), width_(width), kept_(kept_rows), rows_(static_cast<size_t>(kept_rows)) {
    if (width == source.width) return;
    axis_ = make_axis(source.width, width, kRowTapMultiple);
    expanded_.assign((static_cast<size_t>(source.width) + static_cast<size_t>(axis_.taps)) * 4, 0);
    for (std::vector<uint8_t>& row : rows_) row.resize(static_cast<size_t>(width) * 3);
  }

  // Row y; valid until kept_rows further rows have been asked for.
  const uint8_t* row(int y) {
    if (width_ == source_.width) return source_.row(y);
    for (; made_ <= y; ++made_) make(made_);
    return rows_[static_cast<size_t>(y % kept_)].data();
  }

  // Rows before y will not be asked for.
  void skip_to(int y) { made_ = std::max(made_, y); }

 private:
  void make(int y) {
    expand_row(source_.row(y), source_.width, expanded_.data());
    resize_row(expanded_.data(), RowWeights{axis_.first.data(), axis_.weight.data(), axis_.taps, width_},
               rows_[static_cast<size_t>(y % kept_)].data());
  }

  const Image& source_;
  int width_;
  int kept_;
  int made_ = 0;
  Axis axis_;
  std::vector<uint8_t> expanded_;
  std::vector<std::vector<uint8_t>> rows_;
};

}  // namespace

void resize_bilinear(const Image& source, int width, int height, uint8_t* target, size_t target_stride) {
  if (width < 1 || height < 1 || source.width < 1 || source.height < 1) {
    internal_error("resize_bilinear", std::to_string(width) + " x " + std::to_string(height));
  }
  const size_t row_bytes = static_cast<size_t>(width) * 3;
  if (height == source.height) {
    HorizontalPass pass(source, width, 1);
    for (int y = 0; y < height; ++y)
      std::memcpy(target + static_cast<size_t>(y) * target_stride, pass.row(y), row_bytes);
    return;
  }
  const Axis axis = make_axis(source.height, height, 1);
  HorizontalPass pass(source, width, axis.taps);
  std::vector<const uint8_t*> rows(static_cast<size_t>(axis.taps));
  for (int y = 0; y < height; ++y) {
    const auto at = static_cast<size_t>(y);
    pass.skip_to(axis.first[at]);
    for (int k = 0; k < axis.count[at]; ++k) rows[static_cast<size_t>(k)] = pass.row(axis.first[at] + k);
    blend_rows(rows.data(), &axis.weight[at * static_cast<size_t>(axis.taps)], axis.count[at], row_bytes,
               target + at * target_stride);
  }
}

Image resize_bilinear(const Image& source, int width, int height) {
  Image target(width, height);
  resize_bilinear(source, width, height, target.rgb.data(), target.stride());
  return target;
}

}  // namespace omniphi

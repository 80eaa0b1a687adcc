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

  const int32_t* weights(int o) const { return &weight[static_cast<size_t>(o) * static_cast<size_t>(taps)]; }
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

// Resizes single rows from one width to another.
class RowResizer {
 public:
  RowResizer(int from, int to) : from_(from), to_(to) {
    if (from == to) return;
    axis_ = make_axis(from, to, kRowTapMultiple);
    expanded_.assign((static_cast<size_t>(from) + static_cast<size_t>(axis_.taps)) * 4, 0);
  }

  bool copies() const { return from_ == to_; }

  void resize(const uint8_t* row, uint8_t* out) {
    if (copies()) {
      std::memcpy(out, row, static_cast<size_t>(to_) * 3);
      return;
    }
    expand_row(row, from_, expanded_.data());
    resize_row(expanded_.data(), RowWeights{axis_.first.data(), axis_.weight.data(), axis_.taps, to_}, out);
  }

 private:
  int from_, to_;
  Axis axis_;
  std::vector<uint8_t> expanded_;
};

// Gives rows of the horizontally resized image in increasing order, keeping only the last ones that the vertical pass
// still needs: a 100-megapixel image passes through a few rows of memory.
class HorizontalPass {
 public:
  HorizontalPass(const Image& source, int width, int kept_rows)
      : source_(source), resizer_(source.width, width), kept_(kept_rows), rows_(static_cast<size_t>(kept_rows)) {
    if (resizer_.copies()) return;
    for (std::vector<uint8_t>& row : rows_) row.resize(static_cast<size_t>(width) * 3);
  }

  // Row y; valid until kept_rows further rows have been asked for.
  const uint8_t* row(int y) {
    if (resizer_.copies()) return source_.row(y);
    for (; made_ <= y; ++made_) resizer_.resize(source_.row(made_), kept(made_));
    return kept(y);
  }

  // Rows before y will not be asked for.
  void skip_to(int y) { made_ = std::max(made_, y); }

 private:
  uint8_t* kept(int y) { return rows_[static_cast<size_t>(y % kept_)].data(); }

  const Image& source_;
  RowResizer resizer_;
  int kept_;
  int made_ = 0;
  std::vector<std::vector<uint8_t>> rows_;
};

// Where a resize writes its rows.
struct Target {
  uint8_t* bytes;
  size_t stride;
  int width, height;

  uint8_t* row(int y) const { return bytes + static_cast<size_t>(y) * stride; }
};

void horizontal_then_vertical(const Image& source, const Target& target) {
  if (target.height == source.height) {
    RowResizer resizer(source.width, target.width);
    for (int y = 0; y < target.height; ++y) resizer.resize(source.row(y), target.row(y));
    return;
  }
  const Axis axis = make_axis(source.height, target.height, 1);
  HorizontalPass pass(source, target.width, axis.taps);
  std::vector<const uint8_t*> rows(static_cast<size_t>(axis.taps));
  for (int y = 0; y < target.height; ++y) {
    const auto at = static_cast<size_t>(y);
    pass.skip_to(axis.first[at]);
    for (int k = 0; k < axis.count[at]; ++k) rows[static_cast<size_t>(k)] = pass.row(axis.first[at] + k);
    blend_rows(rows.data(), axis.weights(y), axis.count[at], static_cast<size_t>(target.width) * 3, target.row(y));
  }
}

void vertical_then_horizontal(const Image& source, const Target& target) {
  const Axis axis = make_axis(source.height, target.height, 1);
  RowResizer resizer(source.width, target.width);
  std::vector<const uint8_t*> rows(static_cast<size_t>(axis.taps));
  std::vector<uint8_t> blended(source.stride());
  for (int y = 0; y < target.height; ++y) {
    const auto at = static_cast<size_t>(y);
    for (int k = 0; k < axis.count[at]; ++k) rows[static_cast<size_t>(k)] = source.row(axis.first[at] + k);
    blend_rows(rows.data(), axis.weights(y), axis.count[at], source.stride(), blended.data());
    resizer.resize(blended.data(), target.row(y));
  }
}

}  // namespace

void resize_bilinear(const Image& source, int width, int height, uint8_t* target, size_t target_stride,
                     ResizeOrder order) {
  if (width < 1 || height < 1 || source.width < 1 || source.height < 1) {
    internal_error("resize_bilinear", std::to_string(width) + " x " + std::to_string(height));
  }
  const Target rows{target, target_stride, width, height};
  const int64_t less_rows = int64_t{source.height} - height, less_columns = int64_t{source.width} - width;
  const bool pillow_turns = less_rows > 0 && less_rows > 2 * less_columns;
  if (order == ResizeOrder::kVertical || (order == ResizeOrder::kPillow && pillow_turns)) {
    vertical_then_horizontal(source, rows);
  } else {
    horizontal_then_vertical(source, rows);
  }
}

Image resize_bilinear(const Image& source, int width, int height) {
  Image target(width, height);
  resize_bilinear(source, width, height, target.rgb.data(), target.stride());
  return target;
}

}  // namespace omniphi

#include <algorithm>
#include <cstdint>

#include "media/bmp.h"

namespace omniphi {
namespace {

// Draws runs into rows. Positions are checked on every pixel; what lies outside the picture is dropped.
class RlePainter {
 public:
  RlePainter(const ImageSource& source, const BmpHeader& header)
      : source_(source),
        nibbles_(header.packing == BmpHeader::Packing::kRle4),
        width_(static_cast<size_t>(header.width)),
        height_(static_cast<size_t>(header.height)),
        at_(header.data_offset),
        pixels_(width_ * height_, 0) {}

  std::vector<uint8_t> paint() {
    while (y_ < height_) {
      // All rows drawn and the end mark missing is a habit of some writers, and loses nothing.
      if (at_ >= source_.bytes.size() && x_ >= width_ && y_ + 1 == height_) break;
      const uint8_t count = next(), value = next();
      if (count > 0)
        run(count, value);
      else if (!escape(value))
        break;
    }
    return std::move(pixels_);
  }

 private:
  uint8_t next() {
    if (at_ >= source_.bytes.size()) damaged_image(source_, "the run-length data ends early");
    return static_cast<uint8_t>(source_.bytes[at_++]);
  }

  void put(uint8_t index) {
    if (x_ < width_ && y_ < height_) pixels_[y_ * width_ + x_] = index;
    ++x_;
  }

  void run(uint8_t count, uint8_t value) {
    for (int i = 0; i < count; ++i) {
      put(!nibbles_ ? value : i % 2 == 0 ? value >> 4 : value & 15);
    }
  }

  // 0: end of row, 1: end of picture, 2: jump, others: that many literal pixels. False at the end.
  bool escape(uint8_t code) {
    if (code == 0) {
      x_ = 0;
      ++y_;
    } else if (code == 1) {
      return false;
    } else if (code == 2) {
      x_ += next();
      y_ += next();
    } else {
      literal(code);
    }
    return true;
  }

  // Literal pixels are padded to a whole number of 16-bit words.
  void literal(uint8_t count) {
    const size_t bytes = nibbles_ ? (size_t{count} + 1) / 2 : count;
    uint8_t value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!nibbles_ || i % 2 == 0) value = next();
      put(!nibbles_ ? value : i % 2 == 0 ? value >> 4 : value & 15);
    }
    if (bytes % 2 == 1) next();
  }

  const ImageSource& source_;
  const bool nibbles_;
  const size_t width_, height_;
  size_t at_;
  size_t x_ = 0, y_ = 0;
  std::vector<uint8_t> pixels_;
};

}  // namespace

std::vector<uint8_t> read_bmp_rle(const ImageSource& source, const BmpHeader& header) {
  return RlePainter(source, header).paint();
}

}  // namespace omniphi

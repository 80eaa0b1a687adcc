#include "media/exif.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace omniphi {
namespace {

constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kTypeShort = 3;
constexpr uint16_t kTypeLong = 4;

// Little- or big-endian integers at offsets that are always checked; beyond the end everything reads 0.
class TiffBytes {
 public:
  explicit TiffBytes(std::string_view bytes) : bytes_(bytes) {}

  bool valid() {
    if (bytes_.size() < 8) return false;
    big_ = bytes_[0] == 'M';
    return (bytes_.substr(0, 2) == "II" || bytes_.substr(0, 2) == "MM") && u16(2) == 42;
  }
  uint16_t u16(size_t at) const { return static_cast<uint16_t>(integer(at, 2)); }
  uint32_t u32(size_t at) const { return integer(at, 4); }
  size_t size() const { return bytes_.size(); }

 private:
  uint32_t integer(size_t at, size_t bytes) const {
    if (at > bytes_.size() || bytes_.size() - at < bytes) return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; ++i) {
      const auto byte = static_cast<uint8_t>(bytes_[at + (big_ ? i : bytes - 1 - i)]);
      value = value << 8 | byte;
    }
    return value;
  }

  std::string_view bytes_;
  bool big_ = false;
};

// Swaps pixel (x, y) with (width - 1 - x, y), in place.
void mirror_rows(Image& image) {
  for (int y = 0; y < image.height; ++y) {
    uint8_t* left = image.row(y);
    uint8_t* right = left + (image.width - 1) * 3;
    for (; left < right; left += 3, right -= 3) std::swap_ranges(left, left + 3, right);
  }
}

// Exchanges the rows top to bottom, in place.
void flip_columns(Image& image) {
  for (int top = 0, bottom = image.height - 1; top < bottom; ++top, --bottom) {
    std::swap_ranges(image.row(top), image.row(top) + image.stride(), image.row(bottom));
  }
}

// Pixel (x, y) goes to (y, x). In blocks, so that neither side strides through memory a pixel a cache line.
Image transpose(const Image& source) {
  constexpr int kBlock = 32;
  Image target(source.height, source.width);
  for (int y0 = 0; y0 < source.height; y0 += kBlock) {
    for (int x0 = 0; x0 < source.width; x0 += kBlock) {
      for (int x = x0; x < std::min(x0 + kBlock, source.width); ++x) {
        uint8_t* out = target.row(x) + static_cast<size_t>(y0) * 3;
        for (int y = y0; y < std::min(y0 + kBlock, source.height); ++y, out += 3) {
          std::memcpy(out, source.row(y) + static_cast<size_t>(x) * 3, 3);
        }
      }
    }
  }
  return target;
}

}  // namespace

int exif_orientation(std::string_view exif) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  if (exif.substr(0, kPrefix.size()) == kPrefix) exif.remove_prefix(kPrefix.size());
  TiffBytes tiff(exif);
  if (!tiff.valid()) return 1;
  const size_t ifd = tiff.u32(4);
  const size_t entries = tiff.u16(ifd);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = ifd + 2 + i * 12;
    if (entry + 12 > tiff.size()) return 1;
    if (tiff.u16(entry) != kOrientationTag) continue;
    const uint16_t type = tiff.u16(entry + 2);
    const uint32_t value = type == kTypeShort ? tiff.u16(entry + 8) : type == kTypeLong ? tiff.u32(entry + 8) : 0;
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Image apply_orientation(Image image, int orientation) {
  // 5 to 8 are the transpose followed by what 1 to 4 are: nothing, mirror, turn by 180 degrees, flip.
  if (orientation >= 5 && orientation <= 8) image = transpose(image);
  const bool mirror = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool flip = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  if (mirror) mirror_rows(image);
  if (flip) flip_columns(image);
  return image;
}

}  // namespace omniphi

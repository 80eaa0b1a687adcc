#include "media/bmp.h"

#include <bit>
#include <cstring>
#include <string>

#include "media/image_pixels.h"

namespace omniphi {
namespace {

// One channel of a masked pixel as 8 bits, rounded down as Pillow does it.
struct Channel {
  uint32_t mask = 0;
  int shift = 0;
  uint64_t most = 0;

  explicit Channel(uint32_t m) : mask(m), shift(m != 0 ? std::countr_zero(m) : 0), most(m >> shift) {}
  uint8_t of(uint32_t pixel) const {
    return most == 0 ? uint8_t{0} : static_cast<uint8_t>(uint64_t{(pixel & mask) >> shift} * 255 / most);
  }
};

uint32_t pixel_at(const uint8_t* row, size_t x, int bits) {
  if (bits == 16) return static_cast<uint32_t>(row[x * 2] | row[x * 2 + 1] << 8);
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | row[x * 4 + i];
  return value;
}

// Pixels of whole bytes, or several to a byte with the first in the highest bits.
class BmpRows {
 public:
  BmpRows(const ImageSource& source, const BmpHeader& header) : header_(header) {
    const uint64_t row_bits = static_cast<uint64_t>(header.width) * static_cast<uint64_t>(header.bits);
    stride_ = static_cast<size_t>((row_bits + 31) / 32 * 4);
    const size_t used = static_cast<size_t>((row_bits + 7) / 8);
    const size_t needed = static_cast<size_t>(header.height - 1) * stride_ + used;  // the last row may lack its padding
    if (source.bytes.size() < header.data_offset || source.bytes.size() - header.data_offset < needed) {
      damaged_image(source, "the file ends before its last row");
    }
    data_ = reinterpret_cast<const uint8_t*>(source.bytes.data()) + header.data_offset;
  }

  const uint8_t* row(int y) const { return data_ + static_cast<size_t>(y) * stride_; }

  // Files with an alpha mask and no alpha anywhere are opaque: their writers left the field zero.
  bool any_alpha() const {
    const uint32_t mask = header_.masks[3];
    if (mask == 0) return false;
    for (int y = 0; y < header_.height; ++y) {
      for (size_t x = 0; x < static_cast<size_t>(header_.width); ++x) {
        if ((pixel_at(row(y), x, header_.bits) & mask) != 0) return true;
      }
    }
    return false;
  }

 private:
  const BmpHeader& header_;
  const uint8_t* data_ = nullptr;
  size_t stride_ = 0;
};

void indexed_row(const BmpHeader& header, const uint8_t* row, uint8_t* out) {
  const auto bits = static_cast<unsigned>(header.bits);
  const unsigned per_byte = 8 / bits, most = (1u << bits) - 1;
  for (size_t x = 0; x < static_cast<size_t>(header.width); ++x, out += 3) {
    const unsigned shift = 8 - bits * (static_cast<unsigned>(x % per_byte) + 1);
    const unsigned index = row[x / per_byte] >> shift & most;
    std::memcpy(out, header.palette[index].data(), 3);
  }
}

void masked_row(const BmpHeader& header, const uint8_t* row, bool with_alpha, uint8_t* out) {
  const Channel channels[3] = {Channel(header.masks[0]), Channel(header.masks[1]), Channel(header.masks[2])};
  const Channel alpha(header.masks[3]);
  for (size_t x = 0; x < static_cast<size_t>(header.width); ++x, out += 3) {
    const uint32_t pixel = pixel_at(row, x, header.bits);
    for (size_t c = 0; c < 3; ++c) {
      const uint8_t value = channels[c].of(pixel);
      out[c] = with_alpha ? over_white(value, alpha.of(pixel)) : value;
    }
  }
}

void draw_plain(const ImageSource& source, const BmpHeader& header, Image* image) {
  const BmpRows rows(source, header);
  const bool with_alpha = !source.options.reference_media && rows.any_alpha();
  for (int y = 0; y < header.height; ++y) {
    const uint8_t* row = rows.row(y);
    uint8_t* out = image->row(header.top_down ? y : header.height - 1 - y);
    if (header.bits <= 8) {
      indexed_row(header, row, out);
    } else if (header.bits == 24) {
      for (size_t x = 0; x < static_cast<size_t>(header.width); ++x, row += 3, out += 3) {
        out[0] = row[2];
        out[1] = row[1];
        out[2] = row[0];
      }
    } else {
      masked_row(header, row, with_alpha, out);
    }
  }
}

void draw_rle(const ImageSource& source, const BmpHeader& header, Image* image) {
  const std::vector<uint8_t> indices = read_bmp_rle(source, header);
  const uint8_t* index = indices.data();
  for (int y = 0; y < header.height; ++y) {
    uint8_t* out = image->row(header.top_down ? y : header.height - 1 - y);
    for (int x = 0; x < header.width; ++x, out += 3) std::memcpy(out, header.palette[*index++].data(), 3);
  }
}

}  // namespace

DecodedImage decode_bmp(const ImageSource& source) {
  const BmpHeader header = read_bmp_header(source);
  const bool plain = header.packing == BmpHeader::Packing::kPlain || header.packing == BmpHeader::Packing::kMasks;
  DecodedImage decoded;
  decoded.image = Image(header.width, header.height);
  if (plain) {
    draw_plain(source, header, &decoded.image);
  } else {
    draw_rle(source, header, &decoded.image);
  }
  return decoded;
}

}  // namespace omniphi

#include <algorithm>
#include <cstdint>
#include <string>

#include "media/bmp.h"

namespace omniphi {
namespace {

constexpr size_t kFileHeader = 14;
constexpr uint32_t kOs2Header = 12, kOs2ShortHeader = 16, kOs2LongHeader = 64;
constexpr uint32_t kInfoHeader = 40, kMasksHeader = 52, kAlphaHeader = 56;

enum Compression : uint32_t { kRgb = 0, kRle8 = 1, kRle4 = 2, kBitfields = 3, kAlphaBitfields = 6 };

// Little-endian integers; every offset is checked.
class Fields {
 public:
  explicit Fields(const ImageSource& source) : source_(source) {}
  uint16_t u16(size_t at) const { return static_cast<uint16_t>(integer(at, 2)); }
  uint32_t u32(size_t at) const { return integer(at, 4); }
  int32_t i32(size_t at) const { return static_cast<int32_t>(integer(at, 4)); }
  uint8_t u8(size_t at) const { return static_cast<uint8_t>(integer(at, 1)); }

 private:
  uint32_t integer(size_t at, size_t count) const {
    if (at > source_.bytes.size() || source_.bytes.size() - at < count) {
      damaged_image(source_, "the file ends inside its header");
    }
    uint32_t value = 0;
    for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint8_t>(source_.bytes[at + i]);
    return value;
  }
  const ImageSource& source_;
};

void read_size(const ImageSource& source, const Fields& fields, uint32_t header_bytes, BmpHeader* header) {
  const bool narrow = header_bytes == kOs2Header;
  const int64_t width = narrow ? fields.u16(kFileHeader + 4) : fields.i32(kFileHeader + 4);
  const int64_t height = narrow ? fields.u16(kFileHeader + 6) : fields.i32(kFileHeader + 8);
  header->bits = fields.u16(kFileHeader + (narrow ? 10 : 14));
  header->top_down = height < 0;
  if (width < 0) damaged_image(source, "a negative width");
  check_image_size(source, static_cast<uint64_t>(width), static_cast<uint64_t>(height < 0 ? -height : height));
  header->width = static_cast<int>(width);
  header->height = static_cast<int>(height < 0 ? -height : height);
}

BmpHeader::Packing packing_of(const ImageSource& source, uint32_t compression, uint32_t header_bytes, int bits) {
  const bool os2 = header_bytes == kOs2LongHeader;  // whose 3 and 4 are Huffman codes and 24-bit runs
  if (compression == kRgb) return BmpHeader::Packing::kPlain;
  if (compression == kRle8 && bits == 8) return BmpHeader::Packing::kRle8;
  if (compression == kRle4 && bits == 4) return BmpHeader::Packing::kRle4;
  const bool masks = (compression == kBitfields || compression == kAlphaBitfields) && !os2;
  if (masks && (bits == 16 || bits == 32)) return BmpHeader::Packing::kMasks;
  image_error(source,
              "BMP compression " + std::to_string(compression) + " with " + std::to_string(bits) + " bits a pixel",
              "uncompressed, RLE8, RLE4 or bit fields", "convert the image to PNG");
}

// A usable mask is one run of ones.
bool contiguous(uint32_t mask) {
  if (mask == 0) return true;
  while ((mask & 1) == 0) mask >>= 1;
  return (mask & (mask + 1)) == 0;
}

// Sets the colour masks; returns how many bytes of masks stand behind a 40-byte header.
size_t read_masks(const ImageSource& source, const Fields& fields, uint32_t header_bytes, uint32_t compression,
                  BmpHeader* header) {
  if (header->bits == 16) header->masks = {0x7C00, 0x03E0, 0x001F, 0};
  if (header->bits == 32) header->masks = {0xFF0000, 0x00FF00, 0x0000FF, 0};
  if (header->packing != BmpHeader::Packing::kMasks) return 0;
  const size_t at = kFileHeader + kInfoHeader;
  const bool alpha = header_bytes >= kAlphaHeader || compression == kAlphaBitfields;
  for (size_t i = 0; i < (alpha ? 4 : 3); ++i) {
    header->masks[i] = fields.u32(at + i * 4);
    if (!contiguous(header->masks[i])) damaged_image(source, "a colour mask with gaps");
  }
  if (header_bytes >= kMasksHeader) return 0;
  return alpha ? 16 : 12;
}

void read_palette(const ImageSource& source, const Fields& fields, size_t at, uint32_t header_bytes, uint32_t colours,
                  BmpHeader* header) {
  const size_t entry = header_bytes == kOs2Header ? 3 : 4;
  const size_t most = size_t{1} << header->bits;
  size_t count = colours == 0 ? most : std::min<size_t>(colours, most);
  // Some writers leave the palette short and point the pixels into it; others point them at its start, and mean its
  // end.
  if (header->data_offset == at) header->data_offset = at + count * entry;
  if (header->data_offset > at) count = std::min(count, (header->data_offset - at) / entry);
  header->palette.assign(256, {0, 0, 0});
  for (size_t i = 0; i < count; ++i) {
    const size_t colour = at + i * entry;
    header->palette[i] = {fields.u8(colour + 2), fields.u8(colour + 1), fields.u8(colour)};
  }
  if (source.bytes.size() < header->data_offset) damaged_image(source, "the file ends inside its palette");
}

}  // namespace

BmpHeader read_bmp_header(const ImageSource& source) {
  const Fields fields(source);
  BmpHeader header;
  header.data_offset = fields.u32(10);
  const uint32_t header_bytes = fields.u32(kFileHeader);
  for (const uint32_t known : {kOs2Header, kOs2ShortHeader, kInfoHeader, kMasksHeader, kAlphaHeader, kOs2LongHeader,
                               uint32_t{108}, uint32_t{124}}) {
    if (header_bytes == known) read_size(source, fields, header_bytes, &header);
  }
  if (header.width == 0) damaged_image(source, "a header of " + std::to_string(header_bytes) + " bytes");
  switch (header.bits) {
    case 1:
    case 2:
    case 4:
    case 8:
    case 16:
    case 24:
    case 32:
      break;
    default:
      image_error(source, std::to_string(header.bits) + " bits a pixel", "1, 2, 4, 8, 16, 24 or 32");
  }
  const bool full = header_bytes >= kInfoHeader;
  const uint32_t compression = full ? fields.u32(kFileHeader + 16) : uint32_t{kRgb};
  const uint32_t colours = full ? fields.u32(kFileHeader + 32) : 0;
  header.packing = packing_of(source, compression, header_bytes, header.bits);
  const size_t mask_bytes = read_masks(source, fields, header_bytes, compression, &header);
  if (header.bits <= 8) {
    read_palette(source, fields, kFileHeader + header_bytes + mask_bytes, header_bytes, colours, &header);
  }
  if (header.data_offset < kFileHeader + header_bytes) damaged_image(source, "pixels that start inside the header");
  return header;
}

}  // namespace omniphi

// TIFF by libtiff: the first page; 1 to 16 bits; grey, palette, RGB, CMYK and YCbCr; strips and tiles; any codec of
// libtiff.
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "media/image_formats.h"
#include "media/image_pixels.h"
#include "media/image_tiff_reader.h"

namespace omniphi {
namespace {

enum class Colours { kGrey, kPalette, kRgb, kCmyk };
enum class Alpha { kNone, kStraight, kMultiplied };

struct TiffLayout {
  uint32_t width = 0, height = 0;
  int bits = 1;
  size_t samples = 1;         // a pixel, as stored
  size_t colour_samples = 1;  // of those, the colours; the alpha follows them
  Colours colours = Colours::kGrey;
  Alpha alpha = Alpha::kNone;
  bool inverted = false;  // grey that grows darker
  bool planar = false;    // each sample in strips of its own
  std::array<std::array<uint8_t, 3>, 256> palette{};
};

// A rectangle of decoded samples: one buffer, or one for each sample when they are stored apart.
struct TiffBlock {
  uint32_t x = 0, y = 0, width = 0, height = 0;
  size_t row_bytes = 0;
  std::vector<std::vector<uint8_t>> planes;
};

Colours colours_of(const ImageSource& source, const TiffFile& file, TiffLayout* layout) {
  const uint16_t photometric = file.u16(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  layout->colour_samples = 1;
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
      layout->inverted = true;
      return Colours::kGrey;
    case PHOTOMETRIC_MINISBLACK:
      return Colours::kGrey;
    case PHOTOMETRIC_PALETTE:
      return Colours::kPalette;
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:  // only as JPEG, which is asked for RGB
      layout->colour_samples = 3;
      return Colours::kRgb;
    case PHOTOMETRIC_SEPARATED:
      layout->colour_samples = 4;
      return Colours::kCmyk;
    default:
      image_error(source, "photometric interpretation " + std::to_string(photometric),
                  "grey, palette, RGB, CMYK or YCbCr", "convert the image to PNG");
  }
}

// The alpha is the first extra sample, when the file says that it is one. RGB with a fourth sample about which the file
// says nothing has straight alpha, as in Pillow; one that is said to be unspecified hasn't.
Alpha alpha_of(const TiffFile& file, const TiffLayout& layout) {
  uint16_t count = 0;
  uint16_t* kinds = nullptr;
  if (layout.samples <= layout.colour_samples) return Alpha::kNone;
  if (TIFFGetField(file.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) != 1 || count == 0) {
    return layout.colours == Colours::kRgb && layout.samples == 4 ? Alpha::kStraight : Alpha::kNone;
  }
  if (kinds[0] == EXTRASAMPLE_ASSOCALPHA) return Alpha::kMultiplied;
  return kinds[0] == EXTRASAMPLE_UNASSALPHA ? Alpha::kStraight : Alpha::kNone;
}

// Colour maps hold 16 bits, of which writers fill the upper or both bytes with the 8-bit value; some old ones the lower
// only.
void read_palette(const ImageSource& source, const TiffFile& file, TiffLayout* layout) {
  uint16_t* maps[3] = {};
  if (layout->bits > 8 || TIFFGetField(file.get(), TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) != 1) {
    damaged_image(source, "a palette image without a usable palette");
  }
  const size_t count = size_t{1} << layout->bits;
  bool low_bytes = !source.options.reference_media;
  for (size_t i = 0; i < count * 3 && low_bytes; ++i) low_bytes = maps[i % 3][i / 3] < 256;
  for (size_t i = 0; i < count * 3; ++i) {
    const uint16_t value = maps[i % 3][i / 3];
    layout->palette[i / 3][i % 3] = static_cast<uint8_t>(low_bytes ? value : value >> 8);
  }
}

TiffLayout read_layout(const ImageSource& source, const TiffFile& file) {
  TiffLayout layout;
  layout.width = file.u32(TIFFTAG_IMAGEWIDTH);
  layout.height = file.u32(TIFFTAG_IMAGELENGTH);
  check_image_size(source, layout.width, layout.height);
  layout.bits = file.u16(TIFFTAG_BITSPERSAMPLE, 1);
  layout.samples = file.u16(TIFFTAG_SAMPLESPERPIXEL, 1);
  const uint16_t sample_format = file.u16(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const bool whole = layout.bits == 1 || layout.bits == 2 || layout.bits == 4 || layout.bits == 8 || layout.bits == 16;
  if (!whole || (sample_format != SAMPLEFORMAT_UINT && sample_format != SAMPLEFORMAT_VOID)) {
    image_error(source, std::to_string(layout.bits) + "-bit samples of format " + std::to_string(sample_format),
                "unsigned integers of 1, 2, 4, 8 or 16 bits", "convert the image to PNG");
  }
  layout.colours = colours_of(source, file, &layout);
  if (layout.samples < layout.colour_samples || layout.samples > 32) {
    image_error(source, std::to_string(layout.samples) + " samples a pixel",
                std::to_string(layout.colour_samples) + " colours and some extra samples");
  }
  layout.alpha = alpha_of(file, layout);
  layout.planar = layout.samples > 1 && file.u16(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  if (layout.colours == Colours::kPalette) read_palette(source, file, &layout);
  return layout;
}

// Sample `index` of a packed row as stored.
unsigned raw_sample(const uint8_t* row, size_t index, int bits) {
  if (bits == 8) return row[index];
  if (bits == 16) {
    uint16_t value;
    std::memcpy(&value, row + index * 2, 2);
    return value;
  }
  const size_t per_byte = static_cast<size_t>(8 / bits);
  const size_t shift = 8 - static_cast<size_t>(bits) * (index % per_byte + 1);
  return row[index / per_byte] >> shift & ((1u << bits) - 1);
}

// Turns the samples of one row into RGB.
class TiffRow {
 public:
  TiffRow(const TiffLayout& layout, bool reference) : layout_(layout), reference_(reference) {
    used_ = layout.colour_samples + (layout.alpha != Alpha::kNone ? 1 : 0);
    clip_grey_ = reference && layout.bits == 16 && layout.colours == Colours::kGrey && layout.samples == 1;
  }

  size_t used_samples() const { return used_; }

  // rows[s] is the row that holds sample s; offset(s, x) of it is x for planes, x * samples + s otherwise.
  void convert(const uint8_t* const* rows, size_t pixels, uint8_t* rgb) const {
    std::array<uint8_t, 5> sample{};
    for (size_t x = 0; x < pixels; ++x, rgb += 3) {
      for (size_t s = 0; s < used_; ++s) {
        const size_t index = layout_.planar ? x : x * layout_.samples + s;
        sample[s] = to_8_bits(raw_sample(rows[layout_.planar ? s : 0], index, layout_.bits));
      }
      colour(sample.data(), rgb);
      if (layout_.alpha != Alpha::kNone) blend(sample[layout_.colour_samples], rgb);
    }
  }

 private:
  uint8_t to_8_bits(unsigned value) const {
    if (layout_.colours == Colours::kPalette) return static_cast<uint8_t>(value);
    if (layout_.bits == 16) {
      if (clip_grey_) return static_cast<uint8_t>(std::min(value, 255u));
      return reference_ ? static_cast<uint8_t>(value >> 8) : scale_16_to_8(value);
    }
    return static_cast<uint8_t>(value * 255 / ((1u << layout_.bits) - 1));
  }

  void colour(const uint8_t* sample, uint8_t* rgb) const {
    switch (layout_.colours) {
      case Colours::kGrey:
        rgb[0] = rgb[1] = rgb[2] = layout_.inverted ? static_cast<uint8_t>(255 - sample[0]) : sample[0];
        break;
      case Colours::kPalette:
        std::memcpy(rgb, layout_.palette[sample[0]].data(), 3);
        break;
      case Colours::kRgb:
        std::memcpy(rgb, sample, 3);
        break;
      case Colours::kCmyk:
        cmyk_to_rgb(sample, rgb);
        break;
    }
  }

  void blend(uint8_t alpha, uint8_t* rgb) const {
    const bool multiplied = layout_.alpha == Alpha::kMultiplied && layout_.colours == Colours::kRgb;
    for (int c = 0; c < 3; ++c) {
      const unsigned value = rgb[c];
      if (!reference_) {
        rgb[c] = multiplied ? static_cast<uint8_t>(std::min(value + 255u - alpha, 255u)) : over_white(value, alpha);
      } else if (multiplied && alpha != 0) {
        rgb[c] = static_cast<uint8_t>(std::min(value * 255u / alpha, 255u));
      }
    }
  }

  const TiffLayout& layout_;
  bool reference_;
  bool clip_grey_ = false;
  size_t used_ = 1;
};

// Draws the part of a block that lies inside the image.
void draw_block(const TiffLayout& layout, const TiffRow& row, const TiffBlock& block, Image* image) {
  const size_t pixels = std::min(block.width, layout.width - block.x);
  const size_t samples = layout.planar ? 1 : layout.samples;
  if (block.row_bytes * 8 < block.width * samples * static_cast<size_t>(layout.bits)) {
    internal_error("TIFF block", std::to_string(block.row_bytes) + " bytes a row");
  }
  const uint32_t height = std::min(block.height, layout.height - block.y);
  std::array<const uint8_t*, 5> rows{};
  for (uint32_t y = 0; y < height; ++y) {
    for (size_t p = 0; p < block.planes.size(); ++p) rows[p] = block.planes[p].data() + y * block.row_bytes;
    row.convert(rows.data(), pixels, image->row(static_cast<int>(block.y + y)) + size_t{block.x} * 3);
  }
}

size_t planes_of(const TiffLayout& layout, const TiffRow& row) { return layout.planar ? row.used_samples() : 1; }

// The bytes of one decoded strip, row or tile; a codec never writes more.
size_t block_bytes(const ImageSource& source, uint64_t bytes) {
  if (bytes == 0 || bytes / 8 > source.options.max_pixels) {
    damaged_image(source, "a block of " + std::to_string(bytes) + " bytes");
  }
  return static_cast<size_t>(bytes);
}

void draw_tiles(const ImageSource& source, const TiffFile& file, const TiffLayout& layout, Image* image) {
  const TiffRow row(layout, source.options.reference_media);
  TiffBlock block;
  block.width = file.u32(TIFFTAG_TILEWIDTH);
  block.height = file.u32(TIFFTAG_TILELENGTH);
  check_image_size(source, block.width, block.height);
  block.row_bytes = block_bytes(source, TIFFTileRowSize64(file.get()));
  block.planes.resize(planes_of(layout, row));
  for (auto& plane : block.planes) plane.resize(block_bytes(source, TIFFTileSize64(file.get())));
  for (block.y = 0; block.y < layout.height; block.y += block.height) {
    for (block.x = 0; block.x < layout.width; block.x += block.width) {
      for (size_t p = 0; p < block.planes.size(); ++p) {
        const auto size = static_cast<tmsize_t>(block.planes[p].size());
        const uint32_t tile = TIFFComputeTile(file.get(), block.x, block.y, 0, static_cast<uint16_t>(p));
        if (TIFFReadEncodedTile(file.get(), tile, block.planes[p].data(), size) < 0) file.fail();
      }
      file.check_whole();
      draw_block(layout, row, block, image);
      if (block.width >= layout.width - block.x) break;
    }
    if (block.height >= layout.height - block.y) break;
  }
}

// Strips of whole pixels go row by row: a strip may be the whole image.
void draw_rows(const ImageSource& source, const TiffFile& file, const TiffLayout& layout, Image* image) {
  const TiffRow row(layout, source.options.reference_media);
  TiffBlock block;
  block.width = layout.width;
  block.height = 1;
  block.row_bytes = block_bytes(source, TIFFScanlineSize64(file.get()));
  block.planes.assign(1, std::vector<uint8_t>(block.row_bytes));
  for (block.y = 0; block.y < layout.height; ++block.y) {
    if (TIFFReadScanline(file.get(), block.planes[0].data(), block.y, 0) < 0) file.fail();
    file.check_whole();
    draw_block(layout, row, block, image);
  }
}

// Strips of single samples go strip by strip, all samples of the same rows together.
void draw_plane_strips(const ImageSource& source, const TiffFile& file, const TiffLayout& layout, Image* image) {
  const TiffRow row(layout, source.options.reference_media);
  TiffBlock block;
  block.width = layout.width;
  block.height = std::min(file.u32(TIFFTAG_ROWSPERSTRIP, layout.height), layout.height);
  if (block.height == 0) damaged_image(source, "strips of no rows");
  block.row_bytes = block_bytes(source, TIFFScanlineSize64(file.get()));
  block.planes.resize(planes_of(layout, row));
  for (auto& plane : block.planes) plane.resize(block_bytes(source, TIFFVStripSize64(file.get(), block.height)));
  for (;;) {
    for (size_t p = 0; p < block.planes.size(); ++p) {
      const auto size = static_cast<tmsize_t>(block.planes[p].size());
      const uint32_t strip = TIFFComputeStrip(file.get(), block.y, static_cast<uint16_t>(p));
      if (TIFFReadEncodedStrip(file.get(), strip, block.planes[p].data(), size) < 0) file.fail();
    }
    file.check_whole();
    draw_block(layout, row, block, image);
    if (block.height >= layout.height - block.y) break;
    block.y += block.height;
  }
}

// YCbCr that is not JPEG has subsampled blocks, which libtiff's own RGBA reader unpacks.
void draw_through_rgba(const ImageSource& source, const TiffFile& file, Image* image) {
  char why[1024] = "";
  if (TIFFRGBAImageOK(file.get(), why) == 0) damaged_image(source, why);
  TIFFSetField(file.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);  // the caller turns the image
  const size_t pixels = image->rgb.size() / 3;
  std::vector<uint32_t> raster(pixels);
  if (TIFFReadRGBAImageOriented(file.get(), static_cast<uint32_t>(image->width), static_cast<uint32_t>(image->height),
                                raster.data(), ORIENTATION_TOPLEFT, 1) == 0) {
    file.fail();
  }
  file.check_whole();
  for (size_t i = 0; i < pixels; ++i) {
    image->rgb[i * 3] = static_cast<uint8_t>(TIFFGetR(raster[i]));
    image->rgb[i * 3 + 1] = static_cast<uint8_t>(TIFFGetG(raster[i]));
    image->rgb[i * 3 + 2] = static_cast<uint8_t>(TIFFGetB(raster[i]));
  }
}

}  // namespace

DecodedImage decode_tiff(const ImageSource& source) {
  TiffFile file(source);
  const TiffLayout layout = read_layout(source, file);
  const bool ycbcr = file.u16(TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_YCBCR;
  const uint16_t codec = file.u16(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (TIFFIsCODECConfigured(codec) == 0) {
    image_error(source, "TIFF compression " + std::to_string(codec), "one that libtiff decodes");
  }
  if (ycbcr && codec == COMPRESSION_JPEG) TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);

  DecodedImage decoded;
  decoded.orientation = file.u16(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  decoded.image = Image(static_cast<int>(layout.width), static_cast<int>(layout.height));
  file.expect_whole_pixels();
  if ((ycbcr && codec != COMPRESSION_JPEG) || codec == COMPRESSION_OJPEG) {
    draw_through_rgba(source, file, &decoded.image);
  } else if (TIFFIsTiled(file.get()) != 0) {
    draw_tiles(source, file, layout, &decoded.image);
  } else if (layout.planar) {
    draw_plane_strips(source, file, layout, &decoded.image);
  } else {
    draw_rows(source, file, layout, &decoded.image);
  }
  return decoded;
}

}  // namespace omniphi

// The BMP reader: header and pixels. Its own because no packaged library reads BMP safely from memory; fuzzed.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "media/image_formats.h"

namespace omniphi {

// What the headers of a BMP file say, checked. Source: Microsoft's BITMAPINFOHEADER to BITMAPV5HEADER, IBM's OS/2
// headers.
struct BmpHeader {
  enum class Packing { kPlain, kRle8, kRle4, kMasks };

  int width = 0, height = 0;
  int bits = 0;           // a pixel: 1, 2, 4, 8, 16, 24, 32
  bool top_down = false;  // rows usually go from the bottom up
  Packing packing = Packing::kPlain;
  size_t data_offset = 0;
  std::vector<std::array<uint8_t, 3>>
      palette;                      // RGB, 256 entries when bits <= 8: those that the file leaves out are black
  std::array<uint32_t, 4> masks{};  // red, green, blue, alpha; for 16 and 32 bits
};

// Throws Error{kInput} for what is damaged or not supported; checks the size against the caps.
BmpHeader read_bmp_header(const ImageSource& source);

// Palette indices of an RLE file, [height, width] in file order (the first row is the first that the file draws).
// Pixels that the file skips are index 0. Throws when the data ends before the picture does.
std::vector<uint8_t> read_bmp_rle(const ImageSource& source, const BmpHeader& header);

}  // namespace omniphi

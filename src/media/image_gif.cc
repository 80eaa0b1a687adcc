// GIF by giflib: the first frame on its logical screen.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "media/image_formats.h"

namespace omniphi {
namespace {

constexpr int kNoTransparency = -1;

struct GifInput {
  std::string_view left;
};

int read_bytes(GifFileType* gif, GifByteType* out, int count) {
  auto* input = static_cast<GifInput*>(gif->UserData);
  const size_t taken = std::min(input->left.size(), static_cast<size_t>(std::max(count, 0)));
  if (taken > 0) std::memcpy(out, input->left.data(), taken);
  input->left.remove_prefix(taken);
  return static_cast<int>(taken);
}

struct GifClose {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, GifClose>;

[[noreturn]] void gif_damaged(const ImageSource& source, int code) {
  const char* text = GifErrorString(code);
  damaged_image(source, text != nullptr ? text : "a broken stream");
}

// Walks over extensions to the first image; returns the transparent index that its graphic control extension names.
int find_first_image(const ImageSource& source, GifFileType* gif) {
  int transparent = kNoTransparency;
  for (;;) {
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(gif, &record) == GIF_ERROR) gif_damaged(source, gif->Error);
    if (record == TERMINATE_RECORD_TYPE) damaged_image(source, "no image before the end mark");
    if (record == IMAGE_DESC_RECORD_TYPE) {
      if (DGifGetImageDesc(gif) == GIF_ERROR) gif_damaged(source, gif->Error);
      return transparent;
    }
    if (record != EXTENSION_RECORD_TYPE) continue;
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) gif_damaged(source, gif->Error);
    while (block != nullptr) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        transparent = control.TransparentColor;
      }
      if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) gif_damaged(source, gif->Error);
    }
  }
}

// The colours of all 256 indices. Those beyond the palette are black; without any palette an index is its grey.
std::vector<uint8_t> palette_of(const GifFileType* gif) {
  std::vector<uint8_t> palette(256 * 3, 0);
  const ColorMapObject* map = gif->Image.ColorMap != nullptr ? gif->Image.ColorMap : gif->SColorMap;
  for (size_t i = 0; i < 256; ++i) {
    uint8_t* colour = &palette[i * 3];
    if (map == nullptr) {
      colour[0] = colour[1] = colour[2] = static_cast<uint8_t>(i);
    } else if (i < static_cast<size_t>(map->ColorCount)) {
      colour[0] = map->Colors[i].Red;
      colour[1] = map->Colors[i].Green;
      colour[2] = map->Colors[i].Blue;
    }
  }
  return palette;
}

// Rows of an interlaced image come as every eighth from 0, every eighth from 4, every fourth from 2, every second
// from 1.
std::vector<int> row_order(int height, bool interlaced) {
  std::vector<int> order;
  order.reserve(static_cast<size_t>(height));
  if (!interlaced) {
    for (int y = 0; y < height; ++y) order.push_back(y);
    return order;
  }
  constexpr int kPasses[4][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  for (const auto& [first, step] : kPasses) {
    for (int y = first; y < height; y += step) order.push_back(y);
  }
  return order;
}

void draw_frame(const ImageSource& source, GifFileType* gif, const std::vector<uint8_t>& palette, Image* canvas) {
  const GifImageDesc& frame = gif->Image;
  std::vector<GifPixelType> line(static_cast<size_t>(frame.Width));
  for (const int y : row_order(frame.Height, frame.Interlace)) {
    if (DGifGetLine(gif, line.data(), frame.Width) == GIF_ERROR) gif_damaged(source, gif->Error);
    uint8_t* out = canvas->row(frame.Top + y) + static_cast<size_t>(frame.Left) * 3;
    for (const GifPixelType index : line) {
      std::memcpy(out, &palette[size_t{index} * 3], 3);
      out += 3;
    }
  }
}

}  // namespace

DecodedImage decode_gif(const ImageSource& source) {
  GifInput input{source.bytes};
  int code = 0;
  const Gif gif(DGifOpen(&input, read_bytes, &code));
  if (gif == nullptr) gif_damaged(source, code);
  const int transparent = find_first_image(source, gif.get());
  const GifImageDesc& frame = gif->Image;
  if (frame.Left < 0 || frame.Top < 0) damaged_image(source, "a frame at a negative place");

  // A frame that leaves the logical screen widens it, as in Pillow: nothing of the picture is cut away.
  const int64_t width = std::max<int64_t>(gif->SWidth, int64_t{frame.Left} + frame.Width);
  const int64_t height = std::max<int64_t>(gif->SHeight, int64_t{frame.Top} + frame.Height);
  check_image_size(source, static_cast<uint64_t>(frame.Width), static_cast<uint64_t>(frame.Height));
  check_image_size(source, static_cast<uint64_t>(width), static_cast<uint64_t>(height));

  // What shows where the frame doesn't reach, or is transparent: white. Pillow has no transparency left after
  // convert("RGB"): it shows the colour of the transparent index, and around an opaque frame that of index 0.
  std::vector<uint8_t> palette = palette_of(gif.get());
  const size_t ground = transparent >= 0 && transparent < 256 ? static_cast<size_t>(transparent) : 0;
  std::vector<uint8_t> outside(palette.begin() + static_cast<std::ptrdiff_t>(ground) * 3,
                               palette.begin() + static_cast<std::ptrdiff_t>(ground) * 3 + 3);
  if (!source.options.reference_media) {
    outside.assign(3, 255);
    if (transparent >= 0 && transparent < 256) std::copy(outside.begin(), outside.end(), &palette[ground * 3]);
  }
  DecodedImage decoded;
  decoded.image = Image(static_cast<int>(width), static_cast<int>(height));
  if (frame.Width < width || frame.Height < height) {
    uint8_t* pixel = decoded.image.rgb.data();
    for (int64_t i = 0; i < width * height; ++i, pixel += 3) std::memcpy(pixel, outside.data(), 3);
  }
  draw_frame(source, gif.get(), palette, &decoded.image);
  return decoded;
}

}  // namespace omniphi

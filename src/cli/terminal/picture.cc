#include "cli/terminal/picture.h"

#include <sixel.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "media/png_write.h"
#include "media/resize.h"
#include "request/base64.h"

namespace omniphi::cli {
namespace {

// Longest payload of one escape sequence (kitty's documentation, "The transmission medium").
constexpr size_t kKittyChunk = 4096;

void check_sixel(SIXELSTATUS status, const char* what) {
  if (SIXEL_FAILED(status)) internal_error(what, sixel_helper_format_error(status));
}

int append_bytes(char* data, int size, void* text) {
  static_cast<std::string*>(text)->append(data, static_cast<size_t>(size));
  return size;
}

// "38;2;R;G;B" or "38;5;N"; 48 for the background.
std::string color_code(int ground, const uint8_t* rgb, PictureProtocol protocol) {
  std::string code = std::to_string(ground);
  if (protocol == PictureProtocol::kBlocks256) return code + ";5;" + std::to_string(nearest_xterm_color(rgb));
  code += ";2";
  for (int c = 0; c < 3; ++c) code += ";" + std::to_string(rgb[c]);
  return code;
}

int squared_distance(const uint8_t* rgb, const std::array<int, 3>& other) {
  int sum = 0;
  for (size_t c = 0; c < 3; ++c) sum += (rgb[c] - other[c]) * (rgb[c] - other[c]);
  return sum;
}

// What the picture may take of the terminal, in pixels of the protocol: half cells for blocks.
PixelSize room_for(PictureProtocol protocol, const TerminalSize& size, const PictureRoom& room) {
  // One column and two rows stay free, so that nothing wraps or scrolls off before it was seen.
  const int columns = std::max(1, std::min(room.columns, size.columns - 1));
  const int rows = std::max(1, std::min(room.rows, size.rows - 2));
  if (protocol == PictureProtocol::kKitty || protocol == PictureProtocol::kSixel) {
    return {columns * size.cell_width, rows * size.cell_height};
  }
  return {columns, 2 * rows};
}

}  // namespace

PixelSize fit_picture(const Image& image, const PixelSize& box) {
  const double scale =
      std::min({1.0, static_cast<double>(box.width) / image.width, static_cast<double>(box.height) / image.height});
  return {std::max(1, static_cast<int>(image.width * scale + 0.5)),
          std::max(1, static_cast<int>(image.height * scale + 0.5))};
}

int nearest_xterm_color(const uint8_t* rgb) {
  constexpr std::array<int, 6> kLevels = {0, 95, 135, 175, 215, 255};
  std::array<int, 3> cube{};
  std::array<size_t, 3> at{};
  for (size_t c = 0; c < 3; ++c) {
    const auto nearest = std::min_element(kLevels.begin(), kLevels.end(),
                                          [&](int a, int b) { return std::abs(a - rgb[c]) < std::abs(b - rgb[c]); });
    at[c] = static_cast<size_t>(nearest - kLevels.begin());
    cube[c] = *nearest;
  }
  const int mean = (rgb[0] + rgb[1] + rgb[2]) / 3;
  const int step = std::clamp((mean - 3) / 10, 0, 23);
  const int grey = 8 + 10 * step;
  if (squared_distance(rgb, {grey, grey, grey}) < squared_distance(rgb, cube)) return 232 + step;
  return static_cast<int>(16 + 36 * at[0] + 6 * at[1] + at[2]);
}

std::string encode_blocks(const Image& image, PictureProtocol protocol) {
  std::string text;
  for (int y = 0; y < image.height; y += 2) {
    std::string shown;  // colours that hold
    for (int x = 0; x < image.width; ++x) {
      std::string colors = color_code(38, image.row(y) + 3 * x, protocol);
      colors += y + 1 < image.height ? ";" + color_code(48, image.row(y + 1) + 3 * x, protocol) : ";49";
      if (colors != shown) text += "\x1b[" + colors + "m";
      shown = std::move(colors);
      text += "\u2580";
    }
    text += "\x1b[0m\n";
  }
  return text;
}

std::string encode_kitty(const Image& image) {
  const std::string data = encode_base64(encode_png(image));
  std::string text;
  for (size_t at = 0; at < data.size(); at += kKittyChunk) {
    // Transmit and display a PNG, and say nothing back.
    text += at == 0 ? "\x1b_Ga=T,f=100,q=2,m=" : "\x1b_Gm=";
    text += at + kKittyChunk < data.size() ? "1;" : "0;";
    text += data.substr(at, kKittyChunk) + "\x1b\\";
  }
  return text + "\n";
}

std::string encode_sixel(const Image& image) {
  std::string text;
  sixel_output_t* output = nullptr;
  check_sixel(sixel_output_new(&output, append_bytes, &text, nullptr), "sixel output");
  const std::unique_ptr<sixel_output_t, decltype(&sixel_output_unref)> output_owner(output, sixel_output_unref);
  sixel_dither_t* dither = nullptr;
  check_sixel(sixel_dither_new(&dither, 256, nullptr), "sixel palette");
  const std::unique_ptr<sixel_dither_t, decltype(&sixel_dither_unref)> dither_owner(dither, sixel_dither_unref);
  std::vector<unsigned char> pixels(image.rgb);  // the library takes no constant ones
  check_sixel(sixel_dither_initialize(dither, pixels.data(), image.width, image.height, SIXEL_PIXELFORMAT_RGB888,
                                      SIXEL_LARGE_AUTO, SIXEL_REP_AUTO, SIXEL_QUALITY_HIGH),
              "sixel palette");
  check_sixel(sixel_encode(pixels.data(), image.width, image.height, 3, dither, output), "sixel picture");
  return text + "\n";
}

std::string draw_picture(const Image& image, PictureProtocol protocol, const TerminalSize& size,
                         const PictureRoom& room) {
  if (protocol == PictureProtocol::kNone || image.width <= 0 || image.height <= 0) return "";
  const PixelSize fitted = fit_picture(image, room_for(protocol, size, room));
  const Image small = resize_bilinear(image, fitted.width, fitted.height);
  if (protocol == PictureProtocol::kKitty) return encode_kitty(small);
  if (protocol == PictureProtocol::kSixel) return encode_sixel(small);
  return encode_blocks(small, protocol);
}

}  // namespace omniphi::cli

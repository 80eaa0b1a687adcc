// A picture as the bytes that show it on a terminal.
#pragma once

#include <string>

#include "cli/terminal/picture_protocol.h"
#include "cli/terminal/terminal.h"
#include "media/image.h"

namespace omniphi::cli {

// Room that a picture takes at most, in character cells.
struct PictureRoom {
  int columns = 40, rows = 20;
};

struct PixelSize {
  int width = 0, height = 0;
};

// The largest size with the picture's aspect ratio inside `box`, never larger than the picture, at least 1x1.
PixelSize fit_picture(const Image& image, const PixelSize& box);

// The picture, shrunk to the room, with a line end behind it; empty for kNone and a picture without pixels. The cursor
// stands at the begin of a line before and after. Throws kInternal when an encoder fails.
std::string draw_picture(const Image& image, PictureProtocol protocol, const TerminalSize& size,
                         const PictureRoom& room = {});

// The encoders. Each shows the image as large as it is.
std::string encode_kitty(const Image& image);
std::string encode_sixel(const Image& image);
// Two pixels a character, the upper half block over its background. kBlocks or kBlocks256.
std::string encode_blocks(const Image& image, PictureProtocol protocol);

// The nearest of xterm's colours 16 to 255: the 6x6x6 cube and the greys.
int nearest_xterm_color(const uint8_t* rgb);

}  // namespace omniphi::cli

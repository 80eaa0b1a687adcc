// A picture into the bytes of a PNG file.
#pragma once

#include <string>

#include "media/image.h"

namespace omniphi {

// 8-bit RGB, not interlaced. Throws kInternal when the image has no pixels or libpng fails.
std::string encode_png(const Image& image);

}  // namespace omniphi

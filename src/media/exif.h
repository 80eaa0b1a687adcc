// The one EXIF field that changes what people see: the orientation.
#pragma once

#include <string_view>

#include "media/image.h"

namespace omniphi {

// The value of tag 0x0112 (1 to 8) in the first IFD of an EXIF block, with or without the leading "Exif\0\0". Anything
// damaged, absent or out of range gives 1: a broken note beside the pixels is no reason to refuse the pixels.
int exif_orientation(std::string_view exif);

// Turns and mirrors an image as its EXIF orientation asks, so that it stands as it was taken. 5 to 8 exchange width and
// height. Source: EXIF 2.32, table 4, tag 274.
Image apply_orientation(Image image, int orientation);

}  // namespace omniphi

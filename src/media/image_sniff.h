// What kind of file some bytes are, by their first bytes and never by a name. Internal to src/media.
#pragma once

#include <string>
#include <string_view>

namespace omniphi {

enum class ImageFormat { kUnknown, kJpeg, kPng, kWebp, kGif, kBmp, kTiff };

ImageFormat sniff_image(std::string_view bytes);

// For an error about a file that is none of these: "an empty file", "a PDF document", or its first bytes in
// hexadecimal.
std::string describe_unknown(std::string_view bytes);

}  // namespace omniphi

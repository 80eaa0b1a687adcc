// What the decoders of the single formats share. Internal to src/media.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "media/image_decode.h"

namespace omniphi {

// One file on its way to pixels.
struct ImageSource {
  std::string_view bytes;
  const std::string& name;
  const ImageOptions& options;
  const char* format;  // "JPEG"; errors name it
};

// Upright once `orientation` (EXIF, 1 to 8) has been applied.
struct DecodedImage {
  Image image;
  int orientation = 1;
};

DecodedImage decode_jpeg(const ImageSource& source);
DecodedImage decode_png(const ImageSource& source);
DecodedImage decode_webp(const ImageSource& source);
DecodedImage decode_gif(const ImageSource& source);
DecodedImage decode_bmp(const ImageSource& source);
DecodedImage decode_tiff(const ImageSource& source);

// Throws Error{kInput} for the file: "found" in the words of its format.
[[noreturn]] void image_error(const ImageSource& source, const std::string& found, const std::string& expected = "",
                              const std::string& remedy = "");

// The same for data that ends early or contradicts itself; `detail` is the decoder's own message.
[[noreturn]] void damaged_image(const ImageSource& source, const std::string& detail);

// Every decoder calls this with the header's size before it allocates pixels. Throws when a side is zero or the product
// is above options.max_pixels.
void check_image_size(const ImageSource& source, uint64_t width, uint64_t height);

}  // namespace omniphi

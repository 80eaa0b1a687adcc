#include "media/png_write.h"

#include <png.h>

#include "base/error.h"

namespace omniphi {

std::string encode_png(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  std::string bytes;
  // The first call only says how many bytes there will be.
  if (png_image_write_to_memory(&png, nullptr, &size, 0, image.rgb.data(), 0, nullptr) == 0) {
    internal_error("PNG", png.message);
  }
  bytes.resize(size);
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr) == 0) {
    internal_error("PNG", png.message);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace omniphi

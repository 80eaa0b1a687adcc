// From the bytes of an image file to RGB pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "media/image.h"

namespace omniphi {

struct ImageOptions {
  // False: what a viewer shows. The EXIF orientation is applied, transparency is composited on white, and 16-bit
  // samples
  //   become round(v * 255 / 65535).
  // True: what the reference's Pillow `Image.open(f).convert("RGB")` gives. Orientation is ignored (except in TIFF,
  // where
  //   Pillow applies it while loading), alpha is dropped, and 16-bit samples are cut as Pillow cuts them.
  bool reference_media = false;

  // Both are checked against the file's header before any pixel memory is allocated. The pixel limit is the one at
  // which Pillow refuses an image as a decompression bomb.
  size_t max_bytes = size_t{256} << 20;
  uint64_t max_pixels = 178'956'970;
};

// Decodes a JPEG, PNG, WebP, GIF, BMP or TIFF file, recognised by its first bytes, never by its name. Of an animation
// or a file with several pages it takes the first. Reads memory only.
//
// `name` is the file or URL that errors name. Throws Error{kInput} when the format is unknown or unsupported, when a
// limit is exceeded, and when the data is damaged or ends early: pixels that the file does not hold are never made up.
Image decode_image(std::string_view bytes, const std::string& name, const ImageOptions& options = {});

}  // namespace omniphi

#include "media/image_decode.h"

#include <utility>

#include "base/error.h"
#include "media/exif.h"
#include "media/image_formats.h"
#include "media/image_sniff.h"

namespace omniphi {
namespace {

using Decoder = DecodedImage (*)(const ImageSource&);

struct Format {
  ImageFormat format;
  const char* name;
  Decoder decode;
};

constexpr Format kFormats[] = {
    {ImageFormat::kJpeg, "JPEG", decode_jpeg}, {ImageFormat::kPng, "PNG", decode_png},
    {ImageFormat::kWebp, "WebP", decode_webp}, {ImageFormat::kGif, "GIF", decode_gif},
    {ImageFormat::kBmp, "BMP", decode_bmp},    {ImageFormat::kTiff, "TIFF", decode_tiff},
};

}  // namespace

void image_error(const ImageSource& source, const std::string& found, const std::string& expected,
                 const std::string& remedy) {
  throw Error(ErrorKind::kInput, source.name, std::string(source.format) + " image: " + found, expected, remedy);
}

void damaged_image(const ImageSource& source, const std::string& detail) {
  image_error(source, "damaged or cut off: " + detail, "a complete file", "check that the file opens elsewhere");
}

void check_image_size(const ImageSource& source, uint64_t width, uint64_t height) {
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (width == 0 || height == 0) image_error(source, size, "at least one pixel");
  if (width > source.options.max_pixels / height) {
    image_error(source, size, "at most " + std::to_string(source.options.max_pixels) + " pixels",
                "scale the image down first");
  }
}

Image decode_image(std::string_view bytes, const std::string& name, const ImageOptions& options) {
  if (bytes.size() > options.max_bytes) {
    throw Error(ErrorKind::kInput, name, std::to_string(bytes.size()) + " bytes",
                "an image of at most " + std::to_string(options.max_bytes) + " bytes", "");
  }
  const ImageFormat kind = sniff_image(bytes);
  for (const Format& format : kFormats) {
    if (format.format != kind) continue;
    DecodedImage decoded = format.decode(ImageSource{bytes, name, options, format.name});
    // Pillow turns TIFF images while it loads them, and no others.
    if (options.reference_media && kind != ImageFormat::kTiff) return std::move(decoded.image);
    return apply_orientation(std::move(decoded.image), decoded.orientation);
  }
  throw Error(ErrorKind::kInput, name, describe_unknown(bytes), "a JPEG, PNG, WebP, GIF, BMP or TIFF image",
              bytes.empty() ? "" : "convert it to PNG or JPEG");
}

}  // namespace omniphi

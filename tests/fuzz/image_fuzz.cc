// Image decoding: any bytes give an image of the promised size or an Error, and nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "media/image_decode.h"
#include "models/phi4mm/processor/image_processor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  omniphi::ImageOptions options;
  options.max_bytes = 1 << 20;
  options.max_pixels = 1 << 16;  // large enough for every path, small enough to be quick
  for (const bool reference : {false, true}) {
    options.reference_media = reference;
    try {
      const std::string_view bytes(reinterpret_cast<const char*>(data), size);
      const omniphi::Image image = omniphi::decode_image(bytes, "fuzz", options);
      const size_t pixels = static_cast<size_t>(image.width) * static_cast<size_t>(image.height);
      if (pixels == 0 || pixels > options.max_pixels || image.rgb.size() != pixels * 3) std::abort();
      omniphi::image_token_layout(image.width, image.height, 36);
    } catch (const omniphi::Error& error) {
      if (error.kind() != omniphi::ErrorKind::kInput) std::abort();
    }
  }
  return 0;
}

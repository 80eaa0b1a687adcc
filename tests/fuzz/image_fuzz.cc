// Image decoding: any bytes give an image of the promised size or an Error, and nothing else; and every image that
// decodes gets a layout or an Error in both families.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "media/image_decode.h"
#include "models/phi3v/processor/image_processor.h"
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
      omniphi::phi4mm::image_layout(image.width, image.height, 36);
      const omniphi::ImageLayout layout = omniphi::phi3v::image_layout(image.width, image.height, 16);
      if (layout.tokens > omniphi::phi3v::kMaxImageTokens || layout.crops > 17) std::abort();
    } catch (const omniphi::Error& error) {
      if (error.kind() != omniphi::ErrorKind::kInput) std::abort();
    }
  }
  return 0;
}

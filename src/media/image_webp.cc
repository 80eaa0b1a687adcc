// WebP by libwebp: lossy, lossless, alpha; of an animation the first frame on its canvas.
#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>
#include <string>
#include <vector>

#include "media/exif.h"
#include "media/image_formats.h"
#include "media/image_pixels.h"

namespace omniphi {
namespace {

struct DemuxDelete {
  void operator()(WebPDemuxer* demux) const { WebPDemuxDelete(demux); }
};
using Demuxer = std::unique_ptr<WebPDemuxer, DemuxDelete>;

int orientation(const WebPDemuxer* demux) {
  WebPChunkIterator chunk;
  int value = 1;
  if (WebPDemuxGetChunk(demux, "EXIF", 1, &chunk) != 0) {
    value = exif_orientation(std::string_view(reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size));
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return value;
}

const char* status_text(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "no memory for the decoder";
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return "the file ends early";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "an unsupported feature";
    default:
      return "a broken bitstream";
  }
}

// Decodes one frame at its place on the canvas.
void decode_frame(const ImageSource& source, const WebPIterator& frame, Image* canvas) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) image_error(source, "a libwebp of another version");
  const auto width = static_cast<size_t>(frame.width), height = static_cast<size_t>(frame.height);
  const bool alpha = frame.has_alpha != 0 && !source.options.reference_media;
  uint8_t* target = canvas->row(frame.y_offset) + static_cast<size_t>(frame.x_offset) * 3;
  std::vector<uint8_t> rgba(alpha ? width * height * 4 : 0);

  config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = alpha ? rgba.data() : target;
  config.output.u.RGBA.stride = static_cast<int>(alpha ? width * 4 : canvas->stride());
  config.output.u.RGBA.size = alpha ? rgba.size() : (height - 1) * canvas->stride() + width * 3;
  const VP8StatusCode status = WebPDecode(frame.fragment.bytes, frame.fragment.size, &config);
  if (status != VP8_STATUS_OK) damaged_image(source, status_text(status));
  for (size_t y = 0; y < height && alpha; ++y) {
    rgba_to_rgb(rgba.data() + y * width * 4, width, false, target + y * canvas->stride());
  }
}

}  // namespace

DecodedImage decode_webp(const ImageSource& source) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(source.bytes.data());
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(bytes, source.bytes.size(), &features);
  if (status != VP8_STATUS_OK) damaged_image(source, status_text(status));
  check_image_size(source, static_cast<uint64_t>(features.width), static_cast<uint64_t>(features.height));

  const WebPData data{bytes, source.bytes.size()};
  const Demuxer demux(WebPDemux(&data));
  if (demux == nullptr) damaged_image(source, "chunks that are cut off or contradict each other");
  const uint32_t width = WebPDemuxGetI(demux.get(), WEBP_FF_CANVAS_WIDTH);
  const uint32_t height = WebPDemuxGetI(demux.get(), WEBP_FF_CANVAS_HEIGHT);
  check_image_size(source, width, height);

  WebPIterator frame;
  if (WebPDemuxGetFrame(demux.get(), 1, &frame) == 0) damaged_image(source, "no frame");
  const std::unique_ptr<WebPIterator, void (*)(WebPIterator*)> release(&frame, WebPDemuxReleaseIterator);
  if (frame.width < 1 || frame.height < 1 || frame.complete == 0 ||
      static_cast<uint64_t>(frame.x_offset) + static_cast<uint64_t>(frame.width) > width ||
      static_cast<uint64_t>(frame.y_offset) + static_cast<uint64_t>(frame.height) > height) {
    damaged_image(source, "a frame that is cut off or leaves its canvas");
  }
  DecodedImage decoded;
  decoded.image = Image(static_cast<int>(width), static_cast<int>(height));
  if (!source.options.reference_media) decoded.image.rgb.assign(decoded.image.rgb.size(), 255);
  decode_frame(source, frame, &decoded.image);
  decoded.orientation = orientation(demux.get());
  return decoded;
}

}  // namespace omniphi

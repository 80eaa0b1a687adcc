// JPEG by libjpeg-turbo: baseline, progressive and arithmetic coding; grey, YCbCr, RGB, CMYK and YCCK.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <jpeglib.h>

#include <jerror.h>

#include "media/exif.h"
#include "media/image_formats.h"
#include "media/image_guard.h"
#include "media/image_pixels.h"

namespace omniphi {
namespace {

// A progressive file can hold any number of scans, each a pass over all pixels. Encoders write about ten.
constexpr int kMaxScans = 200;
constexpr unsigned kMarkerLimit = 0xFFFF;

// libjpeg's structure with what its callbacks need behind it.
struct JpegState {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  CGuard guard{};
};

JpegState* state_of(j_common_ptr info) { return static_cast<JpegState*>(info->client_data); }

void leave_with_message(j_common_ptr info) {
  JpegState* state = state_of(info);
  char text[JMSG_LENGTH_MAX];
  (*info->err->format_message)(info, text);
  state->guard.leave(text);
}

// libjpeg only warns when data is missing or broken, and fills in grey. That is an error here; warnings that leave the
// pixels right (padding before a marker, odd version numbers) pass in silence.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
      leave_with_message(info);
      break;
    default:
      break;
  }
}

void on_progress(j_common_ptr info) {
  const auto* decompress = reinterpret_cast<j_decompress_ptr>(info);
  if (decompress->input_scan_number > kMaxScans) state_of(info)->guard.leave("more than 200 scans");
}

class JpegReader {
 public:
  explicit JpegReader(const ImageSource& source) : source_(source) {
    state_.info.err = jpeg_std_error(&state_.errors);
    state_.errors.error_exit = leave_with_message;
    state_.errors.emit_message = on_message;
    state_.errors.output_message = [](j_common_ptr) {};
    state_.info.client_data = &state_;
  }
  ~JpegReader() { jpeg_destroy_decompress(&state_.info); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  void read_header() {
    jpeg_decompress_struct* info = &state_.info;
    const auto* data = reinterpret_cast<const unsigned char*>(source_.bytes.data());
    const auto size = static_cast<unsigned long>(source_.bytes.size());
    run([&] {
      jpeg_create_decompress(info);
      jpeg_mem_src(info, data, size);
      jpeg_save_markers(info, JPEG_APP0 + 1, kMarkerLimit);
      jpeg_read_header(info, TRUE);
    });
  }

  int orientation() const {
    constexpr std::string_view kPrefix("Exif\0\0", 6);
    for (const jpeg_marker_struct* marker = state_.info.marker_list; marker != nullptr; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (data.substr(0, kPrefix.size()) == kPrefix) return exif_orientation(data);
    }
    return 1;
  }

  Image pixels() {
    jpeg_decompress_struct* info = &state_.info;
    check_image_size(source_, info->image_width, info->image_height);
    const bool cmyk = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    if (info->jpeg_color_space == JCS_UNKNOWN) {
      image_error(source_, std::to_string(info->num_components) + " colour components", "1, 3 or 4");
    }
    info->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    state_.progress.progress_monitor = on_progress;
    info->progress = &state_.progress;
    Image image(static_cast<int>(info->image_width), static_cast<int>(info->image_height));
    std::vector<uint8_t> scratch(cmyk ? static_cast<size_t>(image.width) * 4 : 0);
    uint8_t* const rgb = image.rgb.data();
    uint8_t* const inks = scratch.data();
    const size_t stride = image.stride();
    run([&] {
      jpeg_start_decompress(info);
      while (info->output_scanline < info->output_height) {
        uint8_t* target = rgb + info->output_scanline * stride;
        uint8_t* row = cmyk ? inks : target;
        jpeg_read_scanlines(info, &row, 1);
        if (cmyk) inverted_cmyk_row(inks, info->output_width, target);
      }
      jpeg_finish_decompress(info);
    });
    return image;
  }

 private:
  template <typename Body>
  void run(const Body& body) {
    if (!run_guarded(state_.guard, body)) {
      const std::string message = state_.guard.message;
      damaged_image(source_, message);
    }
  }

  // Adobe stores CMYK inverted (255 is no ink). Without an Adobe marker the standard is silent; browsers and Pillow
  // assume Adobe's way, and so do we.
  static void inverted_cmyk_row(const uint8_t* inks, size_t pixels, uint8_t* rgb) {
    for (size_t i = 0; i < pixels; ++i, inks += 4, rgb += 3) {
      const uint8_t cmyk[4] = {static_cast<uint8_t>(255 - inks[0]), static_cast<uint8_t>(255 - inks[1]),
                               static_cast<uint8_t>(255 - inks[2]), static_cast<uint8_t>(255 - inks[3])};
      cmyk_to_rgb(cmyk, rgb);
    }
  }

  const ImageSource& source_;
  JpegState state_;
};

}  // namespace

DecodedImage decode_jpeg(const ImageSource& source) {
  JpegReader reader(source);
  reader.read_header();
  DecodedImage decoded;
  decoded.orientation = reader.orientation();
  decoded.image = reader.pixels();
  return decoded;
}

}  // namespace omniphi

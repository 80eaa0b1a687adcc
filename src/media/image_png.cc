// PNG by libpng: every colour type, 1 to 16 bits, tRNS, interlaced.
#include <png.h>

#include <cstring>
#include <string>
#include <vector>

#include "media/exif.h"
#include "media/image_formats.h"
#include "media/image_guard.h"
#include "media/image_pixels.h"

namespace omniphi {
namespace {

// What the callbacks need. Plain values only: they run inside the fence.
struct PngState {
  CGuard guard{};
  const char* bytes = nullptr;
  size_t left = 0;
};

void on_error(png_structp png, png_const_charp text) {
  static_cast<PngState*>(png_get_error_ptr(png))->guard.leave(text);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, size_t count) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (count > state->left) state->guard.leave("the file ends early");
  std::memcpy(out, state->bytes, count);
  state->bytes += count;
  state->left -= count;
}

class PngReader {
 public:
  explicit PngReader(const ImageSource& source) : source_(source) {
    state_.bytes = source.bytes.data();
    state_.left = source.bytes.size();
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, on_error, on_warning);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  DecodedImage decode() {
    if (info_ == nullptr) image_error(source_, "no memory for the decoder");
    const png_structp png = png_;
    const png_infop info = info_;
    PngState* state = &state_;
    run([=] {
      png_set_read_fn(png, state, on_read);
      png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_image_size decides
      png_read_info(png, info);
    });
    const uint32_t width = png_get_image_width(png_, info_), height = png_get_image_height(png_, info_);
    check_image_size(source_, width, height);
    grey16_as_pillow_ = source_.options.reference_media && png_get_bit_depth(png_, info_) == 16 &&
                        png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY;
    set_transforms();
    DecodedImage decoded;
    decoded.image = Image(static_cast<int>(width), static_cast<int>(height));
    read_rows(&decoded.image);
    run([=] { png_read_end(png, info); });  // to the end mark: the EXIF chunk may follow the pixels
    decoded.orientation = orientation();
    return decoded;
  }

 private:
  template <typename Body>
  void run(const Body& body) {
    if (!run_guarded(state_.guard, body)) {
      const std::string message = state_.guard.message;
      damaged_image(source_, message);
    }
  }

  // Everything becomes 8-bit RGB, or RGBA where there is any transparency.
  void set_transforms() {
    const png_structp png = png_;
    const png_infop info = info_;
    const bool reference = source_.options.reference_media;
    const bool grey16 = grey16_as_pillow_;
    run([=] {
      if (grey16) {
        png_set_interlace_handling(png);
        png_read_update_info(png, info);
        return;
      }
      png_set_expand(png);  // palette to RGB, 1 to 4 bits to 8, tRNS to alpha
      if (png_get_bit_depth(png, info) == 16) {
        if (reference)
          png_set_strip_16(png);
        else
          png_set_scale_16(png);
      }
      png_set_gray_to_rgb(png);
      png_set_interlace_handling(png);
      png_read_update_info(png, info);
    });
  }

  void read_rows(Image* image) {
    const png_structp png = png_;
    const size_t channels = png_get_channels(png_, info_);
    const bool interlaced = png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE;
    const size_t row_bytes = png_get_rowbytes(png_, info_);
    const auto height = static_cast<size_t>(image->height), width = static_cast<size_t>(image->width);
    const bool direct = channels == 3;
    const bool drop_alpha = source_.options.reference_media;
    const bool grey16 = grey16_as_pillow_;

    // Interlaced rows are completed over several passes, so all of them must be kept.
    const size_t kept = direct ? 0 : interlaced ? height : 1;
    std::vector<uint8_t> scratch(kept * row_bytes);
    std::vector<png_bytep> rows(height);
    for (size_t y = 0; y < height; ++y) {
      rows[y] = direct ? image->row(static_cast<int>(y)) : scratch.data() + (interlaced ? y : 0) * row_bytes;
    }
    png_bytepp row_pointers = rows.data();
    uint8_t* rgb = image->rgb.data();
    const auto convert = [=](const uint8_t* row, uint8_t* out) {
      if (grey16)
        clipped_grey_row(row, width, out);
      else
        rgba_to_rgb(row, width, drop_alpha, out);
    };
    run([=] {
      if (interlaced || direct) {
        png_read_image(png, row_pointers);
        for (size_t y = 0; y < height && !direct; ++y) convert(row_pointers[y], rgb + y * width * 3);
        return;
      }
      for (size_t y = 0; y < height; ++y) {
        png_read_row(png, row_pointers[y], nullptr);
        convert(row_pointers[y], rgb + y * width * 3);
      }
    });
  }

  // What Pillow's convert("RGB") makes of big-endian 16-bit grey.
  static void clipped_grey_row(const uint8_t* row, size_t width, uint8_t* rgb) {
    for (size_t x = 0; x < width; ++x, row += 2, rgb += 3) rgb[0] = rgb[1] = rgb[2] = row[0] != 0 ? 255 : row[1];
  }

  int orientation() {
    png_bytep data = nullptr;
    png_uint_32 size = 0;
    if (png_get_eXIf_1(png_, info_, &size, &data) == 0) return 1;
    return exif_orientation(std::string_view(reinterpret_cast<const char*>(data), size));
  }

  const ImageSource& source_;
  PngState state_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool grey16_as_pillow_ = false;
};

}  // namespace

DecodedImage decode_png(const ImageSource& source) { return PngReader(source).decode(); }

}  // namespace omniphi

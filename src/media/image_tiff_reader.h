// libtiff over memory, silent, and with its limits set. Internal to src/media.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <memory>
#include <string>

#include "media/image_formats.h"

namespace omniphi {

struct TiffClose {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

// An open TIFF file. The messages that libtiff would print are kept instead; nothing global is changed, so that files
// may be decoded on several threads.
class TiffFile {
 public:
  explicit TiffFile(const ImageSource& source);
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* get() const { return tiff_.get(); }

  // A field of the first page, with the default that the standard gives it.
  uint16_t u16(uint32_t tag, uint16_t otherwise = 0) const;
  uint32_t u32(uint32_t tag, uint32_t otherwise = 0) const;

  // Throws what libtiff last complained about.
  [[noreturn]] void fail() const;

  // From here on a warning of a codec that fills in missing pixels (fax, JPEG) counts as damage.
  void expect_whole_pixels() { strict_ = true; }
  void check_whole() const {
    if (damaged_) fail();
  }

 private:
  static tmsize_t read(thandle_t self, void* out, tmsize_t count);
  static toff_t seek(thandle_t self, toff_t offset, int whence);
  static int map(thandle_t self, void** base, toff_t* size);
  static int on_error(TIFF* tiff, void* self, const char* module, const char* format, va_list values);
  static int on_warning(TIFF* tiff, void* self, const char* module, const char* format, va_list values);

  const ImageSource& source_;
  uint64_t at_ = 0;
  std::string message_;
  bool strict_ = false;
  bool damaged_ = false;
  std::unique_ptr<TIFF, TiffClose> tiff_;
};

}  // namespace omniphi

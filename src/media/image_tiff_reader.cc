#include "media/image_tiff_reader.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace omniphi {
namespace {

// No single block that libtiff itself asks for needs more.
constexpr tmsize_t kMaxSingleAlloc = tmsize_t{1} << 30;

std::string formatted(const char* module, const char* format, va_list values) {
  char text[400];
  std::vsnprintf(text, sizeof(text), format, values);
  return module != nullptr ? std::string(module) + ": " + text : text;
}

}  // namespace

TiffFile::TiffFile(const ImageSource& source) : source_(source) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (options == nullptr) image_error(source, "no memory for the decoder");
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, this);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxSingleAlloc);
  const auto no_write = [](thandle_t, void*, tmsize_t) -> tmsize_t { return -1; };
  const auto no_close = [](thandle_t) { return 0; };
  const auto size = [](thandle_t self) -> toff_t { return static_cast<TiffFile*>(self)->source_.bytes.size(); };
  const auto no_unmap = [](thandle_t, void*, toff_t) {};
  // "m" keeps libtiff from treating our bytes as its mapping: it may reverse bits in a mapped strip.
  tiff_.reset(TIFFClientOpenExt(source.name.c_str(), "rm", this, read, no_write, seek, no_close, size, map, no_unmap,
                                options.get()));
  if (tiff_ == nullptr) fail();
  check_whole();
}

uint16_t TiffFile::u16(uint32_t tag, uint16_t otherwise) const {
  uint16_t value = otherwise;
  return TIFFGetFieldDefaulted(get(), tag, &value) == 1 ? value : otherwise;
}

uint32_t TiffFile::u32(uint32_t tag, uint32_t otherwise) const {
  uint32_t value = otherwise;
  return TIFFGetFieldDefaulted(get(), tag, &value) == 1 ? value : otherwise;
}

void TiffFile::fail() const { damaged_image(source_, message_.empty() ? "unreadable" : message_); }

tmsize_t TiffFile::read(thandle_t self, void* out, tmsize_t count) {
  auto* file = static_cast<TiffFile*>(self);
  const std::string_view bytes = file->source_.bytes;
  if (file->at_ >= bytes.size() || count <= 0) return 0;
  const size_t taken = std::min(static_cast<size_t>(count), bytes.size() - static_cast<size_t>(file->at_));
  std::memcpy(out, bytes.data() + file->at_, taken);
  file->at_ += taken;
  return static_cast<tmsize_t>(taken);
}

toff_t TiffFile::seek(thandle_t self, toff_t offset, int whence) {
  auto* file = static_cast<TiffFile*>(self);
  if (whence == SEEK_CUR) offset += file->at_;
  if (whence == SEEK_END) offset += file->source_.bytes.size();
  file->at_ = offset;
  return offset;
}

int TiffFile::map(thandle_t, void**, toff_t*) { return 0; }

int TiffFile::on_error(TIFF*, void* self, const char* module, const char* format, va_list values) {
  auto* file = static_cast<TiffFile*>(self);
  if (file->message_.empty()) file->message_ = formatted(module, format, values);
  return 1;
}

int TiffFile::on_warning(TIFF*, void* self, const char* module, const char* format, va_list values) {
  auto* file = static_cast<TiffFile*>(self);
  // A field whose values lie behind the end of the file is dropped with a warning, a palette among them.
  const std::string text = formatted(module, format, values);
  const bool cut_off = text.find("IO error") != std::string::npos;
  const std::string_view codec = module != nullptr ? module : "";
  const bool fills_in = codec.find("JPEG") != codec.npos || codec.find("Fax") != codec.npos;
  if ((cut_off || (file->strict_ && fills_in)) && !file->damaged_) {
    file->damaged_ = true;
    file->message_ = text;
  }
  return 1;
}

}  // namespace omniphi

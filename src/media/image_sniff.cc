#include "media/image_sniff.h"

#include <algorithm>
#include <cstdint>

namespace omniphi {
namespace {

using namespace std::string_view_literals;

struct Magic {
  size_t offset;
  std::string_view bytes;
  const char* what;
};

// What people hand over instead of an image, most specific first.
constexpr Magic kOthers[] = {
    {0, "%PDF"sv, "a PDF document"},
    {0, "%!PS"sv, "a PostScript file"},
    {4, "ftypheic"sv, "a HEIC image"},
    {4, "ftypheix"sv, "a HEIC image"},
    {4, "ftyphevc"sv, "a HEIC image sequence"},
    {4, "ftypmif1"sv, "a HEIF image"},
    {4, "ftypmsf1"sv, "a HEIF image sequence"},
    {4, "ftypavif"sv, "an AVIF image"},
    {4, "ftypavis"sv, "an AVIF image sequence"},
    {4, "ftypM4A"sv, "an M4A audio file"},
    {4, "ftypcrx"sv, "a Canon raw photograph"},
    {4, "ftyp"sv, "an MP4 or QuickTime file"},
    {0, "\0\0\0\x0CjP  "sv, "a JPEG 2000 image"},
    {0, "\xFF\x4F\xFF\x51"sv, "a JPEG 2000 image"},
    {0, "\0\0\0\x0CJXL "sv, "a JPEG XL image"},
    {0, "\xFF\x0A"sv, "a JPEG XL image"},
    {0, "8BPS"sv, "a Photoshop document"},
    {0, "\0\0\1\0"sv, "a Windows icon"},
    {0, "qoif"sv, "a QOI image"},
    {0, "DDS "sv, "a DirectDraw surface"},
    {0, "\x76\x2F\x31\x01"sv, "an OpenEXR image"},
    {8, "WAVE"sv, "a WAV audio file"},
    {8, "AVI "sv, "an AVI video"},
    {0, "fLaC"sv, "a FLAC audio file"},
    {0, "OggS"sv, "an Ogg file"},
    {0, "ID3"sv, "an MP3 audio file"},
    {0, "\x1A\x45\xDF\xA3"sv, "a WebM or Matroska file"},
    {0, "PK\3\4"sv, "a ZIP archive or office document"},
    {0, "\x1F\x8B"sv, "a gzip file"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer instead of the file"},
};

bool has(std::string_view bytes, size_t offset, std::string_view magic) {
  return bytes.size() >= offset + magic.size() && bytes.substr(offset, magic.size()) == magic;
}

// Text formats may start with spaces, a byte order mark, comments or a declaration.
const char* markup(std::string_view bytes) {
  std::string head(bytes.substr(0, 1024));
  std::transform(head.begin(), head.end(), head.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first == std::string::npos || head[first] != '<') return nullptr;
  if (head.find("<svg") != std::string::npos) return "an SVG drawing";
  if (head.find("<html") != std::string::npos || head.find("<!doctype html") != std::string::npos) {
    return "an HTML page";
  }
  return head.find("<?xml") != std::string::npos ? "an XML file" : nullptr;
}

}  // namespace

ImageFormat sniff_image(std::string_view bytes) {
  if (has(bytes, 0, "\xFF\xD8\xFF"sv)) return ImageFormat::kJpeg;
  if (has(bytes, 0, "\x89PNG\r\n\x1A\n"sv)) return ImageFormat::kPng;
  if (has(bytes, 0, "RIFF"sv) && has(bytes, 8, "WEBP"sv)) return ImageFormat::kWebp;
  if (has(bytes, 0, "GIF87a"sv) || has(bytes, 0, "GIF89a"sv)) return ImageFormat::kGif;
  if (has(bytes, 0, "BM"sv)) return ImageFormat::kBmp;
  for (const std::string_view magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (has(bytes, 0, magic)) return ImageFormat::kTiff;
  }
  return ImageFormat::kUnknown;
}

std::string describe_unknown(std::string_view bytes) {
  if (bytes.empty()) return "an empty file";
  for (const Magic& magic : kOthers) {
    if (has(bytes, magic.offset, magic.bytes)) return magic.what;
  }
  if (const char* text = markup(bytes)) return text;
  std::string hex = "an unknown format that begins with";
  for (const char c : bytes.substr(0, 8)) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<uint8_t>(c);
    hex += ' ';
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace omniphi

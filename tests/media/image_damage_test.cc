// Bad input: unknown formats, limits, bombs, files cut at every byte and bytes flipped.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/error.h"
#include "image_fixtures.h"
#include "media/image_decode.h"

namespace omniphi {
namespace {

using namespace std::string_literals;
using testing::image_fixtures;
using testing::ImageFixture;

// The error of a decode, or an empty one's stand-in when it succeeded.
Error error_of(const std::string& bytes, const ImageOptions& options = {}) {
  try {
    decode_image(bytes, "some/picture", options);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kInternal, "", "decoded");
}

TEST(ImageDamage, UnknownFormatsAreNamed) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "an empty file"},
      {"%PDF-1.7\n", "a PDF document"},
      {"\0\0\0\x18"
       "ftypheic\0\0\0\0"s,
       "a HEIC image"},
      {"\0\0\0\x1c"
       "ftypavif\0\0\0\0"s,
       "an AVIF image"},
      {"<?xml version=\"1.0\"?>\n<!-- a --><svg xmlns=\"http://www.w3.org/2000/svg\"/>", "an SVG drawing"},
      {"  <SVG/>", "an SVG drawing"},
      {"<!DOCTYPE html><html>", "an HTML page"},
      {"RIFF\x24\0\0\0WAVEfmt "s, "a WAV audio file"},
      {"fLaC\0\0\0\x22"s, "a FLAC audio file"},
      {"OggS\0\2"s, "an Ogg file"},
      {"ID3\4\0"s, "an MP3 audio file"},
      {"\0\0\0\x20"
       "ftypM4A \0\0\0\0"s,
       "an M4A audio file"},
      {"\0\0\0\x20"
       "ftypisom\0\0\0\0"s,
       "an MP4 or QuickTime file"},
      {"\x1A\x45\xDF\xA3 webm", "a WebM or Matroska file"},
      {"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer instead of the file"},
      {"hello world", "an unknown format that begins with 68 65 6c 6c 6f 20 77 6f"},
      {"\xFF", "an unknown format that begins with ff"},
  };
  for (const auto& [bytes, found] : cases) {
    const Error error = error_of(bytes);
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << found;
    EXPECT_EQ(error.where(), "some/picture");
    EXPECT_EQ(error.found(), found);
    EXPECT_NE(error.expected().find("JPEG, PNG, WebP, GIF, BMP or TIFF"), std::string::npos);
  }
}

TEST(ImageDamage, CutAtEveryByte) {
  for (const ImageFixture& fixture : image_fixtures()) {
    for (size_t size = 0; size<fixture.bytes.size(); size += fixture.bytes.size()> 2000 ? 7 : 1) {
      SCOPED_TRACE(fixture.name + " cut to " + std::to_string(size));
      // A copy of exactly this size, so that a sanitizer sees a read past the end.
      const std::vector<char> cut(fixture.bytes.begin(), fixture.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      try {
        const Image image = decode_image(std::string_view(cut.data(), cut.size()), fixture.name);
        // What still decodes must be the whole picture: nothing is made up.
        EXPECT_TRUE(image.rgb == fixture.viewer.rgb);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInput);
        EXPECT_EQ(error.where(), fixture.name);
        EXPECT_FALSE(error.found().empty());
      }
    }
  }
}

TEST(ImageDamage, HalfAFileIsAnError) {
  for (const ImageFixture& fixture : image_fixtures()) {
    EXPECT_EQ(error_of(fixture.bytes.substr(0, fixture.bytes.size() / 2)).kind(), ErrorKind::kInput) << fixture.name;
  }
}

TEST(ImageDamage, FlippedBytesGiveAnImageOrAnError) {
  std::mt19937 random(11);
  ImageOptions options;
  options.max_pixels = 1 << 20;  // so that a flipped size is not a minute of work
  for (const ImageFixture& fixture : image_fixtures()) {
    for (int round = 0; round < 40; ++round) {
      std::string bytes = fixture.bytes;
      for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      options.reference_media = round % 2 == 1;
      try {
        const Image image = decode_image(bytes, fixture.name, options);
        EXPECT_EQ(image.rgb.size(), static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInput) << fixture.name << ": " << error.what();
      }
    }
  }
}

TEST(ImageDamage, CapsOnBytesAndPixels) {
  for (const ImageFixture& fixture : image_fixtures()) {
    ImageOptions options;
    options.max_bytes = fixture.bytes.size() - 1;
    const Error bytes = error_of(fixture.bytes, options);
    EXPECT_EQ(bytes.kind(), ErrorKind::kInput);
    EXPECT_NE(bytes.expected().find("at most " + std::to_string(options.max_bytes)), std::string::npos);

    options = {};
    const uint64_t pixels = fixture.viewer.rgb.size() / 3;
    options.max_pixels = pixels;
    EXPECT_EQ(error_of(fixture.bytes, options).found(), "decoded") << fixture.name;
    options.max_pixels = pixels - 1;
    const Error error = error_of(fixture.bytes, options);
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << fixture.name;
    EXPECT_NE(error.expected().find(pixels > 1 ? "at most" : "0 pixels"), std::string::npos) << error.what();
  }
}

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// PNG's checksum (ISO 3309), which libpng verifies before it shows the size.
uint32_t crc32(const std::string& bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

// Headers that promise gigapixels: refused from the header, with no memory touched.
TEST(ImageDamage, BombsAreRefusedFromTheHeader) {
  const int64_t before = peak_kib();
  const auto with = [](const std::string& name, size_t at, const std::string& patch) {
    for (const ImageFixture& fixture : image_fixtures()) {
      if (fixture.name != name) continue;
      std::string bytes = fixture.bytes;
      return bytes.replace(at, patch.size(), patch);
    }
    ADD_FAILURE() << name;
    return ""s;
  };
  const std::string png_header = "IHDR\0\1\0\0\0\1\0\0\x08\2\0\0\0"s;  // 65,536 x 65,536
  const std::string bombs[] = {
      "\x89PNG\r\n\x1a\n\0\0\0\x0d"s + png_header + big_endian(crc32(png_header)) + "\0\0\0\1IDAT"s,
      with("plain.gif", 6, "\xff\xff\xff\xff"),
      with("rgb24.bmp", 18, "\xff\xff\0\0\xff\xff\0\0"s),
      with("baseline_444.jpg", 0, ""),
  };
  for (size_t i = 0; i < 3; ++i) {
    const Error error = error_of(bombs[i]);
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(error.expected().find("at most 178956970 pixels"), std::string::npos) << error.what();
  }
  std::string jpeg = bombs[3];
  const size_t frame = jpeg.find("\xFF\xC0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  EXPECT_NE(error_of(jpeg).expected().find("at most 178956970 pixels"), std::string::npos);
  EXPECT_LT(peak_kib() - before, 64 * 1024);
}

// A JPEG may carry any number of scans, each a pass over all pixels.
TEST(ImageDamage, JpegWithThousandsOfScans) {
  for (const ImageFixture& fixture : image_fixtures()) {
    if (fixture.name != "grey_progressive.jpg") continue;
    std::string bytes = fixture.bytes;
    // The first scan may be repeated: each gives the same coefficients. It ends where the next table begins.
    const size_t begin = bytes.find("\xFF\xDA");
    const size_t end = bytes.find("\xFF\xC4", begin);
    ASSERT_NE(end, std::string::npos);
    const std::string scan = bytes.substr(begin, end - begin);
    std::string many = bytes.substr(0, end);
    for (int i = 0; i < 3000; ++i) many += scan;
    many += bytes.substr(end);
    EXPECT_NE(error_of(many).found().find("scans"), std::string::npos) << error_of(many).what();
    return;
  }
}

TEST(ImageDamage, UnsupportedKindsSayWhatIs) {
  for (const ImageFixture& fixture : image_fixtures()) {
    std::string bytes = fixture.bytes;
    if (fixture.name == "rgb24.bmp") {
      bytes[30] = 4;  // an embedded JPEG
      EXPECT_NE(error_of(bytes).expected().find("RLE8"), std::string::npos);
      bytes = fixture.bytes;
      bytes[28] = 48;
      EXPECT_NE(error_of(bytes).expected().find("1, 2, 4, 8, 16, 24 or 32"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace omniphi

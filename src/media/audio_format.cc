#include "media/audio_format.h"

#include <algorithm>
#include <cstdio>

#include "media/audio_bytes.h"

namespace omniphi::audio {
namespace {

struct Magic {
  size_t at;
  std::string_view text;
  const char* what;
};

// What people hand over by mistake.
constexpr Magic kOthers[] = {
    {0, "#EXTM3U", "a playlist (M3U)"},
    {0, "[playlist]", "a playlist (PLS)"},
    {0, "ffconcat", "a list of files (ffconcat)"},
    {0, "<?xml", "an XML document"},
    {0, "<!DOCTYPE", "an HTML document"},
    {0, "<html", "an HTML document"},
    {0, "\x89PNG", "a PNG image"},
    {0, "\xff\xd8\xff", "a JPEG image"},
    {0, "GIF8", "a GIF image"},
    {0, "%PDF", "a PDF document"},
    {0, "PK\x03\x04", "a ZIP archive"},
    {0, "\x1f\x8b", "gzip data"},
    {0, "RIFX", "a big-endian WAV (RIFX)"},
    {8, "AVI ", "an AVI video"},
    {8, "WEBP", "a WebP image"},
    {0, "MThd", "a MIDI file"},
    {0, ".snd", "a Sun AU file"},
    {0, "caff", "a Core Audio file (CAF)"},
    {0, "riff", "a Wave64 file"},
    {0, "\x30\x26\xb2\x75", "a Windows Media file (ASF)"},
    {0, "#!AMR", "an AMR file"},
    {0, "wvpk", "a WavPack file"},
    {0, "MAC ", "a Monkey's Audio file"},
    {0, "FLV\x01", "a Flash video"},
    {0, "ADIF", "AAC with ADIF"},
};

bool is_mp4(std::string_view bytes) {
  for (const std::string_view type : {"ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"}) {
    if (starts_with_at(bytes, 4, type)) return true;
  }
  return false;
}

// A header alone is only eleven bits of sync: a second one must follow where the first frame ends, unless the file ends
// there.
bool is_mpeg_audio(std::string_view bytes) {
  MpegHeader first, second;
  if (!parse_mpeg_header(bytes, 0, &first)) return false;
  const auto next = static_cast<size_t>(first.frame_bytes);
  if (next == 0 || next + 4 > bytes.size()) return true;
  return parse_mpeg_header(bytes, next, &second) || starts_with_at(bytes, next, "TAG") ||
         starts_with_at(bytes, next, "APETAGEX");
}

bool is_adts(std::string_view bytes) {
  const auto next = static_cast<size_t>(adts_frame_bytes(bytes, 0));
  return next != 0 && (next + 7 > bytes.size() || adts_frame_bytes(bytes, next) != 0);
}

}  // namespace

AudioFormat detect_audio_format(std::string_view bytes) {
  const auto has = [&](size_t at, std::string_view text) { return starts_with_at(bytes, at, text); };
  if ((has(0, "RIFF") || has(0, "RF64") || has(0, "BW64")) && has(8, "WAVE")) return AudioFormat::kWav;
  if (has(0, "fLaC")) return AudioFormat::kFlac;
  if (has(0, "OggS")) return AudioFormat::kOgg;
  if (has(0, "\x1a\x45\xdf\xa3")) return AudioFormat::kMatroska;
  if (has(0, "FORM") && (has(8, "AIFF") || has(8, "AIFC"))) return AudioFormat::kAiff;
  if (is_mp4(bytes)) return AudioFormat::kMp4;
  if (is_adts(bytes)) return AudioFormat::kAdts;
  if (is_mpeg_audio(bytes)) return AudioFormat::kMp3;
  return AudioFormat::kUnknown;
}

std::string_view skip_id3v2(std::string_view bytes) {
  while (starts_with_at(bytes, 0, "ID3") && bytes.size() >= 10) {
    size_t size = 0;
    for (size_t i = 6; i < 10; ++i) size = size << 7 | (static_cast<unsigned char>(bytes[i]) & 0x7f);
    const bool footer = (static_cast<unsigned char>(bytes[5]) & 0x10) != 0;
    bytes.remove_prefix(std::min(bytes.size(), size + (footer ? 20 : 10)));
    bytes.remove_prefix(std::min(bytes.size(), bytes.find_first_not_of('\0')));
  }
  return bytes;
}

std::string describe_bytes(std::string_view bytes) {
  for (const Magic& magic : kOthers) {
    if (starts_with_at(bytes, magic.at, magic.text)) return magic.what;
  }
  std::string text = "bytes that start with";
  for (const char c : bytes.substr(0, 8)) {
    char hex[4];
    std::snprintf(hex, sizeof hex, " %02x", static_cast<unsigned char>(c));
    text += hex;
  }
  return text;
}

bool parse_mpeg_header(std::string_view bytes, size_t at, MpegHeader* header) {
  // ISO/IEC 11172-3, 2.4.1.3 and 2.4.2.3; ISO/IEC 13818-3 for the lower rates; MPEG-2.5 halves them once more.
  static constexpr int kRates[3] = {44100, 48000, 32000};
  static constexpr int kBitrates[5][15] = {
      {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},  // MPEG-1 layer 1
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},     // MPEG-1 layer 2
      {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},      // MPEG-1 layer 3
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},     // MPEG-2 layer 1
      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},          // MPEG-2 layers 2 and 3
  };
  if (at + 4 > bytes.size()) return false;
  const uint32_t word = be32(bytes, at);
  const int version = word >> 19 & 3, layer = 4 - static_cast<int>(word >> 17 & 3);
  const int bitrate_index = word >> 12 & 15, rate_index = word >> 10 & 3;
  if (word >> 21 != 0x7ff || version == 1 || layer == 4 || bitrate_index == 15 || rate_index == 3) return false;
  const bool mpeg1 = version == 3;
  const int row = mpeg1 ? layer - 1 : layer == 1 ? 3 : 4;
  const int bitrate = kBitrates[row][bitrate_index] * 1000;
  const int padding = word >> 9 & 1;
  header->version = version;
  header->layer = layer;
  header->sample_rate = kRates[rate_index] >> (mpeg1 ? 0 : version == 2 ? 1 : 2);
  header->mono = (word >> 6 & 3) == 3;
  header->frame_samples = layer == 1 ? 384 : layer == 3 && !mpeg1 ? 576 : 1152;
  header->frame_bytes = 0;
  if (bitrate == 0) return true;
  header->frame_bytes = layer == 1 ? (12 * bitrate / header->sample_rate + padding) * 4
                                   : header->frame_samples / 8 * bitrate / header->sample_rate + padding;
  return true;
}

int adts_frame_bytes(std::string_view bytes, size_t at) {
  if (at + 7 > bytes.size() || be32(bytes, at) >> 20 != 0xfff || (be32(bytes, at) >> 17 & 3) != 0) return 0;
  const auto frequency_index = be32(bytes, at) >> 10 & 15;
  const auto size = static_cast<int>(big_endian(bytes, at + 3, 3) >> 5 & 0x1fff);
  return frequency_index < 13 && size >= 7 ? size : 0;
}

}  // namespace omniphi::audio

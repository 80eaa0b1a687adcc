// Which audio container a file is, from its first bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace omniphi::audio {

enum class AudioFormat : uint8_t { kUnknown, kWav, kFlac, kMp3, kAdts, kOgg, kMp4, kMatroska, kAiff };

// The format of bytes that carry no ID3v2 tag in front.
AudioFormat detect_audio_format(std::string_view bytes);

// The bytes after any ID3v2 tags and the zero padding that follows them; empty when a tag is longer than the file.
std::string_view skip_id3v2(std::string_view bytes);

// What unknown bytes look like, for an error: "a playlist", "a PNG image", "bytes that start with 00 01 02 03".
std::string describe_bytes(std::string_view bytes);

inline constexpr const char* kKnownFormats =
    "WAV, FLAC, MP3, Ogg (Vorbis, Opus, FLAC), M4A or MP4, AAC (ADTS), WebM or Matroska, or AIFF";

// The fields of an MPEG audio frame's four-byte header that tell frames of one stream from noise.
struct MpegHeader {
  int version = 0;  // bits as stored: 3 is MPEG-1, 2 MPEG-2, 0 MPEG-2.5
  int layer = 0;    // 1, 2 or 3
  int sample_rate = 0;
  int frame_bytes = 0;  // 0 for the free format, whose frames don't say their size
  int frame_samples = 0;
  bool mono = false;
  // Same version, layer and rate: constant over a stream.
  bool same_stream(const MpegHeader& other) const {
    return version == other.version && layer == other.layer && sample_rate == other.sample_rate;
  }
};

// True and *header set when a valid MPEG audio frame header stands at `at`.
bool parse_mpeg_header(std::string_view bytes, size_t at, MpegHeader* header);

// The size of the ADTS frame at `at` (header included), or 0 when none starts there.
int adts_frame_bytes(std::string_view bytes, size_t at);

}  // namespace omniphi::audio

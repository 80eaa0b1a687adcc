// MP3, ADTS and FLAC: streams of frames.
#include <algorithm>

#include "media/audio_bytes.h"
#include "media/audio_checks.h"

namespace omniphi::audio {
namespace {

// The frame count that the first frame of a file may carry instead of sound.
struct FrameCount {
  bool present = false;  // the first frame is such a header
  int64_t frames = -1;   // -1: it doesn't say
  bool exact = false;    // written by LAME or FFmpeg, which don't count the header itself; older writers do
};

FrameCount read_frame_count(std::string_view bytes, const MpegHeader& header) {
  FrameCount count;
  const bool mpeg1 = header.version == 3;
  const size_t xing = 4 + (mpeg1 ? (header.mono ? 17 : 32) : (header.mono ? 9 : 17));
  constexpr size_t kVbri = 36;
  if (starts_with_at(bytes, kVbri, "VBRI") && kVbri + 18 <= bytes.size()) {
    return {true, be32(bytes, kVbri + 14), false};
  }
  if (!starts_with_at(bytes, xing, "Xing") && !starts_with_at(bytes, xing, "Info")) return count;
  if (xing + 12 > bytes.size()) return count;
  count.present = true;
  const uint32_t flags = be32(bytes, xing + 4);
  if (flags & 1) count.frames = be32(bytes, xing + 8);
  const size_t encoder =
      xing + 8 + (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0) + (flags & 8 ? 4 : 0);
  count.exact = starts_with_at(bytes, encoder, "LAME") || starts_with_at(bytes, encoder, "Lav");
  return count;
}

// The length of the tag or zero padding at `at`, or 0.
size_t tag_bytes(std::string_view bytes, size_t at) {
  const std::string_view rest = bytes.substr(at);
  if (rest.starts_with("TAG")) return std::min<size_t>(rest.size(), 128);
  if (rest.starts_with("LYRICSBEGIN")) return rest.size();
  if (rest.starts_with("APETAGEX") && rest.size() >= 32) {
    // The size leaves out a header, which is where we stand unless only a footer was written.
    return std::min<uint64_t>(rest.size(), uint64_t{le32(rest, 12)} + 32);
  }
  if (rest.starts_with("ID3")) return rest.size() - skip_id3v2(rest).size();
  return std::min(rest.size(), rest.find_first_not_of('\0'));
}

// The next position from `at` on where a frame starts that is followed by another (or ends the file); npos if none.
size_t find_frame(std::string_view bytes, size_t at, MpegHeader* header) {
  for (; at + 4 <= bytes.size(); ++at) {
    MpegHeader next;
    if (bytes[at] != '\xff' || !parse_mpeg_header(bytes, at, header) || header->frame_bytes == 0) continue;
    const size_t end = at + static_cast<size_t>(header->frame_bytes);
    if (end == bytes.size()) return at;
    if (parse_mpeg_header(bytes, end, &next) && next.same_stream(*header)) return at;
  }
  return std::string_view::npos;
}

// Nothing that is a frame or a tag stands at `at`: trailing bytes are let be, everything else is an error.
void check_gap(const AudioSource& source, std::string_view bytes, size_t at, const MpegHeader& first) {
  MpegHeader header;
  const size_t next = find_frame(bytes, at, &header);
  if (next != std::string_view::npos) {
    if (!header.same_stream(first)) {
      throw input_error(
          source.name,
          "a change to MPEG audio of " + std::to_string(header.sample_rate) + " Hz at byte " + std::to_string(next),
          std::to_string(first.sample_rate) + " Hz throughout", "convert the file to one format");
    }
    throw input_error(source.name,
                      "damaged data: " + std::to_string(next - at) + " bytes at byte " + std::to_string(at) +
                          " are no MPEG audio frame",
                      "frames without gaps", "encode the audio again");
  }
  if (bytes.size() - at < 4 && bytes[at] == '\xff') {
    throw truncated_error(source.name, "the last frame has " + std::to_string(bytes.size() - at) + " bytes",
                          "a whole frame");
  }
}

}  // namespace

ContainerFacts check_mp3(const AudioSource& source, std::string_view bytes) {
  MpegHeader first, header;
  if (!parse_mpeg_header(bytes, 0, &first)) internal_error("check_mp3", "no frame");
  if (first.frame_bytes == 0) return {bytes};
  const FrameCount count = read_frame_count(bytes, first);
  int64_t frames = 0;
  size_t at = 0, audio_end = 0;
  while (at < bytes.size()) {
    if (parse_mpeg_header(bytes, at, &header) && header.same_stream(first) && header.frame_bytes > 0) {
      const auto size = static_cast<size_t>(header.frame_bytes);
      if (size > bytes.size() - at) {
        throw truncated_error(source.name, "the last frame has " + std::to_string(bytes.size() - at) + " bytes",
                              std::to_string(size));
      }
      at = audio_end = at + size;
      ++frames;
    } else if (const size_t tag = tag_bytes(bytes, at); tag > 0) {
      at += tag;
    } else {
      check_gap(source, bytes, at, first);
      break;
    }
  }
  if (count.present) --frames;
  if (count.frames >= 0 && frames + (count.exact ? 0 : 1) < count.frames) {
    throw truncated_error(source.name, std::to_string(frames) + " frames",
                          std::to_string(count.frames) + " as its header counts");
  }
  return {bytes.substr(0, audio_end)};
}

ContainerFacts check_adts(const AudioSource& source, std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    if (const auto size = static_cast<size_t>(adts_frame_bytes(bytes, at)); size > 0) {
      if (size > bytes.size() - at) {
        throw truncated_error(source.name, "the last frame has " + std::to_string(bytes.size() - at) + " bytes",
                              std::to_string(size));
      }
      at += size;
    } else if (tag_bytes(bytes, at) == bytes.size() - at) {
      break;
    } else if (bytes.size() - at < 7) {
      throw truncated_error(source.name, "the last frame has " + std::to_string(bytes.size() - at) + " bytes",
                            "a whole frame");
    } else {
      throw input_error(source.name, "damaged data: no ADTS frame at byte " + std::to_string(at), "frames without gaps",
                        "encode the audio again");
    }
  }
  return {bytes.substr(0, at)};
}

ContainerFacts check_flac(const AudioSource& source, std::string_view bytes) {
  // "fLaC", a block header of 4 bytes (STREAMINFO is type 0), then 34 bytes with the 36-bit count at the end of the
  // 64 bits at 10 (RFC 9639, section 8.2).
  if (bytes.size() < 42)
    throw truncated_error(source.name, std::to_string(bytes.size()) + " bytes", "a STREAMINFO block");
  if ((bytes[4] & 0x7f) != 0) {
    throw input_error(source.name, "a FLAC file without STREAMINFO in front", "STREAMINFO as the first block");
  }
  constexpr size_t kId3v1 = 128;
  if (bytes.size() > kId3v1 && starts_with_at(bytes, bytes.size() - kId3v1, "TAG")) bytes.remove_suffix(kId3v1);
  size_t at = 4;  // metadata blocks: a last-block flag, a type, 24 bits of length
  for (bool last = false; !last;) {
    if (at + 4 > bytes.size()) throw truncated_error(source.name, "no end of the metadata", "a last metadata block");
    last = (bytes[at] & 0x80) != 0;
    const size_t size = 4 + big_endian(bytes, at + 1, 3);
    if (size > bytes.size() - at) {
      throw truncated_error(source.name, std::to_string(bytes.size() - at) + " bytes of a metadata block",
                            std::to_string(size));
    }
    at += size;
  }
  ContainerFacts facts{bytes};
  const auto total = static_cast<int64_t>(be64(bytes, 18) & 0xfffffffffu);
  // A writer to a pipe doesn't know the count; then every byte has to belong to a frame.
  (total > 0 ? facts.expected_samples : facts.expected_bytes) =
      total > 0 ? total : static_cast<int64_t>(bytes.size() - at);
  return facts;
}

}  // namespace omniphi::audio

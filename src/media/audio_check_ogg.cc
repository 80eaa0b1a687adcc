#include <map>

extern "C" {
#include <libavutil/crc.h>
}

#include "media/audio_bytes.h"
#include "media/audio_checks.h"

namespace omniphi::audio {
namespace {

// RFC 3533, section 6.
struct Page {
  bool begins = false, ends = false;
  uint32_t serial = 0;
  int64_t granule = -1;  // position at the page's end, in samples for the audio codecs; -1 when no packet ends here
  std::string_view body;
  size_t size = 0;
};

// The audio stream whose last granule position is the length of the sound (RFC 7845, section 4.5 for Opus).
struct Track {
  bool found = false;
  uint32_t serial = 0;
  int64_t pre_skip = 0;
  int64_t last_granule = -1;

  void take(const Page& page) {
    const bool opus = page.body.starts_with("OpusHead") && page.body.size() >= 12;
    if (page.begins && !found && (opus || page.body.starts_with("\x01vorbis"))) {
      found = true;
      serial = page.serial;
      if (opus) pre_skip = le16(page.body, 10);
    }
    if (found && page.serial == serial && page.granule > 0) last_granule = page.granule;
  }
};

constexpr size_t kHeader = 27;
constexpr size_t kChecksumAt = 22;

uint32_t page_checksum(std::string_view page) {
  const AVCRC* table = av_crc_get_table(AV_CRC_32_IEEE);
  const auto* data = reinterpret_cast<const uint8_t*>(page.data());
  constexpr uint8_t kZeros[4] = {};  // the field itself counts as zero
  uint32_t crc = av_crc(table, 0, data, kChecksumAt);
  crc = av_crc(table, crc, kZeros, 4);
  crc = av_crc(table, crc, data + kChecksumAt + 4, page.size() - kChecksumAt - 4);
  return crc;  // libavutil keeps it in the byte order of the page, read big-endian
}

Page read_page(const AudioSource& source, std::string_view bytes, size_t at) {
  const auto truncated = [&](size_t expected) {
    return truncated_error(source.name, "the last Ogg page has " + std::to_string(bytes.size() - at) + " bytes",
                           "at least " + std::to_string(expected));
  };
  const auto damaged = [&](const char* what) {
    return input_error(source.name, std::string("damaged data: ") + what + " at byte " + std::to_string(at),
                       "Ogg pages with right checksums", "copy or encode the file again");
  };
  const std::string_view rest = bytes.substr(at);
  constexpr std::string_view kCapture = "OggS";
  if (rest.substr(0, 4) != kCapture.substr(0, rest.size())) throw damaged("no Ogg page");
  if (rest.size() < kHeader) throw truncated(kHeader);
  const auto segments = static_cast<unsigned char>(rest[26]);
  Page page;
  page.size = kHeader + segments;
  if (rest.size() < page.size) throw truncated(page.size);
  for (size_t i = 0; i < segments; ++i) page.size += static_cast<unsigned char>(rest[kHeader + i]);
  if (rest.size() < page.size) throw truncated(page.size);
  if (page_checksum(rest.substr(0, page.size)) != be32(rest, kChecksumAt))
    throw damaged("an Ogg page with a wrong checksum");
  page.body = rest.substr(kHeader + segments, page.size - kHeader - segments);
  page.granule = static_cast<int64_t>(le64(rest, 6));
  page.begins = (rest[5] & 2) != 0;
  page.ends = (rest[5] & 4) != 0;
  page.serial = le32(rest, 14);
  return page;
}

}  // namespace

ContainerFacts check_ogg(const AudioSource& source, std::string_view bytes) {
  std::map<uint32_t, bool> ended;  // by serial number
  Track track;
  bool past_beginnings = false;
  size_t at = 0;
  while (at < bytes.size() && bytes.find_first_not_of('\0', at) != std::string_view::npos) {
    const Page page = read_page(source, bytes, at);
    if (page.begins && past_beginnings) {
      throw input_error(source.name, "a second stream chained at byte " + std::to_string(at), "one Ogg stream",
                        "split the file or encode it again");
    }
    past_beginnings = past_beginnings || !page.begins;
    ended[page.serial] = ended[page.serial] || page.ends;
    track.take(page);
    at += page.size;
  }
  for (const auto& [serial, has_ended] : ended) {
    if (!has_ended) throw truncated_error(source.name, "no end-of-stream page", "a last page that is marked as such");
  }
  ContainerFacts facts{bytes.substr(0, at)};
  if (track.last_granule > track.pre_skip) facts.end_sample = track.last_granule - track.pre_skip;
  return facts;
}

}  // namespace omniphi::audio

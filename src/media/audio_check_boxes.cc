// MP4, Matroska and AIFF: nested boxes with lengths.
#include <algorithm>

#include "media/audio_bytes.h"
#include "media/audio_checks.h"

namespace omniphi::audio {
namespace {

Error damaged(const AudioSource& source, const std::string& what, size_t at) {
  return input_error(source.name, "damaged data: " + what + " at byte " + std::to_string(at),
                     "boxes with valid lengths", "copy or encode the file again");
}

Error box_truncated(const AudioSource& source, const std::string& what, uint64_t found, uint64_t expected) {
  return truncated_error(source.name, std::to_string(found) + " bytes of " + what, std::to_string(expected));
}

bool only_zeros(std::string_view bytes, size_t at) {
  return bytes.find_first_not_of('\0', at) == std::string_view::npos;
}

// An EBML element's id and size (RFC 8794, sections 4 to 6).
struct Element {
  uint64_t id = 0, size = 0;
  bool unknown_size = false;
  size_t body = 0;  // where its content starts
};

constexpr uint64_t kSegment = 0x18538067, kCluster = 0x1f43b675;

// A number of 1 to 8 bytes, its length in the leading zeros of the first. False when the bytes end or no length is
// valid.
bool read_vint(std::string_view bytes, size_t* at, uint64_t* value, int* length) {
  if (*at >= bytes.size() || bytes[*at] == 0) return false;
  const auto first = static_cast<uint32_t>(static_cast<unsigned char>(bytes[*at]));
  *length = __builtin_clz(first) - 24 + 1;
  if (static_cast<size_t>(*length) > bytes.size() - *at) return false;
  *value = big_endian(bytes, *at, *length);
  *at += static_cast<size_t>(*length);
  return true;
}

Element read_element(const AudioSource& source, std::string_view bytes, size_t at) {
  Element element;
  const size_t start = at;
  int length = 0;
  if (bytes[at] == 0) throw damaged(source, "no Matroska element", at);
  if (!read_vint(bytes, &at, &element.id, &length) || !read_vint(bytes, &at, &element.size, &length)) {
    if (bytes.size() - start < 12) throw box_truncated(source, "an element header", bytes.size() - start, 12);
    throw damaged(source, "no Matroska element", start);
  }
  const uint64_t mask = (uint64_t{1} << (7 * length)) - 1;
  element.size &= mask;
  element.unknown_size = element.size == mask;
  element.body = at;
  return element;
}

}  // namespace

ContainerFacts check_mp4(const AudioSource& source, std::string_view bytes) {
  bool has_index = false;
  for (size_t at = 0; at < bytes.size() && !only_zeros(bytes, at);) {
    const size_t rest = bytes.size() - at;
    if (rest < 8) throw box_truncated(source, "a box header", rest, 8);
    const std::string type(bytes.substr(at + 4, 4));
    uint64_t size = be32(bytes, at);
    if (size == 1) {
      if (rest < 16) throw box_truncated(source, "a box header", rest, 16);
      size = be64(bytes, at + 8);
      if (size < 16) throw damaged(source, "a box of " + std::to_string(size) + " bytes", at);
    } else if (size == 0) {
      size = rest;  // to the end of the file
    } else if (size < 8) {
      throw damaged(source, "a box of " + std::to_string(size) + " bytes", at);
    }
    if (size > rest) throw box_truncated(source, "the box '" + type + "'", rest, size);
    has_index = has_index || type == "moov";
    at += size;
  }
  if (!has_index) throw truncated_error(source.name, "no index (moov box)", "one, before or after the samples");
  return {bytes};
}

ContainerFacts check_matroska(const AudioSource& source, std::string_view bytes) {
  bool in_segment = false;
  for (size_t at = 0; at < bytes.size() && !only_zeros(bytes, at);) {
    const Element element = read_element(source, bytes, at);
    const size_t rest = bytes.size() - element.body;
    const bool master = element.id == kSegment || element.id == kCluster;
    in_segment = in_segment || element.id == kSegment;
    if (element.unknown_size) {
      if (!master) throw damaged(source, "an element of unknown size", at);
      at = element.body;  // its children follow in one row
      continue;
    }
    if (element.size > rest) {
      throw box_truncated(source, element.id == kSegment ? "the segment" : "an element", rest, element.size);
    }
    at = element.body + element.size;
  }
  if (!in_segment) throw truncated_error(source.name, "no segment", "one with the audio");
  return {bytes};
}

ContainerFacts check_aiff(const AudioSource& source, std::string_view bytes) {
  ContainerFacts facts{bytes};
  bool has_samples = false;
  for (size_t at = 12; at + 8 <= bytes.size();) {
    const std::string id(bytes.substr(at, 4));
    const uint64_t size = be32(bytes, at + 4);
    at += 8;
    if (size > bytes.size() - at) throw box_truncated(source, "the chunk '" + id + "'", bytes.size() - at, size);
    if (id == "COMM" && size >= 18) facts.expected_samples = be32(bytes, at + 2);
    has_samples = has_samples || id == "SSND";
    at += size + size % 2;
  }
  if (!has_samples) throw truncated_error(source.name, "no sound chunk (SSND)", "one");
  return facts;
}

}  // namespace omniphi::audio

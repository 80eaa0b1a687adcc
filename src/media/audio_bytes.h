// Integers in the byte orders of audio containers. The caller has checked that the bytes are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace omniphi::audio {

inline uint64_t little_endian(std::string_view bytes, size_t at, int count) {
  uint64_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<size_t>(i)]);
  return value;
}

inline uint64_t big_endian(std::string_view bytes, size_t at, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<size_t>(i)]);
  return value;
}

inline uint16_t le16(std::string_view bytes, size_t at) { return static_cast<uint16_t>(little_endian(bytes, at, 2)); }
inline uint32_t le32(std::string_view bytes, size_t at) { return static_cast<uint32_t>(little_endian(bytes, at, 4)); }
inline uint64_t le64(std::string_view bytes, size_t at) { return little_endian(bytes, at, 8); }
inline uint32_t be32(std::string_view bytes, size_t at) { return static_cast<uint32_t>(big_endian(bytes, at, 4)); }
inline uint64_t be64(std::string_view bytes, size_t at) { return big_endian(bytes, at, 8); }

inline bool starts_with_at(std::string_view bytes, size_t at, std::string_view text) {
  return at <= bytes.size() && bytes.substr(at, text.size()) == text;
}

}  // namespace omniphi::audio

#include "text/byte_level.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace omniphi {
namespace {

constexpr size_t kAlphabetEnd = 0x100 + 68;

// byte_of[code point], or -1.
constexpr std::array<int16_t, kAlphabetEnd> make_byte_of() {
  std::array<int16_t, kAlphabetEnd> byte_of{};
  for (int16_t& value : byte_of) value = -1;
  size_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    byte_of[itself ? static_cast<size_t>(byte) : next++] = static_cast<int16_t>(byte);
  }
  return byte_of;
}

constexpr std::array<int16_t, kAlphabetEnd> kByteOf = make_byte_of();

}  // namespace

std::optional<std::string> bytes_of_spelling(std::string_view spelling) {
  std::string bytes;
  bytes.reserve(spelling.size());
  for (size_t at = 0; at < spelling.size();) {
    const CodePoint code = read_code_point(spelling, at);
    if (code.value >= kAlphabetEnd || kByteOf[code.value] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(static_cast<uint8_t>(kByteOf[code.value])));
    at += code.length;
  }
  return bytes;
}

}  // namespace omniphi

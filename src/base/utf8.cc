#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace omniphi {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What the first byte of a character demands: its length (0 when no character begins so) and the range of the second
// byte; further bytes are 0x80 to 0xBF (Unicode, table 3-7).
struct Lead {
  size_t length;
  uint8_t second_min;
  uint8_t second_max;
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte < 0xF0) {
    const uint8_t low = byte == 0xE0 ? 0xA0 : 0x80;
    const uint8_t high = byte == 0xED ? 0x9F : 0xBF;
    return {3, low, high};
  }
  if (byte < 0xF5) {
    const uint8_t low = byte == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = byte == 0xF4 ? 0x8F : 0xBF;
    return {4, low, high};
  }
  return {0, 0, 0};
}

// How many bytes from `offset` on agree with one character, and whether they complete it.
struct Scan {
  size_t bytes;
  bool complete;
};

Scan scan(std::string_view text, size_t offset) {
  const Lead lead = lead_of(static_cast<uint8_t>(text[offset]));
  if (lead.length == 0) return {0, false};
  size_t count = 1;
  while (count < lead.length && offset + count < text.size()) {
    const uint8_t byte = static_cast<uint8_t>(text[offset + count]);
    const uint8_t low = count == 1 ? lead.second_min : 0x80;
    const uint8_t high = count == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) return {count, false};
    ++count;
  }
  return {count, count == lead.length};
}

}  // namespace

size_t find_invalid_utf8(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    if (at + 8 <= bytes.size()) {  // most text is ASCII: eight bytes at once
      uint64_t word;
      std::memcpy(&word, bytes.data() + at, 8);
      if ((word & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const Scan s = scan(bytes, at);
    if (!s.complete) return at;
    at += s.bytes;
  }
  return std::string_view::npos;
}

CodePoint read_code_point(std::string_view text, size_t offset) {
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<uint8_t>(text[offset + i])); };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {(first & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (first < 0xF0) return {(first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}

void append_code_point(char32_t value, std::string* text) {
  const auto add = [&](char32_t byte) { text->push_back(static_cast<char>(static_cast<uint8_t>(byte))); };
  if (value < 0x80) {
    add(value);
  } else if (value < 0x800) {
    add(0xC0 | value >> 6);
    add(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    add(0xE0 | value >> 12);
    add(0x80 | (value >> 6 & 0x3F));
    add(0x80 | (value & 0x3F));
  } else {
    add(0xF0 | value >> 18);
    add(0x80 | (value >> 12 & 0x3F));
    add(0x80 | (value >> 6 & 0x3F));
    add(0x80 | (value & 0x3F));
  }
}

void append_replacing_invalid(std::string_view bytes, std::string* text) {
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t bad = find_invalid_utf8(bytes.substr(at));
    if (bad == std::string_view::npos) {
      text->append(bytes.substr(at));
      return;
    }
    text->append(bytes.substr(at, bad));
    text->append(kReplacement);
    at += bad;
    const size_t part = scan(bytes, at).bytes;
    at += part == 0 ? 1 : part;
  }
}

size_t incomplete_utf8_suffix(std::string_view bytes) {
  const size_t reach = bytes.size() < 3 ? bytes.size() : 3;
  for (size_t back = 1; back <= reach; ++back) {
    const size_t at = bytes.size() - back;
    const uint8_t byte = static_cast<uint8_t>(bytes[at]);
    if ((byte & 0xC0) == 0x80) continue;  // a continuation: its lead stands further left
    const Scan s = scan(bytes, at);
    return s.bytes == back && !s.complete ? back : 0;
  }
  return 0;
}

}  // namespace omniphi

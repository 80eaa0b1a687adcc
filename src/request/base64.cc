#include "request/base64.h"

#include <cstdint>

namespace omniphi {
namespace {

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && ascii_lower(text.substr(0, prefix.size())) == prefix;
}

std::string encode_base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;  // three bytes, those beyond the end zero
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (size_t digit = 0; digit < 4; ++digit) {
      const bool padding = at + digit > bytes.size();
      text += padding ? '=' : kDigits[group >> (18 - 6 * digit) & 63];
    }
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  int digits = 0, padding = 0;  // of the group that is being read
  for (const char c : text) {
    if (is_space(c)) continue;
    if (padding + digits == 4 && padding > 0) return std::nullopt;  // something behind the padding
    if (c == '=') {
      if (digits < 2) return std::nullopt;
      ++padding;
    } else {
      const int value = base64_value(c);
      if (value < 0 || padding > 0) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(value);
      if (++digits == 4) {
        bytes += static_cast<char>(group >> 16 & 0xff);
        bytes += static_cast<char>(group >> 8 & 0xff);
        bytes += static_cast<char>(group & 0xff);
        group = 0;
        digits = 0;
      }
    }
  }
  if (digits == 0 && padding == 0) return bytes;
  if (digits + padding != 4) return std::nullopt;
  if (digits == 3) {
    if ((group & 0x3) != 0) return std::nullopt;
    bytes += static_cast<char>(group >> 10 & 0xff);
    bytes += static_cast<char>(group >> 2 & 0xff);
  } else {
    if ((group & 0xf) != 0) return std::nullopt;
    bytes += static_cast<char>(group >> 4 & 0xff);
  }
  return bytes;
}

std::optional<std::string> decode_percent(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

std::optional<DataUrl> decode_data_url(std::string_view url) {
  if (!starts_with_ignoring_case(url, "data:")) return std::nullopt;
  url.remove_prefix(5);
  const size_t comma = url.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string header = ascii_lower(url.substr(0, comma));
  const std::string_view data = url.substr(comma + 1);

  DataUrl result;
  result.media_type = header.substr(0, header.find(';'));
  const size_t last = header.rfind(';');
  const bool base64 = last != std::string::npos && header.substr(last + 1) == "base64";
  // Encoders may percent-encode the '+', '/' and '=' of base64.
  std::optional<std::string> bytes = decode_percent(data);
  if (bytes && base64) bytes = decode_base64(*bytes);
  if (!bytes) return std::nullopt;
  result.bytes = std::move(*bytes);
  return result;
}

}  // namespace omniphi

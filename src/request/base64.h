// Bytes inside JSON and URLs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace omniphi {

// The bytes of base64 text (RFC 4648, section 4: the standard alphabet, padding required, unused bits zero). ASCII
// white space between characters is skipped, because encoders wrap lines. Nothing when it is anything else.
std::optional<std::string> decode_base64(std::string_view text);

// Base64 text of bytes, with padding and without line breaks.
std::string encode_base64(std::string_view bytes);

// The bytes of text in which %XX stands for a byte (RFC 3986, section 2.1). Nothing when a % isn't followed by two
// hexadecimal digits.
std::optional<std::string> decode_percent(std::string_view text);

// A URL of RFC 2397.
struct DataUrl {
  std::string media_type;  // lower case, without parameters; empty when the URL names none
  std::string bytes;
};

// Decodes "data:[TYPE][;PARAMETER=VALUE]...[;base64],DATA". Nothing when it isn't such a URL.
std::optional<DataUrl> decode_data_url(std::string_view url);

// Whether text begins with `prefix`, which is lower case, in any letter case.
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);

// ASCII letters in lower case.
std::string ascii_lower(std::string_view text);

}  // namespace omniphi

// UTF-8: checking, reading, writing, and replacing what is broken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace omniphi {

// A code point and the number of bytes it takes in UTF-8.
struct CodePoint {
  char32_t value;
  size_t length;
};

// The byte offset of the first byte that does not belong to well-formed UTF-8 (Unicode table 3-7: no overlong forms, no
// surrogates, nothing above U+10FFFF), or std::string_view::npos when all is well-formed.
size_t find_invalid_utf8(std::string_view bytes);

// The code point at `offset`, which must be the first byte of a character of well-formed UTF-8.
CodePoint read_code_point(std::string_view text, size_t offset);

// Appends the code point, which must be a Unicode scalar value.
void append_code_point(char32_t value, std::string* text);

// Appends the bytes with U+FFFD in place of every maximal subpart of an ill-formed sequence (Unicode, section 3.9, the
// practice that WHATWG's decoder requires and Python's and Rust's follow).
void append_replacing_invalid(std::string_view bytes, std::string* text);

// How many bytes at the end are a proper beginning of a well-formed character, so that more bytes may complete it: 0
// to 3.
size_t incomplete_utf8_suffix(std::string_view bytes);

}  // namespace omniphi

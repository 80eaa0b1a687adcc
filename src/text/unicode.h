// The classes of code points that the o200k split pattern tells apart, in a named Unicode version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace omniphi::unicode {

enum class CharClass : uint8_t {
  kOther,
  kUpper,         // Lu, Lt
  kLower,         // Ll
  kCaseless,      // Lm, Lo
  kMark,          // Mn, Mc, Me
  kDecimal,       // Nd
  kLetterNumber,  // Nl
  kOtherNumber,   // No
  kSpace,         // White_Space except CR and LF
  kNewline,       // CR, LF
};

// "16.0.0": the version whose tables tiktoken 0.14 and tokenizers 0.23 carry.
extern const char* const kVersion;

// Generated (unicode_tables.cc): blocks of 128 code points, sixteen classes of four bits a word.
extern const uint16_t kBlockOf[];
extern const size_t kBlockCount;
extern const uint64_t kClassWords[];

inline CharClass class_of(char32_t code) {
  const size_t block = code >> 7;
  if (block >= kBlockCount) {
    const bool variation_selector = code >= 0xE0100 && code <= 0xE01EF;
    return variation_selector ? CharClass::kMark : CharClass::kOther;
  }
  const uint64_t word = kClassWords[kBlockOf[block] * 8u + ((code >> 4) & 7u)];
  return static_cast<CharClass>((word >> (4 * (code & 15u))) & 15u);
}

// \p{L}
inline bool is_letter(CharClass c) { return c >= CharClass::kUpper && c <= CharClass::kCaseless; }
// \p{N}
inline bool is_number(CharClass c) { return c >= CharClass::kDecimal && c <= CharClass::kOtherNumber; }
// \s
inline bool is_space(CharClass c) { return c >= CharClass::kSpace; }

// \w of the Rust regex crate: Alphabetic, marks, decimals, connectors, joiners (what `single_word` of an added token
// looks at). Alphabetic beyond letters, marks and letter numbers are only the circled and squared Latin letters.
inline bool is_word(char32_t code) {
  const CharClass c = class_of(code);
  if (is_letter(c) || c == CharClass::kMark || c == CharClass::kDecimal || c == CharClass::kLetterNumber) return true;
  if (code == U'_' || code == 0x203F || code == 0x2040 || code == 0x2054) return true;
  if (code == 0xFE33 || code == 0xFE34 || (code >= 0xFE4D && code <= 0xFE4F) || code == 0xFF3F) return true;
  if (code == 0x200C || code == 0x200D) return true;
  return (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
         (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
}

}  // namespace omniphi::unicode

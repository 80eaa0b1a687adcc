#include "base/utf8.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace omniphi {
namespace {

constexpr size_t kValid = std::string_view::npos;

// Decoding by the arithmetic of the encoding alone: no tables. Returns the length of the well-formed character at the
// front, or 0.
size_t character_length(std::string_view bytes) {
  for (size_t length = 1; length <= 4 && length <= bytes.size(); ++length) {
    const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
    static const uint32_t lead_mask[] = {0x80, 0xE0, 0xF0, 0xF8}, lead_bits[] = {0x00, 0xC0, 0xE0, 0xF0};
    static const uint32_t first_code[] = {0, 0x80, 0x800, 0x10000};
    if ((byte(0) & lead_mask[length - 1]) != lead_bits[length - 1]) continue;
    uint32_t code = byte(0) & ~lead_mask[length - 1];
    for (size_t i = 1; i < length; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return 0;
      code = code << 6 | (byte(i) & 0x3F);
    }
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return code >= first_code[length - 1] && code <= 0x10FFFF && !surrogate ? length : 0;
  }
  return 0;
}

// Whether some bytes behind these make a well-formed character. All are tried; answers are kept.
bool can_be_completed(std::string_view bytes) {
  if (bytes.size() >= 4) return false;
  static std::map<std::string, bool, std::less<>> known;
  if (const auto it = known.find(bytes); it != known.end()) return it->second;
  std::string longer(bytes);
  bool found = false;
  for (int next = 0x80; next < 0xC0 && !found; ++next) {
    longer.resize(bytes.size());
    longer += static_cast<char>(next);
    found = character_length(longer) == longer.size() || can_be_completed(longer);
  }
  return known[std::string(bytes)] = found;
}

// The definition: the longest beginning that could be completed counts as one U+FFFD, else the single byte.
std::string replace_slowly(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    size_t taken = character_length(bytes);
    if (taken > 0) {
      text += bytes.substr(0, taken);
    } else {
      text += "\uFFFD";
      taken = 1;
      while (taken < bytes.size() && taken < 3 && can_be_completed(bytes.substr(0, taken + 1))) ++taken;
    }
    bytes.remove_prefix(taken);
  }
  return text;
}

std::string replaced(std::string_view bytes) {
  std::string text;
  append_replacing_invalid(bytes, &text);
  return text;
}

TEST(Utf8, EveryCodePointRoundTrips) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_code_point(code, &text);
    ASSERT_EQ(find_invalid_utf8(text), kValid);
    ASSERT_EQ(character_length(text), text.size());
    const CodePoint back = read_code_point(text, 0);
    ASSERT_EQ(back.value, code);
    ASSERT_EQ(back.length, text.size());
  }
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8(""), kValid);
  EXPECT_EQ(find_invalid_utf8("plain ascii that is longer than a word"), kValid);
  EXPECT_EQ(find_invalid_utf8("0123456789\x80"), 10u);
  EXPECT_EQ(find_invalid_utf8("\xC0\x80"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0u);      // overlong
  EXPECT_EQ(find_invalid_utf8("a\xED\xA0\x80"), 1u);     // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xF0\x8F\xBF\xBF"), 0u);  // overlong
  EXPECT_EQ(find_invalid_utf8("ab\xE2\x82"), 2u);        // cut short
  EXPECT_EQ(find_invalid_utf8("\xF4\x8F\xBF\xBF"), kValid);
}

// The examples of the Unicode standard, section 3.9, table 3-8 and the text before it.
TEST(Utf8, ReplacesMaximalSubparts) {
  EXPECT_EQ(replaced("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a\uFFFD\uFFFD\uFFFD"
            "b\uFFFD"
            "c\uFFFD\uFFFD"
            "d");
  EXPECT_EQ(replaced("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"
            "A");
  EXPECT_EQ(replaced("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"
            "A");
  EXPECT_EQ(replaced("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"
            "A\uFFFD\uFFFD"
            "B");
  EXPECT_EQ(replaced("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD"
            "A");
}

TEST(Utf8, RandomBytesAgainstTheDefinition) {
  std::mt19937 random(2);
  const unsigned char nasty[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
  for (int i = 0; i < 5000; ++i) {
    std::string bytes;
    for (size_t n = random() % 12; n > 0; --n) bytes += static_cast<char>(nasty[random() % sizeof(nasty)]);
    const std::string slow = replace_slowly(bytes);
    ASSERT_EQ(replaced(bytes), slow);
    ASSERT_EQ(find_invalid_utf8(slow), kValid);
    size_t valid = 0;
    while (valid < bytes.size() && character_length(std::string_view(bytes).substr(valid)) > 0) {
      valid += character_length(std::string_view(bytes).substr(valid));
    }
    ASSERT_EQ(find_invalid_utf8(bytes), valid == bytes.size() ? kValid : valid);
    size_t suffix = 0;  // the longest end that is a proper beginning
    for (size_t n = 1; n <= 3 && n <= bytes.size(); ++n) {
      if (can_be_completed(std::string_view(bytes).substr(bytes.size() - n))) suffix = n;
    }
    ASSERT_EQ(incomplete_utf8_suffix(bytes), suffix);
  }
}

}  // namespace
}  // namespace omniphi

#include "text/o200k_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "text/support.h"
#include "text/unicode.h"

namespace omniphi {
namespace {

using Pieces = std::vector<std::string>;

Pieces split(std::string_view text) {
  Pieces pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t end = o200k_piece_end(text, at);
    EXPECT_GT(end, at);
    pieces.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

// What the alternatives of the pattern say, worked out by hand.
TEST(O200kSplitter, Words) {
  EXPECT_EQ(split("Hello World"), (Pieces{"Hello", " World"}));
  EXPECT_EQ(split("camelCaseWORDSHere"), (Pieces{"camel", "Case", "WORDSHere"}));
  EXPECT_EQ(split("HTTP ok"), (Pieces{"HTTP", " ok"}));
  EXPECT_EQ(split("(word)"), (Pieces{"(word", ")"}));
  EXPECT_EQ(split("\u4E2DAB"), (Pieces{"\u4E2D", "AB"}));  // caseless gives back the capitals
  EXPECT_EQ(split("AB\u4E2Dab"), (Pieces{"AB\u4E2Dab"}));  // and joins what is around it
  EXPECT_EQ(split("\u0301AB"), (Pieces{"\u0301", "AB"}));  // a mark is a word of its own before it is a prefix
  EXPECT_EQ(split("\u0301ab"), (Pieces{"\u0301ab"}));
  EXPECT_EQ(split("!AB"), (Pieces{"!AB"}));
  EXPECT_EQ(split("\u01C5a\u01C5"), (Pieces{"\u01C5a", "\u01C5"}));  // title case counts as upper
}

TEST(O200kSplitter, Contractions) {
  EXPECT_EQ(split("don't"), (Pieces{"don't"}));
  EXPECT_EQ(split("WE'LL'ReX"), (Pieces{"WE'LL", "'Re", "X"}));
  EXPECT_EQ(split("x'\u017Fy"), (Pieces{"x'\u017F", "y"}));
  EXPECT_EQ(split("it\u2019s"), (Pieces{"it", "\u2019s"}));
  EXPECT_EQ(split("x'"), (Pieces{"x", "'"}));
  EXPECT_EQ(split("x'r"), (Pieces{"x", "'r"}));
  EXPECT_EQ(split("\u0301's"), (Pieces{"\u0301's"}));
  EXPECT_EQ(split("1's"), (Pieces{"1", "'s"}));
}

TEST(O200kSplitter, NumbersAndSymbols) {
  EXPECT_EQ(split("1234567"), (Pieces{"123", "456", "7"}));
  EXPECT_EQ(split(" 12"), (Pieces{" ", "12"}));
  EXPECT_EQ(split("\u00BD\u2167\u0663\u0664"), (Pieces{"\u00BD\u2167\u0663", "\u0664"}));
  EXPECT_EQ(split(" ==\n/\r\n/x"), (Pieces{" ==\n/\r\n/", "x"}));
  EXPECT_EQ(split("!!\u0301a"), (Pieces{"!!\u0301", "a"}));
  EXPECT_EQ(split("\t!"), (Pieces{"\t", "!"}));
  EXPECT_EQ(split("a/b//"), (Pieces{"a", "/b", "//"}));
}

TEST(O200kSplitter, WhiteSpace) {
  EXPECT_EQ(split("a  b"), (Pieces{"a", " ", " b"}));
  EXPECT_EQ(split("a   1"), (Pieces{"a", "  ", " ", "1"}));
  EXPECT_EQ(split("a  "), (Pieces{"a", "  "}));
  EXPECT_EQ(split(" \n \n  x"), (Pieces{" \n \n", " ", " x"}));
  EXPECT_EQ(split("\n\n"), (Pieces{"\n\n"}));
  EXPECT_EQ(split("a\u3000\u3000b"), (Pieces{"a", "\u3000", "\u3000b"}));
  EXPECT_EQ(split("\u200B\uFEFF"), (Pieces{"\u200B\uFEFF"}));  // no white space
  EXPECT_EQ(split("\u0085x\u2028\u2028"), (Pieces{"\u0085x", "\u2028\u2028"}));
}

TEST(O200kSplitter, PiecesCoverTheText) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = text_test::random_text(random, 60);
    std::string joined;
    for (const std::string& piece : split(text)) joined += piece;
    EXPECT_EQ(joined, text);
  }
}

// Numbers of code points in Unicode 16.0.0 as two independent libraries report them: the regular expressions of
// tokenizers 0.23 and of tiktoken 0.14 were asked about every code point.
TEST(Unicode, ClassSizes) {
  EXPECT_STREQ(unicode::kVersion, "16.0.0");
  std::vector<int> count(10, 0);
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    ++count[static_cast<size_t>(unicode::class_of(code))];
  }
  const auto of = [&](unicode::CharClass c) { return count[static_cast<size_t>(c)]; };
  EXPECT_EQ(of(unicode::CharClass::kUpper), 1889);
  EXPECT_EQ(of(unicode::CharClass::kLower), 2258);
  EXPECT_EQ(of(unicode::CharClass::kCaseless), 136881);
  EXPECT_EQ(of(unicode::CharClass::kMark), 2501);
  EXPECT_EQ(
      of(unicode::CharClass::kDecimal) + of(unicode::CharClass::kLetterNumber) + of(unicode::CharClass::kOtherNumber),
      1911);
  EXPECT_EQ(of(unicode::CharClass::kSpace) + of(unicode::CharClass::kNewline), 25);
}

TEST(Unicode, WordCharacters) {
  for (const char32_t code : {U'a', U'Z', U'0', U'_', U'\u00E9', U'\u4E2D', U'\u0301', U'\u0663', U'\u2167', U'\u200D',
                              U'\u24B6', U'\u203F', U'\uFF3F', U'\U0001F130'}) {
    EXPECT_TRUE(unicode::is_word(code)) << std::hex << static_cast<uint32_t>(code);
  }
  for (const char32_t code : {U' ', U'-', U'\u00BD', U'\u00B2', U'\u2019', U'\U0001F600', U'\u200B', U'<', U'|'}) {
    EXPECT_FALSE(unicode::is_word(code)) << std::hex << static_cast<uint32_t>(code);
  }
}

}  // namespace
}  // namespace omniphi

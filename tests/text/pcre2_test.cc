// PCRE2 as the oracle of the splitter and of the Unicode tables. Its tables are of an older Unicode version and its \s
// is another set, so white space is spelled out, and code points that it doesn't know yet are left out.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <gtest/gtest.h>
#include <pcre2.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "text/o200k_splitter.h"
#include "text/support.h"
#include "text/unicode.h"

namespace omniphi {
namespace {

class Regex {
 public:
  explicit Regex(const std::string& pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &error, &offset,
                              nullptr));
    if (code_ == nullptr) throw std::runtime_error("pattern at " + std::to_string(offset));
    match_.reset(pcre2_match_data_create(1, nullptr));
  }

  // The end of the match that begins exactly at `at`, or npos.
  size_t match_end(std::string_view text, size_t at) const {
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                  PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK, match_.get(), nullptr);
    return found < 0 ? std::string::npos : pcre2_get_ovector_pointer(match_.get())[1];
  }

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  };
  std::unique_ptr<pcre2_code, Free> code_;
  std::unique_ptr<pcre2_match_data, Free> match_;
};

const std::string kSpace =
    R"(\x{9}-\x{D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// kO200kPattern in PCRE2's terms; the case folding of the contractions needs no Unicode properties but UTF.
Regex o200k() {
  std::string pattern(kO200kPattern);
  pattern = replace_all(pattern, R"([^\s)", "[^" + kSpace);
  pattern = replace_all(pattern, R"(\S)", "[^" + kSpace + "]");
  pattern = replace_all(pattern, R"(\s)", "[" + kSpace + "]");
  return Regex(pattern);
}

TEST(Pcre2, TablesAgreeWhereItKnowsTheCodePoint) {
  const Regex unassigned(R"(\p{Cn})");
  const std::pair<Regex, unicode::CharClass> classes[] = {{Regex(R"([\p{Lu}\p{Lt}])"), unicode::CharClass::kUpper},
                                                          {Regex(R"(\p{Ll})"), unicode::CharClass::kLower},
                                                          {Regex(R"([\p{Lm}\p{Lo}])"), unicode::CharClass::kCaseless},
                                                          {Regex(R"(\p{M})"), unicode::CharClass::kMark},
                                                          {Regex(R"(\p{Nd})"), unicode::CharClass::kDecimal},
                                                          {Regex(R"(\p{Nl})"), unicode::CharClass::kLetterNumber},
                                                          {Regex(R"(\p{No})"), unicode::CharClass::kOtherNumber},
                                                          {Regex(R"([\r\n])"), unicode::CharClass::kNewline},
                                                          {Regex("[" + kSpace + "]"), unicode::CharClass::kSpace}};
  int unknown = 0;
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_code_point(code, &text);
    unicode::CharClass expected = unicode::CharClass::kOther;
    for (const auto& [regex, cls] : classes) {
      if (regex.match_end(text, 0) == std::string::npos) continue;
      expected = cls;
      break;
    }
    if (unicode::class_of(code) == expected) continue;
    ASSERT_NE(unassigned.match_end(text, 0), std::string::npos) << std::hex << static_cast<uint32_t>(code);
    ++unknown;
  }
  EXPECT_LT(unknown, 12000);  // what Unicode 15 and 16 brought, mostly ideographs and hieroglyphs
}

TEST(Pcre2, SplitsLikeTheSplitter) {
  const Regex regex = o200k();
  const Regex unassigned(R"(\p{Cn})");
  std::mt19937 random(77);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const std::string raw = text_test::random_text(random, 1 + i % 50);
    for (size_t at = 0; at < raw.size();) {  // leave out what PCRE2 may not know yet
      const size_t length = read_code_point(raw, at).length;
      if (unassigned.match_end(raw, at) == std::string::npos) text += raw.substr(at, length);
      at += length;
    }
    for (size_t at = 0; at < text.size();) {
      const size_t end = o200k_piece_end(text, at);
      ASSERT_EQ(end, regex.match_end(text, at)) << nlohmann::json(text).dump(-1, ' ', true) << " at " << at;
      at = end;
    }
  }
}

// Every string of up to five characters over one character of each kind.
TEST(Pcre2, SplitsShortStringsLikeTheSplitter) {
  const Regex regex = o200k();
  const std::vector<std::string> alphabet = {"a", "A", "\u4E2D", "\u0301", "1", " ", "\n", "\t", "!", "/", "'s"};
  size_t total = 1;
  for (int length = 1; length <= 5; ++length) {
    total *= alphabet.size();
    for (size_t index = 0; index < total; ++index) {
      std::string text;
      size_t rest = index;
      for (int i = 0; i < length; ++i, rest /= alphabet.size()) text += alphabet[rest % alphabet.size()];
      for (size_t at = 0; at < text.size();) {
        const size_t end = o200k_piece_end(text, at);
        ASSERT_EQ(end, regex.match_end(text, at)) << nlohmann::json(text).dump(-1, ' ', true) << " at " << at;
        at = end;
      }
    }
  }
}

}  // namespace
}  // namespace omniphi

#include "text/o200k_splitter.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"
#include "text/unicode.h"

namespace omniphi {

using unicode::CharClass;

const std::string_view kO200kPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

constexpr size_t kNone = std::string_view::npos;

struct Char {
  CharClass cls;
  size_t length;
};

Char char_at(std::string_view text, size_t at) {
  const CodePoint code = read_code_point(text, at);
  return {unicode::class_of(code.value), code.length};
}

// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
bool is_upperish(CharClass c) { return c == CharClass::kUpper || c == CharClass::kCaseless || c == CharClass::kMark; }
// [\p{Ll}\p{Lm}\p{Lo}\p{M}]
bool is_lowerish(CharClass c) { return c == CharClass::kLower || c == CharClass::kCaseless || c == CharClass::kMark; }
// [^\s\p{L}\p{N}]
bool is_symbol(CharClass c) { return c == CharClass::kOther || c == CharClass::kMark; }

// The end of the longest run of characters with the property, from `at` on.
template <typename Property>
size_t run_end(std::string_view text, size_t at, Property property) {
  while (at < text.size()) {
    const Char c = char_at(text, at);
    if (!property(c.cls)) break;
    at += c.length;
  }
  return at;
}

// What the word part of alternatives 1 and 2 can match from a position on.
struct Word {
  size_t lower_end = kNone;  // upperish* lowerish+ (alternative 1)
  size_t upper_end = kNone;  // upperish+ lowerish*, tried only when the other finds nothing
};

// Alternative 1 takes all upperish characters and then needs a lowerish one. If none follows, it gives back characters
// until one is lowerish itself, which is the last caseless letter or mark of the run; behind that one in the run stand
// only capitals, so the match ends right after it.
Word match_word(std::string_view text, size_t begin) {
  Word word;
  size_t at = begin;
  while (at < text.size()) {
    const Char c = char_at(text, at);
    if (!is_upperish(c.cls)) {
      if (c.cls == CharClass::kLower) word.lower_end = run_end(text, at + c.length, is_lowerish);
      break;
    }
    at += c.length;
    if (c.cls != CharClass::kUpper) word.lower_end = at;
  }
  if (at > begin) word.upper_end = at;
  return word;
}

// The end of an English contraction at `at`, or `at`: (?i:'s|'t|'re|'ve|'m|'ll|'d)?
size_t skip_contraction(std::string_view text, size_t at) {
  if (at + 1 >= text.size() || text[at] != '\'') return at;
  const auto lower = [&](size_t i) {
    const char c = i < text.size() ? text[i] : '\0';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  const char first = lower(at + 1);
  const char second = lower(at + 2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  if ((first == 'r' || first == 'v') && second == 'e') return at + 3;
  if (first == 'l' && second == 'l') return at + 3;
  if (text.substr(at + 1, 2) == "\u017F") return at + 3;  // the long s folds to s
  return at;
}

// Alternatives 1 and 2 at `at`, whose character is `c`; kNone when they don't match.
size_t match_word_piece(std::string_view text, size_t at, Char c) {
  size_t end = kNone;
  if (unicode::is_letter(c.cls)) {
    const Word word = match_word(text, at);
    end = word.lower_end != kNone ? word.lower_end : word.upper_end;
  } else if (is_symbol(c.cls) || c.cls == CharClass::kSpace) {
    const size_t next = at + c.length;
    const Word word = match_word(text, next);
    if (word.lower_end != kNone) {
      end = word.lower_end;
    } else if (c.cls == CharClass::kMark) {
      end = next;  // alternative 1 without a leading character comes before alternative 2 with one
    } else {
      end = word.upper_end;
    }
  }
  return end == kNone ? kNone : skip_contraction(text, end);
}

// Alternatives 5 to 7 at white space.
size_t match_space(std::string_view text, size_t begin) {
  size_t at = begin, last = begin, newline_end = kNone;
  while (at < text.size()) {
    const Char c = char_at(text, at);
    if (!unicode::is_space(c.cls)) break;
    last = at;
    at += c.length;
    if (c.cls == CharClass::kNewline) newline_end = at;
  }
  if (newline_end != kNone) return newline_end;       // \s*[\r\n]+
  if (at == text.size() || last == begin) return at;  // \s+(?!\S) at the end of the text, or \s+ of one character
  return last;                                        // \s+(?!\S) leaves the last one for the word that follows
}

}  // namespace

size_t o200k_piece_end(std::string_view text, size_t at) {
  const Char c = char_at(text, at);
  const size_t word_end = match_word_piece(text, at, c);
  if (word_end != kNone) return word_end;

  size_t next = at + c.length;
  if (unicode::is_number(c.cls)) {  // \p{N}{1,3}
    for (int count = 1; count < 3 && next < text.size(); ++count) {
      const Char digit = char_at(text, next);
      if (!unicode::is_number(digit.cls)) break;
      next += digit.length;
    }
    return next;
  }
  // " ?[^\s\p{L}\p{N}]+[\r\n/]*"
  const bool space_before_symbol = text[at] == ' ' && next < text.size() && is_symbol(char_at(text, next).cls);
  if (is_symbol(c.cls) || space_before_symbol) {
    next = run_end(text, next, is_symbol);
    while (next < text.size() && (text[next] == '\r' || text[next] == '\n' || text[next] == '/')) ++next;
    return next;
  }
  return match_space(text, at);
}

}  // namespace omniphi

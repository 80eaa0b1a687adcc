#include "text/markers.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/unicode.h"

namespace omniphi {
namespace {

bool is_decimal(char32_t code) { return unicode::class_of(code) == unicode::CharClass::kDecimal; }

// Unicode encodes the digits of a script in order and side by side, so that every run of decimal digits begins with a
// zero and holds tens.
int value_of(char32_t digit) {
  char32_t zero = digit;
  while (zero > 0 && is_decimal(zero - 1)) --zero;
  return static_cast<int>((digit - zero) % 10);
}

}  // namespace

std::optional<Marker> read_marker(std::string_view text, size_t at, std::string_view name) {
  if (text.substr(at, name.size()) != name) return std::nullopt;
  const size_t first_digit = at + name.size();
  size_t end = first_digit;
  int64_t number = 0;
  while (end < text.size()) {
    const CodePoint code = read_code_point(text, end);
    if (!is_decimal(code.value)) break;
    number = std::min(number * 10 + value_of(code.value), kMaxMarkerNumber);
    end += code.length;
  }
  if (end == first_digit || text.substr(end, 2) != "|>") return std::nullopt;
  return Marker{end + 2, number};
}

}  // namespace omniphi

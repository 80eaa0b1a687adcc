// GPT-2's alphabet: every byte as one printable character, which is how tokenizer.json spells tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace omniphi {

// The bytes that a token's spelling stands for, or nothing when it has a character outside the alphabet. `spelling`
// must be well-formed UTF-8. Bytes 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF stand for themselves as code points; the 68
// others, in ascending order, are U+0100, U+0101 and so on (bytes_to_unicode() of GPT-2's encoder).
std::optional<std::string> bytes_of_spelling(std::string_view spelling);

}  // namespace omniphi

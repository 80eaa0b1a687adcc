// The first step of encoding: cutting text into the pieces inside which bytes are merged.
#pragma once

#include <cstddef>
#include <string_view>

namespace omniphi {

// The split pattern of o200k, as it stands in tokenizer.json: the only one that o200k_piece_end() implements.
extern const std::string_view kO200kPattern;

// The end (byte offset) of the piece that begins at `at`, where `text` is well-formed UTF-8, `at` < text.size(), and
// `at` is where the piece before ended. Walking through a text costs time linear in its length: a character is looked
// at a bounded number of times.
size_t o200k_piece_end(std::string_view text, size_t at);

}  // namespace omniphi

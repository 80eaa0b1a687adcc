// Reading tokenizer.json and tokenizer_config.json into plain data, and refusing what is not exactly understood.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace omniphi {

// What a tokenizer.json of the one understood kind holds: byte-level BPE behind the o200k split pattern.
struct TokenizerFile {
  std::vector<std::pair<std::string, int32_t>> vocab;       // spellings in the byte-level alphabet, and ids
  std::vector<std::pair<std::string, std::string>> merges;  // spellings, in the order of their ranks
  bool ignore_merges = false;
  std::vector<AddedToken> added_tokens;  // contents are raw text
};

// The largest id that is accepted: far above every vocabulary, small enough to allocate.
inline constexpr int32_t kMaxTokenId = (1 << 22) - 1;

// Parses and checks. `where` names the file in errors. Throws kCheckpoint: malformed or too deeply nested JSON, another
// model, normaliser, pre-tokenizer, decoder or post-processor, dropout, byte fallback, affixes, an unknown key.
// truncation and padding are ignored: a call of the reference's tokenizer replaces both.
TokenizerFile parse_tokenizer_json(std::string_view bytes, const std::string& where);

// Lets the added tokens of tokenizer_config.json replace and extend those of the file by content. Keys other than
// added_tokens_decoder and add_prefix_space don't touch the ids of a text and are not looked at.
// Throws kCheckpoint: malformed JSON, wrong kinds of values, an id that contradicts the file, a prefix space.
void apply_tokenizer_config(std::string_view bytes, const std::string& where, TokenizerFile* file);

}  // namespace omniphi

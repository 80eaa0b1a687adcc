// Reading tokenizer.json and tokenizer_config.json into plain data, and refusing what is not exactly understood.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace omniphi {

// What a tokenizer.json of an understood kind holds.
struct TokenizerFile {
  TokenizerKind kind = TokenizerKind::kByteLevel;
  // Spellings and ids: byte-level, in its alphabet; SentencePiece, as they are but for spaces (U+2581) and bytes
  // (<0x0A>).
  std::vector<std::pair<std::string, int32_t>> vocab;
  std::vector<std::pair<std::string, std::string>> merges;  // spellings, in the order of their ranks
  bool ignore_merges = false;                               // byte-level only
  std::string bos;                                          // SentencePiece only: the token in front of every text
  int32_t bos_id = -1;
  std::vector<AddedToken> added_tokens;  // contents are raw text
};

// The largest id that is accepted: far above every vocabulary, small enough to allocate.
inline constexpr int32_t kMaxTokenId = (1 << 22) - 1;

// Parses and checks. `where` names the file in errors. Throws kCheckpoint: malformed or too deeply nested JSON, another
// model, normaliser, pre-tokenizer, decoder or post-processor than the kind's, dropout, affixes, an unknown key.
// truncation and padding are ignored: a call of the reference's tokenizer replaces both.
TokenizerFile parse_tokenizer_json(std::string_view bytes, const std::string& where);

// Lets the added tokens of tokenizer_config.json replace and extend those of the file by content. Of the other keys
// only those are looked at that touch the ids of a text: add_prefix_space, and with SentencePiece bos_token,
// add_bos_token and add_eos_token, from which transformers makes the post-processor anew. Throws kCheckpoint: malformed
// JSON, wrong kinds of values, an id or a BOS that contradicts the file, a prefix space.
void apply_tokenizer_config(std::string_view bytes, const std::string& where, TokenizerFile* file);

}  // namespace omniphi

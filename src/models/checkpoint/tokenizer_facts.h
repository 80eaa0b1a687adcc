// The little that a checkpoint's checks need to know about its tokenizer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace omniphi {

struct TokenizerFacts {
  std::map<std::string, int64_t> added;  // added_tokens: content -> id
  int64_t max_id = -1;                   // over the vocabulary and the added tokens
  std::string max_token;                 // a token of that id
};

// Reads tokenizer.json (the `tokenizers` library's format) without building it in memory. Throws an Error of
// kCheckpoint about `where` when it isn't JSON, nests too deeply, or an entry of model.vocab or added_tokens has no
// usable id.
TokenizerFacts read_tokenizer_facts(std::string_view text, const std::string& where);

}  // namespace omniphi

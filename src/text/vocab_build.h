// The tables of a model from the spellings of its file, checked: ids and spellings once each, merges of tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/bpe.h"
#include "text/tokenizer_json.h"

namespace omniphi {

// How a kind of file spells its tokens: the bytes that a spelling stands for, or nothing when it is none.
struct Spelling {
  std::optional<std::string> (*bytes_of)(std::string_view spelling);
  const char* expected;  // for error messages: what a spelling has to be
};

// Throws kCheckpoint at a part of the vocabulary: "WHERE: PART | found | expected".
[[noreturn]] void refuse_vocab(const std::string& where, const std::string& found, const std::string& expected);

// The text in quotes, shortened, for an error message.
std::string show_token(std::string_view text);

// The tokens of model.vocab and the added tokens. find() knows those of model.vocab only.
VocabTable build_vocab(const TokenizerFile& file, const std::string& where, const Spelling& spelling);

// The merges of model.merges between tokens of the vocabulary.
MergeTable build_merges(const TokenizerFile& file, const VocabTable& vocab, const std::string& where,
                        const Spelling& spelling);

}  // namespace omniphi

#include "text/vocab_build.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/error.h"
#include "base/utf8.h"

namespace omniphi {
namespace {

size_t id_range(const TokenizerFile& file) {
  int32_t last = -1;
  for (const auto& [spelling, id] : file.vocab) last = std::max(last, id);
  for (const AddedToken& token : file.added_tokens) last = std::max(last, token.id);
  return static_cast<size_t>(last + 1);
}

}  // namespace

void refuse_vocab(const std::string& where, const std::string& found, const std::string& expected) {
  throw Error(ErrorKind::kCheckpoint, where, found, expected, "Use the tokenizer.json of a released checkpoint.");
}

std::string show_token(std::string_view text) {
  std::string shown = "\"";
  append_replacing_invalid(text.substr(0, 60), &shown);
  return shown + (text.size() > 60 ? "...\"" : "\"");
}

VocabTable build_vocab(const TokenizerFile& file, const std::string& where, const Spelling& spelling_of) {
  VocabTable vocab(id_range(file), file.vocab.size());
  std::unordered_map<std::string_view, int32_t> added;
  for (const AddedToken& token : file.added_tokens) {
    const auto [it, fresh] = added.emplace(token.content, token.id);
    if (!fresh) refuse_vocab(where + ": added_tokens", show_token(token.content) + " twice", "every token once");
  }
  for (const auto& [spelling, id] : file.vocab) {
    const auto it = added.find(spelling);
    if (it != added.end() && it->second != id) {
      refuse_vocab(where + ": added_tokens", show_token(spelling) + " with the id " + std::to_string(it->second),
                   "the id " + std::to_string(id) + " of model.vocab");
    }
    const std::optional<std::string> bytes = spelling_of.bytes_of(spelling);
    if (!bytes && it != added.end()) continue;
    if (!bytes || bytes->empty()) refuse_vocab(where + ": model.vocab", show_token(spelling), spelling_of.expected);
    if (!vocab.add(id, *bytes)) {
      refuse_vocab(where + ": model.vocab", show_token(spelling) + " or its id " + std::to_string(id) + " twice",
                   "each once");
    }
  }
  for (const AddedToken& token : file.added_tokens) {
    const std::string_view taken = vocab.bytes(token.id);
    const auto spelling = spelling_of.bytes_of(token.content);
    if (!taken.empty() && taken != spelling) {
      refuse_vocab(where + ": added_tokens", show_token(token.content) + " with the id " + std::to_string(token.id),
                   "an id that no other token has");
    }
    if (taken.empty()) vocab.set_bytes(token.id, token.content);
  }
  return vocab;
}

MergeTable build_merges(const TokenizerFile& file, const VocabTable& vocab, const std::string& where,
                        const Spelling& spelling_of) {
  MergeTable merges(file.merges.size());
  for (size_t rank = 0; rank < file.merges.size(); ++rank) {
    const auto& [left, right] = file.merges[rank];
    const auto left_bytes = spelling_of.bytes_of(left);
    const auto right_bytes = spelling_of.bytes_of(right);
    const int32_t left_id = left_bytes ? vocab.find(*left_bytes) : -1;
    const int32_t right_id = right_bytes ? vocab.find(*right_bytes) : -1;
    const int32_t merged_id = left_id >= 0 && right_id >= 0 ? vocab.find(*left_bytes + *right_bytes) : -1;
    if (merged_id < 0) {
      refuse_vocab(where + ": model.merges[" + std::to_string(rank) + "]",
                   show_token(left) + " with " + show_token(right),
                   "two tokens of model.vocab whose joined characters are a token too");
    }
    merges.add(left_id, right_id, {static_cast<uint32_t>(rank), merged_id});
  }
  return merges;
}

}  // namespace omniphi

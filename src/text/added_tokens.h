// Finding added tokens in raw text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"

namespace omniphi {

// The end of the white space that begins at `begin`, and the begin of the white space that ends at `end` (property
// White_Space). `text` is well-formed UTF-8.
size_t skip_space(std::string_view text, size_t begin);
size_t skip_space_back(std::string_view text, size_t end);

// Which added tokens count.
enum class Recognise : uint8_t {
  kAll,
  kUnlessSpecial,  // a token whose `special` flag is set is passed over together with its characters
};

// Immutable after construction.
class AddedTokenMatcher {
 public:
  // Contents are neither empty nor equal.
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);
  AddedTokenMatcher(const AddedTokenMatcher&) = delete;
  AddedTokenMatcher& operator=(const AddedTokenMatcher&) = delete;

  // Cuts well-formed text at its added tokens, as the reference's library does: tokens whose `normalized` flag is unset
  // first, the others in the stretches left over. At a position the longest token wins; a single_word token that a word
  // character touches is passed over together with its characters.
  std::vector<TextSegment> find(std::string_view text, Recognise recognise) const;

  const AddedToken* by_content(std::string_view content) const;
  const AddedToken* by_id(int32_t id) const;
  const std::vector<AddedToken>& tokens() const { return tokens_; }

 private:
  // Tokens by the first byte of their content, longest first.
  using Buckets = std::array<std::vector<const AddedToken*>, 256>;

  // Where to look, and for which tokens.
  struct Search {
    const Buckets& buckets;
    std::string_view text;
    Recognise recognise;
  };

  static const AddedToken* longest_at(const Buckets& buckets, std::string_view text, size_t at);
  static void cut(const Search& search, TextSegment stretch, std::vector<TextSegment>* out);

  std::vector<AddedToken> tokens_;  // ascending ids
  Buckets raw_, normalized_;
  bool any_normalized_ = false;
  std::unordered_map<std::string_view, const AddedToken*> by_content_;
};

}  // namespace omniphi

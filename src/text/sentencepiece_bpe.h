// Llama's SentencePiece-style BPE as tokenizer.json spells it: no splitting, spaces as U+2581, bytes as a fallback.
// Phi-3.5-vision's kind.
#pragma once

#include <array>

#include "text/bpe.h"
#include "text/token_model.h"

namespace omniphi {

class SentencePieceBpe final : public TokenModel {
 public:
  // Throws kCheckpoint when U+2581 or a byte has no token, when something else is spelled like a byte, or as
  // build_vocab() and build_merges() do.
  SentencePieceBpe(const TokenizerFile& file, const std::string& where);

  // U+2581 goes in front whatever the text begins with, and takes the place of every space. The whole stretch is one
  // word: its code points, or the bytes of those that are no token, merge by rank. Time O(n log n).
  void encode(std::string_view text, std::vector<int32_t>* ids) const override;

  // U+2581 of a spelling is a space here, and "<0x0A>" the byte 10.
  std::string_view bytes(int32_t id) const override { return texts_.bytes(id); }
  bool is_byte(int32_t id) const override { return is_byte_[static_cast<size_t>(id)]; }
  int32_t size() const override { return static_cast<int32_t>(texts_.size()); }

 private:
  // Appends the symbol of a code point, or the symbols of its bytes.
  void add_character(std::string_view character, std::vector<BpeSymbol>* symbols) const;

  VocabTable spelled_;  // tokens as the file spells them
  MergeTable merges_;
  VocabTable texts_;  // tokens as they decode; its find() is not used
  std::vector<bool> is_byte_;
  std::array<int32_t, 256> byte_ids_;
  std::array<int32_t, 128> ascii_ids_;  // of ASCII characters: their own token, else their byte's; of a space U+2581's
};

}  // namespace omniphi

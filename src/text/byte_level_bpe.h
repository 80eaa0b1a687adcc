// Byte-level BPE behind the o200k split pattern: Phi-4-multimodal's kind.
#pragma once

#include "text/bpe.h"
#include "text/token_model.h"

namespace omniphi {

class ByteLevelBpe final : public TokenModel {
 public:
  // Throws kCheckpoint when a byte has no token, or as build_vocab() and build_merges() do.
  ByteLevelBpe(const TokenizerFile& file, const std::string& where);

  void encode(std::string_view text, std::vector<int32_t>* ids) const override;
  std::string_view bytes(int32_t id) const override { return bpe_.vocab().bytes(id); }
  bool is_byte(int32_t) const override { return false; }
  int32_t size() const override { return static_cast<int32_t>(bpe_.vocab().size()); }

 private:
  Bpe bpe_;
};

}  // namespace omniphi

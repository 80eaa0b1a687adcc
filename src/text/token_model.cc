#include "text/token_model.h"

#include "text/byte_level_bpe.h"
#include "text/sentencepiece_bpe.h"

namespace omniphi {

std::unique_ptr<const TokenModel> make_token_model(const TokenizerFile& file, const std::string& where) {
  if (file.kind == TokenizerKind::kSentencePiece) return std::make_unique<const SentencePieceBpe>(file, where);
  return std::make_unique<const ByteLevelBpe>(file, where);
}

}  // namespace omniphi

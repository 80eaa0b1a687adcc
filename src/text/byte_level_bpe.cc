#include "text/byte_level_bpe.h"

#include <utility>

#include "text/byte_level.h"
#include "text/o200k_splitter.h"
#include "text/vocab_build.h"

namespace omniphi {
namespace {

constexpr Spelling kSpelling = {bytes_of_spelling, "characters of the byte-level alphabet"};

void check_bytes(const VocabTable& vocab, const std::string& where) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<uint8_t>(byte));
    if (vocab.find({&c, 1}) < 0) {
      refuse_vocab(where + ": model.vocab", "no token for the byte " + std::to_string(byte), "all 256 bytes as tokens");
    }
  }
}

Bpe make_bpe(const TokenizerFile& file, const std::string& where) {
  VocabTable vocab = build_vocab(file, where, kSpelling);
  check_bytes(vocab, where);
  MergeTable merges = build_merges(file, vocab, where, kSpelling);
  return Bpe(std::move(vocab), std::move(merges), file.ignore_merges);
}

}  // namespace

ByteLevelBpe::ByteLevelBpe(const TokenizerFile& file, const std::string& where) : bpe_(make_bpe(file, where)) {}

void ByteLevelBpe::encode(std::string_view text, std::vector<int32_t>* ids) const {
  for (size_t at = 0; at < text.size();) {
    const size_t end = o200k_piece_end(text, at);
    bpe_.encode(text.substr(at, end - at), ids);
    at = end;
  }
}

}  // namespace omniphi

// What the two kinds of tokenizer.json do differently with the text between added tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer_json.h"

namespace omniphi {

// Immutable after construction; any number of threads may call it.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the ids of one stretch of text between added tokens: well-formed UTF-8, not empty, shorter than 4 GiB.
  virtual void encode(std::string_view text, std::vector<int32_t>* ids) const = 0;

  // What a token contributes to decoded text. 0 <= id < size(); empty when no token has this id.
  virtual std::string_view bytes(int32_t id) const = 0;

  // Whether the token stands for one byte of a run of bytes (SentencePiece's "<0x0A>"). 0 <= id < size().
  virtual bool is_byte(int32_t id) const = 0;

  // One more than the largest id.
  virtual int32_t size() const = 0;
};

// Makes the model that the file's kind asks for. Throws kCheckpoint naming the vocabulary's or the merges' fault.
std::unique_ptr<const TokenModel> make_token_model(const TokenizerFile& file, const std::string& where);

}  // namespace omniphi

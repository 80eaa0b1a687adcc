// From token ids to text, one id after the other: what Tokenizer::decode() and StreamDecoder share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace omniphi {

// Gives text as soon as it is certain; what it gives in all is the text of the ids, however they were pushed.
//
// Byte-level: an unfinished character waits, every maximal subpart of what is no UTF-8 becomes U+FFFD.
// SentencePiece: a run of byte tokens is certain only when another token ends it, for if it turns out not to be UTF-8
// EVERY byte of it becomes U+FFFD; from the first byte that makes it so, nothing waits any more. Left-out tokens and
// ids without a token don't end a run. One space at the begin of the whole text is dropped.
class TokenJoiner {
 public:
  // The tokenizer must outlive the joiner.
  explicit TokenJoiner(const Tokenizer& tokenizer, DecodeOptions options = {});

  // Takes the next id, whatever it is (ids without a token give nothing), and appends the text that is certain now.
  void push(int32_t id, std::string* text);

  // Appends what was withheld: call it once, behind the last id.
  void flush(std::string* text);

 private:
  void push_byte(char byte, std::string* text);
  void end_run(std::string* text);
  void append(std::string_view certain, std::string* text);

  const Tokenizer* tokenizer_;
  DecodeOptions options_;
  std::string pending_;   // byte-level: an unfinished character; SentencePiece: the run of bytes
  size_t whole_ = 0;      // SentencePiece: bytes of the run that are whole characters
  bool broken_ = false;   // SentencePiece: the run is no UTF-8, whatever follows
  bool at_begin_ = true;  // SentencePiece: no text so far
};

}  // namespace omniphi

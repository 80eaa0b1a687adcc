// Text while it is being generated: whole characters only, control tokens left out, stop strings honoured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/token_joiner.h"
#include "text/tokenizer.h"

namespace omniphi {

struct StreamDecoderOptions {
  bool show_special = false;      // also give the characters of control tokens such as <|end|>
  std::vector<std::string> stop;  // UTF-8, none empty
};

// Turns ids, one at a time, into text. Whatever the boundaries of tokens, the pieces of text concatenate to
// Tokenizer::decode() of all ids (with skip_special unless show_special), cut in front of the first stop string.
// The first stop string is the one that ends first; of those that end together, the longest.
class StreamDecoder {
 public:
  // The tokenizer must outlive the decoder. Throws kInput when a stop string is empty or not UTF-8.
  explicit StreamDecoder(const Tokenizer& tokenizer, StreamDecoderOptions options = {});

  // Takes the next id; returns the text that is certain now: not the beginning of a character (with SentencePiece, not
  // a run of byte tokens that may go on), and not what may be the beginning of a stop string. Ids without a token (the
  // model's vocabulary is padded) give nothing. After a stop string was found it returns nothing.
  std::string push(int32_t id);

  // Returns what was withheld: call it once, behind the last id. An unfinished character becomes U+FFFD.
  std::string flush();

  // Whether a stop string was found, and its index in options.stop.
  bool stopped() const { return stop_index_.has_value(); }
  std::optional<size_t> stop_index() const { return stop_index_; }

 private:
  // Runs complete characters through the stop strings; returns what can be given out.
  std::string filter(const std::string& text);

  TokenJoiner joiner_;
  StreamDecoderOptions options_;
  std::vector<std::vector<size_t>> failure_;  // per stop string: the failure function of Knuth, Morris and Pratt
  std::vector<size_t> matched_;               // per stop string: bytes of it that the text so far ends with
  std::string withheld_;                      // text that may be the beginning of a stop string
  std::optional<size_t> stop_index_;
};

}  // namespace omniphi

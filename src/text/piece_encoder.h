// From typed pieces to ids: what the families' prompts share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat.h"
#include "text/tokenizer.h"

namespace omniphi {

// Adjacent texts are joined before they are tokenised, every added token in them defused, and white space next to a
// control token that strips it vanishes: so without literal tokens in the texts the ids are those of encode_special()
// of the pieces as one string.
class PieceEncoder {
 public:
  // Both must outlive the encoder.
  PieceEncoder(const Tokenizer& tokenizer, std::vector<int32_t>* ids) : tokenizer_(&tokenizer), ids_(ids) {}

  void text(std::string_view characters) { text_ += characters; }

  // Throws kInput when the text in front isn't UTF-8.
  void control(const AddedToken& token);

  // Ends a string: what follows is tokenised as if nothing stood in front. Throws as control().
  void finish();

 private:
  void flush(bool strip_right);

  const Tokenizer* tokenizer_;
  std::vector<int32_t>* ids_;
  std::string text_;         // adjacent texts, joined
  bool strip_left_ = false;  // the token before `text_` swallows white space
};

// The added token of that content. Throws kCheckpoint when the tokenizer has none; `family` needs it.
const AddedToken& control_token(const Tokenizer& tokenizer, std::string_view content, const std::string& family);

// Appends the pieces of a text in which added tokens are recognised. `text` is well-formed UTF-8.
void append_pieces(const Tokenizer& tokenizer, std::string_view text, std::vector<Piece>* pieces);

}  // namespace omniphi

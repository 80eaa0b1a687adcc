#include "text/piece_encoder.h"

#include <optional>

#include "base/error.h"
#include "text/added_tokens.h"

namespace omniphi {

void PieceEncoder::flush(bool strip_right) {
  if (text_.empty()) return;
  check_prompt_text("text", text_);  // the strip rules below read whole characters
  const size_t begin = strip_left_ ? skip_space(text_, 0) : 0;
  const std::string_view rest = std::string_view(text_).substr(begin);
  tokenizer_->encode(rest.substr(0, strip_right ? skip_space_back(rest, rest.size()) : rest.size()), ids_);
  text_.clear();
}

void PieceEncoder::control(const AddedToken& token) {
  flush(token.lstrip);
  ids_->push_back(token.id);
  strip_left_ = token.rstrip;
}

void PieceEncoder::finish() {
  flush(false);
  strip_left_ = false;
}

const AddedToken& control_token(const Tokenizer& tokenizer, std::string_view content, const std::string& family) {
  const std::optional<int32_t> id = tokenizer.added_token_id(content);
  if (!id) {
    throw Error(ErrorKind::kCheckpoint, "tokenizer.json: added_tokens", "no token " + std::string(content),
                "the control and media tokens of " + family, "Use the tokenizer files of a released checkpoint.");
  }
  return *tokenizer.added_token(*id);
}

void append_pieces(const Tokenizer& tokenizer, std::string_view text, std::vector<Piece>* pieces) {
  for (const TextSegment& segment : tokenizer.find_added_tokens(text)) {
    if (segment.token != nullptr) {
      pieces->push_back({Piece::Kind::kControl, segment.token->content});
    } else {
      pieces->push_back({Piece::Kind::kText, std::string(text.substr(segment.begin, segment.end - segment.begin))});
    }
  }
}

}  // namespace omniphi

#include "text/token_joiner.h"

#include "base/utf8.h"

namespace omniphi {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

TokenJoiner::TokenJoiner(const Tokenizer& tokenizer, DecodeOptions options)
    : tokenizer_(&tokenizer), options_(options) {}

void TokenJoiner::append(std::string_view certain, std::string* text) {
  if (certain.empty()) return;
  if (at_begin_ && certain.front() == ' ') certain.remove_prefix(1);
  at_begin_ = false;
  text->append(certain);
}

void TokenJoiner::push_byte(char byte, std::string* text) {
  if (broken_) return append(kReplacement, text);
  pending_ += byte;
  const std::string_view tail = std::string_view(pending_).substr(whole_);  // at most four bytes
  if (find_invalid_utf8(tail) == std::string_view::npos) {
    whole_ = pending_.size();
  } else if (incomplete_utf8_suffix(tail) != tail.size()) {
    broken_ = true;
    for (size_t i = 0; i < pending_.size(); ++i) append(kReplacement, text);
    pending_.clear();
    whole_ = 0;
  }
}

void TokenJoiner::end_run(std::string* text) {
  if (whole_ == pending_.size()) {
    append(pending_, text);
  } else {
    for (size_t i = 0; i < pending_.size(); ++i) append(kReplacement, text);
  }
  pending_.clear();
  whole_ = 0;
  broken_ = false;
}

void TokenJoiner::push(int32_t id, std::string* text) {
  const AddedToken* token = options_.skip_special ? tokenizer_->added_token(id) : nullptr;
  if (token != nullptr && token->special) return;
  const std::string_view bytes = tokenizer_->token_bytes(id);
  if (bytes.empty()) return;
  if (tokenizer_->kind() == TokenizerKind::kByteLevel) {
    pending_ += bytes;
    const size_t whole = pending_.size() - incomplete_utf8_suffix(pending_);
    append_replacing_invalid(std::string_view(pending_).substr(0, whole), text);
    pending_.erase(0, whole);
  } else if (tokenizer_->is_byte_token(id)) {
    push_byte(bytes[0], text);
  } else {
    end_run(text);
    append(bytes, text);
  }
}

void TokenJoiner::flush(std::string* text) {
  if (tokenizer_->kind() == TokenizerKind::kSentencePiece) return end_run(text);
  append_replacing_invalid(pending_, text);
  pending_.clear();
}

}  // namespace omniphi

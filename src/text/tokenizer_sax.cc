#include "text/tokenizer_sax.h"

#include <utility>

#include "base/error.h"

namespace omniphi {

using nlohmann::json;

namespace {

// A value for an error message: short, whatever it is.
std::string shorten(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

}  // namespace

TokenizerSax::TokenizerSax(TokenizerFile* file, std::string where) : file_(file), where_(std::move(where)) {}

void TokenizerSax::refuse(const std::string& found, const std::string& expected) const {
  const std::string at = path();
  throw Error(ErrorKind::kCheckpoint, at.empty() ? where_ : where_ + ": " + at, found, expected,
              "Use the tokenizer.json of a released checkpoint.");
}

std::string TokenizerSax::path() const {
  std::string text;
  for (const std::string& key : keys_) {
    if (key.empty()) continue;
    if (!text.empty()) text += '.';
    text += key.size() > 80 ? key.substr(0, 77) + "..." : key;
  }
  return text;
}

json* TokenizerSax::place(json v) {
  if (stack_.empty()) {
    rest_ = std::move(v);
    return &rest_;
  }
  json& parent = *stack_.back();
  if (parent.is_array()) {
    parent.push_back(std::move(v));
    return &parent.back();
  }
  json& slot = parent[keys_.back()];
  slot = std::move(v);
  return &slot;
}

bool TokenizerSax::start(json container) {
  if (++depth_ > kMaxJsonDepth)
    refuse("nested deeper than " + std::to_string(kMaxJsonDepth), "the shape of a tokenizer");
  if (in_ == In::kMerges && container.is_array()) {
    in_ = In::kPair;
    pair_.clear();
    return true;
  }
  if (in_ != In::kRest) refuse("a nested value", in_ == In::kVocab ? "ids" : "strings or pairs of strings");
  const bool object = container.is_object();
  const std::string at = depth_ == 3 && stack_[0]->is_object() && stack_[1]->is_object() ? path() : "";
  json* placed = place(std::move(container));
  if (at == "model.vocab" && object) {
    in_ = In::kVocab;
  } else if (at == "model.merges" && !object) {
    in_ = In::kMerges;
  } else {
    stack_.push_back(placed);
    keys_.emplace_back();
  }
  return true;
}

bool TokenizerSax::end() {
  --depth_;
  if (in_ == In::kPair) {
    if (pair_.size() != 2) refuse("a merge of " + std::to_string(pair_.size()) + " parts", "two parts");
    file_->merges.emplace_back(std::move(pair_[0]), std::move(pair_[1]));
    in_ = In::kMerges;
  } else if (in_ != In::kRest) {
    in_ = In::kRest;
  } else {
    stack_.pop_back();
    keys_.pop_back();
  }
  return true;
}

bool TokenizerSax::key(std::string& v) {
  if (in_ == In::kVocab) {
    vocab_key_ = std::move(v);
    return true;
  }
  keys_.back() = std::move(v);
  if (stack_.back()->contains(keys_.back())) refuse("the key twice", "every key once");
  return true;
}

bool TokenizerSax::number_unsigned(uint64_t v) {
  if (in_ != In::kVocab) return value(v);
  if (v > static_cast<uint64_t>(kMaxTokenId)) {
    refuse("id " + std::to_string(v), "ids up to " + std::to_string(kMaxTokenId));
  }
  file_->vocab.emplace_back(std::move(vocab_key_), static_cast<int32_t>(v));
  return true;
}

bool TokenizerSax::string(std::string& v) {
  if (in_ == In::kPair) {
    pair_.push_back(std::move(v));
    return true;
  }
  if (in_ != In::kMerges) return value(v);
  if (v.starts_with("#version")) return true;  // the header line of an old merges.txt
  const size_t space = v.find(' ');
  if (space == std::string::npos || v.find(' ', space + 1) != std::string::npos) {
    refuse("the merge " + shorten(v), "two parts with one space between");
  }
  file_->merges.emplace_back(v.substr(0, space), v.substr(space + 1));
  return true;
}

bool TokenizerSax::value(json v) {
  if (in_ == In::kVocab) refuse(shorten(v) + " as the id of " + shorten(vocab_key_), "a number that is not negative");
  if (in_ != In::kRest) refuse(shorten(v), "strings or pairs of strings");
  place(std::move(v));
  return true;
}

bool TokenizerSax::parse_error(size_t position, const std::string&, const json::exception& error) {
  // The library's message may quote any bytes of the file: its number is enough.
  throw Error(ErrorKind::kCheckpoint, where_,
              "malformed JSON at byte " + std::to_string(position) + " (error " + std::to_string(error.id) + ")",
              "well-formed JSON in UTF-8", "Download the file again.");
}

}  // namespace omniphi

#include "models/checkpoint/tokenizer_facts.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/json.h"

namespace omniphi {
namespace {

using nlohmann::json;

// Called for each piece of the file in turn; knows where it is by the keys of the containers that are open.
class Listener : public nlohmann::json_sax<json> {
 public:
  explicit Listener(std::string where) : where_(std::move(where)) {}

  TokenizerFacts take() { return std::move(facts_); }

  bool null() override { return scalar(std::nullopt); }
  bool boolean(bool) override { return scalar(std::nullopt); }
  bool number_integer(number_integer_t value) override { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(value > static_cast<number_unsigned_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override { return scalar(std::nullopt); }
  bool string(string_t& value) override {
    if (in_added_token() && key() == "content") content_ = value;
    return scalar(std::nullopt);
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool key(string_t& value) override {
    keys_.back() = value;
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    if (keys_.size() == 2 && keys_[0] == "added_tokens") end_added_token();
    return true;
  }
  bool end_array() override {
    keys_.pop_back();
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    throw Error(ErrorKind::kCheckpoint, where_, error.what(), "valid JSON");
  }

 private:
  const std::string& key() const { return keys_.back(); }
  bool in_added_token() const { return keys_.size() == 3 && keys_[0] == "added_tokens"; }
  bool in_vocabulary() const { return keys_.size() == 3 && keys_[0] == "model" && keys_[1] == "vocab"; }

  bool open() {
    if (keys_.size() >= kMaxJsonDepth) {
      throw Error(ErrorKind::kCheckpoint, where_, "more than " + std::to_string(kMaxJsonDepth) + " nested containers",
                  "at most " + std::to_string(kMaxJsonDepth));
    }
    keys_.emplace_back();
    return true;
  }
  bool scalar(std::optional<int64_t> value) {
    if (keys_.empty()) throw Error(ErrorKind::kCheckpoint, where_, "not an object", "an object");
    if (in_added_token() && key() == "id") id_ = value;
    if (in_vocabulary()) note(key(), value);
    return true;
  }
  void end_added_token() {
    if (!content_) throw Error(ErrorKind::kCheckpoint, where_ + ": added_tokens", "a token without content", "content");
    note(*content_, id_);
    facts_.added[*content_] = *id_;
    content_.reset();
    id_.reset();
  }
  void note(const std::string& token, std::optional<int64_t> id) {
    if (!id || *id < 0) {
      throw Error(ErrorKind::kCheckpoint, where_, "the token " + show_text(token) + " without a usable id",
                  "an id of zero or more");
    }
    if (*id > facts_.max_id) {
      facts_.max_id = *id;
      facts_.max_token = token;
    }
  }

  std::string where_;
  TokenizerFacts facts_;
  std::vector<std::string> keys_;  // one for each open container: the key it is at (empty in lists)
  std::optional<std::string> content_;
  std::optional<int64_t> id_;
};

}  // namespace

TokenizerFacts read_tokenizer_facts(std::string_view text, const std::string& where) {
  Listener listener(where);
  json::sax_parse(text.begin(), text.end(), &listener);
  return listener.take();
}

}  // namespace omniphi

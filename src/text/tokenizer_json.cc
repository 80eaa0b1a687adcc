#include "text/tokenizer_json.h"

#include <initializer_list>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/o200k_splitter.h"
#include "text/tokenizer_sax.h"

namespace omniphi {

using nlohmann::json;

namespace {

constexpr const char* kRemedy = "Use the tokenizer.json of a released checkpoint.";

[[noreturn]] void refuse(const std::string& where, const json& found, const std::string& expected) {
  std::string text = found.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 400) text = text.substr(0, 397) + "...";
  throw Error(ErrorKind::kCheckpoint, where, text, expected, kRemedy);
}

// A JSON value with the path that leads to it, so that every check can say where it failed.
class Field {
 public:
  Field(const json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  const json& value() const { return *value_; }
  const std::string& where() const { return where_; }
  bool is_null() const { return value_->is_null(); }

  // A missing key gives null.
  Field operator[](const std::string& key) const {
    static const json kNull;
    if (!value_->is_object()) refuse(where_, *value_, "an object");
    const auto it = value_->find(key);
    return {it == value_->end() ? kNull : *it, where_ + (where_.ends_with(':') ? " " : ".") + key};
  }

  std::vector<Field> items() const {
    if (!value_->is_array()) refuse(where_, *value_, "a list");
    std::vector<Field> fields;
    for (size_t i = 0; i < value_->size(); ++i) {
      fields.emplace_back((*value_)[i], where_ + "[" + std::to_string(i) + "]");
    }
    return fields;
  }

  // Refuses keys outside the list.
  void only(std::initializer_list<const char*> keys) const {
    if (!value_->is_object()) refuse(where_, *value_, "an object");
    for (const auto& [key, ignored] : value_->items()) {
      bool known = false;
      for (const char* name : keys) known = known || key == name;
      if (!known)
        throw Error(ErrorKind::kCheckpoint, where_, "the unknown key " + json(key).dump(-1, ' ', true), "", kRemedy);
    }
  }

  // Refuses every value but the given ones; null stands for a missing key too.
  void must_be(std::initializer_list<json> accepted) const {
    std::string expected;
    for (const json& option : accepted) {
      if (*value_ == option) return;
      if (!expected.empty()) expected += " or ";
      expected += option.dump();
    }
    refuse(where_, *value_, expected);
  }

  bool as_bool(std::optional<bool> fallback = {}) const {
    if (is_null() && fallback) return *fallback;
    if (!value_->is_boolean()) refuse(where_, *value_, "true or false");
    return value_->get<bool>();
  }

  std::string as_text() const {
    if (!value_->is_string() || value_->get_ref<const std::string&>().empty()) refuse(where_, *value_, "a text");
    return value_->get<std::string>();
  }

 private:
  const json* value_;
  std::string where_;
};

void check_split(const Field& split) {
  split.only({"type", "pattern", "behavior", "invert"});
  split["pattern"].only({"Regex", "String"});
  split["pattern"]["Regex"].must_be({std::string(kO200kPattern)});
  split["pattern"]["String"].must_be({nullptr});
  // The pattern matches every character, so these two say the same: the matches are the pieces.
  const bool invert = split["invert"].as_bool();
  if (invert) {
    split["behavior"].must_be({"Removed", "Isolated"});
  } else {
    split["behavior"].must_be({"Isolated"});
  }
}

void check_pre_tokenizer(const Field& pre) {
  pre["type"].must_be({"Sequence"});
  pre.only({"type", "pretokenizers"});
  const std::vector<Field> steps = pre["pretokenizers"].items();
  if (steps.size() != 2) {
    refuse(pre["pretokenizers"].where(), std::to_string(steps.size()) + " steps", "Split, then ByteLevel");
  }
  steps[0]["type"].must_be({"Split"});
  check_split(steps[0]);
  steps[1]["type"].must_be({"ByteLevel"});
  steps[1].only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  steps[1]["add_prefix_space"].must_be({false});
  steps[1]["use_regex"].must_be({false});
}

// A ByteLevel post-processor only moves offsets; any other may add ids.
void check_post_processor(const Field& post) {
  if (post.is_null()) return;
  post["type"].must_be({"ByteLevel", "Sequence"});
  if (post["type"].value() != "Sequence") return;
  for (const Field& step : post["processors"].items()) step["type"].must_be({"ByteLevel"});
}

void check_decoder(const Field& decoder) {
  decoder["type"].must_be({"ByteLevel", "Sequence"});
  if (decoder["type"].value() != "Sequence") return;
  const std::vector<Field> steps = decoder["decoders"].items();
  if (steps.size() != 1) refuse(decoder["decoders"].where(), decoder["decoders"].value(), "ByteLevel alone");
  steps[0]["type"].must_be({"ByteLevel"});
}

void check_model(const Field& model) {
  model["type"].must_be({"BPE", nullptr});
  model.only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
              "byte_fallback", "ignore_merges", "vocab", "merges"});
  model["dropout"].must_be({nullptr, 0.0});
  model["continuing_subword_prefix"].must_be({nullptr, ""});
  model["end_of_word_suffix"].must_be({nullptr, ""});
  model["byte_fallback"].must_be({nullptr, false});
  // unk_token and fuse_unk have no effect: all 256 bytes are tokens.
  if (!model["vocab"].value().is_object()) refuse(model["vocab"].where(), model["vocab"].value(), "an object");
  if (!model["merges"].value().is_array()) refuse(model["merges"].where(), model["merges"].value(), "a list");
}

int32_t checked_id(const json& id, const std::string& where) {
  if (!id.is_number_unsigned() || id.get<uint64_t>() > static_cast<uint64_t>(kMaxTokenId)) {
    refuse(where, id, "an id from 0 to " + std::to_string(kMaxTokenId));
  }
  return id.get<int32_t>();
}

std::vector<AddedToken> read_added_tokens(const Field& list) {
  std::vector<AddedToken> tokens;
  if (list.is_null()) return tokens;
  for (const Field& entry : list.items()) {
    entry.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    token.id = checked_id(entry["id"].value(), entry["id"].where());
    token.content = entry["content"].as_text();
    token.single_word = entry["single_word"].as_bool();
    token.lstrip = entry["lstrip"].as_bool();
    token.rstrip = entry["rstrip"].as_bool();
    token.normalized = entry["normalized"].as_bool();
    token.special = entry["special"].as_bool();
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// The key of an entry of added_tokens_decoder: an id in decimal.
int32_t id_of_key(const std::string& key, const std::string& where) {
  int64_t id = 0;
  for (const char c : key) {
    if (c < '0' || c > '9' || key.size() > 9) refuse(where, key, "an id in decimal");
    id = id * 10 + (c - '0');
  }
  if (key.empty()) refuse(where, key, "an id in decimal");
  return checked_id(static_cast<uint64_t>(id), where);
}

// Flags that are missing have the defaults of transformers' AddedToken.
AddedToken read_config_token(const std::string& key, const Field& entry) {
  AddedToken token;
  token.id = id_of_key(key, entry.where());
  token.content = entry["content"].as_text();
  token.single_word = entry["single_word"].as_bool(false);
  token.lstrip = entry["lstrip"].as_bool(false);
  token.rstrip = entry["rstrip"].as_bool(false);
  token.special = entry["special"].as_bool(false);
  token.normalized = entry["normalized"].as_bool(!token.special);
  return token;
}

}  // namespace

TokenizerFile parse_tokenizer_json(std::string_view bytes, const std::string& where) {
  TokenizerFile file;
  TokenizerSax sax(&file, where);
  json::sax_parse(bytes.begin(), bytes.end(), &sax);

  const Field root(sax.rest(), where + ":");
  root.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
             "decoder", "model"});
  root["version"].must_be({"1.0", nullptr});
  root["normalizer"].must_be({nullptr});
  check_pre_tokenizer(root["pre_tokenizer"]);
  check_post_processor(root["post_processor"]);
  check_decoder(root["decoder"]);
  check_model(root["model"]);
  file.ignore_merges = root["model"]["ignore_merges"].as_bool(false);
  file.added_tokens = read_added_tokens(root["added_tokens"]);
  return file;
}

void apply_tokenizer_config(std::string_view bytes, const std::string& where, TokenizerFile* file) {
  TokenizerFile unused;
  TokenizerSax sax(&unused, where);
  json::sax_parse(bytes.begin(), bytes.end(), &sax);

  const Field root(sax.rest(), where + ":");
  root["add_prefix_space"].must_be({nullptr, false});
  const Field decoder = root["added_tokens_decoder"];
  if (decoder.is_null()) return;
  if (!decoder.value().is_object()) refuse(decoder.where(), decoder.value(), "an object");
  for (const auto& [key, value] : decoder.value().items()) {
    AddedToken token = read_config_token(key, Field(value, decoder.where() + "." + key));
    bool known = false;
    for (AddedToken& present : file->added_tokens) {
      if (present.content != token.content) continue;
      if (present.id != token.id) {
        refuse(decoder.where() + "." + key, token.content,
               "the id " + std::to_string(present.id) + " of tokenizer.json");
      }
      present = token;
      known = true;
    }
    if (!known) file->added_tokens.push_back(std::move(token));
  }
}

}  // namespace omniphi

#include "text/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "text/tokenizer_field.h"
#include "text/tokenizer_sax.h"
#include "text/tokenizer_shape.h"

namespace omniphi {

using nlohmann::json;

namespace {

std::vector<AddedToken> read_added_tokens(const Field& list) {
  std::vector<AddedToken> tokens;
  if (list.is_null()) return tokens;
  for (const Field& entry : list.items()) {
    entry.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    token.id = entry["id"].as_id();
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
    if (c < '0' || c > '9' || key.size() > 9) refuse_field(where, key, "an id in decimal");
    id = id * 10 + (c - '0');
  }
  if (key.empty()) refuse_field(where, key, "an id in decimal");
  return Field(json(static_cast<uint64_t>(id)), where).as_id();
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

// What else of tokenizer_config.json touches the ids of a text.
void check_config(const Field& root, const TokenizerFile& file) {
  if (file.kind == TokenizerKind::kByteLevel) return root["add_prefix_space"].must_be({nullptr, false});
  // Either value makes transformers build the tokenizer anew, from another file.
  root["add_prefix_space"].must_be({nullptr});
  root["add_bos_token"].must_be({nullptr, true});
  root["add_eos_token"].must_be({nullptr, false});
  const Field bos = root["bos_token"];
  (bos.value().is_object() ? bos["content"] : bos).must_be({file.bos, nullptr});
}

}  // namespace

TokenizerFile parse_tokenizer_json(std::string_view bytes, const std::string& where) {
  TokenizerFile file;
  TokenizerSax sax(&file, where);
  json::sax_parse(bytes.begin(), bytes.end(), &sax);

  const Field root(sax.rest(), where + ":");
  read_tokenizer_shape(root, &file);
  file.added_tokens = read_added_tokens(root["added_tokens"]);
  return file;
}

void apply_tokenizer_config(std::string_view bytes, const std::string& where, TokenizerFile* file) {
  TokenizerFile unused;
  TokenizerSax sax(&unused, where);
  json::sax_parse(bytes.begin(), bytes.end(), &sax);

  const Field root(sax.rest(), where + ":");
  check_config(root, *file);
  const Field decoder = root["added_tokens_decoder"];
  if (decoder.is_null()) return;
  if (!decoder.value().is_object()) refuse_field(decoder.where(), decoder.value(), "an object");
  for (const auto& [key, value] : decoder.value().items()) {
    AddedToken token = read_config_token(key, Field(value, decoder.where() + "." + key));
    bool known = false;
    for (AddedToken& present : file->added_tokens) {
      if (present.content != token.content) continue;
      if (present.id != token.id) {
        refuse_field(decoder.where() + "." + key, token.content,
                     "the id " + std::to_string(present.id) + " of tokenizer.json");
      }
      present = token;
      known = true;
    }
    if (!known) file->added_tokens.push_back(std::move(token));
  }
}

}  // namespace omniphi

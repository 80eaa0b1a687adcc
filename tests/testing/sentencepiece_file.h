// A small tokenizer.json of Phi-3.5-vision's kind, whose ids can be worked out by hand: 259 control and byte tokens, 13
// merged ones, 98 characters, and the family's control tokens from 370 on.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace omniphi::testing {

// Ids of the small vocabulary.
inline constexpr int32_t kSpaceMarkId = 272;  // U+2581
inline int32_t ascii_id(char c) { return 273 + (c - '!'); }
inline int32_t byte_id(int byte) { return 3 + byte; }

inline nlohmann::json small_sentencepiece_file() {
  using nlohmann::json;
  const std::string mark = "\u2581";
  json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) {
    const char* const digits = "0123456789ABCDEF";
    vocab[std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">"] = byte_id(byte);
  }
  int32_t id = 259;
  for (const std::string& token :
       {mark + mark, std::string("he"), std::string("ll"), std::string("hell"), std::string("hello"), mark + "hello",
        mark + "a", std::string("ab"), std::string("bc"), std::string("abc"), mark + mark + mark + mark, mark + "<",
        std::string("aa"), mark}) {
    vocab[token] = id++;
  }
  for (char c = '!'; c <= '~'; ++c) vocab[std::string(1, c)] = ascii_id(c);
  vocab["\u00E9"] = 367;
  vocab["\u4E2D"] = 368;
  vocab["\U0001F680"] = 369;
  json merges = json::array();
  for (const char* merge : {"\u2581 \u2581", "h e", "l l", "he ll", "hell o", "\u2581 hello", "b c", "a b", "ab c",
                            "a bc", "\u2581 a", "\u2581\u2581 \u2581\u2581", "\u2581 <", "a a"}) {
    merges.push_back(merge);
  }
  json added = json::array();
  const auto add = [&](int32_t token, const char* content, bool rstrip, bool special) {
    json entry = {{"id", token}, {"content", content}, {"single_word", false}, {"lstrip", false}};
    entry["rstrip"] = rstrip;
    entry["normalized"] = false;
    entry["special"] = special;
    added.push_back(entry);
  };
  add(0, "<unk>", false, true);
  add(1, "<s>", false, true);
  add(2, "</s>", true, false);
  add(370, "<|endoftext|>", false, true);
  add(371, "<|assistant|>", true, true);
  add(372, "<|user|>", false, true);
  add(373, "<|end|>", false, true);
  add(374, "<|system|>", false, true);
  add(375, "<|image|>", true, true);

  json file = json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null, "pre_tokenizer": null,
    "normalizer": {"type": "Sequence", "normalizers": [
      {"type": "Prepend", "prepend": "\u2581"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "<s>", "type_id": 1}}, {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
      {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null,
      "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false}
  })");
  file["added_tokens"] = added;
  file["model"]["vocab"] = vocab;
  file["model"]["merges"] = merges;
  return file;
}

}  // namespace omniphi::testing

#include "text/tokenizer_shape.h"

#include <string>
#include <vector>

#include "text/o200k_splitter.h"

namespace omniphi {

using nlohmann::json;

namespace {

constexpr const char* kSpaceMark = "\xE2\x96\x81";  // U+2581

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
    refuse_field(pre["pretokenizers"].where(), std::to_string(steps.size()) + " steps", "Split, then ByteLevel");
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

void check_byte_level_decoder(const Field& decoder) {
  decoder["type"].must_be({"ByteLevel", "Sequence"});
  if (decoder["type"].value() != "Sequence") return;
  const std::vector<Field> steps = decoder["decoders"].items();
  if (steps.size() != 1) refuse_field(decoder["decoders"].where(), decoder["decoders"].value(), "ByteLevel alone");
  steps[0]["type"].must_be({"ByteLevel"});
}

// What the models of both kinds share.
void check_model(const Field& model) {
  model["type"].must_be({"BPE", nullptr});
  model.only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
              "byte_fallback", "ignore_merges", "vocab", "merges"});
  model["dropout"].must_be({nullptr, 0.0});
  model["continuing_subword_prefix"].must_be({nullptr, ""});
  model["end_of_word_suffix"].must_be({nullptr, ""});
  // unk_token and fuse_unk have no effect: all 256 bytes are tokens.
  if (!model["vocab"].value().is_object()) refuse_field(model["vocab"].where(), model["vocab"].value(), "an object");
  if (!model["merges"].value().is_array()) refuse_field(model["merges"].where(), model["merges"].value(), "a list");
}

void read_byte_level(const Field& root, TokenizerFile* file) {
  root["normalizer"].must_be({nullptr});
  check_pre_tokenizer(root["pre_tokenizer"]);
  check_post_processor(root["post_processor"]);
  check_byte_level_decoder(root["decoder"]);
  check_model(root["model"]);
  root["model"]["byte_fallback"].must_be({nullptr, false});
  file->ignore_merges = root["model"]["ignore_merges"].as_bool(false);
}

// Puts one token in front of a text. Pairs of texts, which it also describes, are not encoded here.
void read_bos(const Field& post, TokenizerFile* file) {
  post["type"].must_be({"TemplateProcessing"});
  post.only({"type", "single", "pair", "special_tokens"});
  const std::vector<Field> single = post["single"].items();
  if (single.size() != 2) {
    refuse_field(post["single"].where(), post["single"].value(), "a special token, then the text");
  }
  const Field bos = single[0]["SpecialToken"]["id"];
  file->bos = bos.as_text();
  const json token = {{"id", file->bos}, {"type_id", 0}}, text = {{"id", "A"}, {"type_id", 0}};
  single[0].must_be({json::object({{"SpecialToken", token}})});
  single[1].must_be({json::object({{"Sequence", text}})});
  const Field tokens = post["special_tokens"];
  const Field entry = tokens[file->bos];
  const std::vector<Field> ids = entry["ids"].items();
  if (ids.size() != 1) refuse_field(entry["ids"].where(), entry["ids"].value(), "one id");
  file->bos_id = ids[0].as_id();
  const json ids_of_bos = json::array({file->bos_id}), spellings = json::array({file->bos});
  entry.must_be({json::object({{"id", file->bos}, {"ids", ids_of_bos}, {"tokens", spellings}})});
}

void read_sentencepiece(const Field& root, TokenizerFile* file) {
  const json prepend = {{"type", "Prepend"}, {"prepend", kSpaceMark}};
  const json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpaceMark}};
  root["normalizer"].must_be({json{{"type", "Sequence"}, {"normalizers", json::array({prepend, replace})}}});
  root["pre_tokenizer"].must_be({nullptr});
  read_bos(root["post_processor"], file);
  const json back = {{"type", "Replace"}, {"pattern", {{"String", kSpaceMark}}}, {"content", " "}};
  const json bytes = {{"type", "ByteFallback"}}, fuse = {{"type", "Fuse"}};
  const json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  root["decoder"].must_be({json{{"type", "Sequence"}, {"decoders", json::array({back, bytes, fuse, strip})}}});
  check_model(root["model"]);
  root["model"]["byte_fallback"].must_be({true});
  root["model"]["ignore_merges"].must_be({nullptr, false});
}

// Two of three signs decide, so that a file which differs from its kind in one of them is refused for that one.
TokenizerKind kind_of(const Field& root) {
  const int signs = (root["model"]["byte_fallback"].value() == true ? 1 : 0) +
                    (root["pre_tokenizer"].is_null() ? 1 : 0) + (root["normalizer"].is_null() ? 0 : 1);
  return signs >= 2 ? TokenizerKind::kSentencePiece : TokenizerKind::kByteLevel;
}

}  // namespace

void read_tokenizer_shape(const Field& root, TokenizerFile* file) {
  root.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
             "decoder", "model"});
  root["version"].must_be({"1.0", nullptr});
  file->kind = kind_of(root);
  if (file->kind == TokenizerKind::kSentencePiece) {
    read_sentencepiece(root, file);
  } else {
    read_byte_level(root, file);
  }
}

}  // namespace omniphi

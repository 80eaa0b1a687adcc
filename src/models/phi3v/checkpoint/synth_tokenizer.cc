#include "models/phi3v/checkpoint/synth_tokenizer.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "io/json.h"

namespace omniphi::phi3v {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSpace = "\xe2\x96\x81";  // U+2581, which SentencePiece writes for a space
constexpr int kReservedIds = 64;                // special tokens and unnamed ids at the end of the vocabulary
constexpr int kPlaceholders = 39;

struct SpecialToken {
  std::string content;
  int id = 0;
  bool special = true, rstrip = false;  // rstrip: white space behind it vanishes
};

// The release's added tokens around `first`, the id behind the text: named ones in their places, placeholders between.
std::vector<SpecialToken> special_tokens(int first) {
  std::vector<SpecialToken> tokens = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2, false, true}};
  int placeholder = 1;
  for (int i = 0; placeholder <= kPlaceholders; ++i) {
    switch (i) {
      case 0:
        tokens.push_back({"<|endoftext|>", first + i});
        break;
      case 1:
        tokens.push_back({"<|assistant|>", first + i, true, true});
        break;
      case 6:
        tokens.push_back({"<|system|>", first + i});
        break;
      case 7:
        tokens.push_back({"<|end|>", first + i});
        break;
      case 10:
        tokens.push_back({"<|user|>", first + i});
        break;
      default:
        tokens.push_back({"<|placeholder" + std::to_string(placeholder++) + "|>", first + i, true, true});
    }
  }
  tokens.push_back({"<|image|>", tokens.back().id + 1, true, true});
  return tokens;
}

// Single characters that have ids, those of English text first: merges of frequent ones come early.
std::vector<std::string> characters() {
  const std::string frequent =
      "etaoinsrhldcumfpgwybvkxjqzETAOINSRHLDCUMFPGWYBVKXJQZ0123456789.,-'\"()/:;!?_=*+<>[]{}#&%$@|\\`~^";
  std::vector<std::string> list = {kSpace};
  for (const char c : frequent) list.emplace_back(1, c);
  return list;
}

struct Merge {
  std::string left, right;
};

// The first `count` merges: pairs of characters in the order of the rarer one, then each pair with a third character.
// "<s>" is no merge, because it is a token of its own.
std::vector<Merge> make_merges(const std::vector<std::string>& symbols, size_t count) {
  std::vector<Merge> merges;
  for (size_t rarer = 0; rarer < symbols.size(); ++rarer) {
    for (size_t other = 0; other <= rarer; ++other) {
      merges.push_back({symbols[other], symbols[rarer]});
      if (other != rarer) merges.push_back({symbols[rarer], symbols[other]});
    }
  }
  for (size_t pair = 0; merges.size() < count; ++pair) {
    const std::string left = merges[pair].left + merges[pair].right;
    for (const std::string& symbol : symbols) {
      if (left + symbol != "<s>") merges.push_back({left, symbol});
    }
  }
  merges.resize(count);
  return merges;
}

Json model_json(size_t count) {
  const std::vector<std::string> symbols = characters();
  Json::object_t vocabulary;  // filled in order; a search for each key would take the square of the time
  vocabulary.reserve(count);
  int id = 0;
  for (const char* token : {"<unk>", "<s>", "</s>"}) vocabulary.emplace_back(token, id++);
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
    vocabulary.emplace_back(name, id++);
  }
  for (const std::string& symbol : symbols) vocabulary.emplace_back(symbol, id++);
  Json::array_t merges;
  for (const Merge& merge : make_merges(symbols, count - vocabulary.size())) {
    merges.push_back(merge.left + " " + merge.right);
    vocabulary.emplace_back(merge.left + merge.right, id++);
  }
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", "<unk>"},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", true},
          {"ignore_merges", false},
          {"vocab", std::move(vocabulary)},
          {"merges", std::move(merges)}};
}

Json normalizer_json() {
  const Json prepend = {{"type", "Prepend"}, {"prepend", kSpace}};
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpace}};
  return {{"type", "Sequence"}, {"normalizers", Json::array({prepend, replace})}};
}

Json decoder_json() {
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", kSpace}}}, {"content", " "}};
  const Json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  const Json bytes = {{"type", "ByteFallback"}}, fuse = {{"type", "Fuse"}};
  return {{"type", "Sequence"}, {"decoders", Json::array({replace, bytes, fuse, strip})}};
}

// <s> before the text, or before each of two.
Json post_processor_json() {
  const auto special = [](int type) { return Json{{"SpecialToken", {{"id", "<s>"}, {"type_id", type}}}}; };
  const auto sequence = [](const char* id, int type) { return Json{{"Sequence", {{"id", id}, {"type_id", type}}}}; };
  return {{"type", "TemplateProcessing"},
          {"single", Json::array({special(0), sequence("A", 0)})},
          {"pair", Json::array({special(0), sequence("A", 0), special(1), sequence("B", 1)})},
          {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", Json::array({1})}, {"tokens", Json::array({"<s>"})}}}}}};
}

Json token_json(const SpecialToken& token) {
  return {{"content", token.content}, {"single_word", false}, {"lstrip", false},
          {"rstrip", token.rstrip},   {"normalized", false},  {"special", token.special}};
}

}  // namespace

int text_ids(const Config& config) { return config.decoder.vocab_size - kReservedIds; }

void write_synthetic_tokenizer(const Config& config, const std::filesystem::path& folder) {
  const int count = text_ids(config);
  const int symbols = static_cast<int>(characters().size());
  const int least = 3 + 256 + symbols;
  const int most = least + symbols * symbols + symbols * symbols * symbols - 1;
  if (count < least || count > most) {
    throw Error(ErrorKind::kUsage, "vocabulary of the synthetic tokenizer",
                std::to_string(config.decoder.vocab_size) + " ids",
                std::to_string(least + kReservedIds) + " to " + std::to_string(most + kReservedIds));
  }
  if (config.bos_token_id != 1) {
    throw Error(ErrorKind::kUsage, "bos_token_id", std::to_string(config.bos_token_id), "1, the id of <s>");
  }
  Json added = Json::array();
  Json decoder = Json::object();
  for (const SpecialToken& token : special_tokens(count)) {
    Json entry = {{"id", token.id}};
    entry.update(token_json(token));
    added.push_back(entry);
    decoder[std::to_string(token.id)] = token_json(token);
  }
  const Json tokenizer = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens", added},
                          {"normalizer", normalizer_json()},
                          {"pre_tokenizer", nullptr},
                          {"post_processor", post_processor_json()},
                          {"decoder", decoder_json()},
                          {"model", model_json(static_cast<size_t>(count))}};
  const Json settings = {{"add_bos_token", true},
                         {"add_eos_token", false},
                         {"added_tokens_decoder", decoder},
                         {"bos_token", "<s>"},
                         {"eos_token", "<|endoftext|>"},
                         {"pad_token", "<|endoftext|>"},
                         {"unk_token", "<unk>"},
                         {"tokenizer_class", "LlamaTokenizer"}};
  write_file(folder / "tokenizer.json", tokenizer.dump());
  write_file(folder / "tokenizer_config.json", settings.dump(1));
}

}  // namespace omniphi::phi3v

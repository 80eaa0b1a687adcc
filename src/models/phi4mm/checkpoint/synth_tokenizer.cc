#include "models/phi4mm/checkpoint/synth_tokenizer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "io/json.h"

namespace omniphi::phi4mm {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kReleasedTextIds = 199'998;
constexpr int kBytes = 256;

struct SpecialToken {
  const char* content;
  int id;  // in the release
  bool special, rstrip;
};

// The release's added tokens; from <|assistant|> on, white space behind them vanishes.
constexpr SpecialToken kSpecialTokens[] = {
    {"<|endoftext|>", 199'999, true, false},     {"<|endoftext10|>", 200'010, true, false},
    {"<|endoftext11|>", 200'011, true, false},   {"<|endofprompt|>", 200'018, true, false},
    {"<|assistant|>", 200'019, true, true},      {"<|end|>", 200'020, true, true},
    {"<|user|>", 200'021, true, true},           {"<|system|>", 200'022, true, true},
    {"<|tool|>", 200'023, false, true},          {"<|/tool|>", 200'024, false, true},
    {"<|tool_call|>", 200'025, false, true},     {"<|/tool_call|>", 200'026, false, true},
    {"<|tool_response|>", 200'027, false, true}, {"<|tag|>", 200'028, true, true},
};

// The o200k splitting pattern, as published with tiktoken.
constexpr const char* kSplitPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::string utf8_of(int code) {  // below 0x800
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

// How byte-level BPE spells each byte (GPT-2's table): printable Latin-1 as itself, the rest from U+0100 on.
std::vector<std::string> byte_spellings() {
  std::vector<std::string> spellings(kBytes);
  int next = 0x100;
  for (int byte = 0; byte < kBytes; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    spellings[static_cast<size_t>(byte)] = utf8_of(printable ? byte : next++);
  }
  return spellings;
}

// All bytes, those of English text first: merges of frequent bytes come early.
std::vector<int> bytes_by_frequency() {
  const std::string frequent =
      " etaoinsrhldcumfpgwybvkxjqzETAOINSRHLDCUMFPGWYBVKXJQZ0123456789.,-'\"()/:;!?_\n=*+<>[]{}#&%$@|\\`~^\t\r";
  std::vector<int> bytes;
  for (const char c : frequent) bytes.push_back(static_cast<unsigned char>(c));
  for (int byte = 0; byte < kBytes; ++byte) {
    if (std::find(bytes.begin(), bytes.end(), byte) == bytes.end()) bytes.push_back(byte);
  }
  return bytes;
}

struct Merge {
  std::string left, right;
};

// The first `count` merges: pairs of bytes in the order of the rarer one, then each pair with a third byte.
std::vector<Merge> make_merges(size_t count) {
  const std::vector<std::string> spellings = byte_spellings();
  std::vector<std::string> bytes;
  for (const int byte : bytes_by_frequency()) bytes.push_back(spellings[static_cast<size_t>(byte)]);
  std::vector<Merge> merges;
  merges.reserve(count);
  for (size_t rarer = 0; rarer < bytes.size(); ++rarer) {
    for (size_t other = 0; other <= rarer; ++other) {
      merges.push_back({bytes[other], bytes[rarer]});
      if (other != rarer) merges.push_back({bytes[rarer], bytes[other]});
    }
  }
  for (size_t pair = 0; merges.size() < count; ++pair) {
    const std::string left = merges[pair].left + merges[pair].right;
    for (const std::string& byte : bytes) merges.push_back({left, byte});
  }
  merges.resize(count);
  return merges;
}

Json model_json(size_t count) {
  const std::vector<std::string> spellings = byte_spellings();
  Json::object_t vocabulary;  // filled in order; a search for each key would take the square of the time
  vocabulary.reserve(count);
  int id = 0;
  for (const std::string& spelling : spellings) vocabulary.emplace_back(spelling, id++);
  Json::array_t merges;
  for (const Merge& merge : make_merges(count - kBytes)) {
    merges.push_back(merge.left + " " + merge.right);
    vocabulary.emplace_back(merge.left + merge.right, id++);
  }
  // As in the release: without an entry here, the `tokenizers` library numbers added tokens on its own.
  for (const SpecialToken& token : kSpecialTokens) {
    vocabulary.emplace_back(token.content, token.id + static_cast<int>(count) - kReleasedTextIds);
  }
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", ""},
          {"end_of_word_suffix", ""},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", std::move(vocabulary)},
          {"merges", std::move(merges)}};
}

Json token_json(const SpecialToken& token) {
  return {{"content", token.content}, {"single_word", false}, {"lstrip", false},
          {"rstrip", token.rstrip},   {"normalized", false},  {"special", token.special}};
}

}  // namespace

int text_ids(const Config& config) { return config.image_token_id - (200'010 - kReleasedTextIds); }

void write_synthetic_tokenizer(const Config& config, const std::filesystem::path& folder) {
  const int count = text_ids(config);
  const int shift = count - kReleasedTextIds;
  // Past the pairs, each of them takes 256 more.
  constexpr int kMost = kBytes + kBytes * kBytes + kBytes * kBytes * kBytes;
  const int last_id = std::end(kSpecialTokens)[-1].id + shift;
  if (count < kBytes || count > kMost || last_id >= config.decoder.vocab_size) {
    throw Error(
        ErrorKind::kUsage, "vocabulary of the synthetic tokenizer",
        std::to_string(config.decoder.vocab_size) + " ids, the image token at " + std::to_string(config.image_token_id),
        "at least 256 ids before the special tokens, and room for them");
  }
  Json added = Json::array();
  Json decoder = Json::object();
  Json names = Json::object();
  for (const SpecialToken& token : kSpecialTokens) {
    Json entry = {{"id", token.id + shift}};
    entry.update(token_json(token));
    added.push_back(entry);
    decoder[std::to_string(token.id + shift)] = token_json(token);
    names[token.content] = token.id + shift;
  }
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  const Json split = {
      {"type", "Split"}, {"pattern", {{"Regex", kSplitPattern}}}, {"behavior", "Removed"}, {"invert", true}};
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  const Json tokenizer = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens", added},
                          {"normalizer", nullptr},
                          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", Json::array({split, bytes})}}},
                          {"post_processor", nullptr},
                          {"decoder", byte_level},
                          {"model", model_json(static_cast<size_t>(count))}};
  const Json settings = {{"add_prefix_space", false},         {"added_tokens_decoder", decoder},
                         {"bos_token", "<|endoftext|>"},      {"eos_token", "<|endoftext|>"},
                         {"pad_token", "<|endoftext|>"},      {"unk_token", "<|endoftext|>"},
                         {"tokenizer_class", "GPT2Tokenizer"}};
  write_file(folder / "tokenizer.json", tokenizer.dump());
  write_file(folder / "tokenizer_config.json", settings.dump(1));
  write_file(folder / "added_tokens.json", names.dump(1));
}

}  // namespace omniphi::phi4mm

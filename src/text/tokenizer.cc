#include "text/tokenizer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/byte_level.h"
#include "text/o200k_splitter.h"
#include "text/tokenizer_json.h"

namespace omniphi {
namespace {

constexpr size_t kMaxFileBytes = size_t{128} << 20;  // released files have 8 to 16 MB

[[noreturn]] void refuse(const std::string& where, const std::string& found, const std::string& expected) {
  throw Error(ErrorKind::kCheckpoint, where, found, expected, "Use the tokenizer.json of a released checkpoint.");
}

// The text in quotes, shortened, for an error message.
std::string show(std::string_view text) {
  std::string shown = "\"";
  append_replacing_invalid(text.substr(0, 60), &shown);
  return shown + (text.size() > 60 ? "...\"" : "\"");
}

size_t id_range(const TokenizerFile& file) {
  int32_t last = -1;
  for (const auto& [spelling, id] : file.vocab) last = std::max(last, id);
  for (const AddedToken& token : file.added_tokens) last = std::max(last, token.id);
  return static_cast<size_t>(last + 1);
}

VocabTable build_vocab(const TokenizerFile& file, const std::string& where) {
  VocabTable vocab(id_range(file), file.vocab.size());
  std::unordered_map<std::string_view, int32_t> added;
  for (const AddedToken& token : file.added_tokens) {
    const auto [it, fresh] = added.emplace(token.content, token.id);
    if (!fresh) refuse(where + ": added_tokens", show(token.content) + " twice", "every token once");
  }
  for (const auto& [spelling, id] : file.vocab) {
    const auto it = added.find(spelling);
    if (it != added.end() && it->second != id) {
      refuse(where + ": added_tokens", show(spelling) + " with the id " + std::to_string(it->second),
             "the id " + std::to_string(id) + " of model.vocab");
    }
    const std::optional<std::string> bytes = bytes_of_spelling(spelling);
    if (!bytes && it != added.end()) continue;
    if (!bytes || bytes->empty()) {
      refuse(where + ": model.vocab", show(spelling), "characters of the byte-level alphabet");
    }
    if (!vocab.add(id, *bytes)) {
      refuse(where + ": model.vocab", show(spelling) + " or its id " + std::to_string(id) + " twice", "each once");
    }
  }
  for (const AddedToken& token : file.added_tokens) {
    const std::string_view taken = vocab.bytes(token.id);
    const auto spelling = bytes_of_spelling(token.content);
    if (!taken.empty() && taken != spelling) {
      refuse(where + ": added_tokens", show(token.content) + " with the id " + std::to_string(token.id),
             "an id that no other token has");
    }
    if (taken.empty()) vocab.set_bytes(token.id, token.content);
  }
  return vocab;
}

void check_bytes(const VocabTable& vocab, const std::string& where) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<uint8_t>(byte));
    if (vocab.find({&c, 1}) < 0) {
      refuse(where + ": model.vocab", "no token for the byte " + std::to_string(byte), "all 256 bytes as tokens");
    }
  }
}

MergeTable build_merges(const TokenizerFile& file, const VocabTable& vocab, const std::string& where) {
  MergeTable merges(file.merges.size());
  for (size_t rank = 0; rank < file.merges.size(); ++rank) {
    const auto& [left, right] = file.merges[rank];
    const auto left_bytes = bytes_of_spelling(left);
    const auto right_bytes = bytes_of_spelling(right);
    const int32_t left_id = left_bytes ? vocab.find(*left_bytes) : -1;
    const int32_t right_id = right_bytes ? vocab.find(*right_bytes) : -1;
    const int32_t merged_id = left_id >= 0 && right_id >= 0 ? vocab.find(*left_bytes + *right_bytes) : -1;
    if (merged_id < 0) {
      refuse(where + ": model.merges[" + std::to_string(rank) + "]", show(left) + " with " + show(right),
             "two tokens of model.vocab whose joined characters are a token too");
    }
    merges.add(left_id, right_id, {static_cast<uint32_t>(rank), merged_id});
  }
  return merges;
}

void check_text(std::string_view text) {
  if (text.size() >= UINT32_MAX) {
    throw Error(ErrorKind::kInput, "text", std::to_string(text.size()) + " bytes", "less than 4 GiB",
                "Tokenize it in parts.");
  }
  const size_t bad = find_invalid_utf8(text);
  if (bad == std::string_view::npos) return;
  throw Error(ErrorKind::kInput, "text", "a byte that is not UTF-8 at offset " + std::to_string(bad),
              "well-formed UTF-8", "Convert the text to UTF-8 first.");
}

}  // namespace

struct Tokenizer::Impl {
  Bpe bpe;
  AddedTokenMatcher added;

  Impl(VocabTable vocab, MergeTable merges, TokenizerFile& file)
      : bpe(std::move(vocab), std::move(merges), file.ignore_merges), added(std::move(file.added_tokens)) {}

  void encode_checked(std::string_view text, std::vector<int32_t>* ids) const {
    for (size_t at = 0; at < text.size();) {
      const size_t end = o200k_piece_end(text, at);
      bpe.encode(text.substr(at, end - at), ids);
      at = end;
    }
  }
};

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "tokenizer.json";
  const std::filesystem::path config = folder / "tokenizer_config.json";
  const std::string bytes = read_file(file, kMaxFileBytes, ErrorKind::kCheckpoint);
  std::string config_bytes;
  if (std::filesystem::exists(config)) config_bytes = read_file(config, kMaxFileBytes, ErrorKind::kCheckpoint);
  return from_json(bytes, file.string(), config_bytes);
}

Tokenizer Tokenizer::from_json(std::string_view tokenizer_json, const std::string& where,
                               std::string_view config_json) {
  TokenizerFile file = parse_tokenizer_json(tokenizer_json, where);
  if (!config_json.empty()) {
    const std::string config_where = (std::filesystem::path(where).parent_path() / "tokenizer_config.json").string();
    apply_tokenizer_config(config_json, config_where, &file);
  }
  VocabTable vocab = build_vocab(file, where);
  check_bytes(vocab, where);
  MergeTable merges = build_merges(file, vocab, where);
  return Tokenizer(std::make_unique<const Impl>(std::move(vocab), std::move(merges), file));
}

void Tokenizer::encode(std::string_view text, std::vector<int32_t>* ids) const {
  check_text(text);
  impl_->encode_checked(text, ids);
}

void Tokenizer::encode_special(std::string_view text, std::vector<int32_t>* ids) const {
  for (const TextSegment& segment : find_added_tokens(text)) {
    if (segment.token != nullptr) {
      ids->push_back(segment.token->id);
    } else {
      impl_->encode_checked(text.substr(segment.begin, segment.end - segment.begin), ids);
    }
  }
}

std::vector<TextSegment> Tokenizer::find_added_tokens(std::string_view text) const {
  check_text(text);
  return impl_->added.find(text);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, const DecodeOptions& options) const {
  std::string bytes;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocab_size()) {
      throw Error(ErrorKind::kInput, "token id " + std::to_string(i), std::to_string(ids[i]),
                  "0 to " + std::to_string(vocab_size() - 1));
    }
    const AddedToken* token = options.skip_special ? added_token(ids[i]) : nullptr;
    if (token != nullptr && token->special) continue;
    bytes += token_bytes(ids[i]);
  }
  std::string text;
  text.reserve(bytes.size());
  append_replacing_invalid(bytes, &text);
  return text;
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return {};
  return impl_->bpe.vocab().bytes(id);
}

std::optional<int32_t> Tokenizer::added_token_id(std::string_view content) const {
  const AddedToken* token = impl_->added.by_content(content);
  return token == nullptr ? std::nullopt : std::optional<int32_t>(token->id);
}

const AddedToken* Tokenizer::added_token(int32_t id) const { return impl_->added.by_id(id); }

std::span<const AddedToken> Tokenizer::added_tokens() const { return impl_->added.tokens(); }

int32_t Tokenizer::vocab_size() const { return static_cast<int32_t>(impl_->bpe.vocab().size()); }

}  // namespace omniphi

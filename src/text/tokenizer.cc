#include "text/tokenizer.h"

#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "text/added_tokens.h"
#include "text/token_joiner.h"
#include "text/token_model.h"
#include "text/tokenizer_json.h"
#include "text/vocab_build.h"

namespace omniphi {
namespace {

constexpr size_t kMaxFileBytes = size_t{128} << 20;  // released files have 8 to 16 MB

// There is no normalised text to look for such a token in: what SentencePiece's normaliser writes begins with U+2581.
void check_not_normalized(const TokenizerFile& file, const std::string& where) {
  for (const AddedToken& token : file.added_tokens) {
    if (!token.normalized) continue;
    refuse_vocab(where + ": added_tokens", show_token(token.content) + " with \"normalized\": true",
                 "added tokens that are matched on the raw text");
  }
}

void check_bos(const TokenizerFile& file, const std::string& where) {
  for (const AddedToken& token : file.added_tokens) {
    if (token.content == file.bos && token.id == file.bos_id) return;
  }
  refuse_vocab(where + ": post_processor", show_token(file.bos) + " with the id " + std::to_string(file.bos_id),
               "an added token of that content and id");
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
  TokenizerKind kind;
  std::optional<int32_t> bos_id;
  std::unique_ptr<const TokenModel> model;
  AddedTokenMatcher added;

  Impl(TokenizerFile& file, const std::string& where)
      : kind(file.kind), model(make_token_model(file, where)), added(std::move(file.added_tokens)) {
    if (kind == TokenizerKind::kSentencePiece) bos_id = file.bos_id;
  }

  void encode_checked(std::string_view text, std::vector<int32_t>* ids) const {
    if (!text.empty()) model->encode(text, ids);
  }

  void encode_segments(std::string_view text, Recognise recognise, std::vector<int32_t>* ids) const {
    for (const TextSegment& segment : added.find(text, recognise)) {
      if (segment.token != nullptr) {
        ids->push_back(segment.token->id);
      } else {
        model->encode(text.substr(segment.begin, segment.end - segment.begin), ids);
      }
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
  if (file.kind == TokenizerKind::kSentencePiece) {
    check_not_normalized(file, where);
    check_bos(file, where);
  }
  return Tokenizer(std::make_unique<const Impl>(file, where));
}

TokenizerKind Tokenizer::kind() const { return impl_->kind; }

void Tokenizer::encode(std::string_view text, std::vector<int32_t>* ids) const {
  check_text(text);
  impl_->encode_checked(text, ids);
}

void Tokenizer::encode_special(std::string_view text, std::vector<int32_t>* ids) const {
  check_text(text);
  impl_->encode_segments(text, Recognise::kAll, ids);
}

void Tokenizer::encode_specials_as_text(std::string_view text, std::vector<int32_t>* ids) const {
  if (impl_->kind == TokenizerKind::kByteLevel) return encode(text, ids);
  check_text(text);
  impl_->encode_segments(text, Recognise::kUnlessSpecial, ids);
}

std::vector<TextSegment> Tokenizer::find_added_tokens(std::string_view text) const {
  check_text(text);
  return impl_->added.find(text, Recognise::kAll);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, const DecodeOptions& options) const {
  // SentencePiece's reference knows no end of the vocabulary: what it has no name for is nothing.
  const int32_t last = impl_->kind == TokenizerKind::kSentencePiece ? kMaxTokenId : vocab_size() - 1;
  TokenJoiner joiner(*this, options);
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] > last) {
      throw Error(ErrorKind::kInput, "token id " + std::to_string(i), std::to_string(ids[i]),
                  "0 to " + std::to_string(last));
    }
    joiner.push(ids[i], &text);
  }
  joiner.flush(&text);
  return text;
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return {};
  return impl_->model->bytes(id);
}

bool Tokenizer::is_byte_token(int32_t id) const { return id >= 0 && id < vocab_size() && impl_->model->is_byte(id); }

std::optional<int32_t> Tokenizer::bos_id() const { return impl_->bos_id; }

std::optional<int32_t> Tokenizer::added_token_id(std::string_view content) const {
  const AddedToken* token = impl_->added.by_content(content);
  return token == nullptr ? std::nullopt : std::optional<int32_t>(token->id);
}

const AddedToken* Tokenizer::added_token(int32_t id) const { return impl_->added.by_id(id); }

std::span<const AddedToken> Tokenizer::added_tokens() const { return impl_->added.tokens(); }

int32_t Tokenizer::vocab_size() const { return impl_->model->size(); }

}  // namespace omniphi

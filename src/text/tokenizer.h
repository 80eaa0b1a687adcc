// The tokenizer of a checkpoint, read from its own tokenizer.json: one type for the two kinds that are understood.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace omniphi {

enum class TokenizerKind : uint8_t {
  kByteLevel,      // byte-level BPE behind the o200k split pattern (Phi-4-multimodal)
  kSentencePiece,  // Llama's SentencePiece-style BPE with byte fallback (Phi-3.5-vision)
};

// A token that is matched on the raw text, before splitting and merging. Flags as in tokenizer.json.
struct AddedToken {
  int32_t id = -1;
  std::string content;
  bool lstrip = false;       // swallows the white space before it
  bool rstrip = false;       // swallows the white space behind it
  bool single_word = false;  // only where no word character touches it
  bool normalized = false;   // matched after the others (byte-level only, which has no normaliser)
  bool special = false;      // a control token that a reader doesn't see ("<|end|>"), unlike "<|tool_call|>"
};

// One stretch of a text as the matcher of added tokens sees it.
struct TextSegment {
  size_t begin = 0;                   // byte offsets into the text, white space that a token swallows excluded from
  size_t end = 0;                     // the stretches of plain text and included in the token's
  const AddedToken* token = nullptr;  // null for plain text
};

struct DecodeOptions {
  bool skip_special = false;  // leave out added tokens whose `special` flag is set
};

// Immutable after loading; every const member may be called from any number of threads.
class Tokenizer {
 public:
  // Reads FOLDER/tokenizer.json and, when it is there, the added tokens of FOLDER/tokenizer_config.json, whose flags
  // win as they do in transformers. The kind is recognised by the shape of tokenizer.json. Throws kCheckpoint naming
  // the file, what was found and what is understood.
  static Tokenizer load(const std::filesystem::path& folder);

  // The same from the file's bytes; `where` names them in errors. `config_json` is tokenizer_config.json or empty.
  static Tokenizer from_json(std::string_view tokenizer_json, const std::string& where,
                             std::string_view config_json = {});

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  TokenizerKind kind() const;

  // Appends the ids of plain text: every added token in it is just characters. Throws kInput naming the byte offset
  // when the text isn't UTF-8. Time is O(n log n) whatever the text. No method adds a BOS.
  void encode(std::string_view text, std::vector<int32_t>* ids) const;

  // Appends the ids of a text in which added tokens are recognised, strip rules applied. Errors as encode().
  void encode_special(std::string_view text, std::vector<int32_t>* ids) const;

  // Appends the ids that the kind's reference gives when it is told that special tokens are text: byte-level as
  // encode(); with SentencePiece, added tokens whose `special` flag is unset ("</s>") are recognised all the same.
  // For comparisons: what a user typed goes through encode(). Errors as encode().
  void encode_specials_as_text(std::string_view text, std::vector<int32_t>* ids) const;

  // The added tokens in a text and the plain stretches between them, in order; stretches that become empty are left
  // out.
  std::vector<TextSegment> find_added_tokens(std::string_view text) const;

  // The text of the ids. What isn't UTF-8 becomes U+FFFD: byte-level, one for each maximal subpart; SentencePiece, one
  // for every byte of the run of byte tokens; it also drops one space at the begin. Ids that no token has give nothing.
  // Throws kInput naming position and id when an id is negative, or, as the reference does, with byte-level beyond
  // vocab_size().
  std::string decode(std::span<const int32_t> ids, const DecodeOptions& options = {}) const;

  // What a token contributes to a text, possibly a part of a character; empty when no token has this id. Valid while
  // the tokenizer lives.
  std::string_view token_bytes(int32_t id) const;

  // Whether the token is one byte that SentencePiece's byte fallback writes. False when no token has this id.
  bool is_byte_token(int32_t id) const;

  // The token that the reference puts in front of every text that it encodes with special tokens; none for byte-level.
  std::optional<int32_t> bos_id() const;

  // The id of an added token such as "<|end|>".
  std::optional<int32_t> added_token_id(std::string_view content) const;

  // The added token with this id, or null.
  const AddedToken* added_token(int32_t id) const;

  // All added tokens in ascending order of id.
  std::span<const AddedToken> added_tokens() const;

  // One more than the largest id. The model's embedding may have more rows.
  int32_t vocab_size() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace omniphi

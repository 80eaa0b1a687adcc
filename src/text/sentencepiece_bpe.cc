#include "text/sentencepiece_bpe.h"

#include <optional>

#include "base/utf8.h"
#include "text/vocab_build.h"

namespace omniphi {
namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

std::optional<std::string> itself(std::string_view spelling) { return std::string(spelling); }

constexpr Spelling kSpelling = {itself, "a text"};

std::string spelling_of_byte(size_t byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
}

// The reference's decoder takes what merely looks like a byte for one ("<0x0a>" too): no token may.
bool looks_like_byte(std::string_view spelling) {
  return spelling.size() == 6 && spelling.starts_with("<0x") && spelling.ends_with('>');
}

std::string with_spaces(std::string_view spelling) {
  std::string text;
  size_t at = 0;
  for (size_t mark = spelling.find(kSpaceMark); mark != std::string_view::npos; mark = spelling.find(kSpaceMark, at)) {
    text.append(spelling.substr(at, mark - at)).append(" ");
    at = mark + kSpaceMark.size();
  }
  return text.append(spelling.substr(at));
}

}  // namespace

SentencePieceBpe::SentencePieceBpe(const TokenizerFile& file, const std::string& where)
    : spelled_(build_vocab(file, where, kSpelling)),
      merges_(build_merges(file, spelled_, where, kSpelling)),
      texts_(spelled_.size(), 0),
      is_byte_(spelled_.size(), false) {
  const std::string vocab = where + ": model.vocab";
  for (size_t byte = 0; byte < 256; ++byte) {
    byte_ids_[byte] = spelled_.find(spelling_of_byte(byte));
    if (byte_ids_[byte] < 0) {
      refuse_vocab(vocab, "no token " + spelling_of_byte(byte), "all 256 bytes as tokens, <0x00> to <0xFF>");
    }
    const char c = static_cast<char>(static_cast<uint8_t>(byte));
    texts_.set_bytes(byte_ids_[byte], {&c, 1});
    is_byte_[static_cast<size_t>(byte_ids_[byte])] = true;
  }
  for (const AddedToken& token : file.added_tokens) {
    if (!looks_like_byte(token.content)) continue;
    refuse_vocab(where + ": added_tokens", show_token(token.content), "no added token that is spelled like a byte");
  }
  for (int32_t id = 0; id < size(); ++id) {
    if (is_byte(id)) continue;
    if (looks_like_byte(spelled_.bytes(id))) {
      refuse_vocab(vocab, show_token(spelled_.bytes(id)), "bytes with two digits from 0 to 9 and A to F");
    }
    texts_.set_bytes(id, with_spaces(spelled_.bytes(id)));
  }
  const int32_t space = spelled_.find(kSpaceMark);
  if (space < 0) refuse_vocab(vocab, "no token for U+2581", "the mark of a space as a token");
  for (size_t c = 0; c < ascii_ids_.size(); ++c) {
    const char character = static_cast<char>(c);
    const int32_t id = spelled_.find({&character, 1});
    ascii_ids_[c] = id >= 0 ? id : byte_ids_[c];
  }
  ascii_ids_[' '] = space;
}

void SentencePieceBpe::add_character(std::string_view character, std::vector<BpeSymbol>* symbols) const {
  if (character.size() == 1) {
    symbols->emplace_back().id = ascii_ids_[static_cast<uint8_t>(character[0])];
    return;
  }
  const int32_t id = spelled_.find(character);
  if (id >= 0) {
    symbols->emplace_back().id = id;
    return;
  }
  for (const char byte : character) symbols->emplace_back().id = byte_ids_[static_cast<uint8_t>(byte)];
}

void SentencePieceBpe::encode(std::string_view text, std::vector<int32_t>* ids) const {
  std::vector<BpeSymbol> symbols;
  symbols.reserve(text.size() + 1);
  add_character(" ", &symbols);
  for (size_t at = 0; at < text.size();) {
    const size_t length = read_code_point(text, at).length;
    add_character(text.substr(at, length), &symbols);
    at += length;
  }
  for (size_t i = 0; i + 1 < symbols.size(); ++i) symbols[i].pair = merges_.find(symbols[i].id, symbols[i + 1].id);
  merge_symbols(merges_, &symbols, ids);
}

}  // namespace omniphi

// Tokenizer files and the texts that they encode. An input is tokenizer.json, then optionally a zero byte and
// tokenizer_config.json, then optionally a zero byte and a text. Whatever the file: an Error of kind kCheckpoint or a
// tokenizer; whatever the text: an Error of kind kInput, or ids that decode to the text (but for
// U+2581 and for SentencePiece files that make a token spelled like a byte by merging).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "testing/sentencepiece_file.h"
#include "text/chat_template.h"
#include "text/phi3v_template.h"
#include "text/stream_decoder.h"
#include "text/tokenizer.h"

namespace {

using omniphi::Error;
using omniphi::ErrorKind;
using omniphi::Tokenizer;

// All 256 bytes in the byte-level alphabet, one merge, two added tokens: enough for a text to take every path.
const Tokenizer& small_byte_level() {
  static const Tokenizer tokenizer = [] {
    std::string vocab;
    int printable = 0, other = 0;
    for (int byte = 0; byte < 256; ++byte) {
      const bool itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      std::string spelling;
      omniphi::append_code_point(itself ? static_cast<char32_t>(byte) : 0x100 + static_cast<char32_t>(other++),
                                 &spelling);
      if (spelling == "\"" || spelling == "\\") spelling = "\\" + spelling;
      vocab += "\"" + spelling + "\":" + std::to_string(printable++) + ",";
    }
    const std::string flags = R"("single_word":false,"lstrip":true,"rstrip":true,"normalized":false,"special":true)";
    const std::string pattern =
        R"([^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
        R"(|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
        R"(|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)";
    return Tokenizer::from_json(
        R"({"added_tokens":[{"id":300,"content":"<|a|>",)" + flags + R"(},{"id":301,"content":"<|endoftext10|>",)" +
            flags + R"(}],"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":")" +
            pattern +
            R"("},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},)"
            R"("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{)" +
            vocab + R"("aa":256},"merges":["a a"]}})",
        "small");
  }();
  return tokenizer;
}

const Tokenizer& small_sentencepiece() {
  static const Tokenizer tokenizer = Tokenizer::from_json(omniphi::testing::small_sentencepiece_file().dump(), "small");
  return tokenizer;
}

void expect(bool condition) {
  if (!condition) std::abort();
}

bool has_space_mark(std::string_view text) { return text.find("\xE2\x96\x81") != std::string_view::npos; }

void streaming_equals_decoding(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  omniphi::StreamDecoder stream(tokenizer, {.show_special = true});
  std::string streamed;
  for (const int32_t id : ids) streamed += stream.push(id);
  streamed += stream.flush();
  expect(streamed == tokenizer.decode(ids) && omniphi::find_invalid_utf8(streamed) == std::string::npos);
}

void encode_and_decode(const Tokenizer& tokenizer, std::string_view text) {
  const bool sentencepiece = tokenizer.kind() == omniphi::TokenizerKind::kSentencePiece;
  std::vector<int32_t> ids;
  try {
    tokenizer.encode(text, &ids);
    if (!sentencepiece || (&tokenizer == &small_sentencepiece() && !has_space_mark(text))) {
      expect(tokenizer.decode(ids) == text);
    }
    std::vector<int32_t> special;
    tokenizer.encode_special(text, &special);
    tokenizer.encode_specials_as_text(text, &special);
    streaming_equals_decoding(tokenizer, special);
    omniphi::parse_raw_prompt(tokenizer, text);
    if (!sentencepiece) return;
    std::vector<int32_t> prompt;
    omniphi::encode_phi3v_pieces(tokenizer, omniphi::parse_phi3v_raw_prompt(tokenizer, text, 0), &prompt);
  } catch (const Error& error) {
    expect(error.kind() == ErrorKind::kInput && omniphi::find_invalid_utf8(text) != std::string_view::npos);
  }
}

// Tags of one picture: an Error of kind kInput, or a prompt with one slot.
void one_picture(std::string_view text) {
  std::vector<int32_t> ids;
  try {
    omniphi::encode_phi3v_pieces(small_sentencepiece(), omniphi::parse_phi3v_raw_prompt(small_sentencepiece(), text, 1),
                                 &ids);
    expect(std::count(ids.begin(), ids.end(), -1) == 1);
  } catch (const Error& error) {
    expect(error.kind() == ErrorKind::kInput);
  }
}

// The bytes as ids of byte tokens, characters and control tokens, of which two in three are bytes.
void decode_bytes(std::string_view text) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < text.size(); ++i) {
    const int32_t byte = static_cast<uint8_t>(text[i]);
    ids.push_back(i % 3 == 2 ? 250 + byte : omniphi::testing::byte_id(byte));
  }
  streaming_equals_decoding(small_sentencepiece(), ids);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::string_view parts[3];
  for (std::string_view& part : parts) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  encode_and_decode(small_byte_level(), all);
  encode_and_decode(small_sentencepiece(), all);
  one_picture(all);
  decode_bytes(all);
  try {
    const Tokenizer tokenizer = Tokenizer::from_json(parts[0], "fuzz", parts[1]);
    encode_and_decode(tokenizer, parts[2]);
  } catch (const Error& error) {
    expect(error.kind() == ErrorKind::kCheckpoint);
  }
  return 0;
}

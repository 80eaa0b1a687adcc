// Tokenizer files and the texts that they encode. An input is tokenizer.json, then optionally a zero byte and
// tokenizer_config.json, then optionally a zero byte and a text. Whatever the file: an Error of kind kCheckpoint or a
// tokenizer; whatever the text: an Error of kind kInput, or ids that decode to the text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "text/chat_template.h"
#include "text/stream_decoder.h"
#include "text/tokenizer.h"

namespace {

using omniphi::Error;
using omniphi::ErrorKind;
using omniphi::Tokenizer;

// All 256 bytes in the byte-level alphabet, one merge, two added tokens: enough for a text to take every path.
const Tokenizer& small_tokenizer() {
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

void expect(bool condition) {
  if (!condition) std::abort();
}

void encode_and_decode(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids;
  try {
    tokenizer.encode(text, &ids);
    expect(tokenizer.decode(ids) == text);
    std::vector<int32_t> special;
    tokenizer.encode_special(text, &special);
    omniphi::StreamDecoder stream(tokenizer, {.show_special = true});
    std::string streamed;
    for (const int32_t id : special) streamed += stream.push(id);
    streamed += stream.flush();
    expect(streamed == tokenizer.decode(special));
    omniphi::parse_raw_prompt(tokenizer, text);
  } catch (const Error& error) {
    expect(error.kind() == ErrorKind::kInput && omniphi::find_invalid_utf8(text) != std::string_view::npos);
  }
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
  encode_and_decode(small_tokenizer(), std::string_view(reinterpret_cast<const char*>(data), size));
  try {
    const Tokenizer tokenizer = Tokenizer::from_json(parts[0], "fuzz", parts[1]);
    encode_and_decode(tokenizer, parts[2]);
  } catch (const Error& error) {
    expect(error.kind() == ErrorKind::kCheckpoint);
  }
  return 0;
}

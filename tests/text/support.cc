#include "text/support.h"

#include <zlib.h>

#include <filesystem>
#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "testing/sentencepiece_file.h"

namespace omniphi::text_test {

std::string read_data(const std::string& path) {
  return read_file(std::string(OMNIPHI_SOURCE_DIR) + "/" + path, size_t{1} << 28, ErrorKind::kInput);
}

nlohmann::json read_json(const std::string& path) { return nlohmann::json::parse(read_data(path)); }

std::string read_gzip(const std::string& path) {
  const std::string packed = read_data(path);
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::runtime_error("zlib");
  std::string bytes;
  int status = Z_OK;
  while (status == Z_OK) {
    char buffer[1 << 16];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof(buffer);
    status = inflate(&stream, Z_NO_FLUSH);
    bytes.append(buffer, sizeof(buffer) - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("broken gzip file " + path);
  return bytes;
}

const std::string& full_tokenizer_json() {
  static const std::string bytes = read_gzip("tests/data/tokenizers/phi4mm_tokenizer.json.gz");
  return bytes;
}

const Tokenizer& full_tokenizer() {
  static const Tokenizer tokenizer = Tokenizer::from_json(full_tokenizer_json(), "phi4mm_tokenizer.json.gz");
  return tokenizer;
}

const std::string& tiny_tokenizer_json() {
  static const std::string bytes = read_data("tests/parity/phi4mm/checkpoint/tokenizer.json");
  return bytes;
}

const Tokenizer& tiny_tokenizer() {
  static const Tokenizer tokenizer =
      Tokenizer::load(std::string(OMNIPHI_SOURCE_DIR) + "/tests/parity/phi4mm/checkpoint");
  return tokenizer;
}

const Tokenizer& small_tokenizer() {
  static const Tokenizer tokenizer = Tokenizer::from_json(testing::small_sentencepiece_file().dump(), "small");
  return tokenizer;
}

const Tokenizer* phi3v_tokenizer() {
  static const std::optional<Tokenizer> tokenizer = []() -> std::optional<Tokenizer> {
    const std::string path = "../shared/data/tokenizers/phi3_vision_tokenizer.json.gz";
    if (!std::filesystem::exists(std::string(OMNIPHI_SOURCE_DIR) + "/" + path)) return std::nullopt;
    return Tokenizer::from_json(read_gzip(path), path,
                                read_data("../shared/data/tokenizers/phi3_vision_tokenizer_config.json"));
  }();
  return tokenizer ? &*tokenizer : nullptr;
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;
  tokenizer.encode(text, &ids);
  return ids;
}

std::vector<int32_t> encode_special(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;
  tokenizer.encode_special(text, &ids);
  return ids;
}

std::vector<int32_t> encode_specials_as_text(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;
  tokenizer.encode_specials_as_text(text, &ids);
  return ids;
}

std::string random_text(std::mt19937& random, size_t length) {
  static const char* const kCommon[] = {
      " ",   " ",       "  ",     "\n",           "\r\n",       "\t",     "\u00A0", "\u3000", "'s",     "'LL",
      "'re", "'\u017F", "/",      "//\n",         "a",          "b",      "A",      "B",      "the",    "The",
      "1",   "23",      "\u0301", "\u0300\u0301", "\u02B0",     "\u01C5", "\u4E2D", "\u0661", "\u00BD", "!",
      "...", "_",       "-",      "\u200D",       "\U0001F600", "\u05D0", "\u1C89"};
  static const std::pair<char32_t, char32_t> kRanges[] = {
      {0x00, 0x3B},       {0x3D, 0x7F},       {0x80, 0x24F},      {0x250, 0x36F},     {0x370, 0x52F},
      {0x590, 0x6FF},     {0x900, 0xDFF},     {0x1E00, 0x20FF},   {0x2100, 0x2BFF},   {0x3000, 0x30FF},
      {0x4E00, 0x4FFF},   {0xA640, 0xABFF},   {0xAC00, 0xD7FF},   {0xE000, 0xFFFF},   {0x10000, 0x11FFF},
      {0x1D400, 0x1D7FF}, {0x1F000, 0x1FAFF}, {0x20000, 0x323FF}, {0xE0000, 0xE01FF}, {0x10FF00, 0x10FFFF}};
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  std::string text;
  for (size_t left = below(length + 1); left > 0; --left) {
    if (below(2) == 0) {
      text += kCommon[below(std::size(kCommon))];
      continue;
    }
    const auto [first, last] = kRanges[below(std::size(kRanges))];
    append_code_point(first + static_cast<char32_t>(below(last - first + 1)), &text);
  }
  return text;
}

}  // namespace omniphi::text_test

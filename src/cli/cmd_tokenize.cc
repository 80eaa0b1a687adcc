// omniphi tokenize: JSON strings in, token ids out, or the other way.
#include <cstdint>
#include <iostream>
#include <limits>

#include "base/error.h"
#include "cli/app.h"
#include "cli/engine_flags.h"
#include "cli/json_out.h"
#include "cli/shipped_model.h"
#include "io/json.h"
#include "io/model_path.h"
#include "text/tokenizer.h"

namespace omniphi::cli {
namespace {

struct TokenizeFlags {
  std::string model;
  bool special = false;
  bool decode = false;
};

std::string encode_line(const Tokenizer& tokenizer, const nlohmann::json& line, bool special) {
  if (!line.is_string()) throw Error(ErrorKind::kInput, "", show_json(line), "a JSON string");
  const std::string& text = line.get_ref<const std::string&>();
  std::vector<int32_t> ids;
  if (special) {
    tokenizer.encode_special(text, &ids);
  } else {
    tokenizer.encode_specials_as_text(text, &ids);
  }
  std::string out = "[";
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(ids[i]);
  }
  return out + "]";
}

std::string decode_line(const Tokenizer& tokenizer, const nlohmann::json& line) {
  if (!line.is_array()) throw Error(ErrorKind::kInput, "", show_json(line), "a JSON list of token ids");
  std::vector<int32_t> ids;
  ids.reserve(line.size());
  for (const nlohmann::json& entry : line) {
    const bool fits = entry.is_number_unsigned() &&
                      entry.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
    if (!fits) throw Error(ErrorKind::kInput, "", show_json(entry), "a token id");
    ids.push_back(entry.get<int32_t>());
  }
  return json_line(tokenizer.decode(ids));
}

int tokenize(const TokenizeFlags& flags) {
  const Tokenizer tokenizer = Tokenizer::load(resolve_model(model_or_shipped(flags.model)));
  std::string line;
  for (int64_t number = 1; std::getline(std::cin, line); ++number) {
    const std::string where = "standard input, line " + std::to_string(number);
    try {
      const nlohmann::json value = parse_json(line, where, ErrorKind::kInput);
      std::cout << (flags.decode ? decode_line(tokenizer, value) : encode_line(tokenizer, value, flags.special)) << "\n"
                << std::flush;
    } catch (const Error& error) {
      if (error.where() == where) throw;
      throw Error(error.kind(), where + (error.where().empty() ? "" : ": " + error.where()), error.found(),
                  error.expected(), error.remedy());
    }
  }
  return 0;
}

}  // namespace

void add_tokenize(CLI::App* root, Action* action) {
  auto flags = std::make_shared<TokenizeFlags>();
  CLI::App* verb =
      add_verb(root, "tokenize", "Turn JSON strings, a line each on standard input, into JSON lists of token ids",
               "  echo '\"Hello, world\"' | omniphi tokenize --model ./Phi-4-multimodal-instruct\n"
               "  echo '\"<|user|>Hi<|end|>\"' | omniphi tokenize --model ./phi4mm --special\n"
               "  echo '[13225, 11, 2375]' | omniphi tokenize --model ./phi4mm --decode\n"
               "Needs only the tokenizer's files. No BOS is ever added.");
  add_model_flag(verb, &flags->model);
  CLI::Option* special = verb->add_flag("--special", flags->special,
                                        "Recognise control tokens in the text (default: they are plain text)");
  verb->add_flag("--decode", flags->decode, "Turn JSON lists of token ids into JSON strings")->excludes(special);
  verb->callback([flags, action] { *action = [flags] { return tokenize(*flags); }; });
}

}  // namespace omniphi::cli

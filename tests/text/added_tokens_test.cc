// Recognising added tokens: thirty random sets of tokens with every mixture of flags, ids made with the Rust library.
#include "text/added_tokens.h"

#include <gtest/gtest.h>

#include "text/support.h"

namespace omniphi {
namespace {

using nlohmann::json;
using namespace text_test;
using Ids = std::vector<int32_t>;

// The tiny checkpoint's file with other added tokens.
std::string with_added_tokens(const json& tokens) {
  json file = json::parse(tiny_tokenizer_json());
  for (const json& token : file["added_tokens"]) file["model"]["vocab"].erase(token["content"].get<std::string>());
  file["added_tokens"] = tokens;
  return file.dump();
}

json token(int id, const std::string& content, const std::vector<std::string>& flags = {}) {
  json entry = {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", true}};
  for (const std::string& flag : flags) entry[flag] = true;
  return entry;
}

TEST(AddedTokens, RandomRules) {
  const json data = read_json("tests/data/tokenizers/added_token_rules.json");
  size_t cases = 0;
  for (const json& group : data["groups"]) {
    const Tokenizer tokenizer = Tokenizer::from_json(with_added_tokens(group["added_tokens"]), "rules");
    for (const json& c : group["cases"]) {
      EXPECT_EQ(encode_special(tokenizer, c["text"]), Ids(c["ids"]))
          << c["text"].dump(-1, ' ', true) << " with " << group["added_tokens"].dump(-1, ' ', true);
      ++cases;
    }
  }
  EXPECT_GE(cases, 300u);
}

TEST(AddedTokens, TheLongestWinsAtAPosition) {
  const Tokenizer tokenizer =
      Tokenizer::from_json(with_added_tokens({token(1534, "<|a|>"), token(1535, "<|a|><|b|>")}), "rules");
  EXPECT_EQ(encode_special(tokenizer, "<|a|><|b|><|a|>"), (Ids{1535, 1534}));
}

TEST(AddedTokens, WordCharactersOfAnyScriptTouchASingleWord) {
  const Tokenizer tokenizer =
      Tokenizer::from_json(with_added_tokens(json::array({token(1534, "<s>", {"single_word"})})), "rules");
  const auto count = [&](const std::string& text) {
    const Ids ids = encode_special(tokenizer, text);
    return std::count(ids.begin(), ids.end(), 1534);
  };
  EXPECT_EQ(count("<s>"), 1);
  EXPECT_EQ(count("\u00BD<s>-"), 1);
  EXPECT_EQ(count("\u4E2D<s>"), 0);
  EXPECT_EQ(count("<s>_"), 0);
  EXPECT_EQ(count("<s>\u0301"), 0);
  EXPECT_EQ(count("<s><s>"), 2);
}

TEST(AddedTokens, SegmentsCoverWhatIsLeft) {
  const std::string text = "a <|user|>  b<|endoftext|> c";
  const auto segments = tiny_tokenizer().find_added_tokens(text);
  ASSERT_EQ(segments.size(), 5u);
  EXPECT_EQ(segments[1].token->content, "<|user|>");
  EXPECT_EQ(text.substr(segments[1].begin, segments[1].end - segments[1].begin), "<|user|>  ");
  EXPECT_EQ(segments[2].token, nullptr);
  EXPECT_EQ(segments[4].begin, segments[3].end);
  EXPECT_EQ(segments[4].end, text.size());
  EXPECT_TRUE(tiny_tokenizer().find_added_tokens("").empty());
}

TEST(AddedTokens, SpaceIsUnicodeWhiteSpace) {
  const std::string text = "\u3000 \u00A0x\u2028\n";
  EXPECT_EQ(skip_space(text, 0), 6u);
  EXPECT_EQ(skip_space_back(text, text.size()), 7u);
  EXPECT_EQ(skip_space("\u200Bx", 0), 0u);
  EXPECT_EQ(skip_space_back("  ", 2), 0u);
}

// The released files agree with each other; where they don't, transformers lets tokenizer_config.json win.
TEST(AddedTokens, TheConfigurationsFlagsWin) {
  json file = json::parse(tiny_tokenizer_json());
  for (json& entry : file["added_tokens"]) entry["rstrip"] = false;
  const std::string config = read_data("tests/parity/phi4mm/checkpoint/tokenizer_config.json");
  EXPECT_EQ(encode_special(Tokenizer::from_json(file.dump(), "t"), "<|end|> x"), (Ids{1556, 1215}));
  EXPECT_EQ(encode_special(Tokenizer::from_json(file.dump(), "t", config), "<|end|> x"), (Ids{1556, 87}));
  // A flag that the configuration leaves out is unset, as transformers has it.
  json bare = json::parse(config);
  for (json& entry : bare["added_tokens_decoder"]) entry.erase("rstrip");
  EXPECT_EQ(encode_special(Tokenizer::from_json(tiny_tokenizer_json(), "t", bare.dump()), "<|end|> x"),
            (Ids{1556, 1215}));
  // Tokens that only the configuration has are added.
  json fewer = json::parse(tiny_tokenizer_json());
  fewer["added_tokens"].erase(8);
  EXPECT_EQ(encode_special(Tokenizer::from_json(fewer.dump(), "t", config), "<|tool|> y"), (Ids{1559, 88}));
}

}  // namespace
}  // namespace omniphi

// The evaluator of module patterns against the answers of Python's re.fullmatch, and the reader of tokenizer.json.
#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "base/file.h"
#include "models/checkpoint/tokenizer_facts.h"
#include "models/phi4mm/checkpoint/pattern.h"

namespace omniphi::phi4mm {
namespace {

bool matches(const std::string& text, const std::string& name) {
  Pattern pattern;
  std::string problem;
  EXPECT_TRUE(Pattern::compile(text, &pattern, &problem)) << text << ": " << problem;
  return pattern.matches(name);
}

std::string problem_of(const std::string& text) {
  Pattern pattern;
  std::string problem;
  return Pattern::compile(text, &pattern, &problem) ? "accepted" : problem;
}

TEST(Pattern, MatchesWholeTexts) {
  EXPECT_TRUE(matches("abc", "abc"));
  EXPECT_FALSE(matches("abc", "abcd"));
  EXPECT_FALSE(matches("abc", "xabc"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
}

TEST(Pattern, UnderstandsEachConstruct) {
  EXPECT_TRUE(matches("a.c", "axc"));
  EXPECT_FALSE(matches("a.c", "a\nc"));
  EXPECT_TRUE(matches("a\\.c", "a.c"));
  EXPECT_FALSE(matches("a\\.c", "axc"));
  EXPECT_TRUE(matches("a*", ""));
  EXPECT_TRUE(matches("a*", "aaaa"));
  EXPECT_FALSE(matches("a+", ""));
  EXPECT_TRUE(matches("a+?b", "aaab"));
  EXPECT_TRUE(matches("colou?r", "color"));
  EXPECT_TRUE(matches("(a|bc)*d", "abcad"));
  EXPECT_FALSE(matches("(a|bc)*d", "abd"));
  EXPECT_TRUE(matches("(?:x|)y", "y"));
  EXPECT_TRUE(matches("layers\\.\\d+", "layers.31"));
  EXPECT_FALSE(matches("layers\\.\\d+", "layers."));
  EXPECT_TRUE(matches("[a-c_]+", "ab_c"));
  EXPECT_FALSE(matches("[^a-c]", "b"));
  EXPECT_TRUE(matches("[]a]+", "]a"));
  EXPECT_TRUE(matches("[a-]", "-"));
  EXPECT_TRUE(matches("[\\d.]+", "1.2"));
  EXPECT_TRUE(matches("\\w+", "q_proj9"));
  EXPECT_TRUE(matches("^ab$", "ab"));
  EXPECT_FALSE(matches("a^b", "ab"));
  EXPECT_TRUE(matches("(^a|b)c", "ac"));
  EXPECT_TRUE(matches("a||b", ""));
}

TEST(Pattern, NamesWhatItCannotRead) {
  EXPECT_EQ(problem_of("a(b"), "an unclosed (");
  EXPECT_EQ(problem_of("a)b"), "an unopened )");
  EXPECT_EQ(problem_of("*a"), "a repetition of nothing");
  EXPECT_EQ(problem_of("a**"), "a repeated repetition");
  EXPECT_EQ(problem_of("a{2}"), "a counted repetition");
  EXPECT_EQ(problem_of("(?=a)"), "a special group");
  EXPECT_EQ(problem_of("(?"), "a special group");
  EXPECT_EQ(problem_of("\\1"), "the escape \\1");
  EXPECT_EQ(problem_of("\\b"), "the escape \\b");
  EXPECT_EQ(problem_of("a\\"), "a trailing backslash");
  EXPECT_EQ(problem_of("[a"), "an unclosed [");
  EXPECT_EQ(problem_of("[z-a]"), "a range in [ ] that can't be read");
  EXPECT_EQ(problem_of(std::string(513, 'a')), "513 characters, more than 512");
  EXPECT_EQ(problem_of(std::string(200, '(')), "groups nested too deeply");
}

TEST(Pattern, TimeIsBounded) {
  const auto start = std::chrono::steady_clock::now();
  std::string nested = "a";
  for (int i = 0; i < 30; ++i) nested = "(" + nested + ")*";
  EXPECT_FALSE(matches(nested, std::string(5000, 'a') + "b"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(TokenizerFacts, ReadsTheGoldenOne) {
  const std::string path = OMNIPHI_SOURCE_DIR "/tests/parity/phi4mm/checkpoint/tokenizer.json";
  const TokenizerFacts facts = read_tokenizer_facts(read_file(path, 1 << 24, ErrorKind::kInternal), "tokenizer.json");
  EXPECT_EQ(facts.added.size(), 14u);
  EXPECT_EQ(facts.added.at("<|endoftext10|>"), 1546);
  EXPECT_EQ(facts.added.at("<|tag|>"), 1564);
  EXPECT_EQ(facts.max_id, 1564);
}

TEST(TokenizerFacts, CountsTheVocabulary) {
  const TokenizerFacts facts = read_tokenizer_facts(
      R"({"added_tokens": [{"content": "<x>", "id": 3}], "model": {"vocab": {"a": 9, "b": 1}}})", "t");
  EXPECT_EQ(facts.max_id, 9);
  EXPECT_EQ(facts.max_token, "a");
}

TEST(TokenizerFacts, RefusesWhatItCannotUse) {
  for (const char* text :
       {"", "[", "3", R"({"added_tokens": [{"content": "<x>"}]})", R"({"added_tokens": [{"id": 3}]})",
        R"({"added_tokens": [{"content": "<x>", "id": -3}]})", R"({"added_tokens": [{"content": "<x>", "id": "3"}]})",
        R"({"model": {"vocab": {"a": 1.5}}})", R"({"model": {"vocab": ["a"]}})"}) {
    EXPECT_THROW(read_tokenizer_facts(text, "t"), Error) << text;
  }
  EXPECT_THROW(read_tokenizer_facts(std::string(1'000'000, '['), "t"), Error);
}

}  // namespace
}  // namespace omniphi::phi4mm

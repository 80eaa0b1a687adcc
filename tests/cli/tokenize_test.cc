// omniphi tokenize, from the outside.
#include <gtest/gtest.h>

#include <filesystem>

#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::run_tiny;

// One line for each entry of a list.
std::string lines(const std::vector<json>& entries) {
  std::string text;
  for (const json& entry : entries) text += entry.dump(-1, ' ', true) + "\n";
  return text;
}

std::vector<json> parsed_lines(const std::string& text) {
  std::vector<json> entries;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) entries.push_back(json::parse(line));
  return entries;
}

const std::vector<json>& texts() {
  static const std::vector<json> list = {"Hello, world",
                                         "",
                                         "<|user|> Hi<|end|>\n",
                                         "na\u00efve \u65e5\u672c\u8a9e \U0001F642",
                                         "line\nbreak\ttab \"quote\" \\",
                                         std::string("nul\0byte", 8)};
  return list;
}

TEST(Tokenize, PlainTextComesBackWhateverItLooksLike) {
  const testing::ProgramResult encoded = run_tiny("tokenize", {}, lines(texts()));
  EXPECT_EQ(encoded.exit_code, 0) << encoded.err;
  const std::vector<json> ids = parsed_lines(encoded.out);
  ASSERT_EQ(ids.size(), texts().size());
  EXPECT_EQ(ids[1], json::array());  // never a BOS
  for (const json& id : ids[2]) EXPECT_LT(id.get<int>(), 1534);
  const testing::ProgramResult decoded = run_tiny("tokenize", {"--decode"}, lines(ids));
  EXPECT_EQ(decoded.exit_code, 0) << decoded.err;
  EXPECT_EQ(parsed_lines(decoded.out), texts());
  for (const char c : decoded.out) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << decoded.out;
}

TEST(Tokenize, SpecialRecognisesControlTokens) {
  const testing::ProgramResult encoded = run_tiny("tokenize", {"--special"}, lines({texts()[2]}));
  const std::vector<json> ids = parsed_lines(encoded.out);
  ASSERT_EQ(ids.size(), 1u);
  EXPECT_EQ(ids[0].front(), 1557);
  EXPECT_EQ(ids[0].back(), 1556);
  // Strip rules took the white space behind both.
  EXPECT_EQ(parsed_lines(run_tiny("tokenize", {"--decode"}, lines(ids)).out)[0], "<|user|>Hi<|end|>");
}

TEST(Tokenize, EqualsTheReferencesTable) {
  const json table = testing::read_test_json(testing::golden_root() + "/tables/tokenizer.json");
  std::vector<json> strings, expected;
  for (const json& entry : table) {
    strings.push_back(entry.at("text"));
    expected.push_back(entry.at("ids"));
  }
  EXPECT_EQ(parsed_lines(run_tiny("tokenize", {"--special"}, lines(strings)).out), expected);
}

TEST(Tokenize, ABadLineExits3WithItsNumberAfterTheGoodOnes) {
  const std::string cases[] = {"not json", "5", "", "\"cut", "\"\\ud800\"", "\"\xff\"", "[1]", "\"a\" \"b\""};
  for (const std::string& bad : cases) {
    const testing::ProgramResult result = run_tiny("tokenize", {}, "\"one\"\n\"two\"\n" + bad + "\n\"four\"\n");
    EXPECT_EQ(result.exit_code, 3) << bad;
    EXPECT_NE(result.err.find("line 3"), std::string::npos) << result.err;
    EXPECT_EQ(parsed_lines(result.out).size(), 2u) << bad;
  }
  for (const char* bad : {"\"text\"", "[1.5]", "[-1]", "[99999999]", "[\"1\"]", "{}"}) {
    const testing::ProgramResult result = run_tiny("tokenize", {"--decode"}, std::string("[65]\n") + bad + "\n");
    EXPECT_EQ(result.exit_code, 3) << bad;
    EXPECT_NE(result.err.find("line 2"), std::string::npos) << result.err;
  }
}

TEST(Tokenize, NeedsOnlyTheTokenizersFiles) {
  const testing::TempFolder folder;
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    std::filesystem::copy(testing::tiny_checkpoint() + "/" + name, folder / name);
  }
  const testing::ProgramResult result =
      testing::run_program({"tokenize", "--model", folder.path().string()}, "\"Hi\"\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, run_tiny("tokenize", {}, "\"Hi\"\n").out);
}

TEST(Tokenize, RefusesWhatMakesNoSense) {
  expect_failure(run_tiny("tokenize", {"--decode", "--special"}), 2, {"--special"});
  const testing::TempFolder empty;
  expect_failure(testing::run_program({"tokenize", "--model", empty.path().string()}, "\"Hi\"\n"), 4,
                 {"tokenizer.json"});
}

}  // namespace
}  // namespace omniphi

#include "io/json.h"

#include <gtest/gtest.h>

#include "testing/temp_folder.h"

namespace omniphi {
namespace {

// What an Error says about a text that is refused.
std::string refusal(const std::string& text, size_t max_depth = kMaxJsonDepth) {
  try {
    parse_json(text, "there", ErrorKind::kInput, max_depth);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where(), "there");
    return error.found();
  }
  return "accepted";
}

TEST(Json, ReadsValues) {
  const nlohmann::json value = parse_json(R"({"a": [1, -2, 3.5, true, null, "\u00e4"]})", "x", ErrorKind::kInput);
  EXPECT_EQ(value["a"][0], 1);
  EXPECT_EQ(value["a"][2], 3.5);
  EXPECT_EQ(value["a"][5], "\xc3\xa4");
}

TEST(Json, RefusesBadSyntax) {
  EXPECT_NE(refusal("{\"a\": 1,\n}").find("line 2"), std::string::npos) << refusal("{\"a\": 1,\n}");
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "nul", "{} {}", "'a'", "[NaN]", "[Infinity]", "[1e999]",
                           "// note\n1", "\"\xff\"", "\"\n\"", "[01]"}) {
    EXPECT_NE(refusal(text), "accepted") << text;
  }
}

TEST(Json, RefusesAKeyTwice) {
  EXPECT_EQ(refusal(R"({"b": {"a": 1, "a": 1}})"), "the key \"a\" occurs twice in one object");
  EXPECT_EQ(refusal(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})"), "accepted");
  EXPECT_NE(refusal(R"({"a": 1, "\u0061": 2})"), "accepted");
}

TEST(Json, RefusesDeepNesting) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(refusal(nested(64)), "accepted");
  EXPECT_EQ(refusal(nested(65)), "more than 64 nested objects or lists");
  EXPECT_EQ(refusal(nested(3), 2), "more than 2 nested objects or lists");
  EXPECT_EQ(refusal(std::string(5'000'000, '[')), "more than 64 nested objects or lists");
}

TEST(Json, ShowsAnything) {
  EXPECT_EQ(show_text("a\"\n\xff\xe2\x82\xac"), "\"a\\\"\\n\\ufffd\\u20ac\"");
  EXPECT_LE(show_text(std::string(1'000'000, 'x')).size(), 210u);
  EXPECT_EQ(show_json(nlohmann::json::array({1, 2.5})), "[1,2.5]");
}

TEST(Json, ReadsFilesUpToALimit) {
  const testing::TempFolder folder;
  folder.write("a.json", "[1, 2]");
  EXPECT_EQ(read_json(folder / "a.json", 6, ErrorKind::kCheckpoint).size(), 2u);
  EXPECT_THROW(read_json(folder / "a.json", 5, ErrorKind::kCheckpoint), Error);
  EXPECT_THROW(read_json(folder / "b.json", 5, ErrorKind::kCheckpoint), Error);
}

}  // namespace
}  // namespace omniphi

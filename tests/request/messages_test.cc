#include "request/messages.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "testing/temp_folder.h"

namespace omniphi {
namespace {

Prompt parse(const std::string& json) { return parse_messages(json, "m.json", "/base"); }

Error refusal(const std::string& json) {
  try {
    parse(json);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "not refused: " << json;
  return Error(ErrorKind::kInternal, "", "");
}

// Of the only part of the only message.
Error part_refusal(const std::string& part) { return refusal(R"([{"role": "user", "content": [)" + part + "]}]"); }

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nshould contain: " << part;
}

TEST(Messages, TextConversation) {
  const Prompt prompt = parse(R"([{"role": "system", "content": "S"}, {"role": "user", "content": "U"},
      {"role": "assistant", "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]},
      {"role": "tool", "content": "T"}, {"role": "tool_response", "content": "R"}])");
  ASSERT_EQ(prompt.messages.size(), 5u);
  const char* roles[] = {"system", "user", "assistant", "tool", "tool_response"};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(prompt.messages[i].role, roles[i]);
  ASSERT_EQ(prompt.messages[2].parts.size(), 2u);
  EXPECT_EQ(prompt.messages[2].parts[1].text, "B");
  EXPECT_EQ(prompt.form, Prompt::Form::kChat);
  EXPECT_FALSE(prompt.tools);
  EXPECT_TRUE(prompt.warnings.empty());
}

TEST(Messages, DeveloperIsTheNewerNameOfSystem) {
  EXPECT_EQ(parse(R"([{"role": "developer", "content": "S"}])").messages[0].role, "system");
}

TEST(Messages, MediaKeepTheirOrderAcrossKindsAndMessages) {
  const Prompt prompt = parse(R"([
    {"role": "user", "content": [
      {"type": "input_audio", "input_audio": {"data": "Zm9v", "format": "wav"}},
      {"type": "text", "text": "one"},
      {"type": "image_url", "image_url": {"url": "x/a.png"}},
      {"type": "audio_url", "audio_url": {"url": "b.wav"}}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///c.png", "detail": "low"}}]}])");
  ASSERT_EQ(prompt.media.size(), 4u);
  EXPECT_EQ(prompt.media[0].bytes, "foo");
  EXPECT_EQ(prompt.media[0].kind, MediaKind::kAudio);
  EXPECT_EQ(prompt.media[1].path, "/base/x/a.png");
  EXPECT_EQ(prompt.media[1].max_crops, 0);
  EXPECT_EQ(prompt.media[2].path, "/base/b.wav");
  EXPECT_EQ(prompt.media[3].path, "/c.png");
  EXPECT_EQ(prompt.media[3].max_crops, 1);
  using Kind = ContentPart::Kind;
  const Kind expected[] = {Kind::kAudio, Kind::kText, Kind::kImage, Kind::kAudio};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(prompt.messages[0].parts[i].kind, expected[i]);
}

TEST(Messages, ToolsBecomeCompactJsonInTheOrderGiven) {
  const Prompt prompt = parse(R"({"tools": [ {"type": "function", "function": {"name": "z", "a": [1, 2.5, null],
      "description": "d\u00e9 \"q\""}} ], "messages": [{"role": "user", "content": "U"}]})");
  ASSERT_TRUE(prompt.tools);
  EXPECT_EQ(*prompt.tools,
            "[{\"type\":\"function\",\"function\":{\"name\":\"z\",\"a\":[1,2.5,null],"
            "\"description\":\"d\u00e9 \\\"q\\\"\"}}]");
  EXPECT_FALSE(parse(R"({"tools": [], "messages": [{"role": "user", "content": "U"}]})").tools);
}

TEST(Messages, ToolsOfASystemMessage) {
  EXPECT_EQ(parse(R"([{"role": "system", "content": "S", "tools": "[ as it stands ]"}])").messages[0].tools,
            "[ as it stands ]");
  EXPECT_EQ(parse(R"([{"role": "system", "content": "S", "tools": [{"b": 1, "a": 2}]}])").messages[0].tools,
            R"([{"b":1,"a":2}])");
  EXPECT_EQ(refusal(R"([{"role": "user", "content": "S", "tools": []}])").where(), "m.json: messages[0].tools");
  EXPECT_EQ(refusal(R"([{"role": "system", "content": "S", "tools": 5}])").found(), "5");
}

TEST(Messages, MetadataThatTheTemplateCantSayIsAWarning) {
  const Prompt prompt = parse(R"([{"role": "tool", "content": "T", "tool_call_id": "c1"},
      {"role": "user", "name": "Ann", "content": "U"}])");
  ASSERT_EQ(prompt.warnings.size(), 2u);
  expect_contains(prompt.warnings[0], "messages[0].tool_call_id");
  expect_contains(prompt.warnings[1], "messages[1].name");
}

TEST(Messages, NullsOfAssistantMessagesAreAccepted) {
  const Prompt prompt = parse(R"([{"role": "assistant", "content": "A", "refusal": null, "tool_calls": null,
      "audio": null, "function_call": null}])");
  EXPECT_TRUE(prompt.warnings.empty());
}

TEST(Messages, ToolCallsAreRefused) {
  const Error error = refusal(R"([{"role": "assistant", "content": "A", "tool_calls": [{"id": "x"}]}])");
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.where(), "m.json: messages[0].tool_calls");
  expect_contains(error.remedy(), "no form");
}

struct Refusal {
  const char* json;
  const char* where;
  const char* found;
};

TEST(Messages, EveryRuleNamesPlaceAndFinding) {
  const Refusal cases[] = {
      {"5", "m.json", "5"},
      {"[]", "m.json: messages", "an empty list"},
      {"{}", "m.json", "no messages"},
      {R"({"messages": 7})", "m.json: messages", "7"},
      {R"({"messages": [], "model": "x"})", "m.json", "the key \"model\""},
      {R"(["x"])", "m.json: messages[0]", "\"x\""},
      {R"([{"content": "x"}])", "m.json: messages[0]", "no role"},
      {R"([{"role": 3, "content": "x"}])", "m.json: messages[0].role", "3"},
      {R"([{"role": "bot", "content": "x"}])", "m.json: messages[0].role", "\"bot\""},
      {R"([{"role": "user"}])", "m.json: messages[0]", "no content"},
      {R"([{"role": "user", "content": null}])", "m.json: messages[0].content", "null"},
      {R"([{"role": "user", "content": "a"}, {"role": "user", "content": 5}])", "m.json: messages[1].content", "5"},
      {R"([{"role": "user", "content": "x", "weight": 1}])", "m.json: messages[0]", "the key \"weight\""},
      {R"({"messages": [{"role": "user", "content": "x"}], "tools": {}})", "m.json: tools", "{}"},
      {R"({"messages": [{"role": "user", "content": "x"}], "tools": ["f"]})", "m.json: tools[0]", "\"f\""},
      {"[{", "m.json", "parse error"},
      {R"([{"role": "user", "role": "user", "content": "x"}])", "m.json", "occurs twice"}};
  for (const Refusal& refused : cases) {
    const Error error = refusal(refused.json);
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << refused.json;
    EXPECT_EQ(error.where(), refused.where) << refused.json;
    expect_contains(error.found(), refused.found);
    EXPECT_FALSE(error.expected().empty()) << refused.json;
  }
}

TEST(Messages, EveryRuleOfAPartNamesPlaceAndFinding) {
  const std::string at = "m.json: messages[0].content[0]";
  const Refusal cases[] = {
      {R"("text")", "", "\"text\""},
      {R"({"text": "x"})", "", "no type"},
      {R"({"type": "text"})", "", "no text"},
      {R"({"type": "text", "text": 5})", ".text", "5"},
      {R"({"type": "text", "text": "x", "cache": 1})", "", "the key \"cache\""},
      {R"({"type": "sound"})", ".type", "\"sound\""},
      {R"({"type": "video_url", "video_url": {"url": "a.mp4"}})", "", "a video"},
      {R"({"type": "input_video"})", "", "a video"},
      {R"({"type": "file", "file": {}})", "", "a document"},
      {R"({"type": "input_file"})", "", "a document"},
      {R"({"type": "image_url"})", "", "no image_url"},
      {R"({"type": "image_url", "image_url": "a.png"})", ".image_url", "\"a.png\""},
      {R"({"type": "image_url", "image_url": {}})", ".image_url", "no url"},
      {R"({"type": "image_url", "image_url": {"url": "a.png", "detail": "best"}})", ".image_url.detail", "\"best\""},
      {R"({"type": "image_url", "image_url": {"url": "a.png", "crops": 1}})", ".image_url", "the key \"crops\""},
      {R"({"type": "image_url", "image_url": {"url": "http://h/a.png"}})", ".image_url.url", "http://h/a.png"},
      {R"({"type": "input_audio", "input_audio": {"format": "wav"}})", ".input_audio", "no data"},
      {R"({"type": "input_audio", "input_audio": {"data": "Zm9v", "format": "midi"}})", ".input_audio.format",
       "\"midi\""},
      {R"({"type": "input_audio", "input_audio": {"data": "Zg", "format": "wav"}})", ".input_audio.data", "\"Zg\""},
      {R"({"type": "audio_url", "audio_url": {"url": 5}})", ".audio_url.url", "5"}};
  for (const Refusal& refused : cases) {
    const Error error = part_refusal(refused.json);
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << refused.json;
    EXPECT_EQ(error.where(), at + refused.where) << refused.json;
    expect_contains(error.found(), refused.found);
    EXPECT_FALSE(error.expected().empty()) << refused.json;
  }
  // A video behind an image part is named by its file.
  const Error video = part_refusal(R"({"type": "image_url", "image_url": {"url": "clips/a.mp4"}})");
  EXPECT_EQ(video.found(), "a video");
  expect_contains(video.where(), "clips/a.mp4");
}

TEST(Messages, DeepNestingIsRefused) {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  const Error error = refusal(R"({"messages": [{"role": "user", "content": "x"}], "tools": )" + deep + "}");
  expect_contains(error.found(), "nested");
}

TEST(Messages, RelativePathsStartAtTheFile) {
  const testing::TempFolder folder;
  std::filesystem::create_directory(folder.path() / "sub");
  const std::filesystem::path file = folder.path() / "sub" / "chat.json";
  std::ofstream(file) << R"([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "../a.png"}}]}])";
  const Prompt prompt = read_messages(file);
  EXPECT_EQ(prompt.media[0].path, folder.path() / "sub" / "../a.png");
}

TEST(TokenIds, ReadsAndRefuses) {
  EXPECT_EQ(parse_token_ids("[1, 2, 200010]", "ids.json"), (std::vector<int32_t>{1, 2, 200010}));
  // A family may number its pictures: the model's check of the ids decides.
  EXPECT_EQ(parse_token_ids("[1, -1, -2147483648]", "ids.json"), (std::vector<int32_t>{1, -1, INT32_MIN}));
  for (const char* json : {"[]", "{}", "5", "[1.0]", "[-2147483649]", "[\"1\"]", "[2147483648]",
                           "[18446744073709551615]", "[null]", "[1", "[[1]]"}) {
    EXPECT_THROW(parse_token_ids(json, "ids.json"), Error) << json;
  }
  try {
    parse_token_ids("[1, 2, 3.5]", "ids.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where(), "ids.json[2]");
    EXPECT_EQ(error.found(), "3.5");
  }
}

TEST(PromptTest, AUserTurnHasItsMediaInFront) {
  Prompt prompt;
  add_user_turn(&prompt, {media_from_path(MediaKind::kAudio, "a.wav"), media_from_path(MediaKind::kImage, "b.png")},
                "text");
  ASSERT_EQ(prompt.messages.size(), 1u);
  using Kind = ContentPart::Kind;
  const Kind expected[] = {Kind::kAudio, Kind::kImage, Kind::kText};
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(prompt.messages[0].parts[i].kind, expected[i]);
  EXPECT_EQ(prompt.media[1].path, "b.png");
}

}  // namespace
}  // namespace omniphi

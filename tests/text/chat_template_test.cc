#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "text/support.h"

namespace omniphi {
namespace {

using nlohmann::json;
using namespace text_test;
using Ids = std::vector<int32_t>;
using PartKind = ContentPart::Kind;
using PieceKind = Piece::Kind;

ContentPart text(std::string t) { return {PartKind::kText, std::move(t)}; }
ContentPart image() { return {PartKind::kImage, ""}; }
ContentPart audio() { return {PartKind::kAudio, ""}; }

Ids ids_of(const std::vector<Piece>& pieces) {
  Ids ids;
  encode_pieces(tiny_tokenizer(), pieces, &ids);
  return ids;
}

// What the reference would tokenise: the pieces as one string.
std::string as_string(const std::vector<Piece>& pieces) {
  std::string all;
  for (const Piece& piece : pieces) {
    if (piece.kind == PieceKind::kImage) all += kImageToken;
    if (piece.kind == PieceKind::kAudio) all += kAudioToken;
    all += piece.text;
  }
  return all;
}

// A golden conversation; its texts hold the marker of an image, which becomes a part.
std::vector<ChatMessage> messages_of(const json& list) {
  std::vector<ChatMessage> messages;
  for (const json& m : list) {
    ChatMessage message{m["role"], {}, {}};
    std::string content = m["content"];
    const std::string marker = "<|image_1|>";
    if (content.starts_with(marker)) {
      message.parts.push_back(image());
      content.erase(0, marker.size());
    }
    message.parts.push_back(text(content));
    if (m.contains("tools")) message.tools = m["tools"].get<std::string>();
    messages.push_back(message);
  }
  return messages;
}

TEST(ChatTemplate, GoldenConversations) {
  for (const json& c : read_json("tests/parity/phi4mm/tables/chat_template.json")) {
    const auto pieces =
        render_chat(messages_of(c["messages"]), {.add_generation_prompt = c["add_generation_prompt"].get<bool>()});
    std::string expected = c["text"];
    const std::string marker = "<|image_1|>";
    if (const size_t at = expected.find(marker); at != std::string::npos) {
      expected.replace(at, marker.size(), kImageToken);
    }
    EXPECT_EQ(as_string(pieces), expected);
    EXPECT_EQ(ids_of(pieces), encode_special(tiny_tokenizer(), expected));
    EXPECT_EQ(ids_of(pieces), ids_of(parse_raw_prompt(tiny_tokenizer(), c["text"].get<std::string>())));
  }
}

// The prompts of the golden cases: the ids before expansion.
TEST(ChatTemplate, GoldenPrompts) {
  int checked = 0;
  const json manifest = read_json("tests/parity/phi4mm/manifest.json");
  for (const json& entry : manifest["cases"]) {
    const std::string stem = entry["name"];
    const json c = read_json("tests/parity/phi4mm/cases/" + stem + ".json");
    EXPECT_EQ(ids_of(parse_raw_prompt(tiny_tokenizer(), c["prompt"].get<std::string>())),
              Ids(c["prompt_ids_unexpanded"]))
        << stem;
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(ChatTemplate, PartsJoinInOrderWithNothingBetween) {
  const auto pieces = render_chat({{"user", {text("a"), image(), text(" b"), text("c "), audio(), image()}, {}}});
  const std::vector<Piece> expected = {
      {PieceKind::kControl, "<|user|>"}, {PieceKind::kText, "a"},          {PieceKind::kImage, ""},
      {PieceKind::kText, " b"},          {PieceKind::kText, "c "},         {PieceKind::kAudio, ""},
      {PieceKind::kImage, ""},           {PieceKind::kControl, "<|end|>"}, {PieceKind::kControl, "<|assistant|>"}};
  EXPECT_EQ(pieces, expected);
}

TEST(ChatTemplate, ToolsOfTheRequestGoToTheSystemMessage) {
  const std::string tools = R"([{"name":"f"}])";
  const ChatMessage user{"user", {text("U")}, {}};
  const ChatMessage system{"system", {text("S")}, {}};
  EXPECT_EQ(as_string(render_chat({user}, {.tools = tools})),
            "<|system|><|tool|>" + tools + "<|/tool|><|end|><|user|>U<|end|><|assistant|>");
  EXPECT_EQ(as_string(render_chat({system, user}, {.tools = tools})),
            "<|system|>S<|tool|>" + tools + "<|/tool|><|end|><|user|>U<|end|><|assistant|>");
  EXPECT_EQ(as_string(render_chat({user, system, system}, {.tools = "[]"})),
            "<|user|>U<|end|><|system|>S<|tool|>[]<|/tool|><|end|><|system|>S<|end|><|assistant|>");
  EXPECT_EQ(as_string(render_chat({}, {.tools = ""})), "<|system|><|tool|><|/tool|><|end|><|assistant|>");
  EXPECT_EQ(as_string(render_chat({}, {.add_generation_prompt = false})), "<|endoftext|>");
}

TEST(ChatTemplate, ToolResults) {
  EXPECT_EQ(as_string(render_chat({{"tool", {text("3")}, {}}, {"tool_response", {text("4")}, {}}})),
            "<|tool|>3<|end|><|tool_response|>4<|end|><|assistant|>");
}

TEST(ChatTemplate, Refusals) {
  const auto refusal = [](const std::vector<ChatMessage>& messages, const ChatOptions& options) -> std::string {
    try {
      render_chat(messages, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.where() + " | " + error.found();
    }
    return "";
  };
  const ChatMessage good{"user", {}, {}};
  EXPECT_EQ(refusal({good, {"developer", {}, {}}}, {}), "messages[1].role | \"developer\"");
  EXPECT_EQ(refusal({{"", {}, {}}}, {}), "messages[0].role | \"\"");
  EXPECT_EQ(refusal({{"end", {}, {}}}, {}), "messages[0].role | \"end\"");
  EXPECT_EQ(refusal({{"user", {}, "[]"}}, {}), "messages[0].tools | tools in a message of role user");
  EXPECT_EQ(refusal({{"system", {}, "[]"}}, {.tools = "[]"}),
            "messages[0].tools | tools in the message and in the request");
}

TEST(EncodePieces, LiteralMarkersStayCharacters) {
  for (const std::string literal : {"<|endoftext10|>", "<|endoftext11|>", "<|end|>", "<|image_1|>", "<|user|> x"}) {
    const Ids ids = ids_of(render_chat({{"user", {text(literal)}, {}}}));
    Ids expected = {1557};
    tiny_tokenizer().encode(literal, &expected);
    expected.insert(expected.end(), {1556, 1555});
    EXPECT_EQ(ids, expected) << literal;
  }
  // Also when two parts only together make one.
  Ids expected = {1557};
  tiny_tokenizer().encode("<|end|>", &expected);
  expected.insert(expected.end(), {1556, 1555});
  EXPECT_EQ(ids_of(render_chat({{"user", {text("<|e"), text("nd|>")}, {}}})), expected);
}

TEST(EncodePieces, StripRulesSpanTextParts) {
  const auto check = [](const std::vector<Piece>& pieces) {
    EXPECT_EQ(ids_of(pieces), encode_special(tiny_tokenizer(), as_string(pieces))) << as_string(pieces);
  };
  const Piece user{PieceKind::kControl, "<|user|>"}, eot{PieceKind::kControl, "<|endoftext|>"};
  const Piece img{PieceKind::kImage, ""}, space{PieceKind::kText, " \n"}, word{PieceKind::kText, " x"};
  check({user, space, space, word});
  check({user, space, img, space, word});
  check({user, space, user, word});
  check({user, {PieceKind::kText, ""}, word});
  check({eot, space, word, eot, space});
  check({space, user, space});
  check({word, word, img, word, space, img, img, space});
  check({user, {PieceKind::kText, "\u3000\u2003\u00A0"}, {PieceKind::kText, "x"}});
}

// White space of three bytes that two parts share can't be valid text; joined it is.
TEST(EncodePieces, PartsAreJoinedBeforeTheyAreChecked) {
  EXPECT_EQ(ids_of({{PieceKind::kText, "\xC3"}, {PieceKind::kText, "\xA9"}}), encode(tiny_tokenizer(), "\u00E9"));
  EXPECT_THROW(ids_of({{PieceKind::kControl, "<|user|>"}, {PieceKind::kText, "\xE3\x80"}}), Error);
}

TEST(EncodePieces, RandomConversationsEqualTheReferencesString) {
  std::mt19937 random(31);
  const char* const roles[] = {"system", "user", "assistant", "tool", "tool_response"};
  for (int i = 0; i < 2000; ++i) {
    std::vector<ChatMessage> messages;
    for (size_t n = random() % 4; n > 0; --n) {
      ChatMessage message{roles[random() % 5], {}, {}};
      for (size_t parts = random() % 5; parts > 0; --parts) {
        const size_t kind = random() % 4;
        message.parts.push_back(kind == 0 ? image() : kind == 1 ? audio() : text(random_text(random, 6)));
      }
      if (message.role == "system" && random() % 2 == 0) message.tools = random_text(random, 6);
      messages.push_back(message);
    }
    const auto pieces = render_chat(messages, {.add_generation_prompt = random() % 2 == 0});
    const std::string whole = as_string(pieces);
    ASSERT_EQ(ids_of(pieces), encode_special(tiny_tokenizer(), whole)) << json(whole).dump(-1, ' ', true);
    ASSERT_EQ(ids_of(pieces), ids_of(parse_raw_prompt(tiny_tokenizer(), whole)));
  }
}

TEST(EncodePieces, NamesATokenThatTheTokenizerLacks) {
  try {
    ids_of({{PieceKind::kControl, "<|nope|>"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    EXPECT_NE(error.found().find("<|nope|>"), std::string::npos);
  }
}

TEST(RawPrompt, MarkersBecomeMedia) {
  const auto kinds = [](const std::string& prompt) {
    std::string out;
    for (const Piece& piece : parse_raw_prompt(tiny_tokenizer(), prompt)) out += "TCIA"[static_cast<int>(piece.kind)];
    return out;
  };
  EXPECT_EQ(kinds("<|user|><|image_1|><|audio_1|>x<|end|>"), "CIATC");
  EXPECT_EQ(kinds("<|image_0009|><|image_3|><|endoftext10|><|endoftext11|>"), "IIIA");
  EXPECT_EQ(kinds("<|image_\u0663|>"), "I");  // the reference's \d takes any decimal digit
  EXPECT_EQ(kinds("<|image_\u00BD|>"), "T");
  EXPECT_EQ(kinds("<|image_|><|image_1|"), "T");
  EXPECT_EQ(kinds("<|<|image_1|>"), "TI");
  EXPECT_EQ(kinds("<|IMAGE_1|>"), "T");
  EXPECT_EQ(kinds(""), "");
  EXPECT_THROW(kinds("<|image_1|>\xFF"), Error);
}

TEST(RawPrompt, ManyUnfinishedMarkersTakeLinearTime) {
  std::string prompt;
  for (int i = 0; i < 100000; ++i) prompt += "<|image_";
  EXPECT_EQ(parse_raw_prompt(tiny_tokenizer(), prompt).size(), 1u);
  EXPECT_EQ(parse_raw_prompt(tiny_tokenizer(), "<|image_" + std::string(1000000, '1')).size(), 1u);
}

}  // namespace
}  // namespace omniphi

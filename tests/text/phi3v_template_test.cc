// Phi-3.5-vision's chat template and raw prompts, as typed pieces and as ids.
#include "text/phi3v_template.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <tuple>

#include "base/error.h"
#include "testing/sentencepiece_file.h"
#include "text/chat_template.h"
#include "text/prompt_style.h"
#include "text/support.h"

namespace omniphi {
namespace {

using nlohmann::json;
using namespace text_test;
using testing::ascii_id;
using testing::byte_id;
using testing::kSpaceMarkId;
using Ids = std::vector<int32_t>;
using PartKind = ContentPart::Kind;
using PieceKind = Piece::Kind;

ContentPart text(std::string t) { return {PartKind::kText, std::move(t)}; }
ContentPart image() { return {PartKind::kImage, ""}; }

Ids ids_of(const Tokenizer& tokenizer, const std::vector<Piece>& pieces) {
  Ids ids;
  encode_phi3v_pieces(tokenizer, pieces, &ids);
  return ids;
}

// What the reference's template gives: the pieces as one string.
std::string as_string(const std::vector<Piece>& pieces) {
  std::string all;
  int images = 0;
  for (const Piece& piece : pieces) {
    if (piece.kind == PieceKind::kImage) all += "<|image_" + std::to_string(++images) + "|>";
    all += piece.text;
  }
  return all;
}

// The ids of a string as the reference makes them, with tags <|image_1|>, <|image_2|> and so on in it.
Ids reference_ids(const Tokenizer& tokenizer, const std::string& prompt, int images) {
  Ids ids;
  size_t begin = 0;
  for (int k = 1; k <= images + 1; ++k) {
    const std::string tag = "<|image_" + std::to_string(k) + "|>";
    const size_t end = k <= images ? prompt.find(tag, begin) : prompt.size();
    ids.push_back(1);
    for (const int32_t id : encode_special(tokenizer, prompt.substr(begin, end - begin))) ids.push_back(id);
    if (k <= images) ids.push_back(-k);
    begin = end + tag.size();
  }
  return ids;
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << error.what();
    return error.where() + " | " + error.found() + " | " + error.expected();
  }
  return "accepted";
}

std::string raw_refusal(const std::string& prompt, size_t images) {
  return refusal([&] { parse_phi3v_raw_prompt(small_tokenizer(), prompt, images); });
}

TEST(Phi3vTemplate, GoldenConversations) {
  const json data = read_json("tests/parity/phi3v/behaviours.json");
  size_t checked = 0;
  for (const json& c : data["chat_template"]) {
    std::vector<ChatMessage> messages;
    for (const json& m : c["messages"]) messages.push_back({m["role"], {text(m["content"])}, {}});
    const ChatOptions options = {.add_generation_prompt = c["add_generation_prompt"].get<bool>()};
    const std::vector<Piece> pieces = render_phi3v_chat(messages, options);
    EXPECT_EQ(as_string(pieces), c["text"].get<std::string>());
    const std::string whole = c["text"];
    EXPECT_EQ(ids_of(small_tokenizer(), pieces), reference_ids(small_tokenizer(), whole, 0)) << c["text"];
    if (phi3v_tokenizer() != nullptr) {
      EXPECT_EQ(ids_of(*phi3v_tokenizer(), pieces), Ids(c["ids"])) << c["text"];
      EXPECT_EQ(raw_prompt_ids(kPhi3vPrompts, *phi3v_tokenizer(), whole, 0), Ids(c["ids"])) << c["text"];
    }
    ++checked;
  }
  EXPECT_GE(checked, 12u);
  if (phi3v_tokenizer() == nullptr) GTEST_SKIP() << kNoPhi3vTokenizer << "; the strings were checked";
}

// Every prompt that the reference accepts or refuses, but for two on which we are stricter, and say so by name.
TEST(Phi3vTemplate, GoldenPrompts) {
  const json data = read_json("tests/parity/phi3v/behaviours.json");
  size_t accepted = 0, refused = 0;
  for (const json& c : data["prompt_and_image_rules"]) {
    const std::string name = c["name"], prompt = c["prompt"];
    if (name == "empty_image_list") continue;  // here no images are no images
    const size_t images = c["images"].is_null() ? 0 : c["images"].size();
    if (c["outcome"] == "error" || name == "swapped") {
      EXPECT_NE(raw_refusal(prompt, images), "accepted") << name;
      ++refused;
      continue;
    }
    ++accepted;
    EXPECT_EQ(raw_refusal(prompt, images), "accepted") << name;
    if (phi3v_tokenizer() == nullptr) continue;
    Ids expected;
    for (const json& run : c["input_ids_rle"]) {
      const int32_t id = run[0];
      expected.insert(expected.end(), id < 0 ? size_t{1} : run[1].get<size_t>(), id);
    }
    EXPECT_EQ(raw_prompt_ids(kPhi3vPrompts, *phi3v_tokenizer(), prompt, images), expected) << name;
  }
  EXPECT_GE(accepted, 7u);
  EXPECT_GE(refused, 10u);
  if (phi3v_tokenizer() == nullptr) GTEST_SKIP() << kNoPhi3vTokenizer << "; what is refused was checked";
}

TEST(Phi3vTemplate, PiecesAndIdsByHand) {
  const std::vector<ChatMessage> messages = {{"system", {text("hello")}, {}},
                                             {"user", {image(), image(), text("a"), image(), text("")}, {}}};
  const std::vector<Piece> pieces = render_phi3v_chat(messages);
  const std::vector<Piece> expected = {{PieceKind::kControl, "<|system|>"},
                                       {PieceKind::kText, "\n"},
                                       {PieceKind::kText, "hello"},
                                       {PieceKind::kControl, "<|end|>"},
                                       {PieceKind::kText, "\n"},
                                       {PieceKind::kControl, "<|user|>"},
                                       {PieceKind::kText, "\n"},
                                       {PieceKind::kImage, ""},
                                       {PieceKind::kText, "\n"},
                                       {PieceKind::kImage, ""},
                                       {PieceKind::kText, "\n"},
                                       {PieceKind::kText, "a"},
                                       {PieceKind::kImage, ""},
                                       {PieceKind::kText, "\n"},
                                       {PieceKind::kControl, "<|end|>"},
                                       {PieceKind::kText, "\n"},
                                       {PieceKind::kControl, "<|assistant|>"},
                                       {PieceKind::kText, "\n"}};
  EXPECT_EQ(pieces, expected);
  const int32_t mark = kSpaceMarkId, newline = byte_id('\n');
  const Ids ids = {1,       374, mark, newline, 263,     373,  mark,    newline, 372,     mark,
                   newline, -1,  1,    mark,    newline, -2,   1,       mark,    newline, ascii_id('a'),
                   -3,      1,   mark, newline, 373,     mark, newline, 371};
  EXPECT_EQ(ids_of(small_tokenizer(), pieces), ids);
  EXPECT_EQ(chat_ids(kPhi3vPrompts, small_tokenizer(), messages), ids);
}

TEST(Phi3vTemplate, TextIsDefused) {
  for (const std::string literal : {"<|end|>", "</s>", "<s>", "<|image_1|>", "<|image|>  x", "<|assistant|>\n x"}) {
    Ids expected = {1, 372};
    small_tokenizer().encode("\n" + literal, &expected);
    expected.insert(expected.end(), {373, kSpaceMarkId, byte_id('\n'), 371});
    EXPECT_EQ(chat_ids(kPhi3vPrompts, small_tokenizer(), {{"user", {text(literal)}, {}}}), expected) << literal;
  }
}

TEST(Phi3vTemplate, RandomConversationsEqualTheReferencesString) {
  std::mt19937 random(31);
  const char* const roles[] = {"system", "user", "assistant", "tool", "tool_response"};
  for (int round = 0; round < 2000; ++round) {
    std::vector<ChatMessage> messages;
    int images = 0;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      ChatMessage message{roles[random() % 5], {}, {}};
      for (size_t parts = random() % 5; parts > 0; --parts) {
        const bool picture = random() % 3 == 0;
        images += picture;
        message.parts.push_back(picture ? image() : text(random_text(random, 6)));
      }
      messages.push_back(message);
    }
    const auto pieces = render_phi3v_chat(messages, {.add_generation_prompt = random() % 2 == 0});
    const std::string whole = as_string(pieces);
    const Ids ids = ids_of(small_tokenizer(), pieces);
    ASSERT_EQ(ids, reference_ids(small_tokenizer(), whole, images)) << json(whole).dump(-1, ' ', true);
    ASSERT_EQ(ids, raw_prompt_ids(kPhi3vPrompts, small_tokenizer(), whole, static_cast<size_t>(images)));
    check_phi3v_slots(ids, static_cast<size_t>(images));
  }
}

TEST(Phi3vTemplate, Refusals) {
  const auto chat = [](const std::vector<ChatMessage>& messages, const ChatOptions& options = {}) {
    return refusal([&] { render_phi3v_chat(messages, options); });
  };
  EXPECT_EQ(chat({}), "messages | none | at least one message");
  EXPECT_NE(chat({{"user", {}, {}}, {"developer", {}, {}}}).find("messages[1].role | \"developer\""),
            std::string::npos);
  EXPECT_NE(chat({{"system", {}, "[]"}}).find("messages[0].tools | tools | no tools"), std::string::npos);
  EXPECT_NE(chat({{"user", {}, {}}}, {.tools = "[]"}).find("tools | tools | no tools"), std::string::npos);
  EXPECT_NE(chat({{"user", {text("a"), {PartKind::kAudio, ""}}, {}}}).find("messages[0].content[1] | an audio"),
            std::string::npos);
  EXPECT_NE(refusal([] { ids_of(small_tokenizer(), {{PieceKind::kAudio, ""}}); }).find("an audio"), std::string::npos);
  EXPECT_NE(refusal([] {
              ids_of(small_tokenizer(), {{PieceKind::kText, "\xFF"}});
            }).find("offset 0"),
            std::string::npos);
  for (const auto& [tokenizer, piece, found] :
       {std::tuple<const Tokenizer&, Piece, const char*>{tiny_tokenizer(), {PieceKind::kText, "a"}, "byte-level"},
        {small_tokenizer(), {PieceKind::kControl, "<|nope|>"}, "<|nope|>"}}) {
    try {
      ids_of(tokenizer, {piece});
      FAIL() << found;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
      EXPECT_NE(error.found().find(found), std::string::npos) << error.found();
    }
  }
}

TEST(Phi3vRawPrompt, TagsAreRefusedByName) {
  EXPECT_EQ(raw_refusal("<|image_1|>a<|image_1|>", 1),
            "prompt | <|image_1|> repeated | <|image_1|> once, for the one picture");
  EXPECT_EQ(raw_refusal("<|image_2|><|image_1|>", 2),
            "prompt | <|image_2|> before <|image_1|> | <|image_1|> to <|image_2|>, once each and in this order, for 2 "
            "pictures");
  const auto found = [](const std::string& prompt, size_t images) {
    const std::string error = raw_refusal(prompt, images);
    return error.substr(0, error.rfind(" | "));
  };
  EXPECT_EQ(found("hello", 1), "prompt | no <|image_1|>");
  EXPECT_EQ(found("<|IMAGE_1|>", 1), "prompt | no <|image_1|>");
  EXPECT_EQ(found("<|image_1|><|image_3|>", 3), "prompt | no <|image_2|>");
  EXPECT_EQ(found("<|image_1|><|image_3|>", 2), "prompt | <|image_3|>");
  EXPECT_EQ(found("<|image_000|>", 1), "prompt | <|image_0|>");
  EXPECT_EQ(found("<|image_" + std::string(100000, '9') + "|>", 1), "prompt | a number above 999999999");
  EXPECT_EQ(found("<|image_1|>\xFF", 1), "prompt | a byte that is not UTF-8 at offset 11");
}

TEST(Phi3vRawPrompt, TagsOfAnyDigits) {
  const auto ids = [](const std::string& prompt, size_t images) {
    return raw_prompt_ids(kPhi3vPrompts, small_tokenizer(), prompt, images);
  };
  EXPECT_EQ(ids("<|image_1|>", 1), (Ids{1, -1, 1}));
  EXPECT_EQ(ids("<|image_1|>hello<|image_2|>", 2), (Ids{1, -1, 1, 264, -2, 1}));
  EXPECT_EQ(ids("<|image_00\u0661|><|image_\U0001D7EC\u0968|>", 2), (Ids{1, -1, 1, -2, 1}));
  EXPECT_EQ(ids("hello<|assistant|>\n<|image_1|>\n hello", 1),
            (Ids{1, 264, 371, -1, 1, kSpaceMarkId, byte_id('\n'), 264}));
  // A fraction is no decimal digit, an unfinished tag no tag.
  EXPECT_EQ(ids("<|image_\u00BD|><|image_1|>", 1).size(), ids("<|image_\u00BD|>", 0).size() + 2);
  EXPECT_EQ(ids("<|image_<|image_1|>", 1).size(), ids("<|image_", 0).size() + 2);
  // Without pictures a tag is text.
  Ids plain = {1};
  small_tokenizer().encode("<|image_1|>", &plain);
  EXPECT_EQ(ids("<|image_1|>", 0), plain);
}

TEST(Phi3vRawPrompt, ManyUnfinishedTagsTakeLinearTime) {
  std::string prompt;
  for (int i = 0; i < 100000; ++i) prompt += "<|image_";
  EXPECT_EQ(parse_phi3v_raw_prompt(small_tokenizer(), prompt + "<|image_1|>", 1).size(), 2u);
  EXPECT_EQ(parse_phi3v_raw_prompt(small_tokenizer(), "<|image_" + std::string(1000000, '0') + "1|>", 1).size(), 1u);
}

TEST(Phi3vSlots, TheRuleOfTags) {
  const auto found = [](const Ids& ids, size_t images) {
    const std::string error = refusal([&] { check_phi3v_slots(ids, images); });
    return error.substr(0, error.rfind(" | "));
  };
  EXPECT_EQ(found({1, 5}, 0), "accepted");
  EXPECT_EQ(found({-1, 5, -2}, 2), "accepted");
  EXPECT_EQ(found({1, -1}, 0), "token ids | -1");
  EXPECT_EQ(found({-1, -1}, 1), "token ids | -1 repeated");
  EXPECT_EQ(found({-2, -1}, 2), "token ids | -2 before -1");
  EXPECT_EQ(found({7}, 1), "token ids | no -1");
  EXPECT_EQ(found({7, -1000000000}, 1), "token id 1 | -1000000000");
}

TEST(PromptStyle, OfTheFirstFamilyIsItsTemplate) {
  const std::vector<ChatMessage> messages = {{"user", {image(), text("a")}, {}}};
  Ids expected;
  encode_pieces(tiny_tokenizer(), render_chat(messages), &expected);
  EXPECT_EQ(chat_ids(kPhi4mmPrompts, tiny_tokenizer(), messages), expected);
  EXPECT_EQ(raw_prompt_ids(kPhi4mmPrompts, tiny_tokenizer(), "<|user|><|image_1|>a<|end|><|assistant|>", 1), expected);
}

}  // namespace
}  // namespace omniphi

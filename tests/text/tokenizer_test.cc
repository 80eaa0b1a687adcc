// Against the goldens: ids of whole strings in the real and in the tiny vocabulary, and decoding.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <ctime>
#include <thread>

#include "base/error.h"
#include "text/support.h"

namespace omniphi {
namespace {

using nlohmann::json;
using namespace text_test;
using Ids = std::vector<int32_t>;

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// The golden's cases and the decoding of raw ids.
void check_goldens(const Tokenizer& tokenizer) {
  const json goldens = read_json("tests/parity/tokenizer/phi4mm.json");
  ASSERT_GT(goldens["cases"].size(), 200u);
  for (const json& c : goldens["cases"]) {
    const std::string text = c["text"];
    const Ids ids = c["ids"];
    const Ids ordinary = c.contains("ids_ordinary") ? Ids(c["ids_ordinary"]) : ids;
    EXPECT_EQ(encode_special(tokenizer, text), ids) << c["text"];
    EXPECT_EQ(encode(tokenizer, text), ordinary) << c["text"];
    EXPECT_EQ(tokenizer.decode(ids), c["decoded"].get<std::string>()) << c["text"];
    EXPECT_EQ(tokenizer.decode(ordinary), text);
  }
  for (const json& c : goldens["decode"]) {
    const Ids ids = c["ids"];
    EXPECT_EQ(tokenizer.decode(ids), c["decoded"].get<std::string>()) << c["ids"];
    std::string bytes;
    for (const int32_t id : ids) bytes += tokenizer.token_bytes(id);
    EXPECT_EQ(bytes, bytes_of_hex(c["bytes_hex"])) << c["ids"];
  }
}

TEST(TokenizerGoldens, WholeVocabulary) { check_goldens(full_tokenizer()); }

TEST(TokenizerGoldens, MergesAsPairsSayTheSame) {
  json file = json::parse(full_tokenizer_json());
  for (json& merge : file["model"]["merges"]) {
    const std::string text = merge;
    const size_t space = text.find(' ');
    merge = {text.substr(0, space), text.substr(space + 1)};
  }
  check_goldens(Tokenizer::from_json(file.dump(), "pairs"));
}

TEST(TokenizerGoldens, IgnoringMergesSaysTheSame) {
  std::string file = full_tokenizer_json();
  const std::string key = "\"ignore_merges\": ";
  const size_t at = file.find(key + "false");
  ASSERT_NE(at, std::string::npos);
  file.replace(at + key.size(), 5, "true");
  check_goldens(Tokenizer::from_json(file, "ignore_merges"));
}

TEST(TokenizerGoldens, RandomStrings) {
  const json data = read_json("tests/data/tokenizers/random_strings.json");
  ASSERT_GE(data["cases"].size(), 400u);
  for (const json& c : data["cases"]) {
    const Ids ordinary = c["ids_ordinary"];
    EXPECT_EQ(encode(full_tokenizer(), c["text"]), ordinary) << c["text"];
    const Ids ids = c.contains("ids") ? Ids(c["ids"]) : ordinary;
    EXPECT_EQ(encode_special(full_tokenizer(), c["text"]), ids) << c["text"];
  }
}

TEST(TokenizerGoldens, TinyCheckpoint) {
  for (const json& c : read_json("tests/parity/phi4mm/tables/tokenizer.json")) {
    const Ids ids = c["ids"];
    EXPECT_EQ(encode_special(tiny_tokenizer(), c["text"]), ids) << c["text"];
    EXPECT_EQ(tiny_tokenizer().decode(ids), c["decoded"].get<std::string>());
    EXPECT_EQ(tiny_tokenizer().decode(ids, {.skip_special = true}), c["decoded_skip_special"].get<std::string>());
  }
}

TEST(Tokenizer, KnowsItsAddedTokens) {
  const Tokenizer& tokenizer = full_tokenizer();
  EXPECT_EQ(tokenizer.vocab_size(), 200029);
  EXPECT_EQ(tokenizer.added_tokens().size(), 14u);
  EXPECT_EQ(tokenizer.added_token_id("<|end|>"), 200020);
  EXPECT_EQ(tokenizer.added_token_id("<|endoftext10|>"), 200010);
  EXPECT_EQ(tokenizer.added_token_id("<|image_1|>"), std::nullopt);
  ASSERT_NE(tokenizer.added_token(200025), nullptr);
  EXPECT_EQ(tokenizer.added_token(200025)->content, "<|tool_call|>");
  EXPECT_FALSE(tokenizer.added_token(200025)->special);
  EXPECT_EQ(tokenizer.added_token(11), nullptr);
  EXPECT_EQ(tokenizer.token_bytes(200000), "");  // a gap between the text and the control tokens
  EXPECT_EQ(tokenizer.token_bytes(-1), "");
  EXPECT_EQ(tokenizer.token_bytes(1 << 30), "");
}

TEST(Tokenizer, AppendsToTheIds) {
  Ids ids = {7};
  tiny_tokenizer().encode("", &ids);
  tiny_tokenizer().encode_special("<|end|>", &ids);
  EXPECT_EQ(ids, (Ids{7, 1556}));
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  const auto offset_error = [](const std::string& text, bool special) -> std::string {
    try {
      special ? encode_special(tiny_tokenizer(), text) : encode(tiny_tokenizer(), text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.found();
    }
    return "";
  };
  for (const bool special : {false, true}) {
    EXPECT_NE(offset_error("abc\xFF", special).find("offset 3"), std::string::npos);
    EXPECT_NE(offset_error("\xED\xA0\x80", special).find("offset 0"), std::string::npos);
    EXPECT_NE(offset_error("<|end|>\xC3", special).find("offset 7"), std::string::npos);
    EXPECT_EQ(offset_error("\xC3\xA9", special), "");
  }
}

TEST(Tokenizer, RefusesIdsOutsideTheVocabulary) {
  for (const int32_t id : {-1, 1565, 200064}) {
    try {
      tiny_tokenizer().decode(Ids{64, id});
      ADD_FAILURE() << id;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_EQ(error.where(), "token id 1");
      EXPECT_EQ(error.found(), std::to_string(id));
    }
  }
  EXPECT_EQ(tiny_tokenizer().decode(Ids{64, 1540, 65}), "ab");  // a gap
}

TEST(Tokenizer, ThreadsMayShareIt) {
  // A fresh one, so that the memory of tokens that merge to themselves is filled by all threads at once.
  const Tokenizer tokenizer = Tokenizer::from_json(tiny_tokenizer_json(), "tiny");
  std::mt19937 random(4);
  std::vector<std::string> texts;
  std::vector<Ids> expected;
  for (int i = 0; i < 300; ++i) {
    texts.push_back(random_text(random, 40));
    expected.push_back(encode(tiny_tokenizer(), texts.back()));
  }
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < texts.size(); ++i) wrong[t] += encode(tokenizer, texts[i]) != expected[i];
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// Ten times the text may take 40 times as long (caches), far from the 100 of a quadratic algorithm.
TEST(Tokenizer, AdversarialTextTakesLinearTime) {
  const auto seconds = [](const std::string& unit, size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += unit;
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      const std::clock_t start = std::clock();  // of this process: others may be busy
      EXPECT_FALSE(encode_special(tiny_tokenizer(), text).empty());
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
  };
  for (const char* unit : {"a", "A", " ", "\n", " \n", "\u0301", "\u0301A", "\u4E2D", "=-", "'s", "<", "<|", "<|end|>",
                           "<|end|> ", "0", "\t", "aA", "\u4E2DA", "\U0001F600"}) {
    EXPECT_LT(seconds(unit, 300000), 40 * seconds(unit, 30000) + 0.02) << "unit " << json(unit).dump();
  }
}

}  // namespace
}  // namespace omniphi

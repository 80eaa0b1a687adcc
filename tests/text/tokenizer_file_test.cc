// Files that must be refused, one rule a line, each by name; and spellings that must load.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "text/support.h"
#include "text/tokenizer.h"

namespace omniphi {
namespace {

using nlohmann::json;
using namespace text_test;
using Change = std::function<void(json&)>;

// The error that a changed tokenizer.json (and tokenizer_config.json) gives, as "where | found | expected".
std::string refusal(const std::string& file, const std::string& config = "") {
  try {
    Tokenizer::from_json(file, "tokenizer.json", config);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint) << error.what();
    return error.where() + " | " + error.found() + " | " + error.expected();
  }
  return "";
}

std::string changed(const Change& change) {
  json file = json::parse(tiny_tokenizer_json());
  change(file);
  return file.dump();
}

struct Rule {
  const char* name;
  Change change;
  const char* where;
  const char* found;
  const char* expected;
};

json& split(json& file) { return file["pre_tokenizer"]["pretokenizers"][0]; }
json& byte_level(json& file) { return file["pre_tokenizer"]["pretokenizers"][1]; }
json& model(json& file) { return file["model"]; }
json& first_added(json& file) { return file["added_tokens"][0]; }

const Rule kRules[] = {
    {"version", [](json& f) { f["version"] = "2.0"; }, ": version", "2.0", "1.0"},
    {"unknown top key", [](json& f) { f["extra"] = 1; }, "tokenizer.json:", "extra", ""},
    {"normalizer",
     [](json& f) {
       f["normalizer"] = {{"type", "NFC"}};
     },
     ": normalizer", "NFC", "null"},
    {"no pre-tokenizer", [](json& f) { f["pre_tokenizer"] = nullptr; }, "pre_tokenizer", "null", "object"},
    {"other pre-tokenizer",
     [](json& f) {
       f["pre_tokenizer"] = {{"type", "Metaspace"}};
     },
     "pre_tokenizer.type", "Metaspace", "Sequence"},
    {"other pattern", [](json& f) { split(f)["pattern"]["Regex"] = "\\s+"; }, "pattern.Regex", "\\\\s+", "\\\\p{Lu}"},
    {"plain pattern",
     [](json& f) {
       split(f)["pattern"] = {{"String", " "}};
     },
     "pattern.Regex", "null", "\\\\p{Lu}"},
    {"pieces thrown away", [](json& f) { split(f)["invert"] = false; }, "behavior", "Removed", "Isolated"},
    {"merged pieces", [](json& f) { split(f)["behavior"] = "MergedWithNext"; }, "behavior", "MergedWithNext",
     "Removed"},
    {"prefix space", [](json& f) { byte_level(f)["add_prefix_space"] = true; }, "add_prefix_space", "true", "false"},
    {"second split", [](json& f) { byte_level(f)["use_regex"] = true; }, "use_regex", "true", "false"},
    {"third step",
     [](json& f) {
       f["pre_tokenizer"]["pretokenizers"].push_back({{"type", "Digits"}});
     },
     "pretokenizers", "3 steps", "ByteLevel"},
    {"decoder", [](json& f) { f["decoder"] = nullptr; }, "decoder", "null", "object"},
    {"other decoder",
     [](json& f) {
       f["decoder"] = {{"type", "Fuse"}};
     },
     "decoder.type", "Fuse", "ByteLevel"},
    {"template",
     [](json& f) {
       f["post_processor"] = {{"type", "TemplateProcessing"}};
     },
     "post_processor.type", "TemplateProcessing", "ByteLevel"},
    {"no model", [](json& f) { f.erase("model"); }, "model", "null", "object"},
    {"other model", [](json& f) { model(f)["type"] = "Unigram"; }, "model.type", "Unigram", "BPE"},
    {"dropout", [](json& f) { model(f)["dropout"] = 0.1; }, "model.dropout", "0.1", "null"},
    {"byte fallback", [](json& f) { model(f)["byte_fallback"] = true; }, "byte_fallback", "true", "false"},
    {"prefix", [](json& f) { model(f)["continuing_subword_prefix"] = "##"; }, "continuing_subword_prefix", "##", ""},
    {"suffix", [](json& f) { model(f)["end_of_word_suffix"] = "</w>"; }, "end_of_word_suffix", "</w>", ""},
    {"unknown model key", [](json& f) { model(f)["extra"] = 1; }, "model", "extra", ""},
    {"ignore_merges of another kind", [](json& f) { model(f)["ignore_merges"] = "no"; }, "ignore_merges", "no", "true"},
    {"no vocab", [](json& f) { model(f).erase("vocab"); }, "model.vocab", "null", "object"},
    {"vocab as list", [](json& f) { model(f)["vocab"] = json::array(); }, "model.vocab", "[]", "object"},
    {"no merges", [](json& f) { model(f).erase("merges"); }, "model.merges", "null", "list"},
    {"merges as object", [](json& f) { model(f)["merges"] = json::object(); }, "model.merges", "{}", "list"},
    {"negative id", [](json& f) { model(f)["vocab"]["a"] = -3; }, "model.vocab", "-3", "not negative"},
    {"fractional id", [](json& f) { model(f)["vocab"]["a"] = 64.5; }, "model.vocab", "64.5", "not negative"},
    {"id as text", [](json& f) { model(f)["vocab"]["a"] = "64"; }, "model.vocab", "\"64\"", "not negative"},
    {"huge id", [](json& f) { model(f)["vocab"]["a"] = 4294967296; }, "model.vocab", "4294967296", "up to"},
    {"id twice", [](json& f) { model(f)["vocab"]["a"] = 65; }, "model.vocab", "id 65 twice", "once"},
    {"nested id", [](json& f) { model(f)["vocab"]["a"] = {1}; }, "model", "nested", "ids"},
    {"missing byte", [](json& f) { model(f)["vocab"].erase("z"); }, "model.vocab", "byte 122", "256"},
    {"no byte-level spelling", [](json& f) { model(f)["vocab"]["a b"] = 1534; }, "model.vocab", "a b", "alphabet"},
    {"empty token", [](json& f) { model(f)["vocab"][""] = 1534; }, "model.vocab", "\"\"", "alphabet"},
    {"merge of one part", [](json& f) { model(f)["merges"].push_back("ab"); }, "model", "\"ab\"", "two parts"},
    {"merge of three parts", [](json& f) { model(f)["merges"].push_back("a b c"); }, "model", "a b c", "two parts"},
    {"pair of three",
     [](json& f) {
       model(f)["merges"].push_back({"a", "b", "c"});
     },
     "model", "3 parts", "two parts"},
    {"pair of numbers",
     [](json& f) {
       model(f)["merges"].push_back({1, 2});
     },
     "model", "1", "pairs of strings"},
    {"merge as number", [](json& f) { model(f)["merges"].push_back(7); }, "model", "7", "pairs of strings"},
    {"merge of unknown", [](json& f) { model(f)["merges"].push_back("a zzz"); }, "model.merges[1278]", "zzz", "token"},
    {"merge into unknown", [](json& f) { model(f)["merges"].push_back("z z"); }, "model.merges[1278]", "\"z\"",
     "token"},
    {"added list", [](json& f) { f["added_tokens"] = 3; }, "added_tokens", "3", "list"},
    {"added flag missing", [](json& f) { first_added(f).erase("rstrip"); }, "added_tokens[0].rstrip", "null", "true"},
    {"added flag kind", [](json& f) { first_added(f)["special"] = 1; }, "added_tokens[0].special", "1", "true"},
    {"added without id", [](json& f) { first_added(f).erase("id"); }, "added_tokens[0].id", "null", "an id"},
    {"added empty", [](json& f) { first_added(f)["content"] = ""; }, "added_tokens[0].content", "\"\"", "a text"},
    {"added unknown key", [](json& f) { first_added(f)["x"] = 1; }, "added_tokens[0]", "x", ""},
    {"added huge id", [](json& f) { first_added(f)["id"] = 1u << 30; }, "added_tokens[0].id", "1073741824", "an id"},
    {"added id against vocab", [](json& f) { first_added(f)["id"] = 1600; }, "added_tokens", "1600", "1535"},
    {"added twice", [](json& f) { f["added_tokens"].push_back(first_added(f)); }, "added_tokens", "endoftext", "once"},
    {"added id taken",
     [](json& f) {
       model(f)["vocab"].erase("<|endoftext|>");
       first_added(f)["id"] = 64;
     },
     "added_tokens", "64", "no other token"},
};

TEST(TokenizerFile, EveryRuleByName) {
  ASSERT_EQ(refusal(tiny_tokenizer_json()), "");
  for (const Rule& rule : kRules) {
    const std::string error = refusal(changed(rule.change));
    const size_t found = error.find(" | "), expected = error.rfind(" | ");
    ASSERT_NE(found, std::string::npos) << rule.name << " was accepted";
    EXPECT_NE(error.substr(0, found).find(rule.where), std::string::npos) << rule.name << ": " << error;
    EXPECT_NE(error.substr(found, expected - found).find(rule.found), std::string::npos) << rule.name << ": " << error;
    EXPECT_NE(error.substr(expected).find(rule.expected), std::string::npos) << rule.name << ": " << error;
  }
}

TEST(TokenizerFile, SpellingsThatSayTheSame) {
  const std::vector<int32_t> expected = encode_special(tiny_tokenizer(), "Hello <|end|> x, I'll 123");
  const Change changes[] = {
      [](json& f) { split(f)["behavior"] = "Isolated"; },
      [](json& f) {
        split(f)["behavior"] = "Isolated";
        split(f)["invert"] = false;
      },
      [](json& f) { f.erase("version"), f.erase("truncation"), f.erase("padding"), f.erase("normalizer"); },
      [](json& f) {
        f["truncation"] = {{"max_length", 3}};
      },
      [](json& f) { f["post_processor"] = nullptr; },
      [](json& f) {
        f["post_processor"] = {{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}}}};
        f["decoder"] = {{"type", "Sequence"}, {"decoders", {{{"type", "ByteLevel"}}}}};
      },
      [](json& f) {
        for (const char* key : {"type", "ignore_merges", "byte_fallback", "dropout"}) model(f).erase(key);
        model(f)["continuing_subword_prefix"] = nullptr;
        model(f)["unk_token"] = "<|endoftext|>";
      },
      [](json& f) { model(f)["merges"].insert(model(f)["merges"].begin(), "#version: 0.2"); },
      // Added tokens need not stand in the vocabulary.
      [](json& f) {
        for (const json& token : f["added_tokens"]) model(f)["vocab"].erase(token["content"].get<std::string>());
      },
  };
  for (const Change& change : changes) {
    const Tokenizer tokenizer = Tokenizer::from_json(changed(change), "spelling");
    EXPECT_EQ(encode_special(tokenizer, "Hello <|end|> x, I'll 123"), expected);
  }
}

TEST(TokenizerFile, MalformedJson) {
  const std::string& good = tiny_tokenizer_json();
  for (const std::string& bad : {std::string(), std::string("{"), std::string("null"), std::string("[]"),
                                 std::string("3"), good.substr(0, good.size() / 2), good + "x", std::string("\xFF{}"),
                                 std::string("{\"version\":\"\\ud800\"}"), std::string("{\"a\":1,\"a\":2}")}) {
    EXPECT_NE(refusal(bad), "") << bad.substr(0, 40);
  }
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) EXPECT_NE(refusal(good.substr(0, random() % (good.size() - 1))), "");
}

TEST(TokenizerFile, DeepNestingIsRefusedBeforeTheStackEnds) {
  for (const char* opening : {"[", "{\"a\":", "[{\"model\":"}) {
    std::string deep;
    for (int i = 0; i < 1000000; ++i) deep += opening;
    EXPECT_NE(refusal(deep).find("nested deeper"), std::string::npos);
  }
}

TEST(TokenizerFile, BytesThatAreChangedAtRandomNeverCrash) {
  std::mt19937 random(9);
  for (int i = 0; i < 150; ++i) {
    std::string bytes = tiny_tokenizer_json();
    // Near the ends, where the structure is, or anywhere.
    const size_t at = i % 2 == 0 ? random() % 4000 : random() % bytes.size();
    bytes[at] = static_cast<char>(random());
    refusal(bytes);
  }
}

TEST(TokenizerConfig, Rules) {
  const std::string& file = tiny_tokenizer_json();
  EXPECT_EQ(refusal(file, "{}"), "");
  EXPECT_EQ(refusal(file, R"({"chat_template": [1], "x": {"y": 1}})"), "");
  EXPECT_NE(refusal(file, "{").find("tokenizer_config.json"), std::string::npos);
  EXPECT_NE(refusal(file, R"({"add_prefix_space": true})").find("add_prefix_space | true"), std::string::npos);
  EXPECT_NE(refusal(file, R"({"added_tokens_decoder": []})").find("[] | an object"), std::string::npos);
  EXPECT_NE(refusal(file, R"({"added_tokens_decoder": {"x": {"content": "y"}}})").find("an id in decimal"),
            std::string::npos);
  EXPECT_NE(refusal(file, R"({"added_tokens_decoder": {"1": {"content": "<|end|>"}}})").find("the id 1556"),
            std::string::npos);
  EXPECT_NE(refusal(file, R"({"added_tokens_decoder": {"1600": {}}})").find("content | null"), std::string::npos);
  EXPECT_NE(refusal(file, R"({"added_tokens_decoder": {"1556": {"content": "<|end|>", "rstrip": 1}}})").find("rstrip"),
            std::string::npos);
}

TEST(TokenizerLoad, NamesTheMissingFile) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "omniphi_text_test_no_such_folder";
  try {
    Tokenizer::load(folder);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    EXPECT_NE(std::string(error.what()).find("tokenizer.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace omniphi

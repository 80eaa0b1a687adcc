// Files of the SentencePiece kind that must be refused, one rule a line, each by name; and spellings that must load.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "base/error.h"
#include "testing/sentencepiece_file.h"
#include "testing/temp_folder.h"
#include "text/support.h"

namespace omniphi {
namespace {

using nlohmann::json;
using namespace text_test;
using testing::small_sentencepiece_file;
using Change = std::function<void(json&)>;

// The error that a changed file gives, as "where | found | expected".
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
  json file = small_sentencepiece_file();
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

json& model(json& f) { return f["model"]; }
json& steps(json& f) { return f["normalizer"]["normalizers"]; }
json& post(json& f) { return f["post_processor"]; }
json& decoders(json& f) { return f["decoder"]["decoders"]; }
json& added(json& f, size_t i) { return f["added_tokens"][i]; }

const Rule kRules[] = {
    // One sign of the kind missing, another kind's sign in its place.
    {"no normalizer", [](json& f) { f["normalizer"] = nullptr; }, ": normalizer", "null", "Prepend"},
    {"pre-tokenizer",
     [](json& f) {
       f["pre_tokenizer"] = {{"type", "Metaspace"}};
     },
     ": pre_tokenizer", "Metaspace", "null"},
    {"no byte fallback", [](json& f) { model(f)["byte_fallback"] = false; }, "byte_fallback", "false", "true"},

    {"another step first",
     [](json& f) {
       steps(f).insert(steps(f).begin(), {{"type", "NFKC"}});
     },
     ": normalizer", "NFKC", "Prepend"},
    {"no prefix", [](json& f) { steps(f).erase(0); }, ": normalizer", "Replace", "Prepend"},
    {"another prefix", [](json& f) { steps(f)[0]["prepend"] = "_"; }, ": normalizer", "_", "\\u2581"},
    {"another space", [](json& f) { steps(f)[1]["content"] = "_"; }, ": normalizer", "_", "\\u2581"},
    {"another pattern",
     [](json& f) {
       steps(f)[1]["pattern"] = {{"Regex", " +"}};
     },
     ": normalizer", "Regex", "String"},
    {"no post-processor", [](json& f) { post(f) = nullptr; }, "post_processor", "null", "object"},
    {"another post-processor",
     [](json& f) {
       post(f) = {{"type", "ByteLevel"}};
     },
     "post_processor.type", "ByteLevel", "TemplateProcessing"},
    {"unknown key of the post-processor", [](json& f) { post(f)["x"] = 1; }, "post_processor", "x", ""},
    {"no BOS", [](json& f) { post(f)["single"].erase(0); }, "post_processor.single", "Sequence", "a special token"},
    {"an EOS", [](json& f) { post(f)["single"].push_back(post(f)["single"][0]); }, "post_processor.single", "Special",
     "a special token, then the text"},
    {"text first", [](json& f) { std::swap(post(f)["single"][0], post(f)["single"][1]); }, "SpecialToken", "null",
     "an object"},
    {"another type id", [](json& f) { post(f)["single"][0]["SpecialToken"]["type_id"] = 1; }, "single[0]", "1", "0"},
    {"the second text", [](json& f) { post(f)["single"][1]["Sequence"]["id"] = "B"; }, "single[1]", "B", "A"},
    {"BOS that the file doesn't describe", [](json& f) { post(f)["single"][0]["SpecialToken"]["id"] = "<t>"; },
     "special_tokens.<t>", "null", "an object"},
    {"BOS of two ids",
     [](json& f) {
       post(f)["special_tokens"]["<s>"]["ids"] = {1, 2};
     },
     "special_tokens.<s>.ids", "[1,2]", "one id"},
    {"BOS of another spelling", [](json& f) { post(f)["special_tokens"]["<s>"]["tokens"] = {"<t>"}; },
     "special_tokens.<s>", "<t>", "<s>"},
    {"BOS of another id", [](json& f) { post(f)["special_tokens"]["<s>"]["ids"] = {5}; }, "post_processor",
     "\"<s>\" with the id 5", "an added token of that content and id"},
    {"BOS that is no added token", [](json& f) { f["added_tokens"].erase(1); }, "post_processor", "<s>",
     "an added token"},
    {"no decoder", [](json& f) { f["decoder"] = nullptr; }, ": decoder", "null", "ByteFallback"},
    {"no strip", [](json& f) { decoders(f).erase(3); }, ": decoder", "Fuse", "Strip"},
    {"more to strip", [](json& f) { decoders(f)[3]["start"] = 2; }, ": decoder", "2", "\"start\":1"},
    {"no byte fallback in the decoder", [](json& f) { decoders(f).erase(1); }, ": decoder", "Fuse", "ByteFallback"},
    {"another model", [](json& f) { model(f)["type"] = "Unigram"; }, "model.type", "Unigram", "BPE"},
    {"merges ignored", [](json& f) { model(f)["ignore_merges"] = true; }, "ignore_merges", "true", "false"},
    {"dropout", [](json& f) { model(f)["dropout"] = 0.1; }, "model.dropout", "0.1", "null"},
    {"a byte missing", [](json& f) { model(f)["vocab"].erase("<0x7F>"); }, "model.vocab", "<0x7F>", "256 bytes"},
    {"a byte in small letters", [](json& f) { model(f)["vocab"]["<0x0a>"] = 390; }, "model.vocab", "<0x0a>", "A to F"},
    {"no mark of a space",
     [](json& f) {
       model(f)["vocab"].erase("\u2581");
       model(f)["merges"] = json::array();
     },
     "model.vocab", "U+2581", "mark of a space"},
    {"an empty token", [](json& f) { model(f)["vocab"][""] = 390; }, "model.vocab", "\"\"", "a text"},
    {"an id twice", [](json& f) { model(f)["vocab"]["new"] = 367; }, "model.vocab", "367 twice", "once"},
    {"a merge of something unknown", [](json& f) { model(f)["merges"].push_back("z z"); }, "model.merges[14]", "\"z\"",
     "token"},
    {"an added token that is matched on normalised text", [](json& f) { added(f, 3)["normalized"] = true; },
     "added_tokens", "normalized", "raw text"},
    {"an added token like a byte", [](json& f) { added(f, 3)["content"] = "<0x41>"; }, "added_tokens", "<0x41>",
     "the id 68"},
    {"an added token almost like a byte", [](json& f) { added(f, 3)["content"] = "<0x4a>"; }, "added_tokens", "<0x4a>",
     "no added token that is spelled like a byte"},
    {"a byte as an added token",
     [](json& f) {
       added(f, 3)["content"] = "<0x41>";
       added(f, 3)["id"] = 68;
     },
     "added_tokens", "<0x41>", "no added token that is spelled like a byte"},
};

TEST(SentencePieceFile, EveryRuleByName) {
  ASSERT_EQ(refusal(small_sentencepiece_file().dump()), "");
  for (const Rule& rule : kRules) {
    const std::string error = refusal(changed(rule.change));
    const size_t found = error.find(" | "), expected = error.rfind(" | ");
    ASSERT_NE(found, std::string::npos) << rule.name << " was accepted";
    EXPECT_NE(error.substr(0, found).find(rule.where), std::string::npos) << rule.name << ": " << error;
    EXPECT_NE(error.substr(found, expected - found).find(rule.found), std::string::npos) << rule.name << ": " << error;
    EXPECT_NE(error.substr(expected).find(rule.expected), std::string::npos) << rule.name << ": " << error;
  }
}

TEST(SentencePieceFile, SpellingsThatSayTheSame) {
  const std::string text = "<s>hello  abc<|assistant|>\n\u00E8<|end|>";
  const Change changes[] = {
      [](json& f) { f.erase("version"), f.erase("truncation"), f.erase("padding"), f.erase("pre_tokenizer"); },
      [](json& f) {
        for (const char* key : {"type", "dropout", "unk_token", "fuse_unk", "ignore_merges"}) model(f).erase(key);
      },
      [](json& f) { post(f).erase("pair"); },
      [](json& f) {
        for (json& merge : model(f)["merges"]) {
          const std::string both = merge;
          merge = {both.substr(0, both.find(' ')), both.substr(both.find(' ') + 1)};
        }
      },
  };
  for (const Change& change : changes) {
    const Tokenizer tokenizer = Tokenizer::from_json(changed(change), "spelling");
    EXPECT_EQ(encode_special(tokenizer, text), encode_special(small_tokenizer(), text));
  }
}

TEST(SentencePieceFile, Configuration) {
  const std::string file = small_sentencepiece_file().dump();
  EXPECT_EQ(refusal(file, R"({"add_bos_token": true, "add_eos_token": false, "bos_token": "<s>", "legacy": false})"),
            "");
  EXPECT_EQ(refusal(file, R"({"bos_token": {"content": "<s>", "lstrip": false}})"), "");
  EXPECT_NE(refusal(file, R"({"add_prefix_space": true})").find("add_prefix_space | true | null"), std::string::npos);
  EXPECT_NE(refusal(file, R"({"add_prefix_space": false})").find("add_prefix_space | false | null"), std::string::npos);
  EXPECT_NE(refusal(file, R"({"add_bos_token": false})").find("add_bos_token | false | null or true"),
            std::string::npos);
  EXPECT_NE(refusal(file, R"({"add_eos_token": true})").find("add_eos_token | true | null or false"),
            std::string::npos);
  EXPECT_NE(refusal(file, R"({"bos_token": "<t>"})").find("bos_token | \"<t>\" | \"<s>\""), std::string::npos);
  EXPECT_NE(refusal(file, R"({"bos_token": {"content": "<t>"}})").find("bos_token.content | \"<t>\""),
            std::string::npos);
  // Its flags win, and its defaults count: a token that isn't special would be matched on normalised text.
  const std::string flags = R"("content": "<|end|>", "special": true)";
  const Tokenizer strips =
      Tokenizer::from_json(file, "t", R"({"added_tokens_decoder": {"373": {)" + flags + R"(, "rstrip": true}}})");
  EXPECT_EQ(encode_special(strips, "<|end|> \nhello"), (std::vector<int32_t>{373, 264}));
  EXPECT_NE(refusal(file, R"({"added_tokens_decoder": {"373": {"content": "<|end|>"}}})").find("normalized"),
            std::string::npos);
}

TEST(SentencePieceFile, LoadsFromAFolder) {
  const testing::TempFolder folder;
  std::ofstream(folder.path() / "tokenizer.json") << small_sentencepiece_file().dump();
  std::ofstream(folder.path() / "tokenizer_config.json") << R"({"add_bos_token": true, "legacy": false})";
  EXPECT_EQ(encode(Tokenizer::load(folder.path()), "hello"), std::vector<int32_t>{264});
}

TEST(SentencePieceFile, BytesThatAreChangedAtRandomNeverCrash) {
  const std::string good = small_sentencepiece_file().dump();
  std::mt19937 random(9);
  for (int i = 0; i < 500; ++i) {
    std::string bytes = good;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    refusal(bytes);
    refusal(good.substr(0, random() % good.size()));
  }
}

}  // namespace
}  // namespace omniphi

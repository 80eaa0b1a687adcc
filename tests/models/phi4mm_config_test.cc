// What a configuration may say, and what is read from the files beside it.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/phi4mm_config_fixture.h"

namespace omniphi::phi4mm {
namespace {

TEST(Config, TheReleaseIsAccepted) {
  const Checked checked = check(released_sources());
  EXPECT_TRUE(checked.notes.reasons.empty()) << checked.notes.reasons.list()[0].to_string();
  EXPECT_TRUE(checked.notes.warnings.empty()) << checked.notes.warnings[0];
  EXPECT_EQ(checked.config.decoder.head_dim, 128);
  EXPECT_EQ(checked.config.decoder.vision_lora.rank, 256);
  EXPECT_EQ(checked.config.eos_token_ids, (std::vector<int32_t>{200020, 199999}));
}

TEST(Config, TheNativeReleaseIsAccepted) {
  const Checked checked = check(native_sources());
  EXPECT_TRUE(checked.notes.reasons.empty()) << checked.notes.reasons.list()[0].to_string();
  EXPECT_TRUE(checked.notes.warnings.empty()) << checked.notes.warnings[0];
  EXPECT_EQ(checked.config.decoder.num_layers, 32);
  EXPECT_EQ(checked.config.audio.bias_reach, 500);
}

TEST(Config, EitherReleasedPatternFitsEitherAdapter) {
  ConfigSources sources = released_sources();
  std::swap(sources.config["vision_lora"]["layer"], sources.config["speech_lora"]["layer"]);
  EXPECT_TRUE(check(sources).notes.reasons.empty());
}

TEST(Config, OldNamesOfLongRope) {
  for (const char* name : {"su", "yarn"}) {
    ConfigSources sources = released_sources();
    sources.config["rope_scaling"]["type"] = name;
    EXPECT_TRUE(check(sources).notes.reasons.empty()) << name;
  }
}

TEST(Config, TrueYarnIsRefused) {
  ConfigSources sources = released_sources();
  sources.config["rope_scaling"] = {{"type", "yarn"}, {"factor", 32.0}, {"beta_fast", 32}};
  EXPECT_EQ(check(sources).notes.reasons.size(), 3u);  // two lists missing, beta_fast unknown
}

TEST(Config, ChunksAreHonoured) {
  ConfigSources sources = released_sources();
  sources.config["audio_processor"]["config"]["chunk_size"] = 10;
  sources.config["audio_processor"]["config"]["left_chunk"] = -2;
  const Checked checked = check(sources);
  EXPECT_TRUE(checked.notes.reasons.empty());
  EXPECT_EQ(checked.config.audio.chunk_size, 10);
  EXPECT_EQ(checked.config.audio.left_chunk, -2);
}

TEST(Config, VisionBlocksAreCountedInTheWeights) {
  ConfigSources sources = released_sources();
  sources.vision_layers = 5;
  EXPECT_EQ(check(sources).config.vision.num_layers, 5);
}

TEST(Config, UnknownTopKeysAreWarnings) {
  ConfigSources sources = released_sources();
  sources.config["fancy\n"] = 3;
  const Checked checked = check(sources);
  EXPECT_TRUE(checked.notes.reasons.empty());
  ASSERT_EQ(checked.notes.warnings.size(), 1u);
  EXPECT_EQ(checked.notes.warnings[0], "config.json: \"fancy\\n\": unknown key with the value 3, ignored");
}

TEST(Config, InertKeysAreListed) {
  const std::vector<std::string> inert = check(released_sources()).notes.inert;
  for (const char* key : {"attention_dropout", "initializer_range", "vision_lora.dp",
                          "audio_processor.config.dropout_rate", "torch_dtype"}) {
    EXPECT_NE(std::find(inert.begin(), inert.end(), std::string("config.json: ") + key), inert.end()) << key;
  }
}

TEST(Config, TokenizerNeedsTheMediaTokens) {
  for (const char* token : {"<|endoftext10|>", "<|endoftext11|>"}) {
    ConfigSources sources = released_sources();
    sources.tokenizer->added.erase(token);
    const Checked checked = check(sources);
    ASSERT_EQ(checked.notes.reasons.size(), 1u);
    const Reason& reason = checked.notes.reasons.list()[0];
    EXPECT_EQ(reason.where, "tokenizer.json: added_tokens");
    EXPECT_EQ(reason.found, std::string("no ") + token);
    EXPECT_EQ(reason.expected, std::string("the token ") + token + ", which stands for a medium");
  }
}

TEST(Config, TokenizerIdsStayInsideTheVocabulary) {
  ConfigSources sources = released_sources();
  sources.tokenizer->max_id = 200064;
  sources.tokenizer->max_token = "<|stray|>";
  const Checked checked = check(sources);
  ASSERT_EQ(checked.notes.reasons.size(), 1u);
  EXPECT_EQ(checked.notes.reasons.list()[0].found, "the token \"<|stray|>\" with the id 200064");
  EXPECT_EQ(checked.notes.reasons.list()[0].expected, "ids below vocab_size, 200064");
}

struct SideRule {
  const char* file;
  json content;
  const char* where;
  const char* found;
  const char* expected;
};

TEST(Config, SideFilesAreChecked) {
  const SideRule rules[] = {
      {"generation",
       {{"eos_token_id", {200020, -1}}},
       "generation_config.json: eos_token_id",
       "[200020,-1]",
       "ids below the vocabulary's size, 200064"},
      {"generation", json::array(), "generation_config.json", "[]", "an object"},
      {"preprocessor", {{"dynamic_hd", 0}}, "preprocessor_config.json: dynamic_hd", "0", "an integer from 1 to 4096"},
      {"preprocessor", {{"audio_compression_rate", 4}}, "preprocessor_config.json: audio_compression_rate", "4", "8"},
      {"preprocessor", {{"sampling_rate", 8000}}, "preprocessor_config.json: sampling_rate", "8000", "16000"},
      {"processor",
       {{"image_processor", {{"patch_size", 16}}}},
       "processor_config.json: image_processor.patch_size",
       "16",
       "14"},
      {"processor",
       {{"feature_extractor", {{"n_fft", 400}}}},
       "processor_config.json: feature_extractor.n_fft",
       "400",
       "512"},
  };
  for (const SideRule& rule : rules) {
    ConfigSources sources = released_sources();
    const std::string file = rule.file;
    (file == "generation"     ? sources.generation
     : file == "preprocessor" ? sources.preprocessor
                              : sources.processor) = rule.content;
    const Checked checked = check(sources);
    ASSERT_EQ(checked.notes.reasons.size(), 1u) << rule.where;
    EXPECT_EQ(checked.notes.reasons.list()[0].where, rule.where);
    EXPECT_EQ(checked.notes.reasons.list()[0].found, rule.found);
    EXPECT_EQ(checked.notes.reasons.list()[0].expected, rule.expected);
  }
}

TEST(Config, CropLimitComesFromTheProcessor) {
  ConfigSources sources = released_sources();
  sources.preprocessor = std::nullopt;
  sources.processor = json{{"image_processor", {{"dynamic_hd", 12}}}};
  EXPECT_EQ(check(sources).config.vision.max_crops, 12);
}

TEST(Config, NothingButAnObject) {
  for (const json& config : {json::array(), json(3), json("phi4mm"), json(true)}) {
    ConfigSources sources = released_sources();
    sources.config = config;
    EXPECT_EQ(check(sources).notes.reasons.size(), 1u) << config;
  }
}

// PEFT folders in the wild: bare names, and the original release's pattern, which counts from the inner model.
TEST(Config, TakesEveryWayToNameTheFourProjectionsOfANativeAdapter) {
  const std::pair<json, size_t> spellings[] = {
      {"model.layers.*((self_attn\\.(qkv_proj|o_proj))|(mlp\\.(gate_up|down)_proj))", 0},
      {released_config()["speech_lora"]["layer"], 0},
      {released_config()["vision_lora"]["layer"], 0},
      {json{"qkv_proj", "o_proj", "gate_up_proj", "down_proj"}, 1},  // hits the audio encoder too: a warning
  };
  for (const auto& [targets, warnings] : spellings) {
    ConfigSources sources = native_sources();
    const size_t before = check(sources).notes.warnings.size();
    (*sources.vision_adapter)["target_modules"] = targets;
    const Checked checked = check(sources);
    EXPECT_TRUE(checked.notes.reasons.empty()) << targets;
    EXPECT_EQ(checked.notes.warnings.size(), before + warnings) << targets;
  }
}

}  // namespace
}  // namespace omniphi::phi4mm

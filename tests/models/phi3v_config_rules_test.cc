// What a Phi-3-vision configuration may say. One test a rule: break it once in the release, and expect exactly that
// reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/file.h"
#include "io/json.h"
#include "models/phi3v/checkpoint/config_rules.h"
#include "models/phi3v/checkpoint/synth.h"

namespace omniphi::phi3v {
namespace {

using nlohmann::json;

FolderFiles released_files() {
  FolderFiles files;
  const std::string path = OMNIPHI_SOURCE_DIR "/tests/data/configs/phi3_5_vision_config.json";
  files.config = json::parse(read_file(path, 1 << 20, ErrorKind::kInternal));
  files.generation = json{{"eos_token_id", {32007, 32001, 32000}}};
  files.preprocessor = json{{"num_crops", 4},
                            {"num_img_tokens", 144},
                            {"image_mean", {0.48145466, 0.4578275, 0.40821073}},
                            {"image_std", {0.26862954, 0.26130258, 0.27577711}},
                            {"processor_class", "Phi3VProcessor"}};
  TokenizerFacts facts;
  facts.added = {
      {"<s>", 1}, {"<|user|>", 32010}, {"<|assistant|>", 32001}, {"<|end|>", 32007}, {"<|endoftext|>", 32000}};
  facts.max_id = 32044;
  facts.max_token = "<|image|>";
  files.tokenizer = facts;
  return files;
}

struct Checked {
  Config config;
  ConfigNotes notes;
};

Checked check(const FolderFiles& files) {
  Checked checked;
  checked.config = check_config(files, checked.notes);
  return checked;
}

std::string all_reasons(const ConfigNotes& notes) {
  std::string all;
  for (const Reason& reason : notes.reasons.list()) all += reason.to_string() + "\n";
  return all;
}

TEST(Phi3vConfig, TheReleaseIsAccepted) {
  const Checked checked = check(released_files());
  EXPECT_TRUE(checked.notes.reasons.empty()) << all_reasons(checked.notes);
  EXPECT_TRUE(checked.notes.warnings.empty()) << checked.notes.warnings[0];
  const Config preset = preset_config("phi3.5v");
  EXPECT_EQ(checked.config.decoder.head_dim, 96);
  EXPECT_EQ(checked.config.decoder.num_kv_heads, 32);
  EXPECT_EQ(checked.config.decoder.sliding_window, 0);
  EXPECT_EQ(checked.config.decoder.short_factor, preset.decoder.short_factor);
  EXPECT_EQ(checked.config.decoder.long_factor, preset.decoder.long_factor);
  EXPECT_EQ(checked.config.vision.hidden_size, 1024);
  EXPECT_EQ(checked.config.vision.num_layers, 24);
  EXPECT_EQ(checked.config.vision.max_crops, 4);
  EXPECT_EQ(checked.config.bos_token_id, 1);
  EXPECT_EQ(checked.config.eos_token_ids, (std::vector<int32_t>{32007, 32001, 32000}));
}

// Phi-3-vision-128k-instruct differs in these.
TEST(Phi3vConfig, TheFirstReleaseIsAccepted) {
  FolderFiles files = released_files();
  files.config["sliding_window"] = 131072;
  files.config["_name_or_path"] = "Phi-3-vision-128k-instruct";
  (*files.preprocessor)["num_crops"] = 16;
  const Checked checked = check(files);
  EXPECT_TRUE(checked.notes.reasons.empty()) << all_reasons(checked.notes);
  EXPECT_EQ(checked.config.vision.max_crops, 16);
  EXPECT_EQ(checked.config.decoder.sliding_window, 0);
}

TEST(Phi3vConfig, NewerNamesOfTheScaling) {
  FolderFiles files = released_files();
  files.config["rope_scaling"]["type"] = "longrope";
  EXPECT_TRUE(check(files).notes.reasons.empty());
  files.config["rope_scaling"].erase("type");
  files.config["rope_scaling"]["rope_type"] = "longrope";
  EXPECT_TRUE(check(files).notes.reasons.empty());
}

TEST(Phi3vConfig, ABindingWindowIsKept) {
  FolderFiles files = released_files();
  for (const auto& [window, kept] : {std::pair(24, 24), std::pair(131070, 131070), std::pair(131071, 0)}) {
    files.config["sliding_window"] = window;
    const Checked checked = check(files);
    EXPECT_TRUE(checked.notes.reasons.empty()) << all_reasons(checked.notes);
    EXPECT_EQ(checked.config.decoder.sliding_window, kept);
  }
  files.config["sliding_window"] = nullptr;
  EXPECT_EQ(check(files).config.decoder.sliding_window, 0);
}

TEST(Phi3vConfig, GroupedHeads) {
  FolderFiles files = released_files();
  files.config["num_key_value_heads"] = 8;
  EXPECT_EQ(check(files).config.decoder.num_kv_heads, 8);
  files.config["num_key_value_heads"] = nullptr;
  EXPECT_EQ(check(files).config.decoder.num_kv_heads, 32);
  files.config.erase("num_key_value_heads");
  EXPECT_EQ(check(files).config.decoder.num_kv_heads, 32);
}

TEST(Phi3vConfig, StopsWithoutAGenerationConfig) {
  FolderFiles files = released_files();
  files.generation.reset();
  EXPECT_EQ(check(files).config.eos_token_ids, (std::vector<int32_t>{32007, 32000}));
  files.tokenizer->added["<|end|>"] = 507;
  files.tokenizer->added["<|endoftext|>"] = 500;
  EXPECT_EQ(check(files).config.eos_token_ids, (std::vector<int32_t>{507, 500}));
  files.tokenizer.reset();
  EXPECT_EQ(check(files).config.eos_token_ids, (std::vector<int32_t>{32007, 32000}));
  files.config["vocab_size"] = 1000;
  const Checked checked = check(files);
  ASSERT_EQ(checked.notes.reasons.size(), 1u) << all_reasons(checked.notes);
  EXPECT_EQ(checked.notes.reasons.list()[0].where, "generation_config.json: eos_token_id");
}

TEST(Phi3vConfig, CropsWithoutAPreprocessorConfig) {
  FolderFiles files = released_files();
  files.preprocessor.reset();
  const Checked checked = check(files);
  EXPECT_TRUE(checked.notes.reasons.empty());
  EXPECT_EQ(checked.config.vision.max_crops, 1);
  ASSERT_EQ(checked.notes.warnings.size(), 1u);
  EXPECT_NE(checked.notes.warnings[0].find("preprocessor_config.json"), std::string::npos);
}

TEST(Phi3vConfig, UnknownKeysAtTheTopAreNamed) {
  FolderFiles files = released_files();
  files.config["rotary_dim_of_tomorrow"] = 7;
  (*files.preprocessor)["new_lever"] = true;
  const Checked checked = check(files);
  EXPECT_TRUE(checked.notes.reasons.empty());
  ASSERT_EQ(checked.notes.warnings.size(), 2u);
  EXPECT_NE(checked.notes.warnings[0].find("rotary_dim_of_tomorrow"), std::string::npos);
  EXPECT_NE(checked.notes.warnings[1].find("new_lever"), std::string::npos);
}

TEST(Phi3vConfig, InertKeysAreListed) {
  const Checked checked = check(released_files());
  for (const char* key : {"config.json: torch_dtype", "config.json: attention_dropout", "config.json: eos_token_id"}) {
    const std::vector<std::string>& inert = checked.notes.inert;
    EXPECT_NE(std::find(inert.begin(), inert.end(), key), inert.end()) << key;
  }
}

TEST(Phi3vConfig, AnotherModelIsOneReason) {
  FolderFiles files = released_files();
  files.config = json{{"model_type", "llama"}};
  const Checked checked = check(files);
  ASSERT_EQ(checked.notes.reasons.size(), 1u) << all_reasons(checked.notes);
  EXPECT_EQ(checked.notes.reasons.list()[0].to_string(), "config.json: model_type: \"llama\"; expected \"phi3_v\"");
}

const json kRemoved = json(json::value_t::discarded);

// One violated rule: where it is changed, to what, and what the one reason must say.
struct Rule {
  const char* name;
  const char* pointer;
  json value;
  const char* where;  // after the file's name and ": "
  const char* found;
  const char* expected;  // a part of it
};

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

void change(json& root, const Rule& rule) {
  const json::json_pointer at(rule.pointer);
  if (rule.value.is_discarded()) {
    root.at(at.parent_pointer()).erase(at.back());
  } else {
    root[at] = rule.value;
  }
}

void expect_one(const ConfigNotes& notes, const std::string& file, const Rule& rule) {
  ASSERT_EQ(notes.reasons.size(), 1u) << all_reasons(notes);
  const Reason& reason = notes.reasons.list()[0];
  EXPECT_EQ(reason.where, file + ": " + rule.where);
  EXPECT_EQ(reason.found, rule.found);
  EXPECT_NE(reason.expected.find(rule.expected), std::string::npos) << reason.expected;
}

std::string rule_name(const ::testing::TestParamInfo<Rule>& info) { return info.param.name; }

class Phi3vRule : public ::testing::TestWithParam<Rule> {};

TEST_P(Phi3vRule, IsEnforced) {
  FolderFiles files = released_files();
  change(files.config, GetParam());
  expect_one(check(files).notes, "config.json", GetParam());
}

const Rule kTopRules[] = {
    {"Architecture", "/architectures/0", "Phi3ForCausalLM", "architectures", "[\"Phi3ForCausalLM\"]",
     "[\"Phi3VForCausalLM\"]"},
    {"ModelType", "/model_type", "phi3", "model_type", "\"phi3\"", "\"phi3_v\""},
    {"HiddenAct", "/hidden_act", "gelu", "hidden_act", "\"gelu\"", "\"silu\""},
    {"AttentionBias", "/attention_bias", true, "attention_bias", "true", "false"},
    {"MlpBias", "/mlp_bias", true, "mlp_bias", "true", "false"},
    {"PartialRotary", "/partial_rotary_factor", 0.5, "partial_rotary_factor", "0.5", "1.0"},
    {"TiedHead", "/tie_word_embeddings", true, "tie_word_embeddings", "true", "false"},
    {"Quantised", "/quantization_config", {{"bits", 4}}, "quantization_config", "{\"bits\":4}", "nothing"},
    {"HeadsDivideWidth", "/num_attention_heads", 160, "num_attention_heads", "160", "a divisor of hidden_size, 3072"},
    {"GroupsDivideHeads", "/num_key_value_heads", 7, "num_key_value_heads", "7",
     "a divisor of num_attention_heads, 32"},
    {"HeadDim", "/head_dim", 128, "head_dim", "128", "96"},
    {"VocabAsText", "/vocab_size", "32064", "vocab_size", "\"32064\"", "an integer from 1"},
    {"NoLayers", "/num_hidden_layers", 0, "num_hidden_layers", "0", "an integer from 1"},
    {"MissingSize", "/intermediate_size", kRemoved, "intermediate_size", "missing", "an integer from 1"},
    {"MissingContext", "/max_position_embeddings", kRemoved, "max_position_embeddings", "missing", "an integer from 1"},
    {"NoLogarithm", "/original_max_position_embeddings", 1, "original_max_position_embeddings", "1", "at least 2"},
    {"ZeroEps", "/rms_norm_eps", 0.0, "rms_norm_eps", "0.0", "a number above zero"},
    {"NegativeTheta", "/rope_theta", -1.0, "rope_theta", "-1.0", "a number above zero"},
    {"NoWindow", "/sliding_window", 0, "sliding_window", "0", "an integer from 1"},
    {"WindowAsText", "/sliding_window", "all", "sliding_window", "\"all\"", "an integer from 1"},
    {"OtherBegin", "/bos_token_id", 2, "bos_token_id", "2", "1, the id of <s> in tokenizer.json"},
};
INSTANTIATE_TEST_SUITE_P(Top, Phi3vRule, ::testing::ValuesIn(kTopRules), rule_name);

const Rule kRopeRules[] = {
    {"NoScaling", "/rope_scaling", nullptr, "rope_scaling", "null", "an object"},
    {"ScalingMissing", "/rope_scaling", kRemoved, "rope_scaling", "missing", "an object"},
    {"Linear", "/rope_scaling/type", "linear", "rope_scaling.type", "\"linear\"", "\"su\" or \"longrope\""},
    {"Yarn", "/rope_scaling/type", "yarn", "rope_scaling.type", "\"yarn\"", "yarn scales cos and sin otherwise"},
    {"KindMissing", "/rope_scaling/type", kRemoved, "rope_scaling.type", "missing", "\"su\" or \"longrope\""},
    {"KindOfNewName", "/rope_scaling/rope_type", "default", "rope_scaling.rope_type", "\"default\"",
     "\"su\" or \"longrope\""},
    {"UnknownRopeKey", "/rope_scaling/short_mscale", 1.1, "rope_scaling.short_mscale", "1.1", "no such key"},
    {"WrongRatio", "/rope_scaling/factor", 16.0, "rope_scaling.factor", "16.0", "32.0"},
    {"TooFewFactors",
     "/rope_scaling/short_factor",
     {1.0, 1.0},
     "rope_scaling.short_factor",
     "2 values",
     "a list of 48 numbers above zero"},
    {"NegativeFactor", "/rope_scaling/long_factor/47", -64.8, "rope_scaling.long_factor", "-64.8 at index 47",
     "a list of 48 numbers above zero"},
    {"FactorsMissing", "/rope_scaling/long_factor", kRemoved, "rope_scaling.long_factor", "missing",
     "a list of 48 numbers above zero"},
};
INSTANTIATE_TEST_SUITE_P(Rope, Phi3vRule, ::testing::ValuesIn(kRopeRules), rule_name);

const Rule kImageRules[] = {
    {"NoEmbeddingLayer", "/embd_layer", kRemoved, "embd_layer", "missing", "an object"},
    {"EmbeddingClass", "/embd_layer/embedding_cls", "image_audio", "embd_layer.embedding_cls", "\"image_audio\"",
     "\"image\""},
    {"Projection", "/embd_layer/projection_cls", "linear", "embd_layer.projection_cls", "\"linear\"", "\"mlp\""},
    {"NoHdTransform", "/embd_layer/use_hd_transform", false, "embd_layer.use_hd_transform", "false", "true"},
    {"NoSeparators", "/embd_layer/with_learnable_separator", false, "embd_layer.with_learnable_separator", "false",
     "true"},
    {"Order", "/embd_layer/hd_transform_order", "glb_sub", "embd_layer.hd_transform_order", "\"glb_sub\"",
     "\"sub_glb\""},
    {"OrderLeftToTheDefault", "/embd_layer/hd_transform_order", kRemoved, "embd_layer.hd_transform_order", "missing",
     "\"sub_glb\""},
    {"UnknownEmbeddingKey", "/embd_layer/use_qformer", true, "embd_layer.use_qformer", "true", "no such key"},
    {"NoImageProcessor", "/img_processor", kRemoved, "img_processor", "missing", "an object"},
    {"Tower", "/img_processor/name", "siglip_vision_model", "img_processor.name", "\"siglip_vision_model\"",
     "\"clip_vision_model\""},
    {"TowerSize", "/img_processor/model_name", "openai/clip-vit-base-patch32", "img_processor.model_name",
     "\"openai/clip-vit-base-patch32\"", "\"openai/clip-vit-large-patch14-336\""},
    {"TowerWidth", "/img_processor/image_dim_out", 768, "img_processor.image_dim_out", "768", "1024"},
    {"Tokens", "/img_processor/num_img_tokens", 576, "img_processor.num_img_tokens", "576", "144"},
    {"Layer", "/img_processor/layer_idx", -1, "img_processor.layer_idx", "-1", "-2"},
    {"ClassToken", "/img_processor/type_feature", "cls_patch", "img_processor.type_feature", "\"cls_patch\"",
     "\"patch\""},
    {"UnknownImageKey", "/img_processor/crop_size", 448, "img_processor.crop_size", "448", "no such key"},
    {"ClipHeads",
     "/img_processor/clip_config",
     {{"num_attention_heads", 15}},
     "img_processor.clip_config.num_attention_heads",
     "15",
     "a divisor of hidden_size, 1024"},
    {"ClipAct",
     "/img_processor/clip_config",
     {{"hidden_act", "gelu"}},
     "img_processor.clip_config.hidden_act",
     "\"gelu\"",
     "\"quick_gelu\""},
    {"ClipSize",
     "/img_processor/clip_config",
     {{"image_size", 224}},
     "img_processor.clip_config.image_size",
     "224",
     "336"},
    {"ClipPatch",
     "/img_processor/clip_config",
     {{"patch_size", 16}},
     "img_processor.clip_config.patch_size",
     "16",
     "14"},
    {"ClipOneBlock",
     "/img_processor/clip_config",
     {{"num_hidden_layers", 1}},
     "img_processor.clip_config.num_hidden_layers",
     "1",
     "an integer from 2"},
    {"ClipUnknown",
     "/img_processor/clip_config",
     {{"projection_dim", 768}},
     "img_processor.clip_config.projection_dim",
     "768",
     "no such key"},
    {"ClipWidth", "/img_processor/clip_config", {{"hidden_size", 64}}, "img_processor.image_dim_out", "1024", "64"},
};
INSTANTIATE_TEST_SUITE_P(Image, Phi3vRule, ::testing::ValuesIn(kImageRules), rule_name);

class Phi3vPreprocessorRule : public ::testing::TestWithParam<Rule> {};

TEST_P(Phi3vPreprocessorRule, IsEnforced) {
  FolderFiles files = released_files();
  change(*files.preprocessor, GetParam());
  expect_one(check(files).notes, "preprocessor_config.json", GetParam());
}

const Rule kPreprocessorRules[] = {
    {"NoCrops", "/num_crops", 0, "num_crops", "0", "an integer from 1 to 16"},
    {"ManyCrops", "/num_crops", 17, "num_crops", "17", "an integer from 1 to 16"},
    {"Tokens", "/num_img_tokens", 576, "num_img_tokens", "576", "144"},
    {"Mean", "/image_mean", {0.5, 0.5, 0.5}, "image_mean", "[0.5,0.5,0.5]", "0.48145466"},
    {"Deviation", "/image_std", {0.5, 0.5, 0.5}, "image_std", "[0.5,0.5,0.5]", "0.26862954"},
    {"NotRgb", "/do_convert_rgb", false, "do_convert_rgb", "false", "true"},
};
INSTANTIATE_TEST_SUITE_P(All, Phi3vPreprocessorRule, ::testing::ValuesIn(kPreprocessorRules), rule_name);

TEST(Phi3vConfig, StopIdsAreWithinTheVocabulary) {
  FolderFiles files = released_files();
  files.generation = json{{"eos_token_id", {32007, 32064}}};
  const Checked checked = check(files);
  ASSERT_EQ(checked.notes.reasons.size(), 1u) << all_reasons(checked.notes);
  EXPECT_EQ(checked.notes.reasons.list()[0].where, "generation_config.json: eos_token_id");
  EXPECT_EQ(checked.notes.reasons.list()[0].found, "[32007,32064]");
}

TEST(Phi3vConfig, TheTokenizerFits) {
  FolderFiles files = released_files();
  files.tokenizer->max_id = 32064;
  Checked checked = check(files);
  ASSERT_EQ(checked.notes.reasons.size(), 1u) << all_reasons(checked.notes);
  EXPECT_EQ(checked.notes.reasons.list()[0].found, "the token \"<|image|>\" with the id 32064");
  for (const char* token : {"<s>", "<|user|>", "<|assistant|>", "<|end|>"}) {
    files = released_files();
    files.tokenizer->added.erase(token);
    checked = check(files);
    ASSERT_EQ(checked.notes.reasons.size(), 1u) << all_reasons(checked.notes);
    EXPECT_EQ(checked.notes.reasons.list()[0].where, "tokenizer.json: added_tokens");
    EXPECT_EQ(checked.notes.reasons.list()[0].found, std::string("no ") + token);
  }
}

}  // namespace
}  // namespace omniphi::phi3v

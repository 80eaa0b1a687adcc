// One test a rule of the configuration: break it once in a valid one, and expect exactly that reason.
#include <gtest/gtest.h>

#include "models/phi4mm_config_fixture.h"

namespace omniphi::phi4mm {
namespace {

// Sets what a JSON pointer names, or removes it when the value is discarded.
void change(json& root, const std::string& pointer, const json& value) {
  const json::json_pointer at(pointer);
  if (value.is_discarded()) {
    root.at(at.parent_pointer()).erase(at.back());
  } else {
    root[at] = value;
  }
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

void expect_one(const ConfigNotes& notes, const std::string& file, const Rule& rule) {
  std::string all;
  for (const Reason& reason : notes.reasons.list()) all += reason.to_string() + "\n";
  ASSERT_EQ(notes.reasons.size(), 1u) << all;
  const Reason& reason = notes.reasons.list()[0];
  EXPECT_EQ(reason.where, file + ": " + rule.where);
  EXPECT_EQ(reason.found, rule.found);
  EXPECT_NE(reason.expected.find(rule.expected), std::string::npos) << reason.expected;
}

std::string rule_name(const ::testing::TestParamInfo<Rule>& info) { return info.param.name; }

class OriginalRule : public ::testing::TestWithParam<Rule> {};

TEST_P(OriginalRule, IsEnforced) {
  ConfigSources sources = released_sources();
  change(sources.config, GetParam().pointer, GetParam().value);
  expect_one(check(sources).notes, "config.json", GetParam());
}

const Rule kTopRules[] = {
    {"Architecture", "/architectures/0", "Phi3ForCausalLM", "architectures", "[\"Phi3ForCausalLM\"]",
     "[\"Phi4MMForCausalLM\"]"},
    {"SecondArchitecture", "/architectures/1", "Extra", "architectures", "[\"Phi4MMForCausalLM\",\"Extra\"]",
     "[\"Phi4MMForCausalLM\"]"},
    {"ModelType", "/model_type", "phi3_v", "model_type", "\"phi3_v\"", "\"phi4mm\" or \"phi4_multimodal\""},
    {"HiddenAct", "/hidden_act", "gelu", "hidden_act", "\"gelu\"", "\"silu\""},
    {"AttentionBias", "/attention_bias", true, "attention_bias", "true", "false"},
    {"MlpBias", "/mlp_bias", true, "mlp_bias", "true", "false"},
    {"HeadBias", "/lm_head_bias", true, "lm_head_bias", "true", "false"},
    {"BiasAsNumber", "/mlp_bias", 0, "mlp_bias", "0", "false"},
    {"FullAttentionMod", "/full_attn_mod", 2, "full_attn_mod", "2", "1"},
    {"InterpolateFactor", "/interpolate_factor", 2, "interpolate_factor", "2", "1"},
    {"UntiedHead", "/tie_word_embeddings", false, "tie_word_embeddings", "false", "true"},
    {"HeadLeftToTheDefault", "/tie_word_embeddings", kRemoved, "tie_word_embeddings", "missing", "true"},
    {"ImgProcessor", "/img_processor", {{"name", "clip"}}, "img_processor", "{\"name\":\"clip\"}", "nothing"},
    {"Quantised", "/quantization_config", {{"bits", 4}}, "quantization_config", "{\"bits\":4}", "nothing"},
    {"SlidingWindow", "/sliding_window", 4096, "sliding_window", "4096", "at least max_position_embeddings, 131072"},
    {"HeadsDivideWidth", "/num_attention_heads", 40, "num_attention_heads", "40", "a divisor of hidden_size, 3072"},
    {"GroupsDivideHeads", "/num_key_value_heads", 7, "num_key_value_heads", "7",
     "a divisor of num_attention_heads, 24"},
    {"HeadDim", "/head_dim", 96, "head_dim", "96", "128"},
    {"VocabAsText", "/vocab_size", "200064", "vocab_size", "\"200064\"", "an integer from 1"},
    {"LayersAsFloat", "/num_hidden_layers", 32.0, "num_hidden_layers", "32.0", "an integer from 1"},
    {"NoLayers", "/num_hidden_layers", 0, "num_hidden_layers", "0", "an integer from 1"},
    {"NegativeWidth", "/intermediate_size", -8192, "intermediate_size", "-8192", "an integer from 1"},
    {"HugeWidth", "/intermediate_size", 18446744073709551615u, "intermediate_size", "18446744073709551615",
     "an integer from 1"},
    {"MissingSize", "/intermediate_size", kRemoved, "intermediate_size", "missing", "an integer from 1"},
    {"SizeAsTruth", "/original_max_position_embeddings", true, "original_max_position_embeddings", "true",
     "an integer from 1"},
    {"NullSize", "/max_position_embeddings", nullptr, "max_position_embeddings", "null", "an integer from 1"},
    {"ZeroEps", "/rms_norm_eps", 0.0, "rms_norm_eps", "0.0", "a number above zero"},
    {"EpsAsText", "/rms_norm_eps", "1e-5", "rms_norm_eps", "\"1e-5\"", "a number above zero"},
    {"NegativeTheta", "/rope_theta", -1.0, "rope_theta", "-1.0", "a number above zero"},
    {"NoEnd", "/eos_token_id", 200064, "eos_token_id", "200064", "ids below the vocabulary's size, 200064"},
};
INSTANTIATE_TEST_SUITE_P(Top, OriginalRule, ::testing::ValuesIn(kTopRules), rule_name);

const Rule kRopeRules[] = {
    {"OddRotary", "/partial_rotary_factor", 0.76, "partial_rotary_factor",
     "0.76 of head size 128, 97.0 rotary dimensions", "an even number of dimensions"},
    {"TooMuchRotary", "/partial_rotary_factor", 1.5, "partial_rotary_factor",
     "1.5 of head size 128, 192.0 rotary dimensions", "an even number of dimensions"},
    {"NoScaling", "/rope_scaling", nullptr, "rope_scaling", "null", "an object"},
    {"ScalingMissing", "/rope_scaling", kRemoved, "rope_scaling", "missing", "an object"},
    {"Linear", "/rope_scaling/type", "linear", "rope_scaling.type", "\"linear\"", "\"longrope\""},
    {"Dynamic", "/rope_scaling/type", "dynamic", "rope_scaling.type", "\"dynamic\"", "\"longrope\""},
    {"Llama3", "/rope_scaling/type", "llama3", "rope_scaling.type", "\"llama3\"", "\"longrope\""},
    {"MultiAxisKind", "/rope_scaling/type", "mrope", "rope_scaling.type", "\"mrope\"", "\"longrope\""},
    {"KindMissing", "/rope_scaling/type", kRemoved, "rope_scaling.type", "missing", "\"longrope\""},
    {"KindOfNewName", "/rope_scaling/rope_type", "default", "rope_scaling.rope_type", "\"default\"", "\"longrope\""},
    {"MultiAxis",
     "/rope_scaling/mrope_section",
     {16, 24, 24},
     "rope_scaling.mrope_section",
     "[16,24,24]",
     "no such key"},
    {"UnknownRopeKey", "/rope_scaling/short_mscale", 1.1, "rope_scaling.short_mscale", "1.1", "no such key"},
    {"AttentionFactor", "/rope_scaling/attention_factor", 1.0, "rope_scaling.attention_factor", "1.0", "no such key"},
    {"WrongRatio", "/rope_scaling/factor", 16.0, "rope_scaling.factor", "16.0", "32.0"},
    {"OtherOriginal", "/rope_scaling/original_max_position_embeddings", 8192,
     "rope_scaling.original_max_position_embeddings", "8192", "4096"},
    {"ThetaTwice", "/rope_scaling/rope_theta", 5000.0, "rope_scaling.rope_theta", "5000.000000", "10000.0"},
    {"TooFewFactors",
     "/rope_scaling/short_factor",
     {1.0, 1.0},
     "rope_scaling.short_factor",
     "2 values",
     "a list of 48 numbers above zero"},
    {"NegativeFactor", "/rope_scaling/long_factor/47", -47.77, "rope_scaling.long_factor", "-47.77 at index 47",
     "a list of 48 numbers above zero"},
    {"ZeroFactor", "/rope_scaling/short_factor/0", 0, "rope_scaling.short_factor", "0 at index 0",
     "a list of 48 numbers above zero"},
    {"FactorAsText", "/rope_scaling/short_factor/3", "1", "rope_scaling.short_factor", "\"1\" at index 3",
     "a list of 48 numbers above zero"},
    {"FactorsMissing", "/rope_scaling/long_factor", kRemoved, "rope_scaling.long_factor", "missing",
     "a list of 48 numbers above zero"},
    {"FactorsAsNumber", "/rope_scaling/long_factor", 4.0, "rope_scaling.long_factor", "4.0",
     "a list of 48 numbers above zero"},
};
INSTANTIATE_TEST_SUITE_P(Rope, OriginalRule, ::testing::ValuesIn(kRopeRules), rule_name);

const Rule kEmbeddingRules[] = {
    {"EmbeddingClass", "/embd_layer/embedding_cls", "image", "embd_layer.embedding_cls", "\"image\"",
     "\"image_audio\""},
    {"ImageClass", "/embd_layer/image_embd_layer/embedding_cls", "image", "embd_layer.image_embd_layer.embedding_cls",
     "\"image\"", "\"tune_image\""},
    {"ImageProjection", "/embd_layer/image_embd_layer/projection_cls", "linear",
     "embd_layer.image_embd_layer.projection_cls", "\"linear\"", "\"mlp\""},
    {"Compression", "/embd_layer/image_embd_layer/image_token_compression_cls", "max_pool",
     "embd_layer.image_embd_layer.image_token_compression_cls", "\"max_pool\"", "\"avg_pool_2d\""},
    {"HdTransform", "/embd_layer/image_embd_layer/use_hd_transform", false,
     "embd_layer.image_embd_layer.use_hd_transform", "false", "true"},
    {"Separators", "/embd_layer/image_embd_layer/with_learnable_separator", false,
     "embd_layer.image_embd_layer.with_learnable_separator", "false", "true"},
    {"Order", "/embd_layer/image_embd_layer/hd_transform_order", "glb_sub",
     "embd_layer.image_embd_layer.hd_transform_order", "\"glb_sub\"", "\"sub_glb\""},
    {"CropSize", "/embd_layer/image_embd_layer/crop_size", 336, "embd_layer.image_embd_layer.crop_size", "336", "448"},
    {"UnknownImageKey", "/embd_layer/image_embd_layer/num_img_tokens", 256,
     "embd_layer.image_embd_layer.num_img_tokens", "256", "no such key"},
    {"AudioClass", "/embd_layer/audio_embd_layer/embedding_cls", "whisper", "embd_layer.audio_embd_layer.embedding_cls",
     "\"whisper\"", "\"audio\""},
    {"AudioProjection", "/embd_layer/audio_embd_layer/projection_cls", "linear",
     "embd_layer.audio_embd_layer.projection_cls", "\"linear\"", "\"mlp\""},
    {"CompressionRate", "/embd_layer/audio_embd_layer/compression_rate", 4,
     "embd_layer.audio_embd_layer.compression_rate", "4", "8"},
    {"DownsampleRate", "/embd_layer/audio_embd_layer/downsample_rate", 2, "embd_layer.audio_embd_layer.downsample_rate",
     "2", "1"},
    {"ConvDownsample", "/embd_layer/audio_embd_layer/use_conv_downsample", true,
     "embd_layer.audio_embd_layer.use_conv_downsample", "true", "false"},
    {"Qformer", "/embd_layer/audio_embd_layer/use_qformer", true, "embd_layer.audio_embd_layer.use_qformer", "true",
     "false"},
    {"UnknownAudioKey", "/embd_layer/audio_embd_layer/freeze", true, "embd_layer.audio_embd_layer.freeze", "true",
     "no such key"},
    {"UnknownEmbeddingKey",
     "/embd_layer/video_embd_layer",
     {{"x", 1}},
     "embd_layer.video_embd_layer",
     "{\"x\":1}",
     "no such key"},
    {"NoEmbeddings", "/embd_layer", nullptr, "embd_layer", "null", "an object"},
    {"ImageAdapterAlone", "/embd_layer/image_embd_layer", kRemoved, "embd_layer.image_embd_layer",
     "missing, though vision_lora is there", "the tower's entry"},
    {"AudioAdapterAlone", "/embd_layer/audio_embd_layer", kRemoved, "embd_layer.audio_embd_layer",
     "missing, though speech_lora is there", "the tower's entry"},
};
INSTANTIATE_TEST_SUITE_P(Embedding, OriginalRule, ::testing::ValuesIn(kEmbeddingRules), rule_name);

const Rule kAudioRules[] = {
    {"Cascades", "/audio_processor/name", "whisper", "audio_processor.name", "\"whisper\"", "\"cascades\""},
    {"UnknownKey", "/audio_processor/extra", 1, "audio_processor.extra", "1", "no such key"},
    {"UnknownEncoderKey", "/audio_processor/config/lookahead", 3, "audio_processor.config.lookahead", "3",
     "no such key"},
    {"NemoConv", "/audio_processor/config/input_layer", "conv2d", "audio_processor.config.input_layer", "\"conv2d\"",
     "\"nemo_conv\""},
    {"InputSize", "/audio_processor/config/input_size", 128, "audio_processor.config.input_size", "128", "80"},
    {"EmbeddingInputSize", "/audio_processor/config/encoder_embedding_config/input_size", 64,
     "audio_processor.config.encoder_embedding_config.input_size", "64", "80"},
    {"TimeReduction", "/audio_processor/config/time_reduction", 4, "audio_processor.config.time_reduction", "4", "8"},
    {"Causal", "/audio_processor/config/causal", false, "audio_processor.config.causal", "false", "true"},
    {"Activation", "/audio_processor/config/activation", "relu", "audio_processor.config.activation", "\"relu\"",
     "\"swish\""},
    {"ConvActivation", "/audio_processor/config/conv_activation", "gelu", "audio_processor.config.conv_activation",
     "\"gelu\"", "\"swish\""},
    {"GluActivation", "/audio_processor/config/conv_glu_type", "sigmoid", "audio_processor.config.conv_glu_type",
     "\"sigmoid\"", "\"swish\""},
    {"BatchNorm", "/audio_processor/config/batch_norm", true, "audio_processor.config.batch_norm", "true", "false"},
    {"GluBias", "/audio_processor/config/bias_in_glu", false, "audio_processor.config.bias_in_glu", "false", "true"},
    {"CnnLayerNorm", "/audio_processor/config/cnn_layer_norm", false, "audio_processor.config.cnn_layer_norm", "false",
     "true"},
    {"DepthwiseMultiplier", "/audio_processor/config/depthwise_multiplier", 2,
     "audio_processor.config.depthwise_multiplier", "2", "1"},
    {"DepthwiseOut", "/audio_processor/config/depthwise_seperable_out_channel", 512,
     "audio_processor.config.depthwise_seperable_out_channel", "512", "1024"},
    {"PointwiseKernel", "/audio_processor/config/ext_pw_kernel_size", 3, "audio_processor.config.ext_pw_kernel_size",
     "3", "1"},
    {"PointwiseOut", "/audio_processor/config/ext_pw_out_channel", 2048, "audio_processor.config.ext_pw_out_channel",
     "2048", "1024"},
    {"AudioHeads", "/audio_processor/config/attention_heads", 15, "audio_processor.config.attention_heads", "15",
     "a divisor of attention_dim, 1024"},
    {"BiasKind", "/audio_processor/config/relative_attention_bias_args/type", "alibi",
     "audio_processor.config.relative_attention_bias_args.type", "\"alibi\"", "\"t5\""},
    {"BiasReach", "/audio_processor/config/relative_attention_bias_args/t5_bias_max_distance", 0,
     "audio_processor.config.relative_attention_bias_args.t5_bias_max_distance", "0", "an integer from 1"},
    {"BiasSymmetric", "/audio_processor/config/relative_attention_bias_args/t5_bias_symmetric", true,
     "audio_processor.config.relative_attention_bias_args.t5_bias_symmetric", "true", "false"},
    {"ChunkList",
     "/audio_processor/config/chunk_size",
     {10, 20},
     "audio_processor.config.chunk_size",
     "[10,20]",
     "an integer from"},
    {"ConvChannels", "/audio_processor/config/nemo_conv_settings/conv_channels", -1,
     "audio_processor.config.nemo_conv_settings.conv_channels", "-1", "an integer from 1"},
    {"NoProcessor", "/audio_processor", kRemoved, "audio_processor", "missing", "an object"},
};
INSTANTIATE_TEST_SUITE_P(Audio, OriginalRule, ::testing::ValuesIn(kAudioRules), rule_name);

const Rule kVisionRules[] = {
    {"ImageSize", "/vision_config/image_size", 336, "vision_config.image_size", "336", "448"},
    {"PatchSize", "/vision_config/patch_size", 16, "vision_config.patch_size", "16", "14"},
    {"TowerActivation", "/vision_config/hidden_act", "gelu", "vision_config.hidden_act", "\"gelu\"",
     "\"gelu_pytorch_tanh\""},
    {"FeatureLayer", "/vision_config/feature_layer", -1, "vision_config.feature_layer", "-1", "-2"},
    {"Channels", "/vision_config/num_channels", 1, "vision_config.num_channels", "1", "3"},
    {"TowerHeads", "/vision_config/num_attention_heads", 17, "vision_config.num_attention_heads", "17",
     "a divisor of hidden_size, 1152"},
    {"OneBlock", "/vision_config/num_hidden_layers", 1, "vision_config.num_hidden_layers", "1", "an integer from 2"},
    {"OtherImageToken", "/vision_config/image_token_id", 200012, "vision_config.image_token_id", "200012",
     "200010, the id of <|endoftext10|> in tokenizer.json"},
    {"OtherAudioToken", "/audio_config/audio_token_id", 7, "audio_config.audio_token_id", "7",
     "200011, the id of <|endoftext11|> in tokenizer.json"},
};
INSTANTIATE_TEST_SUITE_P(Vision, OriginalRule, ::testing::ValuesIn(kVisionRules), rule_name);

const Rule kLoraRules[] = {
    {"ZeroRank", "/vision_lora/r", 0, "vision_lora.r", "0", "an integer from 1"},
    {"NegativeRank", "/speech_lora/r", -4, "speech_lora.r", "-4", "an integer from 1"},
    {"ZeroAlpha", "/vision_lora/lora_alpha", 0, "vision_lora.lora_alpha", "0", "a number above zero"},
    {"NegativeAlpha", "/speech_lora/lora_alpha", -640, "speech_lora.lora_alpha", "-640", "a number above zero"},
    {"UnknownLoraKey", "/vision_lora/use_rslora", true, "vision_lora.use_rslora", "true", "no such key"},
    {"NoPattern", "/speech_lora/layer", kRemoved, "speech_lora.layer", "missing", "a pattern"},
    {"VisionAdapterMissing", "/vision_lora", kRemoved, "vision_lora",
     "missing, though embd_layer.image_embd_layer is there", "the LoRA entry that belongs to this tower"},
    {"SpeechAdapterMissing", "/speech_lora", kRemoved, "speech_lora",
     "missing, though embd_layer.audio_embd_layer is there", "the LoRA entry that belongs to this tower"},
    {"MissesOne", "/vision_lora/layer", "layers.*((self_attn\\.(qkv_proj|o_proj))|(mlp\\.gate_up_proj))",
     "vision_lora.layer",
     "\"layers.*((self_attn\\\\.(qkv_proj|o_proj))|(mlp\\\\.gate_up_proj))\", which misses layers.0.mlp.down_proj",
     "of every decoder layer"},
    {"MissesALayer", "/vision_lora/layer",
     "layers\\.([0-9]|[12]\\d|30)\\.((self_attn\\.(qkv|o)_proj)|(mlp\\.(gate_up|down)_proj))", "vision_lora.layer",
     "\"layers\\\\.([0-9]|[12]\\\\d|30)\\\\.((self_attn\\\\.(qkv|o)_proj)|(mlp\\\\.(gate_up|down)_proj))\", which "
     "misses "
     "layers.31.mlp.down_proj",
     "of every decoder layer"},
    {"HitsTheTower", "/speech_lora/layer", ".*layers.*((self_attn\\.(qkv|o|q)_proj)|(mlp\\.(gate_up|down)_proj))",
     "speech_lora.layer",
     "\".*layers.*((self_attn\\\\.(qkv|o|q)_proj)|(mlp\\\\.(gate_up|down)_proj))\", which also hits "
     "embed_tokens_extend.image_embed.img_processor.encoder.layers.0.self_attn.q_proj",
     "for nothing else"},
    {"HitsANorm", "/speech_lora/layer", "layers.*(_proj|norm)", "speech_lora.layer",
     "\"layers.*(_proj|norm)\", which also hits layers.0.input_layernorm", "for nothing else"},
    {"MatchesWholeNames", "/speech_lora/layer", "(self_attn\\.(qkv|o)_proj)|(mlp\\.(gate_up|down)_proj)",
     "speech_lora.layer",
     "\"(self_attn\\\\.(qkv|o)_proj)|(mlp\\\\.(gate_up|down)_proj)\", which misses layers.0.mlp.down_proj",
     "of every decoder layer"},
    {"Unevaluable", "/vision_lora/layer", "layers.*(?=x)", "vision_lora.layer",
     "\"layers.*(?=x)\" with a special group", "a pattern for"},
};
INSTANTIATE_TEST_SUITE_P(Lora, OriginalRule, ::testing::ValuesIn(kLoraRules), rule_name);

class NativeRule : public ::testing::TestWithParam<Rule> {};

TEST_P(NativeRule, IsEnforced) {
  ConfigSources sources = native_sources();
  change(sources.config, GetParam().pointer, GetParam().value);
  expect_one(check(sources).notes, "config.json", GetParam());
}

const Rule kNativeRules[] = {
    {"Architecture", "/architectures/0", "Phi4MMForCausalLM", "architectures", "[\"Phi4MMForCausalLM\"]",
     "[\"Phi4MultimodalForCausalLM\"]"},
    {"DefaultHeads", "/num_attention_heads", 40, "num_attention_heads", "40", "a divisor of hidden_size, 3072"},
    {"Untied", "/tie_word_embeddings", kRemoved, "tie_word_embeddings", "missing", "true"},
    {"MultiAxis", "/rope_parameters/mrope_section", {8, 8}, "rope_parameters.mrope_section", "[8,8]", "no such key"},
    {"BothRopes", "/rope_scaling", {{"type", "longrope"}}, "rope_scaling", "{\"type\":\"longrope\"}", "nothing"},
    {"TowerOrder", "/vision_config/hd_transform_order", "glb_sub", "vision_config.hd_transform_order", "\"glb_sub\"",
     "\"sub_glb\""},
    {"Crop", "/vision_config/crop_size", 336, "vision_config.crop_size", "336", "448"},
    {"AudioWidth", "/audio_config/ext_pw_out_channel", 512, "audio_config.ext_pw_out_channel", "512",
     "1024, as hidden_size"},
    {"AudioDepthwise", "/audio_config/depthwise_separable_out_channel", 512,
     "audio_config.depthwise_separable_out_channel", "512", "1024, as hidden_size"},
    {"Nemo", "/audio_config/nemo_activation", "gelu", "audio_config.nemo_activation", "\"gelu\"", "\"relu\""},
    {"Symmetric", "/audio_config/bias_symmetric", true, "audio_config.bias_symmetric", "true", "false"},
    {"Reduction", "/audio_config/time_reduction", 4, "audio_config.time_reduction", "4", "8"},
    {"Downsample", "/audio_config/downsample_rate", 2, "audio_config.downsample_rate", "2", "1"},
    {"AudioHeads", "/audio_config/num_attention_heads", 15, "audio_config.num_attention_heads", "15",
     "a divisor of hidden_size, 1024"},
    {"Leftover", "/audio_config/causal", false, "audio_config.causal", "false", "true"},
    {"OriginalLora", "/vision_lora", {{"r", 8}}, "vision_lora", "{\"r\":8}", "nothing"},
};
INSTANTIATE_TEST_SUITE_P(Native, NativeRule, ::testing::ValuesIn(kNativeRules), rule_name);

class AdapterRule : public ::testing::TestWithParam<Rule> {};

TEST_P(AdapterRule, IsEnforced) {
  ConfigSources sources = native_sources();
  change(*sources.speech_adapter, GetParam().pointer, GetParam().value);
  expect_one(check(sources).notes, "speech-lora/adapter_config.json", GetParam());
}

const Rule kAdapterRules[] = {
    {"Kind", "/peft_type", "IA3", "peft_type", "\"IA3\"", "\"LORA\""},
    {"Rank", "/r", 0, "r", "0", "an integer from 1"},
    {"Alpha", "/lora_alpha", -1, "lora_alpha", "-1", "a number above zero"},
    {"Bias", "/bias", "all", "bias", "\"all\"", "\"none\""},
    {"RankStabilised", "/use_rslora", true, "use_rslora", "true", "nothing"},
    {"Dora", "/use_dora", true, "use_dora", "true", "nothing"},
    {"LoraBias", "/lora_bias", true, "lora_bias", "true", "nothing"},
    {"SavedModules", "/modules_to_save", {"lm_head"}, "modules_to_save", "[\"lm_head\"]", "nothing"},
    {"RankPattern", "/rank_pattern", {{"down_proj", 8}}, "rank_pattern", "{\"down_proj\":8}", "nothing"},
    {"AlphaPattern", "/alpha_pattern", {{"down_proj", 8}}, "alpha_pattern", "{\"down_proj\":8}", "nothing"},
    {"Layers", "/layers_to_transform", {1, 2}, "layers_to_transform", "[1,2]", "nothing"},
    {"Excluded", "/exclude_modules", "lm_head", "exclude_modules", "\"lm_head\"", "nothing"},
    {"Initialisation", "/init_lora_weights", "pissa", "init_lora_weights", "\"pissa\"", "true, false or \"gaussian\""},
    {"UnknownKey", "/shiny_new_variant", 3, "shiny_new_variant", "3", "no such key"},
    {"NoTargets", "/target_modules", kRemoved, "target_modules", "missing", "a pattern or a list of modules"},
    {"TargetsMissAProjection",
     "/target_modules",
     {"qkv_proj", "o_proj", "gate_up_proj"},
     "target_modules",
     "[\"qkv_proj\",\"o_proj\",\"gate_up_proj\"], which misses model.layers.0.mlp.down_proj",
     "for nothing else"},
    {"TargetsHitANorm", "/target_modules", "model.layers.*(_proj|norm)", "target_modules",
     "\"model.layers.*(_proj|norm)\", which also hits model.layers.0.input_layernorm", "for nothing else"},
};
INSTANTIATE_TEST_SUITE_P(Adapter, AdapterRule, ::testing::ValuesIn(kAdapterRules), rule_name);

}  // namespace
}  // namespace omniphi::phi4mm

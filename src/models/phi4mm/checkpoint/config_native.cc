#include <array>
#include <cmath>

#include "models/phi4mm/checkpoint/config_rules.h"
#include "models/phi4mm/checkpoint/lora_rules.h"

namespace omniphi::phi4mm {
namespace {

using nlohmann::json;

const json& empty_object() {
  static const json kEmpty = json::object();
  return kEmpty;
}

// Keys that early conversions carried over from the original configuration.
void check_leftovers(ObjectReader& reader) {
  reader.must_be("batch_norm", false, Presence::kOptional);
  reader.must_be("bias_in_glu", true, Presence::kOptional);
  reader.must_be("causal", true, Presence::kOptional);
  reader.must_be("ext_pw_kernel_size", 1, Presence::kOptional);
  reader.must_be("cnn_layer_norm", true, Presence::kOptional);
  reader.must_be("input_layer", "nemo_conv", Presence::kOptional);
}

// A size that defaults to the released 1024 and must equal the width.
void check_equal_width(ObjectReader& reader, const char* key, int width) {
  const int found = reader.integer(key, kWidth, 1024);
  if (found > 0 && width > 0 && found != width) {
    reader.refuse(key, std::to_string(found) + (reader.has(key) ? "" : " (the default)"),
                  std::to_string(width) + ", as hidden_size");
  }
}

// Defaults are those of transformers' Phi4MultimodalAudioConfig.
void check_audio_config(ObjectReader& reader, Config& config) {
  AudioConfig& audio = config.audio;
  reader.must_be("model_type", "phi4_multimodal_audio", Presence::kOptional);
  audio.attention_dim = reader.integer("hidden_size", kWidth, 1024);
  audio.num_heads = reader.integer("num_attention_heads", kHeads, 16);
  audio.linear_units = reader.integer("intermediate_size", kInnerWidth, 1536);
  audio.num_blocks = reader.integer("num_blocks", kBlocks, 24);
  audio.conv_channels = reader.integer("nemo_conv_channels", kWidth, 1024);
  audio.kernel_size = reader.integer("kernel_size", {1, 64}, 3);
  audio.chunk_size = reader.integer("chunk_size", kAnyInt, -1);
  audio.left_chunk = reader.integer("left_chunk", kAnyInt, 18);
  audio.bias_reach = reader.integer("bias_max_distance", {1, 1 << 20}, 1000);
  check_divides(reader, "num_attention_heads", audio.num_heads, "hidden_size", audio.attention_dim);
  check_equal_width(reader, "ext_pw_out_channel", audio.attention_dim);
  check_equal_width(reader, "depthwise_separable_out_channel", audio.attention_dim);
  // The original's spelling of the same, which conversions carry along.
  if (audio.attention_dim > 0) {
    reader.must_be("depthwise_seperable_out_channel", audio.attention_dim, Presence::kOptional);
  }
  for (const char* key : {"activation", "conv_activation", "conv_glu_type"}) {
    reader.must_be(key, "swish", Presence::kOptional);
  }
  reader.must_be("nemo_activation", "relu", Presence::kOptional);
  reader.must_be("depthwise_multiplier", 1, Presence::kOptional);
  reader.must_be("input_size", 80, Presence::kOptional);
  reader.must_be("time_reduction", 8, Presence::kOptional);
  reader.must_be("nemo_final_size", 10, Presence::kOptional);
  reader.must_be("bias_symmetric", false, Presence::kOptional);
  reader.must_be("downsample_rate", 1, Presence::kOptional);
  config.audio_token_id = reader.integer("audio_token_id", {0, kVocabulary.high}, 200'011);
  check_leftovers(reader);
  reader.inert({"dropout_rate", "feature_layer"});  // feature_layer is read by no code of this encoder
  mark_common_keys(reader);
  reader.finish(Unknown::kWarn);
}

}  // namespace

void check_vision_config(ObjectReader& reader, const ConfigSources& sources, Config& config) {
  VisionConfig& vision = config.vision;
  const std::optional<int> counted = sources.vision_layers;
  reader.must_be("model_type", "phi4_multimodal_vision", Presence::kOptional);
  vision.hidden_size = reader.integer("hidden_size", kWidth, 1152);
  vision.intermediate_size = reader.integer("intermediate_size", kInnerWidth, 4304);
  vision.num_layers = reader.integer("num_hidden_layers", {2, kBlocks.high}, counted.value_or(0) >= 2 ? *counted : 27);
  vision.num_heads = reader.integer("num_attention_heads", kHeads, 16);
  vision.layer_norm_eps = static_cast<float>(reader.positive("layer_norm_eps", 1e-6));
  vision.image_size = 448;
  vision.patch_size = 14;
  check_divides(reader, "num_attention_heads", vision.num_heads, "hidden_size", vision.hidden_size);
  // transformers allows [448, 448] for 448.
  for (const auto& [key, value] : {std::pair("image_size", 448), std::pair("patch_size", 14)}) {
    const json* found = reader.get(key);
    if (found == nullptr || *found != json::array({value, value})) reader.must_be(key, value, Presence::kOptional);
  }
  reader.must_be("crop_size", 448, Presence::kOptional);
  reader.must_be("num_channels", 3, Presence::kOptional);
  reader.must_be("hidden_act", "gelu_pytorch_tanh", Presence::kOptional);
  reader.must_be("feature_layer", -2, Presence::kOptional);
  reader.must_be("use_hd_transform", true, Presence::kOptional);
  reader.must_be("hd_transform_order", "sub_glb", Presence::kOptional);
  if (reader.has("image_token_id")) config.image_token_id = reader.integer("image_token_id", {0, kVocabulary.high});
  reader.inert({"attention_dropout"});
  mark_common_keys(reader);
  reader.finish(Unknown::kWarn);
}

void check_native_media(ObjectReader& top, const ConfigSources& sources, Config& config, ConfigNotes& notes) {
  ObjectReader no_vision(empty_object(), "config.json", "vision_config", notes);
  ObjectReader no_audio(empty_object(), "config.json", "audio_config", notes);
  std::optional<ObjectReader> vision = top.object("vision_config", Presence::kOptional);
  std::optional<ObjectReader> audio = top.object("audio_config", Presence::kOptional);
  check_vision_config(vision ? *vision : no_vision, sources, config);
  check_audio_config(audio ? *audio : no_audio, config);
  if (config.image_token_id < 0) config.image_token_id = 200'010;
  for (const char* key : {"embd_layer", "audio_processor", "vision_lora", "speech_lora"}) top.must_be_unset(key);
  top.finish(Unknown::kWarn);
  check_adapter_configs(sources, config, notes);
}

}  // namespace omniphi::phi4mm

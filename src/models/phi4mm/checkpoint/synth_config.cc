#include "models/phi4mm/checkpoint/synth_config.h"

#include <cmath>

#include "models/checkpoint/synth_files.h"

namespace omniphi::phi4mm {
namespace {

using Json = nlohmann::ordered_json;

// The factor whose product with the head size, cut to an integer, is the rotary size.
double partial_rotary(const DecoderConfig& d) {
  const double factor = static_cast<double>(d.rotary_dim) / d.head_dim;
  return static_cast<int>(d.head_dim * factor) == d.rotary_dim ? factor : std::nextafter(factor, 2.0);
}

Json decoder_json(const DecoderConfig& d) {
  return {{"attention_bias", false},
          {"hidden_act", "silu"},
          {"hidden_size", d.hidden_size},
          {"intermediate_size", d.intermediate_size},
          {"lm_head_bias", false},
          {"max_position_embeddings", d.max_position_embeddings},
          {"mlp_bias", false},
          {"num_attention_heads", d.num_heads},
          {"num_hidden_layers", d.num_layers},
          {"num_key_value_heads", d.num_kv_heads},
          {"original_max_position_embeddings", d.original_max_position_embeddings},
          {"partial_rotary_factor", partial_rotary(d)},
          {"rms_norm_eps", shortest_json(d.rms_norm_eps)},
          {"rope_scaling", {{"type", "longrope"}, {"short_factor", d.short_factor}, {"long_factor", d.long_factor}}},
          {"rope_theta", d.rope_theta},
          {"sliding_window", nullptr},
          {"tie_word_embeddings", true},
          {"vocab_size", d.vocab_size}};
}

Json vision_json(const Config& config) {
  const VisionConfig& v = config.vision;
  return {{"hidden_size", v.hidden_size},
          {"intermediate_size", v.intermediate_size},
          {"num_hidden_layers", v.num_layers},
          {"num_attention_heads", v.num_heads},
          {"image_size", v.image_size},
          {"patch_size", v.patch_size},
          {"layer_norm_eps", shortest_json(v.layer_norm_eps)},
          {"hidden_act", "gelu_pytorch_tanh"},
          {"feature_layer", -2},
          {"crop_size", 448},
          {"image_token_id", config.image_token_id}};
}

Json encoder_json(const AudioConfig& a) {
  return {{"activation", "swish"},
          {"attention_dim", a.attention_dim},
          {"attention_heads", a.num_heads},
          {"batch_norm", false},
          {"bias_in_glu", true},
          {"causal", true},
          {"chunk_size", a.chunk_size},
          {"cnn_layer_norm", true},
          {"conv_activation", "swish"},
          {"conv_glu_type", "swish"},
          {"depthwise_multiplier", 1},
          {"depthwise_seperable_out_channel", a.attention_dim},
          {"encoder_embedding_config", {{"input_size", a.input_size}}},
          {"ext_pw_kernel_size", 1},
          {"ext_pw_out_channel", a.attention_dim},
          {"input_layer", "nemo_conv"},
          {"input_size", a.input_size},
          {"kernel_size", a.kernel_size},
          {"left_chunk", a.left_chunk},
          {"linear_units", a.linear_units},
          {"nemo_conv_settings", {{"conv_channels", a.conv_channels}}},
          {"num_blocks", a.num_blocks},
          {"relative_attention_bias_args", {{"t5_bias_max_distance", a.bias_reach}, {"type", "t5"}}},
          {"time_reduction", a.time_reduction}};
}

Json embedding_json() {
  return {{"audio_embd_layer",
           {{"compression_rate", 8},
            {"downsample_rate", 1},
            {"embedding_cls", "audio"},
            {"projection_cls", "mlp"},
            {"use_conv_downsample", false},
            {"use_qformer", false}}},
          {"embedding_cls", "image_audio"},
          {"image_embd_layer",
           {{"crop_size", 448},
            {"embedding_cls", "tune_image"},
            {"hd_transform_order", "sub_glb"},
            {"image_token_compression_cls", "avg_pool_2d"},
            {"projection_cls", "mlp"},
            {"use_hd_transform", true},
            {"with_learnable_separator", true}}}};
}

Json lora_json(const LoraConfig& lora, const char* layer) {
  return {{"layer", layer}, {"lora_alpha", shortest_json(lora.alpha)}, {"r", lora.rank}};
}

Json original_json(const Config& config) {
  Json json = decoder_json(config.decoder);
  json["architectures"] = Json::array({"Phi4MMForCausalLM"});
  json["model_type"] = "phi4mm";
  json["audio_processor"] = {{"name", "cascades"}, {"config", encoder_json(config.audio)}};
  json["embd_layer"] = embedding_json();
  json["full_attn_mod"] = 1;
  json["img_processor"] = nullptr;
  json["interpolate_factor"] = 1;
  json["vision_config"] = vision_json(config);
  json["audio_config"] = {{"audio_token_id", config.audio_token_id}};
  json["vision_lora"] =
      lora_json(config.decoder.vision_lora, "layers.*((self_attn\\.(qkv_proj|o_proj))|(mlp\\.(gate_up|down)_proj))");
  json["speech_lora"] =
      lora_json(config.decoder.speech_lora, "((layers.*self_attn\\.(qkv|o)_proj)|(layers.*mlp\\.(gate_up|down)_proj))");
  return json;
}

Json native_json(const Config& config) {
  const AudioConfig& a = config.audio;
  Json json = decoder_json(config.decoder);
  Json rope = json["rope_scaling"];
  rope["rope_type"] = "longrope";
  rope["rope_theta"] = json["rope_theta"];
  rope["partial_rotary_factor"] = json["partial_rotary_factor"];
  for (const char* key : {"rope_scaling", "rope_theta", "partial_rotary_factor"}) json.erase(key);
  json["architectures"] = Json::array({"Phi4MultimodalForCausalLM"});
  json["model_type"] = "phi4_multimodal";
  json["rope_parameters"] = rope;
  json["vision_config"] = vision_json(config);
  json["vision_config"]["model_type"] = "phi4_multimodal_vision";
  json["audio_config"] = {{"model_type", "phi4_multimodal_audio"},
                          {"hidden_size", a.attention_dim},
                          {"num_attention_heads", a.num_heads},
                          {"intermediate_size", a.linear_units},
                          {"num_blocks", a.num_blocks},
                          {"nemo_conv_channels", a.conv_channels},
                          {"ext_pw_out_channel", a.attention_dim},
                          {"depthwise_separable_out_channel", a.attention_dim},
                          {"kernel_size", a.kernel_size},
                          {"chunk_size", a.chunk_size},
                          {"left_chunk", a.left_chunk},
                          {"bias_max_distance", a.bias_reach},
                          {"input_size", a.input_size},
                          {"time_reduction", a.time_reduction},
                          {"audio_token_id", config.audio_token_id}};
  return json;
}

}  // namespace

Json config_json(const Config& config, Layout layout) {
  Json json = layout == Layout::kOriginal ? original_json(config) : native_json(config);
  json["eos_token_id"] = config.eos_token_ids;
  json["initializer_range"] = 0.02;
  return json;
}

Json adapter_config_json(const LoraConfig& lora) {
  return {{"peft_type", "LORA"},
          {"task_type", "CAUSAL_LM"},
          {"bias", "none"},
          {"r", lora.rank},
          {"lora_alpha", shortest_json(lora.alpha)},
          {"lora_dropout", 0.0},
          {"inference_mode", true},
          {"target_modules", "model\\.layers\\.\\d+\\.((self_attn\\.(qkv|o)_proj)|(mlp\\.(gate_up|down)_proj))"}};
}

Json generation_config_json(const Config& config) { return {{"eos_token_id", config.eos_token_ids}}; }

Json preprocessor_config_json(const Config& config) {
  return {{"audio_compression_rate", 8},
          {"audio_downsample_rate", 1},
          {"audio_feat_stride", 1},
          {"dynamic_hd", config.vision.max_crops}};
}

}  // namespace omniphi::phi4mm

#include "models/phi3v/checkpoint/synth_config.h"

#include "models/checkpoint/synth_files.h"

namespace omniphi::phi3v {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTowerName = "openai/clip-vit-large-patch14-336";

Json image_processor_json(const VisionConfig& v) {
  Json json = {{"image_dim_out", v.hidden_size},
               {"model_name", kTowerName},
               {"name", "clip_vision_model"},
               {"num_img_tokens", 144}};
  constexpr VisionConfig released = kClipVision;
  if (v.hidden_size == released.hidden_size && v.intermediate_size == released.intermediate_size &&
      v.num_layers == released.num_layers && v.num_heads == released.num_heads &&
      v.layer_norm_eps == released.layer_norm_eps) {
    return json;
  }
  json["clip_config"] = {{"hidden_size", v.hidden_size},
                         {"intermediate_size", v.intermediate_size},
                         {"num_hidden_layers", v.num_layers},
                         {"num_attention_heads", v.num_heads},
                         {"layer_norm_eps", shortest_json(v.layer_norm_eps)}};
  return json;
}

}  // namespace

Json config_json(const Config& config) {
  const DecoderConfig& d = config.decoder;
  return {{"architectures", Json::array({"Phi3VForCausalLM"})},
          {"model_type", "phi3_v"},
          {"bos_token_id", config.bos_token_id},
          {"embd_layer",
           {{"embedding_cls", "image"},
            {"hd_transform_order", "sub_glb"},
            {"projection_cls", "mlp"},
            {"use_hd_transform", true},
            {"with_learnable_separator", true}}},
          {"eos_token_id", 2},
          {"hidden_act", "silu"},
          {"hidden_size", d.hidden_size},
          {"img_processor", image_processor_json(config.vision)},
          {"initializer_range", 0.02},
          {"intermediate_size", d.intermediate_size},
          {"max_position_embeddings", d.max_position_embeddings},
          {"num_attention_heads", d.num_heads},
          {"num_hidden_layers", d.num_layers},
          {"num_key_value_heads", d.num_kv_heads},
          {"original_max_position_embeddings", d.original_max_position_embeddings},
          {"rms_norm_eps", shortest_json(d.rms_norm_eps)},
          {"rope_scaling", {{"long_factor", d.long_factor}, {"short_factor", d.short_factor}, {"type", "su"}}},
          {"rope_theta", d.rope_theta},
          {"sliding_window", d.sliding_window > 0 ? Json(d.sliding_window) : Json(nullptr)},
          {"tie_word_embeddings", false},
          {"vocab_size", d.vocab_size}};
}

Json generation_config_json(const Config& config) { return {{"eos_token_id", config.eos_token_ids}}; }

Json preprocessor_config_json(const Config& config) {
  return {{"num_crops", config.vision.max_crops}, {"num_img_tokens", 144}};
}

}  // namespace omniphi::phi3v

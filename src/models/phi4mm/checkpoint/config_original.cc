#include <cmath>

#include "models/phi4mm/checkpoint/config_rules.h"
#include "models/phi4mm/checkpoint/lora_rules.h"

namespace omniphi::phi4mm {
namespace {

using nlohmann::json;

// The release says nothing about SigLIP: these are the constants of its code (siglip-so400m-patch14, at 448 pixels).
constexpr VisionConfig kReleasedVision = {1152, 4304, 27, 16, 448, 14, 1e-6f, 36};

void check_image_layer(ObjectReader& image) {
  image.must_be("embedding_cls", "tune_image", Presence::kRequired);
  image.must_be("projection_cls", "mlp", Presence::kRequired);
  image.must_be("image_token_compression_cls", "avg_pool_2d", Presence::kRequired);
  image.must_be("use_hd_transform", true, Presence::kRequired);
  image.must_be("with_learnable_separator", true, Presence::kRequired);
  image.must_be("hd_transform_order", "sub_glb", Presence::kRequired);
  image.must_be("crop_size", 448, Presence::kRequired);
  image.inert({"enable_gradient_checkpointing"});
  image.finish(Unknown::kRefuse);
}

void check_audio_layer(ObjectReader& audio) {
  audio.must_be("embedding_cls", "audio", Presence::kRequired);
  audio.must_be("projection_cls", "mlp", Presence::kRequired);
  audio.must_be("compression_rate", 8, Presence::kRequired);
  audio.must_be("downsample_rate", 1, Presence::kRequired);
  audio.must_be("use_conv_downsample", false, Presence::kRequired);
  audio.must_be("use_qformer", false, Presence::kRequired);
  audio.inert({"enable_gradient_checkpointing"});
  audio.finish(Unknown::kRefuse);
}

// A tower and its adapter come together.
void check_pair(ObjectReader& top, ObjectReader* embd_layer, const char* layer, const char* lora) {
  const bool tower = embd_layer != nullptr && embd_layer->has(layer);
  if (tower && !top.has(lora)) {
    top.refuse(lora, std::string("missing, though embd_layer.") + layer + " is there",
               "the LoRA entry that belongs to this tower");
  } else if (!tower && embd_layer != nullptr) {
    embd_layer->refuse(layer, top.has(lora) ? std::string("missing, though ") + lora + " is there" : "missing",
                       "the tower's entry", "omniphi needs a checkpoint with both towers.");
  }
}

void check_embd_layer(ObjectReader& top) {
  std::optional<ObjectReader> layer = top.object("embd_layer", Presence::kRequired);
  check_pair(top, layer ? &*layer : nullptr, "image_embd_layer", "vision_lora");
  check_pair(top, layer ? &*layer : nullptr, "audio_embd_layer", "speech_lora");
  if (!layer) return;
  layer->must_be("embedding_cls", "image_audio", Presence::kRequired);
  if (auto image = layer->object("image_embd_layer", Presence::kOptional)) check_image_layer(*image);
  if (auto audio = layer->object("audio_embd_layer", Presence::kOptional)) check_audio_layer(*audio);
  layer->finish(Unknown::kRefuse);
}

void check_subsampling(ObjectReader& encoder, AudioConfig& audio) {
  encoder.must_be("input_layer", "nemo_conv", Presence::kRequired);
  encoder.must_be("input_size", 80, Presence::kRequired);
  encoder.must_be("time_reduction", 8, Presence::kRequired);
  if (auto settings = encoder.object("nemo_conv_settings", Presence::kRequired)) {
    audio.conv_channels = settings->integer("conv_channels", kWidth);
    settings->finish(Unknown::kRefuse);
  }
  if (auto embedding = encoder.object("encoder_embedding_config", Presence::kRequired)) {
    embedding->must_be("input_size", 80, Presence::kRequired);
    embedding->finish(Unknown::kRefuse);
  }
}

void check_blocks(ObjectReader& encoder, AudioConfig& audio) {
  audio.attention_dim = encoder.integer("attention_dim", kWidth);
  audio.num_heads = encoder.integer("attention_heads", kHeads);
  audio.linear_units = encoder.integer("linear_units", kInnerWidth);
  audio.num_blocks = encoder.integer("num_blocks", kBlocks);
  audio.kernel_size = encoder.integer("kernel_size", {1, 64});
  audio.chunk_size = encoder.integer("chunk_size", kAnyInt);
  audio.left_chunk = encoder.integer("left_chunk", kAnyInt);
  check_divides(encoder, "attention_heads", audio.num_heads, "attention_dim", audio.attention_dim);
  for (const char* key : {"activation", "conv_activation", "conv_glu_type"}) {
    encoder.must_be(key, "swish", Presence::kRequired);
  }
  encoder.must_be("batch_norm", false, Presence::kRequired);
  encoder.must_be("bias_in_glu", true, Presence::kRequired);
  encoder.must_be("causal", true, Presence::kRequired);
  encoder.must_be("cnn_layer_norm", true, Presence::kRequired);
  encoder.must_be("depthwise_multiplier", 1, Presence::kRequired);
  encoder.must_be("ext_pw_kernel_size", 1, Presence::kRequired);
  if (audio.attention_dim > 0) {
    encoder.must_be("depthwise_seperable_out_channel", audio.attention_dim, Presence::kRequired);
    encoder.must_be("ext_pw_out_channel", audio.attention_dim, Presence::kRequired);
  } else {
    encoder.get("depthwise_seperable_out_channel");
    encoder.get("ext_pw_out_channel");
  }
  if (auto bias = encoder.object("relative_attention_bias_args", Presence::kRequired)) {
    bias->must_be("type", "t5", Presence::kRequired);
    audio.bias_reach = bias->integer("t5_bias_max_distance", {1, 1 << 20});
    bias->must_be("t5_bias_symmetric", false, Presence::kOptional);
    bias->finish(Unknown::kRefuse);
  }
}

void check_audio_processor(ObjectReader& top, AudioConfig& audio) {
  std::optional<ObjectReader> processor = top.object("audio_processor", Presence::kRequired);
  if (!processor) return;
  processor->must_be("name", "cascades", Presence::kRequired);
  if (auto encoder = processor->object("config", Presence::kRequired)) {
    check_subsampling(*encoder, audio);
    check_blocks(*encoder, audio);
    encoder->inert({"activation_checkpointing", "dropout_rate"});
    encoder->finish(Unknown::kRefuse);
  }
  processor->finish(Unknown::kRefuse);
}

struct LoraEntry {
  LoraConfig lora;
  const json* layer = nullptr;
  std::string where;
};

LoraEntry check_lora(ObjectReader& top, const char* key) {
  LoraEntry entry;
  std::optional<ObjectReader> lora = top.object(key, Presence::kOptional);
  if (!lora) return entry;
  entry.lora.rank = lora->integer("r", kWidth);
  entry.lora.alpha = static_cast<float>(lora->positive("lora_alpha"));
  entry.layer = lora->get("layer");
  entry.where = lora->where("layer");
  if (entry.layer == nullptr || !entry.layer->is_string()) {
    lora->refuse("layer", entry.layer == nullptr ? "missing" : show_json(*entry.layer), "a pattern");
    entry.layer = nullptr;
  }
  lora->inert({"dp"});
  lora->finish(Unknown::kRefuse);
  return entry;
}

void check_extras(ObjectReader& top, const ConfigSources& sources, Config& config) {
  config.vision = kReleasedVision;
  // Fewer than two blocks leave none to run: the released number then says which tensors are missing.
  if (sources.vision_layers.value_or(0) >= 2) config.vision.num_layers = *sources.vision_layers;
  if (auto vision = top.object("vision_config", Presence::kOptional)) check_vision_config(*vision, sources, config);
  if (auto audio = top.object("audio_config", Presence::kOptional)) {
    if (audio->has("audio_token_id")) {
      config.audio_token_id = audio->integer("audio_token_id", {0, kVocabulary.high});
    }
    audio->finish(Unknown::kWarn);
  }
}

}  // namespace

void check_original_media(ObjectReader& top, const ConfigSources& sources, Config& config, ConfigNotes& notes) {
  check_embd_layer(top);
  check_audio_processor(top, config.audio);
  check_extras(top, sources, config);
  const LoraEntry vision = check_lora(top, "vision_lora");
  const LoraEntry speech = check_lora(top, "speech_lora");
  config.decoder.vision_lora = vision.lora;
  config.decoder.speech_lora = speech.lora;
  top.finish(Unknown::kWarn);
  // Without sound sizes there are no modules to hold the pattern against.
  if (config.decoder.num_layers == 0 || config.audio.num_blocks == 0 || config.vision.num_layers == 0) return;
  for (const LoraEntry* entry : {&vision, &speech}) {
    if (entry->layer == nullptr) continue;
    check_lora_targets(*entry->layer, find_lora_targets(*entry->layer, config, ""), entry->where, notes.reasons);
  }
}

}  // namespace omniphi::phi4mm

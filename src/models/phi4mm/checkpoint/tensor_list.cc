#include "models/phi4mm/checkpoint/tensor_list.h"

#include <string>
#include <tuple>

namespace omniphi::phi4mm {
namespace {

using List = TensorListBuilder;

void add_projection(List& list, const std::string& name, int64_t out, int64_t in, const DecoderConfig& config) {
  list.part = Part::kDecoder;
  list.add(name + ".base_layer.weight", {out, in});
  for (const auto& [part, branch, lora] : {std::tuple(Part::kVisionLora, "vision", &config.vision_lora),
                                           std::tuple(Part::kSpeechLora, "speech", &config.speech_lora)}) {
    list.part = part;
    list.add(name + ".lora_A." + branch + ".weight", {lora->rank, in});
    list.add(name + ".lora_B." + branch + ".weight", {out, lora->rank});
  }
  list.part = Part::kDecoder;
}

void add_decoder(List& list, const DecoderConfig& config) {
  const int64_t hidden = config.hidden_size;
  const int64_t head_dim = config.head_dim;
  const int64_t query = config.num_heads * head_dim;
  const int64_t qkv = query + 2 * config.num_kv_heads * head_dim;
  list.part = Part::kDecoder;
  list.add("model.embed_tokens.weight", {config.vocab_size, hidden});
  list.add("model.norm.weight", {hidden});
  for (int layer = 0; layer < config.num_layers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    list.add(prefix + "input_layernorm.weight", {hidden});
    list.add(prefix + "post_attention_layernorm.weight", {hidden});
    add_projection(list, prefix + "self_attn.qkv_proj", qkv, hidden, config);
    add_projection(list, prefix + "self_attn.o_proj", hidden, query, config);
    add_projection(list, prefix + "mlp.gate_up_proj", 2 * int64_t{config.intermediate_size}, hidden, config);
    add_projection(list, prefix + "mlp.down_proj", hidden, config.intermediate_size, config);
  }
}

void add_vision(List& list, const VisionConfig& config, int64_t hidden) {
  const int64_t width = config.hidden_size;
  const int64_t inner = config.intermediate_size;
  const int64_t side = config.image_size / config.patch_size;
  const std::string tower = kVisionTowerPrefix;
  list.part = Part::kVisionTower;
  list.conv(tower + "embeddings.patch_embedding", {width, 3, config.patch_size, config.patch_size});
  list.add(tower + "embeddings.position_embedding.weight", {side * side, width});
  for (int layer = 0; layer < config.num_layers; ++layer) {
    list.used = layer + 1 < config.num_layers;
    list.vision_block(tower + "encoder.layers." + std::to_string(layer) + ".", width, inner);
  }
  list.used = false;
  list.layer_norm(tower + "post_layernorm", width);
  list.add(tower + "head.probe", {1, 1, width});
  list.add(tower + "head.attention.in_proj_weight", {3 * width, width});
  list.add(tower + "head.attention.in_proj_bias", {3 * width});
  list.linear(tower + "head.attention.out_proj", width, width);
  list.layer_norm(tower + "head.layernorm", width);
  list.linear(tower + "head.mlp.fc1", inner, width);
  list.linear(tower + "head.mlp.fc2", width, inner);
  list.used = true;
  list.part = Part::kVisionProjector;
  const std::string embed = kImageEmbedPrefix;
  list.add(embed + "glb_GN", {1, 1, width});
  list.add(embed + "sub_GN", {1, 1, 1, width});
  list.linear(embed + "img_projection.0", hidden, width);
  list.linear(embed + "img_projection.2", hidden, hidden);
}

void add_conformer_block(List& list, const std::string& prefix, const AudioConfig& config) {
  const int64_t dim = config.attention_dim;
  for (const char* name : {"feed_forward_in", "feed_forward_out"}) {
    list.layer_norm(prefix + name + ".layer_norm", dim);
    list.linear(prefix + name + ".net.0.linear", 2 * int64_t{config.linear_units}, dim);
    list.linear(prefix + name + ".net.2", dim, config.linear_units);
  }
  for (const char* name : {"linear_q", "linear_k", "linear_v", "linear_out"}) {
    list.linear(prefix + "self_attn." + name, dim, dim);
  }
  list.layer_norm(prefix + "layer_norm_att", dim);
  list.layer_norm(prefix + "layer_norm", dim);
  list.layer_norm(prefix + "conv.layer_norm", dim);
  list.conv(prefix + "conv.glu.ext_pw_conv_1d", {2 * dim, dim, 1});
  list.add(prefix + "conv.glu.b1", {1, dim, 1});
  list.add(prefix + "conv.glu.b2", {1, dim, 1});
  list.conv(prefix + "conv.dw_sep_conv_1d.dw_conv", {dim, 1, config.kernel_size});
  list.conv(prefix + "conv.dw_sep_conv_1d.pw_conv", {dim, dim, 1});
  list.conv(prefix + "conv.ext_pw_conv_1d", {dim, dim, 1});
}

void add_audio(List& list, const AudioConfig& config, int64_t hidden) {
  const int64_t dim = config.attention_dim;
  const int64_t channels = config.conv_channels;
  const std::string encoder = std::string(kAudioEmbedPrefix) + "encoder.";
  list.part = Part::kAudioEncoder;
  list.add(encoder + "encoder_embedding.global_mean", {config.input_size});
  list.add(encoder + "encoder_embedding.global_invstd", {config.input_size});
  list.conv(encoder + "embed.conv.0", {channels, 1, 3, 3});
  for (const int stage : {2, 5}) {
    list.conv(encoder + "embed.conv." + std::to_string(stage), {channels, 1, 3, 3});
    list.conv(encoder + "embed.conv." + std::to_string(stage + 1), {channels, channels, 1, 1});
  }
  // Each halving of the mel axis rounds up.
  int64_t bins = config.input_size;
  for (int factor = config.time_reduction; factor > 1; factor /= 2) bins = (bins + 1) / 2;
  list.linear(encoder + "embed.out", dim, channels * bins);
  list.add(encoder + "relative_attention_bias_layer.bias_values.weight",
           {2 * int64_t{config.bias_reach}, config.num_heads});
  for (int block = 0; block < config.num_blocks; ++block) {
    add_conformer_block(list, encoder + "encoders." + std::to_string(block) + ".", config);
  }
  list.part = Part::kAudioProjector;
  for (const char* head : {"speech", "vision"}) {
    const std::string name = std::string(kAudioEmbedPrefix) + "audio_projection." + head;
    list.linear(name + ".0", hidden, dim);
    list.linear(name + ".2", hidden, hidden);
  }
}

}  // namespace

std::vector<ExpectedTensor> expected_tensors(const Config& config) {
  std::vector<ExpectedTensor> tensors;
  List list(tensors);
  add_decoder(list, config.decoder);
  add_vision(list, config.vision, config.decoder.hidden_size);
  add_audio(list, config.audio, config.decoder.hidden_size);
  return tensors;
}

}  // namespace omniphi::phi4mm

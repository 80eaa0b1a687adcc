#include "models/phi3v/checkpoint/tensor_list.h"

#include <string>

namespace omniphi::phi3v {
namespace {

void add_decoder(TensorListBuilder& list, const DecoderConfig& config) {
  const int64_t hidden = config.hidden_size;
  const int64_t query = int64_t{config.num_heads} * config.head_dim;
  const int64_t qkv = query + int64_t{2} * config.num_kv_heads * config.head_dim;
  list.part = Part::kDecoder;
  list.add("model.embed_tokens.weight", {config.vocab_size, hidden});
  list.add("model.norm.weight", {hidden});
  list.add("lm_head.weight", {config.vocab_size, hidden});
  for (int layer = 0; layer < config.num_layers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    list.add(prefix + "input_layernorm.weight", {hidden});
    list.add(prefix + "post_attention_layernorm.weight", {hidden});
    list.add(prefix + "self_attn.qkv_proj.weight", {qkv, hidden});
    list.add(prefix + "self_attn.o_proj.weight", {hidden, query});
    list.add(prefix + "mlp.gate_up_proj.weight", {2 * int64_t{config.intermediate_size}, hidden});
    list.add(prefix + "mlp.down_proj.weight", {hidden, config.intermediate_size});
  }
}

void add_tower(TensorListBuilder& list, const VisionConfig& config) {
  const int64_t width = config.hidden_size;
  const int64_t side = config.image_size / config.patch_size;
  const std::string tower = kVisionTowerPrefix;
  list.part = Part::kVisionTower;
  list.add(tower + "embeddings.class_embedding", {width});
  list.add(tower + "embeddings.patch_embedding.weight", {width, 3, config.patch_size, config.patch_size});
  list.add(tower + "embeddings.position_embedding.weight", {side * side + 1, width});
  list.layer_norm(tower + "pre_layrnorm", width);
  for (int layer = 0; layer < config.num_layers; ++layer) {
    list.used = layer + 1 < config.num_layers;
    list.vision_block(tower + "encoder.layers." + std::to_string(layer) + ".", width, config.intermediate_size);
  }
  list.used = false;
  list.layer_norm(tower + "post_layernorm", width);
  list.used = true;
}

void add_projector(TensorListBuilder& list, int64_t width, int64_t hidden) {
  const std::string embed = kImageEmbedPrefix;
  const int64_t merged = 4 * width;  // 2x2 patches side by side
  list.part = Part::kVisionProjector;
  list.add(embed + "glb_GN", {1, 1, merged});
  list.add(embed + "sub_GN", {1, 1, 1, merged});
  list.linear(embed + "img_projection.0", hidden, merged);
  list.linear(embed + "img_projection.2", hidden, hidden);
}

}  // namespace

std::vector<ExpectedTensor> expected_tensors(const Config& config) {
  std::vector<ExpectedTensor> tensors;
  TensorListBuilder list(tensors);
  add_decoder(list, config.decoder);
  add_tower(list, config.vision);
  add_projector(list, config.vision.hidden_size, config.decoder.hidden_size);
  return tensors;
}

bool is_ignored_tensor(std::string_view name) {
  return name == "model.vision_embed_tokens.wte.weight" ||
         (name.starts_with(kVisionTowerPrefix) && name.ends_with(".position_ids"));
}

}  // namespace omniphi::phi3v

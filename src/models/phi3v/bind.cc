#include "models/phi3v/bind.h"

#include <string>

namespace omniphi::phi3v {
namespace {

Clip bind_clip(const ModelCheckpoint& checkpoint) {
  const VisionConfig& config = checkpoint.config().vision;
  const std::string tower = kVisionTowerPrefix;
  Clip clip;
  clip.width = config.hidden_size;
  clip.heads = config.num_heads;
  clip.image_size = config.image_size;
  clip.patch_size = config.patch_size;
  clip.class_embedding = bind_weight(checkpoint, tower + "embeddings.class_embedding");
  clip.patch_embedding = Linear(checkpoint.tensor(tower + "embeddings.patch_embedding.weight"));
  clip.position_embedding = bind_weight(checkpoint, tower + "embeddings.position_embedding.weight");
  clip.pre_layernorm = bind_layer_norm(checkpoint, tower + "pre_layrnorm", config.layer_norm_eps);
  for (int i = 0; i + 1 < config.num_layers; ++i) {
    const std::string prefix = tower + "encoder.layers." + std::to_string(i) + ".";
    clip.blocks.push_back(bind_vit_block(checkpoint, prefix, config.layer_norm_eps));
  }
  return clip;
}

}  // namespace

Decoder bind_decoder(const ModelCheckpoint& checkpoint) {
  Decoder decoder = omniphi::bind_decoder(
      checkpoint, [&](const std::string& prefix) { return Linear(checkpoint.tensor(prefix + ".weight")); });
  decoder.lm_head = bind_weight(checkpoint, "lm_head.weight");
  return decoder;
}

ImageEmbed bind_image_embed(const ModelCheckpoint& checkpoint) {
  const std::string embed = kImageEmbedPrefix;
  ImageEmbed image;
  image.clip = bind_clip(checkpoint);
  image.sub_gn = bind_weight(checkpoint, embed + "sub_GN");
  image.glb_gn = bind_weight(checkpoint, embed + "glb_GN");
  image.projection = bind_projector(checkpoint, embed + "img_projection");
  return image;
}

}  // namespace omniphi::phi3v

#include "models/phi4mm/bind.h"

#include <string>

namespace omniphi::phi4mm {
namespace {

constexpr const char* kImage = "model.embed_tokens_extend.image_embed.";
constexpr const char* kAudioEncoder = "model.embed_tokens_extend.audio_embed.encoder.";
constexpr float kConformerEps = 1e-5f;

// A decoder projection with its vision and speech branches, in the order of Adapter.
Linear bind_lora_linear(const ModelCheckpoint& checkpoint, const std::string& prefix) {
  Linear linear(checkpoint.tensor(prefix + ".base_layer.weight"));
  const DecoderConfig& config = checkpoint.config().decoder;
  const auto add = [&](const char* name, const LoraConfig& lora) {
    LoraBranch branch;
    branch.a = bind_weight(checkpoint, prefix + ".lora_A." + name + ".weight");
    branch.b = bind_weight(checkpoint, prefix + ".lora_B." + name + ".weight");
    branch.rank = lora.rank;
    branch.scale = lora.scale();
    linear.adapters.push_back(branch);
  };
  add("vision", config.vision_lora);
  add("speech", config.speech_lora);
  return linear;
}

ConformerFeedForward bind_feed_forward(const ModelCheckpoint& checkpoint, const std::string& prefix) {
  ConformerFeedForward ff;
  ff.layer_norm = bind_layer_norm(checkpoint, prefix + ".layer_norm", kConformerEps);
  ff.up = bind_linear(checkpoint, prefix + ".net.0.linear");
  ff.down = bind_linear(checkpoint, prefix + ".net.2");
  return ff;
}

ConformerConvolution bind_convolution(const ModelCheckpoint& checkpoint, const std::string& prefix) {
  ConformerConvolution conv;
  conv.layer_norm = bind_layer_norm(checkpoint, prefix + ".layer_norm", kConformerEps);
  conv.glu = bind_linear(checkpoint, prefix + ".glu.ext_pw_conv_1d");
  conv.glu_b1 = bind_weight(checkpoint, prefix + ".glu.b1");
  conv.glu_b2 = bind_weight(checkpoint, prefix + ".glu.b2");
  conv.dw_conv = bind_weight(checkpoint, prefix + ".dw_sep_conv_1d.dw_conv.weight");
  conv.dw_conv_bias = bind_weight(checkpoint, prefix + ".dw_sep_conv_1d.dw_conv.bias");
  conv.pw_conv = bind_linear(checkpoint, prefix + ".dw_sep_conv_1d.pw_conv");
  conv.ext_pw_conv = bind_linear(checkpoint, prefix + ".ext_pw_conv_1d");
  return conv;
}

ConformerBlock bind_conformer_block(const ModelCheckpoint& checkpoint, const std::string& prefix) {
  ConformerBlock block;
  block.feed_forward_in = bind_feed_forward(checkpoint, prefix + "feed_forward_in");
  block.feed_forward_out = bind_feed_forward(checkpoint, prefix + "feed_forward_out");
  block.layer_norm_att = bind_layer_norm(checkpoint, prefix + "layer_norm_att", kConformerEps);
  block.linear_q = bind_linear(checkpoint, prefix + "self_attn.linear_q");
  block.linear_k = bind_linear(checkpoint, prefix + "self_attn.linear_k");
  block.linear_v = bind_linear(checkpoint, prefix + "self_attn.linear_v");
  block.linear_out = bind_linear(checkpoint, prefix + "self_attn.linear_out");
  block.conv = bind_convolution(checkpoint, prefix + "conv");
  block.layer_norm = bind_layer_norm(checkpoint, prefix + "layer_norm", kConformerEps);
  return block;
}

// bias_values.weight is [2 * reach, heads]; the kernel reads one head's biases side by side.
std::vector<float> transposed_bias(const View& values) {
  const int64_t positions = values.shape[0], heads = values.shape[1];
  std::vector<float> transposed(static_cast<size_t>(positions * heads));
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t h = 0; h < heads; ++h) {
      transposed[static_cast<size_t>(h * positions + p)] = view_at(values, p * heads + h);
    }
  }
  return transposed;
}

}  // namespace

Decoder bind_decoder(const ModelCheckpoint& checkpoint) {
  Decoder decoder = omniphi::bind_decoder(
      checkpoint, [&](const std::string& prefix) { return bind_lora_linear(checkpoint, prefix); });
  decoder.lm_head = decoder.embed_tokens;
  return decoder;
}

Siglip bind_siglip(const ModelCheckpoint& checkpoint) {
  const VisionConfig& config = checkpoint.config().vision;
  const std::string tower = std::string(kImage) + "img_processor.";
  Siglip siglip;
  siglip.width = config.hidden_size;
  siglip.heads = config.num_heads;
  siglip.image_size = config.image_size;
  siglip.patch_size = config.patch_size;
  siglip.patch_embedding = bind_linear(checkpoint, tower + "embeddings.patch_embedding");
  siglip.position_embedding = bind_weight(checkpoint, tower + "embeddings.position_embedding.weight");
  for (int i = 0; i + 1 < config.num_layers; ++i) {
    const std::string prefix = tower + "encoder.layers." + std::to_string(i) + ".";
    siglip.blocks.push_back(bind_vit_block(checkpoint, prefix, config.layer_norm_eps));
  }
  return siglip;
}

Conformer bind_conformer(const ModelCheckpoint& checkpoint) {
  const AudioConfig& config = checkpoint.config().audio;
  const std::string encoder = kAudioEncoder;
  Conformer conformer;
  conformer.width = config.attention_dim;
  conformer.heads = config.num_heads;
  conformer.kernel_size = config.kernel_size;
  conformer.mel = config.input_size;
  conformer.chunk_size = config.chunk_size;
  conformer.left_chunk = config.left_chunk;
  conformer.global_mean = bind_weight(checkpoint, encoder + "encoder_embedding.global_mean");
  conformer.global_invstd = bind_weight(checkpoint, encoder + "encoder_embedding.global_invstd");
  ConformerSubsampling& sub = conformer.subsampling;
  sub.channels = config.conv_channels;
  sub.conv0 = bind_weight(checkpoint, encoder + "embed.conv.0.weight");
  sub.conv0_bias = bind_weight(checkpoint, encoder + "embed.conv.0.bias");
  sub.conv2 = bind_weight(checkpoint, encoder + "embed.conv.2.weight");
  sub.conv2_bias = bind_weight(checkpoint, encoder + "embed.conv.2.bias");
  sub.conv3 = bind_linear(checkpoint, encoder + "embed.conv.3");
  sub.conv5 = bind_weight(checkpoint, encoder + "embed.conv.5.weight");
  sub.conv5_bias = bind_weight(checkpoint, encoder + "embed.conv.5.bias");
  sub.conv6 = bind_linear(checkpoint, encoder + "embed.conv.6");
  sub.out = bind_linear(checkpoint, encoder + "embed.out");
  conformer.bias_reach = config.bias_reach;
  conformer.relative_bias =
      transposed_bias(checkpoint.tensor(encoder + "relative_attention_bias_layer.bias_values.weight"));
  for (int i = 0; i < config.num_blocks; ++i) {
    conformer.blocks.push_back(bind_conformer_block(checkpoint, encoder + "encoders." + std::to_string(i) + "."));
  }
  return conformer;
}

}  // namespace omniphi::phi4mm

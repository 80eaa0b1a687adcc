#include "cli/plan/costs.h"

#include <algorithm>

namespace omniphi::cli {
namespace {

constexpr double kBytesPerFloat = 4;
constexpr int64_t kAudioWindow = 500;  // frames that attend to each other

double patches_per_crop(const ModelConfig& config) {
  const double side = config.vision.image_size / config.vision.patch_size;
  return side * side;
}

double total_crops(const Plan& plan) {
  double crops = 0;
  for (const ImageLayout& layout : plan.images) crops += layout.crops;
  return crops;
}

double vision_tower_flops(const ModelConfig& config, const Plan& plan) {
  const double n = patches_per_crop(config), d = config.vision.hidden_size, m = config.vision.intermediate_size;
  const double patch = 3.0 * config.vision.patch_size * config.vision.patch_size;
  const double block = 2 * n * (4 * d * d + 2 * d * m) + 4 * n * n * d;
  return total_crops(plan) * (2 * n * patch * d + (config.vision.num_layers - 1) * block);
}

// Width of a row of the image projector's input.
double merged_width(const ModelFamily& family, const ModelConfig& config) {
  return static_cast<double>(family.merged_features) * config.vision.hidden_size;
}

double projector_flops(double rows, double width, double hidden) {
  return 2 * rows * (width * hidden + hidden * hidden);
}

double audio_encoder_flops(const ModelConfig& config, double tokens) {
  const double a = config.audio.attention_dim, f = config.audio.linear_units, c = config.audio.conv_channels;
  const double mel = config.audio.input_size;
  // Convolutions on planes of (4, 2, 1) x tokens times (1/2, 1/4, 1/8) of the mel channels.
  const double planes = 2 * 9 * c * (4 * mel / 2 + 2 * mel / 4 + mel / 8) * tokens +
                        2 * c * c * (2 * mel / 4 + mel / 8) * tokens + 2 * c * (mel / 8) * a * tokens;
  const double products = 2 * tokens * (6 * a * f + 8 * a * a + config.audio.kernel_size * a);
  const double attention = 4 * tokens * std::min<double>(tokens, kAudioWindow) * a;
  return planes + config.audio.num_blocks * (products + attention);
}

struct DecoderCounts {
  double parameters = 0;  // of one layer's four projections
  double lora = 0;        // of one layer's LoRA branch at rank 1
  double attention = 0;   // multiplications and additions per query and key, all heads
};

DecoderCounts decoder_counts(const ModelConfig& config) {
  const DecoderConfig& d = config.decoder;
  const double hidden = d.hidden_size, mlp = d.intermediate_size;
  const double q = static_cast<double>(d.num_heads) * d.head_dim;
  const double kv = static_cast<double>(d.num_kv_heads) * d.head_dim;
  DecoderCounts counts;
  counts.parameters = hidden * (q + 2 * kv) + q * hidden + hidden * 2 * mlp + mlp * hidden;
  counts.lora = (hidden + q + 2 * kv) + (q + hidden) + (hidden + 2 * mlp) + (mlp + hidden);
  counts.attention = 4 * q;
  return counts;
}

// Rank of the LoRA branch that the planned media choose.
int lora_rank(const ModelConfig& config, const Plan& plan) {
  if (!plan.images.empty()) return config.decoder.vision_lora.rank;
  return plan.audio_tokens > 0 ? config.decoder.speech_lora.rank : 0;
}

}  // namespace

Shares prefill_flops(const ModelFamily& family, const ModelConfig& config, const Plan& plan) {
  const DecoderCounts counts = decoder_counts(config);
  const auto n = static_cast<double>(plan.prompt_tokens());
  const double layers = config.decoder.num_layers, hidden = config.decoder.hidden_size;
  Shares shares;
  shares.emplace_back("vision tower", vision_tower_flops(config, plan));
  shares.emplace_back("vision projector",
                      projector_flops(static_cast<double>(plan.image_tokens), merged_width(family, config), hidden));
  shares.emplace_back("audio encoder", audio_encoder_flops(config, static_cast<double>(plan.audio_tokens)));
  shares.emplace_back("audio projector",
                      projector_flops(static_cast<double>(plan.audio_tokens), config.audio.attention_dim, hidden));
  shares.emplace_back("decoder products", 2 * n * layers * counts.parameters);
  shares.emplace_back("decoder LoRA", 2 * n * layers * counts.lora * lora_rank(config, plan));
  shares.emplace_back("decoder attention", layers * counts.attention * n * (n + 1) / 2);
  shares.emplace_back("head", 2 * hidden * config.decoder.vocab_size);  // the last position alone
  return shares;
}

double decode_flops(const ModelConfig& config, const Plan& plan, int64_t context) {
  const DecoderCounts counts = decoder_counts(config);
  const double layer = 2 * counts.parameters + 2 * counts.lora * lora_rank(config, plan) +
                       counts.attention * static_cast<double>(context + 1);
  return config.decoder.num_layers * layer + 2.0 * config.decoder.hidden_size * config.decoder.vocab_size;
}

Shares weight_bytes(const ModelFamily& family, const ModelConfig& config) {
  std::vector<double> parts(kNumParts, 0);
  for (const ExpectedTensor& tensor : family.expected_tensors(config)) {
    parts[static_cast<size_t>(tensor.part)] += 2.0 * static_cast<double>(tensor.shape.count());
  }
  Shares shares;
  for (size_t part = 0; part < parts.size(); ++part) {
    if (parts[part] > 0) shares.emplace_back(part_name(static_cast<Part>(part)), parts[part]);
  }
  return shares;
}

Shares working_bytes(const ModelFamily& family, const ModelConfig& config, const Plan& plan, int64_t prefill_chunk) {
  const DecoderConfig& d = config.decoder;
  const double pixels = 3.0 * config.vision.image_size * config.vision.image_size;
  const double n = patches_per_crop(config);
  const double rows = static_cast<double>(std::min(prefill_chunk, plan.prompt_tokens()));
  const double qkv = static_cast<double>(d.num_heads + 2 * d.num_kv_heads) * d.head_dim;
  const double tower =
      plan.images.empty() ? 0 : n * (5.0 * config.vision.hidden_size + config.vision.intermediate_size);
  const double merged =
      (total_crops(plan) * n / 4 + static_cast<double>(plan.image_tokens)) * merged_width(family, config);
  Shares shares;
  shares.emplace_back("pixels", kBytesPerFloat * total_crops(plan) * pixels);
  shares.emplace_back("vision tower", kBytesPerFloat * (tower + merged));
  shares.emplace_back("audio features",
                      kBytesPerFloat * static_cast<double>(plan.audio_tokens) * 8 * config.audio.input_size);
  shares.emplace_back("media embeddings",
                      kBytesPerFloat * static_cast<double>(plan.image_tokens + plan.audio_tokens) * d.hidden_size);
  shares.emplace_back("decoder activations",
                      kBytesPerFloat * rows * (3.0 * d.hidden_size + qkv + 3.0 * d.intermediate_size));
  shares.emplace_back("logits", kBytesPerFloat * d.vocab_size);
  return shares;
}

}  // namespace omniphi::cli

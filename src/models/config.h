// What a checkpoint's configuration says after every rule has been checked: the same fields for all families.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace omniphi {

struct LoraConfig {
  int rank = 0;  // 0: the family has no such branch
  float alpha = 0;
  // Factor of B(A(x)): alpha / rank.
  float scale() const { return alpha / static_cast<float>(rank); }
};

struct DecoderConfig {
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int num_layers = 0;
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;  // hidden_size / num_heads
  int rotary_dim =
      0;  // leading dimensions of a head that LongRoPE turns: trunc(head_dim * partial_rotary_factor), even
  float rms_norm_eps = 0;
  double rope_theta = 0;
  int original_max_position_embeddings = 0;  // longest sequence that uses the short factors
  int max_position_embeddings = 0;
  std::vector<double> short_factor;  // [rotary_dim / 2]
  std::vector<double> long_factor;   // [rotary_dim / 2]
  LoraConfig vision_lora;
  LoraConfig speech_lora;
  // A query sees itself and this many keys before it, as the publisher's code masks (others count itself among them).
  // 0: no window, or one that no two positions of the context are further apart than, as in all releases.
  int sliding_window = 0;
};

// SigLIP or CLIP.
struct VisionConfig {
  int hidden_size = 0;
  int intermediate_size = 0;
  int num_layers = 0;  // blocks in the checkpoint; the last one is never run
  int num_heads = 0;
  int image_size = 0;  // side of a crop in pixels
  int patch_size = 14;
  float layer_norm_eps = 0;
  int max_crops = 0;  // local crops of an image unless a request says otherwise: dynamic_hd, num_crops
};

// Conformer.
struct AudioConfig {
  int attention_dim = 0;
  int num_heads = 0;
  int linear_units = 0;   // half the width of the feed-forward's first product
  int num_blocks = 0;     // 0: the family hears nothing
  int conv_channels = 0;  // of the subsampling front end
  int kernel_size = 3;    // of the causal depthwise convolution
  int input_size = 80;    // mel channels
  int time_reduction = 8;
  int chunk_size = -1;  // <= 0: no limit
  int left_chunk = 18;
  int bias_reach = 500;  // relative positions are clamped to [-reach, reach - 1]
};

struct ModelConfig {
  DecoderConfig decoder;
  VisionConfig vision;
  AudioConfig audio;
  int32_t image_token_id = 0;          // Phi-4-multimodal: <|endoftext10|>; Phi-3-vision's slots have negative ids
  int32_t audio_token_id = 0;          // Phi-4-multimodal: <|endoftext11|>
  int32_t bos_token_id = 0;            // Phi-3-vision: <s> stands before every chunk of a prompt that pictures cut
  std::vector<int32_t> eos_token_ids;  // generation stops at these: generation_config.json, else the family's own

  bool hears() const { return audio.num_blocks > 0; }
};

}  // namespace omniphi

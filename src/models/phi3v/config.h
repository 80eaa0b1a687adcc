// What a Phi-3-vision or Phi-3.5-vision checkpoint's configuration says, after every rule has been checked.
#pragma once

#include <cstdint>
#include <vector>

namespace omniphi::phi3v {

struct DecoderConfig {
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int num_layers = 0;
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;  // hidden_size / num_heads, even; LongRoPE turns all of it
  float rms_norm_eps = 0;
  double rope_theta = 0;
  int original_max_position_embeddings = 0;  // longest sequence that uses the short factors
  int max_position_embeddings = 0;
  std::vector<double> short_factor;  // [head_dim / 2]
  std::vector<double> long_factor;   // [head_dim / 2]
  // A query sees itself and this many keys before it, as the publisher's code masks (others count itself among them).
  // 0: no window, or one that no two positions of the context are further apart than, as in both releases.
  int sliding_window = 0;
};

// CLIP. The defaults are openai/clip-vit-large-patch14-336, which the releases imply by its name.
struct VisionConfig {
  int hidden_size = 1024;
  int intermediate_size = 4096;
  int num_layers = 24;  // blocks in the checkpoint; the last one is never run
  int num_heads = 16;
  int image_size = 336;  // side of a crop in pixels
  int patch_size = 14;
  float layer_norm_eps = 1e-5f;
  int max_crops = 1;  // preprocessor_config.json: num_crops
};

struct Config {
  DecoderConfig decoder;
  VisionConfig vision;
  int32_t bos_token_id = 1;            // <s>: stands before every chunk of a prompt that pictures cut
  std::vector<int32_t> eos_token_ids;  // generation stops at these: generation_config.json, else <|end|>, <|endoftext|>
};

}  // namespace omniphi::phi3v

#include "base/error.h"
#include "models/phi4mm/checkpoint/synth.h"

namespace omniphi::phi4mm {
namespace {

// Values of the released config.json, and for SigLIP those of the released code.
Config released() {
  Config config;
  DecoderConfig& d = config.decoder;
  d.vocab_size = 200'064;
  d.hidden_size = 3072;
  d.intermediate_size = 8192;
  d.num_layers = 32;
  d.num_heads = 24;
  d.num_kv_heads = 8;
  d.head_dim = 128;
  d.rotary_dim = 96;
  d.rms_norm_eps = 1e-5f;
  d.rope_theta = 10'000;
  d.original_max_position_embeddings = 4096;
  d.max_position_embeddings = 131'072;
  d.short_factor.assign(48, 1.0);
  d.long_factor = {1,           1.118320672, 1.250641126, 1.398617824, 1.564103225, 1.74916897,  1.956131817,
                   2.187582649, 2.446418898, 2.735880826, 3.059592084, 3.421605075, 3.826451687, 4.279200023,
                   4.785517845, 5.351743533, 5.984965424, 6.693110555, 7.485043894, 8.370679318, 9.36110372,
                   10.4687158,  11.70738129, 13.09260651, 14.64173252, 16.37415215, 18.31155283, 20.47818807,
                   22.90118105, 25.61086418, 28.64115884, 32.03,       32.1,        32.13,       32.23,
                   32.6,        32.61,       32.64,       32.66,       32.7,        32.71,       32.93,
                   32.97,       33.28,       33.49,       33.5,        44.16,       47.77};
  d.vision_lora = {256, 512};
  d.speech_lora = {320, 640};
  config.vision = {1152, 4304, 27, 16, 448, 14, 1e-6f, 36};
  config.audio = {1024, 16, 1536, 24, 1024, 3, 80, 8, -1, 18, 500};
  config.image_token_id = 200'010;
  config.audio_token_id = 200'011;
  config.eos_token_ids = {200'020, 199'999};
  return config;
}

// The same traits (grouped heads, partial rotary, two ranks with two scales, an unused last block, special ids in the
// released order behind 1,534 text ids) at the sizes of the golden checkpoint.
Config tiny() {
  Config config = released();
  DecoderConfig& d = config.decoder;
  d.vocab_size = 1600;
  d.hidden_size = 96;
  d.intermediate_size = 192;
  d.num_layers = 3;
  d.num_heads = 6;
  d.num_kv_heads = 2;
  d.head_dim = 16;
  d.rotary_dim = 12;
  d.original_max_position_embeddings = 640;
  d.max_position_embeddings = 20'480;
  d.short_factor = {1.0, 1.03, 1.03, 1.09, 1.06, 1.15};
  d.long_factor = {1.0, 5.4, 10.6, 13.0, 18.6, 25.0};
  d.vision_lora = {8, 16};
  d.speech_lora = {10, 30};
  config.vision = {144, 256, 3, 2, 448, 14, 1e-6f, 36};
  config.audio = {64, 4, 96, 3, 64, 3, 80, 8, -1, 18, 500};
  config.image_token_id = 1546;
  config.audio_token_id = 1547;
  config.eos_token_ids = {1556, 1535};
  return config;
}

}  // namespace

Config preset_config(const std::string& name) {
  if (name == "phi4mm") return released();
  if (name == "tiny") return tiny();
  throw Error(ErrorKind::kUsage, "--preset", name, "phi4mm or tiny");
}

}  // namespace omniphi::phi4mm

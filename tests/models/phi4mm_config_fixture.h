// A valid configuration in either layout, for tests that break it.
#pragma once

#include <optional>
#include <string>

#include "base/file.h"
#include "io/json.h"
#include "models/phi4mm/checkpoint/config_rules.h"

namespace omniphi::phi4mm {

using nlohmann::json;

inline json released_config() {
  const std::string path = OMNIPHI_SOURCE_DIR "/tests/data/configs/phi4mm_config.json";
  return json::parse(read_file(path, 1 << 20, ErrorKind::kInternal));
}

inline TokenizerFacts released_tokenizer() {
  TokenizerFacts facts;
  facts.added = {{"<|endoftext|>", 199999}, {"<|endoftext10|>", 200010}, {"<|endoftext11|>", 200011}};
  facts.max_id = 200028;
  facts.max_token = "<|tag|>";
  return facts;
}

inline json adapter_config(int rank, int alpha) {
  return {{"peft_type", "LORA"},
          {"r", rank},
          {"lora_alpha", alpha},
          {"bias", "none"},
          {"target_modules", "model.layers.\\d+.((self_attn.(qkv|o)_proj)|(mlp.(gate_up|down)_proj))"}};
}

// The release in transformers' own form, as its configuration class spells it.
inline json native_config() {
  const json original = released_config();
  json rope = original["rope_scaling"];
  rope["rope_type"] = "longrope";
  rope["rope_theta"] = 10000.0;
  rope["partial_rotary_factor"] = 0.75;
  return {{"model_type", "phi4_multimodal"},
          {"architectures", {"Phi4MultimodalForCausalLM"}},
          {"num_attention_heads", 24},
          {"tie_word_embeddings", true},
          {"eos_token_id", {199999, 200020}},
          {"rope_parameters", rope},
          {"vision_config", {{"model_type", "phi4_multimodal_vision"}}},
          {"audio_config", {{"model_type", "phi4_multimodal_audio"}, {"bias_max_distance", 500}}}};
}

inline ConfigSources released_sources() {
  ConfigSources sources;
  sources.config = released_config();
  sources.generation = json{{"eos_token_id", {200020, 199999}}};
  sources.preprocessor = json{{"dynamic_hd", 36}, {"audio_compression_rate", 8}};
  sources.tokenizer = released_tokenizer();
  return sources;
}

inline ConfigSources native_sources() {
  ConfigSources sources = released_sources();
  sources.config = native_config();
  sources.vision_adapter = adapter_config(256, 512);
  sources.speech_adapter = adapter_config(320, 640);
  return sources;
}

struct Checked {
  Config config;
  ConfigNotes notes;
};

inline Checked check(const ConfigSources& sources) {
  Checked checked;
  const std::optional<Layout> layout = read_layout(sources.config, checked.notes);
  if (layout) checked.config = check_config(sources, *layout, checked.notes);
  return checked;
}

}  // namespace omniphi::phi4mm

// Rewrites a Phi-4-multimodal checkpoint of the original layout as transformers and PEFT would save it.
//
// Tensor names come from tests/data/configs/phi4mm_native_tensors.tsv, recorded from those libraries by
// tools/make_native_checkpoint.py: independent of the renaming under test. Link omniphi_io.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "io/json.h"
#include "io/safetensors_writer.h"
#include "io/shards.h"

namespace omniphi::testing {

struct NativeOptions {
  // transformers 5.x writes rope_parameters, 4.x rope_scaling with rope_theta and partial_rotary_factor beside it.
  enum class Rope { kParameters, kScaling } rope = Rope::kParameters;
  // PEFT writes its wrapper's name in front of every tensor; the publisher's converted release doesn't.
  enum class AdapterNames { kWithPrefix, kPlain } adapter_names = AdapterNames::kWithPrefix;
};

namespace native_layout_detail {

using nlohmann::json;

struct Recorded {
  std::string file;  // "model", "vision-lora" or "speech-lora"
  std::string name;
};

inline std::map<std::string, Recorded> read_recorded_names() {
  std::map<std::string, Recorded> names;
  std::ifstream in(OMNIPHI_SOURCE_DIR "/tests/data/configs/phi4mm_native_tensors.tsv");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string original;
    Recorded recorded;
    fields >> original >> recorded.file >> recorded.name;
    names[original] = recorded;
  }
  return names;
}

inline json native_config(const json& original, NativeOptions::Rope rope_form) {
  const json& audio = original["audio_processor"]["config"];
  json config = {{"model_type", "phi4_multimodal"}, {"architectures", {"Phi4MultimodalForCausalLM"}}};
  for (const char* key : {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
                          "num_key_value_heads", "max_position_embeddings", "original_max_position_embeddings",
                          "rms_norm_eps", "tie_word_embeddings", "eos_token_id", "sliding_window", "hidden_act"}) {
    config[key] = original[key];
  }
  json rope = original["rope_scaling"];
  if (rope_form == NativeOptions::Rope::kParameters) {
    rope["rope_type"] = "longrope";
    rope["rope_theta"] = original["rope_theta"];
    rope["partial_rotary_factor"] = original["partial_rotary_factor"];
    rope["original_max_position_embeddings"] = original["original_max_position_embeddings"];
    config["rope_parameters"] = rope;
  } else {
    config["rope_theta"] = original["rope_theta"];
    config["partial_rotary_factor"] = original["partial_rotary_factor"];
    config["rope_scaling"] = rope;
  }
  config["vision_config"] = original.value("vision_config", json::object());
  config["vision_config"]["model_type"] = "phi4_multimodal_vision";
  config["audio_config"] = {
      {"model_type", "phi4_multimodal_audio"},
      {"hidden_size", audio["attention_dim"]},
      {"num_attention_heads", audio["attention_heads"]},
      {"intermediate_size", audio["linear_units"]},
      {"nemo_conv_channels", audio["nemo_conv_settings"]["conv_channels"]},
      {"bias_max_distance", audio["relative_attention_bias_args"]["t5_bias_max_distance"]},
      {"ext_pw_out_channel", audio["ext_pw_out_channel"]},
      {"depthwise_separable_out_channel", audio["depthwise_seperable_out_channel"]},
      {"num_blocks", audio["num_blocks"]},
      {"kernel_size", audio["kernel_size"]},
      {"chunk_size", audio["chunk_size"]},
      {"left_chunk", audio["left_chunk"]},
  };
  if (original.contains("audio_config")) config["audio_config"].update(original["audio_config"]);
  return config;
}

inline json adapter_config(const json& lora) {
  return {{"peft_type", "LORA"},
          {"r", lora["r"]},
          {"lora_alpha", lora["lora_alpha"]},
          {"lora_dropout", 0.0},
          {"bias", "none"},
          {"use_rslora", false},
          {"target_modules", "model.layers.\\d+.((self_attn.(qkv|o)_proj)|(mlp.(gate_up|down)_proj))"}};
}

}  // namespace native_layout_detail

// Reads `original` (a folder of the original layout) and writes `target` (made if needed): weights, adapters, the three
// configurations, and copies of generation_config.json, preprocessor_config.json and the tokenizer files.
inline void write_native_checkpoint(const std::filesystem::path& original, const std::filesystem::path& target,
                                    const NativeOptions& options = {}) {
  using namespace native_layout_detail;
  namespace fs = std::filesystem;
  constexpr size_t kMaxConfig = 1 << 24;
  const json config = read_json(original / "config.json", kMaxConfig, ErrorKind::kInternal);
  fs::create_directories(target / "vision-lora");
  fs::create_directories(target / "speech-lora");
  write_file(target / "config.json", native_config(config, options.rope).dump(1));
  write_file(target / "vision-lora" / "adapter_config.json", adapter_config(config["vision_lora"]).dump(1));
  write_file(target / "speech-lora" / "adapter_config.json", adapter_config(config["speech_lora"]).dump(1));
  for (const fs::directory_entry& entry : fs::directory_iterator(original)) {
    const std::string name = entry.path().filename().string();
    if (name == "config.json" || name.find("safetensors") != std::string::npos) continue;
    fs::copy_file(entry.path(), target / name, fs::copy_options::overwrite_existing);
    fs::permissions(target / name, fs::perms::owner_write, fs::perm_options::add);
  }
  const std::map<std::string, Recorded> recorded = read_recorded_names();
  const Shards shards = Shards::open(original);
  std::map<std::string, std::vector<NamedView>> files;
  for (const std::string& name : shards.names()) {
    const Recorded& native = recorded.at(name);
    std::string stored = native.name;
    if (native.file != "model" && options.adapter_names == NativeOptions::AdapterNames::kPlain) {
      stored.erase(0, std::string("base_model.model.").size());
    }
    const Shards::Location at = shards.find(name);
    files[native.file].push_back({stored, at.file->view(*at.entry)});
  }
  write_safetensors(target / "model.safetensors", files["model"], {{"format", "pt"}});
  for (const char* adapter : {"vision-lora", "speech-lora"}) {
    write_safetensors(target / adapter / "adapter_model.safetensors", files[adapter], {{"format", "pt"}});
  }
}

}  // namespace omniphi::testing

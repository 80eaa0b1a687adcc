#include "models/phi4mm/checkpoint/config_rules.h"
#include "models/phi4mm/checkpoint/lora_rules.h"
#include "models/phi4mm/checkpoint/names.h"

namespace omniphi::phi4mm {
namespace {

using nlohmann::json;

// What changes the arithmetic of a LoRA layer, or where it sits; each must be off.
constexpr const char* kVariants[] = {"use_rslora",
                                     "use_dora",
                                     "use_qalora",
                                     "use_bdlora",
                                     "lora_bias",
                                     "fan_in_fan_out",
                                     "modules_to_save",
                                     "rank_pattern",
                                     "alpha_pattern",
                                     "layers_to_transform",
                                     "layers_pattern",
                                     "exclude_modules",
                                     "layer_replication",
                                     "target_parameters",
                                     "trainable_token_indices",
                                     "alora_invocation_tokens"};

bool is_unset(const json& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

// Starting values that leave the base weights alone; others (PiSSA, OLoRA, ...) change them when the adapter is loaded.
void check_initialisation(ObjectReader& reader) {
  const json* value = reader.get("init_lora_weights");
  if (value == nullptr || value->is_boolean() || value->is_null() || *value == "gaussian") return;
  reader.refuse("init_lora_weights", show_json(*value), "true, false or \"gaussian\"");
}

// An adapter may have been attached to the whole model or to the inner one, and its rule may reach modules outside of
// the decoder (a list of bare names hits the audio encoder's o_proj too). PEFT then adds branches there; those that the
// file has no tensors for start as zero. The tensors are held to the decoder's projections elsewhere, so such a rule is
// only worth a warning.
void check_targets(const json& targets, const Config& config, const std::string& where, ConfigNotes& notes) {
  LoraTargets found = find_lora_targets(targets, config, "model.");
  if (!found.missed.empty()) {
    const LoraTargets inner = find_lora_targets(targets, config, "");
    if (inner.missed.empty()) found = inner;
  }
  const std::string layers = "layers.";
  const bool in_decoder = found.extra.starts_with(layers) || found.extra.starts_with("model." + layers);
  if (!found.extra.empty() && !in_decoder) {
    notes.warnings.push_back(where + ": also hits " + found.extra + ", for which the adapter has no weights");
    found.extra.clear();
  }
  check_lora_targets(targets, found, where, notes.reasons);
}

LoraConfig check_adapter(const json& adapter, NativeFile file, const Config& config, bool sizes_known,
                         ConfigNotes& notes) {
  const std::string name = std::string(adapter_folder(file)) + "/adapter_config.json";
  ObjectReader reader(adapter, name, "", notes);
  if (!adapter.is_object()) return {};
  LoraConfig lora;
  reader.must_be("peft_type", "LORA", Presence::kRequired);
  lora.rank = reader.integer("r", kWidth);
  lora.alpha = static_cast<float>(reader.positive("lora_alpha"));
  reader.must_be("bias", "none", Presence::kOptional);
  for (const char* key : kVariants) reader.must_be_unset(key);
  check_initialisation(reader);
  reader.inert({"auto_mapping", "base_model_name_or_path", "inference_mode", "lora_dropout", "megatron_core",
                "peft_version", "qalora_group_size", "revision", "task_type", "ensure_weight_tying"});
  const json* targets = reader.get("target_modules");
  if (targets == nullptr) {
    reader.refuse("target_modules", "missing", "a pattern or a list of modules");
  } else if (sizes_known) {
    check_targets(*targets, config, reader.where("target_modules"), notes);
  }
  // Every release of PEFT adds variants; one that is off changes nothing.
  for (const auto& [key, value] : adapter.items()) {
    if (is_unset(value) && !reader.asked(key)) reader.inert({key});
  }
  reader.finish(Unknown::kRefuse);
  return lora;
}

}  // namespace

void check_adapter_configs(const ConfigSources& sources, Config& config, ConfigNotes& notes) {
  const bool sizes_known = config.decoder.num_layers > 0 && config.audio.num_blocks > 0 && config.vision.num_layers > 0;
  const auto check = [&](const std::optional<json>& adapter, NativeFile file, const char* tower) {
    if (adapter) return check_adapter(*adapter, file, config, sizes_known, notes);
    notes.reasons.add(std::string(adapter_folder(file)) + "/adapter_config.json", "there is no such file",
                      std::string("the adapter that belongs to the ") + tower + " tower",
                      "Keep the adapter folders of the release beside the weights.");
    return LoraConfig{};
  };
  config.decoder.vision_lora = check(sources.vision_adapter, NativeFile::kVisionAdapter, "image");
  config.decoder.speech_lora = check(sources.speech_adapter, NativeFile::kSpeechAdapter, "audio");
}

}  // namespace omniphi::phi4mm

// The rules that a model folder's configuration files must keep, and what they say.
#pragma once

#include <optional>
#include <string>

#include "io/json.h"
#include "models/checkpoint/common_rules.h"
#include "models/checkpoint/folder_files.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/config.h"

namespace omniphi::phi4mm {

// What stands in a folder, parsed but unchecked. Absent files are nullopt.
struct ConfigSources : FolderFiles {
  std::optional<nlohmann::json> vision_adapter;  // vision-lora/adapter_config.json
  std::optional<nlohmann::json> speech_adapter;  // speech-lora/adapter_config.json
  std::optional<int> vision_layers;              // blocks of the image tower, counted in the weights
};

// config.json's model_type. Adds a reason when it is neither layout's; then nothing else can be checked.
std::optional<Layout> read_layout(const nlohmann::json& config, ConfigNotes& notes);

// Checks everything and adds what it finds to the notes. The result is meaningful only when no reason was added.
Config check_config(const ConfigSources& sources, Layout layout, ConfigNotes& notes);

// --- The parts of check_config, one file each. ---

// config.json's decoder and everything else at its top level. The reader stays open for check_original_media or
// check_native_media, which read the towers' entries from it and finish it.
void check_decoder(ObjectReader& top, Layout layout, Config& config, ConfigNotes& notes);
void check_original_media(ObjectReader& top, const ConfigSources& sources, Config& config, ConfigNotes& notes);
void check_native_media(ObjectReader& top, const ConfigSources& sources, Config& config, ConfigNotes& notes);

// vision_config and audio_config.audio_token_id, which the original layout may hold and the native one does hold.
void check_vision_config(ObjectReader& vision, const ConfigSources& sources, Config& config);

// LoRA of the native layout: the two adapter_config.json files.
void check_adapter_configs(const ConfigSources& sources, Config& config, ConfigNotes& notes);

// generation_config.json, preprocessor_config.json, processor_config.json.
void check_side_files(const ConfigSources& sources, Config& config, ConfigNotes& notes);

// The media tokens and the range of ids.
void check_tokenizer(const TokenizerFacts& tokenizer, Config& config, ConfigNotes& notes);

}  // namespace omniphi::phi4mm

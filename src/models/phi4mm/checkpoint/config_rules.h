// The rules that a model folder's configuration files must keep, and what they say.
#pragma once

#include <optional>
#include <string>

#include "io/json.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/checkpoint/config_reader.h"
#include "models/phi4mm/checkpoint/tokenizer_facts.h"
#include "models/phi4mm/config.h"

namespace omniphi::phi4mm {

// What stands in a folder, parsed but unchecked. Absent files are nullopt.
struct ConfigSources {
  nlohmann::json config;                         // config.json
  std::optional<nlohmann::json> generation;      // generation_config.json
  std::optional<nlohmann::json> preprocessor;    // preprocessor_config.json
  std::optional<nlohmann::json> processor;       // processor_config.json
  std::optional<nlohmann::json> vision_adapter;  // vision-lora/adapter_config.json
  std::optional<nlohmann::json> speech_adapter;  // speech-lora/adapter_config.json
  std::optional<TokenizerFacts> tokenizer;       // tokenizer.json
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

// Keys that transformers writes into every configuration object, none of which changes what a forward pass computes.
void mark_common_keys(ObjectReader& reader);

// Largest sizes that are accepted: far above any model of this kind, and small enough that no product overflows.
inline constexpr Range kWidth = {1, 65'536};
inline constexpr Range kBlocks = {1, 256};
inline constexpr Range kHeads = {1, 1'024};
inline constexpr Range kInnerWidth = {1, 1 << 20};
inline constexpr Range kVocabulary = {1, 1 << 22};
inline constexpr Range kPositions = {1, 1 << 24};
inline constexpr Range kAnyInt = {-(int64_t{1} << 31), (int64_t{1} << 31) - 1};

}  // namespace omniphi::phi4mm

// The files of a model folder that are read before any weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/json.h"
#include "models/checkpoint/object_reader.h"
#include "models/checkpoint/tokenizer_facts.h"

namespace omniphi {

enum class TokenizerCheck : uint8_t {
  kRequired,   // the folder must hold a tokenizer that fits the configuration
  kIfPresent,  // the same, but only when there are tokenizer files
};

struct OpenOptions {
  TokenizerCheck tokenizer = TokenizerCheck::kRequired;
};

// What stands in a folder, parsed but unchecked. Absent files are nullopt.
struct FolderFiles {
  nlohmann::json config;                       // config.json; null when absent
  std::optional<nlohmann::json> generation;    // generation_config.json
  std::optional<nlohmann::json> preprocessor;  // preprocessor_config.json
  std::optional<nlohmann::json> processor;     // processor_config.json
  std::optional<TokenizerFacts> tokenizer;     // tokenizer.json
};

// config.json alone, or null with a reason when it can't be had.
nlohmann::json read_config_json(const std::filesystem::path& folder, ConfigNotes& notes);

// Parses config.json and whatever stands beside it. A file that can't be read or parsed becomes a reason and counts as
// absent; so do a missing config.json and, when it is required, a missing tokenizer.json.
FolderFiles read_folder_files(const std::filesystem::path& folder, TokenizerCheck tokenizer, ConfigNotes& notes);

// One more JSON file of the folder, by the same rules.
std::optional<nlohmann::json> read_optional_json(const std::filesystem::path& folder, const std::string& name,
                                                 ConfigNotes& notes);

}  // namespace omniphi

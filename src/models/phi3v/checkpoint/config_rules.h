// The rules that a model folder's configuration files must keep, and what they say.
#pragma once

#include "models/checkpoint/common_rules.h"
#include "models/checkpoint/folder_files.h"
#include "models/phi3v/config.h"

namespace omniphi::phi3v {

// Checks everything and adds what it finds to the notes. The result is meaningful only when no reason was added.
Config check_config(const FolderFiles& files, ConfigNotes& notes);

// --- The parts of check_config. ---

// config.json's decoder and everything else at its top level. The reader stays open for check_vision, which finishes
// it.
void check_decoder(ObjectReader& top, Config& config);

// config.json's embd_layer and img_processor.
void check_vision(ObjectReader& top, Config& config);

// preprocessor_config.json, generation_config.json, tokenizer.json.
void check_preprocessor(const FolderFiles& files, Config& config, ConfigNotes& notes);
void check_generation(const FolderFiles& files, Config& config, ConfigNotes& notes);
void check_tokenizer(const TokenizerFacts& tokenizer, ObjectReader& top, Config& config, ConfigNotes& notes);

}  // namespace omniphi::phi3v

// The files of a model folder that are read before any weights.
#pragma once

#include <filesystem>

#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/checkpoint/config_rules.h"

namespace omniphi::phi4mm {

// Parses config.json and whatever stands beside it. A file that can't be read or parsed becomes a reason and counts as
// absent; so do a missing config.json and, when it is required, a missing tokenizer.json. Adapter configurations are
// read for the native layout only. `sources.vision_layers` stays unset.
ConfigSources read_folder_files(const std::filesystem::path& folder, TokenizerCheck tokenizer, ConfigNotes& notes);

}  // namespace omniphi::phi4mm

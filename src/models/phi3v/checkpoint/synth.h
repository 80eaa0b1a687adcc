// Makes checkpoints that nobody has trained: of the release's exact names and shapes, or of any other size.
#pragma once

#include <filesystem>
#include <string>

#include "models/checkpoint/synth_files.h"
#include "models/phi3v/config.h"

namespace omniphi::phi3v {

// A built-in configuration: "phi3.5v" (the release) or "tiny-phi3v" (every structural trait at sizes that run in
// milliseconds). Throws an Error of kUsage for any other name.
Config preset_config(const std::string& name);

// Writes weights, config.json, generation_config.json, preprocessor_config.json and tokenizer files into `folder`,
// which is made if needed and must be empty. Checkpoint::open() accepts the result and reads `config` from it. Throws
// an Error of kUsage when the folder isn't empty, a dtype isn't one of the three, or the configuration leaves no room
// for the special tokens; kInternal when the system can't write.
SynthSummary synthesize(const Config& config, const std::filesystem::path& folder,
                        const SynthFileOptions& options = {});

}  // namespace omniphi::phi3v

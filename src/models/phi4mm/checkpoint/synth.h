// Makes checkpoints that nobody has trained: of the release's exact names and shapes, or of any other size.
#pragma once

#include <filesystem>
#include <string>

#include "models/checkpoint/synth_files.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/config.h"

namespace omniphi::phi4mm {

// A built-in configuration: "phi4mm" (the release) or "tiny" (every structural trait at sizes that run in
// milliseconds). Throws an Error of kUsage for any other name.
Config preset_config(const std::string& name);

using omniphi::Fill;
using omniphi::SynthSummary;

struct SynthOptions : SynthFileOptions {
  Layout layout = Layout::kOriginal;
};

// Writes weights, config.json, generation_config.json, preprocessor_config.json and tokenizer files into `folder`,
// which is made if needed and must be empty. Checkpoint::open() accepts the result and reads `config` from it. Throws
// an Error of kUsage when the folder isn't empty, a dtype isn't one of the three, or the configuration leaves no room
// for the special tokens; kInternal when the system can't write.
SynthSummary synthesize(const Config& config, const std::filesystem::path& folder, const SynthOptions& options = {});

}  // namespace omniphi::phi4mm

// Makes checkpoints that nobody has trained: of the release's exact names and shapes, or of any other size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/config.h"
#include "tensor/dtype.h"

namespace omniphi::phi4mm {

// A built-in configuration: "phi4mm" (the release) or "tiny" (every structural trait at sizes that run in
// milliseconds). Throws an Error of kUsage for any other name.
Config preset_config(const std::string& name);

enum class Fill : uint8_t {
  kRandom,  // values whose activations stay finite: a function of seed, name and index, whatever the layout and threads
  kSparse,  // zeros that take no room on disk (the files are holes): for what needs names, shapes and sizes only
};

struct SynthOptions {
  Fill fill = Fill::kRandom;
  uint64_t seed = 0;
  DType dtype = DType::kBF16;  // or kF16, kF32
  Layout layout = Layout::kOriginal;
  uint64_t max_shard_bytes = 5'000'000'000;  // what doesn't fit into one file goes into shards with an index
  std::filesystem::path tokenizer;           // folder to copy tokenizer files from; empty: a synthetic tokenizer
  int threads = 0;                           // 0: all cores
};

struct SynthSummary {
  size_t tensors = 0;
  int64_t parameters = 0;
  uint64_t bytes = 0;  // of tensor data
  size_t files = 0;    // weight files
};

// Writes weights, config.json, generation_config.json, preprocessor_config.json and tokenizer files into `folder`,
// which is made if needed and must be empty. Checkpoint::open() accepts the result and reads `config` from it. Throws
// an Error of kUsage when the folder isn't empty, a dtype isn't one of the three, or the configuration leaves no room
// for the special tokens; kInternal when the system can't write.
SynthSummary synthesize(const Config& config, const std::filesystem::path& folder, const SynthOptions& options = {});

}  // namespace omniphi::phi4mm

// Writes checkpoints that nobody has trained: the part that doesn't depend on the family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "io/json.h"
#include "io/safetensors_writer.h"
#include "models/checkpoint/tensor_list.h"
#include "tensor/dtype.h"

namespace omniphi {

enum class Fill : uint8_t {
  kRandom,  // values whose activations stay finite: a function of seed, name and index, whatever the layout and threads
  kSparse,  // zeros that take no room on disk (the files are holes): for what needs names, shapes and sizes only
};

struct SynthFileOptions {
  Fill fill = Fill::kRandom;
  uint64_t seed = 0;
  DType dtype = DType::kBF16;                // or kF16, kF32
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

// One safetensors file to be: which tensors, under which names.
struct PlannedFile {
  std::filesystem::path path;  // inside the folder; the model's own files get theirs from split_model()
  std::vector<TensorSpec> specs;
  std::vector<const ExpectedTensor*> sources;

  void add(TensorSpec spec, const ExpectedTensor& source);
};

// Checks the options and makes the folder, which must be empty if it is there. Throws an Error of kUsage, or of
// kInternal when the system can't make it.
void prepare_synth_folder(const std::filesystem::path& folder, const SynthFileOptions& options);

// Copies what there is of a tokenizer's files; `source` must hold a tokenizer.json.
void copy_tokenizer_files(const std::filesystem::path& source, const std::filesystem::path& folder);

// The model's tensors in one file, or in shards of at most the given size (a tensor is never split).
std::vector<PlannedFile> split_model(PlannedFile whole, uint64_t max_bytes);

// Writes the files, and an index when the model is in shards. `files` begins with the model's.
SynthSummary write_planned(const std::filesystem::path& folder, const std::vector<PlannedFile>& files,
                           const SynthFileOptions& options);

// A float in the fewest digits that give it back: 1e-05 rather than 9.99999974737875e-06.
nlohmann::ordered_json shortest_json(float value);

}  // namespace omniphi

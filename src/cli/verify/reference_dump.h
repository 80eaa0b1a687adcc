// What the reference computed for one prompt: a JSON file beside a safetensors file of the same name, in the format of
// tests/parity/phi4mm/README.md, section 1. tools/dump_reference.py writes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "request/prompt.h"
#include "tensor/shape.h"

namespace omniphi::cli {

// Over a whole tensor, also where only a sample of it is stored.
struct StageStats {
  double mean = 0, absmax = 0, l2 = 0;
};

// One stored tensor: value i is element i * stride of the row-major whole.
struct ReferenceStage {
  std::string name;
  Shape shape;
  int64_t stride = 1;
  std::vector<double> values;
  std::optional<StageStats> stats;
  std::optional<double> tolerance;  // "tolerances" of the dump: where the reference itself is known to deviate
};

struct ReferenceDump {
  std::string name;  // of the JSON file, without its suffix
  Prompt prompt;     // raw text with markers, and media
  std::string input_mode;
  std::vector<int32_t> prompt_ids;  // one id for each medium
  std::map<std::string, ReferenceStage> stages;
  std::vector<int32_t> generated_ids;  // greedy, end of sequence ignored
  std::vector<double> generated_logprobs;
  std::vector<double> generated_margins;  // best minus second-best logit; empty when unknown
  // The model is to be fed with the dump's own pixels and features, because its processor is known to differ.
  bool feed_processed = false;
  // The reference padded several audios to each other, which changes them; omniphi encodes each on its own.
  bool padded_audios = false;

  // Throws kInput naming file and field. Media are looked for beside the file and beside its folder.
  static ReferenceDump load(const std::filesystem::path& json_path);
};

}  // namespace omniphi::cli

#include "models/phi3v/checkpoint/checkpoint.h"

#include <utility>

#include "models/checkpoint/tensor_match.h"
#include "models/phi3v/checkpoint/config_rules.h"

namespace omniphi::phi3v {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayoutName = "original (phi3_v)";

// True when every size that a shape is made of is known.
bool sizes_known(const Config& config) {
  const DecoderConfig& d = config.decoder;
  const VisionConfig& v = config.vision;
  for (const int size : {d.vocab_size, d.hidden_size, d.intermediate_size, d.num_layers, d.num_heads, d.num_kv_heads,
                         d.head_dim, v.hidden_size, v.intermediate_size, v.num_layers}) {
    if (size <= 0) return false;
  }
  return true;
}

const char* partner(Part part) {
  switch (part) {
    case Part::kVisionTower:
      return "the image projector needs its tower";
    case Part::kVisionProjector:
      return "the image tower needs its projector";
    default:
      return "nothing works without it";
  }
}

std::vector<TensorInfo> match(const WeightFiles& weights, const Config& config, Reasons& reasons) {
  WeightRules rules;
  rules.partner = partner;
  rules.ignored = is_ignored_tensor;
  return match_tensors(weights, expected_tensors(config), rules, reasons);
}

void note_ignored(const WeightFiles& weights, ConfigNotes& notes) {
  for (const SafetensorsFile* file : weights.all()) {
    for (const TensorEntry& entry : file->tensors()) {
      if (is_ignored_tensor(entry.name)) notes.inert.push_back(entry.name + " (a buffer that nothing reads)");
    }
  }
}

}  // namespace

Checkpoint Checkpoint::open(const fs::path& folder, const OpenOptions& options) {
  ConfigNotes notes;
  const FolderFiles files = read_folder_files(folder, options.tokenizer, notes);
  if (files.config.is_null()) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  Config config = check_config(files, notes);
  Reasons weight_reasons;
  WeightFiles weights;
  weights.model = open_model_weights(folder, weight_reasons);
  std::vector<TensorInfo> tensors;
  if (weight_reasons.empty() && sizes_known(config)) tensors = match(weights, config, weight_reasons);
  for (const Reason& r : weight_reasons.list()) notes.reasons.add(r.where, r.found, r.expected, r.remedy);
  notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  note_ignored(weights, notes);
  return Checkpoint(CheckpointTensors(folder, std::move(weights), std::move(tensors), std::move(notes)),
                    std::move(config));
}

Checkpoint::Checkpoint(CheckpointTensors tensors, Config config)
    : ModelCheckpoint(std::move(tensors), std::move(config), kLayoutName) {}

ConfigReport open_config(const fs::path& folder) {
  ConfigNotes notes;
  const FolderFiles files = read_folder_files(folder, TokenizerCheck::kIfPresent, notes);
  if (files.config.is_null()) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  ConfigReport report;
  report.config = check_config(files, notes);
  report.layout_name = kLayoutName;
  notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  report.inert_keys = std::move(notes.inert);
  report.warnings = std::move(notes.warnings);
  return report;
}

}  // namespace omniphi::phi3v

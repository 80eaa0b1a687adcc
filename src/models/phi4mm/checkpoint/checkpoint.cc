#include "models/phi4mm/checkpoint/checkpoint.h"

#include <optional>
#include <utility>

#include "models/phi4mm/checkpoint/config_rules.h"
#include "models/phi4mm/checkpoint/names.h"
#include "models/phi4mm/checkpoint/tensor_match.h"

namespace omniphi::phi4mm {
namespace {

namespace fs = std::filesystem;

// True when every size that a shape is made of is known.
bool sizes_known(const Config& config) {
  const DecoderConfig& d = config.decoder;
  const VisionConfig& v = config.vision;
  const AudioConfig& a = config.audio;
  for (const int size :
       {d.vocab_size, d.hidden_size, d.intermediate_size, d.num_layers, d.num_heads, d.num_kv_heads, d.head_dim,
        d.vision_lora.rank, d.speech_lora.rank, v.hidden_size, v.intermediate_size, v.num_layers, a.attention_dim,
        a.num_heads, a.linear_units, a.num_blocks, a.conv_channels, a.kernel_size, a.bias_reach}) {
    if (size <= 0) return false;
  }
  return true;
}

// Adapter configurations are read for the native layout only.
ConfigSources read_sources(const fs::path& folder, TokenizerCheck tokenizer, ConfigNotes& notes) {
  ConfigSources sources{read_folder_files(folder, tokenizer, notes), std::nullopt, std::nullopt, std::nullopt};
  if (sources.config.is_object() && sources.config.value("model_type", nlohmann::json()) == "phi4_multimodal") {
    sources.vision_adapter = read_optional_json(folder, "vision-lora/adapter_config.json", notes);
    sources.speech_adapter = read_optional_json(folder, "speech-lora/adapter_config.json", notes);
  }
  return sources;
}

void note_adapter_folders(const fs::path& folder, ConfigNotes& notes) {
  std::error_code code;
  for (const NativeFile file : {NativeFile::kVisionAdapter, NativeFile::kSpeechAdapter}) {
    if (fs::exists(folder / adapter_folder(file), code)) {
      notes.inert.push_back(std::string(adapter_folder(file)) + "/ (this layout holds the adapter among its weights)");
    }
  }
}

}  // namespace

Checkpoint Checkpoint::open(const fs::path& folder, const OpenOptions& options) {
  ConfigNotes notes;
  ConfigSources sources = read_sources(folder, options.tokenizer, notes);
  if (sources.config.is_null()) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  const std::optional<Layout> layout = read_layout(sources.config, notes);
  if (!layout) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  Reasons weight_reasons;
  WeightFiles weights = open_weights(folder, *layout, weight_reasons);
  sources.vision_layers = count_vision_layers(weights);
  Config config = check_config(sources, *layout, notes);
  std::vector<TensorInfo> tensors;
  if (weight_reasons.empty() && sizes_known(config)) {
    tensors = match_tensors(weights, config, *layout, weight_reasons);
  }
  for (const Reason& r : weight_reasons.list()) notes.reasons.add(r.where, r.found, r.expected, r.remedy);
  notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  if (*layout == Layout::kOriginal) note_adapter_folders(folder, notes);
  return Checkpoint(CheckpointTensors(folder, std::move(weights), std::move(tensors), std::move(notes)),
                    std::move(config), *layout);
}

Checkpoint::Checkpoint(CheckpointTensors tensors, Config config, Layout layout)
    : ModelCheckpoint(std::move(tensors), std::move(config), omniphi::phi4mm::layout_name(layout)), layout_(layout) {}

const char* layout_name(Layout layout) {
  return layout == Layout::kOriginal ? "original (phi4mm)" : "transformers-native (phi4_multimodal)";
}

ConfigReport open_config(const fs::path& folder) {
  ConfigNotes notes;
  const ConfigSources sources = read_sources(folder, TokenizerCheck::kIfPresent, notes);
  if (sources.config.is_null()) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  const std::optional<Layout> layout = read_layout(sources.config, notes);
  if (!layout) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  ConfigReport report;
  report.layout_name = layout_name(*layout);
  report.config = check_config(sources, *layout, notes);
  notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  report.inert_keys = std::move(notes.inert);
  report.warnings = std::move(notes.warnings);
  return report;
}

}  // namespace omniphi::phi4mm

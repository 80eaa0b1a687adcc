#include "models/phi4mm/checkpoint/checkpoint.h"

#include <cstring>
#include <map>
#include <utility>

#include "models/phi4mm/checkpoint/config_rules.h"
#include "models/phi4mm/checkpoint/folder_files.h"
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

void note_adapter_folders(const fs::path& folder, ConfigNotes& notes) {
  std::error_code code;
  for (const NativeFile file : {NativeFile::kVisionAdapter, NativeFile::kSpeechAdapter}) {
    if (fs::exists(folder / adapter_folder(file), code)) {
      notes.inert.push_back(std::string(adapter_folder(file)) + "/ (this layout holds the adapter among its weights)");
    }
  }
}

}  // namespace

struct Checkpoint::State {
  fs::path folder;
  Config config;
  Layout layout = Layout::kOriginal;
  WeightFiles weights;
  std::vector<TensorInfo> tensors;
  std::map<std::string, size_t, std::less<>> index;
  std::vector<FileInfo> files;
  std::vector<std::string> inert, warnings, copied;
  std::vector<std::vector<std::byte>> copies;

  void copy_misaligned();
  void fill_index();
};

void Checkpoint::State::copy_misaligned() {
  for (TensorInfo& tensor : tensors) {
    const auto address = reinterpret_cast<uintptr_t>(tensor.view.data);
    if (address % dtype_size(tensor.view.dtype) == 0) continue;
    std::vector<std::byte>& copy = copies.emplace_back(tensor.view.bytes());
    std::memcpy(copy.data(), tensor.view.data, copy.size());
    tensor.view.data = copy.data();
    copied.push_back(tensor.expected.name);
  }
}

void Checkpoint::State::fill_index() {
  for (size_t i = 0; i < tensors.size(); ++i) index[tensors[i].expected.name] = i;
  for (const SafetensorsFile* file : weights.all()) {
    files.push_back({file->path(), file->file_size(), file->tensors().size()});
  }
}

Checkpoint Checkpoint::open(const fs::path& folder, const OpenOptions& options) {
  auto state = std::make_unique<State>();
  ConfigNotes notes;
  state->folder = folder;
  ConfigSources sources = read_folder_files(folder, options.tokenizer, notes);
  if (sources.config.is_null()) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  const std::optional<Layout> layout = read_layout(sources.config, notes);
  if (!layout) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  state->layout = *layout;
  Reasons weight_reasons;
  state->weights = open_weights(folder, *layout, weight_reasons);
  sources.vision_layers = count_vision_layers(state->weights);
  state->config = check_config(sources, *layout, notes);
  if (weight_reasons.empty() && sizes_known(state->config)) {
    state->tensors = match_tensors(state->weights, state->config, *layout, weight_reasons);
  }
  for (const Reason& r : weight_reasons.list()) notes.reasons.add(r.where, r.found, r.expected, r.remedy);
  notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  if (*layout == Layout::kOriginal) note_adapter_folders(folder, notes);
  state->copy_misaligned();
  state->fill_index();
  state->inert = std::move(notes.inert);
  state->warnings = std::move(notes.warnings);
  return Checkpoint(std::move(state));
}

Checkpoint::Checkpoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;

const fs::path& Checkpoint::folder() const { return state_->folder; }
const Config& Checkpoint::config() const { return state_->config; }
Layout Checkpoint::layout() const { return state_->layout; }
const std::vector<TensorInfo>& Checkpoint::tensors() const { return state_->tensors; }
const std::vector<FileInfo>& Checkpoint::files() const { return state_->files; }
const std::vector<std::string>& Checkpoint::inert_keys() const { return state_->inert; }
const std::vector<std::string>& Checkpoint::warnings() const { return state_->warnings; }
const std::vector<std::string>& Checkpoint::copied_tensors() const { return state_->copied; }

View Checkpoint::tensor(std::string_view canonical_name) const {
  const auto found = state_->index.find(canonical_name);
  if (found == state_->index.end()) internal_error("checkpoint", "no tensor is named " + std::string(canonical_name));
  return state_->tensors[found->second].view;
}

const char* layout_name(Layout layout) {
  return layout == Layout::kOriginal ? "original (phi4mm)" : "transformers-native (phi4_multimodal)";
}

ConfigReport open_config(const fs::path& folder) {
  ConfigNotes notes;
  const ConfigSources sources = read_folder_files(folder, TokenizerCheck::kIfPresent, notes);
  if (sources.config.is_null()) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  const std::optional<Layout> layout = read_layout(sources.config, notes);
  if (!layout) notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  ConfigReport report;
  report.layout = *layout;
  report.config = check_config(sources, *layout, notes);
  notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  report.inert_keys = std::move(notes.inert);
  report.warnings = std::move(notes.warnings);
  return report;
}

}  // namespace omniphi::phi4mm

#include "models/phi4mm/checkpoint/tensor_match.h"

#include <set>
#include <string>
#include <utility>

#include "models/checkpoint/tensor_match.h"
#include "models/phi4mm/checkpoint/names.h"

namespace omniphi::phi4mm {
namespace {

namespace fs = std::filesystem;

// The adapters' files in the order of WeightFiles::adapters.
constexpr NativeFile kAdapters[] = {NativeFile::kVisionAdapter, NativeFile::kSpeechAdapter};

void open_adapter(const fs::path& folder, NativeFile file, WeightFiles& files, Reasons& reasons) {
  const fs::path path = folder / adapter_folder(file) / "adapter_model.safetensors";
  std::error_code code;
  if (!fs::exists(path, code)) {
    reasons.add(path.string(), "there is no such file", "the weights of the adapter");
    return;
  }
  try {
    files.adapters.push_back(SafetensorsFile::open(path));
  } catch (const Error& error) {
    reasons.add(error);
  }
}

// The part that a missing part belongs with, for the message.
const char* partner(Part part) {
  switch (part) {
    case Part::kVisionLora:
      return "the image tower needs its adapter";
    case Part::kSpeechLora:
      return "the audio tower needs its adapter";
    case Part::kVisionTower:
    case Part::kVisionProjector:
      return "the vision LoRA needs its tower";
    case Part::kAudioEncoder:
    case Part::kAudioProjector:
      return "the speech LoRA needs its tower";
    case Part::kDecoder:
      break;
  }
  return "nothing works without it";
}

StoredName native_stored_name(const std::string& canonical) {
  NativeName native = native_name(canonical);
  return {static_cast<size_t>(native.file), std::move(native.name)};
}
static_assert(static_cast<size_t>(kAdapters[0]) == 1 && static_cast<size_t>(kAdapters[1]) == 2);

}  // namespace

WeightFiles open_weights(const fs::path& folder, Layout layout, Reasons& reasons) {
  WeightFiles files;
  files.model = open_model_weights(folder, reasons);
  if (layout == Layout::kNative) {
    for (const NativeFile file : kAdapters) open_adapter(folder, file, files, reasons);
  }
  return files;
}

int count_vision_layers(const WeightFiles& files) {
  const std::string prefix = std::string(kVisionTowerPrefix) + "encoder.layers.";
  std::set<std::string> layers;
  for (const SafetensorsFile& file : files.model.files()) {
    for (const TensorEntry& entry : file.tensors()) {
      if (!entry.name.starts_with(prefix)) continue;
      const size_t end = entry.name.find('.', prefix.size());
      if (end != std::string::npos) layers.insert(entry.name.substr(prefix.size(), end - prefix.size()));
    }
  }
  return layers.size() > 256 ? 0 : static_cast<int>(layers.size());
}

std::vector<TensorInfo> match_tensors(const WeightFiles& files, const Config& config, Layout layout, Reasons& reasons) {
  WeightRules rules;
  rules.partner = partner;
  if (layout == Layout::kNative) {
    rules.stored_name = native_stored_name;
    rules.adapter_prefix = "base_model.model.";
  }
  return omniphi::match_tensors(files, expected_tensors(config), rules, reasons);
}

}  // namespace omniphi::phi4mm

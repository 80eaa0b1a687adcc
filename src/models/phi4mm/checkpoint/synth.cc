#include "models/phi4mm/checkpoint/synth.h"

#include <utility>
#include <vector>

#include "base/file.h"
#include "models/phi4mm/checkpoint/names.h"
#include "models/phi4mm/checkpoint/synth_config.h"
#include "models/phi4mm/checkpoint/synth_tokenizer.h"
#include "models/phi4mm/checkpoint/tensor_list.h"

namespace omniphi::phi4mm {
namespace {

namespace fs = std::filesystem;

std::vector<PlannedFile> plan_files(const std::vector<ExpectedTensor>& tensors, const SynthOptions& options) {
  PlannedFile model, vision, speech;
  vision.path = fs::path(adapter_folder(NativeFile::kVisionAdapter)) / "adapter_model.safetensors";
  speech.path = fs::path(adapter_folder(NativeFile::kSpeechAdapter)) / "adapter_model.safetensors";
  for (const ExpectedTensor& tensor : tensors) {
    if (options.layout == Layout::kOriginal) {
      model.add({tensor.name, options.dtype, tensor.shape}, tensor);
      continue;
    }
    const NativeName native = native_name(tensor.name);
    if (native.file == NativeFile::kModel) {
      model.add({native.name, options.dtype, tensor.shape}, tensor);
    } else {
      PlannedFile& adapter = native.file == NativeFile::kVisionAdapter ? vision : speech;
      adapter.add({"base_model.model." + native.name, options.dtype, tensor.shape}, tensor);
    }
  }
  std::vector<PlannedFile> files = split_model(std::move(model), options.max_shard_bytes);
  for (PlannedFile* adapter : {&vision, &speech}) {
    if (!adapter->specs.empty()) files.push_back(std::move(*adapter));
  }
  return files;
}

void write_configs(const Config& config, const fs::path& folder, Layout layout) {
  write_file(folder / "config.json", config_json(config, layout).dump(1));
  write_file(folder / "generation_config.json", generation_config_json(config).dump(1));
  write_file(folder / "preprocessor_config.json", preprocessor_config_json(config).dump(1));
  if (layout == Layout::kOriginal) return;
  for (const auto& [file, lora] : {std::pair(NativeFile::kVisionAdapter, &config.decoder.vision_lora),
                                   std::pair(NativeFile::kSpeechAdapter, &config.decoder.speech_lora)}) {
    fs::create_directories(folder / adapter_folder(file));
    write_file(folder / adapter_folder(file) / "adapter_config.json", adapter_config_json(*lora).dump(1));
  }
}

}  // namespace

SynthSummary synthesize(const Config& config, const fs::path& folder, const SynthOptions& options) {
  prepare_synth_folder(folder, options);
  if (options.tokenizer.empty()) {
    write_synthetic_tokenizer(config, folder);
  } else {
    copy_tokenizer_files(options.tokenizer, folder);
  }
  write_configs(config, folder, options.layout);
  const std::vector<ExpectedTensor> tensors = expected_tensors(config);
  return write_planned(folder, plan_files(tensors, options), options);
}

}  // namespace omniphi::phi4mm

// Holds the tensors of a folder against those that its configuration calls for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/reasons.h"
#include "io/shards.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/checkpoint/names.h"

namespace omniphi::phi4mm {

// The open weight files of a folder.
struct WeightFiles {
  Shards model;
  std::optional<SafetensorsFile> vision_adapter;  // native layout: vision-lora/adapter_model.safetensors
  std::optional<SafetensorsFile> speech_adapter;  // native layout: speech-lora/adapter_model.safetensors

  // model's files, then the adapters'.
  std::vector<const SafetensorsFile*> all() const;
};

// Opens them; what can't be opened becomes reasons.
WeightFiles open_weights(const std::filesystem::path& folder, Layout layout, Reasons& reasons);

// Number of different blocks that tensors of the image tower belong to.
int count_vision_layers(const WeightFiles& files);

// Finds every expected tensor, and adds reasons for those that are missing, of another shape, or of a dtype other than
// bf16, fp16 and fp32, and for tensors that nothing expects. A whole part that is missing is one reason.
std::vector<TensorInfo> match_tensors(const WeightFiles& files, const Config& config, Layout layout, Reasons& reasons);

}  // namespace omniphi::phi4mm

// What the tensors of the original layout are called in the transformers-native one.
#pragma once

#include <string>
#include <string_view>

#include "models/phi4mm/checkpoint/tensor_list.h"

namespace omniphi::phi4mm {

// Which files of a native folder hold a tensor.
enum class NativeFile : uint8_t { kModel, kVisionAdapter, kSpeechAdapter };

struct NativeName {
  NativeFile file = NativeFile::kModel;
  std::string name;  // adapters: without PEFT's "base_model.model." in front
};

// The renaming that transformers' model code implies (modeling_phi4_multimodal.py, release 4.48 to 5.x): LoRA leaves
// for the adapter files, base_layer vanishes, and the towers' linear layers get other names.
NativeName native_name(std::string_view canonical_name);

// Folder of an adapter: "vision-lora" or "speech-lora".
const char* adapter_folder(NativeFile file);

}  // namespace omniphi::phi4mm

// A Phi-4-multimodal model folder, checked and mapped.
#pragma once

#include <cstdint>
#include <filesystem>

#include "models/checkpoint/folder_files.h"
#include "models/checkpoint/model_checkpoint.h"
#include "models/phi4mm/checkpoint/tensor_list.h"
#include "models/phi4mm/config.h"

namespace omniphi::phi4mm {

using omniphi::ConfigReport;
using omniphi::FileInfo;
using omniphi::OpenOptions;
using omniphi::TensorInfo;
using omniphi::TokenizerCheck;

// How the folder names its weights.
enum class Layout : uint8_t {
  kOriginal,  // model_type phi4mm: base_layer and lora_A.vision beside each other in one set of files
  kNative,    // model_type phi4_multimodal: transformers' own names, adapters in speech-lora/ and vision-lora/
};

// "original (phi4mm)" or "transformers-native (phi4_multimodal)".
const char* layout_name(Layout layout);

// Opening maps the files and checks everything. Both layouts answer to the names of the original one.
class Checkpoint : public ModelCheckpoint {
 public:
  // Throws RefusedError (an Error of kCheckpoint) with every reason why the folder can't be used.
  static Checkpoint open(const std::filesystem::path& folder, const OpenOptions& options = {});

  Layout layout() const { return layout_; }

 private:
  Checkpoint(CheckpointTensors tensors, Config config, Layout layout);

  Layout layout_ = Layout::kOriginal;
};

// Reads and checks only the configuration files: no weights, and no tokenizer unless it is there. For what needs sizes
// alone. Throws RefusedError.
ConfigReport open_config(const std::filesystem::path& folder);

}  // namespace omniphi::phi4mm

// A Phi-3-vision or Phi-3.5-vision model folder, checked and mapped.
#pragma once

#include <filesystem>

#include "models/checkpoint/folder_files.h"
#include "models/checkpoint/model_checkpoint.h"
#include "models/phi3v/checkpoint/tensor_list.h"
#include "models/phi3v/config.h"

namespace omniphi::phi3v {

using omniphi::ConfigReport;

// Opening maps the files and checks everything. Tensors answer to the release's names.
class Checkpoint : public ModelCheckpoint {
 public:
  // Throws RefusedError (an Error of kCheckpoint) with every reason why the folder can't be used.
  static Checkpoint open(const std::filesystem::path& folder, const OpenOptions& options = {});

 private:
  Checkpoint(CheckpointTensors tensors, Config config);
};

// Reads and checks only the configuration files: no weights, and no tokenizer unless it is there. For what needs sizes
// alone. Throws RefusedError.
ConfigReport open_config(const std::filesystem::path& folder);

}  // namespace omniphi::phi3v

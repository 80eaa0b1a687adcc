#include "models/checkpoint/checkpoint_tensors.h"

#include <cstring>
#include <utility>

#include "base/error.h"

namespace omniphi {

std::vector<const SafetensorsFile*> WeightFiles::all() const {
  std::vector<const SafetensorsFile*> files;
  for (const SafetensorsFile& file : model.files()) files.push_back(&file);
  for (const SafetensorsFile& file : adapters) files.push_back(&file);
  return files;
}

CheckpointTensors::CheckpointTensors(std::filesystem::path folder, WeightFiles files, std::vector<TensorInfo> tensors,
                                     ConfigNotes notes)
    : folder_(std::move(folder)), weights_(std::move(files)), tensors_(std::move(tensors)), notes_(std::move(notes)) {
  copy_misaligned();
  for (size_t i = 0; i < tensors_.size(); ++i) index_[tensors_[i].expected.name] = i;
  for (const SafetensorsFile* file : weights_.all()) {
    files_.push_back({file->path(), file->file_size(), file->tensors().size()});
  }
}

void CheckpointTensors::copy_misaligned() {
  for (TensorInfo& tensor : tensors_) {
    const auto address = reinterpret_cast<uintptr_t>(tensor.view.data);
    if (address % dtype_size(tensor.view.dtype) == 0) continue;
    std::vector<std::byte>& copy = copies_.emplace_back(tensor.view.bytes());
    std::memcpy(copy.data(), tensor.view.data, copy.size());
    tensor.view.data = copy.data();
    copied_.push_back(tensor.expected.name);
  }
}

View CheckpointTensors::tensor(std::string_view canonical_name) const {
  const auto found = index_.find(canonical_name);
  if (found == index_.end()) internal_error("checkpoint", "no tensor is named " + std::string(canonical_name));
  return tensors_[found->second].view;
}

}  // namespace omniphi

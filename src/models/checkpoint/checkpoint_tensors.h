// The weights of an open model folder: what every family's Checkpoint holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors.h"
#include "io/shards.h"
#include "models/checkpoint/object_reader.h"
#include "models/checkpoint/tensor_list.h"
#include "tensor/tensor.h"

namespace omniphi {

// The open weight files of a folder. Moving keeps Views valid.
struct WeightFiles {
  Shards model;
  std::vector<SafetensorsFile> adapters;  // files whose names are their own: adapters beside the model

  // model's files, then the adapters.
  std::vector<const SafetensorsFile*> all() const;
};

// One tensor as it was found.
struct TensorInfo {
  ExpectedTensor expected;
  std::string stored_name;  // its name in the file
  size_t file = 0;          // index into CheckpointTensors::files()
  View view;                // into the mapped file, or into a copy when it lies misaligned for its type
};

struct FileInfo {
  std::filesystem::path path;
  uint64_t bytes = 0;
  size_t tensors = 0;
};

// Mapped weights under a family's canonical names, and what opening them brought to light. No weights are read, and
// none are copied but tensors that lie misaligned for their type. Moving keeps Views valid.
class CheckpointTensors {
 public:
  // `tensors` are those that match_tensors() found in `files`; `notes` must hold no reason.
  CheckpointTensors(std::filesystem::path folder, WeightFiles files, std::vector<TensorInfo> tensors,
                    ConfigNotes notes);

  const std::filesystem::path& folder() const { return folder_; }

  // The tensor of that canonical name: bf16, fp16 or fp32, of the shape that the family expects. Throws kInternal when
  // the configuration doesn't call for such a tensor. Lives as long as this object.
  View tensor(std::string_view canonical_name) const;

  // All tensors, in the order of the family's list.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }

  const std::vector<FileInfo>& files() const { return files_; }
  // Keys of the configuration files that omniphi knows to have no effect on inference.
  const std::vector<std::string>& inert_keys() const { return notes_.inert; }
  // Keys that omniphi doesn't know and ignores, and whatever else deserves a look.
  const std::vector<std::string>& warnings() const { return notes_.warnings; }
  // Canonical names of tensors that had to be copied because they lie misaligned for their type.
  const std::vector<std::string>& copied_tensors() const { return copied_; }

 private:
  void copy_misaligned();

  std::filesystem::path folder_;
  WeightFiles weights_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<FileInfo> files_;
  ConfigNotes notes_;
  std::vector<std::string> copied_;
  std::vector<std::vector<std::byte>> copies_;
};

}  // namespace omniphi

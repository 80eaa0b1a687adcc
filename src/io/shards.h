// The weights of a model folder: one safetensors file or several with an index.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/reasons.h"
#include "io/safetensors.h"

namespace omniphi {

// All tensors of a folder under one roof. Views live as long as this object.
class Shards {
 public:
  // Opens FOLDER/model.safetensors, or the shards that FOLDER/model.safetensors.index.json names. Throws RefusedError
  // of kCheckpoint with every reason: no weights at all (naming weights of other formats that are there), both forms at
  // once, shard names that lead out of the folder, missing or damaged shards, tensors that the index lists but the
  // shard lacks, and tensors that a shard holds but the index doesn't list there.
  static Shards open(const std::filesystem::path& folder);

  const std::vector<SafetensorsFile>& files() const { return files_; }

  // Names in alphabetical order.
  std::vector<std::string> names() const;

  // Where a tensor lies; both null when there is none of that name.
  struct Location {
    const SafetensorsFile* file = nullptr;
    const TensorEntry* entry = nullptr;
  };
  Location find(std::string_view name) const;

 private:
  void open_single(const std::filesystem::path& path, Reasons& reasons);
  void open_indexed(const std::filesystem::path& folder, const std::filesystem::path& index, Reasons& reasons);
  void check_listed(const std::map<std::string, std::string>& weight_map, Reasons& reasons);

  struct Position {
    size_t file;
    size_t entry;
  };
  std::vector<SafetensorsFile> files_;
  std::map<std::string, Position, std::less<>> index_;
};

}  // namespace omniphi

#include "io/shards.h"

#include <set>

#include "io/json.h"

namespace omniphi {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr size_t kMaxIndexBytes = 64u << 20;
constexpr size_t kMaxShards = 10'000;
constexpr const char* kDownloadAgain = "Download the checkpoint again.";

// Weights in a form that omniphi doesn't read, to be named in the refusal.
std::string foreign_weights(const fs::path& folder) {
  static const std::set<std::string> kForeign = {".gguf", ".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx"};
  std::error_code code;
  std::string names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    if (!kForeign.contains(entry.path().extension().string())) continue;
    names += (names.empty() ? "" : ", ") + entry.path().filename().string();
  }
  return names;
}

// A file's own name: no folder, no way out.
bool is_plain_shard_name(const std::string& name) {
  return name.size() > 12 && name.size() < 256 && name.ends_with(".safetensors") &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos && name[0] != '.';
}

// {tensor: shard} of the index; reasons are added for whatever is not of that form.
std::map<std::string, std::string> read_weight_map(const fs::path& index, Reasons& reasons) {
  std::map<std::string, std::string> weight_map;
  const json root = read_json(index, kMaxIndexBytes, ErrorKind::kCheckpoint);
  if (!root.is_object() || !root.contains("weight_map") || !root["weight_map"].is_object()) {
    reasons.add(kIndex, show_json(root), "an object with weight_map", kDownloadAgain);
    return weight_map;
  }
  std::set<std::string> refused;
  for (const auto& [tensor, shard] : root["weight_map"].items()) {
    if (shard.is_string() && is_plain_shard_name(shard.get_ref<const std::string&>())) {
      weight_map[tensor] = shard.get<std::string>();
    } else if (refused.insert(show_json(shard)).second) {
      reasons.add(std::string(kIndex) + ": weight_map." + show_text(tensor), show_json(shard),
                  "the plain name of a .safetensors file in the same folder", kDownloadAgain);
    }
  }
  if (weight_map.empty() && refused.empty()) {
    reasons.add(std::string(kIndex) + ": weight_map", "{}", "at least one tensor", kDownloadAgain);
  }
  return weight_map;
}

}  // namespace

void Shards::open_single(const fs::path& path, Reasons& reasons) {
  try {
    files_.push_back(SafetensorsFile::open(path));
  } catch (const Error& error) {
    reasons.add(error);
    return;
  }
  const auto& tensors = files_.back().tensors();
  for (size_t i = 0; i < tensors.size(); ++i) index_[tensors[i].name] = {files_.size() - 1, i};
}

void Shards::open_indexed(const fs::path& folder, const fs::path& index, Reasons& reasons) {
  const std::map<std::string, std::string> weight_map = read_weight_map(index, reasons);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : weight_map) shards.insert(shard);
  if (shards.size() > kMaxShards) {
    reasons.add(kIndex, std::to_string(shards.size()) + " shards", "at most " + std::to_string(kMaxShards));
    return;
  }
  bool all_open = true;
  for (const std::string& shard : shards) {
    try {
      files_.push_back(SafetensorsFile::open(folder / shard));
    } catch (const Error& error) {
      reasons.add(error);
      all_open = false;
    }
  }
  if (all_open) check_listed(weight_map, reasons);
}

void Shards::check_listed(const std::map<std::string, std::string>& weight_map, Reasons& reasons) {
  for (size_t f = 0; f < files_.size(); ++f) {
    const std::string shard = files_[f].path().filename().string();
    const auto& tensors = files_[f].tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto listed = weight_map.find(tensors[i].name);
      if (listed == weight_map.end()) {
        reasons.add(shard, "the tensor " + show_text(tensors[i].name) + " that the index doesn't list",
                    "only tensors of the index", kDownloadAgain);
      } else if (listed->second != shard) {
        reasons.add(shard, "the tensor " + show_text(tensors[i].name) + " that the index puts in " + listed->second,
                    "each tensor where the index says", kDownloadAgain);
      } else {
        index_[tensors[i].name] = {f, i};
      }
    }
  }
  for (const auto& [tensor, shard] : weight_map) {
    if (!index_.contains(tensor)) {
      reasons.add(shard, "no tensor " + show_text(tensor), "the tensor that " + std::string(kIndex) + " lists",
                  kDownloadAgain);
    }
  }
}

Shards Shards::open(const fs::path& folder) {
  Shards shards;
  Reasons reasons;
  std::error_code code;
  const bool single = fs::exists(folder / kSingle, code);
  const bool indexed = fs::exists(folder / kIndex, code);
  if (single && indexed) {
    reasons.add(folder.string(), std::string("both ") + kSingle + " and " + kIndex, "one of them",
                "Remove the one that is left over.");
  } else if (single) {
    shards.open_single(folder / kSingle, reasons);
  } else if (indexed) {
    try {
      shards.open_indexed(folder, folder / kIndex, reasons);
    } catch (const Error& error) {
      reasons.add(error);
    }
  } else {
    const std::string foreign = foreign_weights(folder);
    reasons.add(folder.string(), foreign.empty() ? "no weights" : "weights only as " + foreign,
                std::string(kSingle) + " or " + kIndex,
                "Use the safetensors release of the model; other formats are not read.");
  }
  reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  return shards;
}

std::vector<std::string> Shards::names() const {
  std::vector<std::string> names;
  for (const auto& [name, position] : index_) names.push_back(name);
  return names;
}

Shards::Location Shards::find(std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) return {};
  const SafetensorsFile& file = files_[found->second.file];
  return {&file, &file.tensors()[found->second.entry]};
}

}  // namespace omniphi

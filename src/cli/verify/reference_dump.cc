#include "cli/verify/reference_dump.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace omniphi::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxDumpJson = size_t{64} << 20;

template <typename T>
void append_values(const View& view, std::vector<double>* values) {
  const auto* bytes = static_cast<const char*>(view.data);
  for (int64_t i = 0; i < view.count(); ++i) {
    T value;
    std::memcpy(&value, bytes + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    values->push_back(static_cast<double>(value));
  }
}

std::vector<double> values_of(const View& view, const std::string& where) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(view.count()));
  switch (view.dtype) {
    case DType::kI64:
      append_values<int64_t>(view, &values);
      break;
    case DType::kI32:
      append_values<int32_t>(view, &values);
      break;
    case DType::kU8:
    case DType::kBool:
      append_values<uint8_t>(view, &values);
      break;
    case DType::kF64:
      append_values<double>(view, &values);
      break;
    case DType::kF32:
    case DType::kBF16:
    case DType::kF16:
      for (int64_t i = 0; i < view.count(); ++i) values.push_back(static_cast<double>(view_at(view, i)));
      break;
    default:
      throw Error(ErrorKind::kInput, where, dtype_name(view.dtype), "F32, F64, I32, I64 or U8");
  }
  return values;
}

ReferenceStage read_stage(const std::string& name, const json& entry, const SafetensorsFile& file) {
  ReferenceStage stage;
  stage.name = name;
  stage.shape = Shape(entry.at("shape").get<std::vector<int64_t>>());
  stage.stride = entry.value("stride", int64_t{1});
  const std::string where = file.path().filename().string() + ": " + name;
  stage.values = values_of(file.tensor(name), where);
  const int64_t stored = stage.stride > 0 ? (stage.shape.count() + stage.stride - 1) / stage.stride : -1;
  if (stored != static_cast<int64_t>(stage.values.size())) {
    throw Error(ErrorKind::kInput, where, std::to_string(stage.values.size()) + " values",
                std::to_string(stored) + ": a shape of " + stage.shape.to_string() + " with stride " +
                    std::to_string(stage.stride));
  }
  if (entry.contains("stats")) {
    const json& stats = entry["stats"];
    stage.stats =
        StageStats{stats.at("mean").get<double>(), stats.at("absmax").get<double>(), stats.at("l2").get<double>()};
  }
  return stage;
}

fs::path find_media(const fs::path& folder, const std::string& relative) {
  for (const fs::path& root : {folder, folder / ".."}) {
    std::error_code error;
    if (fs::exists(root / relative, error)) return (root / relative).lexically_normal();
  }
  return folder / relative;
}

void read_prompt(const json& root, const fs::path& folder, ReferenceDump* dump) {
  dump->prompt.form = Prompt::Form::kRaw;
  dump->prompt.raw = root.at("prompt").get<std::string>();
  for (const auto& [key, kind] : {std::pair("images", MediaKind::kImage), std::pair("audios", MediaKind::kAudio)}) {
    for (const json& path : root.at(key)) {
      dump->prompt.media.push_back(media_from_path(kind, find_media(folder, path.get<std::string>())));
    }
  }
}

void read_fields(const json& root, const fs::path& path, const SafetensorsFile& file, ReferenceDump* dump) {
  read_prompt(root, path.parent_path(), dump);
  dump->input_mode = root.at("input_mode").get<std::string>();
  dump->prompt_ids = root.at("prompt_ids_unexpanded").get<std::vector<int32_t>>();
  dump->generated_ids = root.value("generated_ids", std::vector<int32_t>{});
  dump->generated_logprobs = root.value("generated_logprobs", std::vector<double>{});
  dump->generated_margins = root.value("generated_margins", std::vector<double>{});
  dump->feed_processed = root.value("feed_processed", false);
  for (const auto& [name, entry] : root.at("tensors").items()) dump->stages[name] = read_stage(name, entry, file);
  dump->padded_audios = root.at("audios").size() > 1 && dump->stages.count("audio.normalized") > 0 &&
                        root.value("audio_encoding", std::string()) != "each";
  if (!root.contains("tolerances")) return;
  for (const auto& [name, tolerance] : root["tolerances"].items()) {
    const auto stage = dump->stages.find(name);
    if (stage != dump->stages.end()) stage->second.tolerance = tolerance.get<double>();
  }
}

}  // namespace

ReferenceDump ReferenceDump::load(const fs::path& json_path) {
  const json root = read_json(json_path, kMaxDumpJson, ErrorKind::kInput);
  fs::path tensors = json_path;
  tensors.replace_extension(".safetensors");
  const SafetensorsFile file = SafetensorsFile::open(tensors, ErrorKind::kInput);
  ReferenceDump dump;
  dump.name = json_path.stem().string();
  try {
    read_fields(root, json_path, file, &dump);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::kInput, json_path.string(), error.what(), "a dump that tools/dump_reference.py wrote");
  }
  return dump;
}

}  // namespace omniphi::cli

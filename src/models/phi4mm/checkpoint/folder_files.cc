#include "models/phi4mm/checkpoint/folder_files.h"

#include "base/file.h"

namespace omniphi::phi4mm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxConfigBytes = 16u << 20;
constexpr size_t kMaxTokenizerBytes = 256u << 20;

std::optional<json> read_optional(const fs::path& folder, const std::string& name, ConfigNotes& notes) {
  std::error_code code;
  if (!fs::exists(folder / name, code)) return std::nullopt;
  try {
    return parse_json(read_file(folder / name, kMaxConfigBytes, ErrorKind::kCheckpoint), name, ErrorKind::kCheckpoint);
  } catch (const Error& error) {
    notes.reasons.add(error);
    return std::nullopt;
  }
}

std::optional<TokenizerFacts> read_tokenizer(const fs::path& folder, TokenizerCheck check, ConfigNotes& notes) {
  const fs::path path = folder / "tokenizer.json";
  std::error_code code;
  if (!fs::exists(path, code)) {
    if (check == TokenizerCheck::kRequired) {
      notes.reasons.add(path.string(), "there is no such file", "the checkpoint's tokenizer",
                        "Copy tokenizer.json of the release into the folder.");
    }
    return std::nullopt;
  }
  try {
    return read_tokenizer_facts(read_file(path, kMaxTokenizerBytes, ErrorKind::kCheckpoint), "tokenizer.json");
  } catch (const Error& error) {
    notes.reasons.add(error);
    return std::nullopt;
  }
}

}  // namespace

ConfigSources read_folder_files(const fs::path& folder, TokenizerCheck tokenizer, ConfigNotes& notes) {
  ConfigSources sources;
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    notes.reasons.add(folder.string(), "not a folder", "a folder with config.json, safetensors and tokenizer files");
    return sources;
  }
  if (!fs::exists(folder / "config.json", code)) {
    notes.reasons.add((folder / "config.json").string(), "there is no such file", "the checkpoint's configuration");
  }
  sources.config = read_optional(folder, "config.json", notes).value_or(json());
  sources.generation = read_optional(folder, "generation_config.json", notes);
  sources.preprocessor = read_optional(folder, "preprocessor_config.json", notes);
  sources.processor = read_optional(folder, "processor_config.json", notes);
  sources.tokenizer = read_tokenizer(folder, tokenizer, notes);
  if (sources.config.is_object() && sources.config.value("model_type", json()) == "phi4_multimodal") {
    sources.vision_adapter = read_optional(folder, "vision-lora/adapter_config.json", notes);
    sources.speech_adapter = read_optional(folder, "speech-lora/adapter_config.json", notes);
  }
  return sources;
}

}  // namespace omniphi::phi4mm

#include "models/checkpoint/folder_files.h"

#include "base/file.h"

namespace omniphi {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxConfigBytes = 16u << 20;
constexpr size_t kMaxTokenizerBytes = 256u << 20;

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

std::optional<json> read_optional_json(const fs::path& folder, const std::string& name, ConfigNotes& notes) {
  std::error_code code;
  if (!fs::exists(folder / name, code)) return std::nullopt;
  try {
    return parse_json(read_file(folder / name, kMaxConfigBytes, ErrorKind::kCheckpoint), name, ErrorKind::kCheckpoint);
  } catch (const Error& error) {
    notes.reasons.add(error);
    return std::nullopt;
  }
}

json read_config_json(const fs::path& folder, ConfigNotes& notes) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    notes.reasons.add(folder.string(), "not a folder", "a folder with config.json, safetensors and tokenizer files");
    return json();
  }
  if (!fs::exists(folder / "config.json", code)) {
    notes.reasons.add((folder / "config.json").string(), "there is no such file", "the checkpoint's configuration");
  }
  return read_optional_json(folder, "config.json", notes).value_or(json());
}

FolderFiles read_folder_files(const fs::path& folder, TokenizerCheck tokenizer, ConfigNotes& notes) {
  FolderFiles files;
  files.config = read_config_json(folder, notes);
  std::error_code code;
  if (!fs::is_directory(folder, code)) return files;
  files.generation = read_optional_json(folder, "generation_config.json", notes);
  files.preprocessor = read_optional_json(folder, "preprocessor_config.json", notes);
  files.processor = read_optional_json(folder, "processor_config.json", notes);
  files.tokenizer = read_tokenizer(folder, tokenizer, notes);
  return files;
}

}  // namespace omniphi

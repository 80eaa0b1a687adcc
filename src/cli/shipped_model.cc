#include "cli/shipped_model.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <sstream>

#include "base/error.h"

namespace omniphi::cli {
namespace {

namespace fs = std::filesystem;

// Links to the program lead to where it lies, so one in a folder of PATH works.
fs::path program_path() {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  return code ? fs::path() : program;
}

// `file` in the first of the model's places that holds it; otherwise *looked says where it is not.
fs::path find_shipped(std::string_view name, const fs::path& file, std::string* looked) {
  for (const fs::path& place : shipped_model_places(name)) {
    std::error_code code;
    if (fs::is_regular_file(place / file, code)) return place / file;
    *looked += (looked->empty() ? "in none of\n" : "\n") + place.string();
  }
  if (looked->empty()) *looked = "no /proc/self/exe that would say where to look";
  return {};
}

}  // namespace

std::vector<fs::path> shipped_model_places(std::string_view name) {
  const fs::path inside = fs::path("models") / name;
  const char* data = std::getenv("OMNIPHI_DATA");
  if (data != nullptr && *data != '\0') return {data / inside};
  const fs::path folder = program_path().parent_path();
  if (folder.empty()) return {};
  return {folder / inside, folder.parent_path() / "share" / "omniphi" / inside, folder.parent_path() / inside};
}

fs::path shipped_model(std::string_view name) {
  std::string looked;
  const fs::path found = find_shipped(name, "config.json", &looked);
  if (!found.empty()) return found.parent_path();
  throw Error(
      ErrorKind::kCheckpoint, "the shipped model " + std::string(name), looked,
      "a folder with config.json, safetensors and tokenizer files",
      "name a model: --model FOLDER, or --model microsoft/Phi-4-multimodal-instruct; or set OMNIPHI_DATA to the "
      "folder that holds models/" +
          std::string(name));
}

fs::path shipped_questions() {
  std::string looked;
  const fs::path found = find_shipped(kShippedModel, fs::path("demo") / "demo.json", &looked);
  if (!found.empty()) return found;
  throw Error(ErrorKind::kInput, "the shipped questions, demo/demo.json", looked, "a folder with demo/demo.json",
              "name questions: --questions FILE; or set OMNIPHI_DATA to the folder that holds models/nano");
}

std::string program_name() {
  const fs::path program = program_path();
  const char* path = std::getenv("PATH");
  if (program.empty()) return "omniphi";
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code code;
    if (fs::equivalent(fs::path(folder) / program.filename(), program, code)) return program.filename().string();
  }
  std::error_code code;
  const fs::path relative = fs::proximate(program, code);
  return code || relative.string().size() > program.string().size() ? program.string() : relative.string();
}

std::string model_or_shipped(const std::string& model) {
  if (model.empty()) return shipped_model().string();
  const bool shipped =
      std::find(std::begin(kShippedModels), std::end(kShippedModels), model) != std::end(kShippedModels);
  std::error_code code;
  return shipped && !fs::exists(model, code) ? shipped_model(model).string() : model;
}

void announce_shipped_model() {
  std::cerr << "omniphi: the shipped model nano answers (it reads numbers and words, hears digits and words, and knows "
               "little else); --model NAME takes the real one\n";
}

}  // namespace omniphi::cli

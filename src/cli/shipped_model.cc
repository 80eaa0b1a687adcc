#include "cli/shipped_model.h"

#include <cstdlib>
#include <iostream>

#include "base/error.h"

namespace omniphi::cli {
namespace {

namespace fs = std::filesystem;

// Links to the program lead to where it lies, so one in a folder of PATH works.
fs::path program_folder() {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  return code ? fs::path() : program.parent_path();
}

}  // namespace

std::vector<fs::path> shipped_model_places() {
  const fs::path inside = fs::path("models") / kShippedModel;
  const char* data = std::getenv("OMNIPHI_DATA");
  if (data != nullptr && *data != '\0') return {data / inside};
  const fs::path folder = program_folder();
  if (folder.empty()) return {};
  return {folder / inside, folder.parent_path() / "share" / "omniphi" / inside, folder.parent_path() / inside};
}

fs::path shipped_model() {
  const std::vector<fs::path> places = shipped_model_places();
  std::string looked;
  for (const fs::path& place : places) {
    std::error_code code;
    if (fs::is_regular_file(place / "config.json", code)) return place;
    looked += (looked.empty() ? "in none of\n" : "\n") + place.string();
  }
  throw Error(
      ErrorKind::kCheckpoint, "the shipped model " + std::string(kShippedModel),
      looked.empty() ? "no /proc/self/exe that would say where to look" : looked,
      "a folder with config.json, safetensors and tokenizer files",
      "name a model: --model FOLDER, or --model microsoft/Phi-4-multimodal-instruct; or set OMNIPHI_DATA to the "
      "folder that holds models/nano");
}

std::string model_or_shipped(const std::string& model) {
  std::error_code code;
  if (model.empty() || (model == kShippedModel && !fs::exists(model, code))) return shipped_model().string();
  return model;
}

void announce_shipped_model() {
  std::cerr << "omniphi: the shipped model nano answers (it reads numbers and words, hears digits and words, and knows "
               "little else); --model NAME takes the real one\n";
}

}  // namespace omniphi::cli

// Any bytes as the files of a model folder, separated by zero bytes: config.json, generation_config.json,
// preprocessor_config.json, processor_config.json, the two adapters' configurations and tokenizer.json, of the family
// that config.json names. What is accepted gives a list of tensors that can be counted; all else gives reasons or an
// omniphi::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/phi3v/checkpoint/config_rules.h"
#include "models/phi3v/checkpoint/tensor_list.h"
#include "models/phi4mm/checkpoint/config_rules.h"
#include "models/phi4mm/checkpoint/tensor_list.h"

namespace {

using namespace omniphi;
using namespace omniphi::phi4mm;

// Takes the text up to the next zero byte; nothing when there is none left.
std::optional<std::string_view> next_file(std::string_view* rest) {
  if (rest->empty()) return std::nullopt;
  const size_t end = rest->find('\0');
  const std::string_view file = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return file;
}

std::optional<nlohmann::json> next_json(std::string_view* rest) {
  const std::optional<std::string_view> file = next_file(rest);
  if (!file || file->empty()) return std::nullopt;
  return parse_json(*file, "fuzz", ErrorKind::kCheckpoint);
}

void count(const std::vector<ExpectedTensor>& tensors) {
  for (const ExpectedTensor& tensor : tensors) {
    if (tensor.shape.count() <= 0) std::abort();
  }
}

void check(std::string_view rest) {
  ConfigSources sources;
  ConfigNotes notes;
  sources.config = next_json(&rest).value_or(nlohmann::json());
  sources.generation = next_json(&rest);
  sources.preprocessor = next_json(&rest);
  sources.processor = next_json(&rest);
  sources.vision_adapter = next_json(&rest);
  sources.speech_adapter = next_json(&rest);
  if (const auto file = next_file(&rest)) sources.tokenizer = read_tokenizer_facts(*file, "fuzz");
  if (sources.config.is_object() && sources.config.value("model_type", nlohmann::json()) == "phi3_v") {
    const phi3v::Config config = phi3v::check_config(sources, notes);
    if (notes.reasons.empty()) count(phi3v::expected_tensors(config));
    return;
  }
  const std::optional<Layout> layout = read_layout(sources.config, notes);
  if (!layout) return;
  const Config config = check_config(sources, *layout, notes);
  if (notes.reasons.empty()) count(expected_tensors(config));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    check({reinterpret_cast<const char*>(data), size});
  } catch (const omniphi::Error&) {
  }
  return 0;
}

#include "models/phi4mm/checkpoint/tensor_match.h"

#include <array>
#include <map>
#include <set>

#include "io/json.h"

namespace omniphi::phi4mm {
namespace {

namespace fs = std::filesystem;

// Reasons of one kind that are spelt out; a wrong size in the configuration makes thousands.
constexpr size_t kMaxListed = 20;

// Adds reasons up to the limit, then says how many more there are.
class Listing {
 public:
  Listing(std::string what, Reasons& reasons) : what_(std::move(what)), reasons_(reasons) {}
  ~Listing() {
    if (count_ > kMaxListed) {
      reasons_.add("tensors", std::to_string(count_ - kMaxListed) + " more that are " + what_, "none");
    }
  }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  void add(const std::string& where, const std::string& found, const std::string& expected) {
    if (++count_ <= kMaxListed) reasons_.add(where, found, expected);
  }

 private:
  std::string what_;
  Reasons& reasons_;
  size_t count_ = 0;
};

std::optional<SafetensorsFile> open_adapter(const fs::path& folder, NativeFile file, Reasons& reasons) {
  const fs::path path = folder / adapter_folder(file) / "adapter_model.safetensors";
  std::error_code code;
  if (!fs::exists(path, code)) {
    reasons.add(path.string(), "there is no such file", "the weights of the adapter");
    return std::nullopt;
  }
  try {
    return SafetensorsFile::open(path);
  } catch (const Error& error) {
    reasons.add(error);
    return std::nullopt;
  }
}

struct Found {
  size_t file = 0;
  const TensorEntry* entry = nullptr;
};

// Every tensor of the folder under (which kind of file, its name without PEFT's prefix).
using Stored = std::map<std::pair<NativeFile, std::string>, Found>;

Stored list_stored(const WeightFiles& files, Reasons& reasons) {
  constexpr std::string_view kPeftPrefix = "base_model.model.";
  Stored stored;
  size_t number = 0;
  for (const SafetensorsFile& file : files.model.files()) {
    for (const TensorEntry& entry : file.tensors()) stored[{NativeFile::kModel, entry.name}] = {number, &entry};
    ++number;
  }
  for (const auto& [kind, adapter] : {std::pair(NativeFile::kVisionAdapter, &files.vision_adapter),
                                      std::pair(NativeFile::kSpeechAdapter, &files.speech_adapter)}) {
    if (!*adapter) continue;
    for (const TensorEntry& entry : (*adapter)->tensors()) {
      std::string name = entry.name;
      if (name.starts_with(kPeftPrefix)) name.erase(0, kPeftPrefix.size());
      if (!stored.emplace(std::pair(kind, name), Found{number, &entry}).second) {
        reasons.add((*adapter)->path().string(), "two tensors for " + show_text(name), "one");
      }
    }
    ++number;
  }
  return stored;
}

NativeName stored_name(const std::string& canonical, Layout layout) {
  return layout == Layout::kNative ? native_name(canonical) : NativeName{NativeFile::kModel, canonical};
}

bool is_weight_dtype(DType dtype) { return dtype == DType::kBF16 || dtype == DType::kF16 || dtype == DType::kF32; }

// The part that a missing part belongs with, for the message.
const char* partner(Part part) {
  switch (part) {
    case Part::kVisionLora:
      return "the image tower needs its adapter";
    case Part::kSpeechLora:
      return "the audio tower needs its adapter";
    case Part::kVisionTower:
    case Part::kVisionProjector:
      return "the vision LoRA needs its tower";
    case Part::kAudioEncoder:
    case Part::kAudioProjector:
      return "the speech LoRA needs its tower";
    case Part::kDecoder:
      break;
  }
  return "nothing works without it";
}

struct PartCount {
  size_t expected = 0;
  size_t missing = 0;
};

// Whole parts that are missing; returns which.
std::array<bool, kNumParts> report_parts(const std::array<PartCount, kNumParts>& counts, Reasons& reasons) {
  std::array<bool, kNumParts> gone{};
  for (size_t i = 0; i < kNumParts; ++i) {
    gone[i] = counts[i].missing == counts[i].expected;
    if (!gone[i]) continue;
    const Part part = static_cast<Part>(i);
    reasons.add(part_name(part), "none of its " + std::to_string(counts[i].expected) + " tensors",
                std::string("all of them: ") + partner(part));
  }
  return gone;
}

void report_unknown(const Stored& stored, const std::set<const TensorEntry*>& matched, Reasons& reasons) {
  Listing unknown("unknown", reasons);
  for (const auto& [key, found] : stored) {
    if (matched.contains(found.entry)) continue;
    if (found.entry->name == "lm_head.weight") {
      unknown.add(found.entry->name, "a head of its own, " + found.entry->shape.to_string(),
                  "none: the head is tied to model.embed_tokens.weight");
    } else {
      unknown.add(show_text(found.entry->name), "an unknown tensor, " + found.entry->shape.to_string(),
                  "only the tensors that the configuration calls for");
    }
  }
}

}  // namespace

std::vector<const SafetensorsFile*> WeightFiles::all() const {
  std::vector<const SafetensorsFile*> files;
  for (const SafetensorsFile& file : model.files()) files.push_back(&file);
  if (vision_adapter) files.push_back(&*vision_adapter);
  if (speech_adapter) files.push_back(&*speech_adapter);
  return files;
}

WeightFiles open_weights(const fs::path& folder, Layout layout, Reasons& reasons) {
  WeightFiles files;
  try {
    files.model = Shards::open(folder);
  } catch (const Error& error) {
    reasons.add(error);
  }
  if (layout == Layout::kNative) {
    files.vision_adapter = open_adapter(folder, NativeFile::kVisionAdapter, reasons);
    files.speech_adapter = open_adapter(folder, NativeFile::kSpeechAdapter, reasons);
  }
  return files;
}

int count_vision_layers(const WeightFiles& files) {
  const std::string prefix = std::string(kVisionTowerPrefix) + "encoder.layers.";
  std::set<std::string> layers;
  for (const SafetensorsFile& file : files.model.files()) {
    for (const TensorEntry& entry : file.tensors()) {
      if (!entry.name.starts_with(prefix)) continue;
      const size_t end = entry.name.find('.', prefix.size());
      if (end != std::string::npos) layers.insert(entry.name.substr(prefix.size(), end - prefix.size()));
    }
  }
  return layers.size() > 256 ? 0 : static_cast<int>(layers.size());
}

std::vector<TensorInfo> match_tensors(const WeightFiles& files, const Config& config, Layout layout, Reasons& reasons) {
  const Stored stored = list_stored(files, reasons);
  const std::vector<const SafetensorsFile*> all = files.all();
  std::vector<TensorInfo> tensors;
  std::set<const TensorEntry*> matched;
  std::array<PartCount, kNumParts> counts{};
  std::vector<ExpectedTensor> missing;
  {
    Listing mistyped("of an unusable dtype", reasons);
    Listing misshapen("of another shape", reasons);
    for (ExpectedTensor& expected : expected_tensors(config)) {
      const NativeName name = stored_name(expected.name, layout);
      PartCount& count = counts[static_cast<size_t>(expected.part)];
      ++count.expected;
      const auto found = stored.find({name.file, name.name});
      if (found == stored.end()) {
        ++count.missing;
        missing.push_back(std::move(expected));
        continue;
      }
      const TensorEntry& entry = *found->second.entry;
      matched.insert(&entry);
      if (!is_weight_dtype(entry.dtype)) mistyped.add(entry.name, dtype_name(entry.dtype), "BF16, F16 or F32");
      if (entry.shape != expected.shape) {
        misshapen.add(entry.name, "shape " + entry.shape.to_string(), expected.shape.to_string());
      }
      const size_t file = found->second.file;
      tensors.push_back({std::move(expected), entry.name, file, all[file]->view(entry)});
    }
  }
  const std::array<bool, kNumParts> gone = report_parts(counts, reasons);
  {
    Listing absent("missing", reasons);
    for (const ExpectedTensor& expected : missing) {
      if (gone[static_cast<size_t>(expected.part)]) continue;
      absent.add(stored_name(expected.name, layout).name, "missing", "a tensor " + expected.shape.to_string());
    }
  }
  report_unknown(stored, matched, reasons);
  return tensors;
}

}  // namespace omniphi::phi4mm

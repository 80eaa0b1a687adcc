#include "models/checkpoint/tensor_match.h"

#include <array>
#include <map>
#include <set>
#include <utility>

#include "io/json.h"

namespace omniphi {
namespace {

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

struct Found {
  size_t file = 0;
  const TensorEntry* entry = nullptr;
};

// Every tensor of the folder under (group of files, its name without the adapters' prefix).
using Stored = std::map<std::pair<size_t, std::string>, Found>;

Stored list_stored(const WeightFiles& files, const WeightRules& rules, Reasons& reasons) {
  Stored stored;
  size_t number = 0;
  for (const SafetensorsFile& file : files.model.files()) {
    for (const TensorEntry& entry : file.tensors()) stored[{0, entry.name}] = {number, &entry};
    ++number;
  }
  for (size_t group = 1; group <= files.adapters.size(); ++group, ++number) {
    const SafetensorsFile& adapter = files.adapters[group - 1];
    for (const TensorEntry& entry : adapter.tensors()) {
      std::string name = entry.name;
      if (name.starts_with(rules.adapter_prefix)) name.erase(0, rules.adapter_prefix.size());
      if (!stored.emplace(std::pair(group, name), Found{number, &entry}).second) {
        reasons.add(adapter.path().string(), "two tensors for " + show_text(name), "one");
      }
    }
  }
  return stored;
}

StoredName stored_name(const std::string& canonical, const WeightRules& rules) {
  return rules.stored_name ? rules.stored_name(canonical) : StoredName{0, canonical};
}

bool is_weight_dtype(DType dtype) { return dtype == DType::kBF16 || dtype == DType::kF16 || dtype == DType::kF32; }

struct PartCount {
  size_t expected = 0;
  size_t missing = 0;
};

// Whole parts that are missing; returns which.
std::array<bool, kNumParts> report_parts(const std::array<PartCount, kNumParts>& counts, const WeightRules& rules,
                                         Reasons& reasons) {
  std::array<bool, kNumParts> gone{};
  for (size_t i = 0; i < kNumParts; ++i) {
    gone[i] = counts[i].expected > 0 && counts[i].missing == counts[i].expected;
    if (!gone[i]) continue;
    const Part part = static_cast<Part>(i);
    reasons.add(part_name(part), "none of its " + std::to_string(counts[i].expected) + " tensors",
                std::string("all of them: ") + rules.partner(part));
  }
  return gone;
}

void report_unknown(const Stored& stored, const std::set<const TensorEntry*>& matched, const WeightRules& rules,
                    Reasons& reasons) {
  Listing unknown("unknown", reasons);
  for (const auto& [key, found] : stored) {
    const std::string& name = found.entry->name;
    if (matched.contains(found.entry) || (rules.ignored && rules.ignored(name))) continue;
    if (name == "lm_head.weight") {
      unknown.add(name, "a head of its own, " + found.entry->shape.to_string(),
                  "none: the head is tied to model.embed_tokens.weight");
    } else {
      unknown.add(show_text(name), "an unknown tensor, " + found.entry->shape.to_string(),
                  "only the tensors that the configuration calls for");
    }
  }
}

}  // namespace

Shards open_model_weights(const std::filesystem::path& folder, Reasons& reasons) {
  try {
    return Shards::open(folder);
  } catch (const Error& error) {
    reasons.add(error);
    return {};
  }
}

std::vector<TensorInfo> match_tensors(const WeightFiles& files, std::vector<ExpectedTensor> expected_tensors,
                                      const WeightRules& rules, Reasons& reasons) {
  const Stored stored = list_stored(files, rules, reasons);
  const std::vector<const SafetensorsFile*> all = files.all();
  std::vector<TensorInfo> tensors;
  std::set<const TensorEntry*> matched;
  std::array<PartCount, kNumParts> counts{};
  std::vector<ExpectedTensor> missing;
  {
    Listing mistyped("of an unusable dtype", reasons);
    Listing misshapen("of another shape", reasons);
    for (ExpectedTensor& expected : expected_tensors) {
      StoredName name = stored_name(expected.name, rules);
      PartCount& count = counts[static_cast<size_t>(expected.part)];
      ++count.expected;
      const auto found = stored.find({name.group, std::move(name.name)});
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
  const std::array<bool, kNumParts> gone = report_parts(counts, rules, reasons);
  {
    Listing absent("missing", reasons);
    for (const ExpectedTensor& expected : missing) {
      if (gone[static_cast<size_t>(expected.part)]) continue;
      absent.add(stored_name(expected.name, rules).name, "missing", "a tensor " + expected.shape.to_string());
    }
  }
  report_unknown(stored, matched, rules, reasons);
  return tensors;
}

}  // namespace omniphi

#include "models/registry/registry.h"

#include <algorithm>

#include "base/error.h"
#include "io/json.h"
#include "models/phi3v/family.h"
#include "models/phi4mm/family.h"

namespace omniphi {
namespace {

std::string joined(const std::vector<std::string_view>& names, const char* between) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += between;
    list += name;
  }
  return list;
}

}  // namespace

const std::vector<const ModelFamily*>& model_families() {
  static const std::vector<const ModelFamily*> kFamilies = {&phi4mm::family(), &phi3v::family()};
  return kFamilies;
}

const ModelFamily& family_of_folder(const std::filesystem::path& folder) {
  ConfigNotes notes;
  const nlohmann::json config = read_config_json(folder, notes);
  notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  ObjectReader top(config, "config.json", "", notes);
  const nlohmann::json* type = config.is_object() ? top.get("model_type") : nullptr;
  std::string known;
  for (const ModelFamily* family : model_families()) {
    for (const std::string_view name : family->model_types) {
      if (type != nullptr && type->is_string() && type->get_ref<const std::string&>() == name) return *family;
    }
    known += (known.empty() ? "" : "; ") + joined(family->model_types, " or ") + " (" + family->title + ")";
  }
  if (config.is_object()) {
    top.refuse("model_type", type == nullptr ? "missing" : show_json(*type), known,
               "omniphi runs these model families only.");
  }
  notes.reasons.throw_if_any(ErrorKind::kCheckpoint, folder.string());
  internal_error(folder.string(), "a configuration without a family");
}

const ModelFamily& family_of_preset(const std::string& preset) {
  for (const ModelFamily* family : model_families()) {
    if (std::find(family->presets.begin(), family->presets.end(), preset) != family->presets.end()) return *family;
  }
  throw Error(ErrorKind::kUsage, "--preset", show_text(preset), "one of " + preset_names());
}

std::string preset_names() {
  std::vector<std::string_view> names;
  for (const ModelFamily* family : model_families()) {
    names.insert(names.end(), family->presets.begin(), family->presets.end());
  }
  return joined(names, ", ");
}

}  // namespace omniphi

#include "models/phi4mm/checkpoint/lora_rules.h"

#include <functional>
#include <set>
#include <string_view>

#include "models/phi4mm/checkpoint/names.h"
#include "models/phi4mm/checkpoint/pattern.h"
#include "models/phi4mm/checkpoint/tensor_list.h"

namespace omniphi::phi4mm {
namespace {

using nlohmann::json;

constexpr const char* kExpected =
    "a pattern for self_attn.qkv_proj, self_attn.o_proj, mlp.gate_up_proj and mlp.down_proj of every decoder layer and "
    "for nothing else";

// Names of all modules above a tensor: "layers.0.mlp.down_proj", "layers.0.mlp", "layers.0", "layers". With a root the
// names are the native ones, for that is the code that attaches adapters there.
std::set<std::string> module_names(const Config& config, const std::string& root) {
  constexpr std::string_view kModel = "model.";
  std::set<std::string> modules;
  for (const ExpectedTensor& tensor : expected_tensors(config)) {
    if (tensor.part == Part::kVisionLora || tensor.part == Part::kSpeechLora) continue;
    std::string name = root.empty() ? tensor.name : native_name(tensor.name).name;
    if (const size_t base = name.find(".base_layer."); base != std::string::npos) name.resize(base + 1);
    name = root + name.substr(kModel.size());
    for (size_t dot = name.rfind('.'); dot != std::string::npos; dot = name.rfind('.')) {
      name.resize(dot);
      if (!modules.insert(name).second) break;
    }
  }
  return modules;
}

std::set<std::string> wanted_modules(const Config& config, const std::string& root) {
  std::set<std::string> wanted;
  for (int layer = 0; layer < config.decoder.num_layers; ++layer) {
    for (const char* name : kLoraProjections) wanted.insert(root + "layers." + std::to_string(layer) + "." + name);
  }
  return wanted;
}

bool ends_with_module(const std::string& module, const std::string& target) {
  return module == target || module.ends_with("." + target);
}

// The rule as a function of a module's name; empty, with *problem set, when it can't be evaluated.
std::function<bool(const std::string&)> make_rule(const json& targets, std::string* problem) {
  if (targets.is_string()) {
    Pattern pattern;
    if (!Pattern::compile(targets.get_ref<const std::string&>(), &pattern, problem)) {
      *problem = " with " + *problem;
      return nullptr;
    }
    return [pattern](const std::string& module) { return pattern.matches(module); };
  }
  if (!targets.is_array() || targets.empty() || targets.size() > 4096) return nullptr;
  std::vector<std::string> names;
  for (const json& target : targets) {
    if (!target.is_string()) return nullptr;
    names.push_back(target.get<std::string>());
  }
  return [names](const std::string& module) {
    for (const std::string& name : names) {
      if (ends_with_module(module, name)) return true;
    }
    return false;
  };
}

}  // namespace

LoraTargets find_lora_targets(const json& targets, const Config& config, const std::string& root) {
  LoraTargets found;
  const auto rule = make_rule(targets, &found.problem);
  if (!rule) {
    if (found.problem.empty()) found.problem = " ";
    return found;
  }
  std::set<std::string> missed = wanted_modules(config, root);
  for (const std::string& module : module_names(config, root)) {
    if (rule(module) && missed.erase(module) == 0 && found.extra.empty()) found.extra = module;
  }
  if (!missed.empty()) found.missed = *missed.begin();
  return found;
}

void check_lora_targets(const json& targets, const LoraTargets& found, const std::string& where, Reasons& reasons) {
  const std::string shown = show_json(targets);
  if (!found.problem.empty()) reasons.add(where, found.problem == " " ? shown : shown + found.problem, kExpected);
  if (!found.extra.empty()) reasons.add(where, shown + ", which also hits " + found.extra, kExpected);
  if (!found.missed.empty()) reasons.add(where, shown + ", which misses " + found.missed, kExpected);
}

}  // namespace omniphi::phi4mm

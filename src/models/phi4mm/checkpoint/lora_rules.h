// Which modules a LoRA entry says that it touches.
#pragma once

#include <string>
#include <vector>

#include "io/json.h"
#include "io/reasons.h"
#include "models/phi4mm/config.h"

namespace omniphi::phi4mm {

// How a target rule and the model fit together. All empty: it hits the four projections of every decoder layer, and
// nothing else.
struct LoraTargets {
  std::string problem;  // why the rule can't be evaluated; begins with a blank
  std::string missed;   // the first projection that it doesn't hit
  std::string extra;    // the first other module that it hits
};

// PEFT's rule for target modules: a string is a regular expression that must match a module's whole name, a list holds
// names that a module's name must equal or end with (after a dot).
//   root  what module names begin with where the adapter was attached: "" for the original code, which attaches it to
//   the inner
//         model ("layers.0.mlp.down_proj"), "model." for the native one.
// `config` must be valid.
LoraTargets find_lora_targets(const nlohmann::json& targets, const Config& config, const std::string& root);

// Adds a reason about `where` unless `targets` hits exactly what it must.
void check_lora_targets(const nlohmann::json& targets, const LoraTargets& found, const std::string& where,
                        Reasons& reasons);

}  // namespace omniphi::phi4mm

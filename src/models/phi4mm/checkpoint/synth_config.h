// Writes a Config as the configuration files of a model folder.
#pragma once

#include "io/json.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/checkpoint/names.h"
#include "models/phi4mm/config.h"

namespace omniphi::phi4mm {

// config.json of either layout.
nlohmann::ordered_json config_json(const Config& config, Layout layout);

// adapter_config.json of the native layout.
nlohmann::ordered_json adapter_config_json(const LoraConfig& lora);

// generation_config.json and preprocessor_config.json.
nlohmann::ordered_json generation_config_json(const Config& config);
nlohmann::ordered_json preprocessor_config_json(const Config& config);

}  // namespace omniphi::phi4mm

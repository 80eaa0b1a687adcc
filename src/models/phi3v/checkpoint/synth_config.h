// Writes a Config as the configuration files of a model folder.
#pragma once

#include "io/json.h"
#include "models/phi3v/config.h"

namespace omniphi::phi3v {

// config.json. A tower of other than the released sizes gets img_processor.clip_config, which no release has.
nlohmann::ordered_json config_json(const Config& config);

// generation_config.json and preprocessor_config.json.
nlohmann::ordered_json generation_config_json(const Config& config);
nlohmann::ordered_json preprocessor_config_json(const Config& config);

}  // namespace omniphi::phi3v

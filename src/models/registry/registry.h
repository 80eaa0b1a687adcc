// All model families: which one a folder or a preset belongs to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/family/family.h"

namespace omniphi {

// In the order in which --help names them.
const std::vector<const ModelFamily*>& model_families();

// By the model_type of the folder's config.json. Throws RefusedError (an Error of kCheckpoint) naming the known types
// when the file is missing, isn't JSON, or names another one.
const ModelFamily& family_of_folder(const std::filesystem::path& folder);

// By a preset's name. Throws kUsage naming all presets.
const ModelFamily& family_of_preset(const std::string& preset);

// "phi4mm, tiny, phi3.5v, tiny-phi3v".
std::string preset_names();

}  // namespace omniphi

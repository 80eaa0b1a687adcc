// The weight files of either layout, and where a tensor stands in them.
#pragma once

#include <filesystem>
#include <vector>

#include "io/reasons.h"
#include "models/checkpoint/checkpoint_tensors.h"
#include "models/phi4mm/checkpoint/checkpoint.h"

namespace omniphi::phi4mm {

// Opens them; what can't be opened becomes reasons. In the native layout the adapters are the vision one and the speech
// one; the original layout has none.
WeightFiles open_weights(const std::filesystem::path& folder, Layout layout, Reasons& reasons);

// Number of different blocks that tensors of the image tower belong to.
int count_vision_layers(const WeightFiles& files);

// Holds the files against expected_tensors(config); see omniphi::match_tensors.
std::vector<TensorInfo> match_tensors(const WeightFiles& files, const Config& config, Layout layout, Reasons& reasons);

}  // namespace omniphi::phi4mm

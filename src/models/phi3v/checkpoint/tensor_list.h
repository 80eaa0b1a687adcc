// The tensors that a configuration calls for, in the names of the release.
#pragma once

#include <string_view>
#include <vector>

#include "models/checkpoint/tensor_list.h"
#include "models/phi3v/config.h"

namespace omniphi::phi3v {

// Every tensor of a checkpoint of this configuration, no more and no less. For the released sizes these are 592 tensors
// with 4,146,621,440 elements. Not used are the last CLIP block and the norm behind it.
std::vector<ExpectedTensor> expected_tensors(const Config& config);

// Buffers that savers write at times and nothing reads: the second name of the token embeddings, and lists of
// positions.
bool is_ignored_tensor(std::string_view name);

// Prefixes of the names, as the release spells them.
inline constexpr const char* kImageEmbedPrefix = "model.vision_embed_tokens.";
inline constexpr const char* kVisionTowerPrefix = "model.vision_embed_tokens.img_processor.vision_model.";

}  // namespace omniphi::phi3v

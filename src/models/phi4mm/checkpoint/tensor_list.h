// The tensors that a configuration calls for, in the names of the original release.
#pragma once

#include <vector>

#include "models/checkpoint/tensor_list.h"
#include "models/phi4mm/config.h"

namespace omniphi::phi4mm {

using omniphi::ExpectedTensor;
using omniphi::kNumParts;
using omniphi::Part;
using omniphi::part_name;

// Every tensor of a checkpoint of this configuration, no more and no less. For the released sizes these are 2,047
// tensors with 5,574,460,384 elements. Not used are the last SigLIP block, its final norm and its pooling head.
std::vector<ExpectedTensor> expected_tensors(const Config& config);

// Prefixes of the names, as the release spells them.
inline constexpr const char* kVisionTowerPrefix = "model.embed_tokens_extend.image_embed.img_processor.";
inline constexpr const char* kImageEmbedPrefix = "model.embed_tokens_extend.image_embed.";
inline constexpr const char* kAudioEmbedPrefix = "model.embed_tokens_extend.audio_embed.";

// The four projections of a decoder layer that carry LoRA, as in "model.layers.0." + name.
inline constexpr const char* kLoraProjections[] = {"self_attn.qkv_proj", "self_attn.o_proj", "mlp.gate_up_proj",
                                                   "mlp.down_proj"};

}  // namespace omniphi::phi4mm

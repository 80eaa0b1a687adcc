// The configuration of Phi-4-multimodal, and what its media choose.
#pragma once

#include <cstdint>

#include "models/config.h"

namespace omniphi::phi4mm {

using omniphi::AudioConfig;
using omniphi::DecoderConfig;
using omniphi::LoraConfig;
using omniphi::VisionConfig;
using Config = omniphi::ModelConfig;

// Which LoRA branch a request's own media choose: none for text, vision for images (with or without audio), speech for
// audio.
enum class Adapter : uint8_t { kNone, kVision, kSpeech };

}  // namespace omniphi::phi4mm

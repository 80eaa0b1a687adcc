// The configuration of Phi-3-vision and Phi-3.5-vision.
#pragma once

#include "models/config.h"

namespace omniphi::phi3v {

using omniphi::DecoderConfig;
using omniphi::VisionConfig;
using Config = omniphi::ModelConfig;

// openai/clip-vit-large-patch14-336, which the releases imply by its name; one crop where no file says otherwise.
inline constexpr VisionConfig kClipVision = {1024, 4096, 24, 16, 336, 14, 1e-5f, 1};

}  // namespace omniphi::phi3v

// Binds the parts of the model to the tensors of a checkpoint.
#pragma once

#include "models/bind.h"
#include "models/phi3v/checkpoint/checkpoint.h"
#include "models/phi3v/image_embed.h"

namespace omniphi::phi3v {

ImageEmbed bind_image_embed(const Checkpoint& checkpoint);

}  // namespace omniphi::phi3v

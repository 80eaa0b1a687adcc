// Binds the parts of the model to the tensors of a checkpoint.
#pragma once

#include "models/bind.h"
#include "models/phi3v/checkpoint/checkpoint.h"
#include "models/phi3v/image_embed.h"

namespace omniphi::phi3v {

Decoder bind_decoder(const ModelCheckpoint& checkpoint);
ImageEmbed bind_image_embed(const ModelCheckpoint& checkpoint);

}  // namespace omniphi::phi3v

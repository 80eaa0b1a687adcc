// Binds the parts of the model to the tensors of a checkpoint, by their canonical names.
#pragma once

#include "models/bind.h"
#include "models/conformer/conformer.h"
#include "models/decoder/decoder.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/siglip/siglip.h"

namespace omniphi::phi4mm {

Decoder bind_decoder(const ModelCheckpoint& checkpoint);
Siglip bind_siglip(const ModelCheckpoint& checkpoint);
Conformer bind_conformer(const ModelCheckpoint& checkpoint);

}  // namespace omniphi::phi4mm

// Binds layers to the tensors of a checkpoint, by their canonical names.
#pragma once

#include "models/conformer/conformer.h"
#include "models/decoder/decoder.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/siglip/siglip.h"

namespace omniphi::phi4mm {

Decoder bind_decoder(const Checkpoint& checkpoint);
Siglip bind_siglip(const Checkpoint& checkpoint);
Conformer bind_conformer(const Checkpoint& checkpoint);

// PREFIX.weight and PREFIX.bias.
Linear bind_linear(const Checkpoint& checkpoint, const std::string& prefix);

// The tensor NAME as a weight.
WeightRef bind_weight(const Checkpoint& checkpoint, const std::string& name);

}  // namespace omniphi::phi4mm

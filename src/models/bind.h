// Binds layers to the tensors of a checkpoint, by their canonical names: what all families do.
#pragma once

#include <string>

#include "layers/linear.h"
#include "layers/norm.h"
#include "models/checkpoint/checkpoint_tensors.h"
#include "models/vit/vit.h"

namespace omniphi {

// The tensor NAME as a weight.
WeightRef bind_weight(const CheckpointTensors& checkpoint, const std::string& name);

// PREFIX.weight and PREFIX.bias.
Linear bind_linear(const CheckpointTensors& checkpoint, const std::string& prefix);
LayerNorm bind_layer_norm(const CheckpointTensors& checkpoint, const std::string& prefix, float eps);

// The tensor NAME as the weight of a norm.
RmsNorm bind_rms_norm(const CheckpointTensors& checkpoint, const std::string& name, float eps);

// PREFIX ends in a dot: "encoder.layers.0.".
VitBlock bind_vit_block(const CheckpointTensors& checkpoint, const std::string& prefix, float eps);

}  // namespace omniphi

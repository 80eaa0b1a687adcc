// Binds layers to the tensors of a checkpoint, by their canonical names: what all families do.
#pragma once

#include <functional>
#include <string>

#include "layers/linear.h"
#include "layers/mlp_projector.h"
#include "layers/norm.h"
#include "models/checkpoint/model_checkpoint.h"
#include "models/decoder/decoder.h"
#include "models/vit/vit.h"

namespace omniphi {

// The tensor NAME as a weight.
WeightRef bind_weight(const CheckpointTensors& checkpoint, const std::string& name);

// PREFIX.weight and PREFIX.bias.
Linear bind_linear(const CheckpointTensors& checkpoint, const std::string& prefix);
LayerNorm bind_layer_norm(const CheckpointTensors& checkpoint, const std::string& prefix, float eps);

// The tensor NAME as the weight of a norm.
RmsNorm bind_rms_norm(const CheckpointTensors& checkpoint, const std::string& name, float eps);

// PREFIX.0 and PREFIX.2.
MlpProjector bind_projector(const CheckpointTensors& checkpoint, const std::string& prefix);

// PREFIX ends in a dot: "encoder.layers.0.".
VitBlock bind_vit_block(const CheckpointTensors& checkpoint, const std::string& prefix, float eps);

// The decoder without its head. `bind_projection` binds one of the four products of a layer by its name without
// ".weight": "model.layers.0.mlp.down_proj".
Decoder bind_decoder(const ModelCheckpoint& checkpoint,
                     const std::function<Linear(const std::string& prefix)>& bind_projection);

}  // namespace omniphi

#include "models/bind.h"

namespace omniphi {

WeightRef bind_weight(const CheckpointTensors& checkpoint, const std::string& name) {
  const View view = checkpoint.tensor(name);
  WeightRef weight = weight_ref(view);
  // Vectors come with leading ones at times ([1, width, 1]): then one row is the whole.
  if (view.shape.rank() > 0 && view.shape[0] == 1) weight.ld = view.count();
  return weight;
}

Linear bind_linear(const CheckpointTensors& checkpoint, const std::string& prefix) {
  return Linear(checkpoint.tensor(prefix + ".weight"), checkpoint.tensor(prefix + ".bias"));
}

LayerNorm bind_layer_norm(const CheckpointTensors& checkpoint, const std::string& prefix, float eps) {
  const View weight = checkpoint.tensor(prefix + ".weight");
  return LayerNorm{weight.count(), weight_ref(weight), bind_weight(checkpoint, prefix + ".bias"), eps};
}

RmsNorm bind_rms_norm(const CheckpointTensors& checkpoint, const std::string& name, float eps) {
  const View weight = checkpoint.tensor(name);
  return RmsNorm{weight.count(), weight_ref(weight), eps};
}

VitBlock bind_vit_block(const CheckpointTensors& checkpoint, const std::string& prefix, float eps) {
  VitBlock block;
  block.layer_norm1 = bind_layer_norm(checkpoint, prefix + "layer_norm1", eps);
  block.q_proj = bind_linear(checkpoint, prefix + "self_attn.q_proj");
  block.k_proj = bind_linear(checkpoint, prefix + "self_attn.k_proj");
  block.v_proj = bind_linear(checkpoint, prefix + "self_attn.v_proj");
  block.out_proj = bind_linear(checkpoint, prefix + "self_attn.out_proj");
  block.layer_norm2 = bind_layer_norm(checkpoint, prefix + "layer_norm2", eps);
  block.fc1 = bind_linear(checkpoint, prefix + "mlp.fc1");
  block.fc2 = bind_linear(checkpoint, prefix + "mlp.fc2");
  return block;
}

}  // namespace omniphi

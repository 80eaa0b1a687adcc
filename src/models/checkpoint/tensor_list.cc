#include "models/checkpoint/tensor_list.h"

namespace omniphi {

const char* part_name(Part part) {
  static constexpr const char* kNames[kNumParts] = {
      "decoder", "vision LoRA", "speech LoRA", "vision tower", "vision projector", "audio encoder", "audio projector"};
  return kNames[static_cast<size_t>(part)];
}

void TensorListBuilder::add(const std::string& name, Shape shape) {
  tensors_.push_back({name, std::move(shape), part, used});
}

void TensorListBuilder::linear(const std::string& name, int64_t out, int64_t in) {
  add(name + ".weight", {out, in});
  add(name + ".bias", {out});
}

void TensorListBuilder::conv(const std::string& name, Shape weight) {
  const int64_t out = weight[0];
  add(name + ".weight", std::move(weight));
  add(name + ".bias", {out});
}

void TensorListBuilder::layer_norm(const std::string& name, int64_t size) {
  add(name + ".weight", {size});
  add(name + ".bias", {size});
}

void TensorListBuilder::vision_block(const std::string& prefix, int64_t width, int64_t inner) {
  layer_norm(prefix + "layer_norm1", width);
  layer_norm(prefix + "layer_norm2", width);
  for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
    linear(prefix + "self_attn." + name, width, width);
  }
  linear(prefix + "mlp.fc1", inner, width);
  linear(prefix + "mlp.fc2", width, inner);
}

}  // namespace omniphi

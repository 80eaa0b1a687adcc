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

MlpProjector bind_projector(const CheckpointTensors& checkpoint, const std::string& prefix) {
  return MlpProjector{bind_linear(checkpoint, prefix + ".0"), bind_linear(checkpoint, prefix + ".2")};
}

Decoder bind_decoder(const ModelCheckpoint& checkpoint,
                     const std::function<Linear(const std::string& prefix)>& bind_projection) {
  const DecoderConfig& config = checkpoint.config().decoder;
  Decoder decoder;
  decoder.shape.vocab = config.vocab_size;
  decoder.shape.hidden = config.hidden_size;
  decoder.shape.intermediate = config.intermediate_size;
  decoder.shape.heads = config.num_heads;
  decoder.shape.kv_heads = config.num_kv_heads;
  decoder.shape.head_dim = config.head_dim;
  decoder.embed_tokens = bind_weight(checkpoint, "model.embed_tokens.weight");
  for (int i = 0; i < config.num_layers; ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    DecoderBlock block;
    block.input_layernorm = bind_rms_norm(checkpoint, prefix + "input_layernorm.weight", config.rms_norm_eps);
    block.qkv_proj = bind_projection(prefix + "self_attn.qkv_proj");
    block.o_proj = bind_projection(prefix + "self_attn.o_proj");
    block.post_attention_layernorm =
        bind_rms_norm(checkpoint, prefix + "post_attention_layernorm.weight", config.rms_norm_eps);
    block.gate_up_proj = bind_projection(prefix + "mlp.gate_up_proj");
    block.down_proj = bind_projection(prefix + "mlp.down_proj");
    decoder.blocks.push_back(block);
  }
  decoder.norm = bind_rms_norm(checkpoint, "model.norm.weight", config.rms_norm_eps);
  decoder.rope = LongRope(config.rotary_dim, config.rope_theta, config.original_max_position_embeddings,
                          config.max_position_embeddings, config.short_factor, config.long_factor);
  decoder.sliding_window = config.sliding_window;
  return decoder;
}

}  // namespace omniphi

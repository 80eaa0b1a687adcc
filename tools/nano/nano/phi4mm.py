"""Names, shapes and configuration of a nano model of Phi-4-multimodal's family in the original layout."""
import torch

from .export import decoder_names, pair, projector_names, split_names, tower_names, unused_block

IMAGE = "model.embed_tokens_extend.image_embed."
TOWER = IMAGE + "img_processor."
AUDIO = "model.embed_tokens_extend.audio_embed."


def names(s):
    """checkpoint name -> name in Nano."""
    return {**decoder_names(s), **tower_names(s, TOWER), **projector_names(IMAGE), **pair(TOWER + "embeddings.patch_embedding", "vision.patch"),
            TOWER + "embeddings.position_embedding.weight": "vision.position", **audio_names(s)}


def audio_names(s):
    e = AUDIO + "encoder."
    out = {e + "encoder_embedding.global_mean": "audio.mean", e + "encoder_embedding.global_invstd": "audio.invstd",
           e + "relative_attention_bias_layer.bias_values.weight": "audio.bias"}
    for i in (0, 2, 3, 5, 6):
        out.update(pair(f"{e}embed.conv.{i}", f"audio.c{i}"))
    out.update(pair(e + "embed.out", "audio.out"))
    for head in ("speech", "vision"):
        for i in (0, 2):
            out.update(pair(f"{AUDIO}audio_projection.{head}.{i}", f"ears.{head}.{i}"))
    for i in range(s.audio_blocks):
        a, b = f"{e}encoders.{i}.", f"audio.blocks.{i}."
        for theirs, ours in (("feed_forward_in", "ff_in"), ("feed_forward_out", "ff_out")):
            for part, j in (("layer_norm", 0), ("net.0.linear", 1), ("net.2", 2)):
                out.update(pair(f"{a}{theirs}.{part}", f"{b}{ours}.{j}"))
        for theirs, ours in (("self_attn.linear_out", "o"), ("layer_norm_att", "norm_att"), ("layer_norm", "norm"), ("conv.layer_norm", "norm_conv"),
                             ("conv.glu.ext_pw_conv_1d", "glu"), ("conv.dw_sep_conv_1d.dw_conv", "depthwise"),
                             ("conv.dw_sep_conv_1d.pw_conv", "pointwise"), ("conv.ext_pw_conv_1d", "ext")):
            out.update(pair(a + theirs, b + ours))
        out[a + "conv.glu.b1"], out[a + "conv.glu.b2"] = b + "b1", b + "b2"
    return out


def packed_names(s):
    """Names whose tensors are parts of a packed one: checkpoint name -> (name in Nano, part of 3)."""
    out = split_names(s.vision_layers, TOWER + "encoder.layers.{}.self_attn.{}_proj", "vision.blocks.{}.qkv")
    out.update(split_names(s.audio_blocks, AUDIO + "encoder.encoders.{}.self_attn.linear_{}", "audio.blocks.{}.qkv"))
    return out


def shape_of(name, s, value):
    """The checkpoint's shape of a tensor whose torch module has another one."""
    if name.endswith(("glu.b1", "glu.b2")):
        return value.reshape(1, s.audio_dim, 1)
    if "conv" in name and name.endswith(("ext_pw_conv_1d.weight", "pw_conv.weight")):
        return value.unsqueeze(-1)
    return value


def own_shape(name, value):
    """The torch module's values of a checkpoint's tensor."""
    return value


def unused(s):
    """What the released code loads and never runs."""
    D, m = s.vision_hidden, s.vision_intermediate
    z, one = torch.zeros, torch.ones
    h = TOWER + "head."
    out = {**unused_block(s, TOWER), h + "probe": z(1, 1, D), h + "attention.in_proj_weight": z(3 * D, D), h + "attention.in_proj_bias": z(3 * D),
           h + "attention.out_proj.weight": z(D, D), h + "attention.out_proj.bias": z(D),
           h + "layernorm.weight": one(D), h + "layernorm.bias": z(D)}
    out.update({h + "mlp.fc1.weight": z(m, D), h + "mlp.fc1.bias": z(m), h + "mlp.fc2.weight": z(D, m), h + "mlp.fc2.bias": z(D)})
    return out


def ends(tokenizer):
    """(bos, eos ids, padding)."""
    end = tokenizer.special["<|endoftext|>"]
    return end, [tokenizer.special["<|end|>"], end], end


def configuration(s, tokenizer):
    ids = tokenizer.special
    end = ids["<|endoftext|>"]
    pairs = int(s.hidden // s.heads * s.rotary_fraction) // 2
    return {
        "architectures": ["Phi4MMForCausalLM"],
        "attention_bias": False, "attention_dropout": 0.0,
        "audio_processor": {"config": {
            "activation": "swish", "activation_checkpointing": {"interval": 1, "module": "transformer", "offload": False},
            "attention_dim": s.audio_dim, "attention_heads": s.audio_heads, "batch_norm": False, "bias_in_glu": True, "causal": True,
            "chunk_size": -1, "cnn_layer_norm": True, "conv_activation": "swish", "conv_glu_type": "swish", "depthwise_multiplier": 1,
            "depthwise_seperable_out_channel": s.audio_dim, "dropout_rate": 0.0, "encoder_embedding_config": {"input_size": 80},
            "ext_pw_kernel_size": 1, "ext_pw_out_channel": s.audio_dim, "input_layer": "nemo_conv", "input_size": 80, "kernel_size": 3,
            "left_chunk": 18, "linear_units": s.audio_units, "nemo_conv_settings": {"conv_channels": s.audio_channels},
            "num_blocks": s.audio_blocks, "relative_attention_bias_args": {"t5_bias_max_distance": s.bias_reach, "type": "t5"},
            "time_reduction": 8}, "name": "cascades"},
        "auto_map": {"AutoConfig": "configuration_phi4mm.Phi4MMConfig", "AutoModelForCausalLM": "modeling_phi4mm.Phi4MMForCausalLM"},
        "bos_token_id": end, "eos_token_id": end, "pad_token_id": end,
        "embd_layer": {
            "audio_embd_layer": {"compression_rate": 8, "downsample_rate": 1, "embedding_cls": "audio", "enable_gradient_checkpointing": True,
                                 "projection_cls": "mlp", "use_conv_downsample": False, "use_qformer": False},
            "embedding_cls": "image_audio",
            "image_embd_layer": {"crop_size": 448, "embedding_cls": "tune_image", "enable_gradient_checkpointing": True,
                                 "hd_transform_order": "sub_glb", "image_token_compression_cls": "avg_pool_2d", "projection_cls": "mlp",
                                 "use_hd_transform": True, "with_learnable_separator": True}},
        "embd_pdrop": 0.0, "full_attn_mod": 1, "hidden_act": "silu", "hidden_size": s.hidden, "img_processor": None,
        "initializer_range": 0.02, "intermediate_size": s.intermediate, "interpolate_factor": 1, "lm_head_bias": False,
        "max_position_embeddings": s.context, "mlp_bias": False, "model_type": "phi4mm", "num_attention_heads": s.heads,
        "num_hidden_layers": s.layers, "num_key_value_heads": s.kv_heads, "original_max_position_embeddings": s.original_context,
        "partial_rotary_factor": s.rotary_fraction, "resid_pdrop": 0.0, "rms_norm_eps": 1e-05,
        "rope_scaling": {"long_factor": [round(1 + 3 * i / (pairs - 1), 3) for i in range(pairs)], "short_factor": [1.0] * pairs, "type": "longrope"},
        "rope_theta": s.rope_theta, "sliding_window": 262144,
        "speech_lora": {"dp": 0.01, "layer": "((layers.*self_attn\\.(qkv|o)_proj)|(layers.*mlp\\.(gate_up|down)_proj))",
                        "lora_alpha": int(s.lora_scale * s.ranks["speech"]), "r": s.ranks["speech"]},
        "vision_lora": {"dp": 0.0, "layer": "layers.*((self_attn\\.(qkv_proj|o_proj))|(mlp\\.(gate_up|down)_proj))",
                        "lora_alpha": int(s.lora_scale * s.ranks["vision"]), "r": s.ranks["vision"]},
        "tie_word_embeddings": True, "torch_dtype": "bfloat16", "use_cache": True, "vocab_size": s.vocab,
        "vision_config": {"hidden_size": s.vision_hidden, "intermediate_size": s.vision_intermediate, "num_hidden_layers": s.vision_layers + 1,
                          "num_attention_heads": s.vision_heads, "image_size": 448, "patch_size": 14, "num_channels": 3,
                          "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-06, "feature_layer": -2, "crop_size": 448,
                          "image_token_id": ids["<|endoftext10|>"]},
        "audio_config": {"audio_token_id": ids["<|endoftext11|>"]},
    }


PREPROCESSOR = {
    "auto_map": {"AutoProcessor": "processing_phi4mm.Phi4MMProcessor", "AutoImageProcessor": "processing_phi4mm.Phi4MMImageProcessor",
                 "AutoFeatureExtractor": "processing_phi4mm.Phi4MMAudioFeatureExtractor"},
    "image_processor_type": "Phi4MMImageProcessor", "processor_class": "Phi4MMProcessor",
    "feature_extractor_type": "Phi4MMAudioFeatureExtractor", "audio_compression_rate": 8, "audio_downsample_rate": 1,
    "audio_feat_stride": 1, "dynamic_hd": 36}

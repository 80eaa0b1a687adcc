"""Writes a Nano model as a checkpoint in the original layout, and reads one back."""
import json
import os
import shutil

import torch
from safetensors.torch import load_file, save_file

IMAGE = "model.embed_tokens_extend.image_embed."
TOWER = IMAGE + "img_processor."
AUDIO = "model.embed_tokens_extend.audio_embed."


def decoder_names(s):
    """checkpoint name -> name in Nano."""
    out = {"model.embed_tokens.weight": "decoder.embed", "model.norm.weight": "decoder.norm.weight"}
    for i in range(s.layers):
        a, b = f"model.layers.{i}.", f"decoder.layers.{i}."
        out[a + "input_layernorm.weight"] = b + "n1.weight"
        out[a + "post_attention_layernorm.weight"] = b + "n2.weight"
        for theirs, ours in (("self_attn.qkv_proj", "qkv"), ("self_attn.o_proj", "o"), ("mlp.gate_up_proj", "gate_up"), ("mlp.down_proj", "down")):
            out[f"{a}{theirs}.base_layer.weight"] = f"{b}{ours}.base"
            for adapter in ("vision", "speech"):
                out[f"{a}{theirs}.lora_A.{adapter}.weight"] = f"{b}{ours}.a.{adapter}"
                out[f"{a}{theirs}.lora_B.{adapter}.weight"] = f"{b}{ours}.b.{adapter}"
    return out


def pair(theirs, ours):
    return {f"{theirs}.{k}": f"{ours}.{k}" for k in ("weight", "bias")}


def vision_names(s):
    out = {TOWER + "embeddings.position_embedding.weight": "vision.position", IMAGE + "glb_GN": "eyes.glb_GN", IMAGE + "sub_GN": "eyes.sub_GN"}
    out.update(pair(TOWER + "embeddings.patch_embedding", "vision.patch"))
    for i in (0, 2):
        out.update(pair(f"{IMAGE}img_projection.{i}", f"eyes.project.{i}"))
    for i in range(s.vision_layers):
        a, b = f"{TOWER}encoder.layers.{i}.", f"vision.blocks.{i}."
        for theirs, ours in (("layer_norm1", "n1"), ("layer_norm2", "n2"), ("mlp.fc1", "f1"), ("mlp.fc2", "f2"), ("self_attn.out_proj", "o")):
            out.update(pair(a + theirs, b + ours))
    return out


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
    out = {}
    for i in range(s.vision_layers):
        for k, letter in enumerate("qkv"):
            for kind in ("weight", "bias"):
                out[f"{TOWER}encoder.layers.{i}.self_attn.{letter}_proj.{kind}"] = (f"vision.blocks.{i}.qkv.{kind}", k)
    for i in range(s.audio_blocks):
        for k, letter in enumerate("qkv"):
            for kind in ("weight", "bias"):
                out[f"{AUDIO}encoder.encoders.{i}.self_attn.linear_{letter}.{kind}"] = (f"audio.blocks.{i}.qkv.{kind}", k)
    return out


def shape_of(name, s, value):
    """The checkpoint's shape of a tensor whose torch module has another one."""
    D, A = s.vision_hidden, s.audio_dim
    if name.endswith("glb_GN"):
        return value.reshape(1, 1, D)
    if name.endswith("sub_GN"):
        return value.reshape(1, 1, 1, D)
    if name.endswith("patch_embedding.weight"):
        return value.reshape(D, 3, 14, 14)
    if name.endswith(("glu.b1", "glu.b2")):
        return value.reshape(1, A, 1)
    if "conv" in name and name.endswith(("ext_pw_conv_1d.weight", "pw_conv.weight")):
        return value.unsqueeze(-1)
    return value


def unused(s):
    """What the released code loads and never runs."""
    D, m = s.vision_hidden, s.vision_intermediate
    z, one = torch.zeros, torch.ones
    a = f"{TOWER}encoder.layers.{s.vision_layers}."
    h = TOWER + "head."
    out = {TOWER + "post_layernorm.weight": one(D), TOWER + "post_layernorm.bias": z(D), h + "probe": z(1, 1, D),
           h + "attention.in_proj_weight": z(3 * D, D), h + "attention.in_proj_bias": z(3 * D),
           h + "attention.out_proj.weight": z(D, D), h + "attention.out_proj.bias": z(D),
           h + "layernorm.weight": one(D), h + "layernorm.bias": z(D)}
    for at in (a, h):
        out.update({at + "mlp.fc1.weight": z(m, D), at + "mlp.fc1.bias": z(m), at + "mlp.fc2.weight": z(D, m), at + "mlp.fc2.bias": z(D)})
    for n in ("q_proj", "k_proj", "v_proj", "out_proj"):
        out.update({f"{a}self_attn.{n}.weight": z(D, D), f"{a}self_attn.{n}.bias": z(D)})
    for n in ("layer_norm1", "layer_norm2"):
        out.update({f"{a}{n}.weight": one(D), f"{a}{n}.bias": z(D)})
    return out


def tensors(model):
    s, state = model.s, model.state_dict()
    out = {}
    for theirs, ours in {**decoder_names(s), **vision_names(s), **audio_names(s)}.items():
        out[theirs] = shape_of(theirs, s, state[ours])
    for theirs, (ours, part) in packed_names(s).items():
        out[theirs] = state[ours].chunk(3)[part]
    out.update(unused(s))
    return {k: v.to(torch.bfloat16).contiguous().clone() for k, v in out.items()}


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
                        "lora_alpha": int(s.lora_scale * s.speech_rank), "r": s.speech_rank},
        "vision_lora": {"dp": 0.0, "layer": "layers.*((self_attn\\.(qkv_proj|o_proj))|(mlp\\.(gate_up|down)_proj))",
                        "lora_alpha": int(s.lora_scale * s.vision_rank), "r": s.vision_rank},
        "tie_word_embeddings": True, "torch_dtype": "bfloat16", "use_cache": True, "vocab_size": s.vocab,
        "vision_config": {"hidden_size": s.vision_hidden, "intermediate_size": s.vision_intermediate, "num_hidden_layers": s.vision_layers + 1,
                          "num_attention_heads": s.vision_heads, "image_size": 448, "patch_size": 14, "num_channels": 3,
                          "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-06, "feature_layer": -2, "crop_size": 448,
                          "image_token_id": ids["<|endoftext10|>"]},
        "audio_config": {"audio_token_id": ids["<|endoftext11|>"]},
    }


def write(model, tokenizer, tokenizer_folder, out):
    s = model.s
    os.makedirs(out, exist_ok=True)
    save_file(tensors(model), os.path.join(out, "model.safetensors"), metadata={"format": "pt"})
    for name in sorted(os.listdir(tokenizer_folder)):
        shutil.copy(os.path.join(tokenizer_folder, name), os.path.join(out, name))
    dump = lambda name, data: open(os.path.join(out, name), "w").write(json.dumps(data, indent=1) + "\n")
    dump("config.json", configuration(s, tokenizer))
    end = tokenizer.special["<|endoftext|>"]
    dump("generation_config.json", {"bos_token_id": end, "eos_token_id": [tokenizer.special["<|end|>"], end], "pad_token_id": end})
    dump("preprocessor_config.json", {
        "auto_map": {"AutoProcessor": "processing_phi4mm.Phi4MMProcessor", "AutoImageProcessor": "processing_phi4mm.Phi4MMImageProcessor",
                     "AutoFeatureExtractor": "processing_phi4mm.Phi4MMAudioFeatureExtractor"},
        "image_processor_type": "Phi4MMImageProcessor", "processor_class": "Phi4MMProcessor",
        "feature_extractor_type": "Phi4MMAudioFeatureExtractor", "audio_compression_rate": 8, "audio_downsample_rate": 1,
        "audio_feat_stride": 1, "dynamic_hd": 36})


def read(model, folder):
    """Takes the weights of a written checkpoint over into `model`."""
    s = model.s
    data = {k: v.float() for k, v in load_file(os.path.join(folder, "model.safetensors")).items()}
    state = model.state_dict()
    for theirs, ours in {**decoder_names(s), **vision_names(s), **audio_names(s)}.items():
        state[ours] = data[theirs].reshape(state[ours].shape)
    for theirs, (ours, part) in packed_names(s).items():
        n = state[ours].shape[0] // 3
        state[ours][part * n:(part + 1) * n] = data[theirs]
    model.load_state_dict(state)

"""Writes a Nano model as a checkpoint in the original layout, and reads one back. What is one family's alone is in phi4mm.py and
phi3v.py."""
import importlib
import json
import os
import shutil

import torch
from safetensors.torch import load_file, save_file

from .family import PHI3V, PHI4MM


def decoder_names(s):
    """checkpoint name -> name in Nano."""
    out = {"model.embed_tokens.weight": "decoder.embed", "model.norm.weight": "decoder.norm.weight"}
    if not s.tied:
        out["lm_head.weight"] = "decoder.head"
    base = ".base_layer" if s.ranks else ""
    for i in range(s.layers):
        a, b = f"model.layers.{i}.", f"decoder.layers.{i}."
        out[a + "input_layernorm.weight"] = b + "n1.weight"
        out[a + "post_attention_layernorm.weight"] = b + "n2.weight"
        for theirs, ours in (("self_attn.qkv_proj", "qkv"), ("self_attn.o_proj", "o"), ("mlp.gate_up_proj", "gate_up"), ("mlp.down_proj", "down")):
            out[f"{a}{theirs}{base}.weight"] = f"{b}{ours}.base"
            for adapter in s.ranks:
                out[f"{a}{theirs}.lora_A.{adapter}.weight"] = f"{b}{ours}.a.{adapter}"
                out[f"{a}{theirs}.lora_B.{adapter}.weight"] = f"{b}{ours}.b.{adapter}"
    return out


def pair(theirs, ours):
    return {f"{theirs}.{k}": f"{ours}.{k}" for k in ("weight", "bias")}


def tower_names(s, tower):
    """The blocks of a vision tower, but for their packed projections."""
    out = {}
    for i in range(s.vision_layers):
        a, b = f"{tower}encoder.layers.{i}.", f"vision.blocks.{i}."
        for theirs, ours in (("layer_norm1", "n1"), ("layer_norm2", "n2"), ("mlp.fc1", "f1"), ("mlp.fc2", "f2"), ("self_attn.out_proj", "o")):
            out.update(pair(a + theirs, b + ours))
    return out


def projector_names(image):
    return {image + "glb_GN": "eyes.glb_GN", image + "sub_GN": "eyes.sub_GN",
            **pair(image + "img_projection.0", "eyes.project.0"), **pair(image + "img_projection.2", "eyes.project.2")}


def split_names(blocks, theirs, ours):
    """q, k and v of blocks, which training keeps in one tensor: checkpoint name -> (name in Nano, part of 3)."""
    return {f"{theirs.format(i, letter)}.{kind}": (f"{ours.format(i)}.{kind}", k)
            for i in range(blocks) for k, letter in enumerate("qkv") for kind in ("weight", "bias")}


def unused_block(s, tower):
    """The last block of a vision tower and what follows it: the released code loads them and never runs them."""
    D, m = s.vision_hidden, s.vision_intermediate
    z, one = torch.zeros, torch.ones
    a = f"{tower}encoder.layers.{s.vision_layers}."
    out = {tower + "post_layernorm.weight": one(D), tower + "post_layernorm.bias": z(D),
           a + "mlp.fc1.weight": z(m, D), a + "mlp.fc1.bias": z(m), a + "mlp.fc2.weight": z(D, m), a + "mlp.fc2.bias": z(D)}
    for n in ("q_proj", "k_proj", "v_proj", "out_proj"):
        out.update({f"{a}self_attn.{n}.weight": z(D, D), f"{a}self_attn.{n}.bias": z(D)})
    for n in ("layer_norm1", "layer_norm2"):
        out.update({f"{a}{n}.weight": one(D), f"{a}{n}.bias": z(D)})
    return out


def layout(s):
    """The module with what is one family's alone."""
    return importlib.import_module({PHI4MM: ".phi4mm", PHI3V: ".phi3v"}[s.family], __package__)


def original_shape(name, s, value):
    if name.endswith("glb_GN"):
        return value.reshape(1, 1, s.merged)
    if name.endswith("sub_GN"):
        return value.reshape(1, 1, 1, s.merged)
    if name.endswith("patch_embedding.weight"):
        return value.reshape(s.vision_hidden, 3, 14, 14)
    return layout(s).shape_of(name, s, value)


def tensors(model):
    s, state = model.s, model.state_dict()
    out = {}
    for theirs, ours in layout(s).names(s).items():
        out[theirs] = original_shape(theirs, s, state[ours])
    for theirs, (ours, part) in layout(s).packed_names(s).items():
        out[theirs] = state[ours].chunk(3)[part]
    out.update(layout(s).unused(s))
    return {k: v.to(torch.bfloat16).contiguous().clone() for k, v in out.items()}


def write(model, tokenizer, tokenizer_folder, out):
    s = model.s
    os.makedirs(out, exist_ok=True)
    save_file(tensors(model), os.path.join(out, "model.safetensors"), metadata={"format": "pt"})
    for name in sorted(os.listdir(tokenizer_folder)):
        shutil.copy(os.path.join(tokenizer_folder, name), os.path.join(out, name))
    dump = lambda name, data: open(os.path.join(out, name), "w").write(json.dumps(data, indent=1) + "\n")
    dump("config.json", layout(s).configuration(s, tokenizer))
    begin, ends, padding = layout(s).ends(tokenizer)
    dump("generation_config.json", {"bos_token_id": begin, "eos_token_id": ends, "pad_token_id": padding})
    dump("preprocessor_config.json", layout(s).PREPROCESSOR)


def read(model, folder):
    """Takes the weights of a written checkpoint over into `model`."""
    s = model.s
    data = {k: v.float() for k, v in load_file(os.path.join(folder, "model.safetensors")).items()}
    state = model.state_dict()
    for theirs, ours in layout(s).names(s).items():
        state[ours] = layout(s).own_shape(theirs, data[theirs]).reshape(state[ours].shape)
    for theirs, (ours, part) in layout(s).packed_names(s).items():
        n = state[ours].shape[0] // 3
        state[ours][part * n:(part + 1) * n] = data[theirs]
    model.load_state_dict(state)

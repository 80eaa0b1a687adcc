#!/usr/bin/env python3
"""Developer tool: turns a Phi-4-multimodal checkpoint of the original layout into the transformers-native one.

The model is saved by transformers and the adapters by peft, so the result is what those libraries write, not what
omniphi believes they write; then it is loaded again and compared numerically. Needs torch, transformers, peft.

  tools/make_native_checkpoint.py ORIGINAL_FOLDER TARGET_FOLDER
  tools/make_native_checkpoint.py --names RELEASED_CONFIG RELEASED_TENSORS_TSV OUT_TSV

The second form writes, for every tensor of the release: its original name, the file that holds it in the native layout
(model, vision-lora, speech-lora), its native name as transformers' and peft's code spell it, and its shape there.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import Phi4MultimodalConfig, Phi4MultimodalForCausalLM

TARGETS = r"model\.layers\.\d+\.((self_attn\.(qkv|o)_proj)|(mlp\.(gate_up|down)_proj))"
SIDE_FILES = ("generation_config.json", "preprocessor_config.json", "tokenizer.json", "tokenizer_config.json",
              "added_tokens.json", "special_tokens_map.json", "vocab.json", "merges.txt")

# (where the rule applies, pattern, replacement); transformers' strict loading is what proves them.
RENAMES = (
    ("audio_embed", r"\.net\.0\.linear\.", ".gate_up_proj."),
    ("audio_embed", r"\.net\.2\.", ".down_proj."),
    ("audio_embed", r"\.linear_([qkv])\.", r".\1_proj."),
    ("audio_embed", r"\.linear_out\.", ".o_proj."),
    ("audio_embed", r"audio_projection\.speech\.0\.", "up_proj_for_speech."),
    ("audio_embed", r"audio_projection\.speech\.2\.", "down_proj_for_speech."),
    ("audio_embed", r"audio_projection\.vision\.0\.", "up_proj_for_vision_speech."),
    ("audio_embed", r"audio_projection\.vision\.2\.", "down_proj_for_vision_speech."),
    ("image_embed", r"img_projection\.0\.", "img_projection_up."),
    ("image_embed", r"img_projection\.2\.", "img_projection_down."),
    ("image_embed", r"glb_GN", "global_img_feature_extensor"),
    ("image_embed", r"sub_GN", "sub_img_feature_extensor"),
    ("model.layers", r"\.base_layer\.", "."),
)


def native_name(original):
    for where, pattern, replacement in RENAMES:
        if where in original:
            original = re.sub(pattern, replacement, original)
    return original


def adapter_name(original):
    """(adapter, peft's name without prefix) of a LoRA tensor, else None."""
    match = re.search(r"\.lora_[AB]\.(vision|speech)\.", original)
    return (match[1], original.replace("." + match[1] + ".", ".")) if match else None


def native_config(original):
    audio = original["audio_processor"]["config"]
    audio_config = {
        "hidden_size": audio["attention_dim"],
        "num_attention_heads": audio["attention_heads"],
        "intermediate_size": audio["linear_units"],
        "nemo_conv_channels": audio["nemo_conv_settings"]["conv_channels"],
        "bias_max_distance": audio["relative_attention_bias_args"]["t5_bias_max_distance"],
        "ext_pw_out_channel": audio["ext_pw_out_channel"],
        "depthwise_separable_out_channel": audio["depthwise_seperable_out_channel"],
        "num_blocks": audio["num_blocks"],
        "kernel_size": audio["kernel_size"],
        "chunk_size": audio["chunk_size"],
        "left_chunk": audio["left_chunk"],
        "audio_token_id": original.get("audio_config", {}).get("audio_token_id", 200011),
    }
    names = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
             "num_key_value_heads", "max_position_embeddings", "original_max_position_embeddings", "rms_norm_eps",
             "tie_word_embeddings", "bos_token_id", "eos_token_id", "pad_token_id", "sliding_window")
    rope = {**original["rope_scaling"], "rope_type": "longrope", "rope_theta": original["rope_theta"],
            "partial_rotary_factor": original["partial_rotary_factor"]}
    return Phi4MultimodalConfig(**{name: original[name] for name in names}, rope_parameters=rope,
                                audio_config=audio_config, vision_config=original.get("vision_config", {}),
                                dtype="bfloat16")


def lora_config(original, adapter):
    entry = original[adapter + "_lora"]
    return LoraConfig(r=entry["r"], lora_alpha=entry["lora_alpha"], lora_dropout=entry["dp"], target_modules=TARGETS,
                      task_type="CAUSAL_LM")


def load_native(config, weights):
    base = {native_name(name): tensor for name, tensor in weights.items() if adapter_name(name) is None}
    model = Phi4MultimodalForCausalLM(config).to(torch.bfloat16)
    missing, unexpected = model.load_state_dict(base, strict=False)
    assert missing == ["lm_head.weight"] and not unexpected, (missing, unexpected)
    model.tie_weights()
    return model


def save_adapter(model, original, weights, adapter, target):
    state = {}
    for name, tensor in weights.items():
        found = adapter_name(name)
        if found and found[0] == adapter:
            state["base_model.model." + found[1]] = tensor
    wrapped = get_peft_model(model, lora_config(original, adapter), autocast_adapter_dtype=False)
    assert set(get_peft_model_state_dict(wrapped)) == set(state)
    result = set_peft_model_state_dict(wrapped, state)
    assert not result.unexpected_keys, result.unexpected_keys
    wrapped.save_pretrained(target / (adapter + "-lora"))
    return wrapped.unload()


def log_probs(model, ids):
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float()
    return torch.log_softmax(logits, -1)


def verify(original, weights, target):
    """The saved folder, through each adapter, against the original weights with that adapter multiplied in."""
    ids = [5 * i % original["vocab_size"] for i in range(1, 40)]
    for adapter in (None, "vision", "speech"):
        loaded = Phi4MultimodalForCausalLM.from_pretrained(target, dtype=torch.float32, attn_implementation="eager")
        if adapter:
            loaded = PeftModel.from_pretrained(loaded, target / (adapter + "-lora"), torch_dtype=torch.float32)
        merged = dict(weights)
        if adapter:
            scale = original[adapter + "_lora"]["lora_alpha"] / original[adapter + "_lora"]["r"]
            for name in weights:
                if name.endswith(".base_layer.weight"):
                    stem = name.removesuffix("base_layer.weight")
                    a = weights[f"{stem}lora_A.{adapter}.weight"].float()
                    b = weights[f"{stem}lora_B.{adapter}.weight"].float()
                    merged[name] = weights[name].float() + scale * (b @ a)
        expected = Phi4MultimodalForCausalLM(native_config(original)).float()
        base = {native_name(n): t.float() for n, t in merged.items() if adapter_name(n) is None}
        expected.load_state_dict(base, strict=False)
        expected.tie_weights()
        expected.eval()
        worst = (log_probs(loaded.eval(), ids) - log_probs(expected, ids)).abs().max().item()
        print(f"adapter {adapter}: largest difference of a log-prob {worst:.2e}")
        assert worst < 2e-3


def convert(source, target):
    original = json.loads((source / "config.json").read_text())
    weights = {}
    for shard in sorted(source.glob("*.safetensors")):
        weights.update(load_file(shard))
    model = load_native(native_config(original), weights)
    model.save_pretrained(target)
    for adapter in ("vision", "speech"):
        model = save_adapter(model, original, weights, adapter, target)
    for name in SIDE_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
    verify(original, weights, target)


def write_names(config_path, tensors_path, out_path):
    original = json.loads(config_path.read_text())
    with torch.device("meta"):
        model = Phi4MultimodalForCausalLM(native_config(original))
        shapes = {("model", name): list(tensor.shape) for name, tensor in model.state_dict().items()}
        del shapes["model", "lm_head.weight"]  # tied
        for adapter in ("vision", "speech"):
            wrapped = get_peft_model(model, lora_config(original, adapter))
            for name, tensor in get_peft_model_state_dict(wrapped).items():
                shapes[adapter + "-lora", name] = list(tensor.shape)
            model = wrapped.unload()
    lines = []
    for line in tensors_path.read_text().splitlines():
        name = line.split("\t")[0]
        found = adapter_name(name)
        key = (found[0] + "-lora", "base_model.model." + found[1]) if found else ("model", native_name(name))
        lines.append("\t".join((name, *key, "x".join(map(str, shapes.pop(key))))))
    assert not shapes, sorted(shapes)
    out_path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--names":
        write_names(*map(Path, sys.argv[2:5]))
    else:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))

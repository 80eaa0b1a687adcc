#!/usr/bin/env python3
"""Developer tool: runs a Phi-4-multimodal checkpoint in transformers and writes what each stage computed, for
`omniphi verify`.

  tools/dump_reference.py --model FOLDER --out NAME.json [--image FILE]... [--audio FILE]... [--steps N] PROMPT

FOLDER is a checkpoint in either layout. NAME.json and NAME.safetensors have the format of tests/parity/phi4mm/README.md,
section 1; large stages are stored as a sample with statistics of the whole. Needs torch, transformers, tokenizers,
safetensors, numpy, pillow, soundfile (`make reference`), and memory for the model in float32: 22 GB for the release.

What is adapted, because the port deviates from the publisher's code there (README of the goldens, section 11):
- The LoRA branch of the input mode is multiplied into the weights; the port leaves the choice to its caller.
- Each audio is encoded on its own; the port adds the padding mask of several audios to their scores as a number.
- Decoding runs the whole sequence again when it crosses LongRoPE's switch; the port's generate() does not.
The port's image resize and mel filters differ slightly from the publisher's, so the dump says that the model is to be
fed with its own pixels and features, and gives those two stages wide tolerances.
"""

import argparse
import json
import re
from pathlib import Path

import numpy as np
import soundfile
import torch
from make_native_checkpoint import adapter_name, native_config, native_name
from PIL import Image
from safetensors import safe_open
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from transformers import DynamicCache, Phi4MultimodalConfig, Phi4MultimodalForCausalLM
from transformers.models.phi4_multimodal.feature_extraction_phi4_multimodal import Phi4MultimodalFeatureExtractor
from transformers.models.phi4_multimodal.image_processing_phi4_multimodal import Phi4MultimodalImageProcessor

FULL_LIMIT = 1 << 20  # elements of a stage that are stored whole; more become a sample
SAMPLE = 1 << 18  # elements of a sample, about
WHOLE = ("input_ids", "pixel_values", "audio_features", "logprobs", "last_logits")  # whatever their size
# One grey level is 2/255 of the normalised range, and a bicubic overshoot adds to it; mel bin 246 moves the last channel.
TOLERANCES = {"pixel_values": 0.02, "pixel_values_global": 0.02, "audio_features": 0.3}


def read_weights(folder, adapter):
    """Yields (native name, float32 tensor) with the adapter multiplied in."""
    lora, base = {}, {}
    config = json.loads((folder / "config.json").read_text())
    files = {path: None for path in sorted(folder.glob("*.safetensors"))}
    scale = 0
    if adapter and config["model_type"] == "phi4_multimodal":
        side = folder / (adapter + "-lora")
        files[side / "adapter_model.safetensors"] = adapter
        entry = json.loads((side / "adapter_config.json").read_text())
        scale = entry["lora_alpha"] / entry["r"]
    elif adapter:
        scale = config[adapter + "_lora"]["lora_alpha"] / config[adapter + "_lora"]["r"]
    for path, of in files.items():
        with safe_open(path, "pt") as file:
            for name in file.keys():
                match = re.search(r"(.*)\.lora_([AB])\.", name)
                if not match:
                    base[native_name(name)] = (path, name)
                elif adapter in (of, (adapter_name(name) or (None,))[0]) and adapter:
                    lora[match[1].removeprefix("base_model.model."), match[2]] = (path, name)

    def load(place):
        with safe_open(place[0], "pt") as file:
            return file.get_tensor(place[1])

    for name, place in base.items():
        tensor = load(place)
        stem = name.removesuffix(".weight")
        if (stem, "A") in lora:
            delta = load(lora[stem, "B"]).double() @ load(lora[stem, "A"]).double()
            tensor = tensor.double() + scale * delta
        yield name, tensor.float()


def load_model(folder, adapter):
    raw = json.loads((folder / "config.json").read_text())
    native = raw["model_type"] == "phi4_multimodal"
    config = Phi4MultimodalConfig.from_pretrained(folder) if native else native_config(raw)
    config._attn_implementation = "eager"
    if (config.pad_token_id or 0) >= config.vocab_size:
        config.pad_token_id = None  # the default of the released vocabulary, in a smaller one
    model = Phi4MultimodalForCausalLM._from_config(config, dtype=torch.float32, attn_implementation="eager").eval()
    parameters = model.state_dict()  # buffers too
    loaded = set()
    with torch.no_grad():
        for name, tensor in read_weights(folder, adapter):
            parameters[name].copy_(tensor)
            loaded.add(name)
    missing = set(parameters) - loaded - {"lm_head.weight"}
    assert not missing, f"the checkpoint lacks {sorted(missing)[:5]}"
    model.tie_weights()
    return model


def processed_media(model, images, audios):
    """Tensors of transformers' own processors, and frames of each audio."""
    tensors, frames = {}, []
    if images:
        pictures = [Image.open(path).convert("RGB") for path in images]
        batch = Phi4MultimodalImageProcessor()(pictures, return_tensors="pt")
        tensors["image_pixel_values"] = batch["image_pixel_values"].float()
        tensors["image_sizes"] = batch["image_sizes"]
        tensors["image_attention_mask"] = batch["image_attention_mask"]
        tensors["num_img_tokens"] = [int(n) for n in batch["num_img_tokens"]]
    if audios:
        features = []
        extractor = Phi4MultimodalFeatureExtractor()
        for path in audios:
            samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
            assert rate == 16000, f"{path}: {rate} Hz; the port takes 16 kHz only"
            wave = samples.mean(axis=1).astype(np.float32)
            features.append(extractor([wave], sampling_rate=rate, return_tensors="pt")["audio_input_features"][0].float())
        frames = [len(item) for item in features]
        tensors["audio_input_features"] = torch.nn.utils.rnn.pad_sequence(features, batch_first=True)
        tensors["audio_embed_sizes"] = torch.tensor([-(-count // 8) for count in frames])
    return tensors, frames


class Recorder:
    """Collects stages by hooks; pieces of one name lie one behind the other."""

    def __init__(self):
        self.pieces = {}

    def add(self, name, tensor):
        self.pieces.setdefault(name, []).append(tensor.detach().float().numpy().copy())

    def output(self, module, name):
        def hook(_module, _args, result):
            self.add(name, result[0] if isinstance(result, tuple) else result)

        return module.register_forward_hook(hook)

    def stage(self, name):
        pieces = self.pieces[name]
        same = all(piece.shape[1:] == pieces[0].shape[1:] for piece in pieces)
        return np.concatenate(pieces) if same else np.concatenate([piece.ravel() for piece in pieces])


def hook_vision(model, recorder):
    embed = model.model.embed_tokens_extend.image_embed
    tower = embed.img_processor
    handles = [recorder.output(tower.embeddings, "vision.embeddings")]
    for index, layer in enumerate(tower.encoder.layers[:-1]):
        handles.append(recorder.output(layer, f"vision.layer{index}"))
    handles.append(embed.image_token_compression.register_forward_hook(
        lambda _m, _a, out: recorder.add("vision.pooled", out.permute(0, 2, 3, 1).flatten(1, 2))))
    counts = {"sequence": 0, "projected": 0}

    def numbered(kind, name):
        def hook(_module, args, out):
            recorder.add(f"vision.{name}.{counts[kind]}", (args[0] if kind == "sequence" else out)[0])
            counts[kind] += 1

        return hook

    handles.append(embed.img_projection_up.register_forward_hook(numbered("sequence", "hd_sequence")))
    handles.append(embed.img_projection_down.register_forward_hook(numbered("projected", "projected")))
    return handles


def hook_audio(model, recorder, frames, mode):
    embed = model.model.embed_tokens_extend.audio_embed
    encoder = embed.encoder
    whole = encoder.forward

    def each_on_its_own(features, _mask, **kwargs):
        encoded = [whole(item[None, :count], None, **kwargs)[0] for item, count in zip(features, frames)]
        return torch.nn.utils.rnn.pad_sequence(encoded, batch_first=True)

    encoder.forward = each_on_its_own
    handles = [recorder.output(encoder.encoder_embedding, "audio.normalized"),
               recorder.output(encoder.embed, "audio.subsampled")]
    for index, block in enumerate(encoder.encoders):
        handles.append(recorder.output(block, f"audio.block{index}"))
    down = embed.down_proj_for_vision_speech if mode == "vision_speech" else embed.down_proj_for_speech

    def projected(_module, _args, out):
        for item, count in zip(out, frames):
            recorder.add("audio.projected", item[None, : -(-count // 8)])

    handles.append(down.register_forward_hook(projected))
    return handles


def hook_decoder(model, recorder):
    handles = [model.model.layers[0].register_forward_pre_hook(
        lambda _m, args, kwargs: recorder.add("decoder.inputs_embeds", (args or (kwargs["hidden_states"],))[0][0]),
        with_kwargs=True)]
    for index, layer in enumerate(model.model.layers):
        handles.append(layer.register_forward_hook(
            lambda _m, _a, out, name=f"decoder.layer{index}": recorder.add(
                name, (out[0] if isinstance(out, tuple) else out)[0])))
    handles.append(model.model.norm.register_forward_hook(
        lambda _m, _a, out: recorder.add("decoder.final_norm", out[0])))
    return handles


def prompt_logprobs(model, hidden, ids):
    """log p of each next token, and the logits of the last position; rows of the head in pieces."""
    values = []
    for begin in range(0, len(ids), 256):
        logits = model.lm_head(hidden[begin : begin + 256]).double()
        rows = torch.log_softmax(logits, -1)
        targets = torch.tensor(ids[begin + 1 : begin + 1 + len(logits)])
        values.append(rows[: len(targets)].gather(1, targets[:, None])[:, 0])
    return torch.cat(values).float().numpy(), model.lm_head(hidden[-1]).float()


def continuation(model, embeds, logits, steps):
    """Greedy ids with log-probs and margins; the whole sequence again where LongRoPE's factors change."""
    original = model.config.original_max_position_embeddings
    ids, logprobs, margins, cache = [], [], [], None
    for _ in range(steps):
        best = torch.topk(logits.double(), 2).values
        ids.append(int(logits.argmax()))
        logprobs.append(float(torch.log_softmax(logits.double(), -1)[ids[-1]]))
        margins.append(float(best[0] - best[1]))
        embeds = torch.cat([embeds, model.model.embed_tokens(torch.tensor([[ids[-1]]]))], 1)
        length = embeds.shape[1]
        if cache is None or length == original + 1:
            cache = DynamicCache(config=model.config)
            out = model.model(inputs_embeds=embeds, cache=cache, use_cache=True)
        else:
            out = model.model(inputs_embeds=embeds[:, -1:], cache=cache, use_cache=True)
        logits = model.lm_head(out.last_hidden_state[0, -1]).float()
    return ids, logprobs, margins


def statistics(array):
    values = array.astype(np.float64).ravel()
    return {"mean": values.mean(), "std": values.std(), "absmax": np.abs(values).max(), "sum": values.sum(),
            "l2": float(np.sqrt((values * values).sum()))}


def store(name, array, entries, tensors):
    entry = {"shape": list(array.shape), "dtype": str(array.dtype)}
    if array.dtype.kind == "f":
        entry["stats"] = {key: float(value) for key, value in statistics(array).items()}
    if name in WHOLE or array.size <= FULL_LIMIT:
        tensors[name] = np.ascontiguousarray(array)
        entry["storage"] = "full"
    else:
        stride = array.size // SAMPLE | 1  # odd, so that a sample visits every column of power-of-two widths
        tensors[name] = np.ascontiguousarray(array.ravel()[::stride])
        entry.update(storage="sample", stride=stride)
    entries[name] = entry


def expand(ids, special, counts):
    expanded, next_of = [], {token: iter(sizes) for token, sizes in counts.items()}
    for token in ids:
        expanded += [token] * (next(next_of[token]) if token in special else 1)
    return expanded


def tokenize(folder, prompt):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    text = re.sub(r"<\|image_\d+\|>", "<|endoftext10|>", prompt)
    text = re.sub(r"<\|audio_\d+\|>", "<|endoftext11|>", text)
    special = {tokenizer.token_to_id("<|endoftext10|>"): "image", tokenizer.token_to_id("<|endoftext11|>"): "audio"}
    return tokenizer.encode(text, add_special_tokens=False).ids, special


def media_tensors(media):
    """Names of the goldens for what the processors made."""
    named = {"image_pixel_values": "pixel_values", "image_sizes": "image_sizes",
             "image_attention_mask": "image_attention_mask", "audio_input_features": "audio_features",
             "audio_embed_sizes": "audio_embed_sizes"}
    for key, name in named.items():
        if key in media:
            array = media[key].numpy()
            yield name, array.astype({"pixel_values": np.float32, "audio_features": np.float32,
                                      "image_attention_mask": np.uint8}.get(name, np.int32))
    if "image_pixel_values" in media:
        yield "pixel_values_global", media["image_pixel_values"][:, 0].numpy().astype(np.float32)


@torch.no_grad()
def dump(arguments):
    images, audios = bool(arguments.image), bool(arguments.audio)
    mode = {(0, 0): "language", (1, 0): "vision", (0, 1): "speech", (1, 1): "vision_speech"}[images, audios]
    markers = "".join(f"<|image_{i + 1}|>" for i in range(len(arguments.image)))
    markers += "".join(f"<|audio_{i + 1}|>" for i in range(len(arguments.audio)))
    prompt = f"<|user|>{markers}{arguments.prompt}<|end|><|assistant|>"
    unexpanded, special = tokenize(arguments.model, prompt)
    model = load_model(arguments.model, {"language": None, "speech": "speech"}.get(mode, "vision"))
    media, frames = processed_media(model, arguments.image, arguments.audio)
    counts = {token: media.get("num_img_tokens", []) if kind == "image" else media.get("audio_embed_sizes", [])
              for token, kind in special.items()}
    ids = expand(unexpanded, special, counts)

    recorder = Recorder()
    handles = hook_decoder(model, recorder)
    if images:
        handles += hook_vision(model, recorder)
    if audios:
        handles += hook_audio(model, recorder, frames, mode)
    inputs = {key: value for key, value in media.items() if key != "num_img_tokens"}
    out = model.model(input_ids=torch.tensor([ids]), use_cache=False, **inputs)
    for handle in handles:
        handle.remove()
    logprobs, last_logits = prompt_logprobs(model, out.last_hidden_state[0], ids)
    embeds = torch.tensor(recorder.stage("decoder.inputs_embeds"))[None]
    generated = continuation(model, embeds, last_logits, arguments.steps)

    entries, tensors = {}, {}
    store("input_ids", np.array(ids, np.int32), entries, tensors)
    for name, array in media_tensors(media):
        store(name, array, entries, tensors)
    for name in recorder.pieces:
        store(name, recorder.stage(name), entries, tensors)
    store("logprobs", logprobs, entries, tensors)
    store("last_logits", last_logits.numpy(), entries, tensors)
    document = {
        "name": arguments.out.stem, "prompt": prompt, "input_mode": mode, "prompt_ids_unexpanded": unexpanded,
        "images": [str(Path(path).resolve()) for path in arguments.image],
        "audios": [str(Path(path).resolve()) for path in arguments.audio],
        "num_prompt_tokens": len(ids), "generated_ids": generated[0], "generated_logprobs": generated[1],
        "generated_margins": generated[2], "feed_processed": True, "audio_encoding": "each",
        "tolerances": {name: value for name, value in TOLERANCES.items() if name in entries}, "tensors": entries,
    }
    save_file(tensors, arguments.out.with_suffix(".safetensors"))
    arguments.out.write_text(json.dumps(document, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Writes what transformers computes for one prompt, stage by stage.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="NAME.json; NAME.safetensors is written beside it")
    parser.add_argument("--image", action="append", default=[])
    parser.add_argument("--audio", action="append", default=[])
    parser.add_argument("--steps", type=int, default=8, help="greedy tokens behind the prompt")
    parser.add_argument("prompt")
    dump(parser.parse_args())


if __name__ == "__main__":
    main()

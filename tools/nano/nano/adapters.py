"""Copies of a checkpoint with one adapter switched off."""
import json
import os
import shutil
import struct

WEIGHTS = "model.safetensors"


def switch_off(model, adapter, folder):
    """Copies the checkpoint `model` into the new folder `folder` with the LoRA B matrices of `adapter` (vision or speech) zeroed: what
    that adapter adds is then zero everywhere, and nothing else changes. Returns how many matrices that were."""
    os.makedirs(folder)
    for name in os.listdir(model):
        if os.path.isfile(os.path.join(model, name)):
            shutil.copyfile(os.path.join(model, name), os.path.join(folder, name))
    zeroed = 0
    with open(os.path.join(folder, WEIGHTS), "r+b") as file:
        length, = struct.unpack("<Q", file.read(8))
        for name, tensor in json.loads(file.read(length)).items():
            if name.endswith(f".lora_B.{adapter}.weight"):
                begin, end = tensor["data_offsets"]
                file.seek(8 + length + begin)
                file.write(bytes(end - begin))
                zeroed += 1
    if zeroed == 0:
        raise ValueError(f"{model} has no LoRA B matrices of the {adapter} adapter in the original layout")
    return zeroed

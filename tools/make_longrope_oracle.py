"""Writes tests/data/longrope_phi4mm.json: rotary tables of the released configuration, computed with torch as the publisher's code
does (float32 inverse frequencies, float32 angles). Powers are rounded correctly: torch's vector powf is one unit off for exponent
40/96 on some machines and right for the same number alone. Developer-only; needs torch."""
import json
import math
import pathlib

import torch

root = pathlib.Path(__file__).resolve().parent.parent
config = json.loads((root / "tests/data/configs/phi4mm_config.json").read_text())
head_dim = config["hidden_size"] // config["num_attention_heads"]
rotary = int(head_dim * config["partial_rotary_factor"])
original, longest = config["original_max_position_embeddings"], config["max_position_embeddings"]
factor = math.sqrt(1 + math.log(longest / original) / math.log(original))
rows = []
for name in ("short", "long"):
    factors = torch.tensor(config["rope_scaling"][name + "_factor"], dtype=torch.float32)
    exponents = torch.arange(0, rotary, 2, dtype=torch.int64).float() / rotary
    inv_freq = 1.0 / (factors * (config["rope_theta"] ** exponents.double()).float())
    for position in (0, 1, 77, 4095, 4096, 65537, 131071):
        angles = inv_freq * torch.tensor(float(position))
        rows.append({"regime": name, "position": position, "cos": (angles.cos() * factor).tolist(),
                     "sin": (angles.sin() * factor).tolist()})
(root / "tests/data/longrope_phi4mm.json").write_text(json.dumps({"attention_factor": factor, "rows": rows}))

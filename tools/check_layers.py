#!/usr/bin/env python3
"""Fails on an include that points upward, or on a library used outside its layer.

LAYERS is the source of the table in docs/architecture.md: `--markdown` prints it, and this script fails when the
document shows another one. Needs only Python's standard library.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# folder under src: (what lives there, folders that it may include). A layer may also include what those may include.
# The longest folder that a file lies in decides, so that a model's shared parts can't see a family.
LAYERS = {
    "base": ("errors, files, thread pool, workspace, counter-based random numbers, UTF-8, cpu features", []),
    "tensor": ("dtypes, shapes, views that own nothing, float tensors", ["base"]),
    "io": ("memory-mapped files, safetensors, JSON, where a model's folder is", ["tensor"]),
    "kernels": ("`kernels.h`: every op once; `ref/` plain loops, `cpu/` SIMD by instruction set", ["tensor"]),
    "media": ("decoding of images and audio, resize, resample, log-mel", ["tensor"]),
    "text": ("tokenizer, chat template as typed pieces, streaming detokenizer", ["base"]),
    "layers": ("Linear with LoRA, norms, LongRoPE, attention, projector", ["kernels"]),
    "models": ("what families share: `checkpoint/`, `decoder/`, `vit/` and the towers made of it, `conformer/`",
               ["layers", "io"]),
    "models/family": ("what the engine asks of a family: one struct of functions", ["models", "media", "text"]),
    "models/phi4mm": ("a family: configuration, checkpoint layouts, processor, model", ["models/family"]),
    "models/phi3v": ("a family: configuration, checkpoint, processor, model", ["models/family"]),
    "models/registry": ("the list of families", ["models/phi4mm", "models/phi3v"]),
    "request": ("messages and token-id lists, checked; bytes of media", ["io", "text"]),
    "runtime": ("KV blocks, sampler, engine, session", ["models/registry", "request"]),
    "api": ("the installed C++ interface (`include/omniphi/`)", ["runtime"]),
    "cli": ("`main.cc` and one `cmd_<verb>.cc` a verb", ["api"]),
}

# Folders whose headers only they and these may include, though others could reach them.
CLOSED = {"models/phi4mm": ["models/registry"], "models/phi3v": ["models/registry"]}

# Third-party headers: where they may be included. Everything else goes through that layer's own headers.
LIBRARIES = {
    r"nlohmann/": ["io", "text", "models", "request", "api", "cli"],
    r"lib(av|sw)\w+/": ["media"],
    r"(jpeglib|jerror|png|tiff\w*|gif_lib)\.h|webp/": ["media"],
    r"\w*intrin\.h|cpuid\.h": ["base", "kernels", "media"],
    r"CLI/": ["cli"],
    r"sixel\.h": ["cli"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def layer_of(path):
    """The longest folder of LAYERS that a path below src lies in, or None."""
    parts = path.split("/")
    for length in range(len(parts) - 1, 0, -1):
        folder = "/".join(parts[:length])
        if folder in LAYERS:
            return folder
    return None


def reachable(layer):
    seen, todo = set(), [layer]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += LAYERS[at][1]
    return seen


def include_errors(name, text):
    """`name` is relative to src."""
    layer = layer_of(name)
    if layer is None:
        return [f"src/{name}: lies in no layer of tools/check_layers.py"]
    errors = []
    allowed = reachable(layer)
    for quote, target in INCLUDE.findall(text):
        if quote == '"':
            target_layer = layer_of(target)
            if target.startswith("omniphi/"):  # installed headers; the error type belongs to every layer
                target_layer = "base" if target == "omniphi/error.h" else "api"
            if target_layer is None:
                errors.append(f'src/{name}: "{target}" is not written as "layer/file.h"')
            elif target_layer not in allowed:
                errors.append(f'src/{name}: layer {layer} includes "{target}", but may only include: '
                              + ", ".join(sorted(allowed)))
            elif target_layer in CLOSED and layer not in (target_layer, *CLOSED[target_layer]):
                errors.append(f'src/{name}: "{target}" is a family\'s own; ask through models/family/family.h')
        else:
            for pattern, folders in LIBRARIES.items():
                if re.match(pattern, target) and not any(layer == f or layer.startswith(f + "/") for f in folders):
                    errors.append(f"src/{name}: <{target}> may only be included in: {', '.join(folders)}")
    return errors


def markdown():
    rows = ["| folder | what lives there | may include (and what those may) |", "|---|---|---|"]
    for folder, (what, allowed) in LAYERS.items():
        rows.append(f"| `src/{folder}/` | {what} | {', '.join(allowed) or 'the standard library'} |")
    return "\n".join(rows) + "\n"


def self_test():
    """A check that can't fail checks nothing."""
    bad = [("base/a.cc", '#include "tensor/dtype.h"\n'), ("models/decoder/a.cc", '#include "models/phi4mm/config.h"\n'),
           ("models/phi3v/a.cc", '#include "models/phi4mm/config.h"\n'),
           ("runtime/a.cc", '#include "models/phi4mm/model.h"\n'), ("layers/a.cc", "#include <png.h>\n"), ("text/a.cc", '#include "a.h"\n'), ("odd/a.cc", "")]
    good = [("models/phi4mm/a.cc", '#include "models/decoder/block.h"\n#include <vector>\n')]
    assert all(include_errors(*case) for case in bad), "check_layers.py misses a bad include"
    assert not any(include_errors(*case) for case in good), "check_layers.py refuses a good include"


def main():
    if sys.argv[1:] == ["--markdown"]:
        print(markdown(), end="")
        return 0
    self_test()
    errors = []
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".h", ".cc"):
            errors += include_errors(path.relative_to(ROOT / "src").as_posix(), path.read_text(encoding="utf-8"))
    if markdown() not in (ROOT / "docs/architecture.md").read_text(encoding="utf-8"):
        errors.append("docs/architecture.md: its table of layers is not what tools/check_layers.py --markdown prints")
    print("\n".join(errors) or "layers: ok")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

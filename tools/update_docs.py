#!/usr/bin/env python3
"""Writes into the documents what is defined elsewhere, so that it is never typed twice: the layer table into
docs/architecture.md and examples/cpp/main.cc into README.md. `make check` fails while they differ."""

import re
from pathlib import Path

import check_layers

ROOT = Path(__file__).resolve().parent.parent


def replace(path, pattern, text):
    old = path.read_text(encoding="utf-8")
    new, count = re.subn(pattern, lambda _: text, old, count=1, flags=re.S | re.M)
    assert count == 1, f"{path}: nothing to replace"
    path.write_text(new, encoding="utf-8")


example = (ROOT / "examples/cpp/main.cc").read_text(encoding="utf-8")
replace(ROOT / "README.md", r"^```cpp\n.*?^```", f"```cpp\n{example}```")
replace(ROOT / "docs/architecture.md", r"^\| folder \|.*?\n\n", check_layers.markdown() + "\n")

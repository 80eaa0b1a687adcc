#!/usr/bin/env python3
"""Compares omniphi's tokenizer with Hugging Face tokenizers (Rust) on one thread.

usage: bench/tokenizer_bench.py BENCH_BINARY MODEL_FOLDER FILE...

BENCH_BINARY is tokenizer_bench (build with -DOMNIPHI_BUILD_BENCH=ON), MODEL_FOLDER has tokenizer.json, FILEs are UTF-8.
Needs the package tokenizers. Both encode from memory and recognise added tokens; the best of five rounds counts.
"""

import os
import re
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
from tokenizers import Tokenizer  # noqa: E402

ROUNDS = 5


def main() -> None:
    binary, folder, *files = sys.argv[1:]
    start = time.perf_counter()
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    print(f"tokenizers loads in {time.perf_counter() - start:.3f} s")
    for file in files:
        with open(file, encoding="utf-8", newline="") as handle:
            text = handle.read()
        best = float("inf")
        for _ in range(ROUNDS):
            start = time.perf_counter()
            count = len(tokenizer.encode(text, add_special_tokens=False).ids)
            best = min(best, time.perf_counter() - start)
        theirs = len(text.encode()) / best / 1e6
        out = subprocess.run([binary, folder, file, str(ROUNDS)], check=True, capture_output=True, text=True).stdout
        ours = float(re.search(r"MB/s ([\d.]+)", out)[1])
        tokens = int(re.search(r"tokens (\d+)", out)[1])
        load = re.search(r"load_seconds ([\d.]+)", out)[1]
        same = "same count" if tokens == count else f"COUNTS DIFFER: {tokens} and {count}"
        print(f"{file}: omniphi {ours:.1f} MB/s (loads in {load} s), tokenizers {theirs:.1f} MB/s, "
              f"ratio {ours / theirs:.1f}, {same}")


if __name__ == "__main__":
    main()

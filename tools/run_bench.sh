#!/usr/bin/env bash
# Builds and runs the benchmarks: tools/run_bench.sh JOBS. Close other programs first. Results stand in
# build-bench/results too.
#   OMNIPHI_BENCH_MODEL  a model folder to measure; else a random one of the true shape is written to
#                        build-bench/model once (11 GB), if there is room
#   .venv                `make reference` makes it; with it the tokenizer is compared with Hugging Face's
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset bench
cmake --build --preset bench -j "$1"
results=build-bench/results
mkdir -p "$results"

echo "== kernels"
build-bench/kernels_bench --benchmark_out="$results/kernels.json" --benchmark_out_format=json

model="${OMNIPHI_BENCH_MODEL:-build-bench/model}"
if [[ ! -d "$model" ]]; then
  free_kb="$(df --output=avail build-bench | tail -1)"
  if ((free_kb < 13000000)); then
    echo "No room for a model of the true shape (12 GB) in build-bench; set OMNIPHI_BENCH_MODEL to measure one." >&2
    exit 0
  fi
  build-bench/omniphi synth --preset phi4mm --out "$model"
fi
echo "== prefill and decode"
build-bench/omniphi bench --model "$model" | tee "$results/model.txt"

echo "== tokenizer"
text=build-bench/text.txt
find README.md docs src -type f -name '*.[mhc]*' -exec cat {} + | head -c 1000000 >"$text"
build-bench/tokenizer_bench "$model" "$text" | tee "$results/tokenizer.txt"
build-bench/tokenizer_bench "$model" --adversarial | tee -a "$results/tokenizer.txt"
if [[ -x .venv/bin/python ]]; then
  .venv/bin/python bench/tokenizer_bench.py build-bench/tokenizer_bench "$model" "$text" | tee -a "$results/tokenizer.txt"
fi

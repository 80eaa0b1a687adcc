#!/usr/bin/env bash
# Builds the benchmarks and runs each: tools/run_bench.sh JOBS. Results go to the terminal and, as JSON, to
# build-bench/results. docs/numerics.md and README.md quote them; close other programs first.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset bench
cmake --build --preset bench -j "$1"
mkdir -p build-bench/results
for program in build-bench/bench_*; do
  [[ -x "$program" && -f "$program" ]] || continue
  name="$(basename "$program")"
  echo "== $name"
  "$program" --benchmark_out="build-bench/results/$name.json" --benchmark_out_format=json
done

#!/usr/bin/env bash
# Runs clang-tidy with the short list of .clang-tidy over the product's sources: tools/check_tidy.sh BUILD_FOLDER JOBS.
# Left out are tests, which the compilers' warnings and the sanitizers watch, and the files made for one instruction set,
# which are a few lines around headers that the two compilers and the parity tests watch.
set -euo pipefail
cd "$(dirname "$0")/.."
build="$1"
jobs="$2"
find src examples -name '*.cc' -not -path 'src/kernels/cpu/*' -print0 |
  xargs -0 -n 4 -P "$jobs" clang-tidy-14 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option 2> >(
    grep -v -E '^[0-9]+ warnings?( and [0-9]+ errors?)? generated\.?$|^Suppressed |^Use -header-filter' >&2 || true
  )
echo "clang-tidy: ok"

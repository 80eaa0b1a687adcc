#!/usr/bin/env bash
# Runs clang-tidy with the short list of .clang-tidy over the product's sources: tools/check_tidy.sh BUILD_FOLDER JOBS.
# Tests are left out: the compilers' warnings and the sanitizers watch those, and the time is better spent there.
set -euo pipefail
cd "$(dirname "$0")/.."
build="$1"
jobs="$2"
find src examples -name '*.cc' -print0 |
  xargs -0 -n 4 -P "$jobs" clang-tidy-14 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option 2> >(
    grep -v -E '^[0-9]+ warnings? generated\.?$|^Suppressed |^Use -header-filter' >&2 || true
  )
echo "clang-tidy: ok"

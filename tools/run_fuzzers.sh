#!/usr/bin/env bash
# Runs every fuzz target over its kept corpus, and then for some seconds on its own:
# tools/run_fuzzers.sh BUILD_FOLDER SECONDS JOBS.
# What it finds goes to BUILD_FOLDER/fuzz/TARGET: inputs that reach new code, and the one that crashed, to be added to
# tests/fuzz/corpus once the bug is mended.
set -euo pipefail
cd "$(dirname "$0")/.."
export build="$1"
export seconds="$2"
jobs="$3"
source tools/sanitizer_options.sh

fuzz_one() {
  local target kept found log
  target="$(basename "$1")"
  kept="tests/fuzz/corpus/$(sed 's/^fuzz_//; s/_fuzz$//' <<<"$target")"
  found="$build/fuzz/$target"
  log="$found.log"
  mkdir -p "$found"
  [[ -d "$kept" ]] || { echo "$target: no kept corpus at $kept"; return 1; }
  # A limit on one input's time and memory turns "slow on bad input" into a finding too.
  local limits=(-timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 -artifact_prefix="$found/")
  if "$1" "${limits[@]}" -runs=0 "$kept" >"$log" 2>&1 &&
    "$1" "${limits[@]}" -max_total_time="$seconds" "$found" "$kept" >>"$log" 2>&1; then
    echo "$target: ok, $(grep -c . < <(ls "$kept")) kept inputs, $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log" | tail -1) runs"
  else
    tail -40 "$log"
    echo "$target: FAILED"
    return 1
  fi
}
export -f fuzz_one

mapfile -t targets < <(find "$build" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x | sort)
((${#targets[@]})) || { echo "no fuzz targets in $build" >&2; exit 1; }
printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'set -euo pipefail; fuzz_one "$0"'

#!/usr/bin/env bash
# Fails, with the differences, when a source file is not laid out as .clang-format says. `make format` mends it.
set -euo pipefail
cd "$(dirname "$0")/.."
folders=()
for folder in src include tests bench examples; do [[ -d "$folder" ]] && folders+=("$folder"); done
find "${folders[@]}" \( -name '*.cc' -o -name '*.h' \) -print0 |
  xargs -0 -n 20 -P "$(nproc)" clang-format-14 --dry-run --Werror --ferror-limit=3
echo "formatting: ok"

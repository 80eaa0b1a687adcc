#!/usr/bin/env bash
# Installs BUILD_FOLDER into a scratch folder, builds examples/cpp against that with find_package(omniphi), and lets it
# answer on the tiny checkpoint of the tests: tools/check_install.sh BUILD_FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."
build="$1"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/installed" >"$scratch/install.log"
"$scratch/installed/bin/omniphi" --version
env -C / "$scratch/installed/bin/omniphi" demo --check  # with the model that comes with it
cmake -S examples/cpp -B "$scratch/example" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$scratch/installed" >"$scratch/configure.log" || { cat "$scratch/configure.log"; exit 1; }
cmake --build "$scratch/example"
"$scratch/example/omniphi_example" tests/parity/phi4mm/checkpoint tests/parity/phi4mm/media/tiny100x60.png
echo "installed package: ok"

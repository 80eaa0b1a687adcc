#!/usr/bin/env bash
# Builds unit tests and fuzz targets with AddressSanitizer and UndefinedBehaviorSanitizer and runs
# the unit tests: tools/run_sanitized.sh JOBS. Parity tests are left out: they run the same code on larger inputs, too
# slow for this.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs="$1"
source tools/sanitizer_options.sh
cmake --preset asan
cmake --build --preset asan -j "$jobs" --target unit_tests fuzzers
ctest --preset asan --no-tests=error -j "$jobs"

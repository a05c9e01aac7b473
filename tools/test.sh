#!/usr/bin/env bash
# All that `make test` does: the sources checked, then every test in a release build and with
# AddressSanitizer and UBSan. The last lines are ctest's summary.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}

tools/setup.sh build test
build/venv/bin/python3 tools/check.py
for preset in asan release; do
    echo "--- $preset"
    cmake --preset "$preset" -DSHUNT_TESTS=ON >"build/$preset.log" || { cat "build/$preset.log"; exit 1; }
    cmake --build --preset "$preset" -j "$jobs"
done
# The card of the tests is Mesa's, on the processor; a run without it would prove nothing of it.
# Sanitizers see its driver's doings, so they run without.
echo "--- asan"
SHUNT_GPU=off ctest --preset asan -j "$jobs"
echo "--- release"
SHUNT_ADAPTER=${SHUNT_ADAPTER:-llvmpipe} SHUNT_NEED_GPU=1 ctest --preset release -j "$jobs"

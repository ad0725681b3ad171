#!/usr/bin/env bash
# Every test: installs what is missing, builds, runs the tests.
# usage: ./test.sh [--sanitizers]
#   --sanitizers   then the same tests, but for those that need libtorch, under AddressSanitizer with UBSan and under
#                  ThreadSanitizer: two more builds
set -euo pipefail
cd "$(dirname "$0")"

presets=(release)
case "${1:-}" in
  "") ;;
  --sanitizers) presets=(release asan tsan) ;;
  *) echo "usage: ./test.sh [--sanitizers]" >&2; exit 2 ;;
esac

scripts/install-dependencies.sh --tests
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for preset in "${presets[@]}"; do
  echo "== $preset: build"
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  cmake --build "build/$preset"
  echo "== $preset: test"
  ctest --preset "$preset"
done
echo "all tests passed: ${presets[*]}"

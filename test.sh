#!/usr/bin/env bash
# Every test: installs what is missing, builds, runs the tests, then the sanitizer builds of all that needs no libtorch.
# usage: ./test.sh [--quick]
#   --quick   the release build's tests alone
set -euo pipefail
cd "$(dirname "$0")"

presets=(release asan tsan)
case "${1:-}" in
  "") ;;
  --quick) presets=(release) ;;
  *) echo "usage: ./test.sh [--quick]" >&2; exit 2 ;;
esac

scripts/install-dependencies.sh
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

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

# Tests that kill and freeze real processes have deadlines, which an overloaded machine can miss: those that failed run
# once more, alone; so do the whole tours (label e2e). All others, and everything under sanitizers, must pass at once.
test_once_more() {
  local all_others
  [ "$1" = release ] || return 1
  all_others=$(ctest --preset "$1" --show-only -LE 'processes|e2e' | sed -n 's/^ *Test *#[0-9]*: //p')
  grep -Fxf <(cut -d: -f2- "build/$1/Testing/Temporary/LastTestsFailed.log") <<<"$all_others" >&2 && return 1
  echo "== $1: once more, one at a time, tests of real processes that failed"
  ctest --preset "$1" --rerun-failed --parallel 1
}

scripts/install-dependencies.sh --tests
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for preset in "${presets[@]}"; do
  echo "== $preset: build"
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  cmake --build "build/$preset"
  echo "== $preset: test"
  ctest --preset "$preset" || test_once_more "$preset"
done
echo "all tests passed: ${presets[*]}"

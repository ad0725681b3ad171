#!/usr/bin/env bash
# Grades a strategy: runs the conformance tests of the built-in strategies on it.
# usage: scripts/grade_strategy.sh FILE.h [FILTER]
#   FILE.h  has a function OwnStrategy() that returns the entry, as tests/consumer/own_strategy.h
#   FILTER  only these tests, as for --gtest_filter
# Exit code: 0 all tests passed, 1 one failed or the file does not compile, 2 usage.
set -euo pipefail
[ $# -ge 1 ] && [ $# -le 2 ] && [ -f "$1" ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
file=$(realpath "$1")
cd "$(dirname "$0")/.."
log=$(mktemp)
# The next build shall grade passing_strategy.h again.
trap 'rm -f "$log"; cmake --preset release -URINGSIDE_GRADED_STRATEGY >/dev/null' EXIT
cmake --preset release -DRINGSIDE_GRADED_STRATEGY="$file" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
cmake --build build/release --target graded_strategy_test >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
build/release/bin/graded_strategy_test --gtest_brief=1 ${2:+--gtest_filter="$2"} || exit 1

#!/usr/bin/env bash
# Grades a strategy: runs the conformance tests of the built-in strategies on it.
# usage: scripts/grade_strategy.sh FILE.h [FILTER]
#   FILE.h  has a function OwnStrategy() that returns the entry, as tests/consumer/own_strategy.h
#   FILTER  only these tests, as for --gtest_filter
# The last lines say how it did in each stage of docs/teaching.md. Exit code: 0 all tests passed, 1 one failed or the file does not compile,
# 2 usage.
set -euo pipefail
[ $# -ge 1 ] && [ $# -le 2 ] && [ -f "$1" ] || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
given=$1
file=$(realpath "$1")
cd "$(dirname "$0")/.."
build=${RINGSIDE_GRADING_BUILD:-build/release} # another build, for tests
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fail() { # says why, with what the tools said
  printf '%s\n' "$1" >&2
  cat "$log" >&2
  exit 1
}

# Compiles the header alone, with the flags of the tests. So a mistake in it is named at once, without the lines of a build.
compile_header() {
  python3 - "$build/compile_commands.json" "$file" <<'COMPILE'
import json, pathlib, shlex, subprocess, sys
entry = next(one for one in json.loads(pathlib.Path(sys.argv[1]).read_text()) if one["file"].endswith("tests/grading/graded_main.cc"))
flags = [flag for flag in shlex.split(entry["command"]) if "RINGSIDE_GRADED_STRATEGY" not in flag]
out = flags.index("-o")
flags[out:out + 2] = ["-fsyntax-only", f'-DRINGSIDE_GRADED_STRATEGY="{sys.argv[2]}"']
sys.exit(subprocess.run(flags, cwd=entry["directory"]).returncode)
COMPILE
}

has_grading() { grep -q tests/grading/graded_main.cc "$build/compile_commands.json" 2>/dev/null; }
has_grading || cmake --preset release >"$log" 2>&1 || fail "Ringside cannot be built here:"
has_grading || fail "Ringside cannot be built here: $build leaves out the tests, so nothing can be graded"
compile_header >"$log" 2>&1 || fail "$given does not compile:"
# The next build shall grade passing_strategy.h again.
trap 'rm -f "$log"; cmake -B "$build" -URINGSIDE_GRADED_STRATEGY >/dev/null' EXIT
cmake -B "$build" -DRINGSIDE_GRADED_STRATEGY="$file" >"$log" 2>&1 || fail "Ringside cannot be built here:"
cmake --build "$build" --target graded_strategy_test >"$log" 2>&1 ||
  fail "The tests cannot be built with $given. Several files include it, so its functions must be inline:"
"$build/bin/graded_strategy_test" --gtest_brief=1 ${2:+--gtest_filter="$2"} || exit 1

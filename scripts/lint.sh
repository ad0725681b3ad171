#!/usr/bin/env bash
# Checks the format of every C++ file of ours, and runs clang-tidy (scripts/tidy.py, cached by content).
# usage: scripts/lint.sh [--format | --changed BASE] [--within SECONDS]
#   --format         check only the format
#   --changed BASE   run clang-tidy on files that differ from the commit BASE or include such a file; otherwise on every file
#   --within SECONDS start clang-tidy on no further file after this time
set -euo pipefail
cd "$(dirname "$0")/.."

find common ring paramserver models experiments python benchmarks tests \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 clang-format --dry-run --Werror
[ "${1:-}" = --format ] || scripts/tidy.py "$@"

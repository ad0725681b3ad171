#!/usr/bin/env bash
# Formatting of every file of ours, and clang-tidy on files that differ from a base commit.
# usage: scripts/lint.sh [BASE]     BASE defaults to HEAD; needs clang-format, clang-tidy and a configured build/release
set -euo pipefail
cd "$(dirname "$0")/.."

git ls-files '*.h' '*.cc' | xargs clang-format --dry-run --Werror
mapfile -t changed < <(git diff --name-only --diff-filter=d "${1:-HEAD}" -- '*.cc')
[ "${#changed[@]}" -eq 0 ] || clang-tidy -p build/release --quiet "${changed[@]}"

#!/usr/bin/env bash
# The page of `ringside demo` in a browser: made-up data, then runs that this build records, then the demo itself on emulated links,
# where links can be emulated.
# usage: recorded_page_test.sh RINGSIDE PYTHON
set -euo pipefail

ringside=$1 python=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for strategy in ring ps-sync; do
  "$ringside" train --strategy "$strategy" --workers 4 --model profile:small-tensors --compute-ms 5 --steps 12 --timeline \
    --out "$scratch/$strategy" 2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
done
"$ringside" demo --check "$scratch/ring" "$scratch/ps-sync"
"$python" -B "$here/record_sums_test.py" "$scratch/ring" "$scratch/ps-sync"
"$ringside" demo "$scratch/ring" "$scratch/ps-sync" --no-open --html "$scratch/demo.html"
"$ringside" demo --no-open --out "$scratch/shown" 2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
"$python" -B "$here/demo_page_test.py" "$scratch/demo.html" "$scratch/shown/demo.html"

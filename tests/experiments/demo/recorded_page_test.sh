#!/usr/bin/env bash
# The page of `ringside demo` in a browser: made-up data, then runs that this build records, then the demo itself on emulated links,
# where links can be emulated. The demo trains a model of libtorch: a build without it has to say so.
# usage: recorded_page_test.sh RINGSIDE PYTHON TORCH     TORCH: ON|OFF, whether the build has libtorch
set -euo pipefail

ringside=$1 python=$2 torch=$3
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
pages=("$scratch/demo.html")
status=0
"$ringside" demo --no-open --out "$scratch/shown" 2>"$scratch/log" || status=$?
if [ "$torch" = ON ]; then
  [ "$status" = 0 ] || { cat "$scratch/log" >&2; exit 1; }
  pages+=("$scratch/shown/demo.html")
else
  [ "$status" = 4 ] && grep -q "needs libtorch, which this build lacks" "$scratch/log" || { echo "exit code $status" >&2; cat "$scratch/log" >&2; exit 1; }
fi
# A browser uses one processor most of the time, so there are two of them.
"$python" -B "$here/demo_page_test.py" Asynchronous "${pages[@]}" >"$scratch/second" 2>&1 &
second=$!
status=0
"$python" -B "$here/demo_page_test.py" Synchronous OtherAllReduces Late Many Large BadData || status=$?
wait "$second" || status=$?
cat "$scratch/second" >&2
exit "$status"

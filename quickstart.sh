#!/usr/bin/env bash
# From a fresh Debian 12 to a first result: installs missing packages, builds, compares a parameter server with a ring on
# real data, and prints where the results are.
# usage: ./quickstart.sh
set -euo pipefail
cd "$(dirname "$0")"

scripts/install-dependencies.sh
echo "build: configuring and building (build/release)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset release >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
cmake --build build/release --target ringside ringside-worker

out=results/quickstart  # results/<name of the experiment>
echo "run: build/release/bin/ringside matrix experiments/specs/quickstart.yaml --out results --force"
build/release/bin/ringside matrix experiments/specs/quickstart.yaml --out results --force
build/release/bin/ringside report "$out"
echo "results: $out (open $out/report.html in a browser; report.csv, runs.csv, report.json, and a folder per run)"

#!/usr/bin/env bash
# Makes a reference study: runs its matrix, writes its report, and keeps what is small enough to commit.
# usage: scripts/make_study.sh NAME...      specs are experiments/specs/NAME.yaml; needs root where a spec emulates a network
#
# Raw bundles stay in results/NAME (not committed); an interrupted matrix is resumed there. Committed are, in
# results/studies/NAME: README.md (findings, numbers, environment), figures/*.svg, report.csv, runs.csv, spec.yaml and
# how-made.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

(($#)) || { sed -n '2,3p' "$0" | cut -c3- >&2; exit 2; }
ringside=build/release/bin/ringside
[[ -x $ringside ]] || { echo "$ringside is missing: ./quickstart.sh builds it" >&2; exit 4; }

# The commit that a study names must be the one that made it.
if [[ -n $(git status --porcelain --untracked-files=no) ]]; then
  echo "uncommitted changes: commit them, rebuild, then make the study" >&2
  exit 2
fi
commit=$(git rev-parse --short=12 HEAD)
if [[ $("$ringside" --version) != *"git $commit"* ]]; then
  echo "$ringside was not built from commit $commit: ninja -C build/release" >&2
  exit 2
fi

for name in "$@"; do
  spec=experiments/specs/$name.yaml
  raw=results/$name
  kept=results/studies/$name
  [[ -f $spec ]] || { echo "$spec is missing" >&2; exit 2; }
  resume=()
  [[ -f $raw/journal.jsonl ]] && resume=(--resume)
  "$ringside" matrix "$spec" --out results "${resume[@]}"
  "$ringside" report "$raw" --figures --markdown >/dev/null

  rm -rf "$kept"
  mkdir -p "$kept/figures"
  cp "$raw"/figures/*-double.svg "$kept/figures/"
  cp "$raw/report.csv" "$raw/runs.csv" "$kept/"
  cp "$raw/matrix.yaml" "$kept/spec.yaml"
  cp "$raw/report.md" "$kept/README.md"
  cat >"$kept/how-made.txt" <<HOW
scripts/make_study.sh $name
commit $commit, $(date -u +%Y-%m-%d), $(nproc) cores
HOW
  echo "$kept: $(du -sh "$kept" | cut -f1)"
done

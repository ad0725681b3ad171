#!/usr/bin/env bash
# Makes a reference study: runs its matrix, writes its report, and copies the files that are small enough to commit.
# usage: scripts/make_study.sh [--report] NAME...
#   NAME       the spec is experiments/specs/NAME.yaml; needs root if it emulates a network
#   --report   writes the reports of existing runs again; runs nothing. Without results/NAME it takes the runs from
#              results/studies/NAME/runs.tar.gz
#
# A run that the machine limited, or that could not be judged, is made again, if other runs of its configuration count. What it
# measured does not decide that, only its fidelity. how-made.txt says how many there were.
#
# Bundles stay in results/NAME and are not committed. An interrupted matrix continues there. The files to commit are in
# results/studies/NAME: README.md (findings, numbers, environment), figures/*.svg, report.csv, runs.csv, spec.yaml,
# how-made.txt, and runs.tar.gz: the bundles without their logs.
set -euo pipefail
cd "$(dirname "$0")/.."

report_only=false
if [[ ${1:-} == --report ]]; then
  report_only=true
  shift
fi
(($#)) || { sed -n '3,6p' "$0" | cut -c3- >&2; exit 2; }
ringside=build/release/bin/ringside
[[ -x $ringside ]] || { echo "$ringside is missing: ./quickstart.sh builds it" >&2; exit 4; }

# A study names its commit, so the executable must be built from that commit.
if [[ -n $(git status --porcelain --untracked-files=no -- . ':!results/studies') ]]; then
  echo "uncommitted changes: commit them, rebuild, then make the study" >&2
  exit 2
fi
commit=$(git rev-parse --short=12 HEAD)
if [[ $("$ringside" --version) != *"git $commit"* ]]; then
  echo "$ringside was not built from commit $commit: ninja -C build/release" >&2
  exit 2
fi

# The commits of a folder's finished runs. Refuses failed runs.
commits_of() {
  /usr/bin/python3 - "$1" <<'COMMITS'
import json, pathlib, sys
commits = set()
for path in sorted(pathlib.Path(sys.argv[1]).glob("*/summary.json")):
    status = json.loads(path.read_text())["status"]
    if status != "done":
        sys.exit(f"{path}: {status}: a reference study needs runs that are done")
    commits.add(json.loads(path.with_name("environment.json").read_text())["git"])
print(" ".join(sorted(commits)))
COMMITS
}

# Removes the bundles of runs that reports leave out (limited, or not judged), whose configurations have runs that count. Prints how many there
# were, and adds the number to FOLDER/made-again.txt.
drop_limited() {
  /usr/bin/python3 - "$1" <<'LIMITED'
import collections, json, pathlib, shutil, sys
runs = collections.defaultdict(list)
for path in pathlib.Path(sys.argv[1]).glob("*/summary.json"):
    spec = json.loads(path.with_name("spec.json").read_text())
    del spec["repetition"]
    summary = json.loads(path.read_text())
    fidelity = summary.get("fidelity")
    left_out = summary.get("link_ok") is False or bool(fidelity) and fidelity["verdict"] != "ok"
    runs[json.dumps(spec, sort_keys=True)].append((path.parent, left_out))
dropped = [folder for same in runs.values() if not all(left_out for _, left_out in same) for folder, left_out in same if left_out]
count = pathlib.Path(sys.argv[1], "made-again.txt")
before = int(count.read_text()) if count.exists() else 0
count.write_text(f"{before + len(dropped)}\n")
for folder in dropped:
    shutil.rmtree(folder)
print(len(dropped))
LIMITED
}

# Packs the bundles of a folder. The same bundles give the same bytes.
pack() {
  tar --create --directory "$1" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --exclude='./*/logs' \
    --exclude=./index.sqlite --exclude=./figures --exclude='./report*' --exclude=./runs.csv . | gzip -9n >"$2"
}

for name in "$@"; do
  spec=experiments/specs/$name.yaml
  raw=results/$name
  kept=results/studies/$name
  [[ -f $spec ]] || { echo "$spec is missing" >&2; exit 2; }
  if ! $report_only; then
    resume=()
    if [[ -f $raw/journal.jsonl ]]; then
      before=$(commits_of "$raw")
      if [[ -n $before && $before != "$commit" ]]; then
        echo "$raw has runs of commit $before: remove it, then make the study" >&2
        exit 2
      fi
      resume=(--resume)
    fi
    "$ringside" matrix "$spec" --out results "${resume[@]}"
    limited=$(drop_limited "$raw")
    if ((limited)); then
      echo "$name: $limited runs that the machine limited, or that could not be judged, are made again"
      "$ringside" matrix "$spec" --out results --resume
    fi
  elif [[ ! -d $raw ]]; then
    [[ -f $kept/runs.tar.gz ]] || { echo "neither $raw nor $kept/runs.tar.gz is there" >&2; exit 3; }
    mkdir -p "$raw"
    tar --extract --gzip --directory "$raw" --file "$kept/runs.tar.gz"
  fi
  runs=$(commits_of "$raw")
  [[ -n $runs ]] || { echo "$raw has no runs" >&2; exit 1; }
  "$ringside" report "$raw" --figures --markdown >/dev/null

  rm -rf "$kept"
  mkdir -p "$kept/figures"
  cp "$raw"/figures/*-double.svg "$kept/figures/"
  cp "$raw/report.csv" "$raw/runs.csv" "$kept/"
  cp "$raw/matrix.yaml" "$kept/spec.yaml"
  cp "$raw/report.md" "$kept/README.md"
  pack "$raw" "$kept/runs.tar.gz"
  made_again=
  [[ ! -f $raw/made-again.txt ]] || made_again="runs that the machine limited, or that could not be judged, and that were made again: $(<"$raw/made-again.txt")"
  cat >"$kept/how-made.txt" <<HOW
scripts/make_study.sh $name
runs: commit $runs; report: commit $commit; $(date -u +%Y-%m-%d), $(nproc) cores
${made_again:-how many limited runs were made again was not counted}
HOW
  echo "$kept: $(du -sh "$kept" | cut -f1)"
done

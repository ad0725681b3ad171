#!/usr/bin/env python3
"""Measures a run's time in a matrix besides its steps: before its first step and after its last one.

Runs two small matrices of 4 workers: an emulated model (no libtorch) and mlp (libtorch). For each strategy it takes the journal's
seconds minus the run's own training time, and prints the median over runs with the target of 2 s or 4 s.

usage: benchmarks/matrix_overhead.py [--build build/release] [--repetitions 5] [--only profile|mlp] [--json FILE]
Exit codes: 0 all medians are within their target, 5 one is above, 1 a run failed.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

STUDIES = {
    "profile": (2.0, "{model: 'profile:mobilenet-v2', steps: 5, compute-ms: 2, batch-per-worker: 4, workers: 4}"),
    "mlp": (4.0, "{model: mlp, hidden: [64], data: digits, steps: 5, global-batch: 64, workers: 4}"),
}
STRATEGIES = ["none", "ring", "ps-sync", "shm"]


def run_study(name, arguments, scratch):
    target, defaults = STUDIES[name]
    spec = (f"name: {name}\ndefaults: {defaults}\naxes: {{strategy: [{', '.join(STRATEGIES)}]}}\n"
            f"repetitions: {arguments.repetitions}\n")
    (scratch / f"{name}.yaml").write_text(spec)
    ringside = (arguments.build / "bin" / "ringside").resolve()
    subprocess.run([ringside, "matrix", f"{name}.yaml", "--quiet"], cwd=scratch, check=True)
    results = scratch / "results" / name
    overheads = {}
    startups = {}
    for line in (results / "journal.jsonl").read_text().splitlines():
        entry = json.loads(line)
        summary = json.loads((results / entry["run_id"] / "summary.json").read_text())
        overheads.setdefault(summary["strategy"], []).append(entry["seconds"] - summary["train_seconds"])
        startups.setdefault(summary["strategy"], []).append(summary["startup_seconds"])
    return [{"study": name, "strategy": strategy, "runs": len(values), "target_s": target,
             "overhead_s": statistics.median(values), "worst_s": max(values),
             "startup_s": statistics.median(startups[strategy])}
            for strategy, values in sorted(overheads.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", choices=sorted(STUDIES))
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to FILE")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="ringside-overhead-") as scratch:
        for name in [arguments.only] if arguments.only else sorted(STUDIES):
            try:
                rows += run_study(name, arguments, pathlib.Path(scratch))
            except subprocess.CalledProcessError as error:
                print(f"matrix_overhead: {name}: {error}", file=sys.stderr)
                return 1
    print(f"{'model':<9}{'strategy':<10}{'runs':>5}{'overhead s':>12}{'worst s':>9}{'to first step s':>17}{'target s':>10}")
    for row in rows:
        print(f"{row['study']:<9}{row['strategy']:<10}{row['runs']:>5}{row['overhead_s']:>12.2f}{row['worst_s']:>9.2f}"
              f"{row['startup_s']:>17.2f}{row['target_s']:>10.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"schema": "ringside.overhead/1", "rows": rows}, indent=2) + "\n")
    return 0 if all(row["overhead_s"] < row["target_s"] for row in rows) else 5


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares Ringside with its peers: a row is a ratio, or a difference of two ratios, over the rounds that it states. A ratio is of two
medians, or, in the rows net and push-pull, the median of the ratios of the rounds.

The two sides of a row take turns within the rounds; a bound or a fixed time has no turn. --rounds is for quick rows. Slow
rows, in an emulated cluster, run half as many rounds, but at least 3.

usage: benchmarks/compare.py [--build DIR] [--rounds N] [--steps N] [--only ROW[,ROW..]] [--list]
                             [--json FILE] [--markdown FILE]
  --only   rows (shm/gloo-2x4MiB) or whole groups (shm, lab); all rows without it
  --list   lists the rows and their targets, measures nothing
Needs a release build (cmake --build build/release --target compare builds everything that is compared). Rows in an
emulated cluster need root. `ddp` needs Debian's python3-torch, the rows `push-pull/mxnet` need PyPI, and the rows of
impi, openmpi5 and mpich need MPI libraries from PyPI (scripts/install-dependencies.sh --benchmarks installs all of these). A row that
cannot run says why and counts as skipped, never as passed.
Exit code: 0 all rows that ran are within their target, 5 a row is not, 1 a row failed to run.
"""
import argparse
import json
import pathlib
import subprocess
import sys

from comparison.measure import ROOT, Context, Skipped, run
from comparison.rows import ROWS, choose


def entry(row, measured):
    return {"row": row.name, "what": row.what, "ours": measured.ours, "peer": measured.peer, "unit": measured.unit,
            "rounds": measured.rounds, "ratio": measured.ratio, "target": row.target(), "ok": row.reached(measured.ratio),
            "note": measured.note, "samples": measured.samples}


def verdict(row):
    return {None: "", True: "ok", False: "MISSED"}[row["ok"]]


def print_row(row):
    note = f"  ({row['note']})" if row["note"] else ""
    print(f"{row['row']:<24} {row['ours']:>10.2f} {row['peer']:>10.2f} {row['unit']:<3} {row['ratio']:>7.3f} "
          f"{row['rounds']:>6} {row['target']:>8} {verdict(row):<7} {row['what']}{note}", flush=True)


def measure_all(rows, context):
    result = {"rows": [], "skipped": [], "failed": []}
    print(f"{'row':<24} {'ours':>10} {'peer':>10} {'':<3} {'ratio':>7} {'rounds':>6} {'target':>8} {'':<7} what", flush=True)
    for row in rows:
        try:
            result["rows"].append(entry(row, row.measure(context)))
            print_row(result["rows"][-1])
        except Skipped as reason:
            result["skipped"].append({"row": row.name, "what": row.what, "reason": str(reason)})
            print(f"{row.name:<24} skipped: {reason}", flush=True)
        except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError, OSError) as error:
            result["failed"].append({"row": row.name, "what": row.what, "error": str(error)})
            print(f"{row.name:<24} failed: {error}", flush=True)
    return result


def markdown(result):
    lines = [f"Made by `benchmarks/compare.py` at commit `{result['commit']}`"
             f"{' with local changes' if result['dirty'] else ''}; medians over the rounds of each row.", "",
             "| row | what | ours | peer | ratio | rounds | target | |", "|---|---|---|---|---|---|---|---|"]
    for row in result["rows"]:
        note = f" ({row['note']})" if row["note"] else ""
        lines.append(f"| `{row['row']}` | {row['what']}{note} | {row['ours']:.2f} {row['unit']} | {row['peer']:.2f} "
                     f"{row['unit']} | {row['ratio']:.2f} | {row['rounds']} | {row['target']} | {verdict(row)} |")
    for kind, key in (("skipped", "reason"), ("failed", "error")):
        for row in result[kind]:
            reason = row[key].splitlines()[0] if row[key] else ""
            lines.append(f"| `{row['row']}` | {row['what']} | | | | | | {kind}: {reason} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default=",".join(row.name for row in ROWS))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    if options.rounds < 1 or options.steps < 1:
        parser.error("--rounds and --steps: give at least 1")
    try:
        rows = choose(options.only)
    except KeyError as word:
        parser.error(f"no row {word}; there are {', '.join(row.name for row in ROWS)}")
    if options.list:
        for row in rows:
            print(f"{row.name:<24} {row.target():>8}  {row.what}")
        return 0

    commit = run(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip()
    dirty = bool(run(["git", "-C", ROOT, "status", "--porcelain"]).strip())
    result = measure_all(rows, Context(options.build, options.rounds, options.steps))
    result = {"schema": "ringside.compare/2", "commit": commit, "dirty": dirty, "rounds": options.rounds, **result}
    print(f"commit {commit}{' with local changes' if dirty else ''}, medians over the rounds of each row")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(result))
    if result["failed"]:
        return 1
    return 5 if any(row["ok"] is False for row in result["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())

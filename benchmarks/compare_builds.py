#!/usr/bin/env python3
"""Compares the speed of two builds of Ringside, and finds where the second is slower.

usage: benchmarks/compare_builds.py --before BUILD --after BUILD [--rounds N] [--only TEXT] [--json FILE]

Rows: every strategy that both builds can run, with 2 and 4 workers, at 4 KiB, 4 MiB and 64 MiB; the step of the MLP with
every strategy that trains it; the start of the command line. The two builds take turns, in an order that is shuffled each
round. A row's ratio is the median of the second build over the median of the first. Exit code 5 when a ratio is above
--limit (1.02).
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

from comparison.measure import interleaved, run, slower

# (bytes, warm-up operations, timed operations). Small sizes need many operations until their times are steady.
SIZES = (("4KiB", 2000, 500), ("4MiB", 200, 50), ("64MiB", 10, 10))
WORKERS = (2, 4)
BUILDS = ("before", "after")


def strategies(build):
    listed = json.loads(run([build / "bin/ringside", "list", "strategies", "--json"]))["strategies"]
    return [entry["name"] for entry in listed if entry["available"]]


def bench(build, names, workers, size):
    text, warmup, iterations = size
    out = run([build / "bin/ringside", "bench", "--strategy", ",".join(names), "--workers", workers, "-b", text, "-e", text,
               "-w", warmup, "-n", iterations, "-c", 0, "--json"], timeout=600, accept=(0, 5))
    return {row["strategy"]: row["time_us"] for row in json.loads(out)["rows"]}


def step(build, name):
    with tempfile.TemporaryDirectory() as out:
        text = run([build / "bin/ringside", "train", "--strategy", name, "--workers", 2, "--model", "mlp", "--data", "digits",
                    "--global-batch", 64, "--steps", 60, "--warmup-steps", 10, "--out", pathlib.Path(out) / "run", "--json"])
        return json.loads(text)["step_ms"]["median"]


def start(build):
    begin = time.monotonic()
    for _ in range(20):
        run([build / "bin/ringside", "--help"])
    return (time.monotonic() - begin) / 20 * 1000


def paired(builds, rounds, measure):
    """The values of `measure(build)` for each build, one per round."""
    return interleaved(rounds, {name: (lambda build=builds[name]: measure(build)) for name in BUILDS})


def rows(builds, rounds, only):
    both = [name for name in strategies(builds["before"]) if name in strategies(builds["after"])]
    wanted = [name for name in both if only in name]
    timed = [name for name in wanted if name not in ("none", "local-sgd", "diloco")]  # bench times sums and push-pulls
    for workers in WORKERS if timed else ():
        for size in SIZES:
            values = paired(builds, rounds, lambda build, w=workers, s=size: bench(build, timed, w, s))
            for name in timed:
                yield (f"bench {name}, {workers} workers, {size[0]}", "µs",
                       slower([row[name] for row in values["after"]], [row[name] for row in values["before"]]))
    for name in wanted:
        values = paired(builds, rounds, lambda build, n=name: step(build, n))
        yield f"step of the MLP, {name}, 2 workers", "ms", slower(values["after"], values["before"])
    if not only:
        values = paired(builds, rounds, start)
        yield "--help", "ms", slower(values["after"], values["before"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=pathlib.Path, required=True, help="a build directory")
    parser.add_argument("--after", type=pathlib.Path, required=True, help="a build directory")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only strategies whose name contains this text")
    parser.add_argument("--limit", type=float, default=1.02)
    parser.add_argument("--json", type=pathlib.Path, help="write the samples here")
    args = parser.parse_args()
    builds = {"before": args.before, "after": args.after}
    for build in builds.values():
        if not (build / "bin/ringside").is_file():
            parser.error(f"{build} has no bin/ringside")
    versions = {name: run([build / "bin/ringside", "--version"]).splitlines()[0] for name, build in builds.items()}
    for name in BUILDS:
        print(f"{name}: {versions[name]}")
    kept, above = [], 0
    print(f"{'row':<48} {'before':>10} {'after':>10} {'ratio':>7}")
    for name, unit, measured in rows(builds, args.rounds, args.only):
        above += measured.ratio > args.limit
        mark = "  above" if measured.ratio > args.limit else ""
        print(f"{name:<48} {measured.peer:>10.4g} {measured.ours:>10.4g} {measured.ratio:>7.3f} {unit}{mark}", flush=True)
        kept.append({"row": name, "unit": unit, "ratio": measured.ratio, "before": measured.samples["peer"],
                     "after": measured.samples["ours"]})
    if args.json:
        args.json.write_text(json.dumps({"versions": versions, "rounds": args.rounds, "rows": kept}, indent=1) + "\n")
    print(f"{above} of {len(kept)} rows are above {args.limit}")
    return 5 if above else 0


if __name__ == "__main__":
    sys.exit(main())

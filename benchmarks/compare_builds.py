#!/usr/bin/env python3
"""Compares the speed of two builds of Ringside, and finds where the second is slower.

usage: benchmarks/compare_builds.py --before BUILD --after BUILD [--rounds N] [--again N] [--kind KIND] [--only TEXT]
                                    [--json FILE]

Rows: every strategy that both builds can run, with 2 and 4 workers, at 4 KiB, 4 MiB and 64 MiB; the step of the MLP with
every strategy that trains it; the start of the command line; as root, the processor time of a step with servers between
emulated hosts (it holds the start of the run, too). Each build uses its own defaults. The two builds take turns, in an
order that is shuffled each round. A row's ratio is the median of the second build over the median of the first. A row
above --limit (1.02) is measured again, --rounds at a time and at most --again times; its medians are those of all its
rounds. Exit code 5 when a ratio is above the limit even so.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

from comparison.emulated import ATTEMPTS, limited
from comparison.measure import interleaved, run, slower

# (bytes, warm-up operations, timed operations). Small sizes need many operations until their times are steady.
SIZES = (("4KiB", 2000, 500), ("4MiB", 200, 50), ("64MiB", 10, 10))
WORKERS = (2, 4)
BUILDS = ("before", "after")
KINDS = ("bench", "step", "start", "cpu")
CPU_STEPS = 9


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


def train_between_hosts(build, servers):
    with tempfile.TemporaryDirectory() as out:
        return json.loads(run(
            [build / "bin/ringside", "train", "--strategy", "ps-sync", "--servers", servers, "--workers", 4,
             "--network", "hosts=4,rate=1Gbps", "--model", "profile:mobilenet-v2", "--compute-ms", 400, "--steps", CPU_STEPS,
             "--warmup-steps", 2, "--out", pathlib.Path(out) / "run", "--quiet", "--json"], timeout=145))


def processor_time(build, servers):
    """Of a run that the machine has not limited. Old builds do not judge that."""
    for _ in range(ATTEMPTS):
        summary = train_between_hosts(build, servers)
        if not limited(summary):
            return 1e3 * sum(filter(None, summary["cpu_seconds"].values())) / CPU_STEPS
    raise RuntimeError(f"the machine limited {ATTEMPTS} of {ATTEMPTS} runs of {build}")


class Rows:
    """Rows that one command of each build measures together."""

    def __init__(self, unit, labels, measure):
        self.unit = unit
        self.labels = labels  # name -> text of the row
        self.measure = measure  # (build, names) -> name -> value
        self.samples = {build: {name: [] for name in labels} for build in BUILDS}

    def add(self, builds, rounds, names):
        values = interleaved(rounds, {build: (lambda path=builds[build]: self.measure(path, names)) for build in BUILDS})
        for build in BUILDS:
            for taken in values[build]:
                for name in names:
                    self.samples[build][name].append(taken[name])

    def measured(self, name):
        return slower(self.samples["after"][name], self.samples["before"][name])


def all_rows(builds, kinds, only):
    both = [name for name in strategies(builds["before"]) if name in strategies(builds["after"])]
    wanted = [name for name in both if only in name]
    timed = [name for name in wanted if name not in ("none", "local-sgd", "diloco")]  # bench times sums and push-pulls
    for workers in WORKERS if timed and "bench" in kinds else ():
        for size in SIZES:
            yield Rows("µs", {name: f"bench {name}, {workers} workers, {size[0]}" for name in timed},
                       lambda build, names, w=workers, s=size: bench(build, names, w, s))
    for name in wanted if "step" in kinds else ():
        yield Rows("ms", {name: f"step of the MLP, {name}, 2 workers"}, lambda build, names: {names[0]: step(build, names[0])})
    cpu = "ps-sync" in wanted and "cpu" in kinds
    if cpu and os.geteuid() != 0:
        print("LEFT OUT: processor time of a step between emulated hosts, because only root can emulate them")
    for servers in (1, 4) if cpu and os.geteuid() == 0 else ():
        yield Rows("ms", {servers: f"processor time of a step, ps-sync, 4+{servers} hosts, 1 Gbit/s"},
                   lambda build, names: {names[0]: processor_time(build, names[0])})
    if not only and "start" in kinds:
        yield Rows("ms", {"--help": "--help"}, lambda build, _: {"--help": start(build)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=pathlib.Path, required=True, help="a build directory")
    parser.add_argument("--after", type=pathlib.Path, required=True, help="a build directory")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--again", type=int, default=0, help="measure rows above the limit again, so many times at most")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only rows of this kind; may be given several times")
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
    print(f"{'row':<56} {'before':>10} {'after':>10} {'ratio':>7} {'rounds':>6}")
    for rows in all_rows(builds, args.kind or KINDS, args.only):
        names = list(rows.labels)
        for _ in range(1 + args.again):
            rows.add(builds, args.rounds, names)
            names = [name for name in rows.labels if rows.measured(name).ratio > args.limit]
            if not names:
                break
        for name, label in rows.labels.items():
            measured = rows.measured(name)
            above += name in names
            print(f"{label:<56} {measured.peer:>10.4g} {measured.ours:>10.4g} {measured.ratio:>7.3f} {measured.rounds:>6} {rows.unit}"
                  + ("  above" if name in names else ""), flush=True)
            kept.append({"row": label, "unit": rows.unit, "ratio": measured.ratio, "before": measured.samples["peer"],
                         "after": measured.samples["ours"]})
    if not kept:
        sys.exit("no row could be measured")
    # A single row may be off by chance. All of them together show whether the second build is slower.
    overall = statistics.geometric_mean(row["ratio"] for row in kept)
    print(f"geometric mean of all ratios: {overall:.3f}")
    if args.json:
        args.json.write_text(json.dumps({"versions": versions, "rounds": args.rounds, "geometric_mean": overall, "rows": kept}, indent=1) + "\n")
    print(f"{above} of {len(kept)} rows are above {args.limit}")
    return 5 if above else 0


if __name__ == "__main__":
    sys.exit(main())

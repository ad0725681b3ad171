#!/usr/bin/env python3
"""Ringside beside its peers: every row is a ratio of medians over interleaved rounds of one call.

usage: benchmarks/compare.py [--build DIR] [--rounds N] [--steps N] [--only ROW[,ROW..]] [--json FILE]
Needs a release build; row `ddp` needs Debian's python3-torch (scripts/install-dependencies.sh --benchmarks), row `lab`
needs root. A row that cannot run says why and counts as skipped, never as passed.
Exit code: 0 all rows that ran are within their target, 5 one is not, 1 a row failed to run.
"""
import argparse
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARMUP = 3


class Skipped(Exception):
    """A row that this machine cannot run."""


def run(command, env=None, timeout=600):
    """Standard output of a command given as a list; its standard error is shown when it fails."""
    done = subprocess.run([str(word) for word in command], env={**os.environ, **(env or {})},
                          capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} exited with {done.returncode}:\n{done.stderr.strip()[-2000:]}")
    return done.stdout


def interleaved(rounds, measures):
    """Runs each of `measures` (name -> function) once a round, in an order shuffled each round; name -> values."""
    values = {name: [] for name in measures}
    order = random.Random(1)
    for _ in range(rounds):
        names = list(measures)
        order.shuffle(names)
        for name in names:
            values[name].append(measures[name]())
    return values


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ddp_step_ms(workers, steps):
    env = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "GLOO_SOCKET_IFNAME": "lo",
           "WORLD_SIZE": str(workers)}
    command = ["/usr/bin/python3", str(ROOT / "benchmarks/peers/torch_ddp.py"), "32", str(WARMUP), str(steps)]
    others = [subprocess.Popen(command, env={**os.environ, **env, "RANK": str(rank)}) for rank in range(1, workers)]
    try:
        result = json.loads(run(command, {**env, "RANK": "0"}))
    finally:
        for process in others:
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
    return result["step_ms"]


def ringside_step_ms(build, strategy, workers, steps, extra=()):
    """Mean time of the steps after the warm-up, as the peer measures it."""
    with tempfile.TemporaryDirectory() as out:
        run([build / "bin/ringside", "train", "--strategy", strategy, "--workers", workers, "--model", "mlp",
             "--data", "synthetic", "--batch-per-worker", 32, "--steps", WARMUP + steps, "--lr", 0.01,
             "--out", pathlib.Path(out) / "run", *extra])
        lines = (pathlib.Path(out) / "run/metrics.jsonl").read_text().splitlines()
    records = [record for record in map(json.loads, lines) if "step_ms" in record]
    return statistics.fmean(record["step_ms"] for record in records[WARMUP:])


def row_ddp(build, options):
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        raise Skipped("python3-torch is not installed")
    values = interleaved(options.rounds, {
        "ddp": lambda: ddp_step_ms(2, options.steps),
        "ring": lambda: ringside_step_ms(build, "ring", 2, options.steps),
        "halving-doubling": lambda: ringside_step_ms(build, "halving-doubling", 2, options.steps),
        "ps-sync": lambda: ringside_step_ms(build, "ps-sync", 2, options.steps, ["--servers", 1]),
    })
    median = {name: statistics.median(numbers) for name, numbers in values.items()}
    targets = {"ring": 0.9, "halving-doubling": None, "ps-sync": 1.3}
    return [dict(row="ddp", what=f"MLP 5.8 M step, 2 workers: {name} / DDP over Gloo", ours_ms=median[name],
                 peer_ms=median["ddp"], ratio=median[name] / median["ddp"], at_most=target,
                 samples={"ours": values[name], "peer": values["ddp"]})
            for name, target in targets.items()]


def row_plain(build, options):
    result = json.loads(run([build / "bin/plain_loop_benchmark", "--rounds", options.rounds]).splitlines()[-1])
    return [dict(row="plain", what="MLP 5.8 M step, 1 worker: none / plain libtorch loop", ours_ms=result["ours_ms"],
                 peer_ms=result["plain_ms"], ratio=result["ratio"], at_most=1.05)]


def row_push_pull(build, options):
    result = json.loads(run([build / "bin/push_pull_benchmark", "--rounds", options.rounds]).splitlines()[-1])
    return [dict(row="push-pull", what="push and pull 64 MiB, 2 workers, 1 server / plain protobuf bytes service",
                 ours_ms=result["ours_ms"], peer_ms=result["protobuf_ms"], ratio=result["ratio"], at_most=1.0),
            dict(row="push-pull", what="the same / 90 ms", ours_ms=result["ours_ms"], peer_ms=90.0,
                 ratio=result["ours_ms"] / 90.0, at_most=1.0)]


def row_lab(build, options):
    if os.geteuid() != 0:
        raise Skipped("network namespaces need root")
    out = run([ROOT / "experiments/lab/four_hosts.sh", "--build", build, "--steps", 10, "--at-most", 1000, "--json"], timeout=300)
    result = json.loads(out.splitlines()[-1])
    return [dict(row="lab", what="four hosts at 1 Gbit/s, profile:resnet50: ring / its bound",
                 ours_ms=result["step_ms"], peer_ms=result["bound_ms"], ratio=result["ratio"], at_most=1.10)]


def row_help(build, options):
    def once():
        start = time.perf_counter()
        run([build / "bin/ringside", "--help"])
        return (time.perf_counter() - start) * 1e3
    median = statistics.median(once() for _ in range(max(9, options.rounds)))
    return [dict(row="help", what="ringside --help / 50 ms", ours_ms=median, peer_ms=50.0, ratio=median / 50.0,
                 at_most=1.0)]


ROWS = {"help": row_help, "plain": row_plain, "ddp": row_ddp, "push-pull": row_push_pull, "lab": row_lab}


def print_row(row):
    target = "no target" if row["at_most"] is None else f"<= {row['at_most']:.2f}"
    verdict = {None: "", True: "ok", False: "MISSED"}[row["ok"]]
    print(f"{row['what']:<74} {row['ours_ms']:>9.2f} {row['peer_ms']:>9.2f} {row['ratio']:>7.3f} {target:>10} {verdict}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default=",".join(ROWS))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    names = options.only.split(",")
    for name in names:
        if name not in ROWS:
            parser.error(f"no row {name}; there are {', '.join(ROWS)}")

    rows, skipped, failed = [], [], []
    print(f"{'what':<74} {'ours ms':>9} {'peer ms':>9} {'ratio':>7} {'target':>10}")
    for name in names:
        try:
            for row in ROWS[name](options.build, options):
                row["ok"] = None if row["at_most"] is None else row["ratio"] <= row["at_most"]
                rows.append(row)
                print_row(row)
        except Skipped as reason:
            skipped.append({"row": name, "reason": str(reason)})
            print(f"{name}: skipped, {reason}", flush=True)
        except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
            failed.append({"row": name, "error": str(error)})
            print(f"{name}: failed, {error}", flush=True)
    commit = run(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip()
    dirty = bool(run(["git", "-C", ROOT, "status", "--porcelain"]).strip())
    print(f"commit {commit}{' with local changes' if dirty else ''}, {options.rounds} interleaved rounds, medians")
    if options.json:
        options.json.write_text(json.dumps({"schema": "ringside.compare/1", "commit": commit, "dirty": dirty,
                                            "rounds": options.rounds, "rows": rows, "skipped": skipped,
                                            "failed": failed}, indent=2) + "\n")
    if failed:
        return 1
    return 5 if any(row["ok"] is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

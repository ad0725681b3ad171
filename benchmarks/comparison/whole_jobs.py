"""Measures the whole program: the quickstart, `ringside verify`, the start of many workers, matrices, and the libraries that the
executable loads."""
import json
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time

from comparison.measure import ROOT, Measured, Skipped, run

# About 11 minutes on two cores.
VERIFY = ("--model", "mlp", "--data", "digits", "--steps", 50)
KILLS = 200


def need_worker(context):
    if not (context.build / "bin/ringside-worker").exists():
        raise Skipped("ringside-worker is not built: it needs libtorch")


# The quickstart runs once for both rows.

def quickstart(context):
    need_worker(context)

    def measure():
        spec = ROOT / "experiments/specs/quickstart.yaml"
        with tempfile.TemporaryDirectory() as out:
            begin = time.perf_counter()
            run([context.ringside, "matrix", spec, "--out", out, "--quiet"], timeout=600)
            seconds = time.perf_counter() - begin
            study = json.loads(run([context.ringside, "report", f"{out}/quickstart", "--no-files", "--json"]))
        return {"seconds": seconds, "cells": study["cells"]}
    return context.once("quickstart", measure)


def quickstart_time(context):
    seconds = quickstart(context)["seconds"]
    return Measured(seconds, 60.0, seconds / 60, 1, unit="s")


def quickstart_accuracy(context):
    """The lowest accuracy of any synchronous strategy with any number of workers."""
    cells = [cell for cell in quickstart(context)["cells"] if context.strategy(cell["strategy"])["synchronous"]]
    least = min(cells, key=lambda cell: cell["accuracy"])
    return Measured(100 * least["accuracy"], 95.0, least["accuracy"] / 0.95, 1, unit="%",
                    note=f"{least['strategy']}, {least['workers']} workers")


# Every synchronous strategy compared with a single worker; one `ringside verify` serves both optimizers.

def verified(context, flags):
    need_worker(context)

    def measure():
        # Exit code 5 means that a row is past its limit, which is a normal result.
        result = json.loads(run([context.ringside, "verify", *flags, "--json", "--quiet"], timeout=3600, accept=(0, 5)))
        for row in result["rows"]:
            if row["difference"] is None or row["same_twice"] is False:
                raise RuntimeError(f"{row['optimizer']}, {row['strategy']}, {row['workers']} workers: "
                                   f"{row['error'] or 'two runs differ in their bits'}")
        return result["rows"]
    return context.once(("verify", flags), measure)


def verify(optimizer, flags=VERIFY):
    """The largest difference to the single worker (L2 norm over the norm of the parameters), over its limit."""
    def measure(context):
        rows = [row for row in verified(context, flags) if row["optimizer"] == optimizer]
        most = max(rows, key=lambda row: row["difference"])
        return Measured(most["difference"] * 1e9, most["limit"] * 1e9, most["difference"] / most["limit"], 1, unit="ppb",
                        note=f"{most['strategy']}, {most['workers']} workers; {len(rows)} configurations")
    return measure


# The start of many workers, without libtorch.

LAUNCH_SECONDS = 5.0


def launch(workers, strategy, *flags):
    """The median time from the start of `ringside train` until its first step is done."""
    def measure(context):
        if "mpirun" in flags and not shutil.which("mpirun"):
            raise Skipped("mpirun is not in PATH: install openmpi-bin")
        seconds = []
        for _ in range(context.rounds):
            with tempfile.TemporaryDirectory() as out:
                run([context.ringside, "train", "--strategy", strategy, "--workers", workers, "--model", "profile:small-tensors",
                     "--compute-ms", 1, "--steps", 3, "--quiet", "--out", f"{out}/run", *flags])
                seconds.append(json.loads(pathlib.Path(out, "run", "summary.json").read_text())["startup_seconds"])
        middle = statistics.median(seconds)
        return Measured(middle, LAUNCH_SECONDS, middle / LAUNCH_SECONDS, len(seconds), unit="s")
    return measure


# Matrices.

def result_of(context, script, *flags):
    """The JSON that a script in benchmarks/ writes. Exit code 5 means past its own limit, which is a normal result."""
    with tempfile.TemporaryDirectory() as out:
        written = pathlib.Path(out) / "result.json"
        run([sys.executable, "-B", ROOT / "benchmarks" / script, "--build", context.build, *flags, "--json", written],
            timeout=3600, accept=(0, 5))
        return json.loads(written.read_text())


def matrix_overhead(study, needs_libtorch):
    """The overhead of the strategy with the largest median over runs."""
    def measure(context):
        if needs_libtorch:
            need_worker(context)
        rows = result_of(context, "matrix_overhead.py", "--only", study, "--repetitions", context.rounds)["rows"]
        most = max(rows, key=lambda row: row["overhead_s"])
        worst = max(row["worst_s"] for row in rows)
        return Measured(most["overhead_s"], most["target_s"], most["overhead_s"] / most["target_s"], most["runs"], unit="s",
                        note=f"{most['strategy']}; a run at most {worst:.2f} s")
    return measure


def matrix_kills(context):
    """The first run that is lost, doubled or half-written ends the test. The ratio is the number of such runs: 0 or 1."""
    result = result_of(context, "kill_the_runner.py", "--kills", KILLS)
    broken = 1 if result["broken"] else 0
    note = result["broken"] or f"after {result['unfinished_after']} of the kills a run was unfinished"
    return Measured(broken, 0, broken, result["kills"], unit="", note=" ".join(note.split()))


def libtorch_loaded(context):
    """The libraries of libtorch that the dynamic linker opens. The ratio is their number; the target is none."""
    with tempfile.TemporaryDirectory() as out:
        run([context.ringside, "--help"], {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{out}/opened"})
        told = "".join(path.read_text() for path in pathlib.Path(out).iterdir())
    opened = set(re.findall(r"file=(\S+)", told))
    if not opened:
        raise Skipped("the dynamic linker does not tell what it opens (LD_DEBUG)")
    theirs = sorted(name for name in opened if re.search(r"lib(torch|c10)", name))
    return Measured(len(theirs), 0, len(theirs), 1, unit="", note=", ".join(theirs))

#!/usr/bin/env python3
"""The same run started by our launcher, mpirun, srun, Spark and Flyte: its parameters, its step, and how long it takes to the first step.

usage: launchers.py [--build DIR] [--rounds N] [--only NAME,...] [--steps N] [--markdown FILE]
  With $(scripts/python-venv.sh --system cloudpickle==3.1.2 pyspark==4.0.5 flytekit==1.16.31) as its Python, and the build's package in
  PYTHONPATH. srun needs root, munge and Slurm.
  The table names each launcher that is left out, with the reason.
  Exit code 5: parameters differ, or a step is not within 3 % of that under our launcher.

The launchers take turns in every round, in an order shuffled each round. A ratio is the median of the rounds' ratios.
"""
import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKERS = 4
STRATEGIES = {"ring": [], "ps-sync": ["--servers", "2"]}
RATIOS = (0.97, 1.03)
# Without the pause four workers and two servers wait for two cores, and the medians of one launcher differ by more than RATIOS.
PAUSE_MS = 50
NAMES = ("ringside", "mpirun", "srun", "spark", "flyte")


def train(steps, pause_ms):
    """What every worker does: a network of 1.6 million parameters, and a pause in which a GPU would compute. Worker 0 returns the
    parameters' hash."""
    import hashlib
    import time

    import torch

    import ringside
    import ringside.torch

    torch.set_num_threads(1)
    ringside.init()
    torch.manual_seed(1)
    sizes = [256, 1024, 1024, 256]
    layers = [layer for width, height in zip(sizes, sizes[1:]) for layer in (torch.nn.Linear(width, height), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 10))
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05), model)
    generator = torch.Generator().manual_seed(ringside.rank())
    for _ in range(steps):
        inputs = torch.randn(16, sizes[0], generator=generator)
        optimizer.zero_grad()
        time.sleep(pause_ms / 1000)
        loss = torch.nn.functional.cross_entropy(model(inputs), inputs.argmax(dim=1) % 10)
        loss.backward()
        ringside.report(loss=loss.item(), samples=len(inputs))
        optimizer.step()
    optimizer.synchronize()
    return hashlib.sha256(b"".join(value.detach().numpy().tobytes() for value in model.parameters())).hexdigest()


class Launcher:
    """Runs `train` under a strategy. Returns worker 0's result; the bundle is in `out`."""

    def __init__(self, steps):
        self.steps = steps

    def flags(self, strategy, out):
        return ["--strategy", strategy, "--workers", str(WORKERS), *STRATEGIES[strategy], "--out", str(out)]

    def call(self, folder):
        import cloudpickle

        from ringside import _function_job

        _function_job.write_call(folder, cloudpickle.dumps((train, (self.steps, PAUSE_MS), {})))
        os.environ[_function_job.FOLDER_VARIABLE] = str(folder)
        return _function_job.CALL

    def close(self):
        pass


class Command(Launcher):
    def __init__(self, steps, *more):
        super().__init__(steps)
        self.more = more

    def run(self, strategy, out):
        from ringside import _function_job

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            call = self.call(folder)
            subprocess.run([os.environ["RINGSIDE_EXECUTABLE"], "train", "--quiet", *self.more, *self.flags(strategy, out), "--", *call],
                           check=True, capture_output=True)
            return _function_job.read_result(folder, 0)


class Srun(Launcher):
    def __init__(self, steps):
        super().__init__(steps)
        sys.path.insert(0, str(ROOT / "tests" / "cluster"))
        from slurm_cluster import SlurmCluster

        self.folder = tempfile.TemporaryDirectory()
        self.slurm = SlurmCluster(self.folder.name)
        self.slurm.__enter__()

    def run(self, strategy, out):
        from ringside import _function_job

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            words = [os.environ["RINGSIDE_EXECUTABLE"], "train", "--quiet", "--launcher", "srun", "--address", "127.0.0.1",
                     *self.flags(strategy, out), "--", *self.call(folder)]
            done = self.slurm.run("salloc", "--quiet", "--nodes=2", "--ntasks=8", *words)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
            return _function_job.read_result(folder, 0)

    def close(self):
        self.slurm.__exit__()
        self.folder.cleanup()


class Spark(Launcher):
    def __init__(self, steps):
        super().__init__(steps)
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        self.session = (SparkSession.builder.master(f"local[{WORKERS}]").config("spark.ui.enabled", "false")
                        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
        self.session.sparkContext.setLogLevel("ERROR")

    def run(self, strategy, out):
        import ringside.spark

        return ringside.spark.run(train, args=(self.steps, PAUSE_MS), num_proc=WORKERS, strategy=strategy,
                                  flags=[*STRATEGIES[strategy], "--out", str(out)], verbose=False)[0]

    def close(self):
        self.session.stop()


def flyte_train(steps: int) -> str:
    """Flyte wants a function of a module, with types."""
    return train(steps, PAUSE_MS)


class Flyte(Launcher):
    def run(self, strategy, out):
        from ringside.flyte import Ringside, RingsideFunctionTask

        config = Ringside(workers=WORKERS, strategy=strategy, servers=int(STRATEGIES[strategy][1]) if STRATEGIES[strategy] else None,
                          flags=["--out", str(out), "--quiet"])
        return RingsideFunctionTask(config, flyte_train)(steps=self.steps)


def launchers(steps, only):
    """Those that can be started here, by name; the others with the reason."""
    makers = {"ringside": (lambda: Command(steps), None),
              "mpirun": (lambda: Command(steps, "--launcher", "mpirun"), None if shutil.which("mpirun") else "mpirun is not in PATH"),
              "srun": (lambda: Srun(steps), None if os.geteuid() == 0 and shutil.which("slurmctld", path=os.environ["PATH"] + ":/usr/sbin")
                       else "no Slurm, or not root"),
              "spark": (lambda: Spark(steps), None if importlib.util.find_spec("pyspark") else "no pyspark"),
              "flyte": (lambda: Flyte(steps), None if importlib.util.find_spec("flytekit") else "no flytekit")}
    found, missing = {}, {}
    for name, (make, reason) in makers.items():
        if only and name not in only:
            continue
        if reason:
            missing[name] = reason
        else:
            found[name] = make
    return found, missing


def measure(found, rounds):
    """For each strategy and launcher: a list of (hash, step in ms, seconds to the first step)."""
    order = random.Random(1)
    taken = {(strategy, name): [] for strategy in STRATEGIES for name in found}
    for number in range(rounds):
        for strategy in STRATEGIES:
            names = list(found)
            order.shuffle(names)
            for name in names:
                with tempfile.TemporaryDirectory() as folder:
                    out = pathlib.Path(folder) / "run"
                    digest = found[name].run(strategy, out)
                    summary = json.loads((out / "summary.json").read_text())
                step_ms = summary["step_ms"]["median"]
                taken[strategy, name].append((digest, step_ms, summary["startup_seconds"]))
                print(f"round {number + 1}: {strategy} by {name}: {step_ms:.2f} ms", file=sys.stderr)
    return taken


def table(taken, missing, rounds, steps):
    version = subprocess.run([os.environ["RINGSIDE_EXECUTABLE"], "--version"], check=True, capture_output=True, text=True).stdout
    commit = re.search(r"git ([^,)]*)", version).group(1)
    lines = [f"# The same run under several launchers\n\nRingside {commit}, {os.cpu_count()} cores: {WORKERS} workers, {steps} steps of a PyTorch program with 1.6 million parameters that sleeps {PAUSE_MS} ms in each, {rounds} rounds, `benchmarks/launchers.py`",
             "", "| strategy | launcher | step, median in ms | over our launcher's, limits 0.97 and 1.03 | to the first step | parameters |", "|---|---|---|---|---|---|"]
    held = True
    for strategy in STRATEGIES:
        base = taken.get((strategy, "ringside"))
        for (of, name), rows in taken.items():
            if of != strategy:
                continue
            digests = {row[0] for row in rows}
            equal = len(digests) == 1 and (base is None or digests == {row[0] for row in base})
            held = held and equal
            step = statistics.median(row[1] for row in rows)
            said = "–"
            if base:
                ratio = statistics.median(row[1] / ours[1] for row, ours in zip(rows, base))
                within = RATIOS[0] <= ratio <= RATIOS[1]
                held = held and within
                said = f"{ratio:.3f}{'' if within else ' (missed)'}"
            start = statistics.median(row[2] for row in rows)
            lines.append(f"| {strategy} | {name} | {step:.2f} | {said} | {start:.2f} s | {'the same' if equal else 'differ'} |")
    lines += [""] + [f"Left out: {name}, because {reason}." for name, reason in missing.items()]
    return "\n".join(lines).rstrip() + "\n", held


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", type=pathlib.Path)
    arguments = parser.parse_args()
    only = set(filter(None, arguments.only.split(",")))
    if unknown := only - set(NAMES):
        parser.error(f"--only: no launcher is called {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    os.environ["RINGSIDE_EXECUTABLE"] = str((arguments.build / "bin/ringside").resolve())
    os.environ["OMP_NUM_THREADS"] = "1"
    makers, missing = launchers(arguments.steps, only)
    with contextlib.ExitStack() as stack:
        found = {}
        for name, make in makers.items():
            found[name] = make()
            stack.callback(found[name].close)
        taken = measure(found, arguments.rounds)
    text, held = table(taken, missing, arguments.rounds, arguments.steps)
    print(text, end="")
    if arguments.markdown:
        arguments.markdown.write_text(text)
    return 0 if held else 5


if __name__ == "__main__":
    sys.exit(main())

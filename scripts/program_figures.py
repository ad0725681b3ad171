#!/usr/bin/python3 -B
"""Measures how exact programs and TorchScript modules train as models of a run, and how long the way from the sources to a table is.

usage: program_figures.py [--out FILE] [--only PART,...] [BUILD]
  --out   the page to write (default: results/program-accuracy.md)
  --only  parts of the page, for a trial: distances, losses, imports, way
BUILD is a build with RINGSIDE_PYTHON_PACKAGE (default: build/release). The parts use the programs and the limits of tests/python. The
interpreter needs PyTorch; those of `scripts/python-venv.sh` for JAX and TensorFlow are used if they are there. Exit code: 0 all
limits hold, 1 one does not.
"""
import argparse
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PARTS = ("distances", "losses", "imports", "way")
STRATEGIES = [(name,) for name in ("ring", "halving-doubling", "recursive-doubling", "tree", "auto", "shm", "hierarchical", "mpi")] + [
    ("ps-sync",), ("ps-sync", "--server-update", "off"), ("ps-sync", "--servers", "colocated", "--bucket-mb", "0"),
    ("mixed", "--servers", "1", "--bucket-mb", "0")]
LIMITS = {"sgd": 1e-5, "adam": 1e-4}
LOSS_LIMIT = 1e-6
WAY_LIMIT_S = 300


def parse():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("build", nargs="?", default=ROOT / "build" / "release", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "results" / "program-accuracy.md", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__.strip())
        sys.exit(0)
    return arguments


class Page:
    def __init__(self, build):
        version = subprocess.run([build / "bin" / "ringside", "--version"], capture_output=True, text=True, check=True).stdout
        self.text = f"""# Programs and modules as models: how exact they are

Written by `scripts/program_figures.py` with {version.splitlines()[0]}, on {os.cpu_count()} cores. The limits are those of the tests in
`tests/python`, which run the same programs.
"""
        self.missed = []

    def section(self, title, head, rows):
        lines = [f"\n## {title}\n", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        self.text += "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"

    def check(self, what, value, limit):
        if value >= limit:
            self.missed.append(f"{what}: {value:.3g}, limit {limit:g}")
        return f"{value:.1e}"


def distances(page):
    """The parameters after 50 steps against one process of plain PyTorch."""
    import torch_runs as programs
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        expected = {kind: programs.reference(kind, pathlib.Path(folder) / kind) for kind in LIMITS}
    for strategy in STRATEGIES:
        row = [f"`{' '.join(strategy)}`"]
        for kind, limit in LIMITS.items():
            case = programs.Programs()
            case.setUp()
            case.train("--strategy", *strategy, kind=kind)
            row.append(page.check(f"{strategy[0]}, {kind}", programs.distance(case.mine(), expected[kind]), limit))
            case.doCleanups()
        rows.append(row)
    page.section("Parameters of a program, two workers, 50 steps: relative L2 distance from one process of plain PyTorch",
                 ["strategy", *(f"{kind} (limit {limit:g})" for kind, limit in LIMITS.items())], rows)


def losses(page):
    """The losses of TorchScript modules over 50 steps against eager PyTorch."""
    import script_models_test as scripts
    rows = []
    for make, flags in ((scripts.classes, ()), (scripts.images, ()), (scripts.gray, ()), (scripts.words, ()),
                        (scripts.numbers, ("--loss", "mse")), (scripts.one_number, ("--loss", "mae"))):
        case = scripts.ScriptModels()
        case.setUp()
        theirs = case.eager_losses(*case.prepare(make))
        mine, _ = case.train("--strategy", "none", "--workers", "1", *flags)
        case.doCleanups()
        worst = max(abs(one - other) / max(1, abs(other)) for one, other in zip(mine, theirs, strict=True))
        rows.append([make.__name__, page.check(f"TorchScript, {make.__name__}", worst, LOSS_LIMIT)])
    page.section(f"Losses of TorchScript modules over {scripts.STEPS} steps: largest difference from eager PyTorch, relative where the "
                 f"loss is above 1 (limit {LOSS_LIMIT:g})", ["module", "difference"], rows)


def interpreters():
    """Interpreters and what they can import beside ringside."""
    found = [(sys.executable, ["torch", "numpy", "grpc"])]
    cache = pathlib.Path.home() / ".cache" / "ringside"
    found += [(str(path), ["jax", "numpy"]) for path in sorted(cache.glob("jax-*/bin/python"))]
    found += [(str(path), ["tensorflow", "grpc", "numpy"]) for path in sorted(cache.glob("tensorflow-*/bin/python"))]
    for python, names in found:
        here = [name for name in names
                if subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0]
        yield python, here


def imports(page):
    """Every order of two of the packages, and all of them, before and after ringside."""
    rows = []
    for python, names in interpreters():
        orders = [(name, "ringside") for name in names] + [("ringside", name) for name in names]
        orders += [order for order in itertools.permutations([*names, "ringside"]) if len(order) > 2]
        crashed = [order for order in orders
                   if subprocess.run([python, "-c", f"import {', '.join(order)}"], capture_output=True, check=False).returncode]
        page.missed += [f"import {', '.join(order)}: a crash" for order in crashed]
        rows.append([", ".join(names), str(len(orders)), str(len(crashed))])
    page.section("Imports, in every order with ringside", ["packages of one interpreter", "orders", "that crashed"], rows)


def way(page):
    """From `pip install .` to the table."""
    import wheel_test
    measured = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            measured.append(wheel_test.way(pathlib.Path(folder))[0])
    seconds = statistics.median(measured)
    if seconds >= WAY_LIMIT_S:
        page.missed.append(f"the way to the table: {seconds:.0f} s, limit {WAY_LIMIT_S} s")
    page.section("From `pip install .` to the table of docs/own-model.md, where Ringside and its package are built, median of 3",
                 ["what", "seconds", "limit"], [["build the wheel, install it, run the matrix, print the table", f"{seconds:.0f}",
                                                str(WAY_LIMIT_S)]])


def build_python(build):
    """The interpreter that the build has for its Python package."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("Python_EXECUTABLE:"):
            return line.partition("=")[2]
    sys.exit(f"{build} was configured without -DPython_EXECUTABLE, so it has no Python package")


def main():
    arguments = parse()
    build = arguments.build.resolve()
    os.environ.update(RINGSIDE=str(build / "bin" / "ringside"), PYTHONPATH=str(build / "python"), RINGSIDE_SOURCE=str(ROOT),
                      RINGSIDE_BUILD_PYTHON=build_python(build), OMP_NUM_THREADS="1")
    sys.path[:0] = [str(ROOT / "tests" / "python"), str(build / "python")]
    page = Page(build)
    for part in arguments.only.split(","):
        {"distances": distances, "losses": losses, "imports": imports, "way": way}[part](page)
        print(f"{part}: done", flush=True)
    arguments.out.write_text(page.text)
    print("\n".join(page.missed) or "all limits hold")
    return 1 if page.missed else 0


if __name__ == "__main__":
    sys.exit(main())

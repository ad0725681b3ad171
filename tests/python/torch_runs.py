"""Runs of the program with PyTorch of these tests, and what they are compared with. RINGSIDE names the executable, PYTHONPATH has the package."""
import contextlib
import io
import itertools
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

import emulation
import network_program

RINGSIDE = os.environ["RINGSIDE"]
# Every run imports PyTorch in each of its workers, which takes nearly all of its time. So not every case runs under every strategy.
# With the CMake option RINGSIDE_LONG_TESTS it does.
LONG = os.environ.get("RINGSIDE_LONG_TESTS", "OFF") == "ON"
PROGRAM = pathlib.Path(__file__).with_name("network_program.py")
STEPS = 50


def run_alone(words):
    sys.argv = [str(PROGRAM), *words]
    with contextlib.redirect_stdout(io.StringIO()):
        network_program.main()


def reference(kind, out, *words, steps=STEPS):
    """The parameters of the program without a launcher: in a child of this process, which has imported PyTorch already."""
    child = multiprocessing.get_context("fork").Process(target=run_alone, args=([str(steps), kind, str(out), *words],))
    child.start()
    child.join()
    if child.exitcode != 0:
        raise AssertionError(f"{PROGRAM} {steps} {kind} {' '.join(words)} exited with {child.exitcode}")
    return torch.load(out)


def pairs(first, second):
    """Pairs in which everything of both occurs. With RINGSIDE_LONG_TESTS: all pairs."""
    if LONG:
        return list(itertools.product(first, second))
    return list(itertools.islice(zip(itertools.cycle(first), itertools.cycle(second)), max(len(first), len(second))))


def distance(mine, theirs):
    """The relative L2 distance of two state dicts."""
    assert mine.keys() == theirs.keys()
    flat = [torch.cat([values[name].double().view(-1) for name in sorted(values)]) for values in (mine, theirs)]
    return ((flat[0] - flat[1]).norm() / flat[1].norm()).item()


def processes_with(variable):
    """The commands of the processes that have a variable of the environment: a launcher's workers, servers and what they started."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended, or is not ours
    return found


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def train(self, *flags, steps=STEPS, kind="sgd", words=(), **more):
        return self.run_program(*flags, program=(PROGRAM, steps, kind, self.folder / "mine.pt", *words), **more)

    def run_program(self, *flags, program, workers=2, expects=0, timeout=90):
        """Returns the run's summary and its standard error."""
        command = [RINGSIDE, "train", "--workers", workers, "--out", self.folder / "run", "--force", "--timeout", "5s",
                   *flags, "--", sys.executable, *program]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, "RINGSIDE_TEST_FOLDER": str(self.folder)})
        self.assertEqual(done.returncode, expects, done.stderr[-3000:])
        self.assertEqual(processes_with(f"RINGSIDE_TEST_FOLDER={self.folder}"), [], "processes are left")
        summary = self.folder / "run" / "summary.json"
        return json.loads(summary.read_text()) if summary.exists() else {}, done.stderr

    def mine(self):
        return torch.load(self.folder / "mine.pt")

    def skip_without_emulation(self):
        if missing := emulation.missing(RINGSIDE):
            self.skipTest(f"this machine has no {', '.join(missing)}")

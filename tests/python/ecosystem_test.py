"""Programs with JAX and with Keras 3 as the model of a run. Their packages are large, so `./test.sh --ecosystem` runs this.

usage: ecosystem_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set, in an environment with jax and keras
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

RINGSIDE = os.environ["RINGSIDE"]
HERE = pathlib.Path(__file__).parent
STRATEGIES = (("ring",), ("shm",), ("ps-sync", "--server-update", "off"))


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def train(self, program, *words, strategy=("ring",), expects=0, env=None):
        command = [RINGSIDE, "train", "--strategy", *strategy, "--workers", "2", "--out", self.folder / "run", "--force", "--",
                   sys.executable, HERE / program, self.folder / "mine.npz", *words]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, expects, done.stderr[-3000:])
        return json.loads((self.folder / "run" / "summary.json").read_text()), done.stderr

    def alone(self, program, *words, env=None):
        subprocess.run([sys.executable, HERE / program, self.folder / "reference.npz", *words], check=True, timeout=300,
                       env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL)

    def distance(self):
        mine, theirs = numpy.load(self.folder / "mine.npz"), numpy.load(self.folder / "reference.npz")
        flat = [numpy.concatenate([values[name].astype(numpy.float64).ravel() for name in sorted(values)]) for values in (mine, theirs)]
        return numpy.linalg.norm(flat[0] - flat[1]) / numpy.linalg.norm(flat[1])


class Jax(Programs):
    def test_trajectories_are_those_of_one_process(self):
        self.alone("jax_program.py")
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy):
                summary, _ = self.train("jax_program.py", strategy=strategy)
                self.assertLess(self.distance(), 1e-5)
                self.assertEqual(summary["steps"], 50)
                self.assertGreater(summary["samples_per_s"], 0)

    def test_servers_that_update_are_refused(self):
        _, errors = self.train("jax_program.py", strategy=("ps-sync",), expects=1)
        self.assertIn("--server-update off lets servers only sum", errors)

    def test_shapes_may_not_change(self):
        _, errors = self.train("jax_program.py", "changes-shape", expects=1)
        self.assertIn("in the first step it had", errors)


class Keras(Programs):
    def check(self, backend, strategy):
        with self.subTest(backend=backend, strategy=strategy):
            env = {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
            self.alone("keras_program.py", env=env)
            summary, _ = self.train("keras_program.py", strategy=strategy, env=env)
            self.assertLess(self.distance(), 1e-4)
            self.assertEqual(summary["steps"], 30)
            self.assertGreater(summary["eval_accuracy"], 0)

    def test_on_jax(self):
        for strategy in STRATEGIES:
            self.check("jax", strategy)

    @unittest.skipUnless(importlib.util.find_spec("tensorflow"), "no tensorflow in this environment")
    def test_on_tensorflow(self):
        self.check("tensorflow", ("ring",))


class Imports(unittest.TestCase):
    def test_packages_may_be_imported_in_any_order(self):
        packages = [name for name in ("jax", "tensorflow", "grpc", "numpy") if importlib.util.find_spec(name)]
        for package in packages:
            for order in ((package, "ringside"), ("ringside", package)):
                with self.subTest(order=order):
                    done = subprocess.run([sys.executable, "-c", f"import {order[0]}, {order[1]}; print('fine')"], capture_output=True, text=True)
                    self.assertEqual(done.stdout, "fine\n", done.stderr[-2000:])


if __name__ == "__main__":
    unittest.main(verbosity=2)

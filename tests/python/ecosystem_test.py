"""Programs with JAX and with Keras 3 as the model of a run. Their packages are large, so `./test.sh --ecosystem` runs this.

usage: ecosystem_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set, in an environment with jax and keras
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

from packages import installed

RINGSIDE = os.environ["RINGSIDE"]
HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parent.parent / "python" / "examples"
STRATEGIES = (("ring",), ("shm",), ("ps-sync", "--server-update", "off"))


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def train(self, *program, strategy=("ring",), workers=2, expects=0, env=None):
        command = [RINGSIDE, "train", "--strategy", *strategy, "--workers", str(workers), "--out", self.folder / "run", "--force", "--",
                   sys.executable, *program]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, expects, done.stderr[-3000:])
        return json.loads((self.folder / "run" / "summary.json").read_text()), done.stderr

    def alone(self, program, env=None):
        subprocess.run([sys.executable, program, self.folder / "reference.npz"], check=True, timeout=300,
                       env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL)

    def distance(self):
        mine, theirs = numpy.load(self.folder / "mine.npz"), numpy.load(self.folder / "reference.npz")
        flat = [numpy.concatenate([values[name].astype(numpy.float64).ravel() for name in sorted(values)]) for values in (mine, theirs)]
        return numpy.linalg.norm(flat[0] - flat[1]) / numpy.linalg.norm(flat[1])


    def check_refusals(self, program, **more):
        """The reason of the run says what to do."""
        for strategy, hint in (("ps-sync", "--server-update off lets servers only sum"),
                               ("ps-async", "take a strategy that leaves the update to the program: ring, ")):
            with self.subTest("a strategy that updates", strategy=strategy, **more):
                _, errors = self.train(program, strategy=(strategy,), expects=1, **more)
                text = (f"the program raised ringside.Error: strategy '{strategy}' updates the parameters itself, but this framework's "
                        f"optimizer does; {hint}")
                self.assertRegex(errors, f"failed: worker [01]: {re.escape(text)}")


class Jax(Programs):
    program = EXAMPLES / "jax_train.py"

    def test_trajectories_are_those_of_one_process(self):
        self.alone(self.program)
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy):
                summary, _ = self.train(self.program, self.folder / "mine.npz", strategy=strategy)
                self.assertLess(self.distance(), 1e-5)
                self.assertEqual(summary["steps"], 50)
                self.assertGreater(summary["samples_per_s"], 0)

    def test_sums_and_means(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy):
                summary, _ = self.train(HERE / "jax_cases.py", "sums", strategy=strategy)
                self.assertEqual(summary["steps"], 8)

    def test_strategies_that_update_are_refused(self):
        self.check_refusals(self.program)

    def test_gradients_may_not_change_their_kind(self):
        for case, text in (("changes-shape", "the gradient of '['bias']' has the shape (6,); in the first step it had (5,)"),
                           ("changes-dtype", "the gradient of '['bias']' is int32; Ringside sums float32"),
                           ("changes-count", "there were 2 gradients in the first step, and 1 now")):
            with self.subTest(case=case):
                _, errors = self.train(HERE / "jax_cases.py", case, expects=1)
                self.assertIn(text, errors)


class Keras(Programs):
    program = EXAMPLES / "keras_train.py"

    def check(self, backend, strategy, first=""):
        """``first``: a package that every worker imports before the program."""
        with self.subTest(backend=backend, strategy=strategy, first=first):
            env = {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
            if not (self.folder / "reference.npz").exists():
                self.alone(self.program, env=env)
            program = [self.program, self.folder / "mine.npz"]
            if first:
                program = ["-c", f"import {first}, runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')", *program]
            summary, _ = self.train(*program, strategy=strategy, env=env)
            self.assertLess(self.distance(), 1e-4)
            self.assertEqual(summary["steps"], 30)
            self.assertGreater(summary["eval_accuracy"], 0)

    def check_cases(self, backend):
        env = {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
        cases = HERE / "keras_cases.py"
        with self.subTest("the workers begin with the same variables", backend=backend):
            self.train(cases, "begins", env=env)
        with self.subTest("the seeds stay those of each worker", backend=backend):
            self.train(cases, "seeds", env=env)
        with self.subTest("the loss is that of a batch", backend=backend):
            self.train(cases, "losses", self.folder / "losses.json", workers=1, env=env)
            expected = json.loads((self.folder / "losses.json").read_text())
            records = map(json.loads, (self.folder / "run" / "metrics.jsonl").read_text().splitlines())
            reported = [record["loss"] for record in records if record["kind"] == "step"]
            numpy.testing.assert_allclose(reported[1:], expected[:-1], rtol=1e-4)
        with self.subTest("an optimizer that is not built", backend=backend):
            _, errors = self.train(cases, "not-built", env=env, expects=1)
            self.assertIn("call the optimizer's build(model.trainable_variables)", errors)
        self.check_refusals(self.program, env=env)
        with self.subTest("a program that would go on", backend=backend):
            summary, _ = self.train(cases, "goes-on", strategy=("ring", "--steps", "7"), env=env)
            self.assertEqual((summary["steps"], summary["status"]), (7, "done"))

    def test_on_jax(self):
        self.check_cases("jax")
        for strategy in STRATEGIES:
            self.check("jax", strategy)

    @unittest.skipUnless(importlib.util.find_spec("tensorflow"), "no tensorflow in this environment")
    def test_on_tensorflow(self):
        self.check_cases("tensorflow")
        for strategy in STRATEGIES:
            self.check("tensorflow", strategy)
        # TensorFlow and gRPC bring a version of Protocol Buffers each.
        for first in ("tensorflow", "ringside"):
            self.check("tensorflow", ("ps-sync", "--server-update", "off", "--ps-transport", "grpc"), first)


class Imports(unittest.TestCase):
    def imports(self, *names):
        with self.subTest(order=names):
            done = subprocess.run([sys.executable, "-c", f"import {', '.join(names)}; print('fine')"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "fine\n"), done.stderr[-2000:])

    def test_packages_may_be_imported_in_any_order(self):
        packages = installed(self, "torch", "tensorflow", "jax", "numpy", "grpc")
        for package in packages:
            self.imports(package, "ringside")
            self.imports("ringside", package)
        self.imports(*packages, "ringside")
        self.imports("ringside", *packages)


if __name__ == "__main__":
    unittest.main(verbosity=2)

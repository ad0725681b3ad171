"""Workers in the tasks of a real Spark, local and with executors of their own. Spark is large, so `./test.sh --ecosystem` runs this.

usage: spark_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set, in an environment with pyspark and PyTorch
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ["RINGSIDE_EXECUTABLE"] = os.environ["RINGSIDE"]

from pyspark import cloudpickle
from pyspark.sql import SparkSession

import ringside.spark
from ringside.spark import RunError, Runner

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def parameters_after(steps, seed):
    """Trains a small network. Returns the rank, the number of workers, and the parameters' hash."""
    import hashlib

    import torch

    import ringside
    import ringside.torch

    ringside.init()
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05), model)
    generator = torch.Generator().manual_seed(ringside.rank())
    for _ in range(steps):
        inputs = torch.randn(16, 8, generator=generator)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs)[:, 0], inputs.sum(dim=1))
        loss.backward()
        ringside.report(loss=loss.item(), samples=len(inputs))
        optimizer.step()
    optimizer.synchronize()
    digest = hashlib.sha256(b"".join(value.detach().numpy().tobytes() for value in model.parameters())).hexdigest()
    return ringside.rank(), ringside.size(), digest


def fails_at_rank_1():
    import ringside

    ringside.init()
    if ringside.rank() == 1:
        raise ValueError("a mistake of rank 1")
    return ringside.rank()


def trains_for_ever(mark):
    """Writes the worker's process into a file, then trains."""
    import os as system
    import pathlib as paths

    import ringside

    ringside.init()
    paths.Path(f"{mark}-{ringside.rank()}").write_text(str(system.getpid()))
    return parameters_after(10**9, 1)


class Sessions(unittest.TestCase):
    master = "local[4]"

    @classmethod
    def setUpClass(cls):
        cls.session = (SparkSession.builder.master(cls.master).config("spark.ui.enabled", "false")
                       .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
        cls.session.sparkContext.setLogLevel("ERROR")
        cls.addClassCleanup(cls.session.stop)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_here(self, **options):
        return Runner(np=-2, verbose=False, **options).run(parameters_after, steps=20, seed=3)


class Local(Sessions):
    def test_results_come_by_rank_and_are_those_of_our_own_launcher(self):
        for strategy, flags in (("ring", []), ("ps-sync", ["--servers", "1"])):
            with self.subTest(strategy=strategy):
                results = ringside.spark.run(parameters_after, args=(20,), kwargs={"seed": 3}, num_proc=2, strategy=strategy, flags=flags,
                                             verbose=False)
                self.assertEqual([result[0] for result in results], [0, 1])
                self.assertEqual({result[1] for result in results}, {2})
                self.assertEqual(len({result[2] for result in results}), 1)
                self.assertEqual(results[0][2], self.run_here(strategy=strategy, flags=flags)[2])

    def test_without_a_number_all_slots_are_used(self):
        self.assertEqual(len(ringside.spark.run(parameters_after, args=(2, 1), verbose=False)), 4)

    def test_a_runner_returns_what_rank_0_returns(self):
        self.assertEqual(Runner(np=2, verbose=False).run(parameters_after, steps=2, seed=1)[:2], (0, 2))
        self.assertEqual(self.run_here()[:2], (0, 2))

    def test_an_exception_is_shown_with_its_rank(self):
        with self.assertRaisesRegex(RunError, "ValueError: a mistake of rank 1"):
            ringside.spark.run(fails_at_rank_1, num_proc=2, verbose=False)
        with self.assertRaisesRegex(RunError, "ValueError: a mistake of rank 1"):
            Runner(np=-2, verbose=False).run(fails_at_rank_1)

    def test_too_few_slots_are_refused_in_five_seconds(self):
        started = time.monotonic()
        with self.assertRaisesRegex(RunError, "num_proc=5, but the cluster can run 4 tasks at once"):
            ringside.spark.run(parameters_after, args=(2, 1), num_proc=5)
        self.assertLess(time.monotonic() - started, 7)

    def test_wrong_arguments_are_refused(self):
        with self.assertRaisesRegex(ValueError, "num_proc=0"):
            ringside.spark.run(parameters_after, num_proc=0)
        with self.assertRaisesRegex(ValueError, "np=0"):
            Runner(np=0)
        with self.assertRaisesRegex(RunError, "did you mean"):
            ringside.spark.run(parameters_after, args=(2, 1), num_proc=1, strategy="rign", verbose=False)


class Executors(Sessions):
    master = "local-cluster[2,1,1024]"

    def test_a_worker_in_each_executor(self):
        results = ringside.spark.run(parameters_after, args=(20, 3), num_proc=2, verbose=False)
        self.assertEqual(results[0][2], self.run_here()[2])

    def test_a_killed_executor_ends_the_call_with_its_rank(self):
        mark = self.folder / "mark"
        import threading

        def kill():
            try:
                while len(list(self.folder.glob("mark-*"))) < 2:
                    time.sleep(0.1)
                time.sleep(1)
                listed = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True).stdout.split()
                # Only executors of this session: they are descendants of this process.
                mine = [int(pid) for pid in listed if is_descendant(int(pid))]
                self.killed = time.monotonic()
                os.kill(mine[-1], signal.SIGKILL)
            except BaseException:
                self.session.sparkContext.cancelAllJobs()
                raise

        killer = threading.Thread(target=kill)
        killer.start()
        with self.assertRaises(RunError) as caught:
            ringside.spark.run(trains_for_ever, args=(str(mark),), num_proc=2, verbose=False)
        killer.join()
        self.assertLess(time.monotonic() - self.killed, 30)
        self.assertRegex(str(caught.exception), r"rank [01]")
        end = time.monotonic() + 20
        workers = [int(path.read_text()) for path in self.folder.glob("mark-*")]
        while any(pathlib.Path(f"/proc/{pid}").exists() for pid in workers):
            self.assertLess(time.monotonic(), end, "a worker is left")
            time.sleep(0.2)


def is_descendant(pid):
    while pid > 1:
        if pid == os.getpid():
            return True
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
        pid = int(status.rsplit(")", 1)[1].split()[1])
    return False


if __name__ == "__main__":
    unittest.main()

"""Workers in the tasks of a real Spark, local and with executors of their own. Spark is large, so `./test.sh --ecosystem` runs this.

usage: spark_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set, in an environment with pyspark and PyTorch
"""
import contextlib
import errno
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

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
    return parameters_after(10**9, 1)  # A rank that ends without training fails, too.


def word_of_the_environment():
    import os as system

    return parameters_after(1, 1)[0], system.environ.get("WORD")


def trains_for_ever(mark):
    """Writes the worker's process into a file, and its rank to standard error, then trains."""
    import os as system
    import pathlib as paths
    import sys as this

    import ringside

    ringside.init()
    print(f"rank {ringside.rank()} has begun", file=this.stderr, flush=True)
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

    def test_variables_reach_every_rank(self):
        self.assertEqual(ringside.spark.run(word_of_the_environment, num_proc=2, env={"WORD": "a b"}, verbose=False), [(0, "a b"), (1, "a b")])

    def test_two_jobs_at_the_same_time(self):
        results = {}

        def train(seed):
            results[seed] = ringside.spark.run(parameters_after, args=(20, seed), num_proc=2, verbose=False, spark=self.session)

        threads = [threading.Thread(target=train, args=(seed,)) for seed in (3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([len({result[2] for result in results[seed]}) for seed in (3, 4)], [1, 1])
        self.assertNotEqual(results[3][0][2], results[4][0][2])

    def test_logs_that_no_executor_can_read_are_not_waited_for(self):
        begun = self.folder / "begun"

        def sleeps(_):
            pathlib.Path(begun).touch()
            time.sleep(600)

        def occupy():
            context.setJobGroup("occupied", "all slots", True)
            with self.assertRaises(Exception):
                context.parallelize(range(8), 8).foreach(sleeps)

        context = self.session.sparkContext
        thread = threading.Thread(target=occupy)
        thread.start()
        while not begun.exists():
            time.sleep(0.05)
        with mock.patch.object(ringside.spark, "LOG_SECONDS", 2):
            self.assertEqual(ringside.spark._collect_logs(context, "key", 2), "rank 0:\n(not read in 2 s)\nrank 1:\n(not read in 2 s)")
        context.cancelJobGroup("occupied")
        thread.join()

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

    def setUp(self):
        super().setUp()
        end = time.monotonic() + 60
        while ringside.spark._slots(self.session.sparkContext) < 2:  # A lost executor is started again.
            self.assertLess(time.monotonic(), end, "there are not two executors")
            time.sleep(0.1)

    def test_a_worker_in_each_executor(self):
        results = ringside.spark.run(parameters_after, args=(20, 3), num_proc=2, verbose=False)
        self.assertEqual(results[0][2], self.run_here()[2])

    def strike(self, mark, blow, ended):
        """Strikes the executor of rank 1 when both ranks train. Keeps when."""
        while len(list(self.folder.glob("mark-*"))) < 2:
            if ended.wait(0.1):
                return
        try:
            time.sleep(1)
            listed = [int(pid) for pid in subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True).stdout.split()]
            worker = int(pathlib.Path(f"{mark}-1").read_text())
            # What an executor starts may have its command line for a moment.
            [executor] = [pid for pid in listed if is_descendant(worker, pid) and parent(pid) not in listed]
            self.struck = time.monotonic()
            blow(executor)
        except BaseException:
            self.session.sparkContext.cancelAllJobs()
            raise

    def failure(self, blow):
        """What the call says when the executor of rank 1 is struck, and after how long."""
        mark = self.folder / "mark"
        ended = threading.Event()
        thread = threading.Thread(target=self.strike, args=(mark, blow, ended))
        thread.start()
        try:
            with self.assertRaises(RunError) as caught:
                ringside.spark.run(trains_for_ever, args=(str(mark),), num_proc=2, verbose=False)
            seconds = time.monotonic()
        finally:
            ended.set()
            thread.join()
        self.assertTrue(hasattr(self, "struck"), caught.exception)
        return str(caught.exception), seconds - self.struck

    def assert_no_worker_is_left(self):
        end = time.monotonic() + 20
        workers = [int(path.read_text()) for path in self.folder.glob("mark-*")]
        while any(pathlib.Path(f"/proc/{pid}").exists() for pid in workers):
            self.assertLess(time.monotonic(), end, "a worker is left")
            time.sleep(0.2)

    def test_a_killed_executor_ends_the_call_with_what_its_rank_wrote(self):
        said, seconds = self.failure(lambda executor: os.kill(executor, signal.SIGKILL))
        self.assertLess(seconds, 30)
        logs = said.split("The ranks wrote:\n")[1]
        self.assertRegex(logs.split("rank 1:\n")[1], r"\brank 1 has begun")
        self.assertRegex(logs.split("rank 1:\n")[0], r"^rank 0:\n(.*\n)*.*\brank 0 has begun")
        self.assert_no_worker_is_left()

    def test_a_host_that_vanished_is_not_waited_for(self):
        """Nothing closes its connections, so Spark alone would wait for 120 s."""
        frozen = []

        def freeze(executor):
            frozen.extend([executor, *descendants(executor)])
            for pid in frozen:
                os.kill(pid, signal.SIGSTOP)

        try:
            said, seconds = self.failure(freeze)
            self.assertLess(seconds, 30)
            self.assertRegex(said, r"^rank 0 ended with code 1, and others did not end in 10 s after it:\n(.*\n)*.*worker 1")
            self.assertRegex(said, r"The ranks wrote:\nrank 0:\n")
        finally:
            for pid in frozen:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.assert_no_worker_is_left()


class Stopped(Sessions):
    master = "local[2]"

    def test_a_stopped_context_does_not_hide_itself(self):
        mark = self.folder / "mark"

        def stop():
            while len(list(self.folder.glob("mark-*"))) < 2:
                if ended.wait(0.1):
                    return
            self.session.stop()

        ended = threading.Event()
        thread = threading.Thread(target=stop)
        thread.start()
        try:
            with self.assertRaisesRegex(RunError, r"(?s)cancelled because SparkContext was shut down.*rank 1:\n\(not read: "):
                ringside.spark.run(trains_for_ever, args=(str(mark),), num_proc=2, verbose=False)
        finally:
            ended.set()
            thread.join()


class Addresses(unittest.TestCase):
    """Hosts as the tasks of a cluster see them."""

    def choose(self, *known):
        return ringside.spark._choose_addresses(*zip(*known))

    def test_one_host_uses_loopback(self):
        self.assertEqual(self.choose(("a", "", "k"), ("a", "", "k")), ["127.0.0.1"] * 2)
        self.assertEqual(self.choose(("a", "10.0.0.1", "k"), ("b", "10.0.0.1", "k")), ["127.0.0.1"] * 2)

    def test_several_hosts_use_their_addresses(self):
        self.assertEqual(self.choose(("a", "10.0.0.1", "k"), ("b", "10.0.0.2", "l"), ("a", "10.0.0.1", "k")), ["10.0.0.1", "10.0.0.2", "10.0.0.1"])
        # Containers of one machine.
        self.assertEqual(self.choose(("a", "10.0.0.1", "k"), ("b", "10.0.0.2", "k")), ["10.0.0.1", "10.0.0.2"])

    def test_several_hosts_that_know_only_loopback_are_refused_by_name(self):
        with self.assertRaisesRegex(RunError, "others cannot reach: a, b; give each host an address"):
            self.choose(("a", "", "k"), ("b", "", "l"))
        with self.assertRaisesRegex(RunError, "others cannot reach: b;"):
            self.choose(("a", "10.0.0.1", "k"), ("b", "", "l"))
        # Whatever SPARK_LOCAL_HOSTNAME says.
        with self.assertRaisesRegex(RunError, "others cannot reach: localhost;"):
            self.choose(("localhost", "", "k"), ("localhost", "", "l"))

    def test_a_loopback_address_is_none(self):
        def answer(*addresses):
            return [(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]

        for addresses, expected in ((["127.0.1.1"], ""), (["127.0.0.1", "::1"], ""), (["127.0.1.1", "10.0.0.1"], "10.0.0.1"),
                                    (["fd00::1", "10.0.0.1"], "10.0.0.1"), (["fe80::1%eth0"], "")):
            with self.subTest(addresses=addresses), mock.patch("socket.getaddrinfo", return_value=answer(*addresses)):
                self.assertEqual(ringside.spark._address_of("host"), expected)
        with mock.patch("socket.getaddrinfo", side_effect=socket.gaierror):
            self.assertEqual(ringside.spark._address_of("host"), "")

    def test_tasks_of_several_hosts_refuse_and_the_call_says_why(self):
        context = mock.Mock()
        context.partitionId.return_value = 0
        context.getTaskInfos.return_value = [mock.Mock(address="127.0.1.1:7"), mock.Mock(address="127.0.1.2:8")]
        context.allGather.side_effect = lambda text: [text, text]
        with mock.patch("pyspark.BarrierTaskContext.get", return_value=context):
            outcomes = ringside.spark._Job(b"", "token", "key", [], {}, False)(None)
        with self.assertRaisesRegex(RunError, r"^the executors are on several hosts.*: 127.0.1.1, 127.0.1.2;"):
            ringside.spark._results(outcomes, cloudpickle.loads)


class Ports(unittest.TestCase):
    def test_a_port_is_held_while_rank_0_runs_and_rank_0_can_take_it(self):
        seen = {}

        def work(_, place):
            for reuse in (0, 1):
                with socket.socket() as other:
                    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
                    try:
                        other.bind(place.master)
                        other.listen()
                        seen[reuse] = "listens"
                    except OSError as error:
                        seen[reuse] = error.errno
            return {"rank": 0, "code": 0, "master": place.master}

        context = mock.Mock()
        context.partitionId.return_value = 0
        context.getTaskInfos.return_value = [mock.Mock(address="localhost:7")]
        context.allGather.side_effect = lambda text="": [text]
        with mock.patch("pyspark.BarrierTaskContext.get", return_value=context), mock.patch.object(ringside.spark._Job, "_work", work):
            [outcome] = ringside.spark._Job(b"", "token", "key", [], {}, False)(None)
        self.assertEqual(seen, {0: errno.EADDRINUSE, 1: "listens"})
        with socket.create_server(outcome["master"]):  # nobody holds it any more
            pass


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def is_descendant(pid, ancestor):
    while pid > 1:
        if pid == ancestor:
            return True
        pid = parent(pid)
    return False


def descendants(ancestor):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if int(path.name) != ancestor and is_descendant(int(path.name), ancestor):
                found.append(int(path.name))
    return found


if __name__ == "__main__":
    unittest.main()

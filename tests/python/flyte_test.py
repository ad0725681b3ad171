"""A Flyte task whose function is the program of every worker. Flyte is large, so `./test.sh --ecosystem` runs this.

usage: flyte_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set, in an environment with flytekit and PyTorch
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["RINGSIDE_EXECUTABLE"] = os.environ["RINGSIDE"]

from flytekit import task
from flytekit.configuration import Image, ImageConfig, SerializationSettings

from ringside.flyte import Ringside, RunError

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "python" / "examples" / "flyte_workflow.py"


@task(task_config=Ringside(workers=2, strategy="ps-sync", servers=1))
def sums(numbers: list[int]) -> int:
    """Worker 0 returns; all have its arguments."""
    import torch

    import ringside
    import ringside.torch

    ringside.init()
    model = torch.nn.Linear(4, 1)
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    return sum(numbers) + 100 * ringside.rank() + 1000 * ringside.size()


@task(task_config=Ringside(workers=2))
def fails(text: str) -> int:
    import ringside

    ringside.init()
    if text:
        raise ValueError(text)
    return 0


class Tasks(unittest.TestCase):
    def settings(self):
        image = ImageConfig(default_image=Image(name="default", fqn="registry/ringside", tag="1"))
        return SerializationSettings(project="p", domain="d", version="v", image_config=image)

    def test_worker_0_returns(self):
        self.assertEqual(sums(numbers=[1, 2, 3]), 2006)

    def test_an_exception_ends_the_task(self):
        with self.assertRaisesRegex(Exception, "ValueError: a mistake"):
            fails(text="a mistake")

    def test_it_describes_itself_for_a_cluster(self):
        settings = self.settings()
        self.assertEqual(sums.task_type, "mpi")
        self.assertEqual(sums.get_custom(settings), {"numWorkers": 3, "numLauncherReplicas": 1, "slots": 1})
        shell, flag, script = sums.get_command(settings)
        self.assertEqual((shell, flag), ("sh", "-c"))
        for words in ("exec ringside train --launcher mpirun --hostfile /etc/mpi/hostfile", "--strategy ps-sync --workers 2 --servers 1",
                      "-- pyflyte-execute", "RINGSIDE_TOKEN_FILE=/etc/flyte/secrets/ringside/token"):
            self.assertIn(words, script)

    def test_wrong_numbers_are_refused(self):
        with self.assertRaisesRegex(ValueError, "workers=0"):
            @task(task_config=Ringside(workers=0))
            def none() -> int:
                return 0


class Workflow(unittest.TestCase):
    def test_the_example_runs_under_pyflyte(self):
        pyflyte = pathlib.Path(sys.executable).with_name("pyflyte")
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "HOME": folder}
            done = subprocess.run([pyflyte, "run", EXAMPLE, "study", "--epochs", "20"], capture_output=True, text=True, timeout=300,
                                  env=environment, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            self.assertRegex(done.stdout, r"loss 0\.\d+ before, 0\.\d+ after 20 epochs")


if __name__ == "__main__":
    unittest.main()

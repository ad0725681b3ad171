"""Training as a Flyte task: ``@task(task_config=Ringside(workers=2, strategy="ring"))``.

The task's function is the program of every worker: it calls ``ringside.init()`` and trains. What worker 0 returns is the task's
output. Where the task runs by itself (``pyflyte run``), its workers are processes of that machine. On a cluster it is an MPIJob of
Kubeflow's training operator, as Flyte's own plugin for MPI makes one.
"""
from __future__ import annotations

import dataclasses
import os
import pathlib
import shlex
import tempfile
from collections.abc import Callable
from typing import Any

import cloudpickle
from flytekit import PythonFunctionTask
from flytekit.configuration import SerializationSettings
from flytekit.core.base_task import IgnoreOutputs
from flytekit.extend import TaskPlugins

import ringside
from ringside import _function_job, _job
from ringside._function_job import RunError

__all__ = ["Ringside", "RunError"]


@dataclasses.dataclass
class Ringside:
    """How the task is trained. ``flags`` are further ones of ``ringside train``."""

    workers: int = 2
    strategy: str = "ring"
    #: Dedicated parameter servers. Of a strategy that has none, leave it out.
    servers: int | None = None
    flags: list[str] = dataclasses.field(default_factory=list)
    #: Processes in a pod, on a cluster.
    slots: int = 1
    #: The file with the job's token in every pod, on a cluster: a file and no link, so mount it by ``subPath``.
    token_file: str = "/etc/flyte/secrets/ringside/token"

    def train_flags(self) -> list[str]:
        servers = [] if self.servers is None else ["--servers", str(self.servers)]
        return ["--strategy", self.strategy, "--workers", str(self.workers), *servers, *map(str, self.flags)]

    def pods(self) -> int:
        return -(-(self.workers + (self.servers or 0)) // self.slots)


class RingsideFunctionTask(PythonFunctionTask[Ringside]):
    """What Flyte makes of such a task."""

    def __init__(self, task_config: Ringside, task_function: Callable[..., Any], **kwargs: Any) -> None:
        if task_config.workers < 1:
            raise ValueError(f"workers={task_config.workers}: give at least 1")
        super().__init__(task_type="mpi", task_config=task_config, task_function=task_function, **kwargs)

    def execute(self, **kwargs: Any) -> Any:
        if "RINGSIDE_JOB_FD" in os.environ:
            return self._work(kwargs)
        with tempfile.TemporaryDirectory(prefix="ringside-") as name:
            folder = pathlib.Path(name)
            _function_job.write_call(folder, cloudpickle.dumps((self._task_function, (), kwargs)))
            code, said = _function_job.run(_function_job.train_command(folder, self.task_config.train_flags()), folder, {}, folder / "log", True)
            if code != 0:
                raise RunError(f"ringside train ended with code {code}:\n{said}")
            return _function_job.read_result(folder, 0)

    def _work(self, kwargs: dict[str, Any]) -> Any:
        """In a worker of a cluster. Only worker 0 has outputs."""
        ringside.init()
        try:
            value = self._task_function(**kwargs)
        except Exception as error:
            # Flyte's program takes the exception and ends without an error.
            _job._report_exception(type(error), error, error.__traceback__)
            raise
        if ringside.rank() != 0:
            raise IgnoreOutputs
        return value

    def get_command(self, settings: SerializationSettings) -> list[str]:
        """Runs in the launcher's pod. The pods of version 1 of MPIJob have no names, so the launcher's address is looked up."""
        words = ["ringside", "train", "--launcher", "mpirun", "--hostfile", "/etc/mpi/hostfile", "--start-timeout", "10min",
                 *self.task_config.train_flags(), "--", *super().get_command(settings)]
        variables = f'RINGSIDE_TOKEN_FILE={shlex.quote(self.task_config.token_file)} RINGSIDE_ADDRESS="$(hostname -i | cut -d " " -f 1)" FLYTE_FAIL_ON_ERROR=true'
        return ["sh", "-c", f"{variables} exec {shlex.join(words)}"]

    def get_custom(self, settings: SerializationSettings) -> dict[str, Any]:
        """The fields of DistributedMPITrainingTask (flyteidl.plugins.mpi), which Flyte's MPI plugin reads."""
        return {"numWorkers": self.task_config.pods(), "numLauncherReplicas": 1, "slots": self.task_config.slots}


TaskPlugins.register_pythontask_plugin(Ringside, RingsideFunctionTask)

"""Training as a Flyte task: ``@task(task_config=Ringside(workers=2, strategy="ring"))``.

The task's function is the program of every worker: it calls ``ringside.init()`` and trains. What worker 0 returns is the task's
output. Where the task runs by itself (``pyflyte run``), its workers are processes of that machine. On a cluster it is an MPIJob of
Kubeflow's training operator, as Flyte's own plugin for MPI makes one. This needs ``insecure_network=True`` and a secret with the job's
token: docs/clusters.md.
"""
from __future__ import annotations

import dataclasses
import os
import pathlib
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

import cloudpickle
import yaml
from flytekit import PythonFunctionTask
from flytekit.configuration import SerializationSettings
from flytekit.core.base_task import IgnoreOutputs
from flytekit.extend import TaskPlugins

import ringside
from ringside import _function_job, _job
from ringside._function_job import RunError

__all__ = ["Ringside", "RunError"]

HOSTFILE = "/etc/mpi/hostfile"  # The operator puts it there.
TOKEN_COPY = "/tmp/ringside-token"  # in every pod
#: Flags of ``ringside train`` that ``ringside manifest`` does not know, with the number of their words. No number of pods follows from them.
ONLY_OF_TRAIN = {"--out": 2, "--force": 1, "--json": 1}


@dataclasses.dataclass
class Ringside:
    """How the task is trained. ``flags`` are further ones of ``ringside train``."""

    workers: int = 2
    strategy: str = "ring"
    #: Dedicated parameter servers. None: as many as the strategy has by itself, for ``ps-sync`` one.
    servers: int | None = None
    flags: list[str] = dataclasses.field(default_factory=list)
    #: Processes in a pod, on a cluster.
    slots: int = 1
    #: The file with the job's token in every pod, on a cluster. The default is where Flyte mounts ``Secret(group="ringside",
    #: key="token", mount_requirement=Secret.MountType.FILE)`` of the task's ``secret_requests``. It may be a link.
    token_file: str = "/etc/flyte/secrets/ringside/token"
    #: Whether everybody on the pods' network may read and change what they send. A cluster needs it: certificates are for addresses, and
    #: those of pods are not known before, so nothing can be encrypted. Without it a task is refused when it is registered.
    insecure_network: bool = False

    def train_flags(self) -> list[str]:
        servers = [] if self.servers is None else ["--servers", str(self.servers)]
        flags = [str(flag) for flag in self.flags]
        insecure = ["--insecure-network"] if self.insecure_network and "--insecure-network" not in flags else []
        return ["--strategy", self.strategy, "--workers", str(self.workers), *servers, *insecure, *flags]

    def pods(self) -> int:
        """The pods with workers and servers. ``ringside manifest`` counts them, so defaults are resolved and flags are checked as everywhere.

        Raises ``ValueError`` if the job cannot run on a cluster."""
        if "--insecure-network" not in self.train_flags():
            raise ValueError("Ringside(insecure_network=False): on a cluster the launcher and the workers are pods of their own, and "
                             "what they send is not encrypted; give insecure_network=True if everybody on the pods' network may read "
                             "and change it (certificates, --tls, are for addresses, and those of pods are not known before)")
        words = [_function_job.executable(), "manifest", "--kind", "mpijob-v1", "--image", "image", "--slots-per-pod", str(self.slots),
                 *_without(self.train_flags(), ONLY_OF_TRAIN), "--", "program"]
        asked = subprocess.run(words, capture_output=True, text=True)
        if asked.returncode != 0:
            raise ValueError(f"Ringside: {asked.stderr.strip()}")
        job = list(yaml.safe_load_all(asked.stdout))[-1]
        return job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"]


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
        flags = self.task_config.train_flags()
        timeout = [] if any(flag.split("=")[0] == "--start-timeout" for flag in flags) else ["--start-timeout", "10min"]
        train = ["ringside", "train", "--launcher", "mpirun", "--hostfile", HOSTFILE, *timeout, *flags, "--", *super().get_command(settings)]
        variables = f'RINGSIDE_TOKEN_FILE={TOKEN_COPY} RINGSIDE_ADDRESS="$(hostname -i | cut -d " " -f 1)" FLYTE_FAIL_ON_ERROR=true'
        copy = shlex.join(["sh", "-c", _copy_token(self.task_config.token_file)])
        everywhere = shlex.join(["mpirun", "--allow-run-as-root", "--bind-to", "none", "--hostfile", HOSTFILE, "--map-by", "ppr:1:node"])
        return ["sh", "-c", f"{copy} && {everywhere} {copy} && {variables} exec {shlex.join(train)}"]

    def get_custom(self, settings: SerializationSettings) -> dict[str, Any]:
        """The fields of DistributedMPITrainingTask (flyteidl.plugins.mpi), which Flyte's MPI plugin reads."""
        return {"numWorkers": self.task_config.pods(), "numLauncherReplicas": 1, "slots": self.task_config.slots}


def _copy_token(token_file: str) -> str:
    """A script that makes the pod's own copy of the token. Kubernetes mounts the files of a secret as links that everybody may read.
    Ringside reads no such file: elsewhere another user may have put it there."""
    file, copy = shlex.quote(token_file), shlex.quote(TOKEN_COPY)
    missing = f'echo "ringside: $(hostname) cannot read" {file}": request the secret of the token (docs/clusters.md)" >&2'
    # `set -C`: a file or a link that is there already is not written.
    return f"[ -r {file} ] || {{ {missing}; exit 1; }}; umask 077 && rm -f {copy} && set -C && cat {file} > {copy}"


def _without(flags: list[str], names: dict[str, int]) -> list[str]:
    """The flags without those of these names, which have that number of words, or one as ``--NAME=VALUE``."""
    kept: list[str] = []
    skip = 0
    for flag in flags:
        if skip > 0:
            skip -= 1
        elif flag in names:
            skip = names[flag] - 1
        elif flag.split("=")[0] not in names:
            kept.append(flag)
    return kept


TaskPlugins.register_pythontask_plugin(Ringside, RingsideFunctionTask)

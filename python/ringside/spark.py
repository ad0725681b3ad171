"""Training in the tasks of a Spark job: ``ringside.spark.run(function, num_proc=4)``.

Each task of a barrier stage is the agent of one worker. The workers call the function, which calls ``ringside.init()`` and
trains. Dedicated servers run beside worker 0.

``Runner(np=4).run(main, ...)`` is for programs that know HorovodRunner or TorchDistributor.
"""
from __future__ import annotations

import contextlib
import os
import pathlib
import secrets
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ringside import _function_job
from ringside._function_job import RunError

__all__ = ["RunError", "Runner", "run"]

SLOT_SECONDS = 5  # how long to wait for executors before a shortage is refused
STEADY_SECONDS = 2  # for which the number of slots stays the same before all are taken
KEPT_SECONDS = 24 * 3600  # of the logs of failed jobs


def run(function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, num_proc: int | None = None, *,
        strategy: str = "ring", flags: Sequence[str] = (), env: Mapping[str, str] | None = None, verbose: bool = True,
        spark: Any = None) -> list[Any]:
    """Calls ``function(*args, **kwargs)`` in ``num_proc`` workers and returns what they return, by rank.

    ``num_proc``: the workers; None: as many as the cluster has slots. ``strategy`` and ``flags`` are those of ``ringside train``
    (``flags=["--servers", "2"]``). ``env``: variables of all workers. ``spark``: the session; None: the active one. On several hosts
    ``flags`` must have ``--insecure-network`` or ``--tls``; see docs/security.md.

    A failed worker, task or executor ends the whole job. Raises ``RunError`` with the failing rank's last lines, and at once if the
    cluster has fewer slots. Nothing is started twice."""
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        raise RunError("there is no active Spark session")
    context = spark.sparkContext
    _refuse_dynamic_allocation(context)
    slots = _wait_for_slots(context, num_proc)
    count = slots if num_proc is None else num_proc
    job = _Job(call=cloudpickle.dumps((function, tuple(args), dict(kwargs or {}))), token=secrets.token_hex(32), key=secrets.token_hex(8),
               flags=["--strategy", strategy, "--workers", str(count), *map(str, flags)], env=dict(env or {}), verbose=verbose)
    try:
        outcomes = context.parallelize(range(count), count).barrier().mapPartitions(job).collect()
    except Exception as error:  # of py4j: a task or an executor was lost. Spark does not start such a stage again.
        raise RunError(f"{_reason(error)}\nThe ranks wrote:\n{_collect_logs(context, job.key, count)}") from error
    return _results(sorted(outcomes, key=lambda outcome: outcome["rank"]), cloudpickle.loads)


class Runner:
    """``Runner(np=4).run(main, lr=0.1)`` calls ``main(lr=0.1)`` in four tasks of Spark and returns what rank 0 returns.

    ``np`` below 0: in that many processes on this machine, without Spark, to try a program out."""

    def __init__(self, *, np: int, strategy: str = "ring", flags: Sequence[str] = (), verbose: bool = True) -> None:
        if np == 0:
            raise ValueError("np=0: give a number of workers, below 0 for processes of this machine")
        self.np = np
        self.strategy = strategy
        self.flags = list(flags)
        self.verbose = verbose

    def run(self, main: Callable[..., Any], **kwargs: Any) -> Any:
        if self.np > 0:
            return run(main, kwargs=kwargs, num_proc=self.np, strategy=self.strategy, flags=self.flags, verbose=self.verbose)[0]
        return self._run_here(main, kwargs)

    def _run_here(self, main: Callable[..., Any], kwargs: Mapping[str, Any]) -> Any:
        from pyspark import cloudpickle

        with tempfile.TemporaryDirectory(prefix="ringside-") as name:
            folder = pathlib.Path(name)
            _function_job.write_call(folder, cloudpickle.dumps((main, (), dict(kwargs))))
            command = _function_job.train_command(folder, ["--strategy", self.strategy, "--workers", str(-self.np), *self.flags])
            code, said = _function_job.run(command, folder, {}, folder / "log", self.verbose)
            if code != 0:
                raise RunError(f"ringside train ended with code {code}:\n{said}")
            return _function_job.read_result(folder, 0)


class _Job:
    """What every task does. Spark carries it to the executors."""

    def __init__(self, call: bytes, token: str, key: str, flags: list[str], env: dict[str, str], verbose: bool) -> None:
        self.call = call
        self.token = token
        self.key = key
        self.flags = flags
        self.env = env
        self.verbose = verbose

    def __call__(self, _: Any) -> list[dict[str, Any]]:
        from pyspark import BarrierTaskContext

        context = BarrierTaskContext.get()
        rank = context.partitionId()
        place = self._place(context, rank)
        log = _log_folder() / f"{self.key}-{rank}.log"
        with tempfile.TemporaryDirectory(prefix="ringside-") as name:
            here = pathlib.Path(name)
            _function_job.write_call(here, self.call)
            variables = {**self.env, **place.variables(here)}
            code, said = _function_job.run(_function_job.train_command(here, self.flags), here, variables, log, self.verbose)
            if code != 0:  # The log stays: if an executor is lost, too, nobody gets what this task returns.
                return [{"rank": rank, "code": code, "said": said}]
            log.unlink()
            return [{"rank": rank, "code": 0, "said": said, "result": (here / f"result-{rank}.pickle").read_bytes()}]

    def _place(self, context: Any, rank: int) -> _function_job.Rank:
        """All tasks tell each other their hosts; then task 0 tells a free port. On one host all use loopback."""
        hosts = context.allGather(_own_address(context))
        if len(set(hosts)) == 1:
            hosts = ["127.0.0.1"] * len(hosts)
        port = ""
        if rank == 0:
            with socket.socket() as probe:
                probe.bind((hosts[0], 0))
                port = str(probe.getsockname()[1])
        return _function_job.Rank(rank=rank, size=len(hosts), local_rank=hosts[:rank].count(hosts[rank]), local_size=hosts.count(hosts[rank]),
                                  master=(hosts[0], int(context.allGather(port)[0])), token=self.token)


def _reason(error: Exception) -> str:
    """What Spark says, without the places in its code."""
    text = str(getattr(error, "java_exception", None) or error)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("at "))[:1000]


def _collect_logs(context: Any, key: str, count: int) -> str:
    """What the ranks of a job have written, as far as it is on hosts that still have executors."""
    def read(_: int) -> dict[str, str]:
        return {path.stem.rsplit("-", 1)[1]: _function_job.tail(path) for path in _log_folder().glob(f"{key}-*.log")}

    # Tasks go where there is room, so more than one for each rank reach more hosts.
    ranks: dict[str, str] = {}
    for part in context.parallelize(range(2 * count), 2 * count).map(read).collect():
        ranks.update(part)
    return "\n".join(f"rank {rank}:\n{text}" for rank, text in sorted(ranks.items(), key=lambda item: int(item[0])))


def _log_folder() -> pathlib.Path:
    """Where the tasks of one host keep what their ranks write. Only this user can enter it. Logs of failed jobs are kept for a day."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"ringside-spark-{os.getuid()}"
    folder.mkdir(0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise RunError(f"{folder} is another user's, or others may enter it; remove it")
    for log in folder.glob("*.log"):
        with contextlib.suppress(FileNotFoundError):  # another task may sweep, too
            if time.time() - log.stat().st_mtime > KEPT_SECONDS:
                log.unlink()
    return folder


def _own_address(context: Any) -> str:
    """The address by which Spark knows this task's executor."""
    address = context.getTaskInfos()[context.partitionId()].address
    host = address.rsplit(":", 1)[0]
    try:
        return socket.gethostbyname(host)
    except OSError:
        return "127.0.0.1"  # `local[N]` may have a name that nobody resolves.


def _refuse_dynamic_allocation(context: Any) -> None:
    if context.getConf().get("spark.dynamicAllocation.enabled", "false").lower() == "true":
        raise RunError("spark.dynamicAllocation.enabled: barrier stages need executors that stay; set it to false")


def _slots(context: Any) -> int:
    """How many tasks the cluster can run at once: what Spark itself asks before it starts a barrier stage."""
    scala = context._jsc.sc()
    return scala.maxNumConcurrentTasks(scala.resourceProfileManager().defaultResourceProfile())


def _wait_for_slots(context: Any, wanted: int | None) -> int:
    if wanted is not None and wanted < 1:
        raise ValueError(f"num_proc={wanted}: give at least 1")
    end = time.monotonic() + SLOT_SECONDS
    slots, since = _slots(context), time.monotonic()
    while slots < (wanted or 1) or (wanted is None and time.monotonic() - since < STEADY_SECONDS):
        if slots < (wanted or 1) and time.monotonic() > end:
            raise RunError(f"num_proc={wanted or 1}, but the cluster can run {slots} tasks at once")
        time.sleep(0.1)
        if (now := _slots(context)) != slots:
            slots, since = now, time.monotonic()
    return slots


def _results(outcomes: list[dict[str, Any]], loads: Callable[[bytes], Any]) -> list[Any]:
    failed = [outcome for outcome in outcomes if outcome["code"] != 0]
    if failed:
        # All ranks end when one fails. Rank 0, which hosts the job, says whose fault it was.
        said = "\n".join(f"rank {outcome['rank']} ended with code {outcome['code']}:\n{outcome['said']}" for outcome in failed)
        raise RunError(f"{len(failed)} of {len(outcomes)} ranks failed:\n{said}")
    return [loads(outcome["result"]) for outcome in outcomes]

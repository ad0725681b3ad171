"""Training in the tasks of a Spark job: ``ringside.spark.run(function, num_proc=4)``.

Each task of a barrier stage is the agent of one worker. The workers call the function, which calls ``ringside.init()`` and
trains. Dedicated servers run beside worker 0.

``Runner(np=4).run(main, ...)`` is for programs that know HorovodRunner or TorchDistributor.
"""
from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import pathlib
import secrets
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ringside import _function_job
from ringside._function_job import RunError

__all__ = ["RunError", "Runner", "run"]

SLOT_SECONDS = 5  # how long to wait for executors before a shortage is refused
STEADY_SECONDS = 2  # for which the number of slots stays the same before all are taken
LOST_SECONDS = 10  # for which a rank that has failed waits for the others to end, too
LOG_SECONDS = 8  # for reading what the ranks of a failed job have written
KEPT_SECONDS = 24 * 3600  # of the logs of failed jobs


def run(function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, num_proc: int | None = None, *,
        strategy: str = "ring", flags: Sequence[str] = (), env: Mapping[str, str] | None = None, verbose: bool = True,
        spark: Any = None) -> list[Any]:
    """Calls ``function(*args, **kwargs)`` in ``num_proc`` workers and returns what they return, by rank.

    ``num_proc``: the workers; None: as many as the cluster has slots. ``strategy`` and ``flags`` are those of ``ringside train``
    (``flags=["--servers", "2"]``). ``env``: variables of all workers. ``spark``: the session; None: the active one. On several hosts
    ``flags`` must have ``--insecure-network`` or ``--tls``; see docs/security.md.

    A failed worker, task or executor ends the whole job. Raises ``RunError`` with the failing rank's last lines, and at once if the
    cluster has fewer slots, or hosts that cannot reach each other. Nothing is started twice."""
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
        reason = _reason(error)
        raise RunError(f"{reason}\nThe ranks wrote:\n{_collect_logs(context, job.key, count)}") from error
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
        try:
            hosts = _hosts(context, rank)
        except RunError as error:  # All tasks know the same, so all refuse.
            return [{"rank": rank, "refused": str(error)}]
        with _hold_port(hosts[0]) if rank == 0 else contextlib.nullcontext() as held:
            port = int(context.allGather(str(held.getsockname()[1]) if held else "")[0])
            outcome = self._work(_function_job.Rank(rank=rank, size=len(hosts), local_rank=hosts[:rank].count(hosts[rank]),
                                                    local_size=hosts.count(hosts[rank]), master=(hosts[0], port), token=self.token))
        _wait_for_others(context, outcome)
        return [outcome]

    def _work(self, place: _function_job.Rank) -> dict[str, Any]:
        """Runs the agent of one rank until it ends."""
        log = _log_folder() / f"{self.key}-{place.rank}.log"
        with tempfile.TemporaryDirectory(prefix="ringside-") as name:
            here = pathlib.Path(name)
            _function_job.write_call(here, self.call)
            variables = {**self.env, **place.variables(here)}
            code, said = _function_job.run(_function_job.train_command(here, self.flags), here, variables, log, self.verbose)
            if code != 0:  # The log stays: if an executor is lost, too, nobody gets what this task returns.
                return {"rank": place.rank, "code": code, "said": said}
            log.unlink()
            return {"rank": place.rank, "code": 0, "said": said, "result": (here / f"result-{place.rank}.pickle").read_bytes()}


def _wait_for_others(context: Any, outcome: dict[str, Any]) -> None:
    """Until all ranks have ended. If others do not end in time after this one has failed, the host of one is lost. Spark would notice
    that only after ``spark.network.timeout``, so this task then fails, which ends the stage at once."""
    waiter = threading.Thread(target=context.allGather, daemon=True)
    waiter.start()
    waiter.join(None if outcome["code"] == 0 else LOST_SECONDS)
    if waiter.is_alive():
        raise RunError(f"rank {outcome['rank']} ended with code {outcome['code']}, and others did not end in {LOST_SECONDS} s after "
                       f"it:\n{outcome['said']}")


def _hosts(context: Any, rank: int) -> list[str]:
    """The address at which each rank listens. All tasks tell each other what they know of their own host."""
    names = [info.address.rsplit(":", 1)[0].strip("[]") for info in context.getTaskInfos()]
    told = [json.loads(text) for text in context.allGather(json.dumps([_address_of(names[rank]), _kernel()]))]
    return _choose_addresses(names, [address for address, _ in told], [kernel for _, kernel in told])


def _choose_addresses(names: Sequence[str], addresses: Sequence[str], kernels: Sequence[str]) -> list[str]:
    """``names``: by which Spark knows the ranks' executors. ``addresses``: that the hosts have for each other; "": none. ``kernels``: differ
    on different machines, whatever their names are. On one host all use loopback."""
    one_address = len(set(addresses)) == 1 and addresses[0] != ""
    if len(set(kernels)) == 1 and (len(set(names)) == 1 or one_address):
        return ["127.0.0.1"] * len(names)
    unknown = sorted({name for name, address in zip(names, addresses) if not address})
    if unknown:
        raise RunError(f"the executors are on several hosts, but these know only loopback addresses of their own names, which others cannot "
                       f"reach: {', '.join(unknown)}; give each host an address that others reach in its /etc/hosts (Debian writes "
                       f"127.0.1.1), or in SPARK_LOCAL_IP, and leave SPARK_LOCAL_HOSTNAME unset")
    return list(addresses)


def _address_of(name: str) -> str:
    """The first address of a host's name that other hosts may reach; "": there is none, or nobody resolves the name."""
    try:
        found = sorted(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM), key=lambda entry: entry[0] != socket.AF_INET)
    except OSError:
        return ""
    addresses = [entry[4][0] for entry in found]
    return next((text for text in addresses if not ((ip := ipaddress.ip_address(text)).is_loopback or ip.is_link_local)), "")


def _kernel() -> str:
    """Differs on different machines."""
    with contextlib.suppress(OSError):
        return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def _hold_port(address: str) -> socket.socket:
    """A port that is rank 0's until the socket is closed. The socket does not listen, and allows what Linux then allows: that one who
    asks for this number, too, takes it. Whoever asks for any free port gets another one. So jobs that start at the same time do not take
    each other's, but a program that insists on this number could, until rank 0 listens."""
    held = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((address, 0))
    except OSError:
        held.close()
        raise
    return held


def _reason(error: Exception) -> str:
    """What Spark says, without the places in its code. Of a rank that made its task fail, what that rank says."""
    text = _text_of_java(error) or str(error) or repr(error)
    text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("at "))
    before, raised, said = text.partition(f"{RunError.__module__}.{RunError.__name__}: ")
    return said.split("\nDriver stacktrace:")[0].rstrip() if raised else before[:1000]


def _text_of_java(error: BaseException | None) -> str:
    """Of the earliest exception that is Java's: PySpark raises another one while it handles that of a context that was stopped."""
    if error is None:
        return ""
    with contextlib.suppress(Exception):  # Java is asked, and may be gone.
        return _text_of_java(error.__context__) or str(error.java_exception)
    return ""


def _collect_logs(context: Any, key: str, count: int) -> str:
    """What the ranks of a job have written, as far as it is on hosts that have executors and answer in time. Never raises: the caller is about to
    say what went wrong first."""
    group = f"ringside-{key}-logs"
    found: list[Any] = []  # an accumulator: it has what some tasks have read, even if others never end
    failures: list[Exception] = []

    def collect() -> None:
        try:
            from pyspark.accumulators import AccumulatorParam

            class Texts(AccumulatorParam):
                def zero(self, value: dict[str, str]) -> dict[str, str]:
                    return {}

                def addInPlace(self, value1: dict[str, str], value2: dict[str, str]) -> dict[str, str]:
                    return {**value1, **value2}

            texts = context.accumulator({}, Texts())
            found.append(texts)

            def read(_: int) -> None:
                texts.add({path.stem.rsplit("-", 1)[1]: _function_job.tail(path) for path in _log_folder().glob(f"{key}-*.log")})

            context.setJobGroup(group, "reading what the ranks wrote", True)
            # Tasks go where there is room, so more than one for each rank reach more hosts.
            context.parallelize(range(2 * count), 2 * count).foreach(read)
        except Exception as error:
            failures.append(error)

    reader = threading.Thread(target=collect, daemon=True)
    reader.start()
    reader.join(LOG_SECONDS)
    why = f"not read in {LOG_SECONDS} s"
    if reader.is_alive():
        with contextlib.suppress(Exception):
            context.cancelJobGroup(group)
    elif failures:
        why = f"not read: {type(failures[0]).__name__}: {str(failures[0]).splitlines()[0] if str(failures[0]) else ''}"
    ranks = dict(found[0].value) if found else {}
    return "\n".join(f"rank {rank}:\n{ranks.get(str(rank), f'({why})')}" for rank in range(count))


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
    refused = [outcome["refused"] for outcome in outcomes if "refused" in outcome]
    if refused:
        raise RunError(refused[0])
    failed = [outcome for outcome in outcomes if outcome["code"] != 0]
    if failed:
        # All ranks end when one fails. Rank 0, which hosts the job, says whose fault it was.
        said = "\n".join(f"rank {outcome['rank']} ended with code {outcome['code']}:\n{outcome['said']}" for outcome in failed)
        raise RunError(f"{len(failed)} of {len(outcomes)} ranks failed:\n{said}")
    return [loads(outcome["result"]) for outcome in outcomes]

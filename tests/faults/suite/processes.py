"""Processes that each run one job of the suite at a time.

The proxy of a job passes everything on in threads of Python, of which one runs at a time in a process. If the proxies of all jobs were
in one process, messages of a job would wait for those of the others.
"""
import concurrent.futures
import ctypes
import dataclasses
import multiprocessing
import random
import signal

from suite.all_scenarios import SCENARIOS
from suite.judge import Result, run_once

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
SEEN = [field.name for field in dataclasses.fields(Result) if field.name not in ("scenario", "strategy")]
PR_SET_PDEATHSIG = 1


def _begin():
    """Ends with the suite. Ctrl-C is for the suite to decide; it is not ignored, so that processes of jobs get it."""
    signal.signal(signal.SIGINT, lambda *_: None)
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _run(build, directory, name, strategy, seed, slack_s, repetition):
    moment = random.Random(f"{seed} {name} {strategy} {repetition}")
    result = run_once(build, directory, BY_NAME[name], strategy, moment, slack_s, repetition)
    return {field: getattr(result, field) for field in SEEN}


class Processes:
    """Use it in a `with` statement, in the main thread and before there are others. Thread-safe from then on."""

    def __init__(self, count):
        self._pool = concurrent.futures.ProcessPoolExecutor(count, multiprocessing.get_context("fork"), _begin)

    def __enter__(self):
        self._pool.submit(int).result()  # the first call starts all
        return self

    def __exit__(self, *_):
        self._pool.shutdown()

    def run(self, build, directory, scenario, strategy, seed, slack_s, repetition):
        """The Result of one job. Raises what the suite itself has failed by."""
        return Result(scenario, strategy, **self._pool.submit(_run, build, directory, scenario.name, strategy, seed, slack_s, repetition).result())

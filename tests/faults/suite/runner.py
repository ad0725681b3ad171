"""Runs jobs, several at a time, until all have ended or Ctrl-C comes."""
import concurrent.futures
import contextlib
import signal
import tempfile
import threading
import traceback

from suite import leaks
from suite.job import MARK
from suite.judge import Result
from suite.processes import Processes
from suite.turns import Turns


def on_this_machine():
    return leaks.in_use(MARK)


class Runner:
    """`journal`: has the results of earlier calls and gets new ones, or None."""

    def __init__(self, arguments, journal):
        self._arguments = arguments
        self._journal = journal
        self._turns = Turns()
        self._processes = None
        # Jobs that have not ended get the same Ctrl-C, so that their results say nothing.
        self.interrupted = threading.Event()

    def run(self, jobs):
        """The results; None after a Ctrl-C. `jobs`: of each its scenario, its strategy, and which repetition it is."""
        at_a_time = self._arguments.jobs
        with contextlib.ExitStack() as stack:
            long_at_a_time = at_a_time // 2
            self._processes = stack.enter_context(Processes(at_a_time + long_at_a_time))
            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(at_a_time))
            # Jobs that last for minutes wait nearly all the time. They would keep the others out. One job at a time means one.
            long_pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(long_at_a_time)) if long_at_a_time else pool
            try:
                signal.signal(signal.SIGINT, self._interrupt)
                started = [(long_pool if job[0].long else pool).submit(self._result_of, *job) for job in jobs]
                return [one.result() for one in started]
            except KeyboardInterrupt:
                for one in (pool, long_pool):
                    one.shutdown(wait=False, cancel_futures=True)
                print("interrupted: the jobs that run now end first")
                return None

    def _interrupt(self, *_):
        if not self.interrupted.is_set():  # a second Ctrl-C does not end the wait for the jobs
            self.interrupted.set()
            raise KeyboardInterrupt

    def _result_of(self, scenario, strategy, repetition):
        result = Result(scenario, strategy)
        if self._journal and self._journal.fill(result, repetition):
            if result.problems:
                self._say(result, repetition, " in an earlier call")
            return result
        result, suite_failed = self._try(scenario, strategy, repetition)
        self._say(result, repetition)
        if self._journal and not suite_failed and not self.interrupted.is_set():
            self._journal.add(result, repetition)
        return result

    def _try(self, scenario, strategy, repetition):
        """The result, and whether the suite itself has failed."""
        arguments = self._arguments
        # Of other jobs at the same time nothing can be told apart that has lost its process.
        alone = arguments.jobs == 1
        before = on_this_machine() if alone else None
        with self._turns.take(scenario), tempfile.TemporaryDirectory(prefix="ringside-faults-") as directory:
            if self.interrupted.is_set():  # while it waited for its turn
                return Result(scenario, strategy, problems=["interrupted"]), False
            try:
                result = self._processes.run(arguments.build.resolve(), directory, scenario, strategy, arguments.seed, arguments.slack, repetition)
            except Exception as error:  # the other jobs must count all the same
                traceback.print_exc()
                return Result(scenario, strategy, problems=[f"the suite failed: {error!r}"]), True
        if alone:
            result.problems += leaks.left(on_this_machine, before)
        return result, False

    @staticmethod
    def _say(result, repetition, when=""):
        # One write: other threads print, too.
        print(f"{result.scenario.name} {result.strategy} {repetition}{when}: {result.text()}\n", end="", flush=True)

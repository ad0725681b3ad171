"""Runs programs within a time that all of them share, and keeps what was run."""
import os
import shlex
import signal
import subprocess
import time

LAST_LINES = 12  # of stderr, in a failure
GRACE_S = 5


class TimeIsOver(Exception):
    """The time of the whole check does not suffice for this run."""


class RunFailed(Exception):
    """A program failed. Its text names the program, and has the end of what it wrote."""


class Runs:
    """Starts one program after the other. `records` has one entry for each."""

    def __init__(self, environment, seconds):
        self.environment = environment
        self.end = time.monotonic() + seconds
        self.records = []

    def left(self):
        return self.end - time.monotonic()

    def run(self, what, command, limit_s):
        """What the program wrote to stdout. No program is left when this returns or raises."""
        left = self.left()
        if left <= 0:
            raise TimeIsOver(what)
        words = [str(word) for word in command]
        begin = time.monotonic()
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=self.environment,
                              start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=min(limit_s, left))
                code = process.returncode
            except subprocess.TimeoutExpired:
                out, err = stop(process)
                code = None
            finally:
                if process.poll() is None:  # Ctrl-C
                    stop(process)
        record = {"what": what, "command": shlex.join(words), "seconds": round(time.monotonic() - begin, 2), "exit_code": code}
        self.records.append(record)
        if code is None:
            if left < limit_s:
                raise TimeIsOver(what)
            raise RunFailed(f"{what}: it took longer than {limit_s:g} s\n  {record['command']}\n{tail(err)}")
        if code != 0:
            raise RunFailed(f"{what}: exit code {code}\n  {record['command']}\n{tail(err)}")
        return out


def stop(process):
    """Ends a program and all that it has started in its session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            return process.communicate(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            continue
    return "", ""


def tail(text):
    return "\n".join("  " + line for line in text.strip().splitlines()[-LAST_LINES:])

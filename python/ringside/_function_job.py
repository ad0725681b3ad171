"""Runs a function as the workers of a job: what Spark, Flyte and a plain list of processes have in common."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

#: What every worker runs. Its words are those of all ranks, so the folder is in a variable.
CALL = [sys.executable, "-m", "ringside._call"]
FOLDER_VARIABLE = "RINGSIDE_CALL_FOLDER"
KEPT_BYTES = 8192  # of what a rank has written to standard error
END_SECONDS = 20  # for a job that was asked to end: 10 s for its workers, and the rest for the launcher


class RunError(RuntimeError):
    """The job failed. The message has what the launcher said and the last lines of the rank that failed."""


@dataclasses.dataclass
class Rank:
    """The place of one process in a job that another launcher has started."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    master: tuple[str, int]
    token: str

    def variables(self, folder: pathlib.Path) -> dict[str, str]:
        token = folder / "token"
        token.touch(0o600)
        token.write_text(self.token)
        return {"RANK": str(self.rank), "WORLD_SIZE": str(self.size), "LOCAL_RANK": str(self.local_rank),
                "LOCAL_WORLD_SIZE": str(self.local_size), "MASTER_ADDR": self.master[0], "MASTER_PORT": str(self.master[1]),
                "RINGSIDE_TOKEN_FILE": str(token)}


def executable() -> str:
    """The path of the program ``ringside``: RINGSIDE_EXECUTABLE, beside this Python, or in PATH."""
    named = os.environ.get("RINGSIDE_EXECUTABLE")
    if named:
        return named
    beside = pathlib.Path(sys.executable).with_name("ringside")
    found = str(beside) if beside.exists() else shutil.which("ringside")
    if not found:
        raise RunError("the program 'ringside' is not in PATH; 'pip install .' puts it beside python, RINGSIDE_EXECUTABLE names another one")
    return found


def train_command(folder: pathlib.Path, flags: Sequence[str]) -> list[str]:
    """The command of a job, or of one of its ranks, whose workers call a function. ``folder`` gets the bundle, unless the flags have
    ``--out``."""
    words = [str(flag) for flag in flags]
    if not any(word == "--out" or word.startswith("--out=") for word in words):
        words += ["--out", str(folder / "run")]
    return [executable(), "train", *words, "--", *CALL]


def write_call(folder: pathlib.Path, call: bytes) -> None:
    """``call`` is a pickled ``(function, args, kwargs)``."""
    (folder / "call.pickle").write_bytes(call)


def read_result(folder: pathlib.Path, rank: int) -> Any:
    return pickle.loads((folder / f"result-{rank}.pickle").read_bytes())


def run(command: Sequence[str], folder: pathlib.Path, variables: Mapping[str, str], log: pathlib.Path, echo: bool) -> tuple[int, str]:
    """Runs a command, whose workers call the function in ``folder``, until it ends. Keeps what it writes to standard error in ``log``, and also shows it if ``echo``.

    Returns its exit code and the last of what it wrote. If this process ends, however it does, or is interrupted, the command is
    asked to end, so that the job ends as a whole."""
    environment = {**os.environ, **variables, FOLDER_VARIABLE: str(folder)}
    with log.open("wb") as file:
        child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "--", *command], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        def keep() -> None:
            for line in child.stdout:
                file.write(line)
                file.flush()
                if echo:
                    sys.stderr.write(line.decode(errors="replace"))

        reader = threading.Thread(target=keep, daemon=True)
        reader.start()
        try:
            child.wait()
        except BaseException:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            raise
        finally:
            reader.join(END_SECONDS)
            child.stdout.close()
    return child.returncode, tail(log)


def tail(log: pathlib.Path) -> str:
    """The last lines of a log."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - KEPT_BYTES))
        return file.read().decode(errors="replace")

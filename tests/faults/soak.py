#!/usr/bin/env python3
"""Lets a matrix run for a long time while its processes are killed, frozen and sent garbage, and looks for leaks.

usage: tests/faults/soak.py [--build DIR] [--minutes N] [--seed N] [--markdown FILE]
  --minutes   how long (default: 30)
  --seed      of the moments and members (default: 1)
  --markdown  writes what was seen there
The runner's memory and open files, and the shared memory, the network namespaces and the open files of the machine must not
grow from the first third of the time to the last. Runs use some of these while they last, so the least counts, and what is
cheap to read is read many times a second: the moments between two runs are short. The first looks do not count: the first run
of each kind loads code and fills caches. No process may live longer than a run can. When the runner has ended, nothing
of this may be left. A run whose process fails starts again once (`--on-failure restart`), and half of the runs write
checkpoints. Each run that ends must count every gradient exactly once, and some of them must have started again. A run may fail
only when it is struck once more, or when a program that builds its emulated network is struck. Part of the runs are in emulated
networks if this is root.
Exit code: 0 all did, 1 something grew or a gradient was lost, 2 usage.
"""
import argparse
import collections
import dataclasses
import datetime
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from suite import leaks
from suite.commit import commit
from suite.job import EPOCHS, ROOT, miscounted
from suite.ports import ports_of
from suite.strangers import garbage

LOOK_S = 5
SAMPLE_S = 0.02
FEWEST_LOOKS = 6
PAUSE_S = (0.5, 4)  # between two strikes
FROZEN_S = (3, 7)  # shorter than a lease, and longer
RUN_S = 60  # the time limit of a run
MOST_RESTARTS = "1"  # so that some runs fail: those that are struck twice
# Garbage that finds no port is no strike, so it has more chances. The runner has the coordinator's port.
FAULTS = ("kill", "freeze", "garbage", "garbage")
STRUCK = ("signal", "lost", "comm")  # kinds of failures that a strike makes
HELPER = re.compile(r"(^|: )\S*/(ip|tc) was killed by signal 9\b")  # the error of a run whose helper was struck
LOOKS_A_MINUTE = 60 // LOOK_S
LONGEST_LIFE_S = RUN_S + 30  # of a process: a run ends some time after its limit
WARMUP_SHARE = 0.1  # of the looks
MOST_GROWTH = 1.05  # of memory; the other figures must not grow at all
STRATEGIES = ("ring", "ps-sync", "ps-async", "shm", "hierarchical")
SPEC = """name: soak
defaults:
  model: ledger
  data: ledger
  epochs: {epochs}
  global-batch: 8
  lr: 8
  bucket-mb: 0
  save-params: true
  workers: 3
  warmup-steps: 1
axes:
  strategy: [{strategies}]
  checkpoint-every: [0, 4]
{emulated}repetitions: {repetitions}
time_limit: {run_s}s
"""
EMULATED = """include:
  - {strategy: ring, network: {hosts: 3, rate: 1Gbps}}
  - {strategy: ps-sync, network: {hosts: 3, rate: 1Gbps}, checkpoint-every: 4}
"""


@dataclasses.dataclass
class Look:
    """What is in use at one moment."""
    memory_kib: int
    memory: int
    segments: int
    shared_files: int
    namespaces: int
    machine_files: int
    open_files: tuple  # of the runner: number, and what it leads to
    old_processes: tuple  # ids

    @property
    def files(self):
        return len(self.open_files)


@dataclasses.dataclass
class Sample:
    """What is cheap to read. The least of each since the last look."""
    memory_kib: int
    machine_files: int
    open_files: tuple

    def least(self, other):
        return Sample(min(self.memory_kib, other.memory_kib), min(self.machine_files, other.machine_files),
                      min(self.open_files, other.open_files, key=len))


FIGURES = {
    "memory_kib": "memory of the runner (KiB)",
    "files": "open files of the runner",
    "memory": "shared memory without a name",
    "segments": "System V segments",
    "shared_files": "entries of /dev/shm, and files of jobs",
    "namespaces": "network namespaces",
    "machine_files": "open files of the machine",
}


def sample(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return Sample(
        memory_kib=int(status.split("VmRSS:")[1].split()[0]),
        machine_files=int(pathlib.Path("/proc/sys/fs/file-nr").read_text().split()[0]),
        open_files=tuple(f"{number}: {leaks.link(f'/proc/{pid}/fd/{number}')}" for number in os.listdir(f"/proc/{pid}/fd")))


def look(mark, pid, least_sample):
    counts = leaks.counts(leaks.in_use(mark))
    return Look(
        memory_kib=least_sample.memory_kib,
        memory=counts[leaks.MEMORY],
        segments=counts[leaks.SEGMENT],
        shared_files=counts[leaks.FILE],
        namespaces=counts[leaks.NET_NAMESPACE],
        machine_files=least_sample.machine_files,
        open_files=least_sample.open_files,
        old_processes=tuple(one for one in members(mark, pid) if leaks.age_of(one) > LONGEST_LIFE_S))


def members(mark, runner):
    """Processes of the run that is under way, without the runner."""
    return [pid for pid in leaks.living(mark) if pid != runner]


def strike(mark, runner, chance, counts):
    """One fault of one process."""
    processes = members(mark, runner)
    if not processes:
        return
    pid = chance.choice(processes)
    kind = chance.choice(FAULTS)
    try:
        if kind == "kill":
            os.kill(pid, signal.SIGKILL)
        elif kind == "freeze":
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(chance.choice(FROZEN_S), thaw, (pid,)).start()
        elif not send_garbage([runner, *processes], chance):
            return
    except OSError:
        return  # the process, or its port, is gone
    counts[kind] = counts.get(kind, 0) + 1


def send_garbage(processes, chance):
    """To one port of those on which these processes listen. Returns whether there was one."""
    ports = sorted(set().union(*(ports_of(pid) for pid in processes)))
    if not ports:
        return False
    with socket.create_connection(("127.0.0.1", chance.choice(ports)), timeout=1) as stranger:
        stranger.sendall(garbage(chance))
    return True


def thaw(pid):
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass  # it was killed meanwhile, as it should be


def least(figure, looks):
    """Runs use more or less while they last. What is in use all the time has leaked."""
    return min(getattr(one, figure) for one in looks)


def by_minute(looks):
    """The least memory in each minute: whether it grows all the time, or once."""
    minutes = [looks[at:at + LOOKS_A_MINUTE] for at in range(0, len(looks), LOOKS_A_MINUTE)]
    return ", ".join(str(least("memory_kib", minute)) for minute in minutes)


def thirds(looks):
    """The first third of what counts, and the last."""
    counted = looks[int(len(looks) * WARMUP_SHARE):]
    third = max(len(counted) // 3, 1)
    return counted[:third], counted[-third:]


def open_in_last(looks):
    """What to look at when open files grew."""
    return ": " + ", ".join(min((one.open_files for one in thirds(looks)[1]), key=len))


def judge(looks, bundles):
    """What is wrong: a list of texts."""
    wrong = []
    for figure, name in FIGURES.items():
        first, last = (least(figure, part) for part in thirds(looks))
        most = first * MOST_GROWTH if figure in ("memory_kib", "machine_files") else first
        if last > most:
            wrong.append(f"{name} grew from {first:g} to {last:g}" + (open_in_last(looks) if figure == "files" else ""))
    old = sorted({pid for one in looks for pid in one.old_processes})
    wrong += [f"process {pid} lived longer than {LONGEST_LIFE_S} s" for pid in old]
    for bundle in bundles:
        count = miscounted(bundle)
        if count != 0:
            wrong.append(f"{bundle.name}: {'no parameters' if count is None else f'{count} gradients'} miscounted")
    return wrong


def judge_restarts(summaries):
    """The same of the finished runs: some have started again, and some of these from a checkpoint. Else the count says little."""
    again = [summary for summary in summaries if summary["restarts"] > 0]
    from_checkpoint = sum(summary["first_step"] > 0 for summary in again)
    text = f"{len(again)} of {len(summaries)} finished runs had started again, {from_checkpoint} of them from a checkpoint"
    return text, [] if from_checkpoint and from_checkpoint < len(again) else [f"too few restarts: {text}"]


def judge_failures(summaries):
    """The same of the runs that failed: each by a strike, or because a peer of who was struck missed it, and only when it had used up its
    restarts."""
    by_kind = collections.Counter()
    wrong = []
    for summary in summaries:
        failure = summary["failure"] or {"kind": None}
        by_kind[failure["kind"]] += 1
        if HELPER.search(summary["error"]):
            continue  # while a generation was prepared, so there is no further one
        if summary["restarts"] != int(MOST_RESTARTS) or failure["kind"] not in STRUCK:
            wrong.append(f"a run failed after {summary['restarts']} restarts: {summary['error']}")
    return f"of the failed runs, by the kind of their last failure: {dict(by_kind)}", wrong


def parse():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", default=ROOT / "build" / "release", type=pathlib.Path)
    parser.add_argument("--minutes", default=30, type=float)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__.strip())
        sys.exit(0)
    return arguments


def watch(arguments, mark, runner, looks, strikes):
    """Strikes and looks until the time is over or the runner has ended."""
    chance = random.Random(arguments.seed)
    now = time.monotonic()
    end, next_look, next_strike = now + arguments.minutes * 60, now + LOOK_S, now + chance.uniform(*PAUSE_S)
    least_sample = None
    while time.monotonic() < end and runner.poll() is None:
        time.sleep(SAMPLE_S)
        try:
            one = sample(runner.pid)
        except (OSError, IndexError):
            continue  # the runner has ended
        least_sample = least_sample.least(one) if least_sample else one
        if time.monotonic() >= next_strike:
            strike(mark, runner.pid, chance, strikes)
            next_strike = time.monotonic() + chance.uniform(*PAUSE_S)
        if time.monotonic() >= next_look:
            looks.append(look(mark, runner.pid, least_sample))
            next_look += LOOK_S
            least_sample = None


def soak(arguments, directory):
    """Returns what was seen every few seconds, the bundles of finished runs, the strikes, and what is left at the end."""
    is_root = os.geteuid() == 0
    spec = directory / "soak.yaml"
    spec.write_text(SPEC.format(epochs=EPOCHS, run_s=RUN_S, strategies=", ".join(STRATEGIES), repetitions=1000,
                                emulated=EMULATED if is_root else ""))
    mark = f"RINGSIDE_FAULT_JOB=soak-{os.getpid()}"
    environment = os.environ | {"RINGSIDE_LEDGER_STEP_MS": "5", mark.split("=")[0]: mark.split("=")[1]}
    looks, strikes = [], {}
    before = leaks.in_use(mark)
    with open(directory / "log", "w") as log:
        runner = subprocess.Popen(
            [str(arguments.build.resolve() / "bin" / "fault_program"), "matrix", str(spec), "--out", str(directory),
             "--quiet", "--on-failure", "restart", "--max-restarts", MOST_RESTARTS],
            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=directory)
        watch(arguments, mark, runner, looks, strikes)
        left = [] if runner.poll() is None else [f"the runner ended by itself with code {runner.returncode}"]
        runner.send_signal(signal.SIGINT)
        try:
            runner.wait(60)
        except subprocess.TimeoutExpired:
            left.append("the runner does not end")
            runner.kill()
    left += leaks.left(lambda: leaks.in_use(mark), before)
    return looks, strikes, left


def summaries_in(directory):
    """By bundle."""
    return {path.parent: json.loads(path.read_text()) for path in sorted((directory / "soak").glob("*/summary.json"))}


def what_made_it(arguments):
    return (f"Commit {commit()}. Command: `tests/faults/soak.py --minutes {arguments.minutes:g} --seed {arguments.seed}`, "
            f"on {datetime.datetime.now(datetime.timezone.utc).date()}.")


def main():
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix="ringside-soak-") as name:
        directory = pathlib.Path(name)
        looks, strikes, wrong = soak(arguments, directory)
        summaries = summaries_in(directory)
        statuses = collections.Counter(summary["status"] for summary in summaries.values())
        done = {bundle: summary for bundle, summary in summaries.items() if summary["status"] == "done"}
        restarts, too_few = judge_restarts(done.values())
        failures, unexpected = judge_failures([summary for summary in summaries.values() if summary["status"] == "failed"])
        wrong += unexpected
        if len(looks) < FEWEST_LOOKS or not done:
            wrong.append(f"too little was seen: {len(looks)} looks, {len(done)} finished runs: "
                         + (directory / "log").read_text(errors="replace")[-2000:])
        else:
            wrong += judge(looks, done) + too_few
    lines = [what_made_it(arguments), "", f"- runs: {dict(statuses)}", f"- {restarts}", f"- {failures}", f"- strikes: {strikes}"]
    for figure, what in FIGURES.items():
        if looks:
            first, last = (least(figure, part) for part in thirds(looks))
            lines.append(f"- {what}: least of the first third {first}, of the last {last}")
    lines.append(f"- least memory of the runner in each minute (KiB): {by_minute(looks)}")
    lines += [f"- WRONG: {text}" for text in wrong]
    print("\n".join(lines))
    if arguments.markdown:
        arguments.markdown.write_text("\n".join(lines) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

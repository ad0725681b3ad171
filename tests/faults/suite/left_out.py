"""Strategies that the page does not try, or not as they are: why, and what tries them.

A name in backticks that begins with a capital is a suite of tests in C++.
"""
import re
import subprocess

NO_CONNECTION = "no connection carries its data, so faults of data connections do not apply"
# A strategy, what is left out and why, and what tries it.
LEFT_OUT = (
    ("nccl", "it needs GPUs", "`NcclJob`"),
)
# The same of strategies that the page tries.
IN_PART = (
    ("shm", f"its workers share memory: {NO_CONNECTION}", "the other faults are tried"),
    ("auto", f"on one host it takes shared memory: {NO_CONNECTION}",
     "the other faults are tried, and the strategies between which it chooses; `AutoCollectiveTest` and `PartitionTest` try the choice"),
    ("mpi", f"MPI has shared memory of its own on one host: {NO_CONNECTION}. The ports of mpirun are left alone",
     "the other faults are tried; `MpiJobTest` kills mpirun and its agents, too"),
    ("none", f"each worker trains alone: {NO_CONNECTION}. There is no sum in which a gradient could be lost or count twice",
     "the other faults are tried, but for what counted"),
    ("diloco", "an outer optimizer changes the sums, so it cannot be told what counted",
     "all faults are tried, but for what counted; `local-sgd` has the same averages and pauses; `DilocoTest` tries the sums"),
    ("ps-backup with backups", "a server leaves gradients out, as it should. So the suite gives it none (`--backups 0`)",
     "`BackupWorkers` has real backups; `LostWorkerJobTest` loses a worker of three with one backup"),
)
NOBODY_KNOWS = "nobody has said why"


def strategies_of(program):
    """All names that the program lists."""
    listed = subprocess.run([str(program), "list", "strategies"], capture_output=True, text=True, check=False).stdout
    return re.findall(r"^  (\S+)  +(?:synchronous|asynchronous|unavailable)", listed, re.MULTILINE)


def rows(tried, suite_has, all_names):
    """What a page with these strategies leaves out of all: rows of LEFT_OUT's kind. `suite_has`: the suite can try them."""
    whys = {row[0]: row for row in LEFT_OUT}
    found = []
    for name in all_names:
        if name in suite_has and name not in tried:
            found.append((name, "this run left it out", f"`tests/faults/fault_suite.py --strategies {name}`"))
        elif name not in suite_has:
            found.append(whys.get(name, (name, NOBODY_KNOWS, NOBODY_KNOWS)))
    return [*found, *IN_PART]

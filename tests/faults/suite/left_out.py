"""Strategies that the page does not try, or not as they are: why, and what tries them.

A name in backticks that begins with a capital is a suite of tests in C++.
"""
import re
import subprocess

# A strategy, why it is left out, and what tries it.
LEFT_OUT = (
    ("none", "each worker trains alone, so there is no sum in which a gradient could be lost or count twice",
     "no fault is tried under it"),
    ("auto", "it times some of the strategies above at its start and takes one of them",
     "each of them under its own name; `AutoCollectiveTest` and `PartitionTest` try the choice"),
    ("diloco", "an outer optimizer changes the sums, so it cannot be told what counted",
     "`local-sgd` has the same averages and pauses; `DilocoTest` tries the sums"),
    ("mpi", "mpirun starts the processes, and ends all of them when one dies", "`MpiJobTest`"),
    ("nccl", "it needs GPUs", "`NcclJob`"),
)
WITHOUT_BACKUPS = (
    "ps-backup with backups", "a server leaves gradients out, as it should. So the suite gives it none (`--backups 0`)",
    "`BackupWorkers` has real backups; `LostWorkerJobTest` loses a worker of three with one backup")
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
            found.append((name, "left out to keep the run short", f"`tests/faults/fault_suite.py --strategies {name}`"))
        elif name not in suite_has:
            found.append(whys.get(name, (name, NOBODY_KNOWS, NOBODY_KNOWS)))
    return [*found, WITHOUT_BACKUPS]

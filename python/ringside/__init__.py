"""Ringside for training programs of your own.

``ringside train --strategy ps-sync --workers 2 -- python3 train.py`` runs ``train.py`` as every worker. The program calls
``ringside.init()`` and lets ``ringside.torch.DistributedOptimizer`` synchronise its model, under any strategy, unchanged.

A program that was started by itself, without the launcher, trains alone: ``size()`` is 1 and nothing is synchronised.

A failure of the job ends the program with exit code 1, after its reason was written to stderr. ``Error`` is raised for a wrong
call. ``TrainingEnded`` is raised when the job is over before the program is; it is a ``SystemExit`` with code 0.
"""
from ringside import _load

_load.load()

from ringside._job import (
    Error,
    TrainingEnded,
    evaluation,
    init,
    is_initialized,
    local_rank,
    local_size,
    rank,
    report,
    seed,
    shutdown,
    size,
    strategy,
)

__all__ = [
    "Error",
    "TrainingEnded",
    "evaluation",
    "init",
    "is_initialized",
    "local_rank",
    "local_size",
    "rank",
    "report",
    "seed",
    "shutdown",
    "size",
    "strategy",
]

"""Runs programs in interleaved rounds, and computes the figures of a row."""
import dataclasses
import json
import os
import pathlib
import random
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Skipped(Exception):
    """Raised for a row that this machine or this build cannot run."""


def need_root():
    if os.geteuid() != 0:
        raise Skipped("network namespaces need root")


@dataclasses.dataclass
class Measured:
    """Two figures in one unit, and their ratio, which is compared with the row's target."""
    ours: float
    peer: float
    ratio: float
    rounds: int  # rounds in which the two took turns, or in which one was compared with a bound
    unit: str = "ms"
    note: str = ""
    samples: dict = dataclasses.field(default_factory=dict)


def run(command, env=None, timeout=140, accept=(0,)):
    """Standard output of a command, given as a list. Raises with its standard error if its exit code is not in `accept`."""
    done = subprocess.run([str(word) for word in command], env={**os.environ, **(env or {})}, capture_output=True,
                          text=True, timeout=timeout, check=False)
    if done.returncode not in accept:
        raise RuntimeError(f"{' '.join(map(str, command))} exited with {done.returncode}:\n{done.stderr.strip()[-2000:]}")
    return done.stdout


def interleaved(rounds, measures):
    """Runs each of `measures` (name -> function) once per round, in an order shuffled each round. Returns name -> values."""
    values = {name: [] for name in measures}
    order = random.Random(1)
    for _ in range(rounds):
        names = list(measures)
        order.shuffle(names)
        for name in names:
            values[name].append(measures[name]())
    return values


def slower(ours, peer, **more):
    """Our time over the peer's, from samples (for targets `at_most`)."""
    return _of_samples(ours, peer, lambda mine, theirs: mine / theirs, more)


def faster(ours, peer, **more):
    """How many times as fast as the peer we are, from samples (for targets `at_least`)."""
    return _of_samples(ours, peer, lambda mine, theirs: theirs / mine, more)


def _of_samples(ours, peer, ratio, more):
    mine, theirs = statistics.median(ours), statistics.median(peer)
    return Measured(mine, theirs, ratio(mine, theirs), min(len(ours), len(peer)),
                    samples={"ours": list(ours), "peer": list(peer)}, **more)


class Context:
    """One call of compare.py: the build, the number of rounds, and the results that several rows share."""

    def __init__(self, build, rounds, steps):
        self.build = pathlib.Path(build)
        self.rounds = rounds
        self.steps = steps
        self._cache = {}
        self._strategies = None

    @property
    def ringside(self):
        return self.build / "bin/ringside"

    @property
    def slow_rounds(self):
        """Rounds for rows that take tens of seconds per round: half of all, but at least 3, so an outlier is not the median."""
        return max(3, self.rounds // 2)

    def once(self, key, measure):
        """The result of `measure()`, which only the first of the rows that share it calls."""
        if key not in self._cache:
            try:
                self._cache[key] = measure()
            except (Skipped, RuntimeError, subprocess.TimeoutExpired) as error:
                self._cache[key] = error
        if isinstance(self._cache[key], Exception):
            raise self._cache[key]
        return self._cache[key]

    def strategy(self, name):
        """A strategy's entry in `ringside list`. Skips the row if the strategy is missing or unavailable."""
        if self._strategies is None:
            listed = json.loads(run([self.ringside, "list", "strategies", "--json"]))["strategies"]
            self._strategies = {entry["name"]: entry for entry in listed}
        entry = self._strategies.get(name)
        if entry is None:
            raise Skipped(f"there is no strategy {name} in this build")
        if not entry["available"]:
            raise Skipped(f"{name}: {entry['unavailable']}")
        return entry

    def key(self, strategy, key):
        """Skips the row if the strategy does not read the key."""
        if key not in self.strategy(strategy)["keys"]:
            raise Skipped(f"strategy {strategy} does not read --{key} in this build")

"""Running things, in interleaved rounds, and what a row comes to."""
import dataclasses
import json
import os
import pathlib
import random
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Skipped(Exception):
    """A row that this machine, or this build, cannot run."""


def need_root():
    if os.geteuid() != 0:
        raise Skipped("network namespaces need root")


@dataclasses.dataclass
class Measured:
    """Two figures in one unit and their ratio, which the row's target is about."""
    ours: float
    peer: float
    ratio: float
    rounds: int  # in which the two took turns, or of what is beside a bound
    unit: str = "ms"
    note: str = ""
    samples: dict = dataclasses.field(default_factory=dict)


def run(command, env=None, timeout=140, accept=(0,)):
    """Standard output of a command given as a list; its standard error is shown when its exit code is none of `accept`."""
    done = subprocess.run([str(word) for word in command], env={**os.environ, **(env or {})}, capture_output=True,
                          text=True, timeout=timeout, check=False)
    if done.returncode not in accept:
        raise RuntimeError(f"{' '.join(map(str, command))} exited with {done.returncode}:\n{done.stderr.strip()[-2000:]}")
    return done.stdout


def interleaved(rounds, measures):
    """Runs each of `measures` (name -> function) once a round, in an order shuffled each round; name -> values."""
    values = {name: [] for name in measures}
    order = random.Random(1)
    for _ in range(rounds):
        names = list(measures)
        order.shuffle(names)
        for name in names:
            values[name].append(measures[name]())
    return values


def slower(ours, peer, **more):
    """From samples: how many times the peer's time ours takes (at most ...)."""
    return _of_samples(ours, peer, lambda mine, theirs: mine / theirs, more)


def faster(ours, peer, **more):
    """From samples: how many times as fast as the peer ours is (at least ...)."""
    return _of_samples(ours, peer, lambda mine, theirs: theirs / mine, more)


def _of_samples(ours, peer, ratio, more):
    mine, theirs = statistics.median(ours), statistics.median(peer)
    return Measured(mine, theirs, ratio(mine, theirs), min(len(ours), len(peer)),
                    samples={"ours": list(ours), "peer": list(peer)}, **more)


class Context:
    """One call of compare.py: the build, how often, and what has been measured for several rows at once."""

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
        """Of what takes tens of seconds a round: the fewest that have a median beside an outlier, or half of all."""
        return max(3, self.rounds // 2)

    def once(self, key, measure):
        """`measure()`, called for the first of the rows that share it."""
        if key not in self._cache:
            try:
                self._cache[key] = measure()
            except (Skipped, RuntimeError, subprocess.TimeoutExpired) as error:
                self._cache[key] = error
        if isinstance(self._cache[key], Exception):
            raise self._cache[key]
        return self._cache[key]

    def strategy(self, name):
        """Its entry of `ringside list`; a row whose strategy is not there is skipped."""
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
        """A row whose strategy does not read that key is skipped."""
        if key not in self.strategy(strategy)["keys"]:
            raise Skipped(f"strategy {strategy} does not read --{key} in this build")

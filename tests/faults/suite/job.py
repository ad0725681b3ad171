"""A job of `fault_program`, whose parameters count the updates, and what is left of it when it has ended."""
import array
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

from suite import leaks
from suite.proxy import FaultProxy, member_names

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Of the ledger: one less than a float can count. Under local-sgd one of four workers holds four times a gradient until they
# average.
EPOCHS = 11
STEPS = EPOCHS * 12
STEP_MS = 15
FIRST_STEPS = 8  # two checkpoints
PARAMS_HEADER = 80
# Strategies that are not named here have three workers and no flags of their own.
# A mean of four workers with two samples each is exact.
WORKERS = {"hierarchical": 4, "local-sgd": 4, "diloco": 4}
# With backups a server leaves gradients out, as it should.
FLAGS = {"hierarchical": ["--hosts", "2"], "ps-sync": ["--servers", "2"], "ps-async": ["--servers", "2"],
         "ps-ssp": ["--servers", "2"], "ps-backup": ["--servers", "2", "--backups", "0"], "mixed": ["--servers", "2"]}
# Of these it cannot be told what counted: each worker of `none` trains alone, and the outer optimizer of `diloco` changes the sums.
UNCOUNTED = ("none", "diloco")
LOOKED_UP_S = 0.2  # the processes that mpirun has started are looked up so often
# The marks of all jobs of this process begin so.
MARK = f"RINGSIDE_FAULT_JOB={os.getpid()}-"


@dataclasses.dataclass(frozen=True)
class Buckets:
    """How the three tensors of the ledger, of 384 bytes each, are put into buckets."""
    count: int
    flags: tuple


ONE_FOR_EACH_TENSOR = Buckets(3, ("--bucket-mb", "0"))
TWO_TENSORS_AND_ONE = Buckets(2, ("--bucket-mb", "768B"))
DEFAULT_BUCKETS = Buckets(1, ())


def has_servers(strategy):
    return "--servers" in FLAGS.get(strategy, [])


def some_buckets(strategy, random):
    """All tensors fit into one bucket of the default size. That is too few for two servers."""
    return random.choice([ONE_FOR_EACH_TENSOR, TWO_TENSORS_AND_ONE if has_servers(strategy) else DEFAULT_BUCKETS])


def parameters(bundle):
    """The final parameters; None: there are none."""
    path = bundle / "params.bin"
    if not path.exists():
        return None
    values = array.array("f")
    values.frombytes(path.read_bytes()[PARAMS_HEADER:])
    return values


def miscounted(bundle):
    """How many gradients did not count exactly once in the final parameters; None: there are none."""
    values = parameters(bundle)
    if values is None:
        return None
    wrong = 0
    for value in values:
        count = int(-value)
        for _ in range(EPOCHS):
            wrong += count % 4 != 1
            count //= 4
        wrong += count != 0
    return wrong


def worker_rank(pid):
    """The rank of a worker's process, by its arguments; None: it is no worker."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return None  # it has ended
    return int(words[3]) if words[1:3] == [b"worker", b"--rank"] else None


class Job:
    """Use it in a `with` statement: at its end no process of the job lives."""

    def __init__(self, build, directory, strategy, *, buckets=ONE_FOR_EACH_TENSOR, on_failure="stop", fault=None, proxy=False,
                 clock_jumps=False, step_ms=STEP_MS, busy_ms=0, timeout_s=30, flags=(), shims=(), open_files=0, repetition=0):
        self.strategy = strategy
        self.remembered = {}  # what a scenario needs again when the job has ended
        self.repetition = repetition  # of this scenario and strategy, from 0
        self._build = build
        self._step_s = step_ms / 1000
        self.bundle = pathlib.Path(directory) / "run"
        self.workers = WORKERS.get(strategy, 3)
        self.log = pathlib.Path(directory) / "stderr"
        self._mark = f"{MARK}{uuid.uuid4()}"
        self._seen = set()  # process ids
        self._ranks = (0, [])  # when the processes of mpirun were looked up, and their rows
        self.strangers = []  # who have knocked
        self._environment = os.environ | {"RINGSIDE_LEDGER_STEP_MS": str(step_ms), "RINGSIDE_LEDGER_BUSY_MS": str(busy_ms)}
        name, value = self._mark.split("=")
        self._environment[name] = value
        self._struck = pathlib.Path(directory) / "struck"
        self._environment["RINGSIDE_FAULT_ONCE"] = str(self._struck)
        if fault:
            self._environment["RINGSIDE_FAULT"] = fault
        self.proxy = FaultProxy(directory, member_names(self.processes)) if proxy else None
        if self.proxy:
            self._environment["RINGSIDE_FAULT_PROXY"] = self.proxy.path
        self._environment |= self._preload(*shims, *(name for name, wanted in (("connect", proxy), ("clock", clock_jumps)) if wanted))
        self._command = [
            str(build / "bin" / "fault_program"), "train", "--strategy", strategy, "--workers", str(self.workers),
            "--model", "ledger", "--data", "ledger", "--epochs", str(EPOCHS), "--global-batch", "8", "--lr", "8",
            *buckets.flags, "--checkpoint-every", "4", "--save-params", "--timeout", f"{timeout_s}s",
            "--on-failure", on_failure, "--quiet", "--out", str(self.bundle), *FLAGS.get(strategy, []), *flags]
        self._limit = ["prlimit", f"--nofile={open_files}:{open_files}"] if open_files else []

    def _preload(self, *shims):
        """The variables that preload shims. A shim comes before the sanitizer, which does not mind."""
        paths = " ".join(str(self._build / "bin" / f"libringside_{name}_shim.so") for name in shims)
        return {"LD_PRELOAD": paths, "ASAN_OPTIONS": "verify_asan_link_order=0"} if paths else {}

    def add(self, *flags, **variables):
        """Before it starts."""
        self._command += flags
        self._environment |= variables

    def tool(self, *words, shims=(), **variables):
        """Runs another command of the program. Returns its exit code and what it has said."""
        outcome = subprocess.run([self._command[0], *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 env=os.environ | self._preload(*shims) | variables, timeout=60)
        return outcome.returncode, outcome.stdout + outcome.stderr

    def __enter__(self):
        if self.proxy:
            self.proxy.__enter__()
        self.begin = time.time()
        self._start()
        return self

    def _start(self, *flags):
        with open(self.log, "a") as log:
            self._launcher = subprocess.Popen([*self._limit, *self._command, *flags], cwd=ROOT, env=self._environment, stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log)

    def resume(self):
        """Starts it again when it has ended. It goes on from its checkpoints."""
        self.things_left()  # knows the processes of before
        self.begin = time.time()
        self._start("--resume", str(self.bundle))

    def __exit__(self, *_):
        self._launcher.kill()
        self._launcher.wait()
        for pid in self.living():
            self.signal_pid(pid, signal.SIGKILL)
        if self.proxy:
            self.proxy.__exit__()

    def struck(self):
        """When the planned fault happened, by time.time(); 0: not yet."""
        return self._struck.stat().st_mtime if self._struck.exists() else 0

    def mark_text(self):
        """What whoever made the fault wrote down."""
        return self._struck.read_text() if self._struck.exists() else ""

    @property
    def launcher_pid(self):
        return self._launcher.pid

    def processes(self):
        try:
            rows = json.loads((self.bundle / "processes.json").read_text())
        except (OSError, ValueError):
            return []  # not written yet
        if self.strategy == "mpi":
            rows = rows + self._ranks_of_mpirun()
        self._seen |= {row["pid"] for row in rows}
        return rows

    def _ranks_of_mpirun(self):
        """The launcher writes down mpirun alone, which has started the workers."""
        looked_up, rows = self._ranks
        if time.monotonic() > looked_up + LOOKED_UP_S:
            ranks = ((worker_rank(pid), pid) for pid in self.living())
            rows = [{"name": f"worker {rank}", "pid": pid} for rank, pid in ranks if rank is not None]
            self._ranks = (time.monotonic(), rows)
        return rows

    def pid(self, member):
        return next(row["pid"] for row in self.processes() if row["name"] == member)

    def steps(self):
        try:
            return (self.bundle / "metrics.jsonl").read_text().count('"kind":"step"')
        except OSError:
            return 0  # not written yet

    def wait_for_steps(self, steps):
        end = time.monotonic() + 30 + 2 * steps * self._step_s
        while self.steps() < steps:
            if self._launcher.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the job ended, or hung, before step {steps}: {self.text()}")
            time.sleep(0.005)

    @staticmethod
    def signal_pid(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass  # it has ended

    def is_stopped(self, pid):
        return self._state(pid) == "T"

    def runs(self, pid):
        return self._state(pid) not in ("", "Z")

    @staticmethod
    def _state(pid):
        """The letter for it in /proc; empty: it has ended."""
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return ""

    def finish(self, limit_s):
        """Waits for the launcher's end. Returns its exit code; None: it hangs."""
        try:
            return self._launcher.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None

    def summary(self):
        try:
            return json.loads((self.bundle / "summary.json").read_text())
        except OSError:
            return {}

    def text(self):
        return self.log.read_text(errors="replace")[-2000:]

    def living(self):
        return leaks.living(self._mark)

    def things_left(self):
        """Processes, and what they hold or have made, as far as it can be told to be this job's: a text for each."""
        creators = {self.launcher_pid, *(row["pid"] for row in self.processes()), *self._seen}
        return leaks.texts(leaks.of_job(self._mark, creators))

    def files_left(self):
        """A text for each temporary file."""
        return [f"temporary file {path.name} is left" for path in self.bundle.rglob("*.tmp*")]

"""A job of `fault_program`, whose parameters count the updates, and what is left of it when it has ended."""
import array
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

from suite.proxy import FaultProxy, member_names

ROOT = pathlib.Path(__file__).resolve().parents[3]

EPOCHS = 12  # of the ledger: as many as a float can count
STEPS = EPOCHS * 12
STEP_MS = 15
PARAMS_HEADER = 80
# Strategies that are not named here have three workers and no flags of their own.
WORKERS = {"hierarchical": 4}
FLAGS = {"hierarchical": ["--hosts", "2"], "ps-sync": ["--servers", "2"], "ps-async": ["--servers", "2"],
         "ps-ssp": ["--servers", "2"], "mixed": ["--servers", "2"]}


def has_servers(strategy):
    return "--servers" in FLAGS.get(strategy, [])


def living(mark):
    """The processes with this text in their environment, without dead ones that nobody has waited for."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                if (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append(int(folder.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


def shared_things():
    """The names outside of a job's own directory that it may leave behind."""
    names = {str(path) for path in pathlib.Path("/dev/shm").iterdir()}
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    home = pathlib.Path(runtime) / "ringside" if runtime else pathlib.Path(f"/tmp/ringside-{os.getuid()}")
    if home.is_dir():
        names |= {str(path) for path in home.iterdir()}
    return names


def miscounted(bundle):
    """How many gradients did not count exactly once in the final parameters; None: there are none."""
    path = bundle / "params.bin"
    if not path.exists():
        return None
    values = array.array("f")
    values.frombytes(path.read_bytes()[PARAMS_HEADER:])
    wrong = 0
    for value in values:
        count = int(-value)
        for _ in range(EPOCHS):
            wrong += count % 4 != 1
            count //= 4
        wrong += count != 0
    return wrong


class Job:
    """Use it in a `with` statement: at its end no process of the job lives."""

    def __init__(self, build, directory, strategy, *, on_failure="stop", fault=None, proxy=False, clock_jumps=False,
                 step_ms=STEP_MS, timeout_s=30):
        self.strategy = strategy
        self.bundle = pathlib.Path(directory) / "run"
        self.workers = WORKERS.get(strategy, 3)
        self.log = pathlib.Path(directory) / "stderr"
        self._mark = f"RINGSIDE_FAULT_JOB={uuid.uuid4()}"
        self._environment = os.environ | {"RINGSIDE_LEDGER_STEP_MS": str(step_ms)}
        name, value = self._mark.split("=")
        self._environment[name] = value
        self._struck = pathlib.Path(directory) / "struck"
        self._environment["RINGSIDE_FAULT_ONCE"] = str(self._struck)
        if fault:
            self._environment["RINGSIDE_FAULT"] = fault
        self.proxy = FaultProxy(directory, member_names(self.processes)) if proxy else None
        if self.proxy:
            self._environment["RINGSIDE_FAULT_PROXY"] = self.proxy.path
        shims = [name for name, wanted in (("connect", proxy), ("clock", clock_jumps)) if wanted]
        if shims:
            self._environment["LD_PRELOAD"] = " ".join(str(build / "bin" / f"libringside_{name}_shim.so") for name in shims)
            # A shim comes before the sanitizer, which does not mind.
            self._environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"
        self._command = [
            str(build / "bin" / "fault_program"), "train", "--strategy", strategy, "--workers", str(self.workers),
            "--model", "ledger", "--data", "ledger", "--epochs", str(EPOCHS), "--global-batch", "8", "--lr", "8",
            "--bucket-mb", "0", "--checkpoint-every", "4", "--save-params", "--timeout", f"{timeout_s}s",
            "--on-failure", on_failure, "--quiet", "--out", str(self.bundle), *FLAGS.get(strategy, [])]

    def __enter__(self):
        if self.proxy:
            self.proxy.__enter__()
        self.begin = time.time()
        with open(self.log, "w") as log:
            self._launcher = subprocess.Popen(self._command, cwd=ROOT, env=self._environment, stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        self._launcher.kill()
        self._launcher.wait()
        for pid in living(self._mark):
            self.signal_pid(pid, signal.SIGKILL)
        if self.proxy:
            self.proxy.__exit__()

    def struck(self):
        """When the planned fault happened, by time.time(); 0: not yet."""
        return self._struck.stat().st_mtime if self._struck.exists() else 0

    @property
    def launcher_pid(self):
        return self._launcher.pid

    def processes(self):
        try:
            return json.loads((self.bundle / "processes.json").read_text())
        except (OSError, ValueError):
            return []  # not written yet

    def pid(self, member):
        return next(row["pid"] for row in self.processes() if row["name"] == member)

    def steps(self):
        try:
            return (self.bundle / "metrics.jsonl").read_text().count('"kind":"step"')
        except OSError:
            return 0  # not written yet

    def wait_for_steps(self, steps):
        end = time.monotonic() + 30
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
        return living(self._mark)

    def processes_left(self):
        """A text for each."""
        return [f"process {pid} lives" for pid in self.living()]

    def files_left(self):
        """A text for each temporary file."""
        return [f"temporary file {path.name} is left" for path in self.bundle.rglob("*.tmp*")]

"""Limits of what one process gets, by control groups."""
import os
import pathlib
import time

ALL_GROUPS = pathlib.Path("/sys/fs/cgroup")


class Limit:
    """A control group with a limit. Use it in a `with` statement. Raises OSError where the machine has no such limits, or they
    belong to somebody else.

    The first version of control groups has a folder for each kind of limit, the second has one. `settings`: for each version, the
    files and what is written there."""

    def __init__(self, kind, name, settings):
        self._folder = None
        error = OSError(f"there are no control groups for {kind}")
        for root, files in zip((ALL_GROUPS / kind, ALL_GROUPS), settings):
            folder = root / f"ringside-{os.getpid()}-{name}"
            try:
                folder.mkdir()
            except OSError as why:
                error = why
                continue
            try:
                for file, text in files:
                    _set(folder / file, text)
            except OSError as why:
                folder.rmdir()
                error = why
                continue
            self._root, self._folder = root, folder
            return
        raise error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()
        end = time.time() + 10
        while True:
            try:
                return self._folder.rmdir()
            except OSError:  # who was killed is in it until its parent has asked how it ended
                if time.time() > end:
                    raise
            time.sleep(0.01)

    def hold(self, pid):
        """All threads of the process together get only this much from now on."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    def release(self):
        """Whoever is held and still lives is no longer limited."""
        for pid in self._file("cgroup.procs").split():
            try:
                (self._root / "cgroup.procs").write_text(pid)
            except ProcessLookupError:
                pass  # it has ended

    def _file(self, name):
        return (self._folder / name).read_text()


class ProcessorLimit(Limit):
    """A share of one processor."""

    PERIOD_US = 100_000
    LEAST_US = 1000  # the kernel gives no less in a period

    def __init__(self, name, share):
        period = max(self.PERIOD_US, int(self.LEAST_US / share))
        quota = max(self.LEAST_US, int(period * share))
        super().__init__("cpu", name, (
            (("cpu.cfs_period_us", period), ("cpu.cfs_quota_us", quota)),
            (("cpu.max", f"{quota} {period}"),)))

    def held_back(self):
        """How often somebody had to wait for its share: whether the limit was in force."""
        fields = dict(line.split() for line in self._file("cpu.stat").splitlines())
        return int(fields["nr_throttled"])


class MemoryLimit(Limit):
    """So many bytes more than whoever is held has already. The kernel kills who takes more."""

    def __init__(self, name, size):
        super().__init__("memory", name, (
            (("memory.limit_in_bytes", size), ("memory.swappiness", 0)),
            (("memory.max", size), ("memory.swap.max", 0))))

    def kills(self):
        """How many processes the kernel has killed."""
        name = "memory.events" if (self._folder / "memory.events").exists() else "memory.oom_control"
        return int(dict(line.split() for line in self._file(name).splitlines())["oom_kill"])


def _set(path, value):
    """The kernel rounds, refuses or ignores what it does not like, so the file must have the value afterwards."""
    if not path.exists():
        raise OSError(f"there is no {path}")
    path.write_text(str(value))
    in_force = path.read_text().strip()
    if in_force != str(value):
        raise OSError(f"{path} is {in_force} after {value} was written")


def no_processor_limit():
    """Why there can be no limit of processor time here; empty: there can."""
    return _why_not("the processor time", lambda: ProcessorLimit("try", 0.5))


def no_memory_limit():
    """The same for memory."""
    return _why_not("memory", lambda: MemoryLimit("try", 64 << 20))


def _why_not(what, make):
    try:
        with make():
            return ""
    except OSError as error:
        return f"a limit of {what} needs root and control groups ({error})"

"""A limit of the processor time of one process, by a control group."""
import os
import pathlib

PERIOD_US = 100_000
# The first version of control groups has a folder for each kind of limit, the second has one.
ROOTS = (pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup"))


class ProcessorLimit:
    """Use it in a `with` statement. Raises OSError where the machine has no such limits, or they belong to somebody else."""

    def __init__(self, name, share):
        quota = int(PERIOD_US * share)
        self._folder = None
        error = OSError("there are no control groups for processor time")
        for root in ROOTS:
            folder = root / f"ringside-{os.getpid()}-{name}"
            try:
                folder.mkdir()
            except OSError as why:
                error = why
                continue
            try:
                self._set(folder, quota)
            except OSError as why:
                folder.rmdir()
                error = why
                continue
            self._root, self._folder = root, folder
            return
        raise error

    @staticmethod
    def _set(folder, quota):
        if (folder / "cpu.cfs_quota_us").exists():
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (folder / "cpu.max").write_text(f"{quota} {PERIOD_US}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()
        self._folder.rmdir()

    def hold(self, pid):
        """All threads of the process together get only this share from now on."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    def release(self):
        """Whoever is held and still lives is no longer limited."""
        for pid in (self._folder / "cgroup.procs").read_text().split():
            try:
                (self._root / "cgroup.procs").write_text(pid)
            except ProcessLookupError:
                pass  # it has ended

    def held_back(self):
        """How often somebody had to wait for its share: whether the limit was in force."""
        fields = dict(line.split() for line in (self._folder / "cpu.stat").read_text().splitlines())
        return int(fields["nr_throttled"])


def why_not():
    """Why there can be no such limit here; empty: there can."""
    try:
        with ProcessorLimit("try", 0.5):
            return ""
    except OSError as error:
        return f"a limit of the processor time needs root and control groups ({error})"

"""A member that gets too little of a processor: who says so, and how much memory a slow server takes meanwhile."""
import pathlib
import re

MODEL_BYTES = 3 * 96 * 4  # of the ledger
# A server may keep so many pushes of each worker: those of a step that it has not applied, its answers, and one more of both.
KEPT = 4
ALLOCATOR_BYTES = 8 << 20  # an allocator takes memory in pieces of this size at most


class Memory:
    """The most memory that a process has ever had: at first and at the last look."""

    def __init__(self, pid):
        self._path = pathlib.Path(f"/proc/{pid}/status")
        self.at_rest = self.most = self._peak()

    def look(self):
        self.most = max(self.most, self._peak())

    def _peak(self):
        try:
            return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", self._path.read_text())[1])
        except (OSError, TypeError):
            return 0  # it has ended


def bound_of(memory, workers):
    return memory.at_rest + KEPT * workers * MODEL_BYTES + ALLOCATOR_BYTES


def takes_too_much(job):
    """Workers may not fill the memory of a slow server with pushes."""
    memory = job.remembered["memory"]
    bound = bound_of(memory, job.workers)
    return [f"the server took {memory.most} bytes, more than {bound}"] if memory.most > bound else []


def is_named(job, member):
    return f"warning: {member} " in job.log.read_text(errors="replace")


def not_named(member, strategies):
    """Under these strategies the others wait for a slow worker, so the launcher must name it."""
    def wrong(job):
        wanted = job.strategy in strategies
        return [f"no warning names {member}: {job.text()}"] if wanted and not is_named(job, member) else []
    return wrong

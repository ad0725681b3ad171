"""What processes have from the kernel and may leave behind: network namespaces, shared memory, processes.

Network namespaces and memory of Ringside have no names: they live as long as somebody holds them, by a process, a descriptor,
a mapping or a mount. So their holders are looked for, not files.

Other jobs may run on the machine. Theirs is what belongs to a living process that something older than this process has
started.
"""
import collections
import dataclasses
import os
import pathlib
import re
import time

PROC = pathlib.Path("/proc")
SHARED_MEMORY = pathlib.Path("/dev/shm")
# Names of `MemoryRegion` (common/base), where it is a memfd.
MEMFD = re.compile(r"/memfd:(ringside\S*)")
# The same where it is a file without a name. What has got a name and is deleted looks so too.
UNNAMED = re.compile(r"/dev/shm/(\S+) \(deleted\)")
NAMESPACE = re.compile(r"net:\[(\d+)\]")
# A folder of `PrivateFile` (experiments/system/files): its maker.
PRIVATE = re.compile(r"ringside-\d+-\d+-(\d+)-\w+")
INIT = 1
SETTLED_S = 2  # the kernel, and processes of others, may take so long to let go

PROCESS = "process"
NET_NAMESPACE = "network namespace"
MEMORY = "shared memory without a name"
SEGMENT = "System V segment"
FILE = "file"
KINDS = (PROCESS, NET_NAMESPACE, MEMORY, SEGMENT, FILE)


@dataclasses.dataclass(frozen=True)
class Thing:
    """Two are the same if kind and identity are."""
    kind: str
    identity: str
    detail: str = dataclasses.field(default="", compare=False)

    def text(self):
        return f"{self.kind} {self.identity}" + (f" ({self.detail})" if self.detail else "")


def read(path):
    """The text; empty if the process has ended, or is not ours."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def command_of(pid):
    return read(PROC / str(pid) / "comm").strip()


def stat_of(pid):
    """From its state on; empty: it has ended."""
    return read(PROC / str(pid) / "stat").rsplit(")", 1)[-1].split()


def age_of(pid):
    """How long a process has lived, in seconds; 0: it has ended."""
    fields = stat_of(pid)
    ticks = os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / ticks if len(fields) > 19 else 0


def is_of_others(pid):
    """Whether it lives and an older process than this one has started it. What lost its parent belongs to init, so it may be ours."""
    while pid != os.getpid():
        fields = stat_of(pid)
        if not fields:
            return False
        parent = int(fields[1])
        if parent in (0, INIT):
            return age_of(pid) > age_of(os.getpid())
        pid = parent
    return False


def pids():
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]


def living(mark):
    """The processes with this text in their environment, without dead ones that nobody has waited for."""
    found = []
    for pid in pids():
        if mark in read(PROC / str(pid) / "environ"):
            fields = stat_of(pid)
            if fields and fields[0] != "Z":
                found.append(pid)
    return found


def links_of(pid):
    """The target of each open file, with its path."""
    folder = PROC / str(pid) / "fd"
    try:
        return [(link(folder / name), folder / name) for name in os.listdir(folder)]
    except OSError:
        return []  # it has ended, or is not ours


def threads_of(pid):
    try:
        return os.listdir(PROC / str(pid) / "task")
    except OSError:
        return []  # it has ended


def namespaces_of(pid):
    """Network namespaces that a process is in, any of its threads, or that it has open: their numbers."""
    texts = [link(PROC / str(pid) / "ns" / "net"), *(text for text, _ in links_of(pid))]
    # A thread may be in another one than its process.
    texts += [link(PROC / str(pid) / "task" / thread / "ns" / "net") for thread in threads_of(pid)]
    return {found[1] for text in texts if (found := NAMESPACE.fullmatch(text))}


def mounted_namespaces():
    """By their number: where they are mounted. `ip netns add` does that, too."""
    found = {}
    for line in read(PROC / "self" / "mountinfo").splitlines():
        fields, _, source = line.partition(" - ")
        if source.split()[0] == "nsfs" and (number := NAMESPACE.fullmatch(fields.split()[3])):
            found[number[1]] = fields.split()[4]
    return found


def memory_of(pid):
    """Shared memory without a name that a process has open or mapped: names by inode."""
    found = {}
    for text, path in links_of(pid):
        if name := MEMFD.match(text) or UNNAMED.match(text):
            try:
                found[str(path.stat().st_ino)] = name[1]
            except OSError:
                continue  # closed meanwhile
    for line in read(PROC / str(pid) / "maps").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and (name := MEMFD.match(fields[5]) or UNNAMED.match(fields[5])):
            found[fields[4]] = name[1]
    return found


def segments(creators=None):
    """System V segments. They need no process. `creators`: only those that these processes have made; absent: not of others."""
    found = set()
    for line in read(PROC / "sysvipc" / "shm").splitlines()[1:]:
        fields = line.split()
        creator = int(fields[4])
        if creator in creators if creators is not None else not is_of_others(creator):
            found.add(Thing(SEGMENT, fields[1], f"{fields[3]} bytes, made by process {fields[4]}"))
    return found


def files():
    """The names outside of a job's own directory that it may leave behind."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    homes = [SHARED_MEMORY, pathlib.Path(runtime) / "ringside" if runtime else pathlib.Path(f"/tmp/ringside-{os.getuid()}")]
    found = [path for home in homes if home.is_dir() for path in home.iterdir()]
    return {Thing(FILE, str(path)) for path in found
            if not ((maker := PRIVATE.fullmatch(path.name)) and is_of_others(int(maker[1])))}


def held_by(processes):
    """Namespaces and memory without a name that these processes hold."""
    holders = collections.defaultdict(list)
    for pid in processes:
        for number in namespaces_of(pid):
            holders[NET_NAMESPACE, number, ""].append(pid)
        for inode, name in memory_of(pid).items():
            holders[MEMORY, inode, f"{name}, "].append(pid)
    return {Thing(kind, identity, f"{name}held by " + ", ".join(f"{command_of(pid)} {pid}" for pid in holding[:3]))
            for (kind, identity, name), holding in holders.items()}


def processes_with(mark):
    return {Thing(PROCESS, str(pid), command_of(pid)) for pid in living(mark)}


def in_use(mark):
    """Everything of these kinds on this machine that is not of others; of processes those with the mark."""
    marked = set(living(mark))
    found = processes_with(mark) | held_by(pid for pid in pids() if pid in marked or not is_of_others(pid)) | segments() | files()
    known = {thing.identity for thing in found if thing.kind == NET_NAMESPACE}
    return found | {Thing(NET_NAMESPACE, number, f"mounted at {path}") for number, path in mounted_namespaces().items()
                    if number not in known}


def of_job(mark, creators):
    """What can be told to be one job's while others run: what its processes hold, and what they have made."""
    own = namespaces_of(os.getpid())
    held = {thing for thing in held_by(living(mark)) if thing.kind != NET_NAMESPACE or thing.identity not in own}
    return processes_with(mark) | held | segments(creators)


def texts(things):
    return [f"{thing.text()} is left" for thing in sorted(things, key=lambda thing: (KINDS.index(thing.kind), thing.identity))]


def left(look, before=frozenset()):
    """What `look` still finds after a while and `before` did not have: a text for each."""
    end = time.monotonic() + SETTLED_S
    while (found := look() - before) and time.monotonic() < end:
        time.sleep(0.05)
    return texts(found)


def counts(things):
    """How many there are of each kind."""
    return collections.Counter(thing.kind for thing in things)

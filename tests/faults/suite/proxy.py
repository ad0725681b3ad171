"""A proxy between the processes of a job on one host, that harms what passes.

Processes reach it through `connect_shim.cc`. A connection carries units: frames where both sides speak the protocol of
`--ps-transport tcp` (paramserver/wire), else what one read brings. A `Harm` says what happens to the units of which
connections.
"""
import contextlib
import dataclasses
import os
import pathlib
import select
import socket
import struct
import threading
import time

from suite.ports import inode_of, inodes_of, listener_of

GREETING = 44  # of both sides of a connection of --ps-transport tcp or grpc
FRAMES_MAGIC, GRPC_MAGIC = b"RSTC", b"RSGC"
PROOF_AT = 12  # in a greeting; until its end
HEADER = 56
PAYLOAD_AT = 48  # the length of the payload in a header, 32 bits
CHUNK = 1 << 16
LONGEST_SWAP_S = 0.5  # a unit that no other one follows for so long keeps its place
SWAP_LOOK_S = 0.002
LONGEST_HOLD_S = 60
KIND_AT, PUSH = 6, 1  # of a frame, 16 bits
LAUNCHER = "launcher"  # its port is the coordinator's
NOBODY = "nobody"  # of a port on which no process listens


class Flow:
    """One connection: the member that has made it, and the member whose port it goes to."""

    def __init__(self, member_of, maker_pid, owner_pid):
        self._member_of = member_of
        self.pids = maker_pid, owner_pid
        self.greetings = {}  # by direction, where there are any

    # Asked for late, because a process connects before the launcher has written down who it is.
    @property
    def maker(self):
        return self._member_of(self.pids[0])

    @property
    def owner(self):
        return self._member_of(self.pids[1]) if self.pids[1] else NOBODY

    def of(self, member):
        return member in (self.maker, self.owner)

    def with_launcher(self):
        return self.of(LAUNCHER)


@dataclasses.dataclass
class Harm:
    """What happens to units of connections. "forward" is from the maker of the connection to the owner of the port."""
    action: str  # delay, silence, drop, duplicate, swap, flip, reset, cut, hold, note; of a greeting: forge
    chosen: object  # of a Flow and "forward" or "backward": bool
    skip: int = 0  # units that pass before
    once: bool = True  # one unit; else all that follow
    seconds: float = 0  # of a delay
    where: float = 0  # of a flip: the bit's place in the payload, from 0 to 1
    struck: float = 0  # when, by time.time(); 0: not yet
    ends: set = dataclasses.field(default_factory=set)  # members at both ends of the connections that it has struck
    overtaken: object = dataclasses.field(default_factory=threading.Event)  # of a swap: another unit has passed meanwhile; of a flip: it is done
    held: tuple = ()  # of a hold: the connection, and the push that waits there
    released: object = dataclasses.field(default_factory=threading.Event)  # of a hold: the push may go on
    noted: list = dataclasses.field(default_factory=list)  # of a note: units that have passed
    lock: object = dataclasses.field(default_factory=threading.Lock)

    def claims(self, flow, direction):
        if not self.chosen(flow, direction):
            return False
        with self.lock:
            if self.skip > 0:
                self.skip -= 1
                return False
            if self.struck and self.once:
                return False
            self.struck = self.struck or time.time()
            self.ends |= {flow.maker, flow.owner}
            return True

    def happened(self):
        if self.action == "hold":
            return bool(self.held)
        return self.struck and (self.action not in ("swap", "flip") or self.overtaken.is_set())

    def take_back(self):
        """The unit could not be harmed. Another one may be."""
        with self.lock:
            self.struck = 0
            self.ends.clear()


def read_exactly(source, count):
    data = bytearray()
    while len(data) < count:
        piece = source.recv(count - len(data))
        if not piece:
            break
        data += piece
    return bytes(data)


def flip_a_bit(frame, where):
    """Changes one bit of the payload: `where` is its place, from 0 to 1. Returns None for a frame without payload."""
    if len(frame) <= HEADER:
        return None
    changed = bytearray(frame)
    bit = 8 * HEADER + int(where * 8 * (len(frame) - HEADER))
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def reset(*sockets):
    """Ends connections as a machine does that knows nothing of them."""
    for one in sockets:
        try:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.shutdown(socket.SHUT_RD)  # a read under way holds the socket open
        except OSError:
            pass  # it has ended already
        one.close()


def end(*sockets):
    for one in sockets:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended already
        one.close()


class FaultProxy:
    """`member_of` names the member of a process id. Use it in a `with` statement."""

    def __init__(self, directory, member_of):
        self.path = str(pathlib.Path(directory) / "proxy")
        self._member_of = member_of
        self._harms = []
        self._lock = threading.Lock()
        self._expected = {}  # by the maker's port
        # Process ids and sockets by port, also of those that listen no longer, or to which nobody has connected.
        self._owners = {}
        self._sockets = set()
        self._ended = False
        self.broken = []  # what its own threads have failed by: then nobody knows what was harmed
        self.on_call = None  # of the port to which a process is about to connect, and who listens there; it waits meanwhile

    def __enter__(self):
        self._desk = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._desk.bind(self.path)
        self._desk.listen(256)
        self._door = socket.create_server(("127.0.0.1", 0), backlog=256)
        # The kernel takes no connection for a listener whose queue is full, as if nobody were there.
        self._hole = socket.create_server(("127.0.0.1", 0), backlog=0)
        self._plugs = [socket.socket(), socket.socket()]
        for plug in self._plugs:
            plug.setblocking(False)
            plug.connect_ex(self._hole.getsockname())
        for loop in (self._register, self._accept):
            self._start(loop)
        return self

    def __exit__(self, *_):
        self._ended = True
        with self._lock:
            sockets = list(self._sockets)
        end(self._desk, self._door, self._hole, *self._plugs, *sockets)

    def add(self, harm):
        with self._lock:
            self._harms.append(harm)
        return harm

    def harmed(self):
        """The members at both ends of all connections that were harmed."""
        with self._lock:
            return set().union(*(harm.ends for harm in self._harms))

    def _start(self, work, *arguments):
        def run():
            try:
                work(*arguments)
            except Exception as error:  # pylint: disable=broad-except
                if not self._ended:
                    self.broken.append(f"{type(error).__name__}: {error}")
        threading.Thread(target=run, daemon=True).start()

    def _register(self):
        while not self._ended:
            try:
                client, _ = self._desk.accept()
            except OSError:
                return  # the end
            try:
                with client:
                    pid, from_port, to_port = (int(number) for number in client.recv(64).split())
                    self._note_ports_of(pid)
                    owner = self._owner(to_port)
                    if self.on_call:
                        self.on_call(to_port, owner)
                    with self._lock:
                        self._expected[from_port] = (pid, to_port)
                    door = self._hole if self._is_silent(pid, to_port) else self._door
                    client.sendall(f"{door.getsockname()[1]}\n".encode())
            except (OSError, ValueError):
                continue  # the process was killed meanwhile

    def _note_ports_of(self, pid):
        """A process listens before it connects. It may close its port before anybody connects to it."""
        with contextlib.suppress(OSError):  # it has ended; its connection fails by itself
            inodes = inodes_of(pid)
            with self._lock:
                self._owners.update((port, (pid, inode)) for port, inode in inodes.items())

    def _owner(self, port):
        inode = inode_of(port)
        with self._lock:
            pid, socket_then = self._owners.get(port, (None, None))
        # Another process may have got the port of one that has ended.
        if pid is not None and inode in (None, socket_then):
            return pid
        if (pid := listener_of(port)) is not None:
            with self._lock:
                self._owners[port] = (pid, inode)
        return pid

    def _is_silent(self, maker_pid, to_port):
        """Whether a new connection cannot be made: its first packets would need both directions."""
        with self._lock:
            silent = [harm for harm in self._harms if harm.action == "silence" and harm.struck]
        if not silent:
            return False
        flow = Flow(self._member_of, maker_pid, self._owner(to_port))
        return any(harm.chosen(flow, direction) for harm in silent for direction in ("forward", "backward"))

    def _accept(self):
        while not self._ended:
            try:
                client, address = self._door.accept()
            except OSError:
                return  # the end
            self._start(self._carry, client, address[1])

    def _carry(self, client, from_port):
        with self._lock:
            pid, to_port = self._expected.pop(from_port, (None, None))
        if to_port is None:
            return reset(client)
        flow = Flow(self._member_of, pid, self._owner(to_port))
        try:
            server = socket.create_connection(("127.0.0.1", to_port))
        except OSError:
            return reset(client)
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._sockets |= {client, server}
        self._start(self._pump, flow, "backward", server, client)
        self._pump(flow, "forward", client, server)
        return None

    def _greet(self, flow, direction, source, sink):
        """Passes a server's or worker's greeting on. Returns whether frames follow."""
        magic = source.recv(len(FRAMES_MAGIC), socket.MSG_PEEK | socket.MSG_WAITALL)
        if magic not in (FRAMES_MAGIC, GRPC_MAGIC):
            return False
        greeting = read_exactly(source, GREETING)
        if self._claiming(flow, direction, greets=True):
            greeting = greeting[:PROOF_AT] + os.urandom(GREETING - PROOF_AT)
        flow.greetings[direction] = greeting
        sink.sendall(greeting)
        return magic == FRAMES_MAGIC

    @staticmethod
    def _read(framed, source):
        if not framed:
            return source.recv(CHUNK)
        header = read_exactly(source, HEADER)
        if len(header) < HEADER:
            return header
        return header + read_exactly(source, struct.unpack_from("<I", header, PAYLOAD_AT)[0])

    def _claiming(self, flow, direction, greets=False):
        with self._lock:
            harms = [harm for harm in self._harms if (harm.action == "forge") == greets]
        return next((harm for harm in harms if harm.claims(flow, direction)), None)

    @staticmethod
    def _is_followed(harm, source):
        """Waits until a unit can pass the one that is held: it follows here, or has passed on another connection of the two
        members. Returns whether it is here."""
        descriptor = source.fileno()
        if descriptor < 0:
            return False  # closed meanwhile
        poll = select.poll()  # select knows no descriptor above 1023
        poll.register(descriptor, select.POLLIN)
        end = time.monotonic() + LONGEST_SWAP_S
        while not harm.overtaken.is_set() and time.monotonic() < end:
            if poll.poll(SWAP_LOOK_S * 1000):
                return True
        return False

    @staticmethod
    def _flip(harm, unit):
        changed = flip_a_bit(unit, harm.where)
        if changed is None:
            harm.take_back()
            return unit
        harm.overtaken.set()
        return changed

    @staticmethod
    def _hold(harm, flow, unit):
        """Keeps a push until it is released. Whatever follows it on its connection waits, too."""
        if struct.unpack_from("<H", unit, KIND_AT)[0] != PUSH:
            return harm.take_back()
        harm.held = (flow, unit)
        harm.released.wait(LONGEST_HOLD_S)
        return None

    def _overtake(self, flow, direction, own):
        with self._lock:
            swaps = [harm for harm in self._harms if harm.action == "swap" and harm is not own]
        for harm in swaps:
            if harm.struck and harm.chosen(flow, direction):
                harm.overtaken.set()

    def _pump(self, flow, direction, source, sink):
        held = None
        try:
            framed = self._greet(flow, direction, source, sink)
            while unit := self._read(framed, source):
                harm = self._claiming(flow, direction)
                action = harm.action if harm else None
                if action == "delay":
                    time.sleep(harm.seconds)
                if action in ("reset", "cut"):
                    sink.sendall(unit[:len(unit) // 2])
                    return reset(source, sink) if action == "reset" else end(source, sink)
                if action in ("drop", "silence"):
                    continue
                if action == "hold":
                    self._hold(harm, flow, unit)
                if action == "note":
                    harm.noted.append(unit)
                if action == "flip":
                    unit = self._flip(harm, unit)
                if action == "swap":
                    if self._is_followed(harm, source):
                        held = unit
                        continue
                    if not harm.overtaken.is_set():
                        harm.take_back()
                sink.sendall(unit)
                self._overtake(flow, direction, harm)
                if action == "duplicate":
                    sink.sendall(unit)
                if held:
                    sink.sendall(held)
                    held = None
            if held:
                sink.sendall(held)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            end(source, sink)  # one side has ended the connection
        return None


def member_names(processes):
    """A function for `FaultProxy`: the member of a process id, by the content of processes.json. It is asked for each unit that
    passes, so it reads the file only for a process that it does not know yet."""
    known = {}

    def name(pid):
        if pid not in known:
            known.update((row["pid"], row["name"]) for row in processes())
        return known.get(pid, LAUNCHER)
    return name

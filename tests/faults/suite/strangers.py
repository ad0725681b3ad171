"""Strangers at every open port of a job: what they say, and how soon the job ends their connections."""
import contextlib
import dataclasses
import re
import resource
import select
import socket
import struct
import time

from suite.job import FIRST_STEPS, ROOT, STEPS
from suite.ports import ports_of, whole_connections
from suite.proxy import LAUNCHER

PROTOCOL = int(re.search(r"kProtocol = (\d+)", (ROOT / "paramserver/wire/wire.h").read_text())[1])
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))  # an empty frame of HTTP/2
AT_EACH_PORT = 8  # strangers with garbage
LOOK_S = 0.02
DRIP_S = 1  # between two bytes

LONGEST_S = 10  # a connection may live so long
STEPS_LATER = 3  # the job has done when it has closed the last connection
# It still runs when it must have done that.
STEP_MS = 1000 * (LONGEST_S + 7) // (STEPS - FIRST_STEPS)

FLOOD = 1000  # idle connections
OPEN_FILES = 1024  # of each process of the job
OWN_FILES = 8 * FLOOD  # that the suite needs for them, and for other jobs at the same time
AT_START_S = 1  # ports that open later are not flooded at the start
MOST_SENT_AWAY = 0.1  # of the strangers: more would try nothing
MPIRUN = "mpirun"  # its ports are its own affair


def garbage(random):
    frame = struct.pack("<IHHIIIHHqqqII", 0x53505352, PROTOCOL, 1, 1, 0, 0, 0, 0, 0, 0, 0, (2 << 30) - 57, 0)
    return random.choice([
        random.randbytes(random.randint(1, 4096)),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        PREFACE + random.randbytes(200),
        frame + random.randbytes(100),
        b"RSTC" + random.randbytes(40),
        b"",
    ])


@dataclasses.dataclass
class Stranger:
    member: str  # whose port it is
    port: int
    what: str
    says: bytes  # at once
    drips: bytes = b""  # a byte at a time, again and again
    every_s: float = DRIP_S
    socket: object = None
    since: float = 0
    closed: bool = False  # by the job, or refused
    sent_away: bool = False  # the job never had it
    lived_s: float = 0  # its connection, so far
    said: int = 0  # bytes that dripped

    def knock(self):
        self.since = time.monotonic()
        try:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=1)
            self.socket.setblocking(False)
            self.socket.send(self.says)
        except OSError:
            self.closed = True

    def leave(self):
        if self.socket:
            self.socket.close()

    def look(self):
        """Says the next byte if it is time, and sees whether the connection is closed."""
        self.lived_s = time.monotonic() - self.since
        try:
            if self.drips and self.lived_s >= (self.said + 1) * self.every_s:
                self.socket.send(self.drips[self.said % len(self.drips):][:1])
                self.said += 1
            while self.socket.recv(1 << 16):
                pass
            self.closed = True
        except BlockingIOError:
            pass  # it is open, and silent
        except OSError:
            self.closed = True

    def is_in(self, connections):
        return (self.port, self.socket.getsockname()[1]) in connections

    def text(self):
        return f"a connection to port {self.port} of {self.member} ({self.what})"


def strangers_at(member, port, random):
    kinds = [("garbage, and more without end", garbage(random), b"\x01", LOOK_S) for _ in range(AT_EACH_PORT)]
    kinds += [("garbage, then silence", garbage(random), b"", 0) for _ in range(AT_EACH_PORT)]
    kinds += [("silence", b"", b"", 0),
              ("the preface of HTTP/2, then silence", PREFACE, b"", 0),
              ("the preface and the settings of HTTP/2, then silence", PREFACE + SETTINGS, b"", 0),
              ("the preface of HTTP/2, a byte per second", b"", PREFACE + SETTINGS, DRIP_S),
              ("a greeting, a byte per second", b"", b"RSTC" + random.randbytes(40), DRIP_S),
              ("settings of HTTP/2, a byte per second", PREFACE + SETTINGS, SETTINGS, DRIP_S)]
    return [Stranger(member, port, *kind) for kind in kinds]


def members_of(job):
    return [(LAUNCHER, job.launcher_pid), *((row["name"], row["pid"]) for row in job.processes() if row["name"] != MPIRUN)]


def open_ports(job):
    """Each TCP port of the job, and whose it is."""
    found = []
    for member, pid in members_of(job):
        with contextlib.suppress(FileNotFoundError):  # the process has ended
            found += [(member, port) for port in sorted(ports_of(pid))]
    return found


def knock(job, random):
    """They come to every open port of the job. It waits until the job has closed all connections, or is late."""
    job.wait_for_steps(FIRST_STEPS)
    now = time.time()
    for member, port in open_ports(job):
        job.strangers += strangers_at(member, port, random)
    for stranger in job.strangers:
        stranger.knock()
    # Later than the bound, so that the report says how late it was.
    while (inside := [one for one in job.strangers if not one.closed]) and time.time() < now + LONGEST_S + 2:
        if job.finish(LOOK_S) is not None:
            break
        for stranger in inside:
            stranger.look()
    for stranger in job.strangers:
        stranger.leave()
    # Else the end of the job may have closed them.
    job.wait_for_steps(job.steps() + STEPS_LATER)
    return now if job.strangers else 0


# --- Many idle connections.

def no_flood():
    """Raises the suite's own limit of open files. Returns why it cannot have so many connections; empty: it can."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != most < OWN_FILES:
        return f"the suite may open {most} files, and needs {OWN_FILES}"
    if resource.RLIM_INFINITY != now < OWN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (OWN_FILES, most))
    return ""


def idle(ports, count):
    """So many strangers, spread over the ports."""
    return [Stranger(*ports[number % len(ports)], "silence", b"") for number in range(count)]


def closes(waiting, limit_s):
    """Waits until the job has closed one of the connections, or more, and looks at them. `waiting`: strangers by descriptor."""
    poll = select.poll()
    for descriptor in waiting:
        poll.register(descriptor, select.POLLIN)
    for descriptor, _ in poll.poll(1000 * limit_s):
        waiting[descriptor].look()


def send_away(strangers):
    """Strangers that wait at a port whose queue is full leave. The kernel drops the last packet of their handshake, and they alone believe
    that they are connected. No process of the job knows of them, so none can end that."""
    outside = [one for one in strangers if not one.closed]
    for _ in range(2):  # the kernel may skip a row while others come and go
        connections = set(whole_connections())
        outside = [one for one in outside if not one.is_in(connections)]
    for stranger in outside:
        stranger.look()  # the job may have closed it meanwhile
        if not stranger.closed:
            stranger.leave()
            stranger.closed = stranger.sent_away = True


def wait_until_closed(job, end):
    send_away(job.strangers)
    while (inside := {one.socket.fileno(): one for one in job.strangers if not one.closed}) and time.time() < end:
        if job.finish(0) is not None:
            break
        closes(inside, LOOK_S)
        for stranger in inside.values():
            if stranger.drips:
                stranger.look()
        time.sleep(LOOK_S)
    for stranger in inside.values():
        stranger.look()
    for stranger in job.strangers:
        stranger.leave()


def flood(job, _):
    job.wait_for_steps(FIRST_STEPS)
    now = time.time()
    job.strangers = idle(open_ports(job), FLOOD)
    for stranger in job.strangers:
        stranger.knock()
    wait_until_closed(job, time.time() + LONGEST_S + 2)
    # Else the end of the job may have closed them.
    job.wait_for_steps(job.steps() + STEPS_LATER)
    return now


def flood_the_start(job, random):
    """They come to each port as soon as it is open: some with garbage, and an equal share of idle ones to each port of a launcher and all
    members."""
    now = time.time()
    share = FLOOD // (1 + job.workers)
    ports = set()
    while time.time() < now + AT_START_S:
        for member, port in open_ports(job):
            if port not in ports and len(job.strangers) < FLOOD:
                ports.add(port)
                own = strangers_at(member, port, random) + idle([(member, port)], share)
                job.strangers += own
                for stranger in own:
                    stranger.knock()
    wait_until_closed(job, time.time() + LONGEST_S + 2)
    job.wait_for_steps(max(FIRST_STEPS, job.steps() + STEPS_LATER))
    return now if job.strangers else 0


def judge(result, job, slack_s):
    """The job has closed each connection, and in time. It has had most of them."""
    sent_away = sum(stranger.sent_away for stranger in job.strangers)
    if sent_away > len(job.strangers) * MOST_SENT_AWAY:
        result.problems.append(f"{sent_away} of {len(job.strangers)} connections never came to the job: its ports did not take them")
    for stranger in job.strangers:
        if not stranger.closed:
            result.problems.append(f"{stranger.text()} was still open after {stranger.lived_s:.1f} s")
        elif stranger.lived_s > LONGEST_S + slack_s:
            result.problems.append(f"{stranger.text()} was closed after {stranger.lived_s:.1f} s, later than {LONGEST_S} s")
    result.seconds = max((stranger.lived_s for stranger in job.strangers), default=None)

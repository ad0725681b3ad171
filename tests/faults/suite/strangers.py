"""Strangers at every open port of a job: what they say, and how soon the job ends their connections."""
import dataclasses
import re
import socket
import struct
import time

from suite.job import FIRST_STEPS, ROOT, STEPS
from suite.ports import ports_of
from suite.proxy import LAUNCHER

PROTOCOL = int(re.search(r"kProtocol = (\d+)", (ROOT / "paramserver/wire/wire.h").read_text())[1])
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))  # an empty frame of HTTP/2
AT_EACH_PORT = 8  # strangers with garbage
LOOK_S = 0.02
DRIP_S = 1  # between two bytes

CLOSED_S = 9  # a connection may live so long
LOOK_BOUND_S = 1  # for the job's own looks at its guests
LONGEST_S = CLOSED_S + LOOK_BOUND_S
STEPS_LATER = 3  # the job has done when it has closed the last connection
# It still runs when it must have done that.
STEP_MS = 1000 * (LONGEST_S + 6) // (STEPS - FIRST_STEPS)


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


def knock(job, random):
    """They come to every open port of the job. It waits until the job has closed all connections, or is late."""
    job.wait_for_steps(FIRST_STEPS)
    members = [(LAUNCHER, job.launcher_pid), *((row["name"], row["pid"]) for row in job.processes())]
    now = time.time()
    for member, pid in members:
        for port in sorted(ports_of(pid)):
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


def judge(result, job, slack_s):
    """The job has closed each connection, and in time."""
    for stranger in job.strangers:
        if not stranger.closed:
            result.problems.append(f"{stranger.text()} was still open after {stranger.lived_s:.1f} s")
        elif stranger.lived_s > LONGEST_S + slack_s:
            result.problems.append(f"{stranger.text()} was closed after {stranger.lived_s:.1f} s, later than {LONGEST_S} s")
    result.seconds = max((stranger.lived_s for stranger in job.strangers), default=None)

"""The memory of a coordinator is bounded whatever a client opens and sends: calls without the job's token, and with it.

Usage: flood_test.py BUILD
"""
import os
import pathlib
import re
import secrets
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from suite.ports import free_port

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release").resolve()
MIB = 1 << 20
CONNECTIONS = 2
CALLS = 1000  # of each connection
CALLS_ADMITTED = 128  # of each connection, at a time
MESSAGE_BYTES = 4_000_000
SENT_WITH_TOKEN = 256 << 10  # bytes of each message: all of 256 messages would be a gigabyte
UNREAD_OF_A_CALL = 64 << 10
MOST_UNREAD = 64 * MIB
# The coordinator reads the message of a call with the token. The calls themselves take as much again at most.
MOST_READ = 2 * CONNECTIONS * CALLS_ADMITTED * SENT_WITH_TOKEN
LISTENS_WITHIN_S = 60
QUIET_S = 1  # nothing more can be sent when nothing has come for so long
LONGEST_S = 60

# HTTP/2: types of frames, flags and settings.
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE = 3, 4
FIRST_WINDOW = 65535
LONGEST_FRAME = 16384
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header_block(fields):
    """Each field as a literal without an index (RFC 7541, 6.2.2)."""
    block = b""
    for name, value in fields:
        block += b"\x00" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()
    return block


class Flood:
    """A connection that begins many calls of a method, sends the same bytes in each, and ends none. It does what the coordinator's
    settings and windows of HTTP/2 allow, as soon as they do."""

    def __init__(self, port, token, method, head, bytes_of_a_call):
        """`head`: the first bytes of each call. The others are zeros."""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)
        fields = [(":method", "POST"), (":scheme", "http"), (":path", f"/ringside.job.CoordinatorService/{method}"),
                  (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers")]
        if token:
            fields.append(("ringside-token", token))
        self.unsent = PREFACE + frame(SETTINGS, 0, 0, b"")
        self.block = header_block(fields)
        self.head = head
        self.bytes_of_a_call = bytes_of_a_call
        self.received = b""
        self.begun = 0
        self.window = FIRST_WINDOW
        self.first_window = FIRST_WINDOW  # of a call
        self.most_open = 0  # calls at a time; 0 until the coordinator has sent its settings
        self.windows = {}  # of the calls that are open, by stream
        self.sent = {}  # bytes of each of them
        self.last_news = time.monotonic()
        self.ended = False

    def step(self):
        """Reads and sends what is possible without waiting."""
        try:
            while chunk := self.socket.recv(1 << 16):
                self.received += chunk
            self.ended = True
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True
        while len(self.received) >= 9:
            length = int.from_bytes(self.received[:3], "big")
            if len(self.received) < 9 + length:
                break
            kind, flags, stream = struct.unpack(">BBI", self.received[3:9])
            self.take(kind, flags, stream & 0x7FFFFFFF, self.received[9:9 + length])
            self.received = self.received[9 + length:]
        if not self.unsent:
            self.fill()
        try:
            sent = self.socket.send(self.unsent) if self.unsent else 0
            self.unsent = self.unsent[sent:]
            if sent:
                self.last_news = time.monotonic()
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            self.most_open = self.most_open or CALLS
            for name, value in struct.iter_unpack(">HI", payload):
                if name == INITIAL_WINDOW_SIZE:
                    for one in self.windows:
                        self.windows[one] += value - self.first_window
                    self.first_window = value
                elif name == MAX_CONCURRENT_STREAMS:
                    self.most_open = value
            self.unsent += frame(SETTINGS, ACK, 0, b"")
        elif kind == PING and not flags & ACK:
            self.unsent += frame(PING, ACK, 0, payload)
        elif kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big")
            if stream == 0:
                self.window += more
            elif stream in self.windows:
                self.windows[stream] += more
        elif kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM):
            self.windows.pop(stream, None)
        elif kind == GOAWAY:
            self.ended = True

    def fill(self):
        """Prepares the next bytes of each call, and the next call."""
        if self.begun < CALLS and len(self.windows) < self.most_open:
            stream = 2 * self.begun + 1
            self.begun += 1
            self.windows[stream] = self.first_window
            self.sent[stream] = 0
            self.unsent += frame(HEADERS, END_HEADERS, stream, self.block)
        for stream, window in self.windows.items():
            size = min(window, self.window, LONGEST_FRAME, self.bytes_of_a_call - self.sent[stream])
            if size <= 0:
                continue
            content = self.head[self.sent[stream]:][:size].ljust(size, b"\x00")
            self.sent[stream] += size
            self.windows[stream] -= size
            self.window -= size
            self.unsent += frame(DATA, 0, stream, content)

    @property
    def is_quiet(self):
        return self.ended or time.monotonic() - self.last_news > QUIET_S


def head_of(length):
    """What gRPC puts before a message."""
    return b"\x00" + length.to_bytes(4, "big")


def resident_bytes(pid):
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) << 10


class FloodedCoordinator(unittest.TestCase):
    def setUp(self):
        """Rank 0 of two, which hosts the coordinator and waits for the other one."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.token = secrets.token_hex(32)
        token_file = folder / "token"
        token_file.touch(0o600)
        token_file.write_text(self.token)
        self.port = free_port()
        variables = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1",
                     "MASTER_PORT": str(self.port), "RINGSIDE_TOKEN_FILE": str(token_file)}
        self.host = subprocess.Popen(
            [BUILD / "bin" / "ringside", "train", "--strategy", "ring", "--model", "profile:small-tensors", "--steps", "1",
             "--start-timeout", "300s", "--out", folder / "out"],
            env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.host.wait)
        self.addCleanup(self.host.kill)
        end = time.monotonic() + LISTENS_WITHIN_S
        while time.monotonic() < end and not self.answers():
            time.sleep(0.05)

    def answers(self):
        self.assertIsNone(self.host.poll(), "rank 0 ended too early")
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def growth(self, *of_each):
        """By how much the memory of the coordinator grows at most, and the connections."""
        before = most = resident_bytes(self.host.pid)
        floods = [Flood(self.port, *of_each) for _ in range(CONNECTIONS)]
        end = time.monotonic() + LONGEST_S
        while not all(flood.is_quiet for flood in floods) and time.monotonic() < end:
            sockets = [flood.socket for flood in floods if not flood.ended]
            select.select(sockets, [flood.socket for flood in floods if flood.unsent and not flood.ended], [], 0.02)
            for flood in floods:
                if not flood.ended:
                    flood.step()
            most = max(most, resident_bytes(self.host.pid))
        for flood in floods:
            self.addCleanup(flood.socket.close)
        self.assertIsNone(self.host.poll(), "rank 0 ended")
        return most - before, floods

    def test_calls_without_the_token_take_little(self):
        growth, floods = self.growth("", "Set", head_of(MESSAGE_BYTES), MESSAGE_BYTES)
        self.assertLess(growth, MOST_UNREAD)
        for flood in floods:
            self.assertEqual(flood.begun, CALLS)

    def test_calls_with_the_token_take_what_a_few_messages_hold(self):
        growth, floods = self.growth(self.token, "Set", head_of(MESSAGE_BYTES), SENT_WITH_TOKEN)
        self.assertLess(growth, MOST_READ)
        for flood in floods:
            self.assertEqual(flood.begun, CALLS_ADMITTED)
            self.assertEqual(set(flood.sent.values()), {SENT_WITH_TOKEN})

    def test_what_follows_a_request_stays_with_the_client(self):
        request = b"\x0a\x03key"  # a GetRequest, for a key that nobody sets
        growth, floods = self.growth(self.token, "Get", head_of(len(request)) + request, MESSAGE_BYTES)
        self.assertLess(growth, MOST_UNREAD)
        for flood in floods:
            self.assertEqual(flood.begun, CALLS_ADMITTED)
            self.assertLessEqual(max(flood.sent.values()), 2 * UNREAD_OF_A_CALL)


if __name__ == "__main__":
    unittest.main()

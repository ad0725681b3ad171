"""The fault proxy itself: which new connections meet silence, which message is held back, and which bits flip."""
import fcntl
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

from suite.proxy import HEADER, FaultProxy, Harm, flip_a_bit

VICTIM, OTHER, THIRD, STRANGER = os.getppid(), os.getpid(), 1, 1 << 30
NAMES = {VICTIM: "worker 1", OTHER: "worker 0"}


def of_the_victim(flow, _):
    return flow.of("worker 1") and not flow.with_launcher()


class NewConnections(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.proxy = self.enterContext(FaultProxy(pathlib.Path(folder), lambda pid: NAMES.get(pid, "launcher")))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listener.close)
        self.port = self.listener.getsockname()[1]

    def ask(self, pid, to_port):
        """The port to which the proxy sends a connection of this process."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as desk:
            desk.settimeout(20)
            desk.connect(self.proxy.path)
            desk.sendall(f"{pid} 1 {to_port}\n".encode())
            return int(desk.recv(64))

    def silence(self):
        self.proxy.add(Harm("silence", of_the_victim, once=False, struck=time.time()))

    def test_those_of_the_victim_meet_it(self):
        door = self.ask(VICTIM, self.port)
        self.silence()
        self.assertNotEqual(self.ask(VICTIM, self.port), door)
        self.assertEqual(self.ask(STRANGER, self.port), door)

    def test_those_to_a_port_that_is_closed_meanwhile_meet_it(self):
        door = self.ask(OTHER, 1)  # the other has its port already, to which nobody has connected
        self.listener.close()
        self.silence()
        self.assertNotEqual(self.ask(VICTIM, self.port), door)

    def test_those_to_a_port_that_another_has_got_when_the_victim_has_ended_do_not(self):
        listens = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); input()"
        with subprocess.Popen([sys.executable, "-c", listens], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as victim:
            port = int(victim.stdout.readline())
            self.enterContext(mock.patch.dict(NAMES, {victim.pid: "worker 1", THIRD: "worker 2"}))
            door = self.ask(victim.pid, self.port)
            self.silence()
            self.assertNotEqual(self.ask(THIRD, port), door)
        self.assertNotEqual(self.ask(THIRD, port), door, "as long as nobody has got the port")
        with socket.create_server(("127.0.0.1", port)):
            self.assertEqual(self.ask(THIRD, port), door)

    def test_those_of_the_victim_to_a_port_that_nobody_has_ever_opened_meet_it(self):
        door = self.ask(OTHER, 1)
        self.silence()
        self.assertNotEqual(self.ask(VICTIM, 1), door)


class Order(unittest.TestCase):
    def test_a_unit_is_followed_on_a_descriptor_that_select_does_not_know(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2048), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        here, there = socket.socketpair()
        with here, there, socket.socket(fileno=fcntl.fcntl(there, fcntl.F_DUPFD, 1100)) as high:
            self.assertGreaterEqual(high.fileno(), 1100)
            self.assertFalse(FaultProxy._is_followed(Harm("swap", of_the_victim), high))
            here.sendall(b"next")
            self.assertTrue(FaultProxy._is_followed(Harm("swap", of_the_victim), high))

    def test_a_thread_that_fails_is_told(self):
        with tempfile.TemporaryDirectory() as folder, FaultProxy(pathlib.Path(folder), lambda pid: "launcher") as proxy:
            proxy._start(int, "no number")
            for _ in range(1000):
                if proxy.broken:
                    break
                time.sleep(0.01)
            self.assertEqual(proxy.broken, ["ValueError: invalid literal for int() with base 10: 'no number'"])


class Frames(unittest.TestCase):
    def test_one_bit_of_the_payload_flips(self):
        frame = bytes(HEADER + 4)
        for where, payload in ((0, "01000000"), (0.5, "00000100"), (0.999, "00000080")):
            self.assertEqual(flip_a_bit(frame, where), bytes(HEADER) + bytes.fromhex(payload))

    def test_a_frame_without_payload_stays(self):
        self.assertIsNone(flip_a_bit(bytes(HEADER), 0.5))


if __name__ == "__main__":
    unittest.main()

"""What another user of the machine can do to a job. Needs root, to become that user.

Usage: another_user_test.py BUILD
"""
import contextlib
import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

from suite.ports import free_port, ports_of

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release").resolve()
ANOTHER = 65534  # the user and the group "nobody"
JOBS = (
    ("ring",), ("shm",), ("hierarchical", "--hosts", "2"), ("ps-sync", "--ps-transport", "tcp"), ("ps-sync", "--ps-transport", "grpc"),
    ("ps-sync", "--ps-transport", "uds"), ("ps-sync", "--ps-transport", "shm"),
)
GREETINGS = (b"", os.urandom(200), b"RSTC" + bytes(40), b"RSGC" + bytes(40), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"RSPS" + bytes(52))
LISTENS_S = 0.5
AT_ONCE_S = 2  # less than a server gives a connection that says nothing, and less than the job lasts
ENDS_WITHIN_S = 180  # a job takes more than a minute under ThreadSanitizer
CROWD = 20  # connections of each kind
STEPS = 300
STEP_MS = 10


def abstract_names_of(pid):
    """The abstract Unix domain sockets on which this process listens: (type, name)."""
    inodes = set()
    for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(file))
        except OSError:
            continue  # closed meanwhile
    names = set()
    for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if len(fields) == 8 and fields[7].startswith("@") and int(fields[3], 16) & 0x10000 and f"socket:[{fields[6]}]" in inodes:
            names.add((int(fields[4], 16), "\0" + fields[7][1:]))
    return names


def as_another_user(action):
    """What `action` returns in a process of the other user, as JSON."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reader)
            os.setgroups([])
            os.setresgid(ANOTHER, ANOTHER, ANOTHER)
            os.setresuid(ANOTHER, ANOTHER, ANOTHER)
            with os.fdopen(writer, "w") as output:
                output.write(json.dumps(action()))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as source:
        text = source.read()
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError("the process of the other user failed")
    return json.loads(text)


def opened(paths):
    """Those of the paths that this user can read."""
    readable = []
    for path in paths:
        try:
            if os.path.isdir(path):
                os.listdir(path)
            else:
                with open(path, "rb"):
                    pass
            readable.append(path)
        except OSError:
            pass  # refused, as it should be; or it is gone, as an ended process is
    return readable


def greeted(stack, addresses):
    """A connection to every address for every greeting, which has been sent there."""
    callers = []
    for family, kind, address in addresses:
        for greeting in GREETINGS:
            caller = stack.enter_context(socket.socket(family, kind))
            caller.settimeout(2)
            try:
                caller.connect(tuple(address) if family == socket.AF_INET else address)
                callers.append(caller)
                if greeting:
                    caller.sendall(greeting)
            except OSError:
                continue  # refused, or closed at once
    return callers


def answers_of(addresses, listens_s=LISTENS_S):
    """Returns how many connections could be made, and all that came back. The end of a connection is an empty answer."""
    answers = []
    with contextlib.ExitStack() as stack:
        callers = greeted(stack, addresses)
        waiting = set(callers)
        end = time.monotonic() + listens_s
        while waiting and time.monotonic() < end:
            for caller in select.select(list(waiting), [], [], 0.05)[0]:
                try:
                    answer = caller.recv(1 << 16)
                except OSError:
                    answer = b""  # reset
                answers.append(answer.hex())
                if not answer:
                    waiting.remove(caller)
    return len(callers), answers


class AnotherUser(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.runtime = self.folder / "runtime"
        self.runtime.mkdir(mode=0o711)  # the other user may pass, so that only the job's own directory keeps it out
        os.chmod(self.folder, 0o711)

    def start(self, name, job, variables=(), step_ms=STEP_MS):
        return subprocess.Popen(
            [BUILD / "bin" / "ringside", "train", "--strategy", *job, "--workers", "2" if "--hosts" not in job else "4", "--model",
             "profile:small-tensors", "--steps", str(STEPS), "--compute-ms", str(step_ms), "--out", self.folder / name, "--quiet"],
            env=os.environ | {"XDG_RUNTIME_DIR": str(self.runtime)} | dict(variables), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def start_rank(self):
        """The first of two ranks that torchrun starts. It waits for the other one."""
        run = self.start("rank", ("ring",), {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
                                             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())})
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        return run

    def end(self, run, name):
        output, _ = run.communicate(timeout=ENDS_WITHIN_S)
        self.assertEqual(run.returncode, 0, output)
        return json.loads((self.folder / name / "summary.json").read_text())["params_sha256"]

    def wait_until(self, run, is_so):
        end = time.monotonic() + ENDS_WITHIN_S
        while not is_so():
            self.assertIsNone(run.poll(), "the job ended too early")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def members(self, run, name):
        """The processes of a job that trains."""
        metrics = self.folder / name / "metrics.jsonl"
        self.wait_until(run, lambda: metrics.exists() and '"kind":"step"' in metrics.read_text())
        return [run.pid, *(row["pid"] for row in json.loads((self.folder / name / "processes.json").read_text()))]

    def test_it_reads_nothing_and_changes_nothing(self):
        for job in JOBS:
            with self.subTest(job=" ".join(job)):
                undisturbed = self.end(self.start(f"calm {job}", job, step_ms=0), f"calm {job}")
                shared_memory = set(os.listdir("/dev/shm"))
                run = self.start(f"run {job}", job)
                self.addCleanup(run.kill)
                pids = self.members(run, f"run {job}")
                addresses = [(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port)) for pid in pids for port in ports_of(pid)]
                addresses += [(socket.AF_UNIX, *name) for pid in pids for name in abstract_names_of(pid)]
                secret = [f"/proc/{pid}/{file}" for pid in pids for file in ("environ", "mem", "fd")]
                self.assertEqual(set(os.listdir("/dev/shm")), shared_memory)
                self.assertEqual(opened(secret), secret)  # by their user
                readable, (made, answers) = as_another_user(lambda: (opened(secret), answers_of(addresses)))
                self.assertIsNone(run.poll(), "the job ended too early")
                self.assertEqual(readable, [])
                self.assertGreater(made, 0)
                self.assertNotIn(b"RSPS".hex(), "".join(answers))  # no frame
                self.assertEqual(self.end(run, f"run {job}"), undisturbed)

    def test_its_connections_over_a_unix_domain_socket_are_closed_at_once(self):
        for transport in ("uds", "shm"):
            with self.subTest(transport=transport):
                run = self.start(transport, ("ps-sync", "--ps-transport", transport), step_ms=2 * STEP_MS)
                self.addCleanup(run.kill)
                addresses = [(socket.AF_UNIX, *name) for pid in self.members(run, transport) for name in abstract_names_of(pid)]
                _, own = answers_of(addresses)
                made, answers = as_another_user(lambda: answers_of(addresses * CROWD, AT_ONCE_S))
                self.assertIsNone(run.poll(), "the job ended too early")
                self.assertEqual(made, len(addresses) * CROWD * len(GREETINGS))
                self.assertEqual(answers, [""] * made)
                if transport == "uds":
                    self.assertNotEqual("".join(own), "")  # gRPC begins with its settings
                self.end(run, transport)

    def test_it_cannot_enter_the_directory_of_the_token(self):
        directory = self.runtime / "ringside"
        run = self.start_rank()
        self.wait_until(run, lambda: directory.exists() and any(".tmp" not in path.name for path in directory.iterdir()))
        secret = [str(directory), *map(str, directory.iterdir())]
        self.assertEqual(opened(secret), secret)  # by their user
        self.assertEqual(as_another_user(lambda: opened(secret)), [])

    def test_what_it_has_planted_leads_nowhere(self):
        prey = self.folder / "prey"
        prey.mkdir()
        for directory in (self.runtime, prey):
            os.chmod(directory, 0o777)
        as_another_user(lambda: os.symlink(prey, self.runtime / "ringside"))
        run = self.start_rank()
        output, _ = run.communicate(timeout=ENDS_WITHIN_S)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(f"{self.runtime}/ringside: expected a directory of this user's, with mode 0700", output)
        self.assertEqual(list(prey.iterdir()), [])


if __name__ == "__main__":
    unittest.main()

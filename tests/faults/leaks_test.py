"""A leak of each kind is planted, and must be reported: by suite/leaks.py, by the whole suite, and by the soak.

usage: leaks_test.py     prints NOT HERE for what needs root
"""
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import uuid

import soak
from suite import leaks
from suite.job import DEFAULT_BUCKETS, Job

SUITE = pathlib.Path(__file__).with_name("fault_suite.py")
NAME = "ringside-planted"
# What the programs below begin with. Each makes something, says what it is called, and waits for its end.
BEGIN = f"""
import ctypes, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def must(result):
    if result == -1:
        sys.exit(os.strerror(ctypes.get_errno()))
    return result
def new_namespace():
    must(libc.unshare(0x40000000))
    return os.readlink("/proc/self/ns/net")[5:-1]
def new_memory():
    memory = os.memfd_create({NAME!r})
    os.ftruncate(memory, 4096)
    return memory
def tell(what):
    print(what, flush=True)
    time.sleep(600)
"""
IN_NAMESPACE = BEGIN + "tell(new_namespace())"
OPEN_NAMESPACE = BEGIN + """
own = os.open("/proc/self/ns/net", os.O_RDONLY)
number = new_namespace()
kept = os.open("/proc/self/ns/net", os.O_RDONLY)
must(libc.setns(own, 0))
tell(number)
"""
MOUNTED_NAMESPACE = BEGIN + """
number = new_namespace()
open(sys.argv[1], "w").close()
must(libc.mount(b"/proc/self/ns/net", sys.argv[1].encode(), None, 4096, None))
print(number)
"""
OPEN_MEMORY = BEGIN + "tell(os.stat(new_memory()).st_ino)"
MAPPED_MEMORY = BEGIN + """
memory = new_memory()
inode = os.stat(memory).st_ino
kept = mmap.mmap(memory, 4096)
os.close(memory)
os.closerange(3, 20)  # Python's mmap keeps a copy of the descriptor
tell(inode)
"""
UNNAMED_FILE = BEGIN + """
memory = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR, 0o600)
tell(os.stat(memory).st_ino)
"""
SEGMENT = BEGIN + "print(must(libc.shmget(0, 4096, 0o1600)))"
PROCESS = BEGIN + "tell(os.getpid())"
# A `fault_program` whose jobs leave everything behind: once where its mark tells whose it is, once where nothing does.
LEAKING_PROGRAM = f"""#!{sys.executable}
import os, subprocess, sys
def start(text, **environment):
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, start_new_session=True, **environment)
    with open({{ids!r}}, "a") as ids:
        print(child.pid, child.stdout.readline().strip(), file=ids)
start({{memory!r}})
start({{memory!r}}, env={{{{}}}})
start({{segment!r}})
open({{file!r}}, "w").close()
if os.geteuid() == 0:
    start({{namespace!r}})
    start({{namespace!r}}, env={{{{}}}})
"""


def remove_segment(identity):
    subprocess.run(["ipcrm", "-m", identity], check=True)


class Planting(unittest.TestCase):
    def setUp(self):
        self.mark = f"RINGSIDE_FAULT_JOB={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.environment = os.environ | {name: value}

    def plant(self, text, *words):
        """Starts one of the programs above. Returns it, and what it says."""
        program = subprocess.Popen([sys.executable, "-c", text, *words], env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, program)
        said = program.stdout.readline().strip()
        self.assertTrue(said, f"{text} says nothing")
        return program, said

    @staticmethod
    def end(program):
        program.kill()
        program.wait()
        program.stdout.close()

    def in_use(self):
        return leaks.in_use(self.mark)

    def reports(self, kind, identity, before):
        """What is reported must have the kind and the name of what was planted."""
        texts = leaks.left(self.in_use, before)
        found = [text for text in texts if text.startswith(f"{kind} {identity}")]
        self.assertEqual(len(found), 1, texts)
        return found[0]

    def is_gone(self, kind, identity):
        self.assertNotIn(leaks.Thing(kind, identity), self.in_use())

    def held(self, kind, text):
        """What a process holds is reported, by the whole machine and by the job, until the process ends."""
        before = self.in_use()
        program, identity = self.plant(text)
        self.assertIn(str(program.pid), self.reports(kind, identity, before))
        self.assertIn(leaks.Thing(kind, identity), leaks.of_job(self.mark, ()))
        self.end(program)
        self.is_gone(kind, identity)


class Kinds(Planting):
    def test_a_process(self):
        self.held(leaks.PROCESS, PROCESS)

    def test_memory_that_is_open_or_only_mapped(self):
        for text in (OPEN_MEMORY, MAPPED_MEMORY, UNNAMED_FILE):
            with self.subTest(text=text):
                self.held(leaks.MEMORY, text)

    def test_a_system_v_segment(self):
        before = self.in_use()
        program, identity = self.plant(SEGMENT)
        self.addCleanup(lambda: leaks.Thing(leaks.SEGMENT, identity) in self.in_use() and remove_segment(identity))
        self.end(program)
        self.assertIn(str(program.pid), self.reports(leaks.SEGMENT, identity, before))
        self.assertIn(leaks.Thing(leaks.SEGMENT, identity), leaks.of_job(self.mark, {program.pid}))
        self.assertNotIn(leaks.Thing(leaks.SEGMENT, identity), leaks.of_job(self.mark, {1}))
        remove_segment(identity)
        self.is_gone(leaks.SEGMENT, identity)

    def test_an_entry_of_dev_shm(self):
        before = self.in_use()
        with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix=NAME) as file:
            self.reports(leaks.FILE, file.name, before)
        self.is_gone(leaks.FILE, file.name)

    @unittest.skipUnless(os.geteuid() == 0, "NOT HERE: a network namespace needs root")
    def test_a_network_namespace_of_a_process_or_of_a_descriptor(self):
        for text in (IN_NAMESPACE, OPEN_NAMESPACE):
            with self.subTest(text=text):
                self.held(leaks.NET_NAMESPACE, text)

    @unittest.skipUnless(os.geteuid() == 0, "NOT HERE: a network namespace needs root")
    def test_a_network_namespace_that_is_only_mounted(self):
        before = self.in_use()
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/namespace"
            program, identity = self.plant(MOUNTED_NAMESPACE, path)
            self.end(program)
            try:
                self.assertIn(f"mounted at {path}", self.reports(leaks.NET_NAMESPACE, identity, before))
            finally:
                subprocess.run(["umount", path], check=True)
        self.is_gone(leaks.NET_NAMESPACE, identity)

    def test_what_was_there_before_is_no_leak(self):
        _, identity = self.plant(OPEN_MEMORY)
        self.assertNotIn(identity, "".join(leaks.left(self.in_use, self.in_use())))


class Users(Planting):
    def test_the_suite_names_each_thing_that_is_left(self):
        with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile(dir="/dev/shm", prefix=NAME) as file:
            ids = pathlib.Path(directory) / "ids"
            program = pathlib.Path(directory) / "bin" / "fault_program"
            program.parent.mkdir()
            program.write_text(LEAKING_PROGRAM.format(ids=str(ids), memory=OPEN_MEMORY, segment=SEGMENT, namespace=IN_NAMESPACE,
                                                      file=f"{file.name}-left"))
            program.chmod(0o700)
            for jobs in ("1", "2"):
                with self.subTest(jobs=jobs):
                    self.suite_names_all(directory, ids, file.name, jobs)

    def suite_names_all(self, directory, ids, file, jobs):
        outcome = subprocess.run([sys.executable, "-B", SUITE, "--build", directory, "--only", "worker-killed", "--strategies", "ring",
                                  "--jobs", jobs], capture_output=True, text=True, check=False)
        planted = [line.split() for line in ids.read_text().splitlines()]
        ids.unlink()
        try:
            marked_memory, memory, segment, *namespaces = planted
            self.assertEqual(outcome.returncode, 1)
            for kind, identity in ((leaks.PROCESS, marked_memory[0]), (leaks.MEMORY, marked_memory[1]), (leaks.MEMORY, memory[1]),
                                   (leaks.SEGMENT, segment[1]), (leaks.FILE, f"{file}-left"),
                                   *((leaks.NET_NAMESPACE, namespace[1]) for namespace in namespaces)):
                self.assertRegex(outcome.stdout, rf"WRONG: {kind} {identity}\b")
        finally:
            for pid, _ in planted:
                subprocess.run(["kill", "-9", pid], check=False, stderr=subprocess.DEVNULL)
            remove_segment(planted[2][1])
            os.unlink(f"{file}-left")

    def test_a_job_names_what_its_processes_hold(self):
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory) / "bin" / "fault_program"
            program.parent.mkdir()
            program.write_text(f"#!{sys.executable}\n" + textwrap.dedent(OPEN_MEMORY))
            program.chmod(0o700)
            with Job(pathlib.Path(directory), directory, "ring", buckets=DEFAULT_BUCKETS) as job:
                while NAME not in "".join(texts := job.things_left()):
                    self.assertIsNone(job.finish(0.01), job.text())
                self.assertEqual(len(texts), 2, texts)  # the process, and its memory
            self.assertEqual(job.things_left(), [])

    def test_the_soak_sees_what_grows_and_who_is_old(self):
        def look(**changed):
            figures = {figure: 1 for figure in soak.FIGURES if figure != "files"}
            return soak.Look(**(figures | {"open_files": ("3: socket:[1]",), "old_processes": ()} | changed))
        self.assertEqual(soak.judge([look()] * 9, []), [])
        leaks_of = {"old_processes": (4711,), "open_files": ("3: socket:[1]", "4: pipe:[2]")}
        for field in dataclasses.fields(soak.Look):
            leak = {field.name: leaks_of.get(field.name, 2)}
            with self.subTest(leak=leak):
                self.assertEqual(len(soak.judge([look()] * 6 + [look(**leak)] * 3, [])), 1)
        self.assertEqual(soak.judge([look()] * 6 + [look(open_files=leaks_of["open_files"])] * 3, []),
                         ["open files of the runner grew from 1 to 2: 3: socket:[1], 4: pipe:[2]"])

    def test_the_soak_keeps_the_least_of_each_sample(self):
        least = soak.Sample(5, 70, ("3: socket:[1]", "4: pipe:[2]")).least(soak.Sample(6, 60, ("3: socket:[1]",)))
        self.assertEqual(least, soak.Sample(5, 60, ("3: socket:[1]",)))

    def test_the_soak_wants_runs_that_have_started_again(self):
        once, again, resumed = ({"restarts": restarts, "first_step": step} for restarts, step in ((0, 0), (1, 0), (1, 8)))
        self.assertEqual(soak.judge_restarts([once, again, resumed]),
                         ("2 of 3 finished runs had started again, 1 of them from a checkpoint", []))
        for summaries in ([], [once], [once, again], [once, resumed]):
            with self.subTest(summaries=summaries):
                self.assertEqual(len(soak.judge_restarts(summaries)[1]), 1)

    def test_the_soak_lets_a_run_fail_only_by_a_strike(self):
        def failed(kind, restarts, error):
            return {"failure": {"kind": kind}, "restarts": restarts, "error": error}
        helper = failed("signal", 0, "/usr/sbin/tc was killed by signal 9")
        struck = failed("signal", 1, "worker 1 (pid 12) was killed by signal 9")
        later = failed("signal", 0, struck["error"] + "; the run cannot start again: " + helper["error"])
        self.assertEqual(soak.judge_failures([helper, struck, later])[1], [])
        for wrong in (failed("signal", 0, struck["error"]), failed("data", 1, "step-4.ckpt: is damaged"),
                      failed("missing backend", 0, "there is no tc: install iproute2"),
                      failed("missing backend", 0, "/usr/sbin/tc exited with code 1: RTNETLINK answers")):
            with self.subTest(wrong=wrong):
                self.assertEqual(len(soak.judge_failures([wrong])[1]), 1)

    def test_the_soak_shows_the_memory_of_each_minute(self):
        def look(memory_kib):
            return soak.Look(memory_kib, 0, 0, 0, 0, 0, (), ())
        self.assertEqual(soak.by_minute([look(30), look(20)] + [look(40)] * 11), "20, 40")


if __name__ == "__main__":
    unittest.main()

"""scripts/gpu_check.py without a GPU: what it computes, what it says, its exit codes. Programs that answer at once stand in for
Ringside and NCCL.

usage: gpu_check_test.py
RINGSIDE_STAND_INS: the folder of the stand-ins for CUDA and NCCL, if there are any.
"""
import ast
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))

import gpu_check  # noqa: E402
from gpu_check_parts import machine, plan, references, trace  # noqa: E402
from gpu_check_parts.runs import RunFailed, Runs, TimeIsOver  # noqa: E402

SIZES = {size: plan.SIZES[size] for size in (plan.MIB, 1024 * plan.MIB)}
FAKE = pathlib.Path(__file__).with_name("made_up_ringside.py")
GPU = {"name": "Made-up GPU", "driver_version": "1.0", "memory.total": "1 MiB", "compute_cap": "9.0", "pci.bus_id": "0"}


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path


class Overlap(unittest.TestCase):
    """Times are microseconds; a step lasts 100, 40 of them the forward pass."""

    def trace(self, *more, steps=5):
        events = [{"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "worker 0"}},
                  {"ph": "M", "name": "process_name", "pid": 8, "args": {"name": "server 0"}},
                  {"ph": "X", "name": "wire", "pid": 8, "ts": 0, "dur": 9999, "args": {"step": 0}}]
        for step in range(steps):
            events += [self.span("forward", step, 0, 40), self.span("backward", step, 40, 60)]
            events += [self.span(name, step, begin, duration) for name, begin, duration in more]
        return {"traceEvents": events}

    @staticmethod
    def span(name, step, begin, duration):
        return {"ph": "X", "name": name, "pid": 7, "ts": 100 * step + begin, "dur": duration, "args": {"step": step}}

    def of(self, *more, warmup=2):
        found = trace.workers_of(self.trace(*more), warmup)
        self.assertEqual(list(found), ["worker 0"], "servers are no workers")
        return found["worker 0"]

    def test_communication_within_the_backward_pass_overlaps(self):
        figures = self.of(("wire", 50, 20), ("wire", 60, 30))
        self.assertEqual(figures["steps"], 2)
        self.assertAlmostEqual(figures["communication_ms"], 0.040)
        self.assertAlmostEqual(figures["compute_ms"], 0.100)
        self.assertAlmostEqual(figures["overlap"], 1)

    def test_communication_that_is_waited_for_does_not(self):
        figures = self.of(("wire", 80, 40), ("await", 0, 20))
        self.assertAlmostEqual(figures["compute_ms"], 0.080)
        self.assertAlmostEqual(figures["overlap"], 0.5)
        self.assertAlmostEqual(figures["overlap_with_awaits"], 1)

    def test_the_shorter_of_both_counts(self):
        figures = self.of(("wire", 0, 100), ("await", 0, 20), ("submit", 90, 10))
        self.assertAlmostEqual(figures["communication_ms"], 0.100)
        self.assertAlmostEqual(figures["overlap_ms"], 0.070)
        self.assertAlmostEqual(figures["overlap"], 1)

    def test_the_warm_up_does_not_count(self):
        events = self.trace(("wire", 50, 20))
        events["traceEvents"].append(self.span("wire", 0, 0, 199))
        self.assertAlmostEqual(trace.workers_of(events, 2)["worker 0"]["communication_ms"], 0.020)

    def test_no_communication_has_no_overlap(self):
        self.assertIsNone(self.of()["overlap"])

    def test_too_few_steps_have_no_figures(self):
        self.assertIsNone(self.of(("wire", 50, 20), warmup=4))

    def test_sets_of_spans(self):
        self.assertEqual(trace.union([(5, 6), (0, 2), (1, 3), (4, 4)]), [(0, 3), (5, 6)])
        self.assertEqual(trace.intersection([(0, 3), (5, 9)], [(2, 6), (8, 8.5)]), [(2, 3), (5, 6), (8, 8.5)])
        self.assertEqual(trace.difference([(0, 10), (20, 30)], [(2, 3), (9, 21)]), [(0, 2), (3, 9), (21, 30)])


class Libraries(Scratch):
    NAMES = {"libnccl.so.2": "NCCL", "libcudart.so.13": "CUDA"}

    def library(self, folder, name):
        (self.folder / folder).mkdir(exist_ok=True)
        (self.folder / folder / name).write_bytes(b"")
        return self.folder / folder

    def test_folders_are_taken_in_their_order(self):
        first, second = self.library("a", "libnccl.so.2"), self.library("b", "libnccl.so.2")
        self.library("b", "libcudart.so.13")
        self.assertEqual(machine.find_libraries(self.NAMES, [first, second], set()), [str(first), str(second)])

    def test_what_the_linker_finds_needs_no_folder(self):
        folder = self.library("a", "libcudart.so.13")
        self.assertEqual(machine.find_libraries(self.NAMES, [None, folder], {"libnccl.so.2"}), [str(folder)])

    def test_all_that_are_missing_are_named(self):
        with self.assertRaisesRegex(machine.Missing, r"libnccl.so.2 is not found; install NCCL\nlibcudart.so.13 is not found; install CUDA"):
            machine.find_libraries(self.NAMES, [self.folder, None], {"libnccl.so.1"})

    def test_ld_library_path_and_python_packages_are_searched(self):
        place = self.folder / "nvidia" / "nccl" / "lib"
        place.mkdir(parents=True)
        with mock.patch.object(sys, "path", [str(self.folder)]):
            folders = list(machine.folders_of_machine({"LD_LIBRARY_PATH": "/x::/y"}))
        self.assertEqual(folders[:3], [pathlib.Path("/x"), pathlib.Path("/y"), None])
        self.assertEqual(folders[-1], place)

    def test_backends_say_which_version(self):
        (self.folder / "libringside_nccl.so").write_bytes(b"\0libnccl.so.2\0libcudart.so.12\0")
        self.assertEqual(list(machine.wanted(self.folder)), ["libnccl.so.2", "libcudart.so.12", "libcublas.so.13"])

    def test_children_find_them(self):
        with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": "/a:/b"}):
            self.assertEqual(machine.environment_with(["/b", "/c"])["LD_LIBRARY_PATH"], "/b:/c:/a")


class WithoutAGpu(Scratch):
    """Nothing is written, one sentence says why, and the exit code is 4."""

    def refused(self, *args, path=None, **variables):
        out = self.folder / "out"
        environment = {**os.environ, "PATH": str(path or self.folder / "empty"), **variables}
        done = subprocess.run([sys.executable, "-B", SCRIPTS / "gpu_check.py", "--out", out, *args], env=environment, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertFalse(out.exists())
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def smi(self, text):
        return self.program(self.folder / "smi" / "nvidia-smi", f"#!/bin/sh\n{text}\n").parent

    def installation(self, *absent):
        for name in (*machine.BACKENDS, "nccl-peer"):
            if name not in absent:
                self.program(self.folder / "lib" / "ringside" / name, "libnccl.so.2 libcudart.so.13 libcublas.so.13")
        return self.program(self.folder / "bin" / "ringside", "#!/bin/sh\nexit 1\n")

    def test_no_nvidia_smi(self):
        self.assertEqual(self.refused(), "gpu_check.py: no GPU is found here (nvidia-smi is not in PATH); run it on a machine with an NVIDIA "
                                         "GPU and its driver\n")

    def test_no_driver(self):
        smi = self.smi("echo 'NVIDIA-SMI has failed because it could not communicate with the driver.'; exit 9")
        self.assertIn("no GPU is found here (NVIDIA-SMI has failed because", self.refused(path=smi))

    def test_no_gpu(self):
        self.assertIn("no GPU is found here (nvidia-smi lists none)", self.refused(path=self.smi("exit 0")))

    def test_a_ringside_without_its_parts(self):
        message = self.refused("--ringside", self.installation("libringside_cuda.so", "nccl-peer"), path=self.smi("echo GPU,1,2,3,4"))
        self.assertIn("this Ringside was built without libringside_cuda.so, nccl-peer;", message)

    def test_no_ringside(self):
        message = self.refused("--ringside", self.folder / "nothing", path=self.smi("echo GPU,1,2,3,4"))
        self.assertIn("--ringside PATH names that of Ringside", message)

    def stand_ins(self):
        stand_ins = os.environ.get("RINGSIDE_STAND_INS")
        if not stand_ins:
            self.skipTest("no stand-ins for CUDA and NCCL")
        folder = self.folder / "stand-ins"
        folder.mkdir()
        for name, stem in (("libnccl.so.2", "libnccl"), ("libcudart.so.13", "libcudart"), ("libcublas.so.13", "libcudart")):
            (folder / name).symlink_to(next(pathlib.Path(stand_ins).glob(f"{stem}.so.*")))
        return str(folder)

    def test_a_driver_that_is_too_old(self):
        message = self.refused("--ringside", self.installation(), path=self.smi("echo GPU,1.2,2,3,4"), LD_LIBRARY_PATH=self.stand_ins(),
                               RINGSIDE_STAND_IN_GPUS="old-driver")
        self.assertIn("no GPU is found here (CUDA driver version is insufficient for CUDA runtime version; its driver is 1.2)", message)

    def test_libraries_say_how_many_gpus(self):
        environment = {**os.environ, "LD_LIBRARY_PATH": self.stand_ins(), "RINGSIDE_STAND_IN_GPUS": "3"}
        found = machine.probe(["libnccl.so.2", "libcudart.so.13", "libcublas.so.13"], environment, "1.0")
        self.assertEqual(found["gpus"], 3)


def is_running(pid):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the second, if it ends while the file is read
        return False


class ProgramsThatRun(Scratch):
    def runs(self, seconds=60):
        return Runs(None, seconds)

    def test_output_and_record(self):
        runs = self.runs()
        self.assertEqual(runs.run("word", ["echo", "a b"], 5), "a b\n")
        self.assertEqual(runs.records[0]["command"], "echo 'a b'")
        self.assertEqual(runs.records[0]["exit_code"], 0)

    def test_a_failure_has_what_the_program_wrote(self):
        with self.assertRaisesRegex(RunFailed, r"(?s)it: exit code 3.*sh -c.*the reason"):
            self.runs().run("it", ["sh", "-c", "echo the reason >&2; exit 3"], 5)

    def stopped(self, seconds, limit, error):
        file = self.folder / "pid"
        with self.assertRaises(error):
            self.runs(seconds).run("it", ["sh", "-c", f"sleep 600 & echo $! >{file}; wait"], limit)
        child = int(file.read_text())
        deadline = time.monotonic() + 30
        while is_running(child):
            self.assertLess(time.monotonic(), deadline, "a child is left")

    def test_a_run_that_takes_too_long_is_ended_with_its_children(self):
        self.stopped(600, 1, RunFailed)

    def test_a_run_beyond_the_time_of_all_is_ended_too(self):
        self.stopped(1, 600, TimeIsOver)

    def test_nothing_starts_when_the_time_is_over(self):
        runs = self.runs(0)
        with self.assertRaises(TimeIsOver):
            runs.run("it", ["touch", self.folder / "file"], 5)
        self.assertFalse((self.folder / "file").exists())
        self.assertEqual(runs.records, [])


class References(Scratch):
    def test_what_is_written_is_read(self):
        params = references.array.array("f", [1, 2, 3]).tobytes()
        summary = {"final_loss": 1.5, "eval_loss": 2.5}
        references.write("adam", params, summary, "1.0", "abc", self.folder)
        first = references.path_of("adam", self.folder).read_bytes()
        content = references.read("adam", self.folder)
        self.assertEqual((content["params"], content["loss"], content["commit"]), (params, 1.5, "abc"))
        references.write("adam", params, summary, "1.0", "abc", self.folder)
        self.assertEqual(references.path_of("adam", self.folder).read_bytes(), first, "the same content has the same bytes")
        with mock.patch.dict(plan.CASES, adam=["--lr", "1"]), self.assertRaisesRegex(ValueError, "for other flags"):
            references.read("adam", self.folder)

    def test_those_of_the_repository_are_for_the_plan(self):
        for case in plan.CASES:
            self.assertGreater(references.read(case)["parameters"], 1000)
            self.assertLess(references.path_of(case).stat().st_size, 30_000)

    def test_distances(self):
        vector = references.array.array("f", [3, 4]).tobytes()
        other = references.array.array("f", [3, 4.5]).tobytes()
        self.assertEqual(references.compare(other, vector), (0.1, 0.5))
        nan = references.array.array("f", [float("nan"), 4]).tobytes()
        self.assertEqual(references.compare(nan, vector), (float("inf"), float("inf")))
        with self.assertRaises(ValueError):
            references.compare(vector + vector, vector)

    def test_damaged_parameters_are_refused(self):
        (self.folder / "params.bin").write_bytes(b"RSPARAM1" + bytes(72) + bytes(4))
        with self.assertRaisesRegex(ValueError, "damaged"):
            references.read_params(self.folder / "params.bin")


class WholeCheck(Scratch):
    """The whole check, with made-up programs (made_up_ringside.py)."""

    def check(self, gpus=2, minutes=8, rounds=1, **knobs):
        """(exit code, gpu-check.json, gpu-check.md, stderr)"""
        text = FAKE.read_text().replace("#!/usr/bin/env python3", f"#!{sys.executable} -IS", 1)  # starts sooner
        program = machine.Program(*(self.program(self.folder / name, text) for name in ("ringside", "nccl-peer")), self.folder)
        out, err = self.folder / "out", io.StringIO()
        argv = ["gpu_check.py", "--out", str(out), "--minutes", str(minutes)]
        found = {"gpus": gpus, "error": "", "cuda": 13000, "driver_cuda": 13010, "nccl": 22809}
        replaced = {"smi": lambda: [GPU] * gpus, "find_program": lambda path: program, "find_libraries": lambda *args: [],
                    "probe": lambda *args: found}
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.multiple(machine, **replaced))
            stack.enter_context(mock.patch.multiple(plan, ROUNDS=rounds, SIZES=SIZES))
            stack.enter_context(mock.patch.object(sys, "argv", argv))
            stack.enter_context(mock.patch.dict(os.environ, {"FAKE_REFERENCES": str(references.FOLDER), **{key: str(value) for key, value in knobs.items()}}))
            stack.enter_context(contextlib.redirect_stderr(err))
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            code = gpu_check.main()
        return code, json.loads((out / "gpu-check.json").read_text()), (out / "gpu-check.md").read_text(), err.getvalue()

    def test_all_limits_hold(self):
        code, result, text, err = self.check(rounds=2)
        self.assertEqual((code, err), (0, ""), text)
        self.assertEqual(result["status"], "done")
        self.assertEqual([row["rounds"] for row in result["all_reduce"]], [2] * 4)
        self.assertEqual({row["workers"] for row in result["all_reduce"]}, {2})
        self.assertEqual([row["name"] for row in result["steps"]], [row[0] for row in plan.STEP_ROWS])
        self.assertEqual(len(result["verify"]), sum(len(row[4]) for row in plan.VERIFY_ROWS))
        self.assertIn("| driver | 1.0, for CUDA 13.1 |\n| CUDA | 13.0 |\n| NCCL | 2.28.9 |", text)
        self.assertIn("16 of 16 limits hold. 0 missed, 0 not measured.", text)
        self.assertIn("Nothing. Every worker had a GPU of its own.", text)
        self.assertNotIn("--nccl-share-gpu", text)
        self.assertNotIn(", emulated", text)
        # In turns, ours after the peer's.
        names = [run["command"].split()[0].rpartition("/")[2] for run in result["runs"][-16:]]
        self.assertEqual(names, ["nccl-peer", "ringside"] * 8)

    def test_one_gpu_is_shared_and_the_page_says_so(self):
        code, result, text, _ = self.check(gpus=1)
        self.assertEqual(code, 0)
        self.assertEqual([row["emulated"] for row in result["steps"]], [row[2] for row in plan.STEP_ROWS])
        self.assertIn("| ring | 1 GiB | 2, emulated |", text)
        self.assertIn("What could not be tried: several GPUs", text)
        shares = [run["command"] for run in result["runs"] if "--nccl-share-gpu" in run["command"] or "--share-gpu" in run["command"]]
        self.assertTrue(all("nccl" in command for command in shares))
        self.assertEqual(len(shares), 3 + 4 + 8)

    def test_a_slow_sum_is_missed(self):
        code, result, text, _ = self.check(FAKE_OURS=9.7, FAKE_PIPELINED=10, FAKE_BLOCKING=9.8)
        self.assertEqual(code, 5)
        self.assertEqual(result["all_reduce"][0]["ok"], {"blocking": True, "pipelined": False})
        self.assertIn("- all-reduce of 1 MiB, ring, pipelined: at least 0.98 of NCCL alone\n", text)

    def test_a_wrong_sum_is_missed(self):
        self.assertEqual(self.check(FAKE_WRONG=1)[0], 5)

    def test_little_overlap_is_missed(self):
        code, result, text, _ = self.check(FAKE_AWAIT_US=30)
        self.assertEqual(code, 5)
        self.assertIn("Missed:\n\n- overlap of `nccl`: at least 0.9\n", text)
        self.assertIsNone(next(row for row in result["steps"] if row["name"] == "ring")["ok"], "only nccl has a limit")

    def test_other_parameters_are_missed(self):
        code, _, text, _ = self.check(FAKE_PARAMETER_ERROR=0.01)
        self.assertEqual(code, 5)
        self.assertIn("- parameters of `ps-sync`, sgd: at most 0.0001 from the CPU's", text)
        code, result, text, _ = self.check(FAKE_PARAMETER_ERROR="nan")
        self.assertEqual(code, 5)
        self.assertIn("| not finite |", text)
        self.assertIsNone(result["verify"][0]["distance"])

    def test_a_run_that_fails_is_named_with_its_words(self):
        code, result, text, err = self.check(FAKE_FAILS="hierarchical")
        self.assertEqual(code, 1)
        self.assertEqual(len(result["failures"]), 2)
        self.assertIn("no luck with hierarchical", text)
        self.assertIn("no luck with hierarchical", err)
        self.assertIn("hierarchical", text)
        self.assertEqual(len(result["all_reduce"]), 4, "the others ran")

    def test_an_answer_that_cannot_be_read_is_a_failure(self):
        code, result, _, _ = self.check(rounds=2, FAKE_OURS="nonsense")
        self.assertEqual((code, len(result["failures"])), (1, 4))

    def test_what_the_time_did_not_suffice_for_is_named(self):
        code, result, text, _ = self.check(minutes=(gpu_check.RESERVE_S + 1) / 60, FAKE_SECONDS=0.4)
        self.assertEqual(code, 5, "limits that were not measured do not hold")
        self.assertTrue(result["left_out"])
        self.assertIn("Not run, because the time was over:\n\n- ", text)
        self.assertIn("Not measured:\n\n- ", text)
        self.assertEqual(result["failures"], [])

    def test_the_page_can_be_made_again(self):
        _, _, text, _ = self.check(FAKE_WRONG=1)
        again = self.folder / "again"
        done = subprocess.run([sys.executable, "-B", SCRIPTS / "gpu_check.py", "--render", self.folder / "out" / "gpu-check.json", "--out", again],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual((again / "gpu-check.md").read_text(), text)


class Scripts(unittest.TestCase):
    def test_python_3_8_reads_them(self):
        for path in [SCRIPTS / "gpu_check.py", *(SCRIPTS / "gpu_check_parts").glob("*.py")]:
            ast.parse(path.read_text(), feature_version=(3, 8))

    def test_the_shell_finds_a_python(self):
        done = subprocess.run([SCRIPTS / "gpu_check.sh", "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("usage: gpu_check.py", done.stdout)

    def test_the_shell_says_when_there_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "dirname").symlink_to("/usr/bin/dirname")
            done = subprocess.run(["/bin/sh", SCRIPTS / "gpu_check.sh"], env={"PATH": folder}, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (4, "gpu_check.sh: no Python from 3.8 on is in PATH; install python3\n"))

    def test_usage(self):
        for words in (["--nonsense"], ["--minutes", "0"]):
            done = subprocess.run([sys.executable, "-B", SCRIPTS / "gpu_check.py", *words], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)

    def test_versions(self):
        self.assertEqual(machine.version_text(12080, (1000, 10)), "12.8")
        self.assertEqual(machine.version_text(22809, (10000, 100, 1)), "2.28.9")
        self.assertEqual(machine.version_text(None, (1,)), "unknown")


if __name__ == "__main__":
    unittest.main()

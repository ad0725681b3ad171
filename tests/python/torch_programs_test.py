"""Programs with PyTorch as the model of a run, under every strategy, against plain PyTorch in one process.

usage: torch_programs_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set
"""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import torch

from torch_runs import LONG, PROGRAM, RINGSIDE, STEPS, Programs, distance, pairs, reference

# The strategies whose parameters are those of one process: workers sum, or servers update.
SUMMING = ["ring", "halving-doubling", "recursive-doubling", "tree", "auto", "shm", "hierarchical", "mpi"]


def end_of(span):
    """In microseconds."""
    return span["ts"] + span["dur"]


class Trajectories(Programs):
    """Under every strategy."""

    @classmethod
    def setUpClass(cls):
        references = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.expected = {kind: reference(kind, references / kind) for kind in ("sgd", "nesterov", "adam", "adamw", "rmsprop")}

    def check(self, kind, *flags, limit=1e-5, words=(), workers=2):
        with self.subTest(kind=kind, flags=flags, words=words):
            summary, _ = self.train(*flags, kind=kind, words=words, workers=workers)
            self.assertLess(distance(self.mine(), self.expected[kind]), limit)
            self.assertEqual(summary["steps"], STEPS)

    def test_strategies_that_sum(self):
        for strategy in SUMMING:
            self.check("sgd", "--strategy", strategy)

    def test_servers_that_update(self):
        self.check("sgd", "--strategy", "ps-sync")
        self.check("sgd", "--strategy", "ps-sync", "--servers", "2", "--bucket-mb", "0", workers=3)
        self.check("sgd", "--strategy", "ps-sync", "--servers", "colocated", "--bucket-mb", "0")
        self.check("sgd", "--strategy", "mixed", "--servers", "1", "--bucket-mb", "0")

    def test_optimizers_that_the_strategy_maps(self):
        for strategy in (*SUMMING, "ps-sync", "mixed") if LONG else ("ring", "shm", "ps-sync", "mixed"):
            self.check("adam", "--strategy", strategy, limit=1e-4)
        for (kind, limit), strategy in pairs((("nesterov", 1e-5), ("adamw", 1e-4)), ("ring", "shm", "ps-sync")):
            self.check(kind, "--strategy", strategy, limit=limit)

    def test_optimizers_of_the_program(self):
        strategies = (("ring",), ("shm",), ("ps-sync", "--server-update", "off"),
                      ("mixed", "--servers", "1", "--bucket-mb", "0", "--server-update", "off"))
        for strategy in strategies:
            self.check("rmsprop", "--strategy", *strategy, limit=1e-4)
        program = {"words": ("update=program",), "workers": 3}
        for (flags, more), strategy in pairs((((), program), (("--overlap", "off"), program), (("--overlap", "off"), {})), strategies):
            self.check("sgd", "--strategy", *strategy, *flags, **more)

    def test_strategies_that_are_not_synchronous_run_to_the_end(self):
        """They have other trajectories. Under servers, worker 0 is slow: the others would be far ahead if they might. A worker that may be S
        steps ahead makes at most 2 (S + 1) updates between a pull and the next push of another one."""
        slow = ("--straggler", "kind=permanent,factor=5,worker=0")
        for flags, staleness in ((("ps-async", *slow), STEPS * 2), (("ps-ssp", "--staleness", "1", *slow), 2 * (1 + 1)),
                                 (("ps-backup", "--backups", "1", *slow), 0), (("local-sgd", "--sync-every", "4"), None),
                                 (("diloco", "--sync-every", "4"), None)):
            with self.subTest(flags=flags):
                workers = 3 if flags[0] == "ps-backup" else 2
                summary, _ = self.train("--strategy", *flags, workers=workers)
                self.assertEqual((summary["steps"], summary["status"]), (STEPS, "done"))
                parameters = self.mine()
                self.assertEqual([name for name, values in parameters.items() if not values.isfinite().all()], [])
                self.assertTrue(any((values != self.expected["sgd"][name]).any() for name, values in parameters.items()))
                if staleness is None:
                    self.assertIsNone(summary["staleness"]["max"])
                else:
                    self.assertLessEqual(summary["staleness"]["max"], staleness)

    def test_one_worker_is_plain_pytorch(self):
        self.check("sgd", "--strategy", "ring", workers=1, limit=1e-6)


class Steps(Programs):
    """What programs do in a step."""

    @classmethod
    def setUpClass(cls):
        references = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.whole_batches = reference("sgd", references / "sgd")

    def check(self, case, *strategies, more=(), kind="sgd", words=(), expected=None):
        """Against the same program in one process, unless ``expected`` is given. ``more``: strategies of RINGSIDE_LONG_TESTS alone."""
        if expected is None:
            expected = reference(kind, self.folder / "reference", f"case={case}", *words)
        for strategy in (*strategies, *more) if LONG else strategies:
            with self.subTest(case=case, strategy=strategy):
                self.train("--strategy", *strategy.split(), kind=kind, words=(f"case={case}", *words))
                self.assertLess(distance(self.mine(), expected), 1e-5)

    def test_what_programs_do_between_backward_and_step(self):
        self.check("decays", "ring", "ps-sync", more=("shm",))
        self.check("clips", "shm", more=("ring",), words=("update=program",))

    def test_accumulated_gradients_are_those_of_the_whole_batch(self):
        self.check("accumulate", "shm", "ps-sync", more=("ring",), expected=self.whole_batches)
        self.check("no-sync", "ps-sync", more=("ring",), expected=self.whole_batches)
        self.check("no-sync", "ring", words=("update=program",), expected=self.whole_batches)

    def test_groups_of_parameters_need_the_programs_optimizer(self):
        self.check("groups", "ring", more=("ps-sync --server-update off",))

    def test_frozen_parameters_may_be_the_optimizers(self):
        self.check("frozen", "ring", expected=self.whole_batches)

    def test_parameters_that_a_step_leaves_out_have_the_gradient_0(self):
        self.check("unused-zero", "ps-sync", more=("ring",))
        self.check("unused-zero", "ring", words=("update=program",))
        self.check("no-gradient-zero", "ring")
        self.check("fills-unused", "ps-sync", more=("ring",))

    def test_parameters_may_be_read_without_their_module(self):
        self.check("reads-when-updated", "ring", "ps-sync", more=("shm",))
        self.check("size-when-updated", "shm", more=("ring", "ps-sync"))
        self.check("size-early", "ring", words=("update=program",))

    def test_parameters_that_no_call_reads_belong_to_the_module_around_them(self):
        for case, strategy in pairs(("lists", "attention", "scripted", "scripted-waits-first"), ("ring", "ps-sync")):
            self.check(case, strategy)

    def test_a_part_of_a_model_may_be_evaluated(self):
        self.check("evaluates-encoder", "ps-sync", more=("ring",))

    def test_a_copy_of_a_model_is_a_model_of_its_own(self):
        self.check("copies-model", "ring", more=("ps-sync",), expected=self.whole_batches)

    def test_a_program_may_change_parameters_that_it_updates(self):
        self.check("clamps", "ps-sync --server-update off", more=("ring",), words=("update=program",))

    def test_a_program_may_call_parts_of_its_model(self):
        self.check("calls-layers", "ring", "ps-sync", more=("shm",))

    def test_the_graph_may_change_in_every_step(self):
        self.check("branches", "ring", "ps-sync")

    def test_parameters_may_be_frozen_for_a_while(self):
        self.check("freezes-for-a-while", "ps-sync", kind="nesterov")

    def test_gradients_of_large_layers_wait_for_those_of_the_last_step(self):
        self.check("large", "ring", "ps-sync", "ps-sync --overlap off", more=("shm",), kind="adamw")
        self.check("large", "ring", "ps-sync --server-update off", words=("update=program",), kind="adamw")

    def test_data_may_be_loaded_by_other_processes(self):
        self.check("loads-in-processes", "ring", expected=self.whole_batches)


class Records(Programs):
    def test_a_run_of_a_program_is_measured_as_any_other(self):
        private = self.folder / "private.txt"
        private.write_text("for the owner")
        private.chmod(0o600)
        summary, _ = self.train("--strategy", "ring", words=("evaluate", str(private)))
        self.assertEqual((self.folder / "run" / "program" / "6-private.txt").stat().st_mode & 0o777, 0o600)
        self.assertEqual(summary["status"], "done")
        self.assertEqual(summary["model"], "program")
        self.assertEqual(summary["parameters"], 20 * 40 + 40 + 40 * 5 + 5)
        self.assertEqual(summary["eval_accuracy"], 0.25)
        self.assertGreater(summary["samples_per_s"], 0)
        self.assertGreater(summary["final_loss"], 0)
        self.assertGreater(summary["exposed_comm_ms"], 0)
        self.assertGreater(summary["compute_ms"], 0)
        self.assertGreater(summary["forward_ms"], 0)
        # A ring of two sends each gradient once; headers come on top.
        payload = 4 * summary["parameters"]
        self.assertAlmostEqual(summary["payload_bytes_sent_per_worker_per_step"], payload, delta=0.01 * payload)
        self.assertEqual((self.folder / "run" / "program" / "1-network_program.py").read_bytes(), PROGRAM.read_bytes())
        versions = json.loads((self.folder / "run" / "program" / "packages.json").read_text())
        self.assertEqual(versions["packages"]["torch"], torch.__version__)
        spec = json.loads((self.folder / "run" / "spec.json").read_text())
        self.assertEqual(summary["program"], spec["program"])
        self.assertEqual(spec["program"][1:], [str(PROGRAM), str(STEPS), "sgd", str(self.folder / "mine.pt"), "evaluate", str(private)])

    def test_a_run_has_the_losses_that_its_program_reports(self):
        summary, _ = self.train("--strategy", "ring", words=("case=reports-nothing",))
        self.assertIsNone(summary["final_loss"])
        whole, _ = self.train("--strategy", "ring")
        for case in ("reports-batch", "trains-in-eval"):
            batch, _ = self.train("--strategy", "ring", words=(f"case={case}",))
            self.assertAlmostEqual(batch["final_loss"], whole["final_loss"], delta=1e-6)
            lines = [json.loads(line) for line in (self.folder / "run" / "metrics.jsonl").read_text().splitlines()]
            self.assertEqual({line["samples"] for line in lines if line["kind"] == "step"}, {12})

    def test_a_program_runs_on_emulated_hosts_and_has_their_bound(self):
        self.skip_without_emulation()
        for strategy, copies in (("ring", 1), ("ps-sync", 2)):
            with self.subTest(strategy=strategy):
                summary, _ = self.train("--strategy", strategy, "--network", "20Mbps", steps=12)
                # On the busiest link, in one direction: a ring of two sends all bytes once; a server gets those of both workers.
                wire_ms = copies * 8e3 * 4 * summary["parameters"] / 20e6
                self.assertGreater(summary["bound_ms"], wire_ms)
                self.assertLess(summary["bound_ms"], 1.1 * wire_ms + summary["compute_ms"])
                self.assertGreaterEqual(summary["achievable_ms"], summary["bound_ms"])
                self.assertTrue((self.folder / "run" / "network.json").exists())

    def test_a_program_knows_its_place_among_the_workers_of_its_host(self):
        self.skip_without_emulation()
        _, errors = self.train("--strategy", "ring", "--network", "hosts=2,rate=1Gbps", steps=3, words=("case=places",), workers=4)
        for rank, place in enumerate(("0 of 2", "1 of 2", "0 of 2", "1 of 2")):
            self.assertIn(f"rank {rank}: {place}", errors)

    def test_steps_end_a_program_that_would_go_on(self):
        summary, _ = self.train("--strategy", "ps-sync", "--steps", "7")
        self.assertEqual((summary["steps"], summary["status"]), (7, "done"))
        self.assertFalse((self.folder / "mine.pt").exists())

    def test_a_straggler_slows_the_whole_compute(self):
        plain, _ = self.train("--strategy", "none", steps=30)
        slowed, _ = self.train("--strategy", "none", "--straggler", "kind=permanent,factor=20,worker=0", steps=30)
        self.assertGreater(slowed["straggler_ms"], 2 * plain["compute_ms"])

    def test_a_timeline_has_forward_and_backward_passes(self):
        self.train("--strategy", "ring", "--timeline", steps=8)
        names = {event["name"] for event in self.trace()}
        for name in ("forward", "backward", "submit", "await"):
            self.assertTrue(any(each.startswith(name) for each in names), f"{name} in {sorted(names)}")

    def trace(self):
        return json.loads((self.folder / "run" / "trace.json").read_text())["traceEvents"]

    def test_gradients_leave_while_the_backward_pass_goes_on(self):
        """The backward pass takes 20 ms from the last layer to the first one. The last one's gradient does not wait for that."""
        for strategy in ("ring", "ps-sync"):
            self.train("--strategy", strategy, "--timeline", "--bucket-mb", "0", steps=8, words=("case=slow-backward",))
            # By worker, step and bucket: when it was submitted, in microseconds.
            submits = {(event["pid"], event["args"]["step"], event["args"]["bucket"]): event["ts"]
                       for event in self.trace() if event["name"] == "submit"}
            for worker in (0, 1):
                for step in range(8):
                    with self.subTest(strategy=strategy, worker=worker, step=step):
                        # Buckets are last.bias, last.weight, first.bias, first.weight.
                        self.assertLess(submits[worker, step, 1] + 20_000, submits[worker, step, 2])

    def forward_passes(self, case, strategy):
        """For every worker and every step but the first one: its forward pass, and its waits for parameters by bucket. Buckets are
        last.bias, last.weight, first.bias, first.weight. Between the two layers the pass pauses for 20 ms."""
        self.train("--strategy", strategy, "--timeline", "--bucket-mb", "0", steps=8, words=(f"case={case}",))
        passes = {}
        for event in self.trace():
            if event["name"] in ("forward", "await") and 0 < event["args"]["step"] < 8:
                forward, waits = passes.setdefault((event["pid"], event["args"]["step"]), ([], {}))
                if event["name"] == "forward":
                    forward.append(event)
                else:
                    waits[event["args"]["bucket"]] = event
        self.assertEqual(sorted(passes), [(worker, step) for worker in (0, 1) for step in range(1, 8)])
        for forward, waits in passes.values():
            self.assertEqual((len(forward), sorted(waits)), (1, [0, 1, 2, 3]))
            for wait in waits.values():
                self.assertGreaterEqual(wait["ts"], forward[0]["ts"])
                self.assertLessEqual(end_of(wait), end_of(forward[0]))
        return [(forward[0], waits) for forward, waits in passes.values()]

    def test_a_layer_waits_for_its_parameters_right_before_it_computes(self):
        for strategy in ("ring", "ps-sync"):
            for _, waits in self.forward_passes("slow-forward", strategy):
                for of_first, of_last in ((2, 0), (2, 1), (3, 0), (3, 1)):
                    self.assertGreater(waits[of_last]["ts"], end_of(waits[of_first]) + 20_000)

    def test_without_overlap_a_forward_pass_waits_for_all_parameters_first(self):
        for strategy in ("ring", "ps-sync") if LONG else ("ring",):
            for forward, waits in self.forward_passes("slow-forward-waits-first", strategy):
                for wait in waits.values():
                    self.assertGreater(end_of(forward), end_of(wait) + 20_000)

    def test_signals_end_a_run_after_a_common_step(self):
        command = [RINGSIDE, "train", "--workers", "2", "--strategy", "ring", "--out", self.folder / "run", "--", sys.executable,
                   PROGRAM, "100000", "sgd", self.folder / "mine.pt", "case=slow"]
        run = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        metrics = self.folder / "run" / "metrics.jsonl"
        until = time.monotonic() + 30
        while time.monotonic() < until and not (metrics.exists() and metrics.stat().st_size > 500):
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130, errors)
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertEqual(summary["status"], "interrupted")
        self.assertGreater(summary["steps"], 0)

    def test_a_time_limit_ends_a_program(self):
        summary, errors = self.train("--strategy", "ring", "--time-limit", "6s", steps=100000, words=("case=slow",), expects=124)
        self.assertEqual(summary["status"], "timed out", errors)

    def test_a_matrix_compares_strategies_for_one_program(self):
        spec = self.folder / "mine.yaml"
        spec.write_text(f"""name: mine
defaults:
  program: [{sys.executable}, {PROGRAM}, "12", sgd, {self.folder / "mine.pt"}]
  workers: 2
axes:
  strategy: [ring, ps-sync]
  server-update: ["on", "off"]
exclude:
  - {{strategy: ring, server-update: "off"}}
repetitions: 1
""")
        done = subprocess.run([RINGSIDE, "matrix", spec, "--out", self.folder / "results"], capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        report = subprocess.run([RINGSIDE, "report", self.folder / "results" / "mine"], capture_output=True, text=True, timeout=60)
        self.assertEqual(report.returncode, 0, report.stderr)
        for word in ("ring", "ps-sync"):
            self.assertIn(word, report.stdout)


    def test_ranks_of_mpirun_run_the_program(self):
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", RINGSIDE, "train", "--strategy", "ring", "--out",
                   self.folder / "run", "--", sys.executable, PROGRAM, "12", "sgd", self.folder / "mine.pt"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertEqual((summary["launcher"], summary["workers"], summary["steps"]), ("mpirun", 2, 12))

    def test_programs_may_work_on_after_the_training(self):
        """Whoever has started them, and whichever is the last."""
        program = [sys.executable, pathlib.Path(__file__).with_name("late_program.py"), self.folder]
        train = [RINGSIDE, "train", "--strategy", "ring", "--workers", "2", "--out", self.folder / "run", "--force"]
        for command in ([*train], [*train, "--launcher", "mpirun"], ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", *train]):
            with self.subTest(command=command[:3]):
                for rank in (0, 1):
                    (self.folder / f"rank-{rank}").unlink(missing_ok=True)
                done = subprocess.run([str(word) for word in [*command, "--", *program]], capture_output=True, text=True, timeout=90)
                self.assertEqual(done.returncode, 0, done.stderr[-3000:])
                self.assertEqual([(self.folder / f"rank-{rank}").exists() for rank in (0, 1)], [True, True], done.stderr[-3000:])
                self.assertEqual(json.loads((self.folder / "run" / "summary.json").read_text())["status"], "done")

    def test_verify_compares_a_program_with_a_single_worker(self):
        sizes = (1, 2, 3) if LONG else (1, 3)
        command = [RINGSIDE, "verify", "--strategies", "ring,shm,ps-sync", "--workers", ",".join(map(str, sizes)), "--servers", "1", "--bucket-mb", "0",
                   "--json", "--", sys.executable, PROGRAM, "50", "sgd", self.folder / "mine.pt"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:] + done.stdout[-2000:])
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual([(row["strategy"], row["workers"], row["ok"]) for row in rows],
                         [(name, workers, True) for name in ("ring", "shm", "ps-sync") for workers in sizes])


if __name__ == "__main__":
    unittest.main(verbosity=2)

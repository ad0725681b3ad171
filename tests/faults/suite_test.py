"""Parts of the suite itself that need no job.

usage: suite_test.py
"""
import contextlib
import io
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

import fault_suite
from suite import checkpoint_scenarios, left_out, limits, ports, processes, runner, slowness, strangers, table
from suite.all_scenarios import SCENARIOS
from suite.journal import KILLED as CALL_WAS_KILLED
from suite.journal import Journal, JournalError
from suite.judge import Result, judge_count
from suite.lost_worker import APPLIED, NOT_APPLIED
from suite.medians import FEWEST, late_medians
from suite.proxy import LAUNCHER, member_names
from suite.scenarios import ALL_STRATEGIES, OTHERS, STRATEGIES

KILLED = next(scenario for scenario in SCENARIOS if scenario.name == "worker-killed")
LASTS = next(scenario for scenario in SCENARIOS if scenario.long)
EXITS = next(scenario for scenario in SCENARIOS if scenario.name == "worker-exits")


class Medians(unittest.TestCase):
    def late(self, times, **options):
        return late_medians([Result(scenario, "ring", seconds=seconds) for scenario, seconds in times], slack_s=3, busy=False, **options)

    def test_most_jobs_of_a_scenario_must_keep_the_bound_without_the_slack(self):
        self.assertEqual(self.late([(KILLED, 0.1), (KILLED, 0.2), (KILLED, 3.5)]), [])
        late = self.late([(KILLED, 0.1), (KILLED, 1.2), (KILLED, 1.3)])
        self.assertRegex(late[0], r"worker-killed: the median of 3 jobs is 1\.20 s, later than 1 s")

    def test_scenarios_with_the_same_bound_count_together(self):
        self.assertEqual(len(self.late([(KILLED, 1.1), (KILLED, 1.2), (EXITS, 1.3)])), 1)
        self.assertEqual(self.late([(KILLED, 1.1)] * (FEWEST - 1)), [])

    def test_a_busy_machine_gets_the_slack(self):
        results = [Result(KILLED, "ring", seconds=2)] * FEWEST
        self.assertEqual(late_medians(results, slack_s=3, busy=True), [])
        self.assertTrue(late_medians(results, slack_s=3, busy=False))


@unittest.skipIf(limits.no_memory_limit(), "needs root and control groups for memory")
class MemoryLimits(unittest.TestCase):
    def test_the_kernel_counts_whom_it_kills(self):
        with limits.MemoryLimit(f"{os.getpid()}-test", 16 << 20) as limit:
            child = subprocess.Popen([sys.executable, "-c", "input(); b'x' * (64 << 20)"], stdin=subprocess.PIPE)
            limit.hold(child.pid)
            self.assertEqual(limit.kills(), 0)
            child.communicate(b"\n")
            self.assertEqual(child.returncode, -signal.SIGKILL)
            self.assertEqual(limit.kills(), 1)


class Ports(unittest.TestCase):
    def test_those_who_listen_are_found_beside_other_connections(self):
        one, other = (self.enterContext(socket.create_server(("127.0.0.1", 0))) for _ in range(2))
        all_addresses = self.enterContext(socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True))
        mapped = self.enterContext(socket.socket(socket.AF_INET6))
        mapped.bind(("::ffff:127.0.0.1", 0))
        mapped.listen()
        client = self.enterContext(socket.create_connection(one.getsockname()))
        self.enterContext(one.accept()[0])
        wanted = {listener.getsockname()[1]: os.getpid() for listener in (one, other, all_addresses, mapped)}
        found = ports.ports_of(os.getpid())
        self.assertLessEqual(set(wanted), found)
        self.assertNotIn(client.getsockname()[1], found)
        self.assertEqual({port: ports.listener_of(port) for port in wanted}, wanted)
        self.assertIsNone(ports.listener_of(client.getsockname()[1]))

    def test_who_listens_on_the_same_port_of_another_address_is_not_meant(self):
        listens = "import socket; it = socket.create_server(('127.0.0.1', 0)); print(it.getsockname()[1], flush=True); input()"
        child = self.enterContext(subprocess.Popen([sys.executable, "-c", listens], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        port = int(child.stdout.readline())
        elsewhere = self.enterContext(socket.create_server(("127.0.0.77", port)))
        self.assertEqual(ports.listener_of(port), child.pid)
        self.assertEqual(ports.inode_of(port), ports.inodes_of(child.pid)[port])
        child.communicate(b"\n")
        self.assertEqual(ports.ports_of(os.getpid()) & {port}, {elsewhere.getsockname()[1]})
        self.assertIsNone(ports.listener_of(port))
        self.assertIsNone(ports.inode_of(port))


class Checkpoints(unittest.TestCase):
    def test_a_signal_of_a_stopped_process_is_pending(self):
        with subprocess.Popen(["sleep", "60"]) as child:
            child.send_signal(signal.SIGSTOP)
            os.waitpid(child.pid, os.WUNTRACED)
            self.assertFalse(checkpoint_scenarios.is_pending(child.pid, signal.SIGTERM))
            child.send_signal(signal.SIGTERM)
            self.assertTrue(checkpoint_scenarios.is_pending(child.pid, signal.SIGTERM))
            self.assertFalse(checkpoint_scenarios.is_pending(child.pid, signal.SIGINT))
            child.kill()

    def test_as_many_repetitions_as_sections_hit_each(self):
        header = json.dumps({"__metadata__": {"header_sha256": "a" * 64, "sha256/parameters": "b" * 64},
                             "parameters/tensor0": {"data_offsets": [0, 4]}}).encode()
        content = struct.pack("<Q", len(header)) + header + bytes(4)
        sections = checkpoint_scenarios.sections(content)
        hit = {checkpoint_scenarios.section_of(content, repetition)[0] for repetition in range(len(sections))}
        self.assertEqual(hit, set(sections))
        self.assertEqual(len(sections), 6)

    def test_repetitions_hit_the_part_of_each_worker(self):
        names = {checkpoint_scenarios.part_of_some_worker(pathlib.Path("step-8.ckpt"), types.SimpleNamespace(repetition=number, workers=3)).name
                 for number in range(3)}
        self.assertEqual(names, {f"step-8.worker-{worker}.ckpt" for worker in range(3)})


class MemberNames(unittest.TestCase):
    def test_the_file_is_read_only_for_a_process_that_is_not_known_yet(self):
        rows = []
        read = mock.Mock(side_effect=lambda: rows)
        name = member_names(read)
        self.assertEqual(name(11), LAUNCHER)
        rows.append({"name": "worker 0", "pid": 11})  # the launcher writes it down later
        self.assertEqual(name(11), "worker 0")
        self.assertEqual(name(11), "worker 0")
        self.assertEqual(read.call_count, 2)


class Flood(unittest.TestCase):
    def test_connections_are_spread_over_all_ports(self):
        ports = [(f"worker {number}", 1000 + number) for number in range(3)]
        found = [stranger.port for stranger in strangers.idle(ports, strangers.FLOOD)]
        self.assertEqual(len(found), strangers.FLOOD)
        self.assertLessEqual(max(map(found.count, set(found))) - min(map(found.count, set(found))), 1)

    def test_who_stays_inside_is_reported(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            waiting = strangers.idle([("worker 0", listener.getsockname()[1])], 2)
            for stranger in waiting:
                stranger.knock()
            listener.accept()[0].close()
            job = types.SimpleNamespace(strangers=waiting, finish=lambda _: None)
            strangers.wait_until_closed(job, time.time() + 0.5)
            self.assertEqual([stranger.closed for stranger in waiting], [True, False])

    def test_who_was_never_let_in_leaves(self):
        """So it is where the queue of a port is full, too: the stranger alone believes that it is connected."""
        with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_server(("127.0.0.1", 0)) as other:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 60)  # until it says something
            waiting = strangers.idle([("worker 0", one.getsockname()[1]) for one in (listener, other)], 2)
            for stranger in waiting:
                stranger.knock()
            self.assertEqual([stranger.closed for stranger in waiting], [False, False])
            strangers.send_away(waiting)
            self.assertEqual([stranger.closed for stranger in waiting], [True, False])
            waiting[1].leave()
            waiting[1].closed = True
            result = types.SimpleNamespace(problems=[], seconds=None)
            strangers.judge(result, types.SimpleNamespace(strangers=waiting), 0)
            self.assertEqual(result.problems, ["1 of 2 connections never came to the job: its ports did not take them"])


class SlowMembers(unittest.TestCase):
    def job(self, strategy, said=""):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        log = pathlib.Path(folder) / "log"
        log.write_text(said)
        return types.SimpleNamespace(strategy=strategy, log=log, text=log.read_text, workers=3, remembered={})

    def test_the_launcher_must_name_who_is_slow(self):
        wrong = slowness.not_named("worker 1", ("ring",))
        self.assertTrue(wrong(self.job("ring", "warning: worker 10 computes step 7")))
        self.assertEqual(wrong(self.job("ring", "warning: worker 1 computes step 7 for 1.1 s")), [])
        self.assertEqual(wrong(self.job("ps-async")), [])

    def test_a_server_may_not_fill_its_memory(self):
        job = self.job("ps-sync")
        job.remembered["memory"] = memory = slowness.Memory(os.getpid())
        self.assertGreater(memory.at_rest, 0)
        self.assertEqual(slowness.takes_too_much(job), [])
        memory.most = slowness.bound_of(memory, job.workers) + 1
        self.assertTrue(slowness.takes_too_much(job))


class Journals(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "journal"

    def open(self, made_with=None):
        return contextlib.closing(Journal(self.path, made_with or {}))

    def test_it_has_the_results_of_earlier_calls(self):
        with self.open() as first:
            first.begin()
            first.add(Result(KILLED, "ring", "signal", "worker 1", 0.25, APPLIED, ["late"]), 3)
            first.end([])
        with self.open() as second:
            found = Result(KILLED, "ring")
            for strategy, repetition in (("ring", 2), ("tree", 3)):
                self.assertFalse(second.fill(Result(KILLED, strategy), repetition))
            self.assertTrue(second.fill(found, 3))
            self.assertEqual(found, Result(KILLED, "ring", "signal", "worker 1", 0.25, APPLIED, ["late"]))
            self.assertEqual(second.left(), [])

    def test_what_any_call_has_left_stays_known(self):
        for left in (["a file"], [], None):
            with self.open() as journal:
                journal.begin()
                if left is not None:
                    journal.end(left)
        with self.open() as journal:
            self.assertEqual(journal.left(), ["a file", CALL_WAS_KILLED])

    def test_results_of_other_options_are_refused(self):
        self.open({"commit": "a"}).__exit__(None, None, None)
        with self.assertRaisesRegex(JournalError, "journal:1: its results were made with .*'a'.*, not with .*'b'"):
            self.open({"commit": "b"})

    def test_one_call_at_a_time_uses_it(self):
        with self.open(), self.assertRaisesRegex(JournalError, "another call of the suite uses it"):
            self.open()

    def test_another_file_stays_as_it_is(self):
        for text in ("a letter\nwithout an end", "half a line", '{"made_with": {"seed'):
            self.path.write_text(text)
            with self.subTest(text=text), self.assertRaisesRegex(JournalError, "journal:1: not a line of this suite"):
                self.open()
            self.assertEqual(self.path.read_text(), text)

    def test_a_line_of_another_program_is_refused_and_half_a_line_is_not(self):
        self.open().__exit__(None, None, None)
        whole = self.path.read_text()
        self.path.write_text(whole + '{"scenario": "wor')
        self.open().__exit__(None, None, None)
        self.assertEqual(self.path.read_text(), whole)
        for line in ("[]", "{}", "nothing", '{"left": []}'):
            self.path.write_text(whole + line + "\n")
            with self.subTest(line=line), self.assertRaisesRegex(JournalError, "journal:2: not a line of this suite"):
                self.open()


class Runs(unittest.TestCase):
    def run_of(self, results, journal=None, **options):
        """A runner whose jobs end with these results, one after the other."""
        arguments = types.SimpleNamespace(jobs=options.pop("jobs", 1), seed=1, build=pathlib.Path(), slack=0)
        self.run_one = mock.Mock(side_effect=results)
        here = contextlib.nullcontext(types.SimpleNamespace(run=self.run_one))
        self.enterContext(mock.patch.object(runner, "Processes", return_value=here))
        self.enterContext(mock.patch.object(runner, "on_this_machine", return_value={}))
        self.enterContext(mock.patch.object(runner.leaks, "left", return_value=[]))
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        self.runner = runner.Runner(arguments, journal)
        scenarios = options.pop("scenarios", [KILLED] * 3)
        return self.runner.run([(scenario, "ring", number) for number, scenario in enumerate(scenarios)])

    def journal(self):
        journal = mock.Mock()
        journal.fill.return_value = False
        return journal

    def test_each_result_is_recorded_at_once(self):
        journal = self.journal()
        results = [Result(KILLED, "ring", seconds=number) for number in range(3)]
        self.assertEqual(self.run_of(results, journal), results)
        self.assertEqual(journal.add.call_args_list, [mock.call(result, number) for number, result in enumerate(results)])

    def test_what_is_recorded_is_not_run_again(self):
        journal = self.journal()
        journal.fill.return_value = True
        self.assertEqual(self.run_of([], journal), [Result(KILLED, "ring")] * 3)
        journal.add.assert_not_called()

    def test_the_result_of_a_job_that_the_suite_failed_is_not_recorded(self):
        journal = self.journal()
        results = self.run_of([Result(KILLED, "ring"), OSError("full"), Result(KILLED, "ring")], journal)
        self.assertIn("the suite failed", results[1].problems[0])
        self.assertEqual([call.args[1] for call in journal.add.call_args_list], [0, 2])

    def test_after_a_ctrl_c_nothing_is_recorded_and_no_job_begins(self):
        journal = self.journal()

        def interrupted(*_):
            os.kill(os.getpid(), signal.SIGINT)
            self.runner.interrupted.wait(30)  # the main thread handles it
            return Result(KILLED, "ring", problems=["it was interrupted"])

        self.assertIsNone(self.run_of(interrupted, journal))
        journal.add.assert_not_called()
        self.assertEqual(self.run_one.call_count, 1)

    def lasting_run(self, jobs, patience_s):
        """Whether each job that lasts for minutes has seen the end of the others."""
        others_ended = threading.Event()
        seen = []

        def run_one(_build, _directory, scenario, _strategy, _seed, _slack, repetition):
            if scenario.long:
                seen.append(others_ended.wait(patience_s))
            elif repetition == 3:
                others_ended.set()
            return Result(scenario, "ring")

        self.run_of(run_one, jobs=jobs, scenarios=[LASTS, LASTS, KILLED, KILLED])
        return seen

    def test_jobs_that_last_for_minutes_do_not_keep_others_out(self):
        self.assertEqual(self.lasting_run(jobs=2, patience_s=30), [True, True])

    def test_one_job_at_a_time_means_one(self):
        self.assertEqual(self.lasting_run(jobs=1, patience_s=0), [False, False])


class OwnProcesses(unittest.TestCase):
    def processes(self, run_once):
        # What is patched before they start is patched in them.
        self.enterContext(mock.patch.object(processes, "run_once", run_once))
        return self.enterContext(processes.Processes(1))

    @staticmethod
    def run_in(one, scenario=KILLED):
        return one.run(pathlib.Path(), "", scenario, "ring", 1, 0, 7)

    def test_a_job_runs_in_another_process_and_its_result_comes_back(self):
        def run_once(_build, _directory, scenario, strategy, moment, _slack, repetition):
            return Result(scenario, strategy, kind=str(os.getpid()), seconds=moment.random(), problems=[f"repetition {repetition}"])

        one = self.processes(run_once)
        first, other = self.run_in(one), self.run_in(one, EXITS)
        self.assertNotEqual(first.kind, str(os.getpid()))
        self.assertEqual((first.scenario, first.strategy, first.problems), (KILLED, "ring", ["repetition 7"]))
        self.assertEqual(self.run_in(one), first, "the same moment")
        self.assertNotEqual(other.seconds, first.seconds)

    def test_a_ctrl_c_ends_neither_the_process_nor_its_job(self):
        def run_once(_build, _directory, scenario, strategy, *_):
            os.kill(os.getpid(), signal.SIGINT)
            ended = subprocess.run(["sh", "-c", "kill -INT $$; true"], check=False)
            return Result(scenario, strategy, kind=str(ended.returncode))

        self.assertEqual(self.run_in(self.processes(run_once)).kind, str(-signal.SIGINT), "what it starts gets the Ctrl-C")

    def test_what_the_suite_fails_by_comes_back(self):
        with self.assertRaisesRegex(OSError, "full"):
            self.run_in(self.processes(mock.Mock(side_effect=OSError("full"))))


class Order(unittest.TestCase):
    def test_the_first_job_of_each_cell_comes_before_the_second_of_any(self):
        arguments = types.SimpleNamespace(strategies=None, repeat=2, others_repeat=1, seed=1)
        jobs = fault_suite.jobs_of([(KILLED, "ring"), (KILLED, "tree"), (EXITS, "ring")], arguments)
        named = [(scenario.name, strategy, repetition) for scenario, strategy, repetition in jobs]
        self.assertCountEqual(named[:3], [("worker-killed", "ring", 0), ("worker-killed", "tree", 0), ("worker-exits", "ring", 0)])
        self.assertCountEqual(named[3:], [("worker-killed", "ring", 1), ("worker-exits", "ring", 1)])

    def test_jobs_of_a_scenario_are_spread_over_the_run(self):
        arguments = types.SimpleNamespace(strategies=None, repeat=1, others_repeat=1, seed=1)
        cells = [(scenario, strategy) for scenario in (KILLED, EXITS) for strategy in ALL_STRATEGIES]
        jobs = fault_suite.jobs_of(cells, arguments)
        self.assertIn(EXITS, [scenario for scenario, _, _ in jobs[:len(ALL_STRATEGIES)]])
        self.assertEqual(jobs, fault_suite.jobs_of(cells, arguments), "the same seed")

    def test_the_page_has_the_order_of_the_scenarios(self):
        cells = [(KILLED, "ring"), (KILLED, "tree"), (EXITS, "ring")]
        results = [Result(EXITS, "ring"), Result(KILLED, "tree"), Result(KILLED, "ring"), Result(EXITS, "ring", seconds=2.0)]
        self.assertEqual(fault_suite.in_order_of(cells, results), [results[2], results[1], results[0], results[3]])


class Page(unittest.TestCase):
    def test_it_says_which_pushes_had_been_applied(self):
        results = [Result(KILLED, "ps-async", push=fate) for fate in (APPLIED, NOT_APPLIED, APPLIED, "")]
        self.assertIn("In 3 jobs this push had no answer.", table.pushes_of(results)[1])
        self.assertIn("applied in 2 of them, and not in 1.", table.pushes_of(results)[1])
        self.assertEqual(table.pushes_of(results[3:]), [])
        self.assertIn("the push without an answer was applied", results[0].text())

    def test_it_has_a_second_table(self):
        lines = table.second_table([Result(KILLED, "tree")], repeat=1)
        self.assertIn(table.OTHERS_HEAD, lines)
        self.assertRegex(lines[-1], r"\| tree \| 1/1 \|")
        self.assertEqual(table.second_table([], repeat=1), [])

    def test_each_strategy_is_in_a_table_or_left_out(self):
        self.assertEqual(sorted(ALL_STRATEGIES), sorted({*STRATEGIES, *OTHERS}))
        rows = left_out.rows(ALL_STRATEGIES, ALL_STRATEGIES, [*ALL_STRATEGIES, "nccl", "mesh"])
        self.assertEqual([row[0] for row in rows[:2]], ["nccl", "mesh"])
        self.assertEqual(rows[1][1], left_out.NOBODY_KNOWS)

    def test_where_nothing_can_be_counted_there_must_be_parameters(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        job = types.SimpleNamespace(bundle=folder, text=lambda: "")
        for strategy in ("diloco", "ring"):
            result = Result(KILLED, strategy)
            judge_count(result, job)
            self.assertIn("there are no parameters", result.problems[0])
        (folder / "params.bin").write_bytes(bytes(80 + 4 * 288))
        for strategy, wrong in (("diloco", 0), ("ring", 1)):
            result = Result(KILLED, strategy)
            judge_count(result, job)
            self.assertEqual(len(result.problems), wrong)


if __name__ == "__main__":
    unittest.main()

"""Runs on two hosts that mpirun reaches by ssh: network namespaces with a real sshd.

usage: ssh_test.py     with RINGSIDE and RINGSIDE_WITH_FAULTS (executables) set; as root
"""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from main import main
from ssh_hosts import ADDRESSES, SshHosts

RINGSIDE = os.environ["RINGSIDE"]
WITH_FAULTS = os.environ["RINGSIDE_WITH_FAULTS"]
MODEL = ["--model", "mlp", "--data", "digits", "--hidden", "64,64", "--bucket-mb", "0.0078125", "--steps", "20", "--eval-every", "20"]
# For the executable with faults, which has no libtorch, and for runs that somebody ends.
ENDLESS = ["--model", "profile:mobilenet-v2", "--compute-ms", "5", "--steps", "100000"]
LEASE_S = 4.75  # of every process
END_S = 10  # At most so long after the decision the launcher has ended, on a busy machine.


class Ssh(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.hosts = self.enterContext(SshHosts(self.folder))
        self.token = self.folder / "secret" / "token"
        self.token.parent.mkdir()
        self.token.touch(0o600)
        self.token.write_text("0123456789abcdef" * 4)

    def start(self, *flags, what="train", hosts=f"{ADDRESSES[0]} slots=2\n{ADDRESSES[1]} slots=2\n", program=RINGSIDE, **variables):
        file = self.folder / "hosts.txt"
        file.write_text(hosts)
        out = ["--out", self.folder / "run", "--force"] if what == "train" else []
        command = [program, what, "--hostfile", file, "--insecure-network", *out, *flags]
        environment = {**self.hosts.environment(), "RINGSIDE_TOKEN_FILE": str(self.token), **variables}
        return subprocess.Popen(self.hosts.command(command), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def finish(self, process, expects=0, timeout=120):
        text, _ = process.communicate(timeout=timeout)
        self.assertEqual(process.returncode, expects, text[-3000:])
        return text

    def train(self, *flags, expects=0, **options):
        return self.finish(self.start(*flags, **options), expects)

    def summary(self):
        return json.loads((self.folder / "run" / "summary.json").read_text())

    def kinds_of_processes(self, host):
        """What the processes of Ringside in a host's namespace are: "agent", "server", "train", "worker", or of `bench`."""
        words = [self.words_of(pid) for pid in self.hosts.pids(host)]
        return sorted(own[1] for own in words if own[0] == RINGSIDE)

    @staticmethod
    def words_of(pid):
        """The command of a process; [""] if it has ended."""
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            return [""]

    def wait_for(self, what, holds, limit_s=60):
        end = time.monotonic() + limit_s
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def wait_for_kinds(self, host, kinds):
        self.wait_for(kinds, lambda: self.kinds_of_processes(host) == kinds)

    def wait_until_all_have_ended(self, host):
        """Ours. Nobody can tell a host that is cut off to end. mpirun's daemon there waits for TCP to give up."""
        self.wait_for("the end of the processes", lambda: not self.kinds_of_processes(host), limit_s=30)

    def expect_nothing_left(self):
        end = time.monotonic() + 20
        while any(len(self.hosts.pids(host)) > host for host in (0, 1)):  # the second one has its sshd
            self.assertLess(time.monotonic(), end, [self.hosts.pids(host) for host in (0, 1)])
            time.sleep(0.1)

    def wait_for_a_step(self):
        metrics = self.folder / "run" / "metrics.jsonl"
        self.wait_for("a step", lambda: metrics.exists() and metrics.read_text().count("\n") >= 4)

    def alone(self, *flags):
        out = self.folder / "alone"
        subprocess.run([RINGSIDE, "train", "--quiet", "--out", out, "--force", *flags, *MODEL], check=True, capture_output=True)
        return json.loads((out / "summary.json").read_text())["params_sha256"]

    def test_workers_and_servers_on_two_hosts(self):
        for flags in (["--strategy", "ring", "--workers", "4"], ["--strategy", "ps-sync", "--workers", "2", "--servers", "2"],
                      ["--strategy", "hierarchical", "--workers", "4"]):
            with self.subTest(flags=flags):
                self.train(*flags, *MODEL)
                summary = self.summary()
                self.assertEqual(summary["status"], "done")
                self.assertEqual(summary["launcher"], "mpirun")
                self.assertGreater(min(summary["measured_links"]), 0)
                # Processes share hosts, so nobody knows which bytes use the links.
                self.assertIsNone(summary["link_bits_per_s"])
                self.assertIsNone(summary["bound_ms"])
                if "ring" in flags or "ps-sync" in flags:
                    self.assertEqual(summary["params_sha256"], self.alone(*flags))
                self.expect_nothing_left()

    def test_bench_and_verify(self):
        process = self.start("--strategy", "ring", "--workers", "4", "-b", "1MiB", "-e", "1MiB", "-n", "4000", "-w", "1", what="bench")
        self.wait_for_kinds(1, ["agent", "agent", "bench-worker", "bench-worker"])
        process.send_signal(signal.SIGINT)
        self.finish(process, expects=130)
        text = self.finish(self.start("--strategy", "ring,ps-sync", "--workers", "4", "--servers", "colocated", "-b", "64KiB",
                                      "-e", "64KiB", "-n", "3", "-w", "1", "--json", what="bench"))
        rows = json.loads(text[text.index("{"):])["rows"]
        self.assertEqual([(row["strategy"], row["workers"], row["wrong"]) for row in rows], [("ring", 4, 0), ("ps-sync", 4, 0)])
        text = self.finish(self.start("--strategies", "ring", "--workers", "4", "--optimizers", "sgd", "--repeat", "none", *MODEL[:-2],
                                      what="verify"))
        self.assertRegex(text, r"sgd +ring +4 .* OK")
        self.expect_nothing_left()

    def test_the_bound_is_that_of_the_measured_links(self):
        self.train("--strategy", "ring", "--workers", "2", *MODEL, hosts=f"{ADDRESSES[0]}\n{ADDRESSES[1]}\n")
        summary = self.summary()
        self.assertAlmostEqual(summary["link_bits_per_s"], min(summary["measured_links"]) * 8 * 1514 / 1448, delta=1e4)
        self.assertGreater(summary["bound_comm_ms"], 0)

    def test_slices_follow_the_measured_links(self):
        flags = ["--strategy", "ps-sync", "--workers", "2", "--servers", "1", "--model", "profile:mobilenet-v2", "--compute-ms", "5",
                 "--steps", "3"]
        hosts = f"{ADDRESSES[0]} slots=2\n{ADDRESSES[1]} servers=1\n"
        self.hosts.limit("200mbit")
        self.train(*flags, hosts=hosts)
        limited = self.summary()
        self.assertLess(min(limited["measured_links"]), 200e6 / 8)
        # 0.5 ms of such links are less than the least slice.
        self.assertLessEqual(limited["facts"]["slice_bytes"], 48 << 10)
        # A declared rate is believed.
        self.train(*flags, "--link", "10Gbps", hosts=hosts)
        self.assertGreater(self.summary()["facts"]["slice_bytes"], 96 << 10)

    def test_servers_on_a_host_of_their_own(self):
        process = self.start("--strategy", "ps-sync", "--workers", "2", "--servers", "1", *ENDLESS,
                             hosts=f"{ADDRESSES[0]} slots=2\n{ADDRESSES[1]} servers=1\n")
        self.wait_for_a_step()
        kinds = [self.kinds_of_processes(host) for host in (0, 1)]
        process.send_signal(signal.SIGINT)
        self.finish(process, expects=130)
        self.assertEqual(kinds, [["agent", "agent", "train", "worker", "worker"], ["agent", "server"]])
        self.assertEqual(self.summary()["servers"], 1)
        self.expect_nothing_left()

    def test_the_environment_reaches_every_rank(self):
        text = self.train("--strategy", "ring", "--workers", "4", *ENDLESS, program=WITH_FAULTS, expects=1,
                          RINGSIDE_FAULT="kill@rank3:step3")
        self.assertRegex(text, r"worker 3 \(pid \d+\) was killed by signal 9")
        self.expect_nothing_left()

    def test_a_killed_rank_starts_the_run_again_from_its_checkpoint(self):
        self.train("--strategy", "ring", "--workers", "4", "--model", "profile:mobilenet-v2", "--compute-ms", "5", "--steps", "12",
                   "--checkpoint-every", "2", "--on-failure", "restart", program=WITH_FAULTS, RINGSIDE_FAULT="kill@rank3:step6")
        summary = self.summary()
        self.assertEqual((summary["status"], summary["restarts"], summary["total_steps"]), ("done", 1, 12))
        self.assertGreater(summary["first_step"], 0)
        self.assertEqual(len(summary["measured_links"]), 2)
        self.expect_nothing_left()

    def test_checkpoints_need_a_directory_that_the_hosts_share(self):
        (self.folder / "run").mkdir()
        self.hosts.hide(self.folder / "run")
        hosts = f"{ADDRESSES[1]} slots=2\n"
        self.train("--strategy", "ring", "--workers", "2", *MODEL, hosts=hosts)
        self.train("--strategy", "ring", "--workers", "2", *MODEL, "--save-params", hosts=hosts, expects=1)
        self.assertRegex(self.summary()["error"], rf"worker 0 on .* does not see the run's directory {self.folder}/run")
        self.expect_nothing_left()

    def test_a_matrix_goes_on_after_an_interrupt(self):
        """The links are measured before each of its runs, too, and its report has both halves."""
        spec, hosts, results = self.folder / "spec.yaml", self.folder / "hosts.txt", self.folder / "results"
        spec.write_text("name: both\ndefaults:\n  model: mlp\n  data: digits\n  hidden: [16]\n  steps: 10\n  workers: 2\n"
                        "axes:\n  strategy: [ring, ps-sync]\nrepetitions: 2\n")
        hosts.write_text(f"{ADDRESSES[0]}\n{ADDRESSES[1]} slots=2\n")
        command = self.hosts.command([RINGSIDE, "matrix", spec, "--hostfile", hosts, "--insecure-network", "--out", results])
        environment = {**self.hosts.environment(), "RINGSIDE_TOKEN_FILE": str(self.token)}

        def times_of_bundles():
            return {path: path.stat().st_mtime_ns for path in results.glob("both/*/summary.json")}

        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        end = time.monotonic() + 60
        while not times_of_bundles():
            self.assertLess(time.monotonic(), end, "no run ended")
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.finish(process, expects=130)
        before = {path: when for path, when in times_of_bundles().items() if json.loads(path.read_text())["status"] == "done"}
        self.assertIn(len(before), (1, 2, 3))
        self.expect_nothing_left()

        resumed = subprocess.run([*command, "--resume"], env=environment, capture_output=True, text=True)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        after = times_of_bundles()
        self.assertEqual(len(after), 4)
        self.assertEqual({path: after[path] for path in before}, before, "a finished run was made again")
        for path in after:
            summary = json.loads(path.read_text())
            self.assertEqual((summary["status"], summary["launcher"]), ("done", "mpirun"))
            self.assertEqual(len(summary["measured_links"]), 2)
            # The server shares a host with a worker; the two workers of a ring do not.
            self.assertEqual(summary["bound_comm_ms"] is not None, summary["strategy"] == "ring")
        subprocess.run([RINGSIDE, "report", results / "both"], check=True, capture_output=True)
        cells = json.loads((results / "both" / "report.json").read_text())["cells"]
        self.assertEqual({(cell["strategy"], cell["runs"]) for cell in cells}, {("ring", 2), ("ps-sync", 2)})
        self.expect_nothing_left()

    def test_an_interrupt_keeps_the_results(self):
        process = self.start("--strategy", "ring", "--workers", "4", *ENDLESS)
        self.wait_for_a_step()
        process.send_signal(signal.SIGINT)
        self.finish(process, expects=130)
        self.assertEqual(self.summary()["status"], "interrupted")
        self.expect_nothing_left()

    def test_a_killed_launcher_leaves_nothing(self):
        process = self.start("--strategy", "ring", "--workers", "4", *ENDLESS)
        self.wait_for_a_step()
        process.kill()
        process.communicate(timeout=30)
        self.expect_nothing_left()

    def test_a_host_that_is_cut_off_ends_the_run(self):
        process = self.start("--strategy", "ring", "--workers", "4", *ENDLESS, "--timeout", "5s")
        self.wait_for_a_step()
        self.hosts.cut()
        text = self.finish(process, expects=1, timeout=60)
        self.assertRegex(text, r"worker [23]|agent of rank [23]")
        self.wait_until_all_have_ended(1)

    def test_a_host_is_found_cut_off_while_its_links_are_idle(self):
        """A step takes a minute, and until its end only heartbeats cross the wire."""
        process = self.start("--strategy", "ring", "--workers", "2", "--model", "profile:mobilenet-v2", "--compute-ms", "60000",
                             "--steps", "3", hosts=f"{ADDRESSES[0]}\n{ADDRESSES[1]}\n")
        self.wait_for_kinds(1, ["agent", "worker"])
        time.sleep(8)  # Both have joined, and nothing of the start is on its way.
        self.hosts.cut()
        cut = time.monotonic()
        self.finish(process, expects=1, timeout=60)
        self.assertLess(time.monotonic() - cut, LEASE_S + END_S)
        failure = self.summary()["failure"]
        self.assertEqual(failure["kind"], "lost", self.summary()["error"])
        self.assertIn(failure["member"], ("worker 1", "agent of rank 1"))  # both are there
        self.wait_until_all_have_ended(1)

    def test_a_suspended_launcher_is_missed_with_its_host(self):
        """Its processes on the other host wait for it while it is suspended. When nothing of its host arrives, they end."""
        process = self.start("--strategy", "ring", "--workers", "2", *ENDLESS, hosts=f"{ADDRESSES[1]} slots=2\n")
        self.wait_for_a_step()
        launcher = next(pid for pid in self.hosts.pids(0) if self.words_of(pid)[:2] == [RINGSIDE, "train"])
        os.kill(launcher, signal.SIGTSTP)
        self.wait_for("the launcher's sleep", lambda: "\nState:\tT" in pathlib.Path(f"/proc/{launcher}/status").read_text())
        time.sleep(2 * LEASE_S)
        self.assertEqual(self.kinds_of_processes(1), ["agent", "agent", "worker", "worker"])
        self.hosts.cut()
        self.wait_until_all_have_ended(1)
        os.kill(launcher, signal.SIGCONT)
        self.finish(process, expects=1, timeout=60)

    def test_a_host_without_sshd_is_named(self):
        self.hosts.sshd.terminate()
        self.hosts.sshd.wait()
        started = time.monotonic()
        text = self.train("--strategy", "ring", "--workers", "4", *MODEL, expects=1)
        self.assertIn(ADDRESSES[1], self.summary()["error"], text)
        self.assertIn("before any process had joined", self.summary()["error"])
        self.assertLess(time.monotonic() - started, 40)

    def test_processes_that_do_not_come_are_named_with_their_host(self):
        worker = self.folder / "worker"
        worker.write_text(f"""#!/bin/sh
case "$SSH_CONNECTION" in *" {ADDRESSES[1]} "*) exec sleep 100 ;; esac
exec {pathlib.Path(RINGSIDE).with_name("ringside-worker")} "$@"
""")
        worker.chmod(0o755)
        started = time.monotonic()
        text = self.train("--strategy", "ring", "--workers", "4", "--start-timeout", "5s", *MODEL, expects=1,
                          RINGSIDE_WORKER=str(worker))
        self.assertRegex(self.summary()["error"], rf"worker [23] did not join within 5 s; it was to run on {ADDRESSES[1]}", text)
        self.assertLess(time.monotonic() - started, 40)
        self.expect_nothing_left()

    def test_a_token_that_is_not_on_every_host_is_named(self):
        self.hosts.hide(self.token.parent)
        text = self.train("--strategy", "ring", "--workers", "4", *MODEL, expects=1)
        self.assertRegex(self.summary()["error"], rf"process [23] on .*: the file of the token, {self.token}, is not there", text)
        self.expect_nothing_left()
        self.token.unlink()
        self.assertIn("is not there", self.train("--strategy", "ring", "--workers", "4", *MODEL, expects=2))

    def test_a_gpu_is_looked_for_by_the_workers(self):
        """Not by the machine that starts them."""
        listed = json.loads(subprocess.run([RINGSIDE, "list", "strategies", "--json"], check=True, capture_output=True, text=True).stdout)
        if next(row["available"] for row in listed["strategies"] if row["name"] == "nccl"):
            self.skipTest("this machine has a GPU")
        text = self.train("--strategy", "nccl", "--workers", "4", *MODEL, expects=4)
        self.assertRegex(self.summary()["error"], r"worker [0-3]", text)

    def test_no_token_is_refused(self):
        text = self.train("--strategy", "ring", "--workers", "4", *MODEL, expects=2, RINGSIDE_TOKEN_FILE="")
        self.assertIn("set RINGSIDE_TOKEN_FILE", text)

    def test_an_open_network_is_refused(self):
        file = self.folder / "hosts.txt"
        file.write_text(f"{ADDRESSES[1]} slots=2\n")
        done = subprocess.run(self.hosts.command([RINGSIDE, "train", "--hostfile", file, "--strategy", "ring", "--workers", "2"]),
                              capture_output=True, text=True, env=self.hosts.environment())
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("is not loopback", done.stderr)

    def test_an_unknown_host_is_named_with_its_line(self):
        for address in ([], ["--address", ADDRESSES[0]]):
            with self.subTest(address=address):
                text = self.train("--strategy", "ring", "--workers", "2", *MODEL, *address, expects=2,
                                  hosts=f"{ADDRESSES[0]}\n{ADDRESSES[1]}\nno-such-host.invalid\n")
                self.assertIn("hosts.txt:3: cannot find the host 'no-such-host.invalid'", text)
                self.assertFalse((self.folder / "run" / "logs").exists(), "something was started")

    def test_ssh_gets_the_whole_name_of_a_host(self):
        """Without its domain the name leads nowhere, neither for ssh nor for anybody else."""
        settings = self.folder / "ssh_config"
        settings.write_text(f"Host second.cluster.invalid\n  HostName {ADDRESSES[1]}\n")
        words = [*self.hosts.ssh(), "-F", str(settings)]
        self.train("--strategy", "ring", "--workers", "2", *MODEL, hosts=f"{ADDRESSES[0]}\nsecond.cluster.invalid\n",
                   OMPI_MCA_plm_rsh_agent=" ".join(words))
        self.assertEqual(self.summary()["status"], "done")
        self.expect_nothing_left()


if __name__ == "__main__":
    main()

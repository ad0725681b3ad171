"""Runs under a real Slurm: munge, slurmctld and two slurmd on this machine.

usage: slurm_test.py     with RINGSIDE and RINGSIDE_WITH_FAULTS (executables) set; as root, as which slurmd runs
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from main import main
from slurm_cluster import SlurmCluster, free_ports, wait_for

RINGSIDE = os.environ["RINGSIDE"]
WITH_FAULTS = os.environ["RINGSIDE_WITH_FAULTS"]
MODEL = ["--model", "mlp", "--data", "digits", "--hidden", "64,64", "--bucket-mb", "0.0078125", "--steps", "20", "--eval-every", "20"]
# For the executable with faults, which has no libtorch, and for runs that somebody ends.
ENDLESS = ["--model", "profile:mobilenet-v2", "--compute-ms", "5", "--steps", "100000"]


def processes_of(folder):
    """The processes whose command line or environment names `folder`: the node and the words of each."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(str(folder) in text for text in (*words, *environment)):
            variables = dict(text.split("=", 1) for text in environment if "=" in text)
            found.append((variables.get("SLURMD_NODENAME"), words))
    return found


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.slurm = cls.enterClassContext(SlurmCluster(cls.enterClassContext(tempfile.TemporaryDirectory())))

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def tearDown(self):
        wait_for("the end of all processes", lambda: not processes_of(self.folder))

    def summary(self, name="run"):
        return json.loads((self.folder / name / "summary.json").read_text())

    def script(self, lines):
        """Agents, workers and servers name the folder in their environment alone."""
        path = self.folder / "job.sh"
        path.write_text(f"#!/bin/bash\nset -euo pipefail\nexport FOLDER_OF_TEST={self.folder}\n{lines}\n")
        return path

    def submit(self, lines, *options, expects=0, timeout=120):
        """Runs lines as a batch job until it has ended. Returns what it wrote."""
        log = self.folder / "job.log"
        done = self.slurm.run_job(f"--output={log}", f"--chdir={self.folder}", *options, self.script(lines), timeout=timeout)
        text = log.read_text() if log.exists() else ""
        self.assertEqual(done.returncode, expects, done.stderr + text[-3000:])
        return text

    def begin(self, command, *options):
        """Submits a command. Returns the number of the job."""
        job = self.slurm.run("sbatch", "--parsable", f"--output={self.folder}/job.log", *options, self.script("exec " + command))
        self.assertEqual(job.returncode, 0, job.stderr)
        return job.stdout.strip()

    def start(self, command, *options):
        """Submits a command that does not end by itself. Returns the number of the job after its first steps."""
        job = self.begin(command, *options)
        metrics = self.folder / "run" / "metrics.jsonl"
        wait_for("a step", lambda: metrics.exists() and metrics.read_text().count("\n") > 3, 60)
        return job

    def end(self, job):
        """Asks a job to end, as Slurm does before its time is over, and waits until it has."""
        self.slurm.run("scancel", "--batch", "--signal=TERM", job)
        wait_for("the end of the job", lambda: not self.slurm.run("squeue", "-h").stdout.strip(), 60)

    def nodes_of(self, kind):
        """The nodes of the job's processes: of "train", "agent", "worker" or "server"."""
        return sorted(node for node, words in processes_of(self.folder) if words[1:2] == [kind])

    def worker_after(self, line):
        """A program for RINGSIDE_WORKER: it runs a line of shell, and is a worker then."""
        path = self.folder / "worker"
        path.write_text(f'#!/bin/sh\n{line}\nexec {pathlib.Path(RINGSIDE).with_name("ringside-worker")} "$@"\n')
        path.chmod(0o755)
        return path

    def train(self, *flags, program=RINGSIDE, launcher="srun", out="run"):
        return " ".join([program, "train", "--launcher", launcher, "--address", "127.0.0.1", "--out", str(self.folder / out), *flags])

    def hosts(self, lines):
        path = self.folder / "hosts.txt"
        path.write_text(lines)
        return str(path)

    def parameters(self, *flags):
        """The parameters of a run that Ringside starts itself."""
        out = self.folder / "alone"
        subprocess.run([RINGSIDE, "train", "--quiet", "--out", out, "--force", *flags, *MODEL], check=True, capture_output=True)
        return self.summary("alone")["params_sha256"]

    def test_srun_starts_workers_and_servers(self):
        text = self.submit(self.train("--strategy", "ps-sync", "--workers", "4", "--servers", "4", *MODEL), "--nodes=2",
                           "--ntasks-per-node=4")
        summary = self.summary()
        self.assertEqual(summary["status"], "done", text)
        self.assertEqual(summary["launcher"], "srun")
        self.assertEqual(summary["params_sha256"], self.parameters("--strategy", "ps-sync", "--workers", "4", "--servers", "4"))

    def test_uneven_nodes(self):
        """Three workers on one node, one on the other."""
        hosts = self.hosts("n1 slots=3\nn2 slots=1\n")
        job = self.start(self.train("--strategy", "ring", "--workers", "4", "--hostfile", hosts, *ENDLESS), "--nodes=2",
                         "--ntasks-per-node=4")
        nodes = self.nodes_of("worker")
        self.end(job)
        self.assertEqual(nodes, ["n1", "n1", "n1", "n2"])
        self.assertEqual(self.summary()["status"], "interrupted")
        self.assertEqual(len(self.summary()["measured_links"]), 2)

    def test_a_step_of_the_user(self):
        """`srun ringside train`: every task is a rank. In the script around it, the same command is none."""
        token = self.folder / "token"
        token.touch(0o600)
        token.write_text("0123456789abcdef" * 4)
        words = f"{RINGSIDE} train --strategy ring --quiet {' '.join(MODEL)} --out"
        # The step has one node; two nodes need to know where rank 0 is.
        one = f"srun -N1 -n2 {words} {self.folder}/one\n"
        # Three ranks on one node, one on the other.
        step = f"MASTER_ADDR=127.0.0.1 MASTER_PORT={free_ports(1)[0]} RINGSIDE_TOKEN_FILE={token} " \
               f"SLURM_HOSTFILE={self.folder}/nodes srun -N2 -n4 -m arbitrary"
        uneven = f"printf 'n1\\nn1\\nn1\\nn2\\n' >{self.folder}/nodes\n" \
                 f"{step} {words} {self.folder}/two\n{step} {RINGSIDE} doctor\n"
        alone = f"{words} {self.folder}/single --workers 1\n"
        expected = self.parameters("--strategy", "ring", "--workers", "4")
        text = self.submit(one + uneven + alone, "--nodes=2", "--ntasks-per-node=3")
        for rank, local in enumerate(("0 of 3", "1 of 3", "2 of 3", "0 of 1")):
            self.assertIn(f"rank {rank} of 4 workers, local rank {local}, from ", text)
        self.assertEqual(self.summary("one")["workers"], 2)
        self.assertEqual(self.summary("one")["launcher"], "srun")
        self.assertEqual(self.summary("two")["workers"], 4)
        self.assertEqual(self.summary("two")["params_sha256"], expected)
        self.assertEqual(self.summary("single")["workers"], 1)
        self.assertEqual(self.summary("single")["launcher"], "ringside")

    def test_bench_and_verify(self):
        nodes = self.folder / "nodes_of_workers"
        worker = self.worker_after(f'echo "$SLURMD_NODENAME" >>{nodes}')
        where = "--launcher srun --address 127.0.0.1 --workers 4"
        bench = f"{RINGSIDE} bench {where} --strategy ring,ps-sync -b 64KiB -e 64KiB -n 3 -w 1 --json >{self.folder}/bench.json"
        verify = f"{RINGSIDE} verify {where} --strategies ring --optimizers sgd --repeat none {' '.join(MODEL[:-2])}"
        text = self.submit(f"export RINGSIDE_WORKER={worker}\n{bench}\n{verify}\n", "--nodes=2", "--ntasks-per-node=3")
        rows = json.loads((self.folder / "bench.json").read_text())["rows"]
        self.assertEqual([(row["strategy"], row["workers"], row["wrong"]) for row in rows], [("ring", 4, 0), ("ps-sync", 4, 0)])
        self.assertRegex(text, r"sgd +ring +4 .* OK")
        self.assertEqual(set(nodes.read_text().split()), {"n1", "n2"})

    def test_mpirun_in_an_allocation(self):
        command = self.train("--strategy", "ring", "--workers", "4", *ENDLESS, launcher="mpirun")
        job = self.start(command, "--nodes=2", "--ntasks-per-node=2")
        nodes = self.nodes_of("worker")
        self.end(job)
        self.assertEqual(nodes, ["n1", "n1", "n2", "n2"])
        self.assertEqual((self.summary()["status"], self.summary()["launcher"]), ("interrupted", "mpirun"))
        self.assertEqual(len(self.summary()["measured_links"]), 2)

    def test_two_nodes_without_an_address_are_refused(self):
        text = self.submit(f"srun -N2 -n2 {RINGSIDE} train --strategy ring --quiet {' '.join(MODEL)} --out {self.folder}/run",
                           "--nodes=2", "--ntasks=2", expects=2)
        self.assertIn("set MASTER_ADDR, MASTER_PORT and RINGSIDE_TOKEN_FILE", text)

    def test_a_failing_rank_is_named(self):
        command = "export RINGSIDE_FAULT=kill@rank1:step3\n" + self.train("--strategy", "ring", "--workers", "4", *ENDLESS,
                                                                          program=WITH_FAULTS)
        text = self.submit(command, "--nodes=2", "--ntasks=4", expects=1)
        self.assertRegex(text, r"worker 1 \(pid \d+\) was killed by signal 9")
        self.assertEqual(self.summary()["status"], "failed")

    def test_processes_that_do_not_come_are_named_with_their_node(self):
        worker = self.worker_after('case "$SLURMD_NODENAME" in n2) exec sleep 100 ;; esac')
        command = f"export RINGSIDE_WORKER={worker}\n" + self.train("--strategy", "ring", "--workers", "4", "--start-timeout", "5s", *MODEL)
        text = self.submit(command, "--nodes=2", "--ntasks-per-node=2", expects=1)
        self.assertRegex(self.summary()["error"], r"worker [23] did not join within 5 s; it was to run on n2", text)

    def test_scancel_keeps_the_results(self):
        job = self.start(self.train("--strategy", "ring", "--workers", "4", *ENDLESS), "--nodes=2", "--ntasks-per-node=2")
        # Otherwise nothing could be left.
        for kind in ("agent", "worker"):
            self.assertEqual(self.nodes_of(kind), ["n1", "n1", "n2", "n2"])
        self.end(job)  # Slurm's own way would end all tasks at once
        self.assertEqual(self.summary()["status"], "interrupted")

    def test_servers_have_a_node_of_their_own_and_scancel_leaves_nothing(self):
        job = self.start(self.train("--strategy", "ps-sync", "--workers", "2", "--servers", "2", *ENDLESS), "--nodes=2",
                         "--ntasks-per-node=2")
        self.assertEqual(self.nodes_of("worker"), ["n1", "n1"])
        self.assertEqual(self.nodes_of("server"), ["n2", "n2"])
        self.assertEqual(self.nodes_of("agent"), ["n1", "n1", "n2", "n2"])
        self.slurm.run("scancel", job)
        wait_for("the end of the job", lambda: not self.slurm.run("squeue", "-h").stdout.strip(), 60)
        self.assertEqual(self.summary()["status"], "interrupted")

    def test_a_matrix_goes_on_in_the_next_allocation(self):
        spec = self.folder / "spec.yaml"
        spec.write_text("name: both\ndefaults:\n  model: mlp\n  data: digits\n  hidden: [16]\n  steps: 10\n"
                        "axes:\n  strategy: [ring, ps-sync]\n  workers: [1, 2]\nrepetitions: 1\n")
        command = f"{RINGSIDE} matrix {spec} --launcher srun --address 127.0.0.1 --out {self.folder}/results"
        tasks = ("--nodes=2", "--ntasks-per-node=2")

        def summaries():
            return {path: json.loads(path.read_text()) for path in (self.folder / "results" / "both").glob("*/summary.json")}

        job = self.begin(command, *tasks)
        wait_for("the end of a run", summaries, 60)
        self.end(job)
        times = {path: path.stat().st_mtime_ns for path, summary in summaries().items() if summary["status"] == "done"}
        self.assertIn(len(times), (1, 2, 3))

        self.submit(command + " --resume", *tasks)
        after = summaries()
        self.assertEqual(len(after), 4)
        self.assertEqual({(summary["status"], summary["launcher"]) for summary in after.values()}, {("done", "srun")})
        # Two workers alone are on one node; a server has the other one.
        links = {len(summary["measured_links"] or []) for summary in after.values()
                 if (summary["strategy"], summary["workers"]) == ("ps-sync", 2)}
        self.assertEqual(links, {2})
        self.assertEqual({path: path.stat().st_mtime_ns for path in times}, times, "a finished run was made again")

    def test_a_manifest_is_a_job(self):
        worker = self.folder / "worker"
        worker.write_text(f"""#!/bin/sh
echo "$WORD" >>{self.folder}/words
exec {pathlib.Path(RINGSIDE).with_name("ringside-worker")} "$@"
""")
        worker.chmod(0o755)
        # The nodes' names are unknown outside of Slurm here, so the address must be said.
        variables = ["WORD=a b", f"RINGSIDE_WORKER={worker}", "RINGSIDE_ADDRESS=127.0.0.1", f"FOLDER_OF_TEST={self.folder}"]
        manifest = subprocess.run([RINGSIDE, "manifest", "--kind", "sbatch", "--name", "four", "--nodes", "2",
                                   *(word for variable in variables for word in ("--env", variable)),
                                   "--strategy", "ps-sync", "--workers", "3", "--servers", "1", "--time-limit", "5min", *MODEL],
                                  check=True, capture_output=True, text=True).stdout
        path = self.folder / "four.sh"
        path.write_text(manifest.replace("--launcher srun", f"--launcher srun --out {self.folder}/run"))
        done = self.slurm.run_job(f"--chdir={self.folder}", path)
        logs = "".join(log.read_text() for log in self.folder.glob("four-*.log"))
        self.assertEqual(done.returncode, 0, done.stderr + logs)
        self.assertEqual(self.summary()["status"], "done")
        self.assertEqual(self.summary()["servers"], 1)
        # Every rank has written the variable of the manifest.
        self.assertEqual((self.folder / "words").read_text().splitlines(), ["a b"] * 3)

    def test_too_few_tasks_are_refused_at_once(self):
        started = time.monotonic()
        text = self.submit(self.train("--strategy", "ps-sync", "--workers", "4", "--servers", "1", *MODEL), "--nodes=2", "--ntasks=4",
                           expects=2)
        self.assertRegex(text, r"Slurm job \d+: 4 workers and 1 dedicated servers need a slot each, but there are 4 slots")
        self.assertLess(time.monotonic() - started, 20)

    def test_a_node_that_the_allocation_lacks_is_named(self):
        hosts = self.hosts("n1 slots=1\nn7 slots=1\n")
        text = self.submit(self.train("--strategy", "ring", "--workers", "2", "--hostfile", hosts, *MODEL), "--nodes=2", "--ntasks=2",
                           expects=2)
        self.assertRegex(text, r"hosts.txt:2: node 'n7' is not one of Slurm job \d+")

    def test_srun_outside_of_an_allocation_is_refused(self):
        done = subprocess.run([RINGSIDE, "train", "--launcher", "srun", "--workers", "2", "--out", self.folder / "run", *MODEL],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("in a job of sbatch or salloc", done.stderr)


if __name__ == "__main__":
    main()

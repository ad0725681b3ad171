"""A Slurm cluster on this machine: munge, slurmctld and two slurmd, each a node, all in one directory.

The nodes n1 and n2 have four processors each, whatever this machine has. Ports are free ones. Everything ends with the
context.
"""
import contextlib
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import time

from started import Started

NODES = 2
PROCESSORS = 4


def free_ports(count):
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def program(name):
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not found:
        raise RuntimeError(f"{name} is missing: scripts/install-dependencies.sh --tests installs slurmctld, slurmd and munge")
    return found


def wait_for(what, ready, seconds=30):
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise RuntimeError(f"waited in vain for {what}")
        time.sleep(0.1)


class SlurmCluster(Started):
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.daemons = []

    def start(self):
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(1024))
        self.munge_socket = self.folder / "munge.socket"
        self.start_daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.munge_socket}",
                          f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                          f"--seed-file={self.folder}/munged.seed")
        wait_for("munged", self.munge_socket.exists)
        self.configure()
        self.start_daemon("slurmctld", "-D", "-f", self.config, "-i")
        for node in range(1, NODES + 1):
            self.start_daemon("slurmd", "-D", "-f", self.config, "-N", f"n{node}")
        try:
            wait_for("the nodes of Slurm", lambda: self.run("sinfo", "-h", "-o", "%T %D").stdout.split() == ["idle", str(NODES)])
        except RuntimeError as error:
            logs = "\n".join(f"{path.name}: {path.read_text()[-1500:]}" for path in sorted(self.folder.glob("*.log")))
            raise RuntimeError(f"{error}\n{logs}") from None

    def configure(self):
        (self.folder / "state").mkdir()
        host = socket.gethostname()
        port, *node_ports = free_ports(1 + NODES)
        lines = {
            "ClusterName": "ringside", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmctldPort": port,
            "SlurmUser": "root", "SlurmdUser": "root",
            "AuthType": "auth/munge", "AuthInfo": f"socket={self.munge_socket}", "CredType": "cred/munge",
            "MpiDefault": "none", "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "SwitchType": "switch/none",
            "StateSaveLocation": self.folder / "state", "SlurmdSpoolDir": f"{self.folder}/spool-%n",
            "SlurmctldPidFile": f"{self.folder}/slurmctld.pid", "SlurmdPidFile": f"{self.folder}/slurmd-%n.pid",
            "SlurmctldLogFile": f"{self.folder}/slurmctld.log", "SlurmdLogFile": f"{self.folder}/slurmd-%n.log",
            "SlurmdParameters": "config_overrides", "ReturnToService": 2, "KillWait": 10, "SlurmdTimeout": 30,
            "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core",
            "JobAcctGatherType": "jobacct_gather/none", "AccountingStorageType": "accounting_storage/none",
        }
        text = "".join(f"{key}={value}\n" for key, value in lines.items())
        for node in range(1, NODES + 1):
            text += (f"NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={node_ports[node - 1]} CPUs={PROCESSORS} "
                     f"RealMemory=1000 State=UNKNOWN\n")
        text += f"PartitionName=main Nodes=n[1-{NODES}] Default=YES MaxTime=60 State=UP\n"
        self.config = self.folder / "slurm.conf"
        self.config.write_text(text)

    def start_daemon(self, name, *arguments):
        log = (self.folder / f"{name}-{len(self.daemons)}.out").open("w")
        self.daemons.append(subprocess.Popen([program(name), *map(str, arguments)], stdout=log, stderr=log, stdin=subprocess.DEVNULL))
        log.close()

    def environment(self):
        return {**os.environ, "SLURM_CONF": str(self.config)}

    def run(self, name, *arguments, timeout=120, **options):
        return subprocess.run([program(name), *map(str, arguments)], env=self.environment(), capture_output=True, text=True,
                              timeout=timeout, **options)

    def run_job(self, *arguments, timeout=120):
        """Submits a batch job and waits until it has ended: `sbatch --wait` looks only every ten seconds. Its exit code is that of the
        job, or of a signal that ended it and 128."""
        done = self.run("sbatch", "--parsable", *arguments)
        if done.returncode != 0:
            return done
        fields = {}

        def ended():
            text = self.run("scontrol", "--oneliner", "show", "job", done.stdout.strip()).stdout
            fields.update(word.split("=", 1) for word in text.split() if "=" in word)
            return fields.get("JobState", "PENDING") not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")

        wait_for("the end of a job", ended, timeout)
        code, signal_number = (int(number) for number in fields["ExitCode"].split(":"))
        done.returncode = 128 + signal_number if signal_number else code
        return done

    def stop(self):
        """Ends the jobs first: their processes would outlive a slurmd."""
        try:
            if (self.folder / "slurm.conf").exists():
                self.run("scancel", "--full", "--signal=KILL", "--state=RUNNING", "--user", str(os.getuid()), timeout=20)
                wait_for("the end of all jobs", lambda: not self.run("squeue", "-h", "--states=RUNNING,COMPLETING").stdout.strip())
        except (subprocess.TimeoutExpired, RuntimeError) as error:
            print(f"jobs may be left: {error}")
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

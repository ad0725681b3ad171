"""Two hosts on this machine: network namespaces with a wire between them, and an sshd in the second one. Needs root."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from started import Started

ADDRESSES = ["10.77.0.1", "10.77.0.2"]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **options)


def root_is_a_mount():
    return any(line.split()[4] == "/" for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines())


class SshHosts(Started):
    """`command(words)` is those words on the first host. ssh from there to the second one asks for nothing."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.names = [f"ringside-ssh-{os.getpid()}-{host}" for host in (1, 2)]
        self.sshd = None

    def start(self):
        if not root_is_a_mount():
            raise unittest.SkipTest("ip enters no network namespace after chroot into a folder, which is no mount")
        for name in self.names:
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", self.names[0], "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", self.names[1])
        for name, address in zip(self.names, ADDRESSES):
            run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "wire")
            run("ip", "-n", name, "link", "set", "wire", "up")
        self.start_sshd()

    # `ip netns exec` gives sshd a mount namespace of its own, too.
    def start_sshd(self):
        for key in ("host", "user"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key)
        authorized = self.folder / "authorized_keys"
        shutil.copy(self.folder / "user.pub", authorized)
        config = self.folder / "sshd_config"
        # Two hosts of a test may be this one. Daemons of mpirun that make their directories in the same place at the same time fail.
        own_folder = f'TMPDIR=$(mktemp -d {self.folder}/tmp.XXXXXX) exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"'
        config.write_text(f"Port 22\nListenAddress {ADDRESSES[1]}\nHostKey {self.folder}/host\nAuthorizedKeysFile {authorized}\n"
                          f"PermitRootLogin yes\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\n"
                          f"ForceCommand {own_folder}\n")
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)  # where sshd gives up its rights
        sshd = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
        if not sshd:
            raise RuntimeError("sshd is missing: scripts/install-dependencies.sh --tests installs openssh-server")
        self.log = self.folder / "sshd.log"
        self.sshd = subprocess.Popen(["ip", "netns", "exec", self.names[1], sshd, "-D", "-E", self.log, "-f", config],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while subprocess.run(self.command([*self.ssh(), ADDRESSES[1], "true"]), capture_output=True).returncode != 0:
            if time.monotonic() > end or self.sshd.poll() is not None:
                raise RuntimeError("sshd does not answer: " + (self.log.read_text() if self.log.exists() else ""))
            time.sleep(0.1)

    def ssh(self):
        return ["ssh", "-i", str(self.folder / "user"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
                "LogLevel=ERROR", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5"]

    def command(self, words):
        return ["ip", "netns", "exec", self.names[0], *map(str, words)]

    def environment(self):
        """mpirun's own way to be told how ssh is called."""
        return {**os.environ, "OMPI_MCA_plm_rsh_agent": " ".join(self.ssh())}

    def limit(self, rate):
        """What each host sends goes at this rate, as `tc` writes it."""
        for name in self.names:
            run("tc", "-n", name, "qdisc", "replace", "dev", "wire", "root", "tbf", "rate", rate, "burst", "64kb", "latency", "50ms")

    def cut(self):
        run("ip", "-n", self.names[1], "link", "set", "wire", "down")

    def hide(self, folder):
        """Makes a folder empty on the second host, which otherwise has the same files."""
        run("nsenter", f"--target={self.sshd.pid}", "--mount", "mount", "-t", "tmpfs", "none", folder)

    def pids(self, host):
        """Processes in a host's namespace."""
        return [int(pid) for pid in run("ip", "netns", "pids", self.names[host]).stdout.split()]

    def stop(self):
        if self.sshd:
            self.sshd.terminate()
            self.sshd.wait()
        for name in self.names:
            # On a host that was cut off, mpirun's daemon waits for TCP to give up.
            for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)  # absent if the start failed

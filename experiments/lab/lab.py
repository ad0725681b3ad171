#!/usr/bin/env python3
"""Hosts on one machine: a network namespace each, joined by a switch, every link shaped in both directions.

usage: lab.py [--hosts N] [--workers-per-host N] [--server-hosts N] [--rate RATE] [--build DIR] [--at-least SHARE]
              [--json] -- train|bench ARGUMENT...

Runs `ringside train` or `ringside bench` with one rank a worker: workers of a host share its link, a dedicated server
has a host and a link of its own (--server-hosts), co-located ones are asked for as always (-- train --servers
colocated). The lab adds --insecure-network, and for train --link and --out.

  --hosts N             hosts with workers (4)
  --workers-per-host N  (1)
  --server-hosts N      further hosts, each with one dedicated server (0)
  --rate RATE           of every link, in both directions: 1Gbps, 500Mbps (1Gbps)
  --at-least SHARE      train: exit with 5 where bound / step time is below it
  --no-calibration      do not measure what a plain TCP connection gets over the links
  --json                one object on stdout: {lab, train|bench}

Needs root, iproute2 and a release build. Exit code: that of rank 0; 2 usage, 4 something is missing here, 5 below
--at-least, 130 interrupted. Namespaces of labs that were killed are removed by the next one.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = "rslab"
FRAME, PAYLOAD = 1514, 1448  # bytes of a full Ethernet frame, and of TCP's payload in it
GRACE_S = 10  # for the processes of a lab that is ended


class LabError(Exception):
    """What keeps a lab from running, with the exit code to give."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(1, f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def bits_per_s(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)(?:bps|bit/s)", text)
    if not found or float(found[1]) <= 0:
        raise LabError(2, f"--rate {text}: expected a rate such as 1Gbps or 500Mbps")
    return float(found[1]) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[found[2]]


def goodput_bytes_per_s(rate):
    """What TCP can carry at most over a link of that rate, in bytes a second."""
    return rate * PAYLOAD / FRAME / 8


class Network:
    """The namespaces of one lab. A context manager: leaves nothing behind, whatever happens in it."""

    def __init__(self, hosts, rate):
        self.name = f"{PREFIX}{os.getpid()}"
        self.switch = f"{self.name}-sw"
        self.hosts = hosts
        self.rate = rate

    def __enter__(self):
        remove_dead_labs()
        try:
            self._build()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    def namespace(self, host):
        return f"{self.name}-h{host}"

    @staticmethod
    def address(host):
        return f"10.83.{host // 250}.{host % 250 + 1}"

    def command(self, host, words):
        return ["ip", "netns", "exec", self.namespace(host), *map(str, words)]

    def _build(self):
        call("ip", "netns", "add", self.switch)
        call("ip", "-n", self.switch, "link", "add", "bridge0", "type", "bridge")
        call("ip", "-n", self.switch, "link", "set", "bridge0", "up")
        for host in range(self.hosts):
            name, port = self.namespace(host), f"port{host}"
            call("ip", "netns", "add", name)
            call("ip", "-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", self.switch)
            call("ip", "-n", self.switch, "link", "set", port, "master", "bridge0", "up")
            call("ip", "-n", name, "address", "add", f"{self.address(host)}/16", "dev", "eth0")
            for device in ("lo", "eth0"):
                call("ip", "-n", name, "link", "set", device, "up")
            self._shape(name, "eth0")
            self._shape(self.switch, port)

    def _shape(self, namespace, device):
        # A small burst, or short messages beat the limit. Segments leave the host in bundles that fit in it, as from
        # a network card that cuts them itself: a timer for every single packet would cost more CPU than two cores
        # have. The shaper counts every packet's headers all the same.
        call("ip", "-n", namespace, "link", "set", device, "gso_max_size", "28672")
        call("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{self.rate:.0f}bit",
             "burst", "32kb", "latency", "50ms")

    def _remove(self):
        for name in namespaces():
            if name.startswith(f"{self.name}-"):
                remove_namespace(name)


def namespaces():
    return [line.split()[0] for line in call("ip", "netns", "list").splitlines() if line.strip()]


def remove_namespace(name):
    """What still runs in it is killed; its veth pairs and bridge go with it."""
    for pid in call("ip", "netns", "pids", name).split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    call("ip", "netns", "delete", name)


def remove_dead_labs():
    for name in namespaces():
        found = re.fullmatch(PREFIX + r"(\d+)-\w+", name)
        if found and not pathlib.Path("/proc", found[1]).exists():
            print(f"lab.py: removing {name}, whose lab is gone", file=sys.stderr)
            remove_namespace(name)


RECEIVER = """
import socket, sys, time
listener = socket.create_server((sys.argv[1], 5201)); print("up", flush=True)
peer, _ = listener.accept(); buffer = bytearray(1 << 20)
peer.recv_into(buffer); begin = time.perf_counter(); total = 0
while count := peer.recv_into(buffer): total += count; end = time.perf_counter()
print(total / (end - begin), flush=True)
"""
SENDER = """
import socket, sys, time
peer = socket.create_connection((sys.argv[1], 5201)); data = bytes(1 << 18); end = time.perf_counter() + 1
while time.perf_counter() < end: peer.sendall(data)
"""


def calibrate(network):
    """Bytes a second of TCP payload between two hosts, in both directions at once: the slower one."""
    def start(host, program, *arguments):
        return subprocess.Popen(network.command(host, ["python3", "-c", program, *arguments]), stdout=subprocess.PIPE,
                                text=True)
    receivers = [start(host, RECEIVER, network.address(host)) for host in (0, 1)]
    for receiver in receivers:
        receiver.stdout.readline()
    senders = [start(host, SENDER, network.address(1 - host)) for host in (0, 1)]
    rates = [float(receiver.communicate(timeout=30)[0]) for receiver in receivers]
    for sender in senders:
        sender.communicate(timeout=30)
    return min(rates)


class Job:
    """The processes of one `ringside` job in a network, one a rank and one a server host."""

    def __init__(self, network, options, words, work):
        self.network = network
        self.options = options
        self.words = words
        self.work = work
        self.processes = {}  # name -> Popen; rank 0 first

    def run(self):
        """Exit code and standard output of rank 0. The first interrupt drains, as everywhere; the second kills."""
        try:
            self._start()
            return self._wait()
        finally:
            self._end()

    def _environment(self, rank, part):
        per_host = self.options.workers_per_host
        return {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(self.options.hosts * per_host),
                "LOCAL_RANK": str(0 if part == "server" else rank % per_host), "LOCAL_WORLD_SIZE": str(per_host),
                "MASTER_ADDR": self.network.address(0), "MASTER_PORT": "29500", "XDG_RUNTIME_DIR": str(self.work),
                **({"RINGSIDE_ROLE": part} if self.options.server_hosts else {})}

    def _start(self):
        workers = self.options.hosts * self.options.workers_per_host
        places = [("worker", rank, rank // self.options.workers_per_host) for rank in range(workers)]
        places += [("server", index, self.options.hosts + index) for index in range(self.options.server_hosts)]
        for part, index, host in places:
            name = f"{part} {index}"
            first = not self.processes
            self.processes[name] = subprocess.Popen(
                self.network.command(host, [self.options.build / "bin/ringside", *self.words]),
                env=self._environment(index, part), start_new_session=True,
                stdout=open(self._log(name, "out"), "w"),
                stderr=None if first else open(self._log(name, "err"), "w"))

    def _log(self, name, kind):
        return self.work / f"{name.replace(' ', '-')}.{kind}"

    def _wait(self):
        interrupts = 0
        while True:
            try:
                codes = {name: process.wait() for name, process in self.processes.items()}
                break
            except KeyboardInterrupt:
                interrupts += 1
                self._signal(signal.SIGINT if interrupts == 1 else signal.SIGKILL)
        first = next(iter(codes))
        for name, code in codes.items():
            if name != first and code != codes[first]:
                print(f"lab.py: {name} ended with {code}:", file=sys.stderr)
                print("".join(self._log(name, "err").read_text().splitlines(True)[-20:]), file=sys.stderr)
        return (130 if interrupts else codes[first]), self._log(first, "out").read_text()

    def _signal(self, number):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(number)

    def _end(self):
        self._signal(signal.SIGTERM)
        end = time.monotonic() + GRACE_S
        while time.monotonic() < end and any(process.poll() is None for process in self.processes.values()):
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        for process in self.processes.values():
            process.wait()


def parse(arguments):
    parser = argparse.ArgumentParser(prog="lab.py", usage=argparse.SUPPRESS, allow_abbrev=False, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--workers-per-host", type=int, default=1)
    parser.add_argument("--server-hosts", type=int, default=0)
    parser.add_argument("--rate", default="1Gbps")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--at-least", type=float)
    parser.add_argument("--no-calibration", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("command", nargs="*")
    return parser.parse_args(arguments)


def check(options):
    if not options.command or options.command[0] not in ("train", "bench"):
        raise LabError(2, "what to run is missing: lab.py [OPTION...] -- train|bench ARGUMENT...")
    for name in ("hosts", "workers_per_host"):
        if getattr(options, name) < 1:
            raise LabError(2, f"--{name.replace('_', '-')} {getattr(options, name)}: give at least 1")
    if options.server_hosts < 0:
        raise LabError(2, f"--server-hosts {options.server_hosts}: give 0 or more")
    if options.hosts + options.server_hosts > 250:
        raise LabError(2, f"{options.hosts + options.server_hosts} hosts are more than 250")
    taken = {"--workers", "--link", "--out", "--address"}
    for word in options.command[1:]:
        if word.split("=")[0] in taken:
            raise LabError(2, f"{word}: the lab sets it itself")
        if word == "--servers" and options.server_hosts:
            raise LabError(2, "--servers: as many as --server-hosts")
    if os.geteuid() != 0:
        raise LabError(4, "network namespaces need root")
    for tool in ("ip", "tc"):
        if shutil.which(tool) is None:
            raise LabError(4, f"there is no {tool}: install iproute2")
    if not (options.build / "bin/ringside").exists():
        raise LabError(4, f"{options.build / 'bin/ringside'} is not built")


def ringside_words(options, work):
    verb, *rest = options.command
    words = [verb, *rest, "--insecure-network"]
    if options.server_hosts:
        words += ["--servers", str(options.server_hosts)]
    if verb == "train":
        words += ["--link", options.rate, "--out", str(work / "run")]
    elif options.json and "--json" not in rest:
        words.append("--json")
    return words


def describe(options, rate, goodput):
    limit = goodput_bytes_per_s(rate)
    lab = {"hosts": options.hosts, "workers_per_host": options.workers_per_host, "server_hosts": options.server_hosts,
           "rate": options.rate, "goodput_limit_GBps": limit / 1e9, "goodput_GBps": None}
    if goodput is not None:
        lab["goodput_GBps"] = goodput / 1e9
        print(f"lab.py: {options.hosts} + {options.server_hosts} hosts at {options.rate}: a TCP connection gets "
              f"{goodput * 8e-6:.0f} Mbit/s each way, {goodput / limit:.1%} of what the frames leave it", file=sys.stderr)
    return lab


def finish_train(options, lab, work):
    """Prints what a run came to beside its bound. Exit code."""
    summary = json.loads((work / "run/summary.json").read_text())
    step, bound = summary["step_ms"]["median"], summary["bound_ms"]
    share = bound / step if step and bound else None
    if options.json:
        print(json.dumps({"lab": lab, "train": summary, "share_of_bound": share}))
    elif share is not None:
        print(f"{summary['model']} under {summary['strategy']}: {step:.1f} ms a step, bound {bound:.1f} ms, "
              f"{share:.3f} of the bound's speed")
    if options.at_least is not None and (share is None or share < options.at_least):
        return 5
    return 0


def run_lab(options, work):
    rate = bits_per_s(options.rate)
    with Network(options.hosts + options.server_hosts, rate) as network:
        calibrated = options.hosts + options.server_hosts > 1 and not options.no_calibration
        lab = describe(options, rate, calibrate(network) if calibrated else None)
        code, output = Job(network, options, ringside_words(options, work), work).run()
    if options.command[0] == "train":
        return finish_train(options, lab, work) if code == 0 else code
    if options.json and output.strip():
        print(json.dumps({"lab": lab, "bench": json.loads(output)}))
    else:
        print(output, end="")
    return code


def main():
    options = parse(sys.argv[1:])
    if options.help:
        print(__doc__.strip())
        return 0
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    try:
        bits_per_s(options.rate)
        check(options)
        with tempfile.TemporaryDirectory(prefix="ringside-lab-") as work:
            return run_lab(options, pathlib.Path(work))
    except LabError as error:
        print(f"lab.py: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())

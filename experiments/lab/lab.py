#!/usr/bin/env python3
"""Hosts on one machine: a network namespace each, joined by a switch, every link shaped in both directions.

usage: lab.py [--hosts N] [--workers-per-host N] [--server-hosts N] [--rate RATE] [--build DIR] [--at-least SHARE]
              [--timeout SECONDS] [--json] -- train|bench ARGUMENT...

Runs `ringside train` or `ringside bench` with one rank a worker: workers of a host share its link, a dedicated server
has a host and a link of its own (--server-hosts), co-located ones are asked for as always (-- train --servers
colocated). The lab adds --insecure-network, and for train --link and --out.

  --hosts N             hosts with workers (4)
  --workers-per-host N  (1)
  --server-hosts N      further hosts, each with one dedicated server (0)
  --rate RATE           of every link, in both directions: 1Gbps, 500Mbps (1Gbps)
  --at-least SHARE      train: exit with 5 where bound / step time is below it
  --timeout SECONDS     for all of it; then it is ended, and the ranks that still ran are named (3600)
  --no-calibration      do not measure what a plain TCP connection gets over the links
  --json                one object on stdout: {lab, train|bench}

Needs root, iproute2 and a release build. Exit code: that of rank 0, or of the first that failed where rank 0 did not,
128 + n for signal n; 1 something could not be made, measured or removed, 2 usage, 4 something is missing here, 5 below
--at-least, 124 timed out, 130 interrupted. Namespaces of labs that were killed are removed by the next one.
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
CALL_S = 30  # for one call of ip or tc
CALIBRATION_S = 60
POLL_S = 0.02
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class LabError(Exception):
    """What keeps a lab from running, with the exit code to give."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Watch:
    """What ends a lab early: its time, and interrupts. A signal is only counted, and seen where the lab asks, so that
    none can come between making something and removing it."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.end = time.monotonic() + seconds
        self.interrupts = 0
        for number in INTERRUPTS:
            signal.signal(number, self._count)

    def _count(self, *_):
        self.interrupts += 1

    def check(self):
        if self.interrupts:
            raise LabError(130, "interrupted")
        self.check_time([])

    def check_time(self, names):
        if time.monotonic() > self.end:
            raise LabError(124, f"not done within {self.seconds:g} s"
                           + (f": still running: {', '.join(names)}" if names else ""))


def call(*words):
    """What a command prints. It inherits the block: Ctrl-C at the terminal is for the lab, not for its clean-up."""
    text = " ".join(map(str, words))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                              timeout=CALL_S)
    except subprocess.TimeoutExpired as error:
        raise LabError(1, f"{text}: not done within {CALL_S} s") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if done.returncode != 0:
        raise LabError(1, f"{text}: {done.stderr.strip()}")
    return done.stdout


def running(processes):
    return [name for name, process in processes.items() if process.poll() is None]


def wait_at_most(processes, seconds):
    """Names of those that still run then."""
    end = time.monotonic() + seconds
    while (names := running(processes)) and time.monotonic() < end:
        time.sleep(POLL_S)
    return names


def bits_per_s(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)(?:bps|bit/s)", text)
    if not found or float(found[1]) <= 0:
        raise LabError(2, f"--rate {text}: expected a rate such as 1Gbps or 500Mbps")
    return float(found[1]) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[found[2]]


def goodput_bytes_per_s(rate):
    """What TCP can carry at most over a link of that rate, in bytes a second."""
    return rate * PAYLOAD / FRAME / 8


class Network:
    """The namespaces of one lab. A context manager: at its end every one of them is removed, as far as `ip` can."""

    def __init__(self, hosts, rate, watch):
        self.name = f"{PREFIX}{os.getpid()}"
        self.switch = f"{self.name}-sw"
        self.hosts = hosts
        self.rate = rate
        self.watch = watch
        self.made = []

    def __enter__(self):
        remove_dead_labs()
        try:
            self._build()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, error, *_):
        left = self._remove()
        if left and error is None:
            raise LabError(1, f"left behind: {', '.join(left)}")

    def namespace(self, host):
        return f"{self.name}-h{host}"

    @staticmethod
    def address(host):
        return f"10.83.{host // 250}.{host % 250 + 1}"

    def command(self, host, words):
        return ["ip", "netns", "exec", self.namespace(host), *map(str, words)]

    def _build(self):
        self._add(self.switch)
        call("ip", "-n", self.switch, "link", "add", "bridge0", "type", "bridge")
        call("ip", "-n", self.switch, "link", "set", "bridge0", "up")
        for host in range(self.hosts):
            self.watch.check()
            name, port = self.namespace(host), f"port{host}"
            self._add(name)
            call("ip", "-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", self.switch)
            call("ip", "-n", self.switch, "link", "set", port, "master", "bridge0", "up")
            call("ip", "-n", name, "address", "add", f"{self.address(host)}/16", "dev", "eth0")
            for device in ("lo", "eth0"):
                call("ip", "-n", name, "link", "set", device, "up")
            self._shape(name, "eth0")
            self._shape(self.switch, port)

    def _add(self, name):
        call("ip", "netns", "add", name)
        self.made.append(name)

    def _shape(self, namespace, device):
        # A small burst, or short messages beat the limit. Segments leave the host in bundles that fit in it, as from
        # a network card that cuts them itself: a timer for every single packet would cost more CPU than two cores
        # have. The shaper counts every packet's headers all the same.
        call("ip", "-n", namespace, "link", "set", device, "gso_max_size", "28672")
        call("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{self.rate:.0f}bit",
             "burst", "32kb", "latency", "50ms")

    def _remove(self):
        """One that cannot be removed does not keep the others. Names of those that are left, which are reported."""
        return [name for name in self.made if not removed(name)]


def namespaces():
    return [line.split()[0] for line in call("ip", "netns", "list").splitlines() if line.strip()]


def kill_processes(name):
    """Until a look finds none: one that forks may be ahead of the first."""
    end = time.monotonic() + GRACE_S
    while pids := call("ip", "netns", "pids", name).split():
        if time.monotonic() > end:
            raise LabError(1, f"{name}: {', '.join(pids)} cannot be killed")
        for pid in pids:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(POLL_S)


def removed(name):
    """Whether it is: what still runs in it is killed; its veth pairs and bridge go with it. Errors are printed."""
    gone = True
    for step in (lambda: kill_processes(name), lambda: call("ip", "netns", "delete", name)):
        try:
            step()
        except LabError as error:
            print(f"lab.py: {error}", file=sys.stderr)
            gone = False
    return gone


def remove_dead_labs():
    for name in namespaces():
        found = re.fullmatch(PREFIX + r"(\d+)-\w+", name)
        if found and not pathlib.Path("/proc", found[1]).exists():
            print(f"lab.py: removing {name}, whose lab is gone", file=sys.stderr)
            removed(name)


RECEIVER = """
import socket, sys, time
listener = socket.create_server((sys.argv[1], 5201))
peer, _ = listener.accept(); buffer = bytearray(1 << 20)
if not peer.recv_into(buffer): sys.exit("the sender sent nothing")
begin = end = time.perf_counter(); total = 0
while count := peer.recv_into(buffer): total += count; end = time.perf_counter()
if not total: sys.exit("too little came to be timed")
print(total / (end - begin))
"""
SENDER = """
import socket, sys, time
def connect():
    try: return socket.create_connection((sys.argv[1], 5201))
    except ConnectionRefusedError: time.sleep(0.01)
while not (peer := connect()): pass
data = bytes(1 << 18); end = time.perf_counter() + 1
while time.perf_counter() < end: peer.sendall(data)
"""


def calibrate(network):
    """Bytes a second of TCP payload between two hosts, in both directions at once: the slower one."""
    processes = {}

    def start(part, host, program, address):
        processes[f"{part} {host}"] = subprocess.Popen(
            network.command(host, ["python3", "-c", program, address]), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)

    end = time.monotonic() + CALIBRATION_S
    try:
        for host in (0, 1):
            start("receiver", host, RECEIVER, network.address(host))
            start("sender", host, SENDER, network.address(1 - host))
        while names := running(processes):
            network.watch.check()
            refuse_failed(processes)
            if time.monotonic() > end:
                raise LabError(1, f"calibration: {', '.join(names)} not done within {CALIBRATION_S} s")
            time.sleep(POLL_S)
        refuse_failed(processes)
        return min(float(process.stdout.read()) for name, process in processes.items() if name.startswith("receiver"))
    finally:
        for name in running(processes):
            processes[name].kill()
        wait_at_most(processes, GRACE_S)


def refuse_failed(processes):
    for name, process in processes.items():
        if process.poll():
            reason = (process.stderr.read().strip().splitlines() or ["no reason given"])[-1]
            raise LabError(1, f"calibration: {name} ended with {exit_code(process)}: {reason}")


def exit_code(process):
    """Of one that has ended, as a shell gives it: 128 + n for signal n."""
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


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
        self.network.watch.check()
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
        self._wait_for_all()
        codes = {name: exit_code(process) for name, process in self.processes.items()}
        first = next(iter(codes))
        for name, code in codes.items():
            if name != first and code != codes[first]:
                print(f"lab.py: {name} ended with {code}:", file=sys.stderr)
                print("".join(self._log(name, "err").read_text().splitlines(True)[-20:]), file=sys.stderr)
        code = codes[first] or next((code for code in codes.values() if code), 0)
        return (130 if self.network.watch.interrupts else code), self._log(first, "out").read_text()

    def _wait_for_all(self):
        watch, seen = self.network.watch, 0
        while names := running(self.processes):
            watch.check_time(names)
            if watch.interrupts > seen:
                seen = watch.interrupts
                self._signal(signal.SIGINT if seen == 1 else signal.SIGKILL)
            time.sleep(POLL_S)

    def _signal(self, number):
        for name in running(self.processes):
            self.processes[name].send_signal(number)

    def _end(self):
        self._signal(signal.SIGTERM)
        wait_at_most(self.processes, GRACE_S)
        self._signal(signal.SIGKILL)
        if names := wait_at_most(self.processes, GRACE_S):
            print(f"lab.py: {', '.join(names)}: still there after SIGKILL", file=sys.stderr)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="lab.py", usage=argparse.SUPPRESS, allow_abbrev=False, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--workers-per-host", type=int, default=1)
    parser.add_argument("--server-hosts", type=int, default=0)
    parser.add_argument("--rate", default="1Gbps")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--at-least", type=float)
    parser.add_argument("--timeout", type=float, default=3600)
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
    if not options.timeout > 0:
        raise LabError(2, f"--timeout {options.timeout:g}: give more than 0 seconds")
    if options.at_least is not None and options.command[0] != "train":
        raise LabError(2, f"--at-least: only train has a bound, not {options.command[0]}")
    taken = {"--workers", "--link", "--out", "--address"}
    for word in options.command[1:]:
        name = word.split("=")[0]
        if name in taken:
            raise LabError(2, f"{word}: the lab sets it itself")
        if name == "--servers" and options.server_hosts:
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


def run_lab(options, work, watch):
    rate = bits_per_s(options.rate)
    with Network(options.hosts + options.server_hosts, rate, watch) as network:
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
    try:
        bits_per_s(options.rate)
        check(options)
        watch = Watch(options.timeout)
        with tempfile.TemporaryDirectory(prefix="ringside-lab-") as work:
            return run_lab(options, pathlib.Path(work), watch)
    except LabError as error:
        print(f"lab.py: {error}", file=sys.stderr)
        return error.code


if __name__ == "__main__":
    sys.exit(main())

"""Who or what comes back too late: processes that are continued when their lease is over, pushes that the network has kept, and
servers that know the token of another job.

The launcher kills a process that it has given up. A process of the next generation never takes the port or the connection of one
of the last. So what comes from an older generation comes over a connection of its own, with the greeting that it had there.
"""
import array
import hashlib
import hmac
import os
import pathlib
import signal
import socket
import struct
import threading
import time

from suite.job import EPOCHS, STEPS, has_servers, parameters
from suite.lost_worker import NOT_APPLIED
from suite.ports import ports_of, take_listener, why_no_listener
from suite.proxy import GREETING, HEADER, Harm, read_exactly
from suite.samples import SAMPLES, STEPS_OF_EPOCH
from suite.scenarios import (AT_ONCE_S, FIRST_STEPS, LEASE_BOUND_S, LEASE_S, VICTIM, Scenario, anywhere, pushes, wait_for,
                             wait_for_some_step)

SERVER = "server 0"
EARLY_S, LATE_S = 0.3, 0.3  # about the end of a lease
NEXT_STEP_MS = 30  # the next generation still trains when the late push comes
DROPPED_STEP_MS = 100  # the job takes longer than a lease
DROPPED_S = 1  # until the servers have dropped a worker that the launcher has given up
ANSWER_S = 10
REFUSED = 2  # a flag of an answer


# --- A process is continued when its lease is over.

def thaw_as_the_lease_ends(member):
    """It goes on a little before the launcher gives it up, or afterwards. What it says then may count or not, as a whole."""
    def strike(job, random):
        wait_for_some_step(job, random)
        pid = job.pid(member)
        now = time.time()
        job.signal_pid(pid, signal.SIGSTOP)
        time.sleep(LEASE_S + random.uniform(-EARLY_S, LATE_S))
        job.signal_pid(pid, signal.SIGCONT)
        return now
    return strike


# --- The network keeps a push.

def hold_a_push(job, random):
    """Worker 1 is stopped when the push has left it. Returns the harm and when the worker was stopped."""
    victim = job.pid(VICTIM)
    held = job.proxy.add(Harm("hold", lambda flow, direction: victim in flow.pids and pushes(flow, direction),
                              skip=random.randint(0, 5)))
    if not wait_for(held):
        raise RuntimeError("no push was held")
    now = time.time()
    job.signal_pid(victim, signal.SIGSTOP)
    return held, now


def port_of_the_next(job, old_pid):
    """Where the server of the next generation listens, when all train."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pid = next((row["pid"] for row in job.processes() if row["name"] == SERVER), old_pid)
        if pid != old_pid:
            job.wait_for_steps(1)
            return ports_of(pid).pop()
        time.sleep(0.005)
    raise RuntimeError("there is no next generation")


def push_to_the_next_generation(job, random):
    wait_for_some_step(job, random)
    server = job.pid(SERVER)
    held, now = hold_a_push(job, random)
    port = port_of_the_next(job, server)
    job.wait_for_steps(random.randint(1, 20))
    flow, push = held.held
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S) as late:
        late.sendall(flow.greetings["forward"] + push)
        try:
            job.remembered["answer"] = late.recv(1)
        except ConnectionResetError:
            job.remembered["answer"] = b""
    job.remembered["trained"] = job.steps() < STEPS and job.finish(0) is None
    held.released.set()
    return now


def was_turned_away(job):
    """The server of the next generation closes the connection without an answer."""
    wrong = []
    if job.remembered.get("answer"):
        wrong.append("a push of an older generation was answered")
    if not job.remembered.get("trained"):
        wrong.append("the job had ended when the push of the older generation came")
    return wrong


# --- The job has gone on without the worker whose push it was.

def push_of_the_dropped(job, random):
    job.wait_for_steps(random.randint(FIRST_STEPS, STEPS // 4))
    victim = job.pid(VICTIM)
    held, now = hold_a_push(job, random)
    end = time.monotonic() + 2 * LEASE_S
    while job.runs(victim) and time.monotonic() < end:
        time.sleep(0.01)
    job.remembered["given_up"] = time.time()
    time.sleep(DROPPED_S + random.random())
    flow, push = held.held
    answer = job.proxy.add(Harm("note", lambda other, direction: other is flow and direction == "backward"))
    held.released.set()
    wait_for(answer)
    job.remembered |= {"push": push, "answers": answer.noted}
    return now


def counts(bundle):
    """How often each gradient counted: by tensor, epoch and sample."""
    values = parameters(bundle) or ()
    return [[[int(-value) // 4 ** epoch % 4 for value in values[at:at + SAMPLES]] for epoch in range(EPOCHS)]
            for at in range(0, len(values), SAMPLES)]


def judge_dropped(result, job, struck, slack_s):
    """The push is refused. Every gradient counts once, but for those of the lost worker from this push on."""
    if (code := job.finish(result.scenario.longest_s)) != 0:
        result.problems.append(f"the launcher hangs, or ended with code {code}: {job.text()}")
        return
    summary = job.summary()
    lost = [row["worker"] for row in summary.get("lost_workers") or []]
    if summary.get("status") != "done" or lost != [1] or summary.get("restarts"):
        result.problems.append(f"the status is {summary.get('status')}, lost are {lost}, restarts: {summary.get('restarts')}")
    else:
        result.kind, result.culprit = "lost", VICTIM
        result.seconds = job.remembered["given_up"] - struck
        if result.seconds > result.scenario.bound_s + slack_s:
            result.problems.append(f"given up after {result.seconds:.2f} s, later than {result.scenario.bound_s} s")
    answers = job.remembered["answers"]
    if not answers or not struct.unpack_from("<H", answers[0], 22)[0] & REFUSED or b"goes on without worker 1" not in answers[0]:
        result.problems.append(f"the late push was not refused; {len(answers)} answers")
    wrong = miscounted_without(job)
    result.push = "" if wrong else NOT_APPLIED
    result.problems += wrong


def miscounted_without(job):
    push = job.remembered["push"]
    bucket, = struct.unpack_from("<I", push, 16)
    step, = struct.unpack_from("<q", push, 24)
    gradient = array.array("f", push[HEADER:])
    own = [sample for sample, value in enumerate(gradient) if value]
    found = counts(job.bundle)
    if not found:
        return [f"there are no parameters: {job.text()}"]
    late = found[bucket][step // STEPS_OF_EPOCH]
    wrong = []
    if len(gradient) != SAMPLES or any(late[sample] for sample in own):
        wrong.append(f"the late push of bucket {bucket}, step {step} counted")
    for tensor, of_tensor in enumerate(found):
        numbers = [number for of_epoch in of_tensor for number in of_epoch]
        # Worker 1 may have pushed the other buckets of this step.
        missing = {len(own) * (STEPS - step)} | ({len(own) * (STEPS - step - 1)} if tensor != bucket else set())
        if numbers.count(0) not in missing or numbers.count(0) + numbers.count(1) != len(numbers):
            wrong.append(f"of tensor {tensor}, {numbers.count(0)} gradients did not count and {numbers.count(1)} counted once; "
                         f"missing may be {sorted(missing)}")
    return wrong


# --- Another server has the port.

class Impostor:
    """Has the port of a server. It proves that it knows the token of an earlier job."""

    def __init__(self, listener, workers, servers):
        self._world = workers + servers
        self._rank = workers  # of server 0
        self._token = os.urandom(32).hex().encode()
        self.asked = 0  # how often somebody has greeted it
        self.believed = 0  # how often somebody said more after its greeting
        self._listener = listener
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)  # a thread waits for callers
        self._listener.close()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # the end
            threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client):
        with client:
            try:
                greeting = read_exactly(client, GREETING)
                if len(greeting) < GREETING:
                    return
                self.asked += 1
                worker, = struct.unpack_from("<I", greeting, 8)
                text = f"ringside link v1|parameter server|{self._world}|{self._rank}|{worker}"
                proof = hmac.digest(self._token, text.encode(), hashlib.sha256)
                client.sendall(greeting[:8] + struct.pack("<I", 0) + proof)
                self.believed += bool(client.recv(1))
            except OSError:
                return  # whoever has called does not believe it


def replace_server(job, pid, port):
    """The port stays open from one to the other, so whoever calls meets one of them."""
    listener = take_listener(pid, port)
    now = time.time()
    job.signal_pid(pid, signal.SIGKILL)
    end = time.monotonic() + ANSWER_S
    while job.runs(pid) and time.monotonic() < end:
        time.sleep(0.001)
    listener.setblocking(True)
    job.remembered["impostor"] = Impostor(listener, job.workers, 2)
    return now


def replace_at_some_step(job, random):
    wait_for_some_step(job, random)
    pid = job.pid(SERVER)
    return replace_server(job, pid, ports_of(pid).pop())


def is_server_0(pid):
    """By its arguments: the launcher may not have written down yet who it is."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[1:4] == [b"server", b"--rank", b"0"]


def replace_at_the_first_call(job, random):
    """The worker that is about to connect meets the impostor. Some calls to the right server may come before."""
    calls = [random.randint(0, 2)]

    def on_call(port, pid):
        if "impostor" in job.remembered or not is_server_0(pid):
            return
        calls[0] -= 1
        if calls[0] < 0:
            job.remembered["struck"] = replace_server(job, pid, port)

    job.proxy.on_call = on_call
    end = time.monotonic() + 30
    while "struck" not in job.remembered and time.monotonic() < end:
        time.sleep(0.005)
    return job.remembered.get("struck", 0)


def nobody_believed(job):
    impostor = job.remembered["impostor"]
    impostor.close()
    return [f"the server with the old token was believed {impostor.believed} times"] if impostor.believed else []


def was_asked_in_vain(job):
    asked = job.remembered["impostor"].asked
    return nobody_believed(job) + ([] if asked else ["nobody called the server with the old token"])


SCENARIOS = [
    Scenario("worker-thawed", "a worker is stopped, and goes on as its lease ends", thaw_as_the_lease_ends(VICTIM), anywhere,
             ("lost",), (VICTIM,), LEASE_BOUND_S, may_fail=True),
    Scenario("server-thawed", "a server is stopped, and goes on as its lease ends", thaw_as_the_lease_ends(SERVER), has_servers,
             ("lost",), (SERVER,), LEASE_BOUND_S, may_fail=True),
    Scenario("push-of-older-generation", "a worker is stopped for longer than its lease; a push of it comes to a server of the next generation",
             push_to_the_next_generation, has_servers, ("lost",), (VICTIM,), LEASE_BOUND_S, proxy=True, also=was_turned_away,
             step_ms=NEXT_STEP_MS),
    Scenario("push-of-lost-worker", "a push comes when the job has gone on without its worker (`--on-failure shrink`)",
             push_of_the_dropped, lambda strategy: strategy in ("ps-async", "ps-ssp"), bound_s=LEASE_BOUND_S, proxy=True, on_failure="shrink",
             judge=judge_dropped, needs_many_buckets=True, step_ms=DROPPED_STEP_MS),
    Scenario("server-restarted-with-old-token", "a server is killed, and another one with the token of another job takes its port",
             replace_at_some_step, has_servers, ("signal",), (SERVER,), AT_ONCE_S, also=nobody_believed,
             why_not=why_no_listener),
    Scenario("server-replaced-at-start", "the same as a worker connects: it meets the server with the token of another job",
             replace_at_the_first_call, has_servers, ("signal",), (SERVER,), AT_ONCE_S, proxy=True, also=was_asked_in_vain,
             why_not=why_no_listener),
]

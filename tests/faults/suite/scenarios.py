"""What goes wrong in a job, and what must become of it.

A scenario prepares a job, strikes, and says when. Where processes start again after the failure, the final parameters must
count each gradient once.
"""
import dataclasses
import shutil
import signal
import time

from suite import limits, slowness, strangers
from suite.job import FIRST_STEPS, FLAGS, STEP_MS, STEPS, WORKERS, has_servers
from suite.proxy import Harm
from suite.variants import variants

LEASE_S = 4.75
VICTIM = "worker 1"
LAST_STEPS = 40  # a strike from outside comes before, so that the job still runs when it lands
OPERATION_S = 3  # the limit of one operation, where the fault is that nothing comes

AT_ONCE_S = 1
LEASE_BOUND_S = 5  # the lease, and one look at it
OPERATION_BOUND_S = OPERATION_S + 1

FROZEN_S = 3  # shorter than a lease
FIRST_SHARE = 0.01  # of a processor
SHARES = ((FIRST_SHARE, LEASE_BOUND_S + 1), (0.003, 4), (0.001, 20))  # one after the other, and how long at most; the kernel gives no less
KERNEL_S = 10  # within which it kills a process that takes more memory than it may
MEMORY_LEFT = 32 << 20  # bytes; the fault takes eight times as many

# No connection carries data here: the processes share memory, which `auto` chooses on one host, or have nothing to say.
WITHOUT_CONNECTIONS = ("shm", "auto", "mpi", "none")
# A worker waits for the others in each step.
SYNCHRONOUS = ("ring", "halving-doubling", "recursive-doubling", "tree", "shm", "hierarchical", "auto", "mpi", "ps-sync", "mixed")

PHASES = ("step.begins", "bucket.awaited:bucket{last}", "bucket.ready:bucket0", "bucket.submitted:bucket0",
          "bucket.submitted:bucket{last}")


@dataclasses.dataclass
class Scenario:
    name: str
    what: str
    strike: object  # of a Job and a random.Random: when it struck, by time.time(); 0: it did not
    strategies: object  # of the name of a strategy: bool
    kinds: tuple = ()  # of the failure that is found; empty: there is none
    culprits: tuple = ()  # empty: anybody
    bound_s: float = 0  # from the fault to the decision; 0: nothing is decided
    proxy: bool = False
    plan: object = None  # of a random.Random and Buckets: RINGSIDE_FAULT
    may_fail: bool = False  # it may be found or not, as long as each gradient counts once
    on_failure: str = "restart"  # if it goes on
    ends: str = "done"  # how the job ends; refused: before its first step
    before: object = None  # of a FaultProxy: the harm that is there when the job starts
    timeout_s: int = 30  # of one operation
    flags: tuple = ()  # of the job, besides those of its strategy
    clock_jumps: bool = False  # the processes have a clock that is set again and again
    why_not: object = None  # says why it cannot be tried on this machine; empty: it can
    step_ms: int = STEP_MS  # that a step lasts
    busy_ms: int = 0  # of a processor's time that a step takes besides
    least_s: float = 0  # from the fault to the job's end
    longest_s: float = 60  # the same
    long: bool = False  # it is tried once, and only by --long
    end_is_blamed: bool = False  # either end of the harmed connection, and no third member
    pair_may_be_blamed: bool = False  # the same under `SEEN_BY_TWO` alone
    needs_many_buckets: bool = False
    open_files: int = 0  # that each process may have; 0: as many as the suite
    shims: tuple = ()  # that the processes preload, besides those of the proxy and the clock
    around: object = None  # of a Job and a random.Random: the context in which the job lives
    judge: object = None  # of a Result, a Job, when it struck and the slack: in place of what others must do
    after: object = None  # of a Result, a Job that has ended and the slack: judges what else must be so
    also: object = None  # of a Job that has ended: what else is wrong

    def culprits_under(self, strategy, proxy):
        if self.end_is_blamed or (self.pair_may_be_blamed and strategy in SEEN_BY_TWO):
            return tuple(sorted(proxy.harmed()))
        return self.culprits


def anywhere(_):
    return True


def over_tcp(strategy):
    """Whether the data of its jobs crosses connections that a proxy can carry."""
    return strategy not in WITHOUT_CONNECTIONS


def pushes_twice_a_step(strategy):
    """Whether a worker sends two pushes of a step to server 0. Under `mixed` slices go to five servers, one to each."""
    return has_servers(strategy) and strategy != "mixed"


def no_strategy(strategy):
    """Why a strategy cannot be tried on this machine; empty: it can."""
    return "mpirun is not in PATH" if strategy == "mpi" and not shutil.which("mpirun") else ""


def some_step(random):
    return random.randint(FIRST_STEPS, STEPS - 8)


def wait_for_some_step(job, random):
    job.wait_for_steps(random.randint(FIRST_STEPS, STEPS - LAST_STEPS))
    time.sleep(random.random() * 0.02)


def planned(job, _):
    """The fault is in the program."""
    end = time.time() + 30
    while not job.struck() and time.time() < end and job.finish(0.01) is None:
        pass
    return job.struck()


def send(signal_number, pid_of):
    """Signals one process of the job. `pid_of`: of a Job."""
    def strike(job, random):
        wait_for_some_step(job, random)
        pid = pid_of(job)
        now = time.time()
        job.signal_pid(pid, signal_number)
        return now
    return strike


def freeze(member):
    """It never goes on: the launcher kills it when its lease has ended."""
    return send(signal.SIGSTOP, lambda job: job.pid(member))


def freeze_for(member, seconds):
    def strike(job, random):
        wait_for_some_step(job, random)
        pid = job.pid(member)
        now = time.time()
        job.signal_pid(pid, signal.SIGSTOP)
        time.sleep(seconds)
        was_frozen = job.is_stopped(pid)
        job.signal_pid(pid, signal.SIGCONT)
        return now if was_frozen else 0
    return strike


def wait_for(harm):
    end = time.time() + 10
    while not harm.happened() and time.time() < end:
        time.sleep(0.002)
    return harm.struck if harm.happened() else 0


def data_of(member):
    return lambda flow, _: flow.of(member) and not flow.with_launcher()


def workers_connect(strategy):
    """Whether its workers have connections with each other alone. Under `mixed` some lead to servers inside of workers."""
    return over_tcp(strategy) and not has_servers(strategy)


def coordination_of(member):
    return lambda flow, _: flow.of(member) and flow.with_launcher()


def from_member(member):
    def chosen(flow, direction):
        return not flow.with_launcher() and member == (flow.maker if direction == "forward" else flow.owner)
    return chosen


def to_member(member):
    def chosen(flow, direction):
        return not flow.with_launcher() and member == (flow.owner if direction == "forward" else flow.maker)
    return chosen


def pushes(flow, direction):
    return direction == "forward" and flow.maker == VICTIM and flow.owner == "server 0"


def answers(flow, direction):
    return direction == "backward" and flow.maker == VICTIM and flow.owner == "server 0"


def harm(action, chosen, once=True, seconds=0):
    def strike(job, random):
        wait_for_some_step(job, random)
        victim = job.pid(VICTIM)  # not the one that follows it when the processes start again
        return wait_for(job.proxy.add(Harm(action, lambda flow, direction: victim in flow.pids and chosen(flow, direction),
                                           once=once, skip=random.randint(0, 5), seconds=seconds,
                                           where=random.random())))
    return strike


def was_made_again(job):
    count = job.summary().get("reconnects")
    return [] if count else [f"no connection was made again ({count})"]


def old_token(proxy):
    """Server 0 proves that it knows another token than that of the job, such as that of an earlier job."""
    proxy.add(Harm("forge", lambda flow, direction: direction == "backward" and flow.owner == "server 0", once=False))


def refused(job, _):
    return job.begin


def shake(chosen, seconds):
    """Delays everything from now on; that is no failure."""
    def strike(job, random):
        job.wait_for_steps(FIRST_STEPS)
        return wait_for(job.proxy.add(Harm("delay", chosen, once=False, seconds=seconds)))
    return strike


def starve(member, until_named=()):
    """It gets only a share of one processor, for longer than a lease. Then it gets less, until it has had to wait for its share and,
    under the strategies `until_named`, the launcher names it."""
    def strike(job, _):
        job.wait_for_steps(FIRST_STEPS)
        pid = job.pid(member)
        now = time.time()
        job.remembered["memory"] = memory = slowness.Memory(pid)
        waited = 0

        def is_enough():
            return waited and (job.strategy not in until_named or slowness.is_named(job, member))

        for share, longest_s in SHARES:
            least_s = longest_s if share == FIRST_SHARE else 0
            if least_s == 0 and is_enough():
                break
            with limits.ProcessorLimit(f"{job.launcher_pid}-{share}", share) as limit:
                limit.hold(pid)
                begin = time.time()
                while time.time() < begin + longest_s and (time.time() < begin + least_s or not is_enough()):
                    if job.finish(0.05) is not None:
                        return 0
                    memory.look()
                    waited += limit.held_back()
        return now if waited else 0
    return strike


def fill_memory(member):
    """It takes more memory than it may, in a step of the plan. Before the kernel kills a process it tries for up to seconds to find
    memory, so the fault begins when it has killed."""
    def strike(job, random):
        with limits.MemoryLimit(str(job.launcher_pid), MEMORY_LEFT) as limit:
            job.wait_for_steps(1)
            pid = job.pid(member)
            limit.hold(pid)
            end = time.time() + (KERNEL_S if planned(job, random) else 0)
            while not limit.kills():
                if time.time() > end:
                    return 0
                time.sleep(0.002)
            struck = time.time()
            while job.runs(pid) and time.time() < struck + AT_ONCE_S:
                time.sleep(0.005)
            return struck
    return strike


def launcher(job):
    return job.launcher_pid


def in_some_phase(fault):
    """`fault` of worker 1 in a phase of a step."""
    def plan(random, buckets):
        return f"{fault}@rank1:step{some_step(random)}:{random.choice(PHASES).format(last=buckets.count - 1)}"
    return plan


SCENARIOS = [
    Scenario("worker-killed", "a worker is killed in a phase of a step", planned, anywhere, ("signal",), (VICTIM,),
             AT_ONCE_S, plan=in_some_phase("kill")),
    Scenario("worker-exits", "a worker ends early with code 0", planned, anywhere, ("early exit",), (VICTIM,), AT_ONCE_S,
             plan=in_some_phase("exit")),
    Scenario("worker-frozen", "a worker is stopped for longer than its lease", freeze(VICTIM), anywhere, ("lost",),
             (VICTIM,), LEASE_BOUND_S),
    Scenario("worker-frozen-briefly", f"a worker is stopped for {FROZEN_S} s, which is shorter than its lease",
             freeze_for(VICTIM, FROZEN_S), anywhere),
    Scenario("server-killed", "a server is killed between an update and its answers", planned, has_servers, ("signal",),
             ("server 0",), AT_ONCE_S, plan=lambda random, _: f"kill@server0:step{some_step(random)}:shard.applied"),
    Scenario("server-frozen", "a server is stopped for longer than its lease", freeze("server 0"), has_servers,
             ("lost",), ("server 0",), LEASE_BOUND_S),
    Scenario("server-frozen-briefly", f"a server is stopped for {FROZEN_S} s, which is shorter than its lease",
             freeze_for("server 0", FROZEN_S), has_servers),
    Scenario("launcher-killed", "the launcher, with the coordinator, is killed", send(signal.SIGKILL, launcher), anywhere,
             bound_s=LEASE_BOUND_S, ends="killed"),
    Scenario("interrupted", "the launcher gets SIGTERM; another job resumes from the checkpoint", send(signal.SIGTERM, launcher), anywhere, bound_s=10, ends="interrupted"),
    Scenario("coordinator-reset", "the connection between a worker and the coordinator is reset in the middle of a message",
             harm("reset", coordination_of(VICTIM)), anywhere, ("comm",), (VICTIM,), AT_ONCE_S, proxy=True, may_fail=True),
    Scenario("coordinator-black-hole", "nothing between a worker and the coordinator arrives any more",
             harm("silence", coordination_of(VICTIM), once=False), anywhere, ("lost", "early exit"), (VICTIM,),
             LEASE_BOUND_S, proxy=True),  # the worker misses the coordinator as well, and may end first
    Scenario("reset", "a connection between workers is reset in the middle of a message", harm("reset", data_of(VICTIM)), workers_connect,
             ("comm",), (), AT_ONCE_S, proxy=True, end_is_blamed=True),
    Scenario("cut", "a connection between workers ends in the middle of a message", harm("cut", data_of(VICTIM)), workers_connect, ("comm",), (),
             AT_ONCE_S, proxy=True, end_is_blamed=True),
    Scenario("push-reset", "the connection to a server is reset in the middle of a push", harm("reset", pushes), has_servers,
             proxy=True, also=was_made_again),
    Scenario("push-cut", "the connection to a server ends in the middle of a push", harm("cut", pushes), has_servers,
             proxy=True, also=was_made_again),
    Scenario("answer-reset", "the connection to a server is reset after an update, and the answer is lost", harm("reset", answers),
             has_servers, proxy=True, also=was_made_again),
    Scenario("answer-cut", "the connection to a server ends after an update, in the middle of the answer", harm("cut", answers),
             has_servers, proxy=True, also=was_made_again),
    Scenario("black-hole", "nothing from or to a worker's data connections arrives any more",
             harm("silence", data_of(VICTIM), once=False), over_tcp, ("comm",), (VICTIM,), OPERATION_BOUND_S,
             pair_may_be_blamed=True, proxy=True, timeout_s=OPERATION_S),
    Scenario("one-way", "nothing that a worker sends to its peers arrives any more",
             harm("silence", from_member(VICTIM), once=False), over_tcp, ("comm",), (VICTIM,), OPERATION_BOUND_S,
             pair_may_be_blamed=True, proxy=True, timeout_s=OPERATION_S),
    Scenario("one-way-in", "nothing that its peers send to a worker arrives any more",
             harm("silence", to_member(VICTIM), once=False), over_tcp, ("comm",), (VICTIM,), OPERATION_BOUND_S,
             pair_may_be_blamed=True, proxy=True, timeout_s=OPERATION_S),
    Scenario("slow-link", "each message from or to a worker takes 20 ms longer", shake(data_of(VICTIM), 0.02), over_tcp,
             proxy=True),
    Scenario("slow-link-long", "each message from or to a worker takes 20 ms longer, for ten minutes", shake(data_of(VICTIM), 0.02), over_tcp, proxy=True, step_ms=5000,
             least_s=600, longest_s=1200, long=True),
    Scenario("worker-out-of-memory", "the kernel kills a worker for lack of memory", fill_memory(VICTIM), anywhere,
             ("out of memory",), (VICTIM,), AT_ONCE_S, plan=in_some_phase("bloat"), why_not=limits.no_memory_limit),
    Scenario("server-out-of-memory", "the kernel kills a server for lack of memory", fill_memory("server 0"), has_servers,
             ("out of memory",), ("server 0",), AT_ONCE_S, why_not=limits.no_memory_limit,
             plan=lambda random, _: f"bloat@server0:step{some_step(random)}:shard.applied"),
    Scenario("slow-worker", "a worker gets 1 % of a processor or less; where others wait for it, the launcher names it",
             starve(VICTIM, until_named=SYNCHRONOUS), anywhere, why_not=limits.no_processor_limit, step_ms=120, busy_ms=20,
             also=slowness.not_named(VICTIM, SYNCHRONOUS)),
    Scenario("slow-server", "a server gets 1 % of a processor or less", starve("server 0"), has_servers,
             why_not=limits.no_processor_limit, step_ms=60, also=slowness.takes_too_much),
    Scenario("clock-set", "the clock of the day jumps by two hours, to and fro, five times a second", planned, anywhere,
             clock_jumps=True),
    Scenario("answer-lost", "a server's answer is lost after the update", harm("drop", answers), has_servers, ("comm",), (),
             OPERATION_BOUND_S, proxy=True, timeout_s=OPERATION_S, end_is_blamed=True),
    Scenario("push-lost", "a push is lost", harm("drop", pushes), has_servers, ("comm",), (), OPERATION_BOUND_S,
             proxy=True, timeout_s=OPERATION_S, end_is_blamed=True),
    Scenario("push-twice", "a push arrives twice", harm("duplicate", pushes), has_servers, ("comm",), (), OPERATION_BOUND_S,
             proxy=True, timeout_s=OPERATION_S, may_fail=True, end_is_blamed=True),
    Scenario("push-late", "a push arrives after the next one", harm("swap", pushes), pushes_twice_a_step, ("comm",), (),
             OPERATION_BOUND_S, proxy=True, timeout_s=OPERATION_S, may_fail=True, end_is_blamed=True, needs_many_buckets=True),
    Scenario("push-flipped", "a bit of a push flips on its way (`--check-pushes`)", harm("flip", pushes), has_servers, ("comm",), (),
             AT_ONCE_S, proxy=True, end_is_blamed=True, flags=("--check-pushes",)),
    Scenario("old-token", "a server proves that it knows the token of another job", refused, has_servers, ("comm",),
             ("server 0",), 5, proxy=True, ends="refused", before=old_token),
    Scenario("strangers", "garbage, oversized lengths, slow and idle connections at every open port", strangers.knock,
             anywhere, bound_s=strangers.LONGEST_S, step_ms=strangers.STEP_MS, after=strangers.judge),
    Scenario("idle-flood", f"{strangers.FLOOD} idle connections come to the open ports of a job whose processes may open {strangers.OPEN_FILES} files",
             strangers.flood, anywhere, bound_s=strangers.LONGEST_S, step_ms=strangers.STEP_MS, after=strangers.judge,
             open_files=strangers.OPEN_FILES, why_not=strangers.no_flood),
    Scenario("idle-flood-at-start", f"{strangers.FLOOD} idle connections and garbage come while the job starts, to each port as soon as it is open",
             strangers.flood_the_start, anywhere, bound_s=strangers.LONGEST_S, step_ms=strangers.STEP_MS, after=strangers.judge,
             open_files=strangers.OPEN_FILES, why_not=strangers.no_flood),
]
SCENARIOS += variants(SCENARIOS)

# A silent connection is seen by its two ends alone: the others are connected to workers of their own host alone. Neither end
# can tell which of them is cut off.
SEEN_BY_TWO = ("hierarchical",)

# The first table of the page has these.
STRATEGIES = ("ring", "ps-sync", "ps-async", "shm", "hierarchical")
# The second one has these.
OTHERS = ("halving-doubling", "recursive-doubling", "tree", "auto", "mpi", "ps-ssp", "ps-backup", "mixed", "local-sgd", "diloco", "none")
ALL_STRATEGIES = (*STRATEGIES, *OTHERS)
assert set(FLAGS) | set(WORKERS) | set(WITHOUT_CONNECTIONS) | set(SYNCHRONOUS) <= set(ALL_STRATEGIES)

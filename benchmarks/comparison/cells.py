"""Cells of an emulated network: a step of training over what the links and the compute allow, with default flags."""
import dataclasses
import statistics

from comparison.measure import Measured, interleaved, slower
from comparison.subjects import lab

SPARE_STEPS = 3  # The first step has no step before it, and the last one waits for its own communication.


@dataclasses.dataclass(frozen=True)
class Cell:
    strategy: str
    workers: int
    rate: str
    servers: str = ""  # a number, or "colocated"
    model: str = "profile:mobilenet-v2"
    compute_ms: float = 400
    steps: int = 9
    flags: tuple = ()
    label: str = ""

    def name(self):
        layout = f"{self.workers}+{self.servers}" if self.servers else f"{self.workers}"
        return "-".join(filter(None, [self.strategy, layout, self.rate, self.label]))

    def command(self):
        servers = ["--servers", self.servers] if self.servers else []
        return ["train", "--strategy", self.strategy, *servers, "--model", self.model, "--compute-ms", self.compute_ms,
                "--steps", self.steps, "--warmup-steps", 2, *self.flags]


def allowed_ms(summary):
    """The forward pass, and then the communication at full rate; or the compute, where that is longer. Synchronous training
    cannot be faster, because the forward pass reads the parameters that are sent last."""
    return max(summary["forward_ms"] + summary["bound_comm_ms"], summary["compute_ms"])


def train(context, cell):
    return lab(context, {"hosts": cell.workers, "rate": cell.rate}, cell.command())


def over_achievable(cell):
    """The median step of each round, over what is achievable. The note has the ratio to what no message size can change."""
    def measure(context):
        runs = [train(context, cell) for _ in range(context.slow_rounds)]
        steps = [each["step_ms"]["median"] for each in runs]
        achievable = [each["achievable_ms"] for each in runs]
        allowed = statistics.median(step / allowed_ms(each) for step, each in zip(steps, runs))
        busy = statistics.median(each["machine_busy"] for each in runs)
        return Measured(statistics.median(steps), statistics.median(achievable),
                        statistics.median(step / least for step, least in zip(steps, achievable)), len(runs),
                        note=f"{allowed:.2f} of forward pass and full rate; cores {100 * busy:.0f} % busy",
                        samples={"ours": steps, "peer": achievable})
    return measure


def processor_time(cell, ours, peer):
    """The processor time of a step over two transports, which take turns. It holds the start of the run, too."""
    def measure(context):
        def once(transport):
            summary = train(context, dataclasses.replace(cell, flags=("--ps-transport", transport)))
            return 1e3 * sum(filter(None, summary["cpu_seconds"].values())) / cell.steps
        times = interleaved(context.slow_rounds, {"ours": lambda: once(ours), "peer": lambda: once(peer)})
        return slower(times["ours"], times["peer"])
    return measure

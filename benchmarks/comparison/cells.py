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
    dilation: str = ""  # a factor, or "auto"
    flags: tuple = ()
    label: str = ""

    def name(self):
        layout = f"{self.workers}+{self.servers}" if self.servers else f"{self.workers}"
        dilated = f"dilated-{self.dilation}" if self.dilation else ""
        return "-".join(filter(None, [self.strategy, layout, self.rate, self.label, dilated]))

    def command(self):
        servers = ["--servers", self.servers] if self.servers else []
        return ["train", "--strategy", self.strategy, *servers, "--model", self.model, "--compute-ms", self.compute_ms,
                "--steps", self.steps, "--warmup-steps", 2, *(["--dilation", self.dilation] if self.dilation else []),
                *self.flags]


def allowed_ms(summary):
    """The forward pass, and then the communication at full rate; or the compute, where that is longer. Synchronous training
    cannot be faster, because the forward pass reads the parameters that are sent last."""
    return max(summary["forward_ms"] + summary["bound_comm_ms"], summary["compute_ms"])


def train(context, cell):
    return lab(context, {"hosts": cell.workers, "rate": cell.rate}, cell.command(), timeout=600)


def limited(runs):
    """How many runs the machine limited, by their own judgement."""
    return sum(each["fidelity"]["verdict"] == "limited" for each in runs)


def fidelity_text(runs):
    count = limited(runs)
    return f"{count} of {len(runs)} runs limited by the machine" if count else "fidelity ok"


def true_runs(context, cell):
    """As many runs as there are rounds, without those that the machine limited, and the number of the latter. Runs are repeated
    for these, up to twice the rounds. The rows that ask for the same cell share its runs."""
    def measure():
        kept, left_out = [], 0
        while len(kept) < context.slow_rounds and len(kept) + left_out < 2 * context.slow_rounds:
            summary = train(context, cell)
            if limited([summary]):
                left_out += 1
            else:
                kept.append(summary)
        if not kept:
            raise RuntimeError(f"{cell.name()}: the machine limited all {left_out} runs")
        return kept, left_out
    return context.once(("cell", cell), measure)


def step_over_achievable(runs):
    return statistics.median(each["step_ms"]["median"] / each["achievable_ms"] for each in runs)


def over_achievable(cell):
    """The median step of each round, over what is achievable. The note has the ratio to what no message size can change."""
    def measure(context):
        runs, left_out = true_runs(context, cell)
        steps = [each["step_ms"]["median"] for each in runs]
        achievable = [each["achievable_ms"] for each in runs]
        allowed = statistics.median(step / allowed_ms(each) for step, each in zip(steps, runs))
        busy = statistics.median(each["machine_busy"] for each in runs)
        factor = statistics.median(each["dilation"]["factor"] for each in runs)
        return Measured(statistics.median(steps), statistics.median(achievable), step_over_achievable(runs), len(runs),
                        note=f"{allowed:.2f} of forward pass and full rate; dilation {factor:g}; cores {100 * busy:.0f} % busy; "
                             f"{left_out} more runs limited by the machine",
                        samples={"ours": steps, "peer": achievable})
    return measure


def beyond(cell, base):
    """How much further from its achievable step a cell is than another one. The two figures are ratios."""
    def measure(context):
        ours, ours_out = true_runs(context, cell)
        theirs, theirs_out = true_runs(context, base)
        mine, other = step_over_achievable(ours), step_over_achievable(theirs)
        return Measured(mine, other, mine - other, min(len(ours), len(theirs)), unit="of achievable",
                        note=f"{ours_out + theirs_out} more runs limited by the machine")
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


def dilated_runs(context, cell, factors):
    """Runs of a cell under each factor, in turns, once for all rows that ask for them. Name -> summaries."""
    def measure():
        return interleaved(context.slow_rounds, {
            factor: lambda factor=factor: train(context, dataclasses.replace(cell, dilation=factor)) for factor in factors})
    return context.once(("dilated", cell, factors), measure)


def spread(values):
    """The largest value over the smallest. The note says both."""
    return max(values) / min(values)


def dilations_agree(cell, factors, figure, unit):
    """The largest median of `figure(summary)` under one factor over the smallest under another. All runs must end with the
    same parameters."""
    def measure(context):
        runs = dilated_runs(context, cell, factors)
        everything = [each for summaries in runs.values() for each in summaries]
        hashes = {each["params_sha256"] for each in everything}
        if len(hashes) != 1:
            raise RuntimeError(f"{cell.name()}: factors {', '.join(factors)} end with {len(hashes)} different parameters")
        medians = {factor: statistics.median(figure(each) for each in runs[factor]) for factor in factors}
        return Measured(max(medians.values()), min(medians.values()), spread(medians.values()), context.slow_rounds, unit=unit,
                        note=", ".join(f"{factor}: {median:.4g}" for factor, median in medians.items()) +
                        f"; parameters equal; {fidelity_text(everything)}", samples={"medians": list(medians.values())})
    return measure


def judged_ok(cell):
    """The share of runs that the fidelity monitor lets pass. For a cell that the machine limits, it must be none."""
    def measure(context):
        runs = [train(context, cell) for _ in range(context.slow_rounds)]
        passed = len(runs) - limited(runs)
        reasons = sorted({reason for each in runs for reason in each["fidelity"]["limited_by"]})
        return Measured(passed, len(runs), passed / len(runs), len(runs), unit="runs", note="; ".join(reasons[:2]))
    return measure

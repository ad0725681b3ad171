"""Cells of an emulated network: a step of training over what the links and the compute allow, with default flags."""
import dataclasses
import statistics

from comparison.emulated import lab, true_lab
from comparison.measure import Measured, interleaved, slower

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


def train(context, cell, how=lab):
    return how(context, {"hosts": cell.workers, "rate": cell.rate}, cell.command(), timeout=600)


def counts(summary):
    """Whether the machine could carry the network: judged so by the run itself, and each link was as asked."""
    return summary["fidelity"]["verdict"] == "ok" and summary.get("link_ok") is not False


def true_runs(context, *cells):
    """For each cell as many runs as there are rounds, without those that the machine limited; and the number of the latter. The
    cells take turns. Runs are repeated for those that are left out, up to twice the rounds. The rows that ask for the same
    cells share the runs."""
    def measure():
        kept, left_out = {cell: [] for cell in cells}, 0
        for _ in range(2 * context.slow_rounds):
            for cell in cells:
                if len(kept[cell]) == context.slow_rounds:
                    continue
                summary = train(context, cell)
                if counts(summary):
                    kept[cell].append(summary)
                else:
                    left_out += 1
        for cell, runs in kept.items():
            if len(runs) < context.slow_rounds:
                raise RuntimeError(f"{cell.name()}: the machine limited all but {len(runs)} of {2 * context.slow_rounds} runs")
        return [kept[cell] for cell in cells], left_out
    return context.once(("cells", cells), measure)


def left_out_text(left_out):
    return f"{left_out} more runs limited by the machine" if left_out else "fidelity ok"


def step_over_achievable(runs):
    return statistics.median(each["step_ms"]["median"] / each["achievable_ms"] for each in runs)


def over_achievable(cell):
    """The median step of each round, over what is achievable. The note has the ratio to what no message size can change."""
    def measure(context):
        (runs,), left_out = true_runs(context, cell)
        steps = [each["step_ms"]["median"] for each in runs]
        achievable = [each["achievable_ms"] for each in runs]
        allowed = statistics.median(step / allowed_ms(each) for step, each in zip(steps, runs))
        busy = statistics.median(each["machine_busy"] for each in runs)
        factor = statistics.median(each["dilation"]["factor"] for each in runs)
        return Measured(statistics.median(steps), statistics.median(achievable), step_over_achievable(runs), len(runs),
                        note=f"{allowed:.2f} of forward pass and full rate; dilation {factor:g}; cores {100 * busy:.0f} % busy; "
                             f"{left_out_text(left_out)}",
                        samples={"ours": steps, "peer": achievable})
    return measure


def beyond(cell, base):
    """How much further from its achievable step a cell is than another one. The two figures are ratios."""
    def measure(context):
        (ours, theirs), left_out = true_runs(context, cell, base)
        mine, other = step_over_achievable(ours), step_over_achievable(theirs)
        return Measured(mine, other, mine - other, min(len(ours), len(theirs)), unit="of achievable",
                        note=left_out_text(left_out))
    return measure


def processor_time(cell, ours, peer):
    """The processor time of a step over two transports, which take turns. It holds the start of the run, too."""
    def measure(context):
        def once(transport):
            summary = train(context, dataclasses.replace(cell, flags=("--ps-transport", transport)), true_lab)
            return 1e3 * sum(filter(None, summary["cpu_seconds"].values())) / cell.steps
        times = interleaved(context.slow_rounds, {"ours": lambda: once(ours), "peer": lambda: once(peer)})
        return slower(times["ours"], times["peer"])
    return measure


def spread(values):
    """The largest value over the smallest. The note says both."""
    return max(values) / min(values)


def dilations_agree(cell, factors, figure, unit):
    """The largest median of `figure(summary)` under one factor over the smallest under another. All runs must end with the
    same parameters."""
    def measure(context):
        by_cell, left_out = true_runs(context, *(dataclasses.replace(cell, dilation=factor) for factor in factors))
        runs = dict(zip(factors, by_cell))
        everything = [each for summaries in by_cell for each in summaries]
        hashes = {each["params_sha256"] for each in everything}
        if len(hashes) != 1:
            raise RuntimeError(f"{cell.name()}: factors {', '.join(factors)} end with {len(hashes)} different parameters")
        medians = {factor: statistics.median(figure(each) for each in runs[factor]) for factor in factors}
        return Measured(max(medians.values()), min(medians.values()), spread(medians.values()), context.slow_rounds, unit=unit,
                        note=", ".join(f"{factor}: {median:.4g}" for factor, median in medians.items()) +
                        f"; parameters equal; {left_out_text(left_out)}", samples={"medians": list(medians.values())})
    return measure


def not_limited(cell):
    """The share of runs that the fidelity monitor does not call limited. For a cell that the machine limits, it must be none. A run that
    could not be judged is not called limited."""
    def measure(context):
        runs = [train(context, cell) for _ in range(context.slow_rounds)]
        passed = sum(each["fidelity"]["verdict"] != "limited" for each in runs)
        reasons = sorted({reason for each in runs for reason in each["fidelity"]["limited_by"]})
        return Measured(passed, len(runs), passed / len(runs), len(runs), unit="runs", note="; ".join(reasons[:2]))
    return measure

"""Measures the emulated network with `lab_benchmark`: how exact its links are, what they cost, and what they leave behind."""
import json

from comparison.measure import Measured, Skipped, need_root, run

CYCLES = 200


def lab_benchmark(context, rounds, cycles):
    """The JSON lines that lab_benchmark prints for eight hosts."""
    need_root()
    program = context.build / "bin/lab_benchmark"
    if not program.exists():
        raise Skipped("lab_benchmark is not built")
    out = run([program, "hosts=8", f"rounds={rounds}", f"cycles={cycles}"], timeout=900)
    return [json.loads(line) for line in out.splitlines()]


def goodput(context):
    """The rate whose median over links, directions and rounds is furthest from the expected goodput."""
    rates = lab_benchmark(context, context.rounds, 0)
    percent = {each["rate"]: 100 * abs(each["share_of_goodput"]["median"] - 1) for each in rates}
    worst = max(percent, key=percent.get)
    least = min(each["share_of_goodput"]["min"] for each in rates)
    most = max(each["share_of_goodput"]["max"] for each in rates)
    return Measured(percent[worst], 2.0, percent[worst] / 2, context.rounds, unit="%",
                    note=f"{worst}; single measurements {least:.3f} to {most:.3f}", samples={"ours": list(percent.values())})


# Builds and removes the hosts many times, once for both rows.

def cycled(context):
    return context.once("lab cycles", lambda: lab_benchmark(context, 0, CYCLES)[0])


def eight_hosts(context):
    result = cycled(context)
    seconds, worst = (sum(result[part][which] for part in ("build_ms", "remove_ms")) / 1e3 for which in ("median", "max"))
    return Measured(seconds, 3.0, seconds / 3, result["cycles"], unit="s", note=f"at most {worst:.2f} s")


def left_behind(context):
    """Things left behind; the ratio is their number."""
    result = cycled(context)
    left = result["left_behind"]
    return Measured(len(left), 0, len(left), result["cycles"], unit="", note=", ".join(left))

"""Measures rows in emulated clusters (`--network`): a sum or a step across hosts. Every function takes the context first."""
import json
import statistics
import tempfile

from comparison.measure import Measured, Skipped, faster, interleaved, need_root, run

ATTEMPTS = 3  # of one run, until the machine does not limit it


def network_flags(hosts=4, rate="1Gbps", workers_per_host=1, server_hosts=0):
    flags = ["--workers", hosts * workers_per_host, "--network", f"hosts={hosts},rate={rate}"]
    return [*flags, "--servers", server_hosts] if server_hosts else flags


def lab(context, options, command, timeout=145):
    """The output of train or bench. `options` are those of `network_flags`."""
    need_root()
    with tempfile.TemporaryDirectory() as out:
        bundle = ["--out", f"{out}/run"] if command[0] == "train" else []
        return json.loads(run([context.ringside, *command, *network_flags(**options), *bundle, "--quiet", "--json"],
                              timeout=timeout))


def limited(output):
    """Whether the machine could not carry the network: what train or bench says about itself. A link that is not as asked
    counts, too. A run that was too short to be judged is not limited."""
    fidelity = output.get("fidelity") or {}
    # That of train has the text of the network, and what became of its links apart. That of bench has the record of the network.
    links_ok = output["link_ok"] if "link_ok" in output else (output.get("network") or {}).get("ok")
    return fidelity.get("verdict") == "limited" or links_ok is False


def true_lab(context, options, command, timeout=145):
    """`lab`, again while the machine limits the run. Raises where it limits each attempt."""
    for _ in range(ATTEMPTS):
        output = lab(context, options, command, timeout)
        if not limited(output):
            return output
    reasons = "; ".join((output.get("fidelity") or {}).get("limited_by", [])[:2])
    raise RuntimeError(f"the machine limited {ATTEMPTS} of {ATTEMPTS} runs of {' '.join(map(str, command[:4]))}: {reasons}")


def lab_bench(context, strategy, options, flags=()):
    """Milliseconds, and the share of the bound: bus bandwidth over the most that TCP can carry on these links."""
    result = true_lab(context, options, ["bench", "--strategy", strategy, "-b", "100MB", "-e", "100MB", "-n", 2, "-w", 1,
                                         *flags])
    row = result["rows"][0]
    if row["wrong"]:
        raise RuntimeError(f"{strategy}: {row['wrong']} elements are wrong")
    links = result["network"]["links"]
    return {"ms": row["time_us"] / 1e3, "share": row["busbw_GBps"] * 1e9 / links[0]["expected_bytes_per_s"],
            "tcp": min(link[way] / link["expected_bytes_per_s"] for link in links
                       for way in ("sent_bytes_per_s", "received_bytes_per_s"))}


def lab_100mb(context, rate, contenders):
    """The runs of each contender: (strategy, dedicated servers, flags). They take turns, once for all rows with the same
    contenders."""
    def measure_once(strategy, servers, flags):
        return lambda: lab_bench(context, strategy, {"rate": rate, "server_hosts": servers}, flags)
    for strategy, _, _ in contenders:
        context.strategy(strategy)
    return context.once(("lab", rate, contenders), lambda: interleaved(
        context.slow_rounds, {contender: measure_once(*contender) for contender in contenders}))


def lab_share(rate, contender, contenders):
    """A contender's share of its own bound, measured in turns with the other `contenders`."""
    def measure(context):
        runs = lab_100mb(context, rate, contenders)[contender]
        ms = statistics.median(each["ms"] for each in runs)
        share = statistics.median(each["share"] for each in runs)
        tcp = statistics.median(each["tcp"] for each in runs)
        return Measured(ms, ms * share, share, len(runs), note=f"plain TCP gets {tcp:.3f} of the bound",
                        samples={"ours": [each["ms"] for each in runs]})
    return measure


def lab_faster(rate, contender, peer):
    def measure(context):
        runs = lab_100mb(context, rate, (contender, peer))
        return faster([each["ms"] for each in runs[contender]], [each["ms"] for each in runs[peer]])
    return measure


def lab_hierarchical(context):
    """Measures both in one lab, in the rounds of one bench."""
    context.strategy("hierarchical")
    result = true_lab(context, {"hosts": 2, "workers_per_host": 2},
                 ["bench", "--strategy", "hierarchical,ring", "-b", "100MB", "-e", "100MB", "-n", 3, "-w", 1,
                  "--rounds", context.slow_rounds])
    time = {row["strategy"]: row for row in result["rows"]}
    return faster([us / 1e3 for us in time["hierarchical"]["round_us"]], [us / 1e3 for us in time["ring"]["round_us"]])


def lab_step_ms(context, options, strategy, model, compute_ms, steps, *flags):
    """The median of the steps after the first. The last step waits for its own communication besides that of the step
    before. With fewer than three counted steps it would change the median."""
    if steps < 4:
        raise ValueError("give at least 4 steps")
    summary = true_lab(context, options,
                  ["train", "--strategy", strategy, "--model", model, "--compute-ms", compute_ms, "--warmup-steps", 1,
                   "--steps", steps, *flags])
    return summary["step_ms"]["median"]


def emulated(context, options, strategy, model, steps, ours, peer):
    """Compares two settings of one training whose compute takes as long as communication alone."""
    communication = lab_step_ms(context, options, strategy, model, 0, steps, *peer)
    values = interleaved(context.slow_rounds, {
        "ours": lambda: lab_step_ms(context, options, strategy, model, communication, steps, *ours),
        "peer": lambda: lab_step_ms(context, options, strategy, model, communication, steps, *peer)})
    result = faster(values["ours"], values["peer"])
    result.note = f"communication alone {communication:.0f} ms; the ideal would give {result.peer / communication:.2f}"
    return result


def lab_training(context):
    """The step of ResNet-50 with `ring`, over the bound."""
    def once():
        return true_lab(context, {},
                   ["train", "--strategy", "ring", "--model", "profile:resnet50", "--steps", 10])
    runs = [once() for _ in range(context.slow_rounds)]
    steps = [each["step_ms"]["median"] for each in runs]
    step, bound = statistics.median(steps), runs[0]["bound_ms"]
    return Measured(step, bound, step / bound, len(steps), samples={"ours": steps})


def overlap(order):
    """Compares sending buckets during the backward pass, in that order, with sending them after it."""
    def measure(context):
        on = ["--overlap", "on"]
        if order != "fifo":
            context.key("ring", "schedule")
            on += ["--schedule", order]
        return emulated(context, {"hosts": 2}, "ring", "profile:resnet50", 5, on,
                        ["--overlap", "off"])
    return measure


def priority(context):
    context.key("ps-sync", "schedule")
    return emulated(context, {"hosts": 2, "rate": "2Gbps"}, "ps-sync", "profile:vgg16", 4,
                    ["--servers", "colocated", "--schedule", "priority"],
                    ["--servers", "colocated", "--schedule", "fifo"])


CODECS = ("fp32", "powersgd:4", "topk:0.01", "fp16")


def codec(name):
    """The step of ResNet-50 without compute on four hosts at 100 Mbit/s, compared with full gradients. All codecs take
    turns, once for all rows."""
    def measure(context):
        strategy = next((each for each in ("ring", "ps-sync") if "codec" in context.strategy(each)["keys"]), None)
        if strategy is None:
            raise Skipped("no strategy reads --codec in this build")
        servers = ["--servers", "colocated"] if strategy == "ps-sync" else []

        def step_ms(codec_name):
            return lambda: lab_step_ms(context, {"rate": "100Mbps"}, strategy, "profile:resnet50", 0, 4,
                                       "--codec", codec_name, *servers)
        values = context.once(("codec", strategy), lambda: interleaved(
            context.slow_rounds, {each: step_ms(each) for each in CODECS}))
        return faster(values[name], values["fp32"], note=f"under {strategy}")
    return measure

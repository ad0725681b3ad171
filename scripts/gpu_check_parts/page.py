"""The result as a page in Markdown, and as an exit code."""
import re

from gpu_check_parts import plan

ALL_WELL, FAILED, MISSED = 0, 1, 5
SIZE_NAMES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def verdicts(result):
    """(text, True, False or None) for every limit; None: nothing was measured."""
    found = []
    for row in result["all_reduce"]:
        for mode, ok in row["ok"].items():
            found.append((f"all-reduce of {size_text(row['bytes'])}, {row['algorithm']}, {mode}: at least {plan.BUSBW_RATIO} of NCCL alone", ok))
    for row in result["steps"]:
        if row["limit"] is not None:
            found.append((f"overlap of `{row['name']}`: at least {row['limit']}", row["ok"]))
    for row in result["verify"]:
        found.append((f"parameters of `{row['name']}`, {row['case']}: at most {row['limit']:g} from the CPU's", row["ok"]))
    if not result["all_reduce"]:
        found.append((f"all-reduce: at least {plan.BUSBW_RATIO} of NCCL alone", None))
    names = {row["name"] for row in result["steps"]}
    found += [(f"overlap of `{name}`: at least {limit}", None) for name, *_, limit in plan.STEP_ROWS if limit is not None and name not in names]
    done = {(row["name"], row["case"]) for row in result["verify"]}
    found += [(f"parameters of `{name}`, {case}: at most {plan.DISTANCE:g} from the CPU's", None)
              for name, *_, cases in plan.VERIFY_ROWS for case in cases if (name, case) not in done]
    return found


def exit_code(result):
    if result["failures"]:
        return FAILED
    return ALL_WELL if all(ok for _, ok in verdicts(result)) else MISSED


def size_text(size):
    for unit, name in SIZE_NAMES:
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} bytes"


def number(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}"


def verdict(ok):
    return {True: "ok", False: "**missed**", None: "not measured"}[ok]


def workers(row):
    if row["workers"] == 1:
        return "1"
    return f"{row['workers']}, {'emulated' if row['emulated'] else 'own GPU each'}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def bullets(texts):
    return "\n".join("- " + text for text in texts) + "\n"


def opening(result):
    facts = result["facts"]
    found = verdicts(result)
    missed = [text for text, ok in found if ok is False]
    unknown = [text for text, ok in found if ok is None]
    text = f"# Ringside on {facts['gpus']} GPU{'s' if facts['gpus'] != 1 else ''}\n\n"
    text += f"Written by `gpu_check.py` on {facts['date']}. It took {number(result['seconds'] / 60, 1)} minutes.\n\n"
    text += f"{sum(ok is True for _, ok in found)} of {len(found)} limits hold. {len(missed)} missed, {len(unknown)} not measured.\n"
    for title, texts in (("Missed", missed), ("Not measured", unknown), ("Not run, because the time was over", result["left_out"])):
        if texts:
            text += f"\n{title}:\n\n{bullets(texts)}"
    if result["failures"]:
        text += "\nRuns that failed:\n\n" + "\n".join(f"```\n{failure}\n```" for failure in result["failures"]) + "\n"
    return text


def machine(result):
    facts = result["facts"]
    rows = [("Ringside", f"{facts['ringside']}, commit {facts['commit']}"), ("GPUs that CUDA counts", facts["gpus"])]
    rows += [(f"GPU {index}", f"{name}, {memory}") for index, (name, memory) in enumerate(zip(facts["gpu_names"], facts["gpu_memory"]))]
    rows += [("driver", f"{facts['driver']}, for CUDA {facts['cuda_of_driver']}"), ("CUDA", facts["cuda"]), ("NCCL", facts["nccl"]),
             ("CPU", f"{facts['cpu']}, {facts['cores']} cores"), ("system", f"{facts['system']}, Python {facts['python']}")]
    return "\n## The machine\n\n" + table(("what", "which"), rows)


def emulation(result):
    if result["facts"]["gpus"] > 1:
        return ("\n## What was emulated\n\nNothing. Every worker had a GPU of its own. All workers are on this machine, so several machines "
                "were not tried.\n")
    return """
## What was emulated

This machine has one GPU. Rows with two workers say "emulated": both workers share the GPU. NCCL takes each worker for a host of its own and
sends through sockets of the loopback device. So these rows say what Ringside adds to NCCL, and whether the sums and the updates are right. They say
nothing of the speed of links between GPUs. The compute of one worker takes time from the other one. `ring` and `ps-sync` send through the host's
memory in any case; of them only the sharing of the GPU is emulated.

What could not be tried: several GPUs, NVLink, several machines.
"""


def all_reduces(result):
    text = f"""
## All-reduce

The vectors are in GPU memory. "NCCL alone" is `nccl-peer`, whose method is that of nccl-tests: the mean of many operations, in place. *Blocking*:
each operation is waited for, as Ringside does, and a barrier follows. *Pipelined*: operations are put on the stream one behind the other. Ringside's
figure is the median of operations. The programs took turns in rounds. Each figure is the median over the rounds, as bus bandwidth in GB/s.
The ratio is Ringside over NCCL alone. Limit: at least {plan.BUSBW_RATIO} in both modes.

"""
    rows = [(row["algorithm"], size_text(row["bytes"]), workers(row), row["rounds"], number(row["ours_GBps"], 3),
             *(f"{number(row['peer_GBps'][mode], 3)} | {number(row['ratio'][mode], 3)} | {verdict(row['ok'][mode])}" for mode in plan.MODES),
             row["wrong"]) for row in result["all_reduce"]]
    head = ["algorithm", "size", "workers", "rounds", "Ringside"]
    for mode in plan.MODES:
        head += [f"alone, {mode}", "ratio", "verdict"]
    return text + table([*head, "wrong elements"], rows)


def training_steps(result):
    text = f"""
## Training steps

`{' '.join(plan.STEP_FLAGS)}`. Times are in milliseconds. Exposed communication is the time in which a worker waits for it (median of the steps).
Compute and communication of the last columns are from the timeline, per step, of the worker with the least overlap. Compute is there the forward and the
backward pass without the time that they wait for communication. The overlap is what both have in common, over the shorter of both.
With the waits counted as compute the share is in brackets; it has no limit.

"""
    rows = []
    for row in result["steps"]:
        worst = min((figures for figures in row["by_worker"].values() if figures), default=None,
                    key=lambda figures: (figures["overlap"] is None, figures["overlap"] or 0))
        share = "–" if row["overlap"] is None else f"{row['overlap']:.2f} ({worst['overlap_with_awaits']:.2f})"
        rows.append((row["name"], workers(row), row["global_batch"], number(row["step_ms"]["median"]), number(row["compute_ms"]),
                     number(row["exposed_comm_ms"]), number(worst and worst["compute_ms"]), number(worst and worst["communication_ms"]), share,
                     "–" if row["limit"] is None else row["limit"], "–" if row["limit"] is None else verdict(row["ok"])))
    text += table(("strategy", "workers", "batch", "step", "compute", "exposed communication", "compute, timeline", "communication, timeline",
                   "overlap", "limit", "verdict"), rows)
    notes = sorted({f"`{row['name']}`: {note}" for row in result["steps"] for note in row["notes"]})
    notes += [f"`{row['name']}`: the timeline lacks {row['dropped_spans']} spans" for row in result["steps"] if row["dropped_spans"]]
    return text + ("\nNotes of the runs:\n\n" + bullets(notes) if notes else "")


def against_cpu(result):
    text = f"""
## Against the CPU

The same network was trained on a CPU by one worker (`--model mlp`, `{' '.join(plan.CASE_FLAGS)}`), when the check was made. The distance is
that of the final parameters, relative, in the L2 norm. Limit: at most {plan.DISTANCE:g}. The loss is that of the last step.

"""
    rows = [(row["name"], f"`{' '.join(plan.CASES[row['case']])}`", workers(row),
             "not finite" if row["distance"] is None else f"{row['distance']:.1e}", "–" if row["largest"] is None else f"{row['largest']:.1e}",
             number(row["loss"], 6), number(row["reference_loss"], 6), row["reference_commit"], verdict(row["ok"])) for row in result["verify"]]
    return text + table(("strategy", "optimizer", "workers", "distance", "largest difference", "loss", "loss on the CPU", "the CPU's commit",
                         "verdict"), rows)


def commands(result):
    lines = [f"{run['command']}  # {run['seconds']} s" + ("" if run["exit_code"] == 0 else f", exit code {run['exit_code']}")
             for run in result["runs"]]
    text = "\n## What was run\n\nIn this order:\n\n```sh\n" + "\n".join(lines) + "\n```\n"
    if result["facts"]["topology"]:
        plain = re.sub("\x1b\\[[0-9;]*m", "", result["facts"]["topology"])  # it underlines
        text += f"\n`nvidia-smi topo -m`:\n\n```\n{plain}\n```\n"
    return text


def render(result):
    return "".join(part(result) for part in (opening, machine, emulation, all_reduces, training_steps, against_cpu, commands))

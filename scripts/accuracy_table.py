#!/usr/bin/env python3
"""Prints the accuracy of a study's runs beside the synchronous fp32 run of the same seed, as a Markdown table.

usage: scripts/accuracy_table.py RESULTS_DIR [BASELINE_STRATEGY]     the baseline is `ring` unless told otherwise
"""
import collections
import json
import pathlib
import statistics
import sys

DEFAULT_OUTER_MOMENTUM = 0.5  # common/strategy_options.h


def changed(path):
    """What such a run says besides, where a study varies it."""
    spec = json.loads(path.with_name("spec.json").read_text())
    momentum = spec.get("outer_momentum", DEFAULT_OUTER_MOMENTUM)
    return "" if momentum == DEFAULT_OUTER_MOMENTUM else f" --outer-momentum {momentum}"


def read(directory):
    """(strategy, codec) -> seed -> summary, of the runs that are done."""
    runs = collections.defaultdict(dict)
    for path in sorted(pathlib.Path(directory).glob("*/summary.json")):
        summary = json.loads(path.read_text())
        if summary["status"] != "done":
            sys.exit(f"{path}: {summary['status']}: {summary['error']}")
        runs[summary["strategy"] + changed(path), summary["codec"]][summary["seed"]] = summary
    return runs


def row(name, by_seed, baseline):
    accuracies = {seed: 100 * summary["eval_accuracy"] for seed, summary in by_seed.items()}
    distances = [accuracies[seed] - 100 * baseline[seed]["eval_accuracy"] for seed in accuracies]
    sent = statistics.median(summary["payload_bytes_sent_per_worker_per_step"] for summary in by_seed.values())
    cells = [*name, *(f"{accuracies[seed]:.2f}" for seed in sorted(accuracies)), f"{statistics.mean(distances):+.2f}",
             f"{min(distances):+.2f}", f"{sent / 1000:.1f}"]
    return "| " + " | ".join(cells) + " |"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    runs = read(sys.argv[1])
    baseline = runs.get((sys.argv[2] if len(sys.argv) == 3 else "ring", "fp32"))
    if not baseline:
        sys.exit("the study has no baseline run with fp32")
    seeds = sorted(baseline)
    print("| strategy | codec | " + " | ".join(f"seed {seed}, %" for seed in seeds)
          + " | mean distance, points | worst | kB sent a step |")
    print("|---" * (len(seeds) + 5) + "|")
    order = {"ring": 0, "ps-sync": 1}
    for name in sorted(runs, key=lambda key: (order.get(key[0], 2), key[0], key[1] != "fp32", key[1])):
        print(row(name, runs[name], baseline))


if __name__ == "__main__":
    main()

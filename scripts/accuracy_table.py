#!/usr/bin/env python3
"""Prints a Markdown table of the accuracy of a study's runs, compared with a baseline of the same seed.

usage: scripts/accuracy_table.py RESULTS_DIR [BASELINE_STRATEGY]     the default baseline is `ring` with fp32

A row is a configuration. Every key that differs between runs of one strategy has a column. If the baseline's own runs differ in a
key, a row is compared with the baseline runs of the same value: a study of stragglers compares runs with the same straggler.
"""
import collections
import json
import pathlib
import statistics
import sys

# The keys that differ between repetitions, and keys that do not change what the model learns.
IGNORED = {"schema", "seed", "repetition", "timeline", "timeline_steps", "timeline_filename", "save_params", "timeout_s", "strategy"}


def text(value):
    if isinstance(value, dict):
        return " ".join(f"{key}={text(one)}" for key, one in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def read(directory):
    """[(spec with values as text, summary)] of the runs that are done and have an accuracy."""
    runs = []
    for path in sorted(pathlib.Path(directory).glob("*/summary.json")):
        summary = json.loads(path.read_text())
        if summary["status"] != "done" or summary["eval_accuracy"] is None:
            print(f"{path.parent.name} is left out: {summary['error'] or 'no accuracy'}", file=sys.stderr)
            continue
        spec = {key: text(value) for key, value in json.loads(path.with_name("spec.json").read_text()).items()}
        spec["codec"] = summary["codec"]
        runs.append((spec, summary))
    return runs


def varied(runs):
    """Maps a strategy to the keys in which its runs differ."""
    values = collections.defaultdict(lambda: collections.defaultdict(set))
    for spec, _ in runs:
        for key in set(spec) - IGNORED:
            values[spec["strategy"]][key].add(spec[key])
    return {strategy: {key for key, seen in keys.items() if len(seen) > 1} for strategy, keys in values.items()}


def grouped(runs, keys, own):
    """Maps (strategy, values of the keys) to {(seed, repetition): summary}. If a strategy's runs do not differ in a key, its value
    is "–", except for the codec."""
    rows = collections.defaultdict(dict)
    for spec, summary in runs:
        place = summary["seed"], summary["repetition"]
        row = rows[(spec["strategy"], *(spec.get(key, "–") if key in own[spec["strategy"]] | {"codec"} else "–" for key in keys))]
        if place in row:
            sys.exit(f"two runs of {summary['run_id']} with seed {place[0]} and repetition {place[1]}")
        row[place] = summary
    return rows


def cells_of(name, row, baseline, places):
    accuracies = {place: 100 * summary["eval_accuracy"] for place, summary in row.items()}
    distances = [accuracies[place] - 100 * baseline[place]["eval_accuracy"] for place in accuracies if place in baseline]
    sent = [summary["payload_bytes_sent_per_worker_per_step"] for summary in row.values()]
    speed = [summary["samples_per_s"] for summary in row.values()]
    return [*name, *(f"{accuracies[place]:.2f}" if place in accuracies else "–" for place in places),
            f"{statistics.mean(distances):+.2f}" if distances else "–", f"{min(distances):+.2f}" if distances else "–",
            f"{statistics.median(speed):.0f}" if None not in speed else "–",
            f"{statistics.median(sent) / 1000:.1f}" if None not in sent else "–"]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    strategy = sys.argv[2] if len(sys.argv) == 3 else "ring"
    runs = read(sys.argv[1])
    of_baseline = [run for run in runs if run[0]["strategy"] == strategy and run[0]["codec"] == "fp32"]
    if not of_baseline:
        sys.exit(f"the study has no run of {strategy} with fp32")
    own = varied(runs)
    keys = sorted(set().union(*own.values()), key=lambda key: (key != "codec", key))
    shared = sorted(varied(of_baseline)[strategy] - {"codec"})
    baselines = grouped(of_baseline, shared, own)
    rows = grouped(runs, keys, own)
    places = sorted({place for row in rows.values() for place in row})
    repeated = len({repetition for _, repetition in places}) > 1
    titles = ["strategy", *keys, *(f"seed {seed}{f' ({repetition})' if repeated else ''}, %" for seed, repetition in places),
              "mean distance, points", "worst", "samples/s", "kB sent a step"]
    print("| " + " | ".join(titles) + " |")
    print("|---" * len(titles) + "|")
    order = {strategy: 0, "ring": 1, "ps-sync": 2}
    codec = keys.index("codec") + 1 if "codec" in keys else None
    for name in sorted(rows, key=lambda name: (order.get(name[0], 3), name[0], codec is not None and name[codec] != "fp32", name[1:])):
        values = dict(zip(keys, name[1:]))
        baseline = baselines.get((strategy, *(values[key] for key in shared)), {})
        print("| " + " | ".join(cells_of(name, rows[name], baseline, places)) + " |")


if __name__ == "__main__":
    main()

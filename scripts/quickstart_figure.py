#!/usr/bin/env python3
"""Draws the README's picture from a report: step time and its exposed communication, per strategy and worker count.

usage: scripts/quickstart_figure.py RESULTS_DIR [OUT.svg]     needs python3-matplotlib and RESULTS_DIR/report.json
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)

# Okabe and Ito's palette: told apart with every kind of colour vision.
COLOURS = {"none": "#999999", "ring": "#0072B2", "halving-doubling": "#56B4E9", "ps-sync": "#D55E00",
           "ps-async": "#E69F00"}


def draw(cells, out):
    workers = sorted({cell["workers"] for cell in cells})
    strategies = list(dict.fromkeys(cell["strategy"] for cell in cells))
    by_key = {(cell["strategy"], cell["workers"]): cell for cell in cells}
    width = 0.8 / len(strategies)
    figure, axes = plt.subplots(figsize=(9, 3.8))
    for i, strategy in enumerate(strategies):
        at = [w + (i - (len(strategies) - 1) / 2) * width for w in range(len(workers))]
        step = [by_key[strategy, count]["step_ms"] for count in workers]
        exposed = [by_key[strategy, count]["exposed_comm_ms"] for count in workers]
        rest = [total - part for total, part in zip(step, exposed)]
        colour = COLOURS.get(strategy)
        axes.bar(at, rest, width * 0.92, color=colour, label=strategy)
        axes.bar(at, exposed, width * 0.92, bottom=rest, color="white", edgecolor=colour, hatch="////", linewidth=0.8)
        for x, total, cell in zip(at, step, (by_key[strategy, count] for count in workers)):
            axes.text(x, total + 0.2, f"{cell['accuracy'] * 100:.1f} %", ha="center", va="bottom", fontsize=7, rotation=90)
    axes.bar([0], [0], color="white", edgecolor="#444444", hatch="////", label="exposed communication")
    axes.set_xticks(range(len(workers)), [f"{count} worker{'s' if count > 1 else ''}" for count in workers])
    axes.set_ylabel("step time, ms (median)")
    axes.set_ylim(0, 1.22 * max(cell["step_ms"] for cell in cells))
    axes.set_title("MLP on digits, global batch 64, one host; above each bar: test accuracy", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    report = json.loads((pathlib.Path(sys.argv[1]) / "report.json").read_text())
    out = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else "docs/images/quickstart.svg")
    out.parent.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams["svg.hashsalt"] = "ringside"  # the same data gives the same file
    draw(report["cells"], out)


if __name__ == "__main__":
    main()

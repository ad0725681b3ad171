#!/usr/bin/env python3
"""Draws a study's figures for a paper from its report.json or report.csv: PNG, SVG and PDF, one and two columns wide, fonts embedded.

usage: report_figures.py REPORT OUT_DIR                          every figure; prints the files' names
       report_figures.py REPORT FILE.svg --figure NAME           only that one, two columns wide
       --scale linear|log|auto   of times and rates. auto, the default: log where the highest line is over 8 times the lowest

`ringside report --figures` runs it. Needs matplotlib (exit code 4 without it).
"""
import argparse
import json
import pathlib
import re
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError as missing:
    print(f"{sys.executable} has no matplotlib ({missing})", file=sys.stderr)
    sys.exit(4)

import figure_csv
from figure_marks import label_ends, rows_of, text
from figure_pictures import FIGURES, OF_ONE_CHOICE
from figure_study import Study

WIDTHS = {"single": 3.4, "double": 7.0}  # inches: one and two columns of a usual page
FORMATS = ("png", "svg", "pdf")
MOST_CHOICES = 8  # a set of figures takes some ten seconds


def use_house_style():
    matplotlib.rcParams.update({
        "pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "path",  # embeds fonts
        "svg.hashsalt": "ringside",  # the same data gives the same file
        "font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 6.5,
        "hatch.linewidth": 0.6, "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#E3E6EA", "axes.axisbelow": True,
        "savefig.dpi": 300})


def height_of(study, cells, name, width):
    """In inches. Every row of a picture with rows has the same height."""
    usual = 2.4 if width < 5 else 3.1
    if name == "parts" or (name not in OF_ONE_CHOICE and len({cell["workers"] for cell in cells}) == 1):
        return max(1.6, 0.95 + 0.155 * len(rows_of(study, cells, "step_ms")))
    if name == "staleness":
        return max(1.6, 0.9 + 0.55 * len({study.label(cell) for cell in cells if cell.get("staleness_mean")}))
    return usual


def note_of(cells):
    """How the figure was made: runs, emulated compute, dilated time."""
    emulated = "; compute emulated" if any(cell.get("emulated_compute") for cell in cells) else ""
    runs = sorted({cell["runs"] - (cell.get("limited", 0) if cell.get("takes_part", True) else 0) for cell in cells})
    count = f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else str(runs[0])
    factors = sorted({round(cell["dilation_factor"], 6) for cell in cells if cell.get("dilation_factor")})
    span = f"{factors[0]:g}" if len(factors) == 1 else f"{factors[0]:g} to {factors[-1]:g}" if factors else "1"
    dilated = f"; dilated time, factor {span}" if span != "1" else ""
    workers = {cell["workers"] for cell in cells}
    fixed = f"{next(iter(workers))} workers; " if len(workers) == 1 else ""
    return f"{fixed}medians over {count} run{'s' if runs[-1] > 1 else ''}{emulated}{dilated}"


def make(study, cells, name, width, title, scale):
    """The figure, or None if the cells lack its numbers."""
    figure, axes = plt.subplots(figsize=(width, height_of(study, cells, name, width)))
    ends = FIGURES[name](study, cells, axes, scale)
    if ends is None:
        plt.close(figure)
        return None
    axes.set_title((text(title) + "\n" if title else "") + note_of(cells), loc="left", fontsize=6, color="#444444")
    label_ends(axes, ends)
    handles, labels = axes.get_legend_handles_labels()
    figure.tight_layout()
    if handles:
        figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=min(len(handles), 2 if width < 5 else 4))
    return figure


def save(figure, path):
    no_date = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(path, bbox_inches="tight", pad_inches=0.02, metadata=no_date.get(path.suffix[1:], {}))
    print(path)


def slug(choice):
    return re.sub(r"[^A-Za-z0-9.=_-]+", "-", choice).strip("-.")[:80]


def write(study, name, cells, choice, part, out, scale):
    for size, width in WIDTHS.items():
        figure = make(study, cells, name, width, choice, scale)
        if figure is None:
            continue
        for kind in FORMATS:
            save(figure, out / f"{name}{part}-{size}.{kind}")
        plt.close(figure)


def write_all(study, out, scale):
    out.mkdir(parents=True, exist_ok=True)
    choices, wholes = list(study.choices()), study.wholes()
    if max(len(choices), len(wholes)) > MOST_CHOICES:
        print(f"the study varies {len(choices)} combinations of settings: only the first {MOST_CHOICES} have figures", file=sys.stderr)
    for name in FIGURES:
        for i, (choice, cells) in enumerate((choices if name in OF_ONE_CHOICE else wholes)[:MOST_CHOICES]):
            write(study, name, cells, choice, f"-{i + 1}-{slug(choice)}" if choice else "", out, scale)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--figure", choices=sorted(FIGURES))
    parser.add_argument("--scale", choices=("linear", "log", "auto"), default="auto")
    options = parser.parse_args()
    try:
        is_csv = options.report.suffix == ".csv"
        study = Study(figure_csv.report_of(options.report) if is_csv else json.loads(options.report.read_text()))
    except (OSError, ValueError, KeyError, IndexError) as error:
        sys.exit(f"{options.report}: {error}")
    use_house_style()
    if not options.figure:
        return write_all(study, options.out, options.scale)
    whole = (list(study.choices()) if options.figure in OF_ONE_CHOICE else study.wholes())[0][1]
    figure = make(study, whole, options.figure, WIDTHS["double"], "", options.scale)
    if figure is None:
        sys.exit(f"{options.report} has no numbers for {options.figure}")
    save(figure, options.out)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks that a reader can tell every configuration of a figure apart.

usage: figures_check.py SCRIPTS_DIR

Draws made-up studies with the modules of scripts/ and looks at what is in the axes. Needs matplotlib (exit code 4 without it).
Exits with 1 at the first check that fails.
"""
import colorsys
import itertools
import pathlib
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import report_figures as figures  # noqa: E402  (exits with 4 without matplotlib)
import matplotlib.text  # noqa: E402
import figure_csv  # noqa: E402
from figure_marks import is_flattened, spread  # noqa: E402
from figure_study import Study, shade  # noqa: E402


def check(holds, what):
    print(("ok   " if holds else "FAIL ") + what, flush=True)
    if not holds:
        sys.exit(1)


def cell(strategy, workers, servers=0, step_ms=100.0, colocated=False, **more):
    family = "parameter server" if servers else "ring"
    return {"strategy": strategy, "family": family, "workers": workers, "servers": servers, "colocated": colocated, "transport": "",
            "varied": {}, "conditions": {}, "runs": 1, "step_ms": step_ms, "exposed_comm_ms": step_ms / 2, **more}


def study(cells, varied=()):
    return Study({"cells": cells, "varied": list(varied)})


def servers_study():
    """A ring, and servers in every layout, of which a single one is 50 times as slow as the others."""
    cells = []
    for n in (1, 2, 4, 8):
        cells += [cell("ring", n), cell("ps-sync", n, 1, 500.0 * n), cell("ps-sync", n, n, 90.0), cell("ps-sync", n, n, 110.0, True),
                  cell("ps-sync", n, 2, 200.0)]
    return study(cells)


def hue(colour):
    return colorsys.rgb_to_hsv(*(int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)))[0]


def drawn(one, name, width=figures.WIDTHS["double"], scale="auto"):
    figure = figures.make(one, one.wholes()[0][1], name, width, "", scale)
    figure.canvas.draw()
    return figure, figure.axes[0]


def check_shades():
    one = servers_study()
    own = {label: look["color"] for label, look in one.looks.items() if label.startswith("ps-sync")}
    check(len(own) >= 4 and len(set(own.values())) == len(own), f"{len(own)} variants of servers have shades of their own")
    check(max(hue(colour) for colour in own.values()) - min(hue(colour) for colour in own.values()) < 0.02, "of the same hue")
    check(abs(hue(one.looks["ring"]["color"]) - hue(own["ps-sync, 1 server"])) > 0.1, "which is not that of the ring")
    many = study([cell(f"ring-{i}", 4) for i in range(9)] + [cell(f"ps-{i}", 4, 1) for i in range(6)])
    rings = {look["color"] for label, look in many.looks.items() if label.startswith("ring")}
    servers = {look["color"] for label, look in many.looks.items() if label.startswith("ps")}
    check(len(rings) == 9 and len(servers) == 6 and not rings & servers, "nine rings and six servers have fifteen colours")
    check(shade("#808080", -1) == "#000000" and shade("#808080", 1) == "#FFFFFF", "a shade is between black and white")


def boxes(figure, axes):
    """The boxes of the texts, without the lines that lead to them."""
    return [matplotlib.text.Text.get_window_extent(one, figure.canvas.get_renderer()) for one in axes.texts]


def check_line_ends():
    for width in figures.WIDTHS.values():
        one = servers_study()
        figure, axes = drawn(one, "step-time", width)
        names = [label for label, _ in one.series(one.cells, "step_ms")]
        check(sorted(one.get_text() for one in axes.texts) == sorted(names), f"each of {len(names)} lines has its name")
        check(not any(a.overlaps(b) for a, b in itertools.combinations(boxes(figure, axes), 2)), "no name is on another one")
        check(all(box.x0 >= axes.bbox.x1 for box in boxes(figure, axes)), "names are beside the lines' ends")
    check(spread([0.5, 0.5, 0.98], 0.1) == [0.5, 0.6, 0.98], "names that are apart stay where they are")


def check_leaders():
    """A line leads from the last point of each curve to its name."""
    def run(accuracies):
        return {"status": "done", "curve": [{"step": i, "samples": 64 * i, "train_seconds": i, "accuracy": value} for i, value in enumerate(accuracies)]}
    one = study([cell("ring", 4, results=[run([0.5, 0.9, 0.95])]), cell("ps-sync", 4, 1, results=[run([0.3, 0.93])])])
    figure, axes = drawn(one, "accuracy-time")
    leaders = [line for line in axes.lines if line.get_transform() == axes.transAxes and len(line.get_xdata()) == 2]
    starts = [axes.transAxes.transform((line.get_xdata()[0], line.get_ydata()[0])) for line in leaders]
    lasts = axes.transData.transform([(2, 0.95), (1, 0.93)])
    check(len(starts) == 2 and all(abs(a - b) < 1 for start, last in zip(starts, lasts) for a, b in zip(start, last)), "a line leads from the last point to the name")


def check_scale():
    _, axes = drawn(servers_study(), "step-time")
    check(axes.get_yscale() == "log" and "log scale" in axes.get_ylabel(), "a line that flattens the others makes the axis logarithmic, and it says so")
    _, axes = drawn(servers_study(), "step-time", scale="linear")
    check(axes.get_yscale() == "linear" and "log" not in axes.get_ylabel(), "but not if the caller wants a linear one")
    check(not is_flattened([100, 500], "auto") and is_flattened([100, 500], "log"), "lines of a like height do not, unless asked")
    check(not is_flattened([0, 500], "log"), "zero is on no logarithmic axis")


def check_rows():
    cells = [cell(f"ring-{i}", 4, step_ms=10.0 + i, varied={"network": speed}, conditions={"network": f"at {speed}"}, accuracy=0.9)
             for speed in ("1 Gbit/s", "10 Gbit/s") for i in range(10)]
    one = study(cells, ["network"])
    for name in ("step-time", "parts"):
        figure, axes = drawn(one, name, figures.WIDTHS["single"])
        names = [tick.get_text() for tick in axes.get_yticklabels()]
        check(names == [f"ring-{i}" for i in range(10)] * 2, f"{name}: each of 20 rows has its name")
        ticks = [tick.get_window_extent(figure.canvas.get_renderer()) for tick in axes.get_yticklabels()]
        check(not any(a.overlaps(b) for a, b in itertools.combinations(ticks, 2)), "no name is on another one")
        shown = [text.get_text() for text in axes.texts]
        check({"at 1 Gbit/s", "at 10 Gbit/s"} <= set(shown), "conditions are headings")
        check(sum(text.startswith("10") or text.startswith("19") for text in shown) >= 4, "rows have their numbers")
    legend = figure.legends[0].get_window_extent(figure.canvas.get_renderer())
    check(legend.x0 >= 0 and legend.x1 <= figure.bbox.x1, "the legend is within the figure")


def check_csv():
    """The two forms of a report give the same cells, as far as figures draw them."""
    columns = ["schema", "compute_ms", "strategy", "workers", "servers", "colocated", "transport", "runs", "failed", "limited", "takes_part",
               "step_ms", "step_ms_low", "step_ms_high", "compute_ms", "compute_ms_low", "compute_ms_high", "speedup", "speedup_low", "speedup_high"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.csv"
        path.write_text(",".join(columns) + "\nringside.report/2,30.0,ps-sync,4,4,true,tcp,5,0,0,true,12.5,12,13,29.9,,,,,\n")
        report = figure_csv.report_of(path)
        only = report["cells"][0]
        check(only["step_ms"] == 12.5 and only["speedup"] is None and only["compute_ms"] == 29.9 and only["intervals"] == {"step_ms": {"low": 12, "high": 13}}, "numbers and intervals are those of report.csv")
        check(Study(report).label(only) == "ps-sync" and only["colocated"] and only["family"] == "parameter server", "so is what they are of")
        check(report["varied"] == ["compute_ms"] and only["conditions"] == {"compute_ms": "30 ms of compute"}, "conditions are in words")
        check(not only["emulated_compute"], "without a spec nothing says that compute was emulated")
        path.with_name("spec.yaml").write_text("model: profile:resnet50\n")
        check(figure_csv.report_of(path)["cells"][0]["emulated_compute"], "a spec with a profile model does")


def main():
    figures.use_house_style()
    check_shades()
    check_line_ends()
    check_leaders()
    check_scale()
    check_rows()
    check_csv()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws a study's figures for a paper from its report.json: PNG, SVG and PDF, one and two columns wide, fonts embedded.

usage: report_figures.py REPORT.json OUT_DIR                     every figure; prints the files' names
       report_figures.py REPORT.json FILE.svg --figure NAME      only that one, two columns wide

`ringside report --figures` runs it. Needs matplotlib (exit code 4 without it).
"""
import argparse
import collections
import json
import pathlib
import re
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import matplotlib.ticker
except ImportError as missing:
    print(f"{sys.executable} has no matplotlib ({missing})", file=sys.stderr)
    sys.exit(4)

WIDTHS = {"single": 3.4, "double": 7.0}  # inches: one and two columns of a usual page
FORMATS = ("png", "svg", "pdf")
MOST_CHOICES = 8  # a set of figures takes some ten seconds
# Okabe and Ito's palette suits every kind of colour vision. Dash, marker and hatch differ too.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C"]
HOME = {"none": "#8C8C8C", "ring": "#0072B2", "halving-doubling": "#56B4E9", "ps-sync": "#D55E00", "ps-async": "#E69F00"}
DASHES = ["-", "--", ":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1))]
MARKERS = "os^Dv*XPph<>"


def text(value):
    """Escapes a label: Matplotlib reads $ as mathematics, and hides lines whose label begins with an underscore."""
    escaped = str(value).replace("\\", "\\\\").replace("$", r"\$")
    return " " + escaped if escaped.startswith("_") else escaped


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


class Study:
    """The cells of a report, and how their lines look."""

    def __init__(self, report):
        self.report = report
        self.cells = report["cells"]
        self.layouts = collections.defaultdict(set)
        for cell in self.cells:
            self.layouts[cell["strategy"]].add(self.layout(cell))
        self.transports = {cell["transport"] for cell in self.cells if cell["transport"]}
        self.per_worker = self.strategies_with_server_per_worker()
        self.labels = list(dict.fromkeys(label for cell in self.cells for label in (self.label(cell), *self.lines(cell))))
        self.looks = self.make_looks()

    @staticmethod
    def layout(cell):
        if cell["colocated"]:
            return "co-located" if cell["servers"] == cell["workers"] else f"{cell['servers']} co-located"
        return f"{cell['servers']} server{'s' if cell['servers'] != 1 else ''}"

    def label(self, cell):
        label = cell["strategy"]
        if cell["servers"] and len(self.layouts[cell["strategy"]]) > 1:
            label += f", {self.layout(cell)}"
        if cell["transport"] and len(self.transports) > 1:
            label += f" ({cell['transport']})"
        return label

    def strategies_with_server_per_worker(self):
        """Strategies that ran with as many dedicated servers as workers, at several numbers of workers."""
        counts = collections.defaultdict(set)
        for cell in self.cells:
            if cell["servers"] and not cell["colocated"] and cell["servers"] == cell["workers"]:
                counts[cell["strategy"]].add(cell["workers"])
        return {strategy for strategy, workers in counts.items() if len(workers) > 1}

    def lines(self, cell):
        """The lines over workers that contain a cell. A cell with as many servers as workers is on two lines: the one of its
        number of servers, if that has other points, and "a server per worker"."""
        own = self.label(cell)
        if cell["colocated"] or cell["servers"] != cell["workers"] or cell["strategy"] not in self.per_worker:
            return [own]
        line = f"{cell['strategy']}, a server per worker"
        if cell["transport"] and len(self.transports) > 1:
            line += f" ({cell['transport']})"
        alike = any(other["workers"] != cell["workers"] and self.label(other) == own for other in self.cells)
        return [own, line] if alike else [line]

    def make_looks(self):
        strategies = list(dict.fromkeys(cell["strategy"] for cell in self.cells))
        free = [colour for colour in COLOURS if colour not in [HOME.get(strategy) for strategy in strategies]]
        colours = {strategy: HOME.get(strategy) or (free.pop(0) if free else COLOURS[i % len(COLOURS)])
                   for i, strategy in enumerate(strategies)}
        strategy_of = {label: cell["strategy"] for cell in self.cells for label in (self.label(cell), *self.lines(cell))}
        looks, repeats = {}, collections.Counter()
        for i, label in enumerate(self.labels):
            colour = colours[strategy_of[label]]
            looks[label] = {"color": colour, "linestyle": DASHES[repeats[colour] % len(DASHES)], "marker": MARKERS[i % len(MARKERS)]}
            repeats[colour] += 1
        return looks

    def choices(self):
        """(name, cells) for every combination of the values that the study varies."""
        groups = collections.defaultdict(list)
        for cell in self.cells:
            groups[tuple(cell["varied"].get(key, "") for key in self.report["varied"])].append(cell)
        for cells in groups.values():
            yield ", ".join(cells[0]["conditions"][key] for key in self.report["varied"]), cells

    def series(self, cells, metric, once=False):
        """(label, cells by workers) of every line; with `once` each cell is in one line only."""
        for label in self.labels:
            own = sorted((cell for cell in cells if cell.get(metric) is not None
                          and label in ([self.label(cell)] if once else self.lines(cell))),
                         key=lambda cell: cell["workers"])
            if own:
                yield label, own


def interval_of(cell, metric):
    interval = (cell.get("intervals") or {}).get(metric)
    if not interval:
        return None
    return (interval["low"], interval["high"]) if isinstance(interval, dict) else tuple(interval)


def bars_of(cells, metric):
    """The lengths of the bars below and above the points; None if no cell has an interval."""
    pairs = [interval_of(cell, metric) or (cell[metric], cell[metric]) for cell in cells]
    if all(low == high for low, high in pairs):
        return None
    return [[max(0, cell[metric] - low) for cell, (low, _) in zip(cells, pairs)],
            [max(0, high - cell[metric]) for cell, (_, high) in zip(cells, pairs)]]


def mark_limited(axes, points):
    """Crosses out the cells whose runs the machine all limited. `points` are (x, y, cell)."""
    limited = [(x, y) for x, y, cell in points if cell.get("takes_part") is False]
    if limited:
        label = "limited by the machine" if "limited by the machine" not in axes.get_legend_handles_labels()[1] else None
        axes.plot(*zip(*limited), linestyle="none", marker="x", markersize=8, markeredgewidth=1.2, color="#222222", label=label, zorder=5)


def draw_limit(axes, cells, limit, look, dashes):
    """Draws a thin line of a limit over the workers, as far as cells have it."""
    known = [cell for cell in cells if limit(cell)]
    if known:
        axes.plot([cell["workers"] for cell in known], [limit(cell) for cell in known], color=look["color"], linestyle=(0, dashes),
                  linewidth=0.7)
    return bool(known)


def draw_scaling(study, cells, axes, metric, label, limits=()):
    """Draws the metric over the workers. `limits` are (name, key, dashes) of figures that have thin lines beside it."""
    drawn = {}
    for name, own in study.series(cells, metric):
        look = study.looks[name]
        x = [cell["workers"] for cell in own]
        axes.errorbar(x, [cell[metric] for cell in own], yerr=bars_of(own, metric), label=text(name), capsize=2, markersize=4,
                      linewidth=1.3, **look)
        mark_limited(axes, [(cell["workers"], cell[metric], cell) for cell in own])
        for limit, key, dashes in limits:
            if draw_limit(axes, own, lambda cell, key=key: cell.get(key), look, dashes):
                drawn[limit] = dashes
    if not axes.lines:
        return False
    workers = sorted({cell["workers"] for cell in cells})
    axes.set_xticks(workers, [str(count) for count in workers])
    for limit, dashes in drawn.items():
        axes.plot([], [], color="#444444", linestyle=(0, dashes), linewidth=0.7, label=limit)
    axes.set_xlabel("workers")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    return True


def draw_step_time(study, cells, axes):
    return draw_scaling(study, cells, axes, "step_ms", "step time, ms", [("bound", "bound_ms", (4, 3)), ("achievable", "achievable_ms", (1, 1.5))])


def draw_throughput(study, cells, axes):
    return draw_scaling(study, cells, axes, "samples_per_s", "samples / s")


def draw_speedup(study, cells, axes):
    if not draw_scaling(study, cells, axes, "speedup", "speed-up"):
        return False
    workers = sorted({cell["workers"] for cell in cells})
    axes.plot(workers, workers, color="#8C8C8C", linestyle=":", linewidth=1, label="ideal")
    return True


def draw_bound(study, cells, axes):
    if not draw_scaling(study, cells, axes, "bound_ratio", "step time / bound"):
        return False
    for name, own in study.series(cells, "achievable_ms"):
        known = [cell for cell in own if cell.get("bound_ms")]
        axes.plot([cell["workers"] for cell in known], [cell["achievable_ms"] / cell["bound_ms"] for cell in known], linestyle="none",
                  marker="_", markersize=9, color=study.looks[name]["color"])
    if any(cell.get("achievable_ms") and cell.get("bound_ms") for cell in cells):
        axes.plot([], [], linestyle="none", marker="_", markersize=9, color="#444444", label="achievable")
    axes.axhline(1, color="#8C8C8C", linewidth=0.8)
    axes.set_ylim(bottom=min(0.95, axes.get_ylim()[0] or 0.95))
    return True


def draw_parts(study, cells, axes):
    """Draws bars for each number of workers: the step, with exposed communication hatched, and the test accuracy above."""
    found = {(study.label(cell), cell["workers"]): cell for cell in cells if cell.get("step_ms") is not None}
    labels = [label for label in study.labels if any(name == label for name, _ in found)]
    if not found:
        return False
    workers = sorted({count for _, count in found})
    width = 0.84 / len(labels)
    for i, label in enumerate(labels):
        colour = study.looks[label]["color"]
        own = [(place, found[label, count]) for place, count in enumerate(workers) if (label, count) in found]
        at = [place + (i - (len(labels) - 1) / 2) * width for place, _ in own]
        exposed = [min(cell.get("exposed_comm_ms") or 0, cell["step_ms"]) for _, cell in own]
        rest = [cell["step_ms"] - part for (_, cell), part in zip(own, exposed)]
        axes.bar(at, rest, width * 0.92, color=colour, label=text(label))
        axes.bar(at, exposed, width * 0.92, bottom=rest, color="white", edgecolor=colour, hatch="////", linewidth=0.6,
                 yerr=bars_of([cell for _, cell in own], "step_ms"), error_kw={"linewidth": 0.8, "capsize": 1.5})
        mark_limited(axes, [(x, cell["step_ms"], cell) for x, (_, cell) in zip(at, own)])
        for x, (_, cell) in zip(at, own):
            if cell.get("accuracy") is not None and len(found) <= 24:
                top = (interval_of(cell, "step_ms") or (0, cell["step_ms"]))[1]
                axes.annotate(f"{cell['accuracy'] * 100:.1f} %", (x, top), (0, 3), textcoords="offset points",
                              ha="center", va="bottom", fontsize=5.5, rotation=90)
    axes.bar([0], [0], color="white", edgecolor="#444444", hatch="////", linewidth=0.6, label="exposed communication")
    axes.set_xticks(range(len(workers)), [f"{count} worker{'s' if count > 1 else ''}" for count in workers])
    axes.set_ylabel("step time, ms")
    axes.margins(y=0.16)
    return True


def counted_runs(cell):
    """The finished runs that a cell's numbers come from: those that the machine did not limit, or all when it limited all."""
    done = [run for run in cell.get("results") or [] if run["status"] == "done"]
    return [run for run in done if cell.get("takes_part") is False or (run.get("fidelity") or {}).get("verdict") != "limited"]


def curve_of(cell, x, y):
    points = collections.defaultdict(list)
    for run in counted_runs(cell):
        for point in run.get("curve") or []:
            if point.get(y) is not None:
                points[point["step"]].append((point[x], point[y]))
    steps = sorted(points)
    return [median([p[0] for p in points[step]]) for step in steps], [median([p[1] for p in points[step]]) for step in steps]


def draw_curve(study, cells, axes, x, label):
    workers = max((cell["workers"] for cell in cells), default=0)
    drawn = False
    for name, own in study.series([cell for cell in cells if cell["workers"] == workers], "workers", once=True):
        at, accuracy = curve_of(own[0], x, "accuracy")
        if at:
            axes.plot(at, accuracy, label=text(name), markersize=3, linewidth=1.2, **study.looks[name])
            drawn = True
    axes.set_xlabel(f"{label} ({workers} workers)")
    axes.set_ylabel("held-out accuracy")
    return drawn


def draw_accuracy_time(study, cells, axes):
    return draw_curve(study, cells, axes, "train_seconds", "training time, s")


def draw_accuracy_samples(study, cells, axes):
    return draw_curve(study, cells, axes, "samples", "samples trained on")


def draw_staleness(study, cells, axes):
    stale = [(study.label(cell), cell) for cell in cells if any(int(behind) > 0 for behind in cell.get("staleness") or {})]
    most = max((cell["workers"] for _, cell in stale), default=0)
    stale = [(label, cell) for label, cell in stale if cell["workers"] == most]
    for i, (label, cell) in enumerate(stale):
        histogram = sorted((int(behind), updates) for behind, updates in cell["staleness"].items())
        total = sum(updates for _, updates in histogram)
        width = 0.84 / len(stale)
        axes.bar([behind + (i - (len(stale) - 1) / 2) * width for behind, _ in histogram], [updates / total for _, updates in histogram],
                 width, label=text(label), color=study.looks[label]["color"], edgecolor="white", linewidth=0.3)
    axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
    axes.set_xlabel(f"versions behind ({most} workers)")
    axes.set_ylabel("share of updates")
    return bool(stale)


FIGURES = {"step-time": draw_step_time, "throughput": draw_throughput, "speedup": draw_speedup, "bound": draw_bound, "parts": draw_parts,
           "accuracy-time": draw_accuracy_time, "accuracy-samples": draw_accuracy_samples, "staleness": draw_staleness}


def use_house_style():
    matplotlib.rcParams.update({
        "pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "path",  # embeds fonts
        "svg.hashsalt": "ringside",  # the same data gives the same file
        "font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 6.5,
        "hatch.linewidth": 0.6, "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#E3E6EA", "axes.axisbelow": True,
        "savefig.dpi": 300})


def make(study, cells, name, width, title):
    """The figure, or None if the cells lack its numbers."""
    figure, axes = plt.subplots(figsize=(width, 2.4 if width < 5 else 3.1))
    if not FIGURES[name](study, cells, axes):
        plt.close(figure)
        return None
    handles, labels = axes.get_legend_handles_labels()
    columns = min(len(handles), 2 if width < 5 else 5)
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=columns)
    emulated = "; compute emulated" if any(cell.get("emulated_compute") for cell in cells) else ""
    runs = sorted({cell["runs"] - (cell.get("limited", 0) if cell.get("takes_part", True) else 0) for cell in cells})
    count = f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else str(runs[0])
    factors = sorted({round(cell["dilation_factor"], 6) for cell in cells if cell.get("dilation_factor")})
    span = f"{factors[0]:g}" if len(factors) == 1 else f"{factors[0]:g} to {factors[-1]:g}" if factors else "1"
    dilated = f"; dilated time, factor {span}" if span != "1" else ""
    note = f"medians over {count} run{'s' if runs[-1] > 1 else ''}{emulated}{dilated}"
    axes.set_title((text(title) + "\n" if title else "") + note, loc="left", fontsize=6, color="#444444")
    figure.tight_layout()
    return figure


def save(figure, path):
    no_date = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(path, bbox_inches="tight", pad_inches=0.02, metadata=no_date.get(path.suffix[1:], {}))
    print(path)


def slug(choice):
    return re.sub(r"[^A-Za-z0-9.=_-]+", "-", choice).strip("-.")[:80]


def write_all(study, out):
    out.mkdir(parents=True, exist_ok=True)
    choices = list(study.choices())
    if len(choices) > MOST_CHOICES:
        print(f"the study varies {len(choices)} combinations of settings: only the first {MOST_CHOICES} have figures", file=sys.stderr)
    for i, (choice, cells) in enumerate(choices[:MOST_CHOICES]):
        part = f"-{i + 1}-{slug(choice)}" if choice else ""
        for name in FIGURES:
            for size, width in WIDTHS.items():
                figure = make(study, cells, name, width, choice)
                if figure is None:
                    continue
                for kind in FORMATS:
                    save(figure, out / f"{name}{part}-{size}.{kind}")
                plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--figure", choices=sorted(FIGURES))
    options = parser.parse_args()
    try:
        study = Study(json.loads(options.report.read_text()))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{options.report}: {error}")
    use_house_style()
    if not options.figure:
        return write_all(study, options.out)
    figure = make(study, next(study.choices())[1], options.figure, WIDTHS["double"], "")
    if figure is None:
        sys.exit(f"{options.report} has no numbers for {options.figure}")
    save(figure, options.out)


if __name__ == "__main__":
    main()

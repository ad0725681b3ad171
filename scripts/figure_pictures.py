"""The pictures. Each function draws one into axes. It returns the ends of lines that need a name, or None without numbers."""
import collections

import matplotlib.ticker

from figure_marks import (SMALL, bars_of, draw_limit, interval_of, is_flattened, mark_limited, name_powers, name_rows, number, rows_of, value_text)


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def use_workers(axes, cells, log):
    workers = sorted({cell["workers"] for cell in cells})
    if log:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xticks(workers, [str(count) for count in workers])
    axes.set_xlabel("workers (log scale)" if log else "workers")


def draw_lines(study, cells, axes, metric, label, limits, scale):
    """Draws the metric over the workers. `limits` are (name, key, dashes) of figures that have thin lines beside it."""
    drawn, ends = {}, []
    lines = list(study.series(cells, metric))
    log = is_flattened([max(cell[metric] for cell in own) for _, own in lines], scale)
    for name, own in lines:
        look = study.looks[name]
        axes.errorbar([cell["workers"] for cell in own], [cell[metric] for cell in own], yerr=bars_of(own, metric), capsize=2, markersize=4,
                      linewidth=1.3, **look)
        mark_limited(axes, [(cell["workers"], cell[metric], cell) for cell in own])
        ends.append((own[-1]["workers"], own[-1][metric], name, look))
        for limit, key, dashes in limits:
            if draw_limit(axes, own, lambda cell, key=key: cell.get(key), look, dashes):
                drawn[limit] = dashes
    for limit, dashes in drawn.items():
        axes.plot([], [], color="#444444", linestyle=(0, dashes), linewidth=0.7, label=limit)
    use_workers(axes, cells, log)
    axes.set_ylabel(f"{label} (log scale)" if log else label)
    if log:
        axes.set_yscale("log")
        name_powers(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    return ends


def draw_dots(study, cells, axes, metric, label, limits, scale):
    """Draws a row with the name, the metric and its interval for each configuration."""
    rows = rows_of(study, cells, metric)
    log = is_flattened([cell[metric] for _, cell in rows if cell], scale)
    shown = [(-i, cell) for i, (_, cell) in enumerate(rows) if cell]
    for y, cell in shown:
        low, high = interval_of(cell, metric) or (cell[metric], cell[metric])
        look = study.looks[study.label(cell)]
        axes.errorbar([cell[metric]], [y], xerr=[[max(0, cell[metric] - low)], [max(0, high - cell[metric])]], capsize=2, markersize=4.5,
                      color=look["color"], marker=look["marker"])
        beyond = [cell[key] for _, key, _ in limits if cell.get(key)]
        value_text(axes, max([high, cell[metric]] + beyond), y, number(cell[metric]))
    mark_limited(axes, [(cell[metric], y, cell) for y, cell in shown])
    for name, key, dashes in limits:
        known = [(cell[key], y) for y, cell in shown if cell.get(key)]
        if known:
            axes.plot(*zip(*known), linestyle="none", marker="|" if name == "bound" else "d", markersize=8 if name == "bound" else 4,
                      color="#444444", markerfacecolor="none", markeredgewidth=0.8, label=name)
    name_rows(study, axes, rows)
    if log:
        axes.set_xscale("log")
        name_powers(axes.xaxis)
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(f"{label} (log scale)" if log else label)
    return []


def draw_scaling(study, cells, axes, metric, label, scale, limits=()):
    """Lines over the workers; rows if there is one number of workers. None if no cell has the metric, else the lines' ends."""
    if all(cell.get(metric) is None for cell in cells):
        return None
    draw = draw_lines if len({cell["workers"] for cell in cells}) > 1 else draw_dots
    return draw(study, cells, axes, metric, label, limits, scale)


def draw_step_time(study, cells, axes, scale):
    limits = [("bound", "bound_ms", (4, 3)), ("achievable", "achievable_ms", (1, 1.5))]
    return draw_scaling(study, cells, axes, "step_ms", "step time, ms", scale, limits)


def draw_throughput(study, cells, axes, scale):
    return draw_scaling(study, cells, axes, "samples_per_s", "samples / s", scale)


def draw_speedup(study, cells, axes, _):
    ends = draw_scaling(study, cells, axes, "speedup", "speed-up", "linear")
    workers = sorted({cell["workers"] for cell in cells})
    if ends:
        axes.plot(workers, workers, color="#8C8C8C", linestyle=":", linewidth=1, label="ideal")
    return ends


def draw_bound(study, cells, axes, _):
    ends = draw_scaling(study, cells, axes, "bound_ratio", "step time / bound", "linear")
    if ends is None:
        return None
    lines = len({cell["workers"] for cell in cells}) > 1
    rows = [cell for _, cell in rows_of(study, cells, "bound_ratio")]
    known = [cell for cell in cells if cell.get("achievable_ms") and cell.get("bound_ms") and cell.get("bound_ratio") is not None]
    for cell in known:
        at, ratio = cell["workers"] if lines else -rows.index(cell), cell["achievable_ms"] / cell["bound_ms"]
        axes.plot(*((at, ratio) if lines else (ratio, at)), linestyle="none", marker="_" if lines else "|", markersize=9,
                  color=study.looks[study.label(cell)]["color"])
    if known:
        axes.plot([], [], linestyle="none", marker="_" if lines else "|", markersize=9, color="#444444", label="achievable")
    (axes.axhline if lines else axes.axvline)(1, color="#8C8C8C", linewidth=0.8)
    ratios = [value for cell in cells if cell.get("bound_ratio") is not None for value in (interval_of(cell, "bound_ratio") or [cell["bound_ratio"]])]
    (axes.set_ylim if lines else axes.set_xlim)(min(0.95, *ratios, 1))
    return ends


def draw_parts(study, cells, axes, _):
    """Draws a bar with a name for each configuration: its step, with exposed communication hatched."""
    rows = rows_of(study, cells, "step_ms")
    shown = [(-i, cell) for i, (_, cell) in enumerate(rows) if cell]
    if not shown:
        return None
    for y, cell in shown:
        colour = study.looks[study.label(cell)]["color"]
        exposed = min(cell.get("exposed_comm_ms") or 0, cell["step_ms"])
        axes.barh(y, cell["step_ms"] - exposed, 0.78, color=colour)
        axes.barh(y, exposed, 0.78, left=cell["step_ms"] - exposed, color="white", edgecolor=colour, hatch="////", linewidth=0.6,
                  xerr=bars_of([cell], "step_ms"), error_kw={"linewidth": 0.8, "capsize": 1.5})
        words = f"{number(cell['step_ms'])} ms, {100 * exposed / cell['step_ms'] if cell['step_ms'] else 0:.0f} % exposed"
        if cell.get("accuracy") is not None:
            words += f", accuracy {cell['accuracy'] * 100:.1f} %"
        value_text(axes, (interval_of(cell, "step_ms") or (0, cell["step_ms"]))[1], y, words)
    mark_limited(axes, [(cell["step_ms"], y, cell) for y, cell in shown])
    axes.barh(shown[0][0], 0, color="#444444", label="compute and the rest")
    axes.barh(shown[0][0], 0, color="white", edgecolor="#444444", hatch="////", linewidth=0.6, label="exposed communication")
    name_rows(study, axes, rows)
    axes.set_xlabel("step time, ms")
    return []


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
    ends = []
    for name, own in study.series([cell for cell in cells if cell["workers"] == workers], "workers", once=True):
        at, accuracy = curve_of(own[0], x, "accuracy")
        if at:
            axes.plot(at, accuracy, markersize=3, linewidth=1.2, **study.looks[name])
            ends.append((at[-1], accuracy[-1], name, study.looks[name]))
    axes.set_xlabel(f"{label} ({workers} workers)")
    axes.set_ylabel("held-out accuracy")
    return ends or None


def draw_accuracy_time(study, cells, axes, _):
    return draw_curve(study, cells, axes, "train_seconds", "training time, s")


def draw_accuracy_samples(study, cells, axes, _):
    return draw_curve(study, cells, axes, "samples", "samples trained on")


def draw_staleness(study, cells, axes, _):
    """Draws a row of bars with a name for each configuration: the shares of updates by how many versions they were behind."""
    stale = [cell for cell in cells if any(int(behind) > 0 for behind in cell.get("staleness") or {})]
    most = max((cell["workers"] for cell in stale), default=0)
    stale = [cell for cell in stale if cell["workers"] == most]
    if not stale:
        return None
    totals = [sum(cell["staleness"].values()) for cell in stale]
    highest = max(max(cell["staleness"].values()) / total for cell, total in zip(stale, totals))
    for i, (cell, total) in enumerate(zip(stale, totals)):
        for behind, updates in sorted((int(behind), updates) for behind, updates in cell["staleness"].items()):
            height = updates / total / highest * 0.78
            axes.bar(behind, height, 0.84, bottom=-i - 0.4, color=study.looks[study.label(cell)]["color"])
            if updates / total >= 0.005 and len(cell["staleness"]) <= 20:
                axes.annotate(f"{100 * updates / total:.0f} %", (behind, height - i - 0.4), ha="center", va="bottom", fontsize=SMALL - 1.5)
    name_rows(study, axes, [(None, cell) for cell in stale])
    axes.grid(axis="x", visible=False)
    axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
    axes.set_xlabel(f"versions behind ({most} workers); a bar is a share of the updates")
    return []


FIGURES = {"step-time": draw_step_time, "throughput": draw_throughput, "speedup": draw_speedup, "bound": draw_bound, "parts": draw_parts,
           "accuracy-time": draw_accuracy_time, "accuracy-samples": draw_accuracy_samples, "staleness": draw_staleness}
OF_ONE_CHOICE = ("accuracy-time", "accuracy-samples", "staleness")  # a picture for each combination of conditions

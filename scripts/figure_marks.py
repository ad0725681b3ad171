"""What pictures are made of: numbers and names as text, intervals, limits, the names of lines and of rows."""
import collections

import matplotlib.ticker

FLATTENED = 8  # a line that is so many times lower than the highest one looks flat
SMALL = 6.5  # points: the text beside lines and bars


def text(value):
    """Escapes a label: Matplotlib reads $ as mathematics, and hides lines whose label begins with an underscore."""
    escaped = str(value).replace("\\", "\\\\").replace("$", r"\$")
    return " " + escaped if escaped.startswith("_") else escaped


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


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


def is_flattened(tops, scale):
    """Whether an axis is logarithmic: by choice, or because the highest of `tops` flattens another one."""
    known = [top for top in tops if top]
    if scale != "auto" or len(known) < 2:
        return scale == "log" and len(known) == len(tops)
    return len(known) == len(tops) and max(known) > FLATTENED * min(known)


def spread(places, gap):
    """Moves places in 0..1 apart by at least `gap`, in their order, as little as a single pass up and one down allow."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = dict.fromkeys(order, 0.0)
    lowest = 0.0
    for i in order:
        moved[i] = lowest = max(places[i], lowest)
        lowest += gap
    highest = 1.0
    for i in reversed(order):
        moved[i] = highest = min(moved[i], highest)
        highest -= gap
    return [moved[i] for i in range(len(places))]


def label_ends(axes, ends):
    """Writes each line's name beside its last point. `ends` are (x, y, name, look)."""
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # later limits would move the points
    to_axes = axes.transData + axes.transAxes.inverted()
    lasts = [to_axes.transform((x, y)) for x, y, _, _ in ends]
    places = spread([y for _, y in lasts], SMALL * 1.25 / (axes.figure.get_figheight() * 72 * 0.72))
    point = 1 / (axes.figure.get_figwidth() * 72 * 0.62)  # in parts of the axes' width
    outside = {"transform": axes.transAxes, "clip_on": False}
    for (_, _, name, look), last, place in zip(ends, lasts, places):
        axes.plot([last[0], 1 + 10 * point], [last[1], place], color=look["color"], linewidth=0.6, linestyle=(0, (1, 2)), zorder=1, **outside)
        axes.plot([1 + 10 * point], [place], color=look["color"], marker=look["marker"], markersize=3.5, **outside)
        axes.text(1 + 15 * point, place, text(name), fontsize=SMALL, va="center", **outside)



def name_powers(axis):
    """Writes numbers, not powers of ten, on a logarithmic axis."""
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: number(value)))


def draw_limit(axes, cells, limit, look, dashes):
    """Draws a thin line of a limit over the workers, as far as cells have it."""
    known = [cell for cell in cells if limit(cell)]
    if known:
        axes.plot([cell["workers"] for cell in known], [limit(cell) for cell in known], color=look["color"], linestyle=(0, dashes),
                  linewidth=0.7)
    return bool(known)


def rows_of(study, cells, metric):
    """(heading or None, cell or None) of every row, from the top. A heading has a row of its own."""
    known = [cell for cell in cells if cell.get(metric) is not None]
    groups = collections.defaultdict(list)
    for cell in sorted(known, key=lambda cell: cell["workers"]):
        groups[study.group(cell)].append(cell)
    heads = len(groups) > 1
    return [row for head, own in groups.items()
            for row in ([(head, None)] if heads else []) + [(None, cell) for cell in sorted(own, key=lambda cell: study.labels.index(study.label(cell)))]]


def name_rows(study, axes, rows):
    """Writes the name of each row beside the axes, and headings inside, where their rows are empty."""
    named = [(-i, study.label(cell)) for i, (_, cell) in enumerate(rows) if cell]
    axes.set_yticks([y for y, _ in named], [text(name) for _, name in named], fontsize=SMALL)
    for i, (head, cell) in enumerate(rows):
        if cell is None:
            axes.text(0.01, -i, text(head), transform=axes.get_yaxis_transform(), fontsize=SMALL, fontweight="bold", va="center")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-len(rows) + 0.4, 0.6)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)


def value_text(axes, x, y, words):
    axes.annotate(words, (x, y), (5, 0), textcoords="offset points", fontsize=SMALL - 1, va="center", color="#444444", annotation_clip=False)

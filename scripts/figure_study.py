"""The study of a report: its cells, the lines, rows and pictures that they belong to, and how each looks."""
import collections

MOST_ROWS = 60  # in a picture that has a row for each configuration
FLATTENED = 8  # a line that is so many times lower than the highest one looks flat
# Okabe and Ito's palette suits every kind of colour vision. A family has its own hues. Variants of a strategy are shades of
# its hue, from dark to light. Dash and marker differ too.
HUES = {"none": ["#8C8C8C"], "ring": ["#0072B2", "#009E73", "#56B4E9"], "parameter server": ["#D55E00", "#E69F00", "#CC79A7"]}
HOME = {"none": "#8C8C8C", "ring": "#0072B2", "halving-doubling": "#56B4E9", "ps-sync": "#D55E00", "ps-async": "#E69F00"}
DARKEST, LIGHTEST = -0.5, 0.5
REUSED = [0, -0.4, 0.45, -0.65]  # the shades in which strategies use a hue that another one has
DASHES = ["-", (0, (5, 1.5)), (0, (1.5, 1.5)), "-.", (0, (8, 2)), (0, (3, 1, 1, 1))]
MARKERS = "os^Dv*XPph<>"


def shade(colour, amount):
    """Mixes a colour with black (amount below 0) or with white."""
    parts = [int(colour[i:i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part + abs(amount) * ((255 if amount > 0 else 0) - part)):02X}" for part in parts)


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

    def hues(self):
        """The hue of each strategy, and the shade of it if the strategy has one variant."""
        families = collections.defaultdict(dict)
        for cell in self.cells:
            families[cell.get("family") or "none"][cell["strategy"]] = None
        found = {}
        for family, strategies in families.items():
            own = HUES.get(family, HUES["none"])
            taken = [HOME[strategy] for strategy in strategies if strategy in HOME]
            order = [hue for hue in own if hue not in taken] + [hue for hue in own if hue in taken]
            used = collections.Counter(taken)
            for i, strategy in enumerate(one for one in strategies if one not in HOME):
                hue = order[i % len(order)]
                found[strategy] = hue, REUSED[used[hue] % len(REUSED)]
                used[hue] += 1
            found.update({strategy: (HOME[strategy], 0) for strategy in strategies if strategy in HOME})
        return found

    def make_looks(self):
        variants = collections.defaultdict(dict)
        for cell in self.cells:
            for label in (self.label(cell), *self.lines(cell)):
                variants[cell["strategy"]].setdefault(label, (cell["colocated"], "per worker" in label, cell["servers"]))
        looks, marker = {}, 0
        for strategy, (hue, alone) in self.hues().items():
            labels = sorted(variants[strategy], key=variants[strategy].get)
            for i, label in enumerate(labels):
                amount = DARKEST + (LIGHTEST - DARKEST) * i / (len(labels) - 1) if len(labels) > 1 else alone
                looks[label] = {"color": shade(hue, amount), "linestyle": DASHES[i % len(DASHES)], "marker": MARKERS[marker % len(MARKERS)]}
                marker += 1
        return looks

    def group(self, cell):
        """The heading above a cell's row: the workers and the conditions, as far as they differ."""
        parts = []
        if len({one["workers"] for one in self.cells}) > 1:
            parts.append(f"{cell['workers']} worker{'s' if cell['workers'] != 1 else ''}")
        return ", ".join(parts + [cell["conditions"][key] for key in self.report["varied"]])

    def wholes(self):
        """(name, cells) of the pictures with lines or rows. Conditions of one number of workers share a picture."""
        if len({cell["workers"] for cell in self.cells}) == 1 and len(self.cells) <= MOST_ROWS:
            return [("", self.cells)]
        return list(self.choices())

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

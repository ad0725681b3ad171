#!/usr/bin/env python3
"""Makes the pages of docs/lessons: the texts from `ringside lesson --json`, all figures and pictures from results/lessons.json.

usage: lesson_pages.py [--texts] [RINGSIDE]
  --texts   keep the pictures
RINGSIDE is the executable (default: build/release/bin/ringside). scripts/lessons.py --json makes results/lessons.json and
results/lessons-quick.json. Needs matplotlib (exit code 4 without it).
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "lessons"
MEASURED, THEORY = "#0072B2", "#D55E00"


def load_matplotlib():
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as missing:
        print(f"{sys.executable} has no matplotlib ({missing})", file=sys.stderr)
        sys.exit(4)
    matplotlib.rcParams.update({"svg.hashsalt": "ringside", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False,
                                "axes.spines.right": False})
    return plt


def number(value):
    return "–" if value is None else f"{value:.4g}"


def shown(row):
    """What a picture says of a figure: what was measured, or the theory if there is only that."""
    return row["bound"] if row["value"] is None else row["value"]


def rows_by_unit(figures):
    """The figures of each unit, in the order in which the units come. Each unit has an axis of its own."""
    units = {}
    for row in figures:
        if row["unit"]:
            units.setdefault(row["unit"], []).append(row)
    return units


def draw_rows(axes, unit, rows):
    places = range(len(rows))
    axes.barh(places, [row["value"] or 0 for row in rows], height=0.55, color=MEASURED, label="measured")
    bounded = [(place, row["bound"]) for place, row in zip(places, rows) if row["bound"] is not None]
    axes.scatter([bound for _, bound in bounded], [place for place, _ in bounded], marker="|", s=260, linewidths=2.2, color=THEORY,
                 label="theory", zorder=3)
    axes.set_yticks(list(places), [row["what"] for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(unit)
    for place, row in zip(places, rows):
        axes.annotate(number(shown(row)), (shown(row), place), xytext=(8, 0), textcoords="offset points", va="center")
    axes.margins(x=0.12)


def draw(plt, lesson, run, path):
    units = rows_by_unit(run["figures"])
    heights = [len(rows) for rows in units.values()]
    figure, panels = plt.subplots(len(units), 1, figsize=(7, 0.3 + 0.42 * sum(heights) + 0.7 * len(units)), height_ratios=heights,
                                  squeeze=False, layout="constrained")
    for axes, (unit, rows) in zip(panels[:, 0], units.items()):
        draw_rows(axes, unit, rows)
    panels[0, 0].legend(loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def alt_text(lesson, run):
    return "; ".join(f"{unit}: " + ", ".join(f"{row['what']} {number(shown(row))}" for row in rows)
                     for unit, rows in rows_by_unit(run["figures"]).items())


def interval_text(answer):
    interval = answer["interval"]
    if not interval:
        return f"none: {answer['why_no_interval']}"
    return f"{number(interval['low'])} to {number(interval['high'])} ({interval['of']})"


def figure_table(run):
    lines = ["| figure | measured | theory | unit |", "|---|---|---|---|"]
    for row in run["figures"]:
        lines.append(f"| {row['what']} | {number(row['value'])} | {number(row['bound'])} | {row['unit'] or '–'} |")
    return "\n".join(lines)


def tolerance_text(lesson):
    tolerance = lesson["tolerance"]
    if tolerance["kind"] == "factor":
        return f"a factor of {tolerance['value']:g}"
    if tolerance["kind"] == "units":
        return f"{tolerance['value']:g} {lesson['unit']}"
    return f"{tolerance['value'] * 100:g} % of the answer"


def links_text(lesson):
    return {"not needed": "It needs no emulated links.",
            "better": "With emulated links it measures time, without them it counts bytes "
                      "([what a machine needs](../networks.md)).",
            "required": "It needs [emulated links](../networks.md)."}[lesson["emulated_links"]]


def page(lesson, runs):
    run = runs["full"][-1]
    answer = run["answer"]
    theory = "–" if answer["bound"] is None else f"{number(answer['bound'])} {lesson['unit']}"
    claims = "".join(f"- {check['claim']}: {'shown' if check['held'] else '**not shown**'}\n" for check in run["checks"])
    return f"""# Lesson {lesson['lesson']}: {lesson['name']}

{lesson['question']}

Write down your prediction. Its unit is: {lesson['unit']}. Then run

```sh
ringside lesson {lesson['lesson']}                # asks for the prediction
ringside lesson {lesson['lesson']} --predict X    # for graders: exit code 0 if it is within the tolerance, 5 if it is not
```

The prediction is {lesson['quantity']}. It may differ from the measured answer by {tolerance_text(lesson)}. {links_text(lesson)}

<details><summary>The answer of a recorded run</summary>

| measured | interval | theory |
|---|---|---|
| {number(answer['value'])} {lesson['unit']} | {interval_text(answer)} | {theory} |

![{alt_text(lesson, run)}]({lesson['lesson']}-{lesson['name']}.svg)

{figure_table(run)}

{claims}
{lesson['explanation']}

{lesson['mistake']}

The runs:

```sh
{chr(10).join(run['commands'])}
```

{series_text(runs)} This page shows the last full run.

</details>
"""


def span(least, most):
    """In whole numbers: "17", or "12 to 13"."""
    return f"{least:.0f}" if f"{least:.0f}" == f"{most:.0f}" else f"{least:.0f} to {most:.0f}"


def series_text(runs):
    parts = []
    for kind, own in runs.items():
        seconds = sorted(run["seconds"] for run in own if "seconds" in run)
        parts.append(f"{sum(map(held_in, own))} of {len(own)} {kind} runs, which took {span(seconds[0], seconds[-1])} s (commit "
                     f"`{own[-1]['commit']}`)")
    return f"The prediction of theory was within the tolerance in {', and in '.join(parts)}."


def held_in(run):
    return run.get("exit_code") == 0 and all(check["held"] for check in run["checks"])


def load_text(runs):
    """The loads of the machine, before and after all runs of a lesson."""
    loads = sorted(load for own in runs.values() for run in own for load in run["load"])
    return f"{loads[0]:.1f} to {loads[-1]:.1f}"


def readme(lessons, recorded, cores):
    rows = []
    for lesson in lessons:
        runs = recorded[lesson["lesson"]]
        held = [f"{sum(map(held_in, own))} of {len(own)}" for own in (runs["full"], runs["quick"])]
        rows.append(f"| {lesson['lesson']} | [{lesson['question']}]({lesson['lesson']}-{lesson['name']}.md) | {tolerance_text(lesson)} | "
                    f"{held[0]} | {held[1]} | {load_text(runs)} |")
    table = "\n".join(rows)
    return f"""# Lessons

Ten questions that real runs answer, on one laptop with two cores and no GPU. Predict first, then run: `ringside lesson 3` asks, takes a
prediction, runs, and answers from the figures of its own runs. `ringside lesson` lists the lessons, `--quick` is shorter, `--json` is
for programs. Exit code: 0 within the tolerance, 5 outside, 1 a run failed, 2 usage, 4 this machine lacks something, or limited the runs.

| | question | tolerance | held, full | held, quick | load |
|---|---|---|---|---|---|
{table}

"Held" says how often the prediction of theory was within the tolerance, and all claims of the lesson were shown. All runs were made by
`scripts/lessons.py` on {cores} cores, while other programs ran. "Load" is that of the machine (of one minute) before and after the runs.
Each page names its commit.
[results/lessons.json](../../results/lessons.json) and [results/lessons-quick.json](../../results/lessons-quick.json) have all runs.

A plan for a lecture and a lab session, and an assignment: [teaching](../teaching.md). `scripts/lesson_pages.py` makes these pages.
"""


def read(name):
    return json.loads((ROOT / "results" / name).read_text())


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("ringside", nargs="?", default=ROOT / "build/release/bin/ringside")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__.strip())
        return
    listed = subprocess.run([arguments.ringside, "lesson", "--json"], stdout=subprocess.PIPE, check=True).stdout
    lessons = json.loads(listed)["lessons"]
    full, quick = read("lessons.json"), read("lessons-quick.json")
    recorded = {lesson["lesson"]: {"full": [], "quick": []} for lesson in lessons}
    for kind, series in (("full", full), ("quick", quick)):
        for own in series["lessons"]:
            recorded[own["lesson"]][kind] = [{**run, "commit": own["commit"]} for run in own["runs"]]
    PAGES.mkdir(exist_ok=True)
    plt = None if arguments.texts else load_matplotlib()
    for lesson in lessons:
        runs = recorded[lesson["lesson"]]
        name = f"{lesson['lesson']}-{lesson['name']}"
        (PAGES / f"{name}.md").write_text(page(lesson, runs))
        if plt:
            draw(plt, lesson, runs["full"][-1], PAGES / f"{name}.svg")
    (PAGES / "README.md").write_text(readme(lessons, recorded, full["lessons"][0]["cores"]))


if __name__ == "__main__":
    main()

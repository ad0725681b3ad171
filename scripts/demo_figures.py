#!/usr/bin/python3 -B
"""Measures `ringside demo`: how long it takes, how large its page is, and how smoothly a large page plays.

usage: demo_figures.py [--out FILE] [--repeat N] [RINGSIDE]
  --out     the page to write (default: results/demo.md)
  --repeat  how often to measure (default: 3); the page has the medians
RINGSIDE is the executable (default: build/release/bin/ringside). Needs what tests/experiments/demo/demo_page_test.py needs (exit code 4 without it).
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "experiments" / "demo"))


def parse():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("ringside", nargs="?", default=ROOT / "build/release/bin/ringside", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "results" / "demo.md", type=pathlib.Path)
    parser.add_argument("--repeat", default=3, type=int)
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__.strip())
        sys.exit(0)
    return arguments


def run_demo(ringside, folder):
    """Seconds from the command to the page, the page's bytes, and whether links were emulated."""
    begin = time.monotonic()
    done = subprocess.run([str(ringside), "demo", "--no-open", "--out", str(folder)], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"ringside demo ended with code {done.returncode}: {done.stderr.strip()}")
    page = pathlib.Path(done.stdout.splitlines()[-1])
    return seconds, page.stat().st_size, "links are not emulated" not in done.stderr


def play(folder, repeat):
    from demo_browser import Session, data_of
    from large_page import events_of, make_large_page, play_large
    page = make_large_page(pathlib.Path(folder) / "large.html")
    with Session() as browser:
        version = browser.driver.capabilities["browserVersion"]
        return [play_large(browser, page) for _ in range(repeat)], events_of(data_of(page)), version


def values(numbers, form):
    """The median, and all values."""
    return f"{form.format(statistics.median(numbers))} ({', '.join(form.format(number) for number in numbers)})"


def text(arguments, version, demos, plays, events, browser, load):
    links = "emulated links of 100 Mbit/s" if demos[0][2] else "the loopback device, because networks cannot be emulated here"
    rates = [play["frames"] / play["seconds"] for play in plays]
    return f"""# The demo

Written by `scripts/demo_figures.py`, with {version}, on
{os.cpu_count()} cores. The load of the machine (of one minute) was {load[0]:.1f} before and
{load[1]:.1f} after. Each cell has the median of {arguments.repeat} measurements, then all of them.

| what | median (all) |
|---|---|
| seconds from `ringside demo --no-open` to the page; the runs use {links} | {values([demo[0] for demo in demos], "{:.1f}")} |
| bytes of that page | {values([demo[1] for demo in demos], "{:,.0f}")} |
| frames per second while a page with {events:,} events of eight workers plays for three seconds | {values(rates, "{:.1f}")} |
| frames in that time | {values([play["frames"] for play in plays], "{:.0f}")} |
| tasks of more than 50 ms in that time | {values([play["long"] for play in plays], "{:.0f}")} |

The large page has made-up events (`tests/experiments/demo/large_page.py`), more than `ringside demo` puts on one. It was played in headless
Chromium {browser}, which draws without a GPU.
"""


def main():
    arguments = parse()
    from demo_browser import missing_program
    if program := missing_program():
        print(f"{program} is missing: run scripts/install-dependencies.sh --tests")
        sys.exit(4)
    ringside = arguments.ringside.resolve()
    version = subprocess.run([str(ringside), "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    load = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as folder:
        demos = [run_demo(ringside, pathlib.Path(folder) / str(i)) for i in range(arguments.repeat)]
        plays, events, browser = play(folder, arguments.repeat)
    load.append(os.getloadavg()[0])
    arguments.out.write_text(text(arguments, version, demos, plays, events, browser, load), encoding="utf-8")
    print(arguments.out)


if __name__ == "__main__":
    main()

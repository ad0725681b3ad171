#!/usr/bin/env python3
"""Opens a report's page in headless Chromium and uses it. It must show the numbers of the CSV files.

usage: browser_check.py REPORT_DIR NAMES.json [--benchmark]

NAMES.json is a list of hostile names that the study contains. Needs chromium, chromium-driver and python3-selenium (exit code 4
without them). Prints one line per check and exits with 1 at the first that fails. --benchmark only prints the page's loading
times as JSON, medians of five loads. All processes of the browser end with this one.
"""
import base64
import csv
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import sys
import tempfile

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError as missing:
    print(f"{sys.executable} has no selenium (python3-selenium): {missing}")
    sys.exit(4)

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]
PATIENCE_S = 60  # for a busy machine; on an idle one all waits are shorter
LOOK_EVERY_S = 0.02  # selenium's own half a second is most of a test with many short waits
MOST_BYTES = 8_000_000


def check(holds, what):
    print(("ok   " if holds else "FAIL ") + what, flush=True)
    if not holds:
        sys.exit(1)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def same(shown, said, digits):
    """Whether the texts of a page are the fields of a CSV file, rounded to `digits`; a dash is an empty field."""
    def agree(text, field):
        return text == "–" if field == "" else abs(float(text) - float(field)) <= 0.5001 * 10 ** -digits + 1e-8 * abs(float(field))
    return len(shown) == len(said) and all(agree(*pair) for pair in zip(shown, said))


class Browser:
    """Chromium with its own home directory, and a record of every attempt to run code from a name."""

    def __init__(self, home):
        os.environ.update(HOME=home, XDG_CONFIG_HOME=home, XDG_CACHE_HOME=home)
        options = Options()
        options.binary_location = shutil.which("chromium") or "chromium"
        for flag in FLAGS + [f"--user-data-dir={home}/profile"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(PATIENCE_S)
        trap = "window.attacks = []; window.alert = (text) => window.attacks.push(text);"
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": trap})

    def open(self, page):
        self.driver.get(page.resolve().as_uri())
        self.wait("return performance.getEntriesByName('ringside-interactive').length > 0")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments):
        return WebDriverWait(self.driver, PATIENCE_S, LOOK_EVERY_S).until(lambda driver: driver.execute_script(script, *arguments))

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, element):
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        self.run("arguments[0].click()", element)

    def column(self, table, title):
        """The texts of a column, without the small text beside a number."""
        return self.run("""
            const [id, title] = arguments;
            const heads = [...document.querySelectorAll(`#${id} thead th`)];
            const at = heads.findIndex((th) => th.textContent.trim() === title);
            return [...document.querySelectorAll(`#${id} tbody tr`)].map((tr) => {
              const cell = tr.children[at].cloneNode(true);
              cell.querySelectorAll("small").forEach((small) => small.remove());
              return cell.textContent.trim();
            });""", table, title)

    def sort_button(self, table, title):
        return self.run("""
            const [id, title] = arguments;
            return [...document.querySelectorAll(`#${id} thead th button`)].find((one) => one.textContent.trim() === title);""", table, title)

    def drawn(self, chart):
        """Scrolls to a chart and waits until it is drawn."""
        self.run("document.getElementById(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", chart)
        self.wait("return document.querySelector(`#${arguments[0]} .main-svg`) !== null", chart)


def check_text(browser, names):
    check(browser.run("return window.attacks.length") == 0, "no name ran code")
    foreign = "return document.querySelectorAll('main script, main img, main iframe, main object, main b').length"
    check(browser.run(foreign) == 0, "no name has become an element")
    shown = browser.run("return document.body.textContent")
    for name in names:
        check(name in shown, f"{name!r} is there as text")
    check(set(names) <= set(browser.column("cells-table", "strategy")), "the table of numbers names them")
    check(set(names) <= set(browser.column("failures-table", "cause")), "the table of problems names them as causes")


def check_numbers(browser, cells):
    order = {"step, ms": ("step_ms", 2), "exposed, ms": ("exposed_comm_ms", 2), "speed-up": ("speedup", 2), "step/bound": ("bound_ratio", 2),
             "step/achievable": ("achievable_ratio", 2)}
    for title, (name, digits) in order.items():
        said = [cell[name] for cell in cells]
        check(same(browser.column("cells-table", title), said, digits), f"{title}: {len(said)} medians are those of report.csv")


def check_transports(browser, cells):
    shown = dict(zip(browser.column("cells-table", "strategy"), browser.column("cells-table", "transport")))
    said = {cell["strategy"]: cell["transport"] for cell in cells}
    check(all(text == (f"{said[name]} *" if said.get(name) else "–") for name, text in shown.items()), "transports are those of report.csv, marked")
    pairs = list(zip(browser.column("findings-table", "best ring"), browser.column("findings-table", "server / ring over")))
    marks = {"ring": "tcp / tcp", "shm": "tcp / shm *"}
    check({ring for ring, _ in pairs} == set(marks) and all(text == marks[ring] for ring, text in pairs),
          "only pairs whose transports differ are marked")


def check_runs(browser, runs):
    check(len(browser.column("runs-table", "status")) == len(runs), f"{len(runs)} runs are in the table")
    shown = dict(zip(browser.column("runs-table", "run"), browser.column("runs-table", "step, ms")))
    check(same([shown[run["run_id"]] for run in runs], [run["step_ms"] for run in runs], 2), "their step times are those of runs.csv")


def check_links(browser, cells, runs):
    want = sorted({(float(cell["link_bits_per_s"]), f"host{host}") for cell in cells for host in range(int(cell["workers"]))})
    check(browser.column("links-table", "host") == [host for _, host in want], f"{len(want)} links of hosts are in their table")
    marks = browser.column("links-table", "mark")
    bad = [(rate, mark) for (rate, _), mark in zip(want, marks) if mark != "as asked"]
    off = [run for run in runs if run["link_ok"] == "false"]
    check(len(off) == 1 and bad == [(float(off[0]["link_bits_per_s"]), "not as asked in 1")], "the one that is not as asked is marked")
    shown = browser.run("return [...document.querySelectorAll('#links-table .badge.bad')].map((one) => one.textContent)")
    check(shown == ["not as asked in 1"], "its badge has the colour for bad")
    marked = [run for run, mark in zip(browser.column("runs-table", "run"), browser.column("runs-table", "marks")) if "link not as asked" in mark]
    check(marked == [off[0]["run_id"]], "and so is its run")


def check_fidelity(browser, cells, runs):
    limited = {run["run_id"] for run in runs if run["fidelity"] == "limited"}
    marks = zip(browser.column("runs-table", "run"), browser.column("runs-table", "marks"))
    check(limited and {run for run, mark in marks if "limited by the machine" in mark} == limited, f"{len(limited)} limited runs are marked")
    causes = dict(zip(browser.column("runs-table", "run"), browser.column("runs-table", "limited by")))
    check(all(causes[run["run_id"]] == (run["limited_by"] or "–") for run in runs), "with what limited them")
    want = ["all limited" if cell["takes_part"] == "false" else f"{cell['limited']} limited" if cell["limited"] != "0" else "" for cell in cells]
    shown = browser.column("cells-table", "runs")
    check(all(text.endswith(mark) and ("limited" in text) == (mark != "") for text, mark in zip(shown, want)), "configurations count them")
    check(same(browser.column("cells-table", "dilation factor"), [cell["dilation_factor"] for cell in cells], 3), "factors are those of report.csv")
    factors = browser.column("dilation-table", "factor")
    check(set(factors) == {"1", "10"} and len(factors) == len(set(zip(factors, browser.column("dilation-table", "hosts")))),
          "the method has a row for each factor and number of hosts")
    check("Not scaled" in browser.run("return document.getElementById('method').textContent"), "and says what is not scaled")


def check_filter(browser, runs):
    box = browser.find("#runs-filter")
    box.send_keys("ps-async done")
    want = sum(run["strategy"] == "ps-async" and run["status"] == "done" for run in runs)
    check(len(browser.column("runs-table", "status")) == want, f"a filter leaves {want} runs")
    check(browser.find("#runs-count").text == f"{want} of {len(runs)} runs", "and says so")
    box.clear()
    box.send_keys("<script>alert(1)")
    want = sum("<script>alert(1)" in run["strategy"] for run in runs)
    check(len(browser.column("runs-table", "status")) == want, f"a filter by a hostile name leaves {want}")
    box.clear()
    box.send_keys(Keys.SPACE, Keys.BACKSPACE)
    check(browser.find("#runs-count").text == f"{len(runs)} runs", "an empty filter shows all")


def check_sorting(browser, runs):
    button = browser.sort_button("runs-table", "step, ms")
    browser.run("arguments[0].focus()", button)
    button.send_keys(Keys.ENTER)
    times = [float(text) for text in browser.column("runs-table", "step, ms")]
    check(times == sorted(times) and len(times) == len(runs), "Enter on a column's title sorts by numbers")
    browser.click(button)
    times = [float(text) for text in browser.column("runs-table", "step, ms")]
    check(times == sorted(times, reverse=True), "a second press sorts downwards")
    check(browser.run("return arguments[0].closest('th').getAttribute('aria-sort')", button) == "descending", "and tells screen readers")


def check_charts(browser, cells, names):
    browser.drawn("chart-scaling")
    y = """const of = document.getElementById("chart-scaling").data.filter((one) => one.mode === "lines+markers" && one.name === arguments[0]);
           return of.length === 1 ? of[0].y : null"""
    link = browser.run("return document.querySelectorAll('.choose select')[1].value")
    note = "return document.querySelector('#scaling .note').textContent"
    for button, name in (("Speed-up", "speedup"), ("Efficiency", "efficiency")):
        browser.click(browser.find(f"#scaling button[data-value='{name}']"))
        noted = browser.run(note)
        check("dashed" not in noted and "dotted" not in noted, f"{button} has no limit, and the note says nothing of one")
    for button, name in (("Throughput", "samples_per_s"), ("Step time", "step_ms")):
        browser.click(browser.find(f"#scaling button[data-value='{name}']"))
        own = [cell for cell in cells if cell["strategy"] == "ring" and cell["link_bits_per_s"] == link]
        said = [float(cell[name]) for cell in sorted(own, key=lambda cell: int(cell["workers"]))]
        shown = browser.run(y, "ring")
        close = shown is not None and len(shown) == len(said) and all(abs(a - b) <= 1e-5 * b for a, b in zip(shown, said))
        check(close, f"switched to {button}, the ring's line is that of report.csv")
        noted = browser.run(note)
        check("dashed lines are the bound" in noted and "dotted lines are achievable" in noted, "the note says what its dashed and dotted lines are")
    ends = browser.run("return [...document.querySelectorAll('#chart-scaling .annotation-text')].map((one) => one.textContent)")
    check(set(names) <= set(ends), "lines have their names at their ends, as they are")
    check_scale(browser)
    select = browser.find(".choose select")
    browser.run("arguments[0].value = 'link_bits_per_s'; arguments[0].dispatchEvent(new Event('change'))", select)
    links = sorted({float(cell["link_bits_per_s"]) for cell in cells})
    check(browser.run("return document.getElementById('chart-scaling').data.find((one) => one.name === 'ring').x") == links,
          "another dimension can be along x")
    for chart in ("chart-time", "chart-bound", "chart-curves", "chart-staleness", "chart-cost"):
        browser.drawn(chart)


def check_scale(browser):
    axis = "const of = document.getElementById('chart-scaling').layout.yaxis; return [of.type, of.title.text]"
    for button, kind in (("log", "log"), ("linear", "linear")):
        browser.click(browser.find(f"#scaling button[data-value='{button}']"))
        shown, title = browser.run(axis)
        check(shown == kind and ("log scale" in title) == (kind == "log"), f"the vertical axis is {kind} by choice, and says so")
    browser.click(browser.find("#scaling button[data-value='auto']"))
    tops = browser.run("""return document.getElementById("chart-scaling").data.filter((one) => one.mode === "lines+markers").map((one) => Math.max(...one.y))""")
    check((browser.run(axis)[0] == "log") == (max(tops) > 8 * min(tops)), "left alone, it is log where a line flattens another one")


def check_ties(browser, report):
    for table, comparisons in (("findings-table", report["findings"]), ("pairs-table", report["pairs"])):
        shown = browser.column(table, "result")
        said = [one["tie"] for one in comparisons]
        check([text.startswith("tie") for text in shown] == said, f"{table}: {sum(said)} of {len(said)} are called ties")
    check(any(said) and not all(said), "some are, and some are not")
    check(re.search(r"\w=\w", browser.run("return document.getElementById('verdict').textContent")) is None, "the verdict has no key with a value")
    subject = browser.find("#subject").text
    check("All runs: " + ", ".join(report["constants"]) in subject, "the page begins with what all runs share")


def check_pictures(browser):
    """On a phone and on a desk: no name is on another one, and names and legends are within their chart."""
    overlap = """
        const chart = document.getElementById(arguments[0]);
        const boxes = (selector) => [...chart.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
        const names = boxes(".annotation-text-g");
        const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
        const around = chart.getBoundingClientRect();
        const inside = (box) => box.left >= around.left - 1 && box.right <= around.right + 1 && box.bottom <= around.bottom + 1;
        return [names.length, names.some((a, i) => names.some((b, k) => k < i && on(a, b))),
                [...names, ...boxes(".legend .traces"), ...boxes(".legend")].every(inside), chart.querySelectorAll(".legend .scrollbar[height]:not([height='0'])").length,
                boxes(".legend").some((one) => boxes(".g-xtitle").some((title) => on(one, title)))];"""
    room = """
        const {_size: size, yaxis} = document.getElementById(arguments[0])._fullLayout;
        const rows = yaxis.type === "category" ? yaxis.tickvals.length : 1;
        return [size.w, size.h / rows, rows];"""
    for width in (390, 1100):
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                       {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600})
        browser.open_again()
        for chart in ("chart-scaling", "chart-time", "chart-bound", "chart-curves", "chart-staleness", "chart-cost"):
            browser.drawn(chart)
            names, covered, inside, scrolls, on_title = browser.run(overlap, chart)
            check(not covered and inside and scrolls == 0 and not on_title, f"{chart} at {width} pixels: {names} names and the legend have room"
                  f"{' ' + str([covered, inside, scrolls, on_title]) if covered or not inside or scrolls or on_title else ''}")
            across, high, rows = browser.run(room, chart)
            check(across >= 0.33 * width and high >= (20 if rows > 1 else 200), f"they leave {across:.0f} by {high:.0f} pixels for {rows} rows of data")
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.open_again()


def check_use(browser):
    def back():
        return browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.click(browser.find("#theme button[data-value='dark']"))
    dark = back()
    browser.click(browser.find("#theme button[data-value='light']"))
    check(dark != back(), "the colours switch")
    browser.click(browser.find("#runs-table .command button"))
    browser.wait("return document.querySelector('#runs-table .command button').textContent === 'Copied'")
    check(True, "a run's command line can be copied")
    browser.open_again()
    browser.find("body").send_keys(Keys.TAB)
    check(browser.run("return document.activeElement.className") == "skip", "the keyboard reaches the skip link first")


def check_shapes(browser):
    for width in (320, 380):
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                       {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True})
        wide = browser.wait("return document.documentElement.scrollWidth")
        check(wide <= width, f"nothing is wider than a window of {width} pixels")
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.open_again()
    paper = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    check(paper.startswith(b"%PDF") and browser.run("return document.querySelectorAll('.chart.waiting').length") == 0,
          "a print has every chart")


def check_network(browser):
    fetched = browser.run("return performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith('blob:') && !name.startsWith('data:'))")
    check(fetched == [], f"nothing was loaded besides the page {fetched}")
    blocked = browser.driver.execute_async_script("""
        const done = arguments[0];
        document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective), {once: true});
        fetch("http://127.0.0.1:9/").catch(() => {});""")
    check(blocked == "connect-src", "the page's own policy forbids the network")


def check_console(browser):
    severe = [entry for entry in browser.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    check(not severe, f"no error and no warning on the console {severe[:3]}")


def benchmark(browser, page):
    marks = {name: [] for name in ("ringside-tables", "ringside-interactive")}
    for _ in range(5):
        browser.open(page)
        for name, times in marks.items():
            times.append(browser.run("return performance.getEntriesByName(arguments[0])[0].startTime", name))
    print(json.dumps({"page_bytes": page.stat().st_size, "loads": 5, "tables_ms": round(statistics.median(marks["ringside-tables"]), 1),
                      "interactive_ms": round(statistics.median(marks["ringside-interactive"]), 1)}))


def use(browser, directory, names):
    page = directory / "report.html"
    cells, runs = rows_of(directory / "report.csv"), rows_of(directory / "runs.csv")
    check(page.stat().st_size < MOST_BYTES, f"{len(runs)} runs are a page of {page.stat().st_size / 1e6:.2f} MB")
    browser.open_again = lambda: browser.open(page)
    browser.open(page)
    check_text(browser, names)
    check_numbers(browser, cells)
    check_transports(browser, cells)
    check_runs(browser, runs)
    check_links(browser, cells, runs)
    check_fidelity(browser, cells, runs)
    check_filter(browser, runs)
    check_sorting(browser, runs)
    check_charts(browser, cells, names)
    check_pictures(browser)
    check_ties(browser, json.loads((directory / "report.json").read_text()))
    check_use(browser)
    check_shapes(browser)
    check_console(browser)
    check_network(browser)
    check(browser.run("return window.attacks.length") == 0, "at the end no name has run code")


def children():
    return [int(pid) for task in pathlib.Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


def end_children():
    """Ends processes that a browser left: this process is their subreaper, so it becomes their parent."""
    while own := children():
        for pid in own:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


def main():
    directory, names = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            print(f"{program} is missing: run scripts/install-dependencies.sh --tests")
            return 4
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="ringside-browser-", ignore_cleanup_errors=True) as home:
        try:
            browser = Browser(home)
            if "--benchmark" in sys.argv:
                benchmark(browser, directory / "report.html")
            else:
                use(browser, directory, names)
            browser.driver.quit()
        finally:
            end_children()
    return 0


if __name__ == "__main__":
    sys.exit(main())

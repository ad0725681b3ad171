#!/usr/bin/env python3
"""Uses the demo's page in headless Chromium, by keyboard where a person would, and compares what it shows with the data.

usage: demo_page_test.py [PAGE.html] [unittest's options]

With PAGE.html, a page of `ringside demo`, that page is tested too. Exit code 4: a program is missing.
"""
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from columns import pack, unpack
from demo_browser import Session, data_of, missing_program
from make_page import make_page
from sample_data import HOSTILE, sample
from selenium.webdriver.common.keys import Keys

GIVEN = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and sys.argv[1].endswith(".html") else None
MOST_BYTES = 2_000_000
VIEWS = "return window.ringside.views.filter((view) => view.last).map((view) => [view.run.index, view.picture.name, view.svg()])"


def setUpModule():
    global session, browser, folder
    if program := missing_program():
        print(f"{program} is missing: run scripts/install-dependencies.sh --tests")
        sys.exit(4)
    folder = tempfile.TemporaryDirectory(prefix="ringside-demo-pages-")
    session = Session()
    browser = session.__enter__()


def tearDownModule():
    session.__exit__(None, None, None)
    folder.cleanup()


def page_of(name, data):
    """The page of some data; it is made once."""
    path = pathlib.Path(folder.name) / f"{name}.html"
    return path if path.exists() else make_page(data, path)


def rows(run, table):
    """The rows of a table as dictionaries, in the order of their begins."""
    names = [name for name in run[table] if name != "count"]
    columns = [unpack(run[table][name]) for name in names]
    return sorted((dict(zip(names, values)) for values in zip(*columns)), key=lambda row: row["begin"])


def event_times(data):
    times = set()
    for run in data["runs"]:
        times |= {row[name] - run["window"]["begin_us"] for row in rows(run, "spans") for name in ("begin", "end")}
        times |= {row[name] - run["window"]["begin_us"] for row in rows(run, "transfers") for name in ("begin", "arrived")}
        times |= {row["end"] - run["window"]["begin_us"] for row in rows(run, "updates")}
    return sorted(times)


def phase(run, row):
    return run["phases"][row["phase"]]


def size_text(count):
    """A number of bytes as the page writes it."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{float(f'{count:.3g}'):g} {unit}"
        count /= 1024


def sent_per_worker(run):
    """Mean bytes that a worker sends in a recorded step, over the steps in which anything was sent."""
    steps = {step["step"] for step in run["steps"]}
    own = [row for row in rows(run, "transfers") if row["step"] in steps and row["from"] != row["to"]]
    workers = [i for i, node in enumerate(run["nodes"]) if node["kind"] == "worker"]
    return sum(row["bytes"] for row in own if row["from"] in workers) / len(workers) / len({row["step"] for row in own})


class Any(unittest.TestCase):
    """What holds for every page with a record. Subclasses give the page."""

    page = data = None

    def setUp(self):
        if self.page is None:
            self.skipTest("no page was given")
        browser.open(self.page)

    def test_plays_only_when_told(self):
        self.assertEqual(browser.position(), 0)
        self.assertFalse(browser.run("return window.ringside.player.playing"))
        browser.press("q", Keys.SPACE)
        browser.wait("return window.ringside.player.position > 0")
        self.assertIn("Pause", browser.text("#play"))
        browser.press(Keys.SPACE)
        self.assertFalse(browser.run("return window.ringside.player.playing"))

    def test_keys_step_through_the_events_of_the_file(self):
        browser.press("q")
        times = [time for time in event_times(self.data) if time > 0]
        for time in times[:6]:
            browser.press(Keys.ARROW_RIGHT)
            self.assertAlmostEqual(browser.position(), time, 3)
        browser.press(Keys.ARROW_LEFT)
        self.assertAlmostEqual(browser.position(), times[4], 3)
        arrivals = sorted({row["arrived"] for run in self.data["runs"] for row in rows(run, "transfers")})
        later = next((time for time in arrivals if time > times[4]), None)
        if later is not None:
            browser.press(Keys.SHIFT, Keys.ARROW_RIGHT, Keys.NULL)
            self.assertAlmostEqual(browser.position(), later, 3)
        browser.press(Keys.END)
        self.assertEqual(browser.position(), browser.run("return window.ringside.player.length"))
        browser.press(Keys.HOME)
        self.assertEqual(browser.position(), 0)
        self.assertTrue(browser.text("#clock").startswith("0.000 ms"))

    def test_keys_set_the_speed_and_open_the_help(self):
        browser.press("1")
        self.assertEqual(browser.run("return window.ringside.player.speed"), 1 / 1000)
        browser.press("+")
        self.assertEqual(browser.run("return document.getElementById('speed').value"), "1/500")
        browser.press("9")
        self.assertEqual(browser.run("return document.getElementById('speed').value"), "real time")
        browser.press("?")
        self.assertTrue(browser.run("return document.querySelector('dialog').open"))
        browser.press(Keys.ESCAPE)
        self.assertFalse(browser.run("return document.querySelector('dialog').open"))

    def test_scrubber_is_a_native_range(self):
        self.assertEqual(browser.run("const s = document.getElementById('scrubber'); return [s.type, Number(s.max)]"), ["range", browser.run("return window.ringside.player.length")])
        browser.run("const s = document.getElementById('scrubber'); s.value = s.max / 2; s.dispatchEvent(new Event('input'))")
        self.assertAlmostEqual(browser.position(), browser.run("return window.ringside.player.length") / 2, 0)

    def test_figures_are_those_of_the_file(self):
        for i, run in enumerate(self.data["runs"]):
            fact = lambda name, i=i: browser.text(f"#run-{i} [data-fact='{name}'] dd")
            counts = [f"{run[name]['count']:,}" for name in ("transfers", "spans", "updates")]
            self.assertEqual(fact("record"), f"{counts[0]} chunks, {counts[1]} spans, {counts[2]} updates")
            if rows(run, "transfers"):
                self.assertEqual(fact("a worker sends"), f"{size_text(sent_per_worker(run))} a step")
            if run["step_ms"] and run["bound_ms"]:
                self.assertIn(f"{round(run['bound_ms'] / run['step_ms'] * 100)} %", fact("bound"))

    def test_chunks_on_the_way_are_those_of_the_file(self):
        for share in (0.1, 0.35, 0.6, 0.85):
            browser.seek(round(share * browser.run("return window.ringside.player.length")) + 0.5)
            for i, run in enumerate(self.data["runs"]):
                time = min(browser.position() + run["window"]["begin_us"], run["window"]["end_us"])
                said = sum(row["begin"] <= time < row["arrived"] for row in rows(run, "transfers"))
                label = browser.run("return document.querySelector(`#run-${arguments[0]} .topology .picture`).getAttribute('aria-label')", i)
                self.assertIn(f" {said} chunks are on their way", label)

    def test_pictures_are_valid_svg_without_scripts(self):
        browser.seek(0.4 * browser.run("return window.ringside.player.length"))
        browser.run("for (const view of window.ringside.views) view.shown = true; window.ringside.draw()")
        pictures = browser.run(VIEWS)
        self.assertGreaterEqual(len(pictures), 4 * len(self.data["runs"]))
        for _, name, text in pictures:
            tags = {element.tag.split("}")[1] for element in xml.etree.ElementTree.fromstring(text.encode()).iter()}
            self.assertLessEqual(tags, {"svg", "title", "rect", "g", "path", "circle", "text"}, name)
            self.assertGreater(len(text), 300, name)

    def test_table_has_every_event(self):
        total = sum(run[name]["count"] for run in self.data["runs"] for name in ("spans", "transfers", "updates"))
        self.assertTrue(browser.text("#events-count").endswith(f"of {total:,} events"))
        last = browser.find("#table .switch [data-value='last']")
        browser.run("arguments[0].focus()", last)
        browser.press(Keys.ENTER)
        self.assertIn(f"to {total:,} of", browser.text("#events-count"))
        browser.run("document.querySelector('#events tbody button').focus()")
        browser.press(Keys.ENTER)
        self.assertEqual(f"{browser.position() / 1000:.3f} ms"[:6], browser.text("#events tbody button")[:6])

    def test_steps_instead_of_motion(self):
        browser.open(self.page, motion="reduce")
        browser.press("q", "1")
        browser.run("window.seen = []; window.ringside.player.onChange(() => window.seen.push(window.ringside.player.position))")
        browser.press(Keys.SPACE)
        browser.wait("return new Set(window.seen).size > 3")
        browser.press(Keys.SPACE)
        times = event_times(self.data)
        for position in browser.run("return window.seen"):
            self.assertTrue(position == 0 or any(abs(position - time) < 0.01 for time in times), position)

    def test_fits_a_phone_and_a_projector(self):
        try:
            for width in (360, 390, 800, 1920):
                browser.narrow(width)
                self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), width)
            browser.run("document.querySelector('[data-value=large]').click()")
            browser.settle()
            self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), 1920)
        finally:
            browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_light_and_dark(self):
        colours = []
        for theme in ("light", "dark"):
            browser.run("document.querySelector(`[data-value=${arguments[0]}]`).click()", theme)
            browser.settle()
            colours.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
        self.assertNotEqual(*colours)

    def test_everything_has_a_name(self):
        nameless = browser.run("""return [...document.querySelectorAll("button, input, select, [role=img], [role=dialog]")]
            .filter((one) => !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.textContent.trim() || one.labels?.length)).length""")
        self.assertEqual(nameless, 0)

    def test_uses_no_network_and_no_console(self):
        self.assertLess(self.page.stat().st_size, MOST_BYTES)
        self.assertEqual(browser.run("return performance.getEntriesByType('resource').length"), 0)
        severe = [entry for entry in browser.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(severe, [])
        blocked = browser.driver.execute_async_script("""
            document.addEventListener("securitypolicyviolation", (event) => arguments[0](event.effectiveDirective), { once: true });
            fetch("http://127.0.0.1:9/").catch(() => {});""")
        self.assertEqual(blocked, "connect-src")
        browser.driver.get_log("browser")


class Given(Any):
    @classmethod
    def setUpClass(cls):
        if GIVEN:
            cls.page, cls.data = GIVEN, data_of(GIVEN)


class Synchronous(Any):
    """A ring beside a synchronous parameter server."""

    @classmethod
    def setUpClass(cls):
        cls.data = sample()
        cls.page = page_of("synchronous", cls.data)

    def test_says_how_many_gradients_a_server_has(self):
        run = self.data["runs"][1]
        pushes = [row for row in rows(run, "transfers") if phase(run, row) == "push"]
        awaits = [row for row in rows(run, "spans") if run["span_kinds"][row["kind"]] == "await"]
        checked = 0
        for wait in awaits:
            time = (wait["begin"] + wait["end"]) // 2
            pulls = [row for row in rows(run, "transfers") if phase(run, row) == "pull" and row["to"] == wait["node"] and row["bucket"] == wait["bucket"] and row["arrived"] > time]
            if not pulls or min(pulls, key=lambda row: row["arrived"])["begin"] <= time:
                continue
            step = min(pulls, key=lambda row: row["arrived"])["step"]
            have = sum(row["step"] == step and row["bucket"] == wait["bucket"] and row["arrived"] <= time for row in pushes)
            if have == 4:
                continue
            browser.seek(time)
            browser.wait("return document.querySelector('#run-1 .waits').textContent.includes(arguments[0])", f"bucket {wait['bucket']} from server 0: it has {have} of 4 gradients")
            checked += 1
        self.assertGreater(checked, 3)

    def test_sums_grow_as_chunks_arrive(self):
        run = self.data["runs"][0]
        chunks = [row for row in rows(run, "transfers") if phase(run, row) == "reduce-scatter" and (row["step"], row["bucket"], row["offset"]) == (4, 1, 0)]
        self.assertEqual(len(chunks), 3)
        sums = []
        for row in sorted(chunks, key=lambda one: one["arrived"]):
            browser.seek(row["arrived"])
            sums.append(browser.run("""
                const { amounts, run } = window.ringside.views.find((view) => view.run.index === 0 && view.picture.name === "topology").picture;
                const part = amounts.parts.findIndex((one) => one.bucket === 1 && one.offset === 0);
                return amounts.sum[arguments[0] * amounts.parts.length + part];""", row["to"]))
        self.assertEqual(sums, [2, 3, 4])

    def test_chunks_are_in_their_places(self):
        run = self.data["runs"][1]
        browser.seek(12500)
        drawn = browser.run("""
            const { picture, last } = window.ringside.views.find((one) => one.run.index === 1 && one.picture.name === "topology");
            const { boxes } = picture.place(last);
            return picture.drawn.map((one) => ({ ...one, bars: run_ends(one.row).map((node) => picture.barOf(last, boxes[node])) }));
            function run_ends(row) { const { from, to } = picture.run.transfers; return [from[row], to[row]]; }""")
        said = [row for row in rows(run, "transfers") if row["begin"] <= 12500 < row["arrived"]]
        self.assertEqual(len(drawn), len(said))
        starts = [sum(run["buckets"][:i]) for i in range(len(run["buckets"]))]
        for one, row in zip(sorted(drawn, key=lambda each: each["row"]), said):
            part = (starts[row["bucket"]] + row["offset"]) / run["parameters"]
            share = (12500 - row["begin"]) / (row["arrived"] - row["begin"])
            ends = [(bar["x"] + bar["w"] * part, bar["y"]) for bar in one["bars"]]
            self.assertAlmostEqual(one["x"], ends[0][0] + share * (ends[1][0] - ends[0][0]), 3)
            self.assertAlmostEqual(one["y"], ends[0][1] + share * (ends[1][1] - ends[0][1]), 3)
            self.assertAlmostEqual(one["w"], max(8, one["bars"][0]["w"] * row["elements"] / run["parameters"]), 3)

    def test_a_chosen_chunk_shows_its_way(self):
        run = self.data["runs"][0]
        chunk = next(row for row in rows(run, "transfers") if row["step"] == 4)
        browser.seek((chunk["begin"] + chunk["arrived"]) / 2)
        browser.press("c")
        way = [row for row in rows(run, "transfers") if all(row[name] == chunk[name] for name in ("step", "bucket", "offset"))]
        shown = browser.run("return [...document.querySelectorAll('.chunk-panel li')].map((one) => one.textContent)")
        self.assertEqual(len(shown), len(way))
        browser.press(Keys.ESCAPE)
        self.assertTrue(browser.run("return document.querySelector('.chunk-panel').hidden"))

    def test_a_click_on_a_chunk_chooses_it(self):
        run = self.data["runs"][1]
        chunk = next(row for row in rows(run, "transfers") if row["step"] == 4)
        browser.seek((chunk["begin"] + chunk["arrived"]) / 2)
        browser.run("""
            const view = window.ringside.views.find((one) => one.run.index === 1 && one.picture.name === "topology");
            const place = view.box.getBoundingClientRect(), { x, y, w, h } = view.picture.drawn[0];
            view.box.dispatchEvent(new MouseEvent("click", { clientX: place.left + x + w / 2, clientY: place.top + y + h / 2, bubbles: true }));""")
        self.assertIn("A chunk of ps-sync", browser.text("#run-1 .chunk-panel"))

    def test_a_question_stops_the_clock_and_the_file_answers_it(self):
        times = [next(step["end_us"] - step["begin_us"] for step in run["steps"] if step["step"] == 3) for run in self.data["runs"]]
        close = abs(times[0] - times[1]) <= 0.05 * max(times)
        right = "same" if close else str(times.index(min(times)))
        browser.press("9", Keys.SPACE)
        browser.wait("return !document.querySelector('.question').hidden")
        self.assertFalse(browser.run("return window.ringside.player.playing"))
        self.assertFalse(browser.run("return document.querySelector('.step-line').open"))
        self.assertIn("Which run takes less time for step 3?", browser.text(".question"))
        while browser.run("return document.activeElement.value") != right:
            browser.press(Keys.ARROW_DOWN)
        browser.press(Keys.SPACE, Keys.ENTER)
        self.assertIn("1 of 1 right", browser.text(".question"))
        self.assertTrue(browser.run("return document.querySelector('.step-line').open"))
        for time in times:
            self.assertIn(f"{time / 1000:.3f} ms", browser.text(".question"))
        browser.press(Keys.ENTER)
        browser.wait("return !document.querySelector('.question').hidden")
        browser.press(Keys.ESCAPE)
        self.assertTrue(browser.run("return document.querySelector('.question').hidden"))
        self.assertEqual(browser.text("#score"), "(1 of 1 right)")

    def test_the_answers_are_in_the_file(self):
        made = browser.run("return window.ringside.questions.made.map(({ run, text, answer }) => [run.index, text, answer])")
        run = self.data["runs"][1]
        asked = 0
        for index, text, answer in made:
            if "For which worker will it wait longest" in text:
                bucket, step = (int(text.split(word)[1].split()[0].strip(",.")) for word in (" bucket ", " step "))
                self.assertEqual(int(answer), next(row["last"] for row in rows(run, "updates") if (row["bucket"], row["step"]) == (bucket, step)))
                asked += 1
            if "what limits" in text:
                self.assertEqual(answer, self.data["runs"][index]["bound_resource"])
                asked += 1
            if "How much does one worker" in text:
                self.assertEqual(answer, "2(N−1)/N × M")
                asked += 1
            if "How much does one server" in text:
                self.assertEqual(answer, "N × M / S")
                asked += 1
        self.assertEqual(asked, 5)

    def test_a_pointer_on_a_lane_shows_its_span(self):
        run = self.data["runs"][1]
        wait = max((row for row in rows(run, "spans") if run["span_kinds"][row["kind"]] == "await" and row["node"] == 0 and row["step"] == 4), key=lambda row: row["end"] - row["begin"])
        browser.seek(wait["begin"] + 1)
        words = browser.run("""
            const { picture, last } = window.ringside.views.find((one) => one.run.index === 1 && one.picture.name === "lanes");
            const scale = (last.width - 116) / (last.page.to - last.page.from);
            return picture.tip(112 + (arguments[0] - last.page.from) * scale, 29, last);""", (wait["begin"] + wait["end"]) / 2)
        self.assertEqual(words, f"worker 0: await of bucket {wait['bucket']}, step 4: {(wait['end'] - wait['begin']) / 1000:.3f} ms")

    def test_an_open_question_is_not_answered_elsewhere(self):
        question = browser.run("const q = window.ringside.questions.made.find((one) => one.text.includes('holds it up')); return [q.run.index, q.at]")
        self.assertIsNotNone(question)
        browser.run("for (const one of window.ringside.questions.made) one.done = one.at !== arguments[0]; window.ringside.player.advance(arguments[0])", question[1])
        browser.settle()
        waits = f"return document.querySelector('#run-{question[0]} .waits').textContent"
        self.assertEqual(browser.run(waits), "")
        browser.press(Keys.ESCAPE)
        self.assertIn("wait", browser.run(waits))

    def test_same_part_of_a_step(self):
        browser.run("document.querySelector('.player [data-value=step]').click()")
        length = browser.run("return window.ringside.player.length")
        for share in (0.125, 0.6):
            browser.seek(share * length)
            for i, run in enumerate(self.data["runs"]):
                place = share * len(run["steps"])
                step = run["steps"][int(place)]
                want = step["begin_us"] + place % 1 * (step["end_us"] - step["begin_us"])
                self.assertAlmostEqual(browser.run("return window.ringside.player.timeOf(window.ringside.runs[arguments[0]])", i), want, 1)

    def test_saves_a_picture(self):
        with tempfile.TemporaryDirectory() as target:
            browser.download_to(target)
            browser.run("document.querySelector('#run-0 .lanes button').click()")
            path = pathlib.Path(target) / "ringside-ring-lanes.svg"
            while not path.exists():
                browser.settle()
            self.assertIn("</svg>", path.read_text(encoding="utf-8"))


class Asynchronous(Any):
    """A ring beside an asynchronous server in every worker, with hostile names."""

    @classmethod
    def setUpClass(cls):
        cls.data = sample("--second", "ps-async", "--servers", "4", "--colocated", "--buckets", "4", "--hostile")
        cls.page = page_of("asynchronous", cls.data)

    def test_names_are_text(self):
        self.assertEqual(browser.run("return window.attacks.length"), 0)
        self.assertEqual(browser.run("return document.querySelectorAll('main script, main img, main iframe').length"), 0)
        self.assertIn(HOSTILE, browser.text("#run-0 h2"))
        self.assertIn(HOSTILE, browser.text("#events"))

    def test_staleness_is_that_of_the_file(self):
        run = self.data["runs"][1]
        pushes = [row for row in rows(run, "transfers") if phase(run, row) == "push"]
        most = max(row["staleness"] for row in pushes)
        self.assertGreater(most, 0)
        question = browser.run("const q = window.ringside.questions.made.find((one) => one.text.includes('How many versions')); return [q.time, q.answer]")
        self.assertEqual(int(question[1]), most)
        self.assertIn(question[0], [row["begin"] for row in pushes if row["staleness"] == most])


class Large(unittest.TestCase):
    def test_plays_a_hundred_thousand_events_of_eight_workers(self):
        data = sample("--workers", "8", "--servers", "2", "--events", "100000", "--parameters", "25000000", "--link-bytes-per-s", "125000000", "--compute-us", "120000")
        total = sum(run[name]["count"] for run in data["runs"] for name in ("spans", "transfers", "updates"))
        self.assertGreater(total, 85_000)
        page = page_of("large", data)
        self.assertLess(page.stat().st_size, MOST_BYTES)
        browser.open(page)
        browser.press("q")
        browser.seek(0.05 * browser.run("return window.ringside.player.length"))
        seen = browser.play(3000)
        print(f"{total:,} events: {seen['frames']} frames and {seen['long']} long tasks in 3 s", file=sys.stderr)
        self.assertGreater(seen["to"], seen["from"])
        self.assertLess(seen["long"], seen["frames"] / 2)

    def test_a_million_events_are_shown(self):
        data = sample("--second", "none")
        count = 1_000_000
        fill = {"from": 0, "to": 1, "phase": 0, "step": 3, "bucket": 0, "offset": 0, "elements": 10, "bytes": 40, "version": -1, "staleness": -1}
        table = {name: repeated(value, 0, count) for name, value in fill.items()}
        table |= {name: repeated(value, 1, count) for name, value in {"begin": 0, "asked": 0, "sent": 4, "arrived": 9}.items()}
        data["runs"][0]["transfers"] = {"count": count, **table}
        browser.open(page_of("million", data))
        self.assertIn("1,000,000 chunks", browser.text("#run-0 [data-fact=record] dd"))
        browser.press("q", Keys.END, Keys.ARROW_LEFT)
        self.assertGreater(browser.position(), 0)


def repeated(first, step, count):
    """A packed column that begins with `first` and grows by `step`, without packing each value."""
    import base64
    head = base64.b64decode(pack([first]))
    return base64.b64encode(head + bytes([2 * step]) * (count - 1)).decode()


class BadData(unittest.TestCase):
    def problem(self, name, text):
        browser.open(page_of(name, text))
        return browser.text(".problem")

    def test_unreadable_data_is_a_message(self):
        import json
        whole = sample()
        self.assertIn("cut off", self.problem("cut", json.dumps(whole)[:5000]))
        self.assertIn("newer Ringside", self.problem("newer", whole | {"format": 2}))
        self.assertIn("no recorded runs", self.problem("other", "[1, 2]"))
        self.assertIn("no run", self.problem("none", whole | {"runs": []}))

    def test_runs_without_a_record_show_their_figures(self):
        browser.open(page_of("unrecorded", sample("--without-record")))
        self.assertIn("no record", browser.text("#run-0 .warning"))
        self.assertIsNone(browser.text("#scrubber"))
        self.assertIsNotNone(browser.text("#run-1 .bound"))

    def test_a_record_cut_in_the_middle_shows_what_there_is(self):
        data = sample()
        for name, column in data["runs"][0]["transfers"].items():
            if name != "count":
                data["runs"][0]["transfers"][name] = column[:len(column) // 2]
        data["runs"][1]["nodes"] = data["runs"][1]["nodes"][:3]
        browser.open(page_of("half", data))
        self.assertIn("cannot be read", browser.text("#run-0 .warning"))
        self.assertIn("cannot be read", browser.text("#run-1 .warning"))
        browser.press("q", Keys.END, Keys.ARROW_LEFT)
        self.assertGreater(browser.position(), 0)

    def test_a_run_of_wrong_types_does_not_break_the_page(self):
        data = sample()
        data["runs"][1] = {"title": 7, "nodes": "x", "buckets": {}, "spans": [], "transfers": None, "steps": [None], "window": 3, "notes": [None]}
        browser.open(page_of("types", data))
        self.assertIsNone(browser.text(".problem"))
        self.assertEqual(browser.text("#run-1 h2"), "7")


def load_tests(loader, tests, pattern):
    del tests, pattern
    cases = [Synchronous, Asynchronous, Large, BadData] + ([Given] if GIVEN else [])
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Uses the demo's page in headless Chromium, by keyboard where a person would, and compares what it shows with the data.

usage: demo_page_test.py [CLASS ...] [PAGE.html ...] [unittest's options]

Each PAGE.html, a page of `ringside demo`, is tested too. CLASS: only these classes of this file. Exit code 4: a program is missing.
"""
import base64
import json
import pathlib
import re
import sys
import tempfile
import unittest

from any_page import EARLIEST_QUESTION, LINKS, AnyPage, PageTest, phase, rows
from columns import pack, table
from demo_browser import Keys, Session, data_of, missing_program
from large_page import LEAST_EVENTS, events_of, make_large_page, play_large
from sample_collectives import BUCKETS
from sample_data import HOSTILE, SPAN_COLUMNS, TRANSFER_COLUMNS, UPDATE_COLUMNS, sample

CLASSES = ("Synchronous", "Asynchronous", "OtherAllReduces", "Late", "Many", "Large", "BadData")
GIVEN = [pathlib.Path(argument).resolve() for argument in sys.argv[1:] if argument.endswith(".html")]
CHOSEN = [argument for argument in sys.argv[1:] if argument in CLASSES]
sys.argv = [argument for argument in sys.argv if not argument.endswith(".html") and argument not in CLASSES]

# What the page says of waiting at many moments of its second run, and who waits then.
WAITING = """
const app = window.ringside, run = app.runs[1], waiting = app.waiting.get(run), out = [];
for (let i = 0; i < 400; ++i) {
  app.player.seek(app.player.length * i / 400);
  app.draw();
  const time = app.player.timeOf(run);
  if (time < run.end) out.push([document.querySelector("#run-1 .waits").textContent, run.workers.map((node) => node.index).filter((node) => waiting.waitOf(node, time))]);
}
return out;"""


def given(i, path):
    """The tests of a page that was made elsewhere."""
    return type(f"Given{i}", (AnyPage,), {"page": path, "data": data_of(path)})


class Synchronous(AnyPage):
    """A ring beside a synchronous parameter server."""

    @classmethod
    def setUpClass(cls):
        cls.data = sample()
        cls.page = cls.page_of("synchronous", cls.data)

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
            self.browser.seek(time)
            self.browser.wait("return document.querySelector('#run-1 .waits').textContent.includes(arguments[0])", f"bucket {wait['bucket']} from server 0: it has {have} of 4 gradients")
            checked += 1
        self.assertGreater(checked, 3)

    def test_sums_grow_as_chunks_arrive(self):
        run = self.data["runs"][0]
        chunks = [row for row in rows(run, "transfers") if phase(run, row) == "reduce-scatter" and (row["step"], row["bucket"], row["offset"]) == (4, 1, 0)]
        self.assertEqual(len(chunks), 3)
        sums = []
        for row in sorted(chunks, key=lambda one: one["arrived"]):
            self.browser.seek(row["arrived"])
            sums.append(self.browser.run("""
                const { amounts, run } = window.ringside.views.find((view) => view.run.index === 0 && view.picture.name === "topology").picture;
                const part = amounts.parts.findIndex((one) => one.bucket === 1 && one.offset === 0);
                return amounts.sum[arguments[0] * amounts.parts.length + part];""", row["to"]))
        self.assertEqual(sums, [2, 3, 4])

    def test_chunks_are_in_their_places(self):
        run = self.data["runs"][1]
        self.browser.seek(12500)
        drawn = self.browser.run("""
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
        self.browser.seek((chunk["begin"] + chunk["arrived"]) / 2)
        self.browser.press("c")
        way = [row for row in rows(run, "transfers") if all(row[name] == chunk[name] for name in ("step", "bucket", "offset"))]
        shown = self.browser.run("return [...document.querySelectorAll('.chunk-panel li')].map((one) => one.textContent)")
        self.assertEqual(len(shown), len(way))
        self.browser.press(Keys.ESCAPE)
        self.assertTrue(self.browser.run("return document.querySelector('.chunk-panel').hidden"))

    def test_a_click_on_a_chunk_chooses_it(self):
        run = self.data["runs"][1]
        chunk = next(row for row in rows(run, "transfers") if row["step"] == 4)
        self.browser.seek((chunk["begin"] + chunk["arrived"]) / 2)
        self.browser.run("""
            const view = window.ringside.views.find((one) => one.run.index === 1 && one.picture.name === "topology");
            const place = view.box.getBoundingClientRect(), { x, y, w, h } = view.picture.drawn[0];
            view.box.dispatchEvent(new MouseEvent("click", { clientX: place.left + x + w / 2, clientY: place.top + y + h / 2, bubbles: true }));""")
        self.assertIn("A chunk of ps-sync", self.browser.text("#run-1 .chunk-panel"))

    def test_a_question_stops_the_clock_and_the_file_answers_it(self):
        times = [next(step["end_us"] - step["begin_us"] for step in run["steps"] if step["step"] == 3) for run in self.data["runs"]]
        close = abs(times[0] - times[1]) <= 0.05 * max(times)
        right = "same" if close else str(times.index(min(times)))
        self.browser.press("9", Keys.SPACE)
        self.browser.wait("return !document.querySelector('.question').hidden")
        self.assertFalse(self.browser.run("return window.ringside.player.playing"))
        self.assertFalse(self.browser.run("return document.querySelector('.step-line').open"))
        self.assertIn("Which run takes less time for step 3?", self.browser.text(".question"))
        while self.browser.run("return document.activeElement.value") != right:
            self.browser.press(Keys.ARROW_DOWN)
        self.browser.press(Keys.SPACE, Keys.ENTER)
        self.assertIn("1 of 1 right", self.browser.text(".question"))
        self.assertTrue(self.browser.run("return document.querySelector('.step-line').open"))
        for time in times:
            self.assertIn(f"{time / 1000:.3f} ms", self.browser.text(".question"))
        self.browser.press(Keys.ENTER)
        self.browser.wait("return !document.querySelector('.question').hidden")
        self.browser.press(Keys.ESCAPE)
        self.assertTrue(self.browser.run("return document.querySelector('.question').hidden"))
        self.assertEqual(self.browser.text("#score"), "(1 of 1 right)")

    def test_the_answers_are_in_the_file(self):
        made = self.browser.run("return window.ringside.questions.made.map(({ run, text, answer }) => [run.index, text, answer])")
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
        self.browser.seek(wait["begin"] + 1)
        words = self.browser.run("""
            const { picture, last } = window.ringside.views.find((one) => one.run.index === 1 && one.picture.name === "lanes");
            const scale = (last.width - 116) / (last.page.to - last.page.from);
            return picture.tip(112 + (arguments[0] - last.page.from) * scale, 29, last);""", (wait["begin"] + wait["end"]) / 2)
        self.assertEqual(words, f"worker 0: await of bucket {wait['bucket']}, step 4: {(wait['end'] - wait['begin']) / 1000:.3f} ms")

    def test_an_open_question_is_not_answered_elsewhere(self):
        question = self.browser.run("const q = window.ringside.questions.made.find((one) => one.text.includes('holds it up')); return [q.run.index, q.at]")
        self.assertIsNotNone(question)
        self.browser.run("for (const one of window.ringside.questions.made) one.done = one.at !== arguments[0]; window.ringside.player.advance(arguments[0])", question[1])
        self.browser.settle()
        waits = f"return document.querySelector('#run-{question[0]} .waits').textContent"
        self.assertEqual(self.browser.run(waits), "")
        self.browser.press(Keys.ESCAPE)
        self.assertIn("wait", self.browser.run(waits))

    def test_same_part_of_a_step(self):
        self.browser.run("document.querySelector('.player [data-value=step]').click()")
        length = self.browser.run("return window.ringside.player.length")
        for share in (0.125, 0.6):
            self.browser.seek(share * length)
            for i, run in enumerate(self.data["runs"]):
                place = share * len(run["steps"])
                step = run["steps"][int(place)]
                want = step["begin_us"] + place % 1 * (step["end_us"] - step["begin_us"])
                self.assertAlmostEqual(self.browser.run("return window.ringside.player.timeOf(window.ringside.runs[arguments[0]])", i), want, 1)

    def test_saves_a_picture(self):
        with tempfile.TemporaryDirectory() as target:
            self.browser.download_to(target)
            self.browser.run("document.querySelector('#run-0 .lanes button').click()")
            path = pathlib.Path(target) / "ringside-ring-lanes.svg"
            for _ in range(600):
                if path.exists():
                    break
                self.browser.settle()
            self.assertIn("</svg>", path.read_text(encoding="utf-8"))


class Asynchronous(AnyPage):
    """A ring beside an asynchronous server in every worker, with hostile names."""

    @classmethod
    def setUpClass(cls):
        cls.data = sample("--second", "ps-async", "--servers", "4", "--colocated", "--buckets", "4", "--hostile")
        cls.page = cls.page_of("asynchronous", cls.data)

    def test_names_are_text(self):
        self.assertEqual(self.browser.run("return window.attacks.length"), 0)
        self.assertEqual(self.browser.run("return document.querySelectorAll('main script, main img, main iframe').length"), 0)
        self.assertIn(HOSTILE, self.browser.text("#run-0 h2"))
        self.assertIn(HOSTILE, self.browser.text("#events"))

    def test_staleness_is_that_of_the_file(self):
        run = self.data["runs"][1]
        pushes = [row for row in rows(run, "transfers") if phase(run, row) == "push"]
        most = max(row["staleness"] for row in pushes)
        self.assertGreater(most, 0)
        question = self.browser.run("const q = window.ringside.questions.made.find((one) => one.text.includes('How many versions')); return [q.time, q.answer]")
        self.assertEqual(int(question[1]), most)
        self.assertIn(question[0], [row["begin"] for row in pushes if row["staleness"] == most])


class Late(PageTest):
    """Pages that begin while chunks of the step before are on their way, as those of long runs do."""

    def page_from(self, run, time):
        data = sample()
        data["runs"][run] = begun_at(data["runs"][run], time)
        self.browser.open(self.page_of(f"late-{run}-{time:.0f}", data))
        return data

    def test_questions_are_about_what_the_page_shows(self):
        self.browser.open(self.page_of("synchronous", sample()))
        made = self.browser.run("return window.ringside.questions.made.map(({ run, time, text }) => [run.index, time, text])")
        lost = [(run, time) for run, time, text in made if "holds it up" in text or "wait longest" in text]
        self.assertGreaterEqual(len(lost), 2)
        for run, time in lost:
            data = self.page_from(run, time + 1)
            first = data["runs"][run]["steps"][0]
            for index, at in self.browser.run("return window.ringside.questions.made.map(({ run, time }) => [run.index, time])"):
                if index == run:
                    self.assertGreaterEqual(at, EARLIEST_QUESTION * (first["end_us"] - first["begin_us"]))
            asked = self.browser.run("""
                const { player, questions } = window.ringside;
                let asked = 0;
                for (const _ of questions.made) {
                  player.advance(player.length);
                  if (questions.asked) { ++asked; questions.skip(); }
                }
                return asked - questions.made.length;""")
            self.assertEqual(asked, 0)

    def test_links_are_in_use_from_the_beginning(self):
        push = max((row for row in rows(sample()["runs"][1], "transfers") if row["step"] == 4), key=lambda row: row["arrived"] - row["begin"])
        data = self.page_from(1, (push["begin"] + push["arrived"]) // 2)
        self.assertIn(0, [row["begin"] for row in rows(data["runs"][1], "transfers")])
        shown = next(shown for shown in self.browser.run(LINKS, "step") if shown["run"] == 1)
        self.assertGreater(max(link[0] for way in ("in", "out") for link in shown["pages"][0][way]), 0)


class Many(PageTest):
    """Eight workers that exchange pairs: they wait for more reasons than the page has room for."""

    def test_the_narration_names_all_who_wait(self):
        data = sample("--workers", "8", "--second", "pairs")
        self.browser.open(self.page_of("many", data))
        seen = self.browser.run(WAITING)
        self.assertTrue(any("too." in words for words, _ in seen))
        for words, waiting in seen:
            named = set(range(8)) if "All 8 workers" in words else set()
            for group in re.findall(r"(?:^|\.)[Ww]orkers? ([0-9, and]+) waits?", words):
                named |= {int(number) for number in re.findall(r"\d", group)}
            if except_one := re.search(r"All workers except worker (\d)", words):
                named |= set(range(8)) - {int(except_one[1])}
            self.assertEqual(named, set(waiting), words)
            self.assertNotIn("other reasons", words)


class OtherAllReduces(PageTest):
    def test_every_kind_is_drawn_and_told(self):
        for kind in BUCKETS:
            data = sample("--workers", "8", "--second", kind)
            run = data["runs"][1]
            self.browser.open(self.page_of(kind, data))
            awaits = [row for row in rows(run, "spans") if run["span_kinds"][row["kind"]] == "await"]
            longest = max(awaits, key=lambda row: row["end"] - row["begin"])
            self.browser.seek((longest["begin"] + longest["end"]) // 2)
            with self.subTest(kind):
                self.assertRegex(self.browser.text("#run-1 .waits"), rf"wait(s)? for bucket {longest['bucket']}, because ")
                severe = [entry for entry in self.browser.driver.get_log("browser") if entry["level"] == "SEVERE"]
                self.assertEqual(severe, [])


class Large(PageTest):
    def test_plays_a_hundred_thousand_events_of_eight_workers(self):
        page = make_large_page(self.folder / "large.html")
        total = events_of(data_of(page))
        self.assertGreaterEqual(total, LEAST_EVENTS)
        # `ringside demo` never puts as many on a page, and so stays below MOST_BYTES.
        self.assertLess(page.stat().st_size, 24 * total)
        seen = play_large(self.browser, page)
        print(f"{total:,} events: {seen['frames']} frames and {seen['long']} long tasks in {seen['seconds']:.1f} s", file=sys.stderr)
        self.assertGreater(seen["to"], seen["from"])
        self.assertLessEqual(seen["long"], seen["frames"] / 4)

    def test_a_million_events_are_shown(self):
        data = sample("--second", "none")
        count = 1_000_000
        fill = {"from": 0, "to": 1, "phase": 0, "step": 3, "bucket": 0, "offset": 0, "elements": 10, "bytes": 40, "version": -1, "staleness": -1}
        table = {name: repeated(value, 0, count) for name, value in fill.items()}
        table |= {name: repeated(value, 1, count) for name, value in {"begin": 0, "asked": 0, "sent": 4, "arrived": 9}.items()}
        data["runs"][0]["transfers"] = {"count": count, **table}
        self.browser.open(self.page_of("million", data))
        self.assertIn("1,000,000 chunks", self.browser.text("#run-0 [data-fact=record] dd"))
        self.browser.press("q", Keys.END, Keys.ARROW_LEFT)
        self.assertGreater(self.browser.position(), 0)


def begun_at(run, cut):
    """The run as if its page began at a time with the step after: what is under way then has lost its begin."""
    times = {"begin", "sent", "asked", "arrived", "end"}
    for name, end, columns in (("spans", "end", SPAN_COLUMNS), ("transfers", "arrived", TRANSFER_COLUMNS), ("updates", "end", UPDATE_COLUMNS)):
        kept = [row for row in rows(run, name) if row[end] >= cut]
        run[name] = table([{key: round(max(0, value - cut)) if key in times else value for key, value in row.items()} for row in kept], columns)
    steps = [step for step in run["steps"] if step["begin_us"] > cut] or run["steps"][-1:]
    run["steps"] = [step | {"begin_us": max(0, step["begin_us"] - cut), "end_us": step["end_us"] - cut} for step in steps]
    run["steps"][0]["begin_us"] = 0
    run["window"] |= {"first_step": steps[0]["step"], "end_us": run["window"]["end_us"] - cut}
    return run


def repeated(first, step, count):
    """A packed column that begins with `first` and grows by `step`, without packing each value."""
    head = base64.b64decode(pack([first]))
    return base64.b64encode(head + bytes([2 * step]) * (count - 1)).decode()


class BadData(PageTest):
    def problem(self, name, text):
        self.browser.open(self.page_of(name, text))
        return self.browser.text(".problem")

    def test_unreadable_data_is_a_message(self):
        whole = sample()
        self.assertIn("cut off", self.problem("cut", json.dumps(whole)[:5000]))
        self.assertIn("newer Ringside", self.problem("newer", whole | {"format": 2}))
        self.assertIn("no recorded runs", self.problem("other", "[1, 2]"))
        self.assertIn("no run", self.problem("none", whole | {"runs": []}))

    def test_a_run_with_an_empty_record_shows_its_figures(self):
        data = sample("--without-record")
        self.browser.open(self.page_of("nothing", data))
        self.assertIn("only its figures are shown", self.browser.run("return [...document.querySelectorAll('#run-0 .warning')].at(-1).textContent"))
        self.assertIsNone(self.browser.text("#scrubber"))
        self.assertIsNotNone(self.browser.text("#run-1 .bound"))
        data["runs"][0] = sample()["runs"][0]
        self.browser.open(self.page_of("nothing-of-one", data))
        self.assertIsNone(self.browser.text("#run-0 .warning"))
        self.assertIn("nothing to replay", self.browser.text("#run-1 .narration"))
        self.browser.press("q", Keys.END)
        self.assertGreater(self.browser.position(), 0)

    def test_a_record_cut_in_the_middle_shows_what_there_is(self):
        data = sample()
        for name, column in data["runs"][0]["transfers"].items():
            if name != "count":
                data["runs"][0]["transfers"][name] = column[:len(column) // 2]
        data["runs"][1]["nodes"] = data["runs"][1]["nodes"][:3]
        self.browser.open(self.page_of("half", data))
        self.assertIn("cannot be read", self.browser.text("#run-0 .warning"))
        self.assertIn("cannot be read", self.browser.text("#run-1 .warning"))
        self.browser.press("q", Keys.END, Keys.ARROW_LEFT)
        self.assertGreater(self.browser.position(), 0)

    def test_a_run_of_wrong_types_does_not_break_the_page(self):
        data = sample()
        data["runs"][1] = {"title": 7, "nodes": "x", "buckets": {}, "spans": [], "transfers": None, "steps": [None], "window": 3, "notes": [None]}
        self.browser.open(self.page_of("types", data))
        self.assertIsNone(self.browser.text(".problem"))
        self.assertEqual(self.browser.text("#run-1 h2"), "7")


def setUpModule():
    global session, folder
    if program := missing_program():
        print(f"{program} is missing: run scripts/install-dependencies.sh --tests")
        sys.exit(4)
    folder = tempfile.TemporaryDirectory(prefix="ringside-demo-pages-")
    session = Session()
    PageTest.browser, PageTest.folder = session.__enter__(), pathlib.Path(folder.name)


def tearDownModule():
    session.__exit__(None, None, None)
    folder.cleanup()


def load_tests(loader, tests, pattern):
    del tests, pattern
    cases = [globals()[name] for name in CHOSEN or CLASSES] + [given(i, path) for i, path in enumerate(GIVEN)]
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


if __name__ == "__main__":
    unittest.main()

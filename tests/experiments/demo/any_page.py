"""What holds for every page of the demo that has a record, and the numbers of its data."""
import unittest
import xml.etree.ElementTree

from columns import unpack
from demo_browser import Keys
from make_page import make_page

MOST_BYTES = 2_000_000
# A full link carries a little less than its rate, because of headers; the rest is for rounding.
MOST_OF_A_LINK = 1.05
EARLIEST_QUESTION = 0.05  # of a step
# Bytes in each bin of each link, and the times between the bins: pages of a step, or the whole record as one page.
LINKS = """
const [zoom] = arguments, app = window.ringside;
app.zoom = zoom;
return app.views.filter((view) => view.picture.name === "links").map((view) => {
  const { picture, run } = view, { from, to } = app.page();
  const pages = [];
  for (let begin = 0; begin < app.player.length; begin += to - from) {
    app.player.seek(begin + 1);
    app.draw();
    const { out, in: into, edges, full } = picture.use;
    pages.push({ out: out.map((bins) => [...bins]), in: into.map((bins) => [...bins]), edges: [...edges], full });
  }
  const before = (way) => picture.flows[way].map((flow) => flow.before(run.begin));
  return { run: run.index, of: picture.names.of, before: { out: before("out"), in: before("in") }, pages };
});"""
# What the narrations say at many moments, how many pixels of them cannot be seen, and how many their boxes lose in height.
NARRATIONS = """
const app = window.ringside, boxes = [...document.querySelectorAll(".narration")], said = [], heights = boxes.map(() => 0);
let hidden = 0, lost = 0;
for (let i = 0; i < 200; ++i) {
  app.player.seek(app.player.length * i / 200);
  app.draw();
  for (const [n, box] of boxes.entries()) {
    lost = Math.max(lost, heights[n] - box.offsetHeight);
    heights[n] = box.offsetHeight;
    hidden = Math.max(hidden, box.scrollHeight - box.clientHeight);
    said.push(box.querySelector(".waits").textContent);
  }
}
return { hidden, lost, said };"""
VIEWS = "return window.ringside.views.filter((view) => view.last).map((view) => [view.run.index, view.picture.name, view.svg()])"


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


def end_of(run):
    """When the last event of a run ends: some that begin in the window end after it."""
    ends = [row[name] for table, name in (("spans", "end"), ("transfers", "arrived"), ("updates", "end")) for row in rows(run, table)]
    return max([run["window"]["end_us"], *ends])


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


class PageTest(unittest.TestCase):
    """A test with a browser and a folder for pages. The module of the tests sets both."""

    browser = folder = None

    @classmethod
    def page_of(cls, name, data):
        """The page of some data; it is made once."""
        path = cls.folder / f"{name}.html"
        return path if path.exists() else make_page(data, path)

    def fact(self, run, name):
        return self.browser.text(f"#run-{run} [data-fact='{name}'] dd")


class AnyPage(PageTest):
    """What holds for every page with a record. Subclasses give the page."""

    page = data = None

    def setUp(self):
        if self.page is None:
            self.skipTest("no page was given")
        self.browser.open(self.page)

    def test_plays_only_when_told(self):
        self.assertEqual(self.browser.position(), 0)
        self.assertFalse(self.browser.run("return window.ringside.player.playing"))
        self.browser.press("q", Keys.SPACE)
        self.browser.wait("return window.ringside.player.position > 0")
        self.assertIn("Pause", self.browser.text("#play"))
        self.browser.press(Keys.SPACE)
        self.assertFalse(self.browser.run("return window.ringside.player.playing"))

    def test_keys_step_through_the_events_of_the_file(self):
        self.browser.press("q")
        times = [time for time in event_times(self.data) if time > 0]
        for time in times[:6]:
            self.browser.press(Keys.ARROW_RIGHT)
            self.assertAlmostEqual(self.browser.position(), time, 3)
        self.browser.press(Keys.ARROW_LEFT)
        self.assertAlmostEqual(self.browser.position(), times[4], 3)
        arrivals = sorted({row["arrived"] for run in self.data["runs"] for row in rows(run, "transfers")})
        later = next((time for time in arrivals if time > times[4]), None)
        if later is not None:
            self.browser.press(Keys.SHIFT, Keys.ARROW_RIGHT, Keys.NULL)
            self.assertAlmostEqual(self.browser.position(), later, 3)
        self.browser.press(Keys.END)
        self.assertEqual(self.browser.position(), self.browser.run("return window.ringside.player.length"))
        self.browser.press(Keys.HOME)
        self.assertEqual(self.browser.position(), 0)
        self.assertTrue(self.browser.text("#clock").startswith("0.000 ms"))

    def test_keys_set_the_speed_and_open_the_help(self):
        self.browser.press("1")
        self.assertEqual(self.browser.run("return window.ringside.player.speed"), 1 / 1000)
        self.browser.press("+")
        self.assertEqual(self.browser.run("return document.getElementById('speed').value"), "1/500")
        self.browser.press("9")
        self.assertEqual(self.browser.run("return document.getElementById('speed').value"), "real time")
        self.browser.press("?")
        self.assertTrue(self.browser.run("return document.querySelector('dialog').open"))
        self.browser.press(Keys.ESCAPE)
        self.assertFalse(self.browser.run("return document.querySelector('dialog').open"))

    def test_scrubber_is_a_native_range(self):
        self.assertEqual(self.browser.run("const s = document.getElementById('scrubber'); return [s.type, Number(s.max)]"), ["range", self.browser.run("return window.ringside.player.length")])
        self.browser.run("const s = document.getElementById('scrubber'); s.value = s.max / 2; s.dispatchEvent(new Event('input'))")
        self.assertAlmostEqual(self.browser.position(), self.browser.run("return window.ringside.player.length") / 2, 0)

    def test_figures_are_those_of_the_file(self):
        for i, run in enumerate(self.data["runs"]):
            counts = [f"{run[name]['count']:,}" for name in ("transfers", "spans", "updates")]
            self.assertEqual(self.fact(i, "record"), f"{counts[0]} chunks, {counts[1]} spans, {counts[2]} updates")
            if rows(run, "transfers"):
                self.assertEqual(self.fact(i, "a worker sends"), f"{size_text(sent_per_worker(run))} a step")
            if run["step_ms"] and run["bound_ms"]:
                self.assertIn(f"{int(run['bound_ms'] / run['step_ms'] * 100 + 0.5)} %", self.fact(i, "bound"))

    def test_chunks_on_the_way_are_those_of_the_file(self):
        for share in (0.1, 0.35, 0.6, 0.85):
            self.browser.seek(round(share * self.browser.run("return window.ringside.player.length")) + 0.5)
            for i, run in enumerate(self.data["runs"]):
                time = min(self.browser.position() + run["window"]["begin_us"], end_of(run))
                said = sum(row["begin"] <= time < row["arrived"] for row in rows(run, "transfers"))
                label = self.browser.run("return document.querySelector(`#run-${arguments[0]} .topology .picture`).getAttribute('aria-label')", i)
                self.assertIn(f" {said} chunks are on their way", label)

    def test_links_carry_the_bytes_of_the_file(self):
        for shown in self.browser.run(LINKS, "all"):
            run, page = self.data["runs"][shown["run"]], shown["pages"][0]
            crossing = [row for row in rows(run, "transfers") if row["to"] < 0 or shown["of"][row["from"]] != shown["of"][row["to"]]]
            for way, end in (("out", "from"), ("in", "to")):
                for link, bins in enumerate(page[way]):
                    own = [row for row in crossing if row[end] >= 0 and shown["of"][row[end]] == link]
                    drawn = [shown["before"][way][link]]
                    for rate, begin, until in zip(bins, page["edges"], page["edges"][1:]):
                        drawn.append(drawn[-1] + rate * (until - begin) / 1e6)
                    total = sum(row["bytes"] for row in own)
                    # Without a known rate, what was under way when the page begins is left out.
                    left_out = 0 if run["emulated"] else sum(row["bytes"] for row in own if row["begin"] <= run["window"]["begin_us"])
                    with self.subTest(run=shown["run"], way=way, link=link):
                        self.assertLessEqual(drawn[-1], total * 1.000001 + 1e-3)
                        self.assertGreaterEqual(drawn[-1], (total - left_out) * 0.999999 - 1e-3)
                        # Nothing is drawn after it has arrived.
                        own.sort(key=lambda row: row["arrived"])
                        arrived = at = 0
                        for amount, time in zip(drawn, page["edges"]):
                            while at < len(own) and own[at]["arrived"] <= time:
                                arrived += own[at]["bytes"]
                                at += 1
                            self.assertGreaterEqual(amount, (arrived - left_out) * 0.999999 - 1e-3)

    def test_links_carry_no_more_than_they_can(self):
        for shown in self.browser.run(LINKS, "step"):
            if not self.data["runs"][shown["run"]]["emulated"]:
                continue
            bins = [rate / page["full"] for page in shown["pages"] for way in ("out", "in") for link in page[way] for rate in link]
            self.assertGreater(max(bins), 0)
            self.assertLessEqual(max(bins), MOST_OF_A_LINK)

    def test_playing_through_asks_every_question(self):
        made = self.browser.run("return window.ringside.questions.made.map(({ run, time, text }) => [run.index, time, text])")
        for index, time, text in made:
            first = self.data["runs"][index]["steps"][0]
            self.assertGreaterEqual(time, first["begin_us"] + EARLIEST_QUESTION * (first["end_us"] - first["begin_us"]) - 1e-3, text)
        for alignment in ("time", "step"):
            self.browser.open(self.page)
            if len(self.data["runs"]) > 1:
                self.browser.run("document.querySelector(`.player [data-value=${arguments[0]}]`).click(); document.activeElement.blur()", alignment)
            asked = []
            self.browser.press("9")
            for _ in made:
                self.browser.press(Keys.SPACE)
                self.browser.wait("return !window.ringside.player.playing")
                asked.append(self.browser.text(".question:not([hidden]) legend"))
                self.browser.press(Keys.ESCAPE)
            self.assertCountEqual(asked, [text for _, _, text in made], alignment)

    def test_narration_has_room(self):
        try:
            for width, size in ((390, "normal"), (1280, "normal"), (1280, "large")):
                self.browser.narrow(width)
                self.browser.run("document.querySelector(`[data-value=${arguments[0]}]`).click()", size)
                self.browser.seek(0)
                told = self.browser.run(NARRATIONS)
                self.assertLessEqual(told["hidden"], 0, (width, size))
                self.assertLessEqual(told["lost"], 0, (width, size))
                self.assertFalse([words for words in told["said"] if "other reasons" in words])
        finally:
            self.browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_pictures_are_valid_svg_without_scripts(self):
        self.browser.seek(0.4 * self.browser.run("return window.ringside.player.length"))
        self.browser.run("for (const view of window.ringside.views) view.shown = true; window.ringside.draw()")
        pictures = self.browser.run(VIEWS)
        self.assertGreaterEqual(len(pictures), 4 * len(self.data["runs"]))
        for _, name, text in pictures:
            tags = {element.tag.split("}")[1] for element in xml.etree.ElementTree.fromstring(text.encode()).iter()}
            self.assertLessEqual(tags, {"svg", "title", "rect", "g", "path", "circle", "text"}, name)
            self.assertGreater(len(text), 300, name)

    def test_table_has_every_event(self):
        total = sum(run[name]["count"] for run in self.data["runs"] for name in ("spans", "transfers", "updates"))
        self.assertTrue(self.browser.text("#events-count").endswith(f"of {total:,} events"))
        last = self.browser.find("#table .switch [data-value='last']")
        self.browser.run("arguments[0].focus()", last)
        self.browser.press(Keys.ENTER)
        self.assertIn(f"to {total:,} of", self.browser.text("#events-count"))
        self.browser.run("document.querySelector('#events tbody button').focus()")
        self.browser.press(Keys.ENTER)
        shown = float(self.browser.text("#events tbody button").split()[0].replace(",", ""))
        self.assertAlmostEqual(self.browser.position() / 1000, shown, delta=0.001 * shown + 0.001)  # the table rounds

    def test_steps_instead_of_motion(self):
        self.browser.open(self.page, motion="reduce")
        self.browser.press("q", "1")
        self.browser.run("window.seen = []; window.ringside.player.onChange(() => window.seen.push(window.ringside.player.position))")
        self.browser.press(Keys.SPACE)
        self.browser.wait("return new Set(window.seen).size > 3")
        self.browser.press(Keys.SPACE)
        times = event_times(self.data)
        for position in self.browser.run("return window.seen"):
            self.assertTrue(position == 0 or any(abs(position - time) < 0.01 for time in times), position)

    def test_fits_a_phone_and_a_projector(self):
        try:
            for width in (360, 390, 800, 1920):
                self.browser.narrow(width)
                self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
            self.browser.run("document.querySelector('[data-value=large]').click()")
            self.browser.settle()
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 1920)
        finally:
            self.browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_light_and_dark(self):
        colours = []
        for theme in ("light", "dark"):
            self.browser.run("document.querySelector(`[data-value=${arguments[0]}]`).click()", theme)
            self.browser.settle()
            colours.append(self.browser.run("return getComputedStyle(document.body).backgroundColor"))
        self.assertNotEqual(*colours)

    def test_everything_has_a_name(self):
        nameless = self.browser.run("""return [...document.querySelectorAll("button, input, select, [role=img], [role=dialog]")]
            .filter((one) => !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.textContent.trim() || one.labels?.length)).length""")
        self.assertEqual(nameless, 0)

    def test_uses_no_network_and_no_console(self):
        self.assertLess(self.page.stat().st_size, MOST_BYTES)
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').length"), 0)
        severe = [entry for entry in self.browser.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(severe, [])
        blocked = self.browser.driver.execute_async_script("""
            document.addEventListener("securitypolicyviolation", (event) => arguments[0](event.effectiveDirective), { once: true });
            fetch("http://127.0.0.1:9/").catch(() => {});""")
        self.assertEqual(blocked, "connect-src")
        self.browser.driver.get_log("browser")

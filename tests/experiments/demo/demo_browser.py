"""The browser of the demo's tests: that of the report's page, with the page's own way of saying that it is ready."""
import base64
import ctypes
import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report" / "page"))
from browser_check import Browser, Keys, end_children  # noqa: E402

READY = "return performance.getEntriesByName('ringside-ready').length > 0"
# Long tasks, frames, seconds and the positions of the clock while the page plays for some milliseconds.
PLAY = """
const [milliseconds, done] = arguments;
const { player } = window.ringside;
const seen = { long: 0, frames: 0, from: player.position };
const observer = new PerformanceObserver((list) => { seen.long += list.getEntries().length; });
observer.observe({ entryTypes: ["longtask"] });
const begin = performance.now();
const count = () => {
  ++seen.frames;
  if (performance.now() - begin < milliseconds) return requestAnimationFrame(count);
  seen.seconds = (performance.now() - begin) / 1000;
  player.pause();
  setTimeout(() => { observer.disconnect(); done({ ...seen, to: player.position }); }, 100);
};
player.play();
requestAnimationFrame(count);"""


class DemoBrowser(Browser):
    def open(self, page, motion="no-preference"):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": motion}]})
        self.driver.get(pathlib.Path(page).resolve().as_uri())
        self.wait(READY)
        self.settle()

    def settle(self):
        """Waits until everything that is due has been drawn."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)
        self.settle()

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def seek(self, position):
        self.run("window.ringside.player.seek(arguments[0])", position)
        self.settle()

    def position(self):
        return self.run("return window.ringside.player.position")

    def play(self, milliseconds):
        return self.driver.execute_async_script(PLAY, milliseconds)

    def narrow(self, width):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600})
        self.settle()

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.driver.get_screenshot_as_base64()))

    def download_to(self, folder):
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})


class Session:
    """A browser with a home of its own. All its processes end with it."""

    def __enter__(self):
        pr_set_child_subreaper = 36
        ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)
        self.home = tempfile.TemporaryDirectory(prefix="ringside-demo-", ignore_cleanup_errors=True)
        self.browser = DemoBrowser(self.home.name)
        return self.browser

    def __exit__(self, *error):
        try:
            self.browser.driver.quit()
        finally:
            end_children()
            self.home.cleanup()


def missing_program():
    return next((name for name in ("chromium", "chromedriver", "esbuild") if not shutil.which(name)), None)


def data_of(page):
    """The data that a page carries."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    begin = text.index('id="data">') + len('id="data">')
    return json.loads(text[begin:text.index("</script>", begin)])


__all__ = ["Keys", "Session", "data_of", "missing_program"]

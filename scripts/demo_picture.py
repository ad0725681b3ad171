#!/usr/bin/python3 -B
"""Takes the picture of the demo's page for docs/demo.md, at a moment when both runs have chunks on their way.

usage: demo_picture.py PAGE.html OUT.png [WIDTHxHEIGHT]
PAGE.html is what `ringside demo` made. Needs what tests/experiments/demo/demo_page_test.py needs, and Debian's python3-pil.
"""
import pathlib
import sys

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "experiments" / "demo"))
from any_page import rows  # noqa: E402
from demo_browser import Session, data_of  # noqa: E402


def busiest(data):
    """The moment, in the middle of a step, when the run with the fewer chunks on their way has the most."""
    window = min(run["window"]["end_us"] for run in data["runs"])
    transfers = [rows(run, "transfers") for run in data["runs"]]

    def on_their_way(time):
        return min(sum(row["begin"] <= time < row["arrived"] for row in table) for table in transfers)
    return max((window * i // 400 for i in range(100, 300)), key=on_their_way)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip())
    page, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    width, height = (int(part) for part in (sys.argv[3] if len(sys.argv) == 4 else "1200x1500").split("x"))
    with Session() as browser:
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        browser.open(page)
        browser.press("q")
        browser.seek(busiest(data_of(page)))
        browser.screenshot(out)
    # A palette keeps the picture in a third of the bytes.
    Image.open(out).convert("RGB").quantize(64).save(out, optimize=True)
    print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

"""A page of more than 100,000 events of eight workers, and how smoothly it plays."""
from make_page import make_page
from sample_data import sample

LEAST_EVENTS = 100_000
# The sample rounds the number of events down to whole steps and buckets.
FLAGS = ("--workers", "8", "--servers", "2", "--events", "113000", "--parameters", "25000000", "--link-bytes-per-s", "125000000",
         "--compute-us", "120000")


def large_data():
    return sample(*FLAGS)


def events_of(data):
    return sum(run[name]["count"] for run in data["runs"] for name in ("spans", "transfers", "updates"))


def make_large_page(path):
    return make_page(large_data(), path)


def play_large(browser, page):
    """Plays three seconds of the page, from a twentieth of it on. Gives frames, long tasks (of more than 50 ms), seconds, and where it was."""
    browser.open(page)
    browser.press("q")
    browser.seek(0.05 * browser.run("return window.ringside.player.length"))
    return browser.play(3000)

"""docs/faults.md has the rows that the suite makes, and names of tests that exist.

usage: page_test.py
"""
import itertools
import pathlib
import re
import subprocess
import sys
import unittest

from suite.all_scenarios import SCENARIOS
from suite.elsewhere import ELSEWHERE
from suite.job import ROOT
from suite.left_out import IN_PART, LEFT_OUT, NOBODY_KNOWS
from suite.scenarios import ALL_STRATEGIES, OTHERS, STRATEGIES
from suite.table import HEAD, NOTHING_LEFT, OTHERS_HEAD, PUSHES

SUITE = pathlib.Path(__file__).with_name("fault_suite.py")
PAGE = ROOT / "docs" / "faults.md"
AGAIN = "docs/faults.md is stale: make it again with fault_suite.py --markdown"
MOST_LATE = 0.15  # of the jobs of a row
LATE = r"(found|ended|went on|given up|closed) after [0-9.]+ s, later than [0-9.]+ s"
WHAT = {scenario.name: scenario.what for scenario in SCENARIOS}


def listed(*words):
    outcome = subprocess.run([sys.executable, "-B", SUITE, "--list", *words], capture_output=True, text=True, check=True)
    return [tuple(line.split()) for line in outcome.stdout.splitlines()]


def fields_in(text, columns):
    """The fields of the rows of the table with so many columns."""
    found = [[field.strip() for field in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [fields for fields in found if len(fields) == columns and not fields[0].startswith("-")][1:]


def tables():
    """The rows of the two tables of faults: of the page's own strategies, and of the others."""
    return [fields_in(part, 9) for part in PAGE.read_text().partition(OTHERS_HEAD)[::2]]


def fields_of(columns):
    return fields_in(PAGE.read_text(), columns)


def rows(columns):
    """The first two of them."""
    return [(fields[0], fields[1]) for fields in fields_of(columns)]


class Page(unittest.TestCase):
    maxDiff = None

    def test_the_page_has_a_row_for_each_fault_and_strategy(self):
        long = {scenario.what for scenario in SCENARIOS if scenario.long}
        # What the machine of the page could not try. It says why.
        left_out = {what for what in WHAT.values() if f"- {what}: " in PAGE.read_text()}
        no_strategy = {strategy for strategy in ALL_STRATEGIES if f"- {strategy}: " in PAGE.read_text()}
        cells = [(WHAT[name], strategy) for name, strategy in listed() if WHAT[name] not in left_out and strategy not in no_strategy]
        for table, strategies in zip(tables(), (STRATEGIES, OTHERS)):
            with self.subTest(strategies=strategies):
                self.assertEqual([tuple(fields[:2]) for fields in table if fields[0] not in long],
                                 [cell for cell in cells if cell[1] in strategies], AGAIN)

    def test_the_jobs_of_the_page_survived(self):
        """On a shared machine a fault may be found late. Nothing else may go wrong, and that rarely."""
        for fields in itertools.chain(*tables()):
            survived, tried = map(int, fields[2].split("/"))
            with self.subTest(row=" | ".join(fields)):
                self.assertLessEqual(tried - survived, max(1, tried * MOST_LATE), "too few jobs survived")
        for table in tables():
            tried = sum(int(fields[2].split("/")[1]) for fields in table)
            survived = sum(int(fields[2].split("/")[0]) for fields in table)
            self.assertLessEqual(tried - survived, tried * MOST_LATE, "too few jobs survived")
        _, _, problems = PAGE.read_text().partition("Jobs that did not survive:\n\n")
        for line in itertools.takewhile(bool, problems.split("\n")):
            with self.subTest(problem=line):
                self.assertRegex(line, LATE)

    def test_the_page_begins_as_the_suite_writes_it(self):
        beginning = re.sub(r"\\{\w+\\}", ".*", re.escape(HEAD.rstrip("\n")))
        self.assertTrue(re.match(beginning, PAGE.read_text()), AGAIN)  # without the whole page in the message

    def test_the_page_says_that_nothing_was_left(self):
        self.assertIn(NOTHING_LEFT, PAGE.read_text())

    def test_the_page_says_why_it_leaves_strategies_out(self):
        named = [fields[0] for fields in fields_of(3)]
        self.assertEqual(named, [name for name, _, _ in (*LEFT_OUT, *IN_PART)], AGAIN)
        self.assertNotIn(NOBODY_KNOWS, PAGE.read_text())

    def test_the_page_says_which_pushes_had_been_applied(self):
        numbers = {name: rf"(?P<{name}>\d+)" for name in ("all", "applied", "not_applied")}
        self.assertRegex(PAGE.read_text(), PUSHES.format(**numbers), AGAIN)
        found = re.search(PUSHES.format(**numbers), PAGE.read_text())
        self.assertEqual(int(found["all"]), int(found["applied"]) + int(found["not_applied"]))

    def test_the_page_says_what_is_tried_elsewhere(self):
        self.assertEqual(rows(2)[:len(ELSEWHERE)], list(ELSEWHERE), AGAIN)

    def test_all_strategies_are_tried_if_asked_for(self):
        self.assertEqual({strategy for _, strategy in listed("--strategies", "all")}, set(ALL_STRATEGIES))

    def test_the_tests_that_are_named_exist(self):
        tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*_test.cc"))
        files = {path.name for path in (ROOT / "tests").rglob("*_test.*")}
        suites = [where for _, _, where in (*LEFT_OUT, *IN_PART)]
        for where in [*(where for _, where in ELSEWHERE), *suites]:
            for name in re.findall(r"`([^`]+)`", where):
                if name in ALL_STRATEGIES:
                    continue
                with self.subTest(name=name):
                    if "/" in name:
                        self.assertTrue((ROOT / name).is_dir())
                    elif name.endswith((".cc", ".py")):
                        self.assertIn(name, files)
                    else:
                        suite, _, test = name.partition(".")
                        self.assertRegex(tests, rf"TEST(_F|_P)?\(\s*{suite},\s*{test or '[A-Z]'}")


if __name__ == "__main__":
    unittest.main()

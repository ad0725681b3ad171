#!/usr/bin/env python3
"""How strategies that fail are graded: the exit code, the stages that are named, and a header that does not compile.

usage: grading_test.py FAILING_STRATEGIES BUILD     the executable of failing_strategies.h; the build folder
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(2))
FAILING = pathlib.Path(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **variables):
    return subprocess.run([str(part) for part in command], env=os.environ | variables, capture_output=True, text=True, encoding="utf-8")


def grade(strategy, worlds):
    """Runs the tests of a strategy, in worlds of so many workers, as scripts/grade_strategy.sh does."""
    return run(FAILING, "--gtest_brief=1", "--gtest_filter=" + ":".join(f"*_{workers}" for workers in worlds), RINGSIDE_FAILING=strategy)


def stages(result):
    """The stages that were run, and whether each was passed."""
    lines = [line for line in result.stdout.splitlines() if line.startswith("stage ")]
    return {int(line.split()[1].rstrip(",")): ": passed" in line for line in lines}


def stages_of_the_page():
    """What the table of docs/teaching.md says about the example."""
    page = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([1-4]) \|.*\| (passes|fails) \|$", page, re.MULTILINE)
    return {int(stage): verdict == "passes" for stage, verdict in rows}


class Grading(unittest.TestCase):
    def test_the_example_passes_the_stages_that_the_assignment_says(self):
        result = grade("example", [1, 2, 3])
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(stages(result), {1: True, 2: False, 3: True, 4: False}, result.stdout)
        self.assertEqual(stages(result), stages_of_the_page())

    def test_workers_that_sum_nothing_fail_the_first_stage(self):
        result = grade("alone", [1, 2])
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIs(stages(result)[1], False, result.stdout)
        self.assertRegex(result.stdout, r"stage 1, the exact sum: FAILED, \d of \d tests")

    def test_a_filter_runs_tests_of_that_strategy_alone(self):
        result = run(FAILING, "--gtest_filter=*EndsWithTheExact*", "--gtest_list_tests", RINGSIDE_FAILING="example")
        names = [line for line in result.stdout.splitlines() if line.startswith("  ")]
        self.assertGreater(len(names), 4)
        self.assertEqual([name for name in names if "/store_sum_" not in name], [])
        none = run(FAILING, "--gtest_filter=*NoSuchTest*", RINGSIDE_FAILING="example")
        self.assertEqual(none.returncode, 1)


class HandedIn(unittest.TestCase):
    def grade(self, text):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "my_strategy.h"
            header.write_text(text, encoding="utf-8")
            result = run(ROOT / "scripts" / "grade_strategy.sh", header, RINGSIDE_GRADING_BUILD=str(BUILD))
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(result.stderr.splitlines()[0], f"{header} does not compile:")
        return result.stderr

    def test_a_header_that_does_not_compile_names_the_line(self):
        errors = self.grade('#include "ringside/common/strategy/strategy_entry.h"\n\ninline ringside::StrategyEntry OwnStrategy() { return 7 }\n')
        self.assertRegex(errors, r"my_strategy\.h:3:\d+: error: ")
        self.assertNotIn("ninja", errors)

    def test_a_header_without_the_function_names_it(self):
        self.assertIn("OwnStrategy", self.grade("#pragma once\n"))

    def test_no_header_is_a_usage_error(self):
        self.assertEqual(run(ROOT / "scripts" / "grade_strategy.sh", "nothing.h").returncode, 2)


if __name__ == "__main__":
    unittest.main()

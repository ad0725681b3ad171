"""The exit code of a file of tests: a skipped one does not look like one that passed.

usage: main_test.py
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import main

RUNS = "    def test_{}(self):\n        pass\n"
SKIPS = "    def test_{}(self):\n        self.skipTest('not here')\n"
FAILS = "    def test_{}(self):\n        self.fail()\n"
SKIPPED_CLASS = "    @classmethod\n    def setUpClass(cls):\n        raise unittest.SkipTest('not here')\n"


class ExitCode(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def expect(self, code, *parts):
        file = self.folder / "some_test.py"
        methods = "".join(part.format(number) for number, part in enumerate(parts))
        file.write_text(f"import sys\nimport unittest\nsys.path.insert(0, {str(pathlib.Path(main.__file__).parent)!r})\n"
                        f"from main import main\n\nclass Some(unittest.TestCase):\n    word = 1\n{methods}\n\nmain()\n")
        done = subprocess.run([sys.executable, file], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)

    def test_what_ran_passes(self):
        self.expect(0, RUNS)
        self.expect(0, RUNS, SKIPS)

    def test_what_did_not_run_is_skipped(self):
        self.expect(main.SKIPPED, SKIPS)
        self.expect(main.SKIPPED, SKIPS, SKIPS)
        self.expect(main.SKIPPED, SKIPPED_CLASS, RUNS)

    def test_what_failed_is_not_skipped(self):
        self.expect(1, FAILS)
        self.expect(1, SKIPS, FAILS)

    def test_a_file_without_tests_fails(self):
        self.expect(1)


if __name__ == "__main__":
    main.main()

"""The exit codes of scripts/fuzz.sh. Programs that end at once stand in for cmake, git and the targets.

usage: fuzz_test.py
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "fuzz.sh"
INTERRUPTED = 72  # libFuzzer's exit code after Ctrl-C
CRASHED = 77  # and after a finding


class ExitCodes(unittest.TestCase):
    def run_targets(self, **codes):
        """Runs targets that end with these codes. Returns the script's code and its rows."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("scripts", "tests/fuzz", "build/fuzz/bin", "bin"):
                (root / name).mkdir(parents=True)
            shutil.copy(SCRIPT, root / "scripts")
            self.program(root / "bin" / "cmake", 0)
            self.program(root / "bin" / "git", 0)
            for name, code in codes.items():
                (root / "tests/fuzz" / f"{name}_fuzz.cc").touch()
                self.program(root / "build/fuzz/bin" / f"fuzz_{name}", code)
            outcome = subprocess.run([root / "scripts" / "fuzz.sh", ",".join(codes), "--runs", "1"], capture_output=True, text=True,
                                     env=os.environ | {"PATH": f"{root / 'bin'}:{os.environ['PATH']}"}, timeout=60)
            self.assertEqual(list((root / "build/fuzz").glob("programs.*")), [])
            return outcome.returncode, [row for row in outcome.stdout.splitlines() if row.startswith(tuple(f"| {n} " for n in codes))]

    @staticmethod
    def program(path, code):
        path.write_text(f"#!/bin/sh\necho made up\nexit {code}\n")
        path.chmod(0o755)

    def test_nothing_found(self):
        code, rows = self.run_targets(first=0, second=0)
        self.assertEqual(code, 0)
        self.assertEqual(len(rows), 2)

    def test_a_finding(self):
        code, rows = self.run_targets(first=CRASHED, second=0)
        self.assertEqual(code, 1)
        self.assertEqual(len(rows), 2, "the others still run")

    def test_an_interrupt_is_no_finding(self):
        code, rows = self.run_targets(first=INTERRUPTED, second=0)
        self.assertEqual(code, 130)
        self.assertIn("none, interrupted", rows[0])

    def test_a_finding_counts_more_than_an_interrupt(self):
        self.assertEqual(self.run_targets(first=CRASHED, second=INTERRUPTED)[0], 1)


if __name__ == "__main__":
    unittest.main()

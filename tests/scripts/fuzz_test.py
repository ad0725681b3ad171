"""The exit codes and rows of scripts/fuzz.sh. Programs that end at once stand in for cmake, git and the targets.

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


class Fuzz(unittest.TestCase):
    def run_targets(self, limit=("--runs", "1"), **codes):
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
            outcome = subprocess.run([root / "scripts" / "fuzz.sh", ",".join(codes), *limit], capture_output=True, text=True,
                                     env=os.environ | {"PATH": f"{root / 'bin'}:{os.environ['PATH']}"}, timeout=60)
            self.assertEqual(list((root / "build/fuzz").glob("programs.*")), [])
            self.logs = {name: (root / "build/fuzz/logs" / f"{name}.log").read_text() for name in codes}
            return outcome.returncode, [row for row in outcome.stdout.splitlines() if row.startswith(tuple(f"| {n} " for n in codes))]

    @staticmethod
    def program(path, code):
        """It says that it has executed as many inputs as it is asked for."""
        path.write_text(f"#!/bin/sh\nfor flag; do case $flag in -runs=*) echo stat::number_of_executed_units: ${{flag#*=}};; esac; "
                        f"done\nexit {code}\n")
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

    def test_many_inputs_are_shared_out_among_processes(self):
        code, rows = self.run_targets(("--runs", "4500000"), first=0)
        self.assertEqual(code, 0)
        self.assertRegex(rows[0], r"^\| first \| 4500000 \|")
        self.assertEqual(self.logs["first"].split()[1::2], ["2000000", "2000000", "500000"])

    def test_so_are_those_of_a_long_time(self):
        code, rows = self.run_targets(("--seconds", "02"), first=0)
        self.assertEqual(code, 0)
        executed = [int(word) for word in self.logs["first"].split()[1::2]]
        self.assertGreater(len(executed), 1)
        self.assertEqual(set(executed), {2_000_000})
        self.assertRegex(rows[0], rf"^\| first \| {sum(executed)} \|")

    def test_a_finding_ends_the_target(self):
        code, rows = self.run_targets(("--runs", "4500000"), first=CRASHED)
        self.assertEqual(code, 1)
        self.assertRegex(rows[0], r"^\| first \| 2000000 \|")


if __name__ == "__main__":
    unittest.main()

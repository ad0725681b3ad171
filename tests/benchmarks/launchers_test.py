"""What benchmarks/launchers.py says of its measurements. Not how fast anything is.

usage: launchers_test.py RINGSIDE
"""
import os
import pathlib
import subprocess
import sys
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "launchers.py"
sys.path.insert(0, str(SCRIPT.parent))
import launchers  # noqa: E402


def rows(*steps_ms, digest="a"):
    return [(digest, step_ms, 3.0) for step_ms in steps_ms]


def both(**rows_of):
    return {(strategy, name): rows for strategy in launchers.STRATEGIES for name, rows in rows_of.items()}


class Table(unittest.TestCase):
    def table(self, missing=None, **rows_of):
        return launchers.table(both(**rows_of), missing or {}, rounds=3, steps=150)

    def test_ratios_within_the_limits_hold(self):
        text, held = self.table(ringside=rows(60, 61, 62), mpirun=rows(61, 62, 63))
        self.assertTrue(held)
        self.assertIn("| ring | mpirun | 62.00 | 1.016 | 3.00 s | the same |", text)

    def test_a_ratio_is_of_one_round(self):
        """In the second round the machine was slow, for both."""
        _, held = self.table(ringside=rows(60, 90, 60), mpirun=rows(60, 90, 60.1))
        self.assertTrue(held)

    def test_a_slower_and_a_faster_launcher_miss(self):
        for step_ms in (63, 57):
            text, held = self.table(ringside=rows(60, 60, 60), srun=rows(*[step_ms] * 3))
            self.assertFalse(held)
            self.assertIn("(missed)", text)

    def test_other_parameters_miss(self):
        for digests in (("b", "b", "b"), ("a", "a", "b")):
            text, held = self.table(ringside=rows(60, 60, 60), spark=[(digest, 60, 3.0) for digest in digests])
            self.assertFalse(held)
            self.assertIn("| differ |", text)

    def test_what_is_left_out_is_named(self):
        text, _ = self.table({"spark": "no pyspark"}, ringside=rows(60, 60, 60))
        self.assertIn("Left out: spark, because no pyspark.", text)


class Flags(unittest.TestCase):
    def test_an_unknown_launcher_is_refused(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--only", "srun,slurm"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no launcher is called slurm", done.stderr)


if __name__ == "__main__":
    os.environ["RINGSIDE_EXECUTABLE"] = sys.argv.pop()
    unittest.main()

"""The parameters beside scripts/gpu_check.py are still those that `--model mlp` has on a CPU.

usage: gpu_check_references_test.py RINGSIDE
"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

from gpu_check_parts import plan, references  # noqa: E402
from gpu_check_parts.runs import Runs  # noqa: E402

LIMIT = 1e-5


class References(unittest.TestCase):
    def test_they_are_what_the_cpu_has(self):
        for case in plan.CASES:
            with self.subTest(case), tempfile.TemporaryDirectory() as folder:
                params, _ = references.train_reference(Runs(None, 300), RINGSIDE, case, pathlib.Path(folder) / "run")
                distance, _ = references.compare(params, references.read(case)["params"])
                self.assertLessEqual(distance, LIMIT, "if the CPU's training changed on purpose: scripts/gpu_check.py --write-references")


if __name__ == "__main__":
    RINGSIDE = sys.argv.pop(1)
    unittest.main()

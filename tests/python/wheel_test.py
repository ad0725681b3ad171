"""Builds the wheel as `pip install .` does, installs it into an environment of its own, and runs the program of docs/own-model.md.

usage: wheel_test.py     with RINGSIDE_SOURCE (the repository) and RINGSIDE_BUILD_PYTHON (has scikit-build-core and nanobind) set
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ["RINGSIDE_SOURCE"])
BUILD_PYTHON = os.environ["RINGSIDE_BUILD_PYTHON"]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, **more)
    if done.returncode:
        raise AssertionError(f"{command} exited with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


class Wheel(unittest.TestCase):
    def test_from_the_sources_to_a_table(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        run(BUILD_PYTHON, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
            "--wheel-dir", folder, SOURCE)
        wheel, = folder.glob("ringside-*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        for name in ("ringside/__init__.py", "ringside/torch.py", "ringside/py.typed"):
            self.assertIn(name, names)
        self.assertTrue(any(re.fullmatch(r"ringside/_native\..*\.so", name) for name in names), names)
        self.assertTrue(any(name.endswith(".data/scripts/ringside") for name in names), names)

        run(sys.executable, "-m", "venv", "--system-site-packages", folder / "venv")
        run(folder / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", wheel)
        page = (SOURCE / "docs/own-model.md").read_text()
        program = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
        self.assertLessEqual(len(program.strip().splitlines()), 20)
        (folder / "train.py").write_text(program)
        matrix = re.search(r"```yaml\n(name: mine.*?)```", page, re.DOTALL).group(1)
        (folder / "mine.yaml").write_text(matrix.replace("python3", str(folder / "venv/bin/python3")))
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        run(folder / "venv/bin/ringside", "matrix", "mine.yaml", cwd=folder, env=env)
        table = run(folder / "venv/bin/ringside", "report", "results/mine", cwd=folder, env=env)
        for strategy in ("none", "ring", "shm", "ps-sync"):
            self.assertIn(strategy, table)
        summaries = [json.loads(path.read_text()) for path in (folder / "results/mine").glob("*/summary.json")]
        self.assertEqual({summary["status"] for summary in summaries}, {"done"})
        self.assertEqual({summary["steps"] for summary in summaries}, {3 * 4096 // 2 // 32})


if __name__ == "__main__":
    unittest.main(verbosity=2)

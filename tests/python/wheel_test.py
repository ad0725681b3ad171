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
import time
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ["RINGSIDE_SOURCE"])
BUILD_PYTHON = os.environ["RINGSIDE_BUILD_PYTHON"]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, **more)
    if done.returncode:
        raise AssertionError(f"{command} exited with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def build_wheel(folder):
    run(BUILD_PYTHON, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
        "--wheel-dir", folder, SOURCE)
    wheel, = folder.glob("ringside-*.whl")
    return wheel


def install(wheel, venv):
    run(sys.executable, "-m", "venv", "--system-site-packages", venv)
    run(venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", wheel)


def compare_strategies(folder, venv):
    """Runs the program, the spec and the commands of the page. Returns the program and the table."""
    page = (SOURCE / "docs/own-model.md").read_text()
    program = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
    (folder / "train.py").write_text(program)
    (folder / "mine.yaml").write_text(re.search(r"```yaml\n(name: mine.*?)```", page, re.DOTALL).group(1))
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env["PATH"] = f"{venv / 'bin'}:{env['PATH']}"
    commands = re.findall(r"^ringside (?:matrix|report) [^#\n]*", page, re.MULTILINE)
    return program, [run("bash", "-c", command, cwd=folder, env=env) for command in commands][-1]


def way(folder):
    """From `pip install .` to the table of three strategies, where Ringside is built. Returns the seconds, the wheel, the program, the
    table."""
    begin = time.monotonic()
    wheel = build_wheel(folder)
    install(wheel, folder / "venv")
    program, table = compare_strategies(folder, folder / "venv")
    return time.monotonic() - begin, wheel, program, table


class Wheel(unittest.TestCase):
    def test_from_the_sources_to_a_table(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        seconds, wheel, program, table = way(folder)
        print(f"from `pip install .` to the table: {seconds:.0f} s")
        for strategy in ("none", "ring", "shm", "ps-sync"):
            self.assertIn(strategy, table)
        self.assertLessEqual(len(program.strip().splitlines()), 20)
        summaries = [json.loads(path.read_text()) for path in (folder / "results/mine").glob("*/summary.json")]
        self.assertEqual({summary["status"] for summary in summaries}, {"done"})
        self.assertEqual({summary["steps"] for summary in summaries}, {3 * 4096 // 2 // 32})
        self.check_files(wheel)

    def check_files(self, wheel):
        self.assertTrue(wheel.name.endswith("-linux_x86_64.whl"), wheel.name)
        names = zipfile.ZipFile(wheel).namelist()
        for name in ("ringside/__init__.py", "ringside/torch.py", "ringside/_torch_linear.py", "ringside/py.typed", "ringside/_native.pyi"):
            self.assertIn(name, names)
        self.assertTrue(any(re.fullmatch(r"ringside/_native\..*\.so", name) for name in names), names)
        self.assertEqual([name.partition(".data/")[2] for name in names if ".data/" in name], ["scripts/ringside"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

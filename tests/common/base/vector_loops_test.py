#!/usr/bin/env python3
"""The compiler turns each loop that is marked with RINGSIDE_VECTOR_CLONES into vector code for AVX2.

A loop that stays scalar gives the same results, three to nine times slower: no other test would notice.
usage: vector_loops_test.py SOURCES BUILD     (BUILD has compile_commands.json)
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

MARK = "RINGSIDE_VECTOR_CLONES"
WIDTH = 32  # bytes of a vector of AVX2
FOLDERS = ("common", "ring", "paramserver", "models", "experiments")


def marked_files(root):
    return [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.cc")) if MARK in path.read_text()]


def marked_functions(path):
    """Yields the name, the first and the last line of each function that is marked."""
    lines = path.read_text().splitlines()
    for first, line in enumerate(lines, 1):
        if line.startswith(MARK):
            last = next(number for number in range(first, len(lines) + 1) if lines[number - 1] == "}")
            yield re.search(r"(\w+)\(", " ".join(lines[first - 1:last]).replace(MARK, ""))[1], first, last


def vectorised(path, command):
    """Compiles the file and returns (line, width in bytes) of what became vector code."""
    arguments = re.sub(r" -o \S+", " -o /dev/null", command["command"]) + " -fopt-info-vec-optimized"
    result = subprocess.run(arguments, shell=True, cwd=command["directory"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{path} does not compile: {result.stderr[-2000:]}")
    found = re.findall(rf"{re.escape(path.name)}:(\d+):\d+: optimized: .* vectorized using (\d+) byte", result.stderr)
    return {(int(line), int(width)) for line, width in found}


class VectorLoops(unittest.TestCase):
    def test_become_vector_code(self):
        commands = {entry["file"]: entry for entry in json.loads((BUILD / "compile_commands.json").read_text())}
        files = marked_files(ROOT)
        self.assertTrue(files)
        for path in files:
            found = vectorised(path, commands[str(path)])
            for name, first, last in marked_functions(path):
                with self.subTest(file=str(path.relative_to(ROOT)), function=name):
                    widths = {width for line, width in found if first <= line <= last}
                    self.assertIn(WIDTH, widths, f"lines {first} to {last}")


if __name__ == "__main__":
    ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])

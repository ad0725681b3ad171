#!/usr/bin/env python3
"""clang-tidy on our sources, cached by content: what was clean and has not changed is not looked at again.

usage: scripts/tidy.py [--changed BASE] [--within SECONDS] [FILE...]

Looks at FILEs, else at every .cc file of ours that build/release compiles; --changed: at those that differ from the commit BASE,
or include a header that does. --within: starts no file after so long, and prints a line "LEFT OUT" about those that were
left; the exit code does not tell. Files of ours that build/release does not compile are named as "not looked at". A file's entry
in build/lint-cache is the hash of its text, of all headers of ours that it includes, of its compile command, of each .clang-tidy
from its folder upwards and of clang-tidy's version. Exit code 1: findings. 4: clang-tidy or a configured build/release is missing.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
CACHE = ROOT / "build/lint-cache"
OURS = ("common/", "ring/", "paramserver/", "models/", "experiments/", "benchmarks/", "tests/")
# Version 16 crashes on some of our files and misjudges checked std::optional.
PROGRAMS = ("clang-tidy-19", "clang-tidy")
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-unknown-pragmas", "--extra-arg=-Wno-deprecated-declarations"]
# clang rejects libtorch's headers where std::vector is constexpr (C++20 with the library of GCC 12): they have vectors of a type
# that they define later. GCC accepts them.
TORCH = "torch/csrc/api/include"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@functools.cache
def text_of(path):
    return path.read_bytes()


@functools.cache
def included(path):
    """The files of ours that a file includes itself."""
    found = []
    for header in INCLUDE.findall(text_of(path).decode(errors="replace")):
        # As the build's include directories have them: the tree below "ringside/", what is made while building, tests/.
        for place in (ROOT / header.removeprefix("ringside/"), BUILD / "generated" / header, path.parent / header):
            if place.is_file():
                found.append(place)
                break
    return found


def closure(path):
    """The file and all that it includes of ours, in a fixed order."""
    seen, open_ends = {path}, [path]
    while open_ends:
        for header in included(open_ends.pop()):
            if header not in seen:
                seen.add(header)
                open_ends.append(header)
    return sorted(seen)


def settings(path):
    """Each .clang-tidy from the folder of the file up to the top: a nearer one may inherit from the next."""
    folders = [folder for folder in path.parents if folder.is_relative_to(ROOT)]
    return [place for folder in folders if (place := folder / ".clang-tidy").is_file()]


def key(path, command, version):
    digest = hashlib.sha256(version + command.encode())
    for place in settings(path):
        digest.update(str(place.relative_to(ROOT)).encode() + b"\0" + hashlib.sha256(text_of(place)).digest())
    for part in closure(path):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + hashlib.sha256(text_of(part)).digest())
    return digest.hexdigest()


def as_text(command):
    """The command with the header that GCC has precompiled as text: clang reads no .gch, which lies beside the original."""
    def copy(match):
        original = pathlib.Path(match.group(1))
        if not original.is_absolute():
            original = BUILD / original
        text = text_of(original)
        there = CACHE / f"precompiled-{hashlib.sha256(text).hexdigest()[:16]}.h"
        there.write_bytes(text)
        return f"-include {there}"
    return re.sub(r"-include (\S+/cmake_pch\.hxx)", copy, command.replace("-Winvalid-pch ", ""))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--changed", metavar="BASE")
    parser.add_argument("--within", type=float, default=float("inf"))
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()

    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    database = BUILD / "compile_commands.json"
    if not program or not database.exists():
        print("lint: needs clang-tidy (scripts/install-dependencies.sh --tests) and a configured build/release", file=sys.stderr)
        return 4
    CACHE.mkdir(parents=True, exist_ok=True)
    commands, entries = {}, []
    for entry in json.loads(database.read_text()):
        path = pathlib.Path(os.path.normpath(entry["file"]))
        if path.is_relative_to(ROOT) and str(path.relative_to(ROOT)).startswith(OURS):
            commands[path] = as_text(entry["command"])
            entries.append({**entry, "command": commands[path]})
    (CACHE / "compile_commands.json").write_text(json.dumps(entries))

    torch = sorted(path for path in commands if TORCH in commands[path])
    files = [path for path in sorted(commands) if path not in torch]
    others = sorted(path for folder in OURS for path in (ROOT / folder).rglob("*.cc") if path not in commands)
    if args.files:
        files = [pathlib.Path(name).resolve() for name in args.files]
        for path in files:
            if path not in commands:
                print(f"lint: build/release does not compile {path}", file=sys.stderr)
                return 4
        others = []
    if args.changed:
        names = run("git", "diff", "--name-only", "--diff-filter=d", args.changed, "--").split()
        names += run("git", "ls-files", "--others", "--exclude-standard").split()
        changed = {ROOT / name for name in names}
        # A changed .clang-tidy concerns every file that it is read for.
        files, others = ([path for path in paths if changed.intersection(closure(path) + settings(path))]
                         for paths in (files, others))

    if others:
        print("lint: not looked at, since build/release does not compile them: " +
              " ".join(str(path.relative_to(ROOT)) for path in others))
    version = run(program, "--version").encode()
    waiting = [(path, CACHE / key(path, commands[path], version)) for path in files]
    known = sum(entry.exists() for _, entry in waiting)
    waiting = [(path, entry) for path, entry in waiting if not entry.exists()]
    start = time.monotonic()

    def look(path, entry):
        if time.monotonic() - start > args.within:
            return path, None, ""
        done = subprocess.run([program, "-p", CACHE, "--quiet", *EXTRA, path], cwd=ROOT,
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            entry.touch()
        return path, done.returncode, done.stdout or done.stderr

    if torch:
        print(f"lint: {len(torch)} files that include libtorch are not looked at: clang rejects its headers")
    dirty, left = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, code, output in pool.map(lambda job: look(*job), waiting):
            if code is None:
                left.append(str(path.relative_to(ROOT)))
            if code:
                dirty += 1
                print(f"== {path.relative_to(ROOT)}\n{output}", flush=True)
    print(f"lint: clang-tidy looked at {len(waiting) - len(left)} files in {time.monotonic() - start:.0f} s, {dirty} with findings; "
          f"{known} unchanged since they were clean")
    if left:
        names = " ".join(left[:10]) + (" ..." if len(left) > 10 else "")
        print(f"LEFT OUT: clang-tidy did not look at {len(left)} files, because {args.within:.0f} s were over; scripts/lint.sh "
              f"looks at all: {names}")
    return 1 if dirty else 0


sys.exit(main())

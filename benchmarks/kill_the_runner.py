#!/usr/bin/env python3
"""Kills `ringside matrix` at random moments, resumes it each time, and checks that no run is lost, doubled or half-written.

A small matrix of emulated models runs again and again in its own directory. Only the runner is killed (SIGKILL); its workers and
servers must end within 5 s. After every kill, each summary.json must be complete, bundles that were finished before must be
unchanged, and SQLite's integrity check must pass. At the end the matrix is resumed without a kill. Every run that it plans must
then have one finished bundle with all its steps, one row in the index and one line in the journal.

usage: benchmarks/kill_the_runner.py [--build build/release] [--kills 200] [--seed 1] [--json FILE] [--keep]
Exit codes: 0 all checks passed, 5 a check failed (`broken` of the result says which), 1 the test could not run.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

# A variable in the environment of all processes that the runner starts. It identifies those that are left behind.
MARK = "RINGSIDE_KILL_MARK"
GONE_WITHIN_S = 5.0
SPEC = """name: killed
defaults: {model: 'profile:mobilenet-v2', steps: 3, compute-ms: 1, batch-per-worker: 4}
axes:
  strategy: [none, ring, ps-sync]
  workers: [1, 2]
repetitions: REPETITIONS
"""


class Broken(Exception):
    pass


def left_behind(mark):
    """The pids of living processes that have the mark."""
    pids = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if f"{MARK}={mark}".encode() not in (entry / "environ").read_bytes().split(b"\0"):
                continue
            if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                pids.append(int(entry.name))
        except OSError:
            continue  # it has just ended, or belongs to another user
    return pids


def digest(bundle):
    """The hash of all files of a bundle."""
    total = hashlib.sha256()
    for path in sorted(bundle.rglob("*")):
        if path.is_file():
            total.update(str(path.relative_to(bundle)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


class Study:
    """One matrix in one directory, from its first start to its end."""

    def __init__(self, scratch, number, ringside, repetitions):
        self.directory = scratch / f"study-{number}"
        self.directory.mkdir()
        (self.directory / "spec.yaml").write_text(SPEC.replace("REPETITIONS", str(repetitions)))
        self.results = self.directory / "results" / "killed"
        self.ringside = ringside
        self.mark = f"{os.getpid()}-{number}"
        self.finished = {}  # run id -> digest of its bundle

    def start(self):
        return subprocess.Popen(
            [self.ringside, "matrix", "spec.yaml", "--resume", "--quiet"], cwd=self.directory,
            env={**os.environ, MARK: self.mark}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

    def kill_after(self, seconds):
        """Kills the runner. Returns whether it was still running."""
        runner = self.start()
        try:
            _, errors = runner.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            runner.send_signal(signal.SIGKILL)
            runner.communicate()
            self.expect_nobody()
            return True
        if runner.returncode != 0:
            raise Broken(f"the matrix ended with exit code {runner.returncode}: {errors}")
        return False

    def expect_nobody(self):
        deadline = time.monotonic() + GONE_WITHIN_S
        while pids := left_behind(self.mark):
            if time.monotonic() > deadline:
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
                raise Broken(f"processes outlived the runner: {pids}")
            time.sleep(0.02)

    def check(self):
        """Checks what must hold at any time. Returns the number of unfinished runs."""
        unfinished = 0
        for bundle in sorted(self.results.iterdir()) if self.results.is_dir() else []:
            if not bundle.is_dir():
                continue
            if not (bundle / "summary.json").exists():
                unfinished += 1
                continue
            summary = json.loads((bundle / "summary.json").read_text())
            if summary["status"] != "done" or summary["run_id"] != bundle.name:
                raise Broken(f"{bundle}: status {summary['status']}: {summary['error']}")
            now = digest(bundle)
            if self.finished.setdefault(bundle.name, now) != now:
                raise Broken(f"{bundle}: a finished run was touched again")
        gone = [run for run in self.finished if not (self.results / run / "summary.json").exists()]
        if gone:
            raise Broken(f"finished runs are lost: {gone}")
        self.check_index()
        return unfinished

    def check_index(self):
        file = self.results / "index.sqlite"
        if not file.exists():
            return []
        with sqlite3.connect(file) as database:
            answer = database.execute("PRAGMA integrity_check").fetchone()[0]
            if answer != "ok":
                raise Broken(f"{file}: {answer}")
            tables = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'runs'").fetchone()[0]
            return database.execute("SELECT path FROM runs").fetchall() if tables else []

    def finish(self):
        """Resumes the matrix to the end. Returns the number of runs."""
        runner = self.start()
        _, errors = runner.communicate(timeout=600)
        if runner.returncode != 0:
            raise Broken(f"the last resume ended with exit code {runner.returncode}: {errors}")
        self.expect_nobody()
        if self.check() != 0:
            raise Broken("unfinished bundles after the last resume")
        plan = json.loads(subprocess.run([self.ringside, "matrix", "spec.yaml", "--resume", "--dry-run", "--json"],
                                         cwd=self.directory, check=True, capture_output=True, text=True).stdout)
        self.check()  # --dry-run must change nothing
        planned = sorted(run["run_id"] for run in plan["runs"])
        if planned != sorted(self.finished):
            raise Broken(f"{len(planned)} runs are planned, {len(self.finished)} are finished")
        indexed = sorted(path for (path,) in self.check_index())
        if indexed != planned:
            raise Broken(f"the index has {len(indexed)} rows for {len(planned)} runs")
        lines = [json.loads(line)["run_id"] for line in (self.results / "journal.jsonl").read_text().splitlines()]
        if sorted(lines) != planned:
            raise Broken(f"the journal has {len(lines)} lines for {len(planned)} runs")
        for run in planned:
            self.check_steps(self.results / run)
        return len(planned)

    def check_steps(self, bundle):
        spec = json.loads((bundle / "spec.json").read_text())
        for rank in range(spec["workers"]):
            name = "metrics.jsonl" if rank == 0 else f"metrics-rank-{rank}.jsonl"
            lines = [json.loads(line) for line in (bundle / name).read_text().splitlines()]
            steps = [line["step"] for line in lines if line["kind"] == "step"]
            if steps != list(range(spec["steps"])):
                raise Broken(f"{bundle / name}: holds the steps {steps} of {spec['steps']}")


def kill_repeatedly(arguments, scratch, log, result):
    """Runs as many studies as it takes until there were enough kills. Counts into `result`."""
    ringside = (arguments.build / "bin" / "ringside").resolve()
    chance = random.Random(arguments.seed)
    # A study rarely ends before its kills, because a start finishes only one or two runs.
    repetitions = max(1, min(arguments.kills, 40) // 8)
    while result["kills"] < arguments.kills:
        study = Study(scratch, result["studies"], ringside, repetitions)
        alive = True
        while alive and result["kills"] < arguments.kills:
            alive = study.kill_after(chance.uniform(0.0, arguments.longest))
            unfinished = study.check()
            result["kills" if alive else "too_late"] += 1
            result["unfinished_after"] += unfinished > 0 if alive else 0
            if alive and result["kills"] % 20 == 0:
                log(f"{result['kills']} kills, after {result['unfinished_after']} of them a run was unfinished")
        result["runs"] += study.finish()
        result["studies"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moments (default: 1)")
    parser.add_argument("--longest", type=float, default=1.5, metavar="SECONDS",
                        help="the most seconds from a start to a kill (default: 1.5)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the result to FILE")
    parser.add_argument("--keep", action="store_true", help="keep the studies and print their directory")
    arguments = parser.parse_args()
    if arguments.kills < 1 or arguments.longest <= 0:
        parser.error("--kills and --longest must be above 0")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ringside-kills-"))
    log = lambda line: print(line, file=sys.stderr, flush=True)
    begin = time.monotonic()
    result = {"schema": "ringside.kills/1", "seed": arguments.seed, "kills": 0, "studies": 0, "runs": 0,
              "unfinished_after": 0, "too_late": 0, "broken": None}
    try:
        kill_repeatedly(arguments, scratch, log, result)
    except Broken as broken:
        result["broken"] = f"{broken}; kept: {scratch}"
    result["seconds"] = round(time.monotonic() - begin, 1)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    if result["broken"]:
        print(f"kill_the_runner: {result['broken']}", file=sys.stderr)
        return 5
    print(f"{result['kills']} kills of the runner (after {result['unfinished_after']} a run was unfinished), {result['runs']} runs in {result['studies']} "
          "studies: none lost, doubled or half-written, the index is whole, no process left")
    if arguments.keep:
        log(f"kept: {scratch}")
    else:
        subprocess.run(["rm", "-rf", str(scratch)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

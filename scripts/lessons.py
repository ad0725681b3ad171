#!/usr/bin/env python3
"""Runs the lessons again and again, and says how often the right prediction was within the tolerance.

usage: lessons.py [--repeat N] [--quick] [--only 1,3] [--json FILE] [--out DIR] [RINGSIDE]
  --repeat  runs of each lesson, interleaved (default: 1)
  --quick   quick runs
  --only    these lessons
  --json    writes all answers there, with the figures of the last run of each; scripts/lesson_pages.py makes the pages from it.
            With --only, the answers of other lessons stay as they are in the file
  --out     directory of the bundles (default: results/lessons)
RINGSIDE is the executable (default: build/release/bin/ringside). Exit code: 0 every run held, 1 one did not.

A run held if the prediction of theory was within the tolerance and every claim of the lesson was shown. The file also has the load of
the machine (of one minute) before and after each run.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What somebody predicts who knows the formula of the lesson.
THEORY = {1: 2, 2: 1.75, 3: 3, 4: 3, 5: 315, 6: 1.75, 7: 3, 8: 0, 9: 3.64, 10: 4.75}
TEXTS = {"explanation", "mistake", "page", "quantity", "question"}
TABLES = {"commands", "figures", "runs"}


def parse():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("ringside", nargs="?", default=ROOT / "build/release/bin/ringside", type=pathlib.Path)
    parser.add_argument("--repeat", default=1, type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--out", default=pathlib.Path("results/lessons"), type=pathlib.Path)
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__.strip())
        sys.exit(0)
    return arguments


def run(arguments, number):
    command = [str(arguments.ringside), "lesson", str(number), "--predict", str(THEORY[number]), "--json", "--quiet",
               "--out", str(arguments.out / str(number))] + (["--quick"] if arguments.quick else [])
    load_before = os.getloadavg()[0]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 5):
        limited = "; ".join(json.loads(done.stdout)["limited"]) if done.stdout.startswith("{") else ""
        return {"lesson": number, "error": f"exit code {done.returncode}: {limited}{done.stderr.strip()}"}
    answer = json.loads(done.stdout)
    answer["exit_code"] = done.returncode
    answer["load"] = [round(load, 1) for load in (load_before, os.getloadavg()[0])]
    return answer


def held(answer):
    return answer.get("exit_code") == 0 and all(check["held"] for check in answer["checks"])


def tell(answer, repetition):
    name = f"{answer['lesson']:>2} run {repetition + 1}"
    if "error" in answer:
        print(f"{name}: {answer['error']}", flush=True)
        return
    failed = "".join(f"; not shown: {check['claim']}" for check in answer["checks"] if not check["held"])
    print(f"{name}: {answer['answer']['value']:.4g} {answer['unit']}, predicted {answer['prediction']:g}, "
          f"{'held' if held(answer) else 'NOT HELD'}, {answer['seconds']:.0f} s{failed}", flush=True)


def tree_of(executable):
    version = subprocess.run([str(executable), "--version"], capture_output=True, text=True).stdout
    return version.split("git ")[1].split(",")[0]


def tidied(answer, out, whole):
    """Without the texts, which `ringside lesson --json` has, and as if --out were the default. Unless whole, without the tables."""
    left_out = TEXTS if whole else TEXTS | TABLES
    kept = {key: value for key, value in answer.items() if key not in left_out}
    return json.loads(json.dumps(kept).replace(f"{out}/{answer['lesson']}/", f"results/lessons/{answer['lesson']}/"))


def write(arguments, answers):
    lessons = {number: {"lesson": number, "commit": tree_of(arguments.ringside), "cores": os.cpu_count(), "held": sum(map(held, runs)), "runs": [tidied(run, arguments.out, run is runs[-1]) for run in runs]}
               for number, runs in answers.items()}
    if arguments.only and arguments.json.exists():
        for earlier in json.loads(arguments.json.read_text())["lessons"]:
            lessons.setdefault(earlier["lesson"], earlier)
    arguments.json.write_text(json.dumps(
        {"quick": arguments.quick, "lessons": [lessons[number] for number in sorted(lessons)]}, indent=1) + "\n")


def main():
    arguments = parse()
    numbers = [int(word) for word in arguments.only.split(",")] if arguments.only else list(THEORY)
    answers = collections.defaultdict(list)
    for repetition in range(arguments.repeat):
        for number in numbers:
            answers[number].append(run(arguments, number))
            tell(answers[number][-1], repetition)
        if arguments.json:  # after each round, so that a long series can be cut short
            write(arguments, answers)
    for number in numbers:
        print(f"lesson {number}: held in {sum(map(held, answers[number]))} of {arguments.repeat} runs")
    return 0 if all(held(answer) for number in numbers for answer in answers[number]) else 1


if __name__ == "__main__":
    sys.exit(main())

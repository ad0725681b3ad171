#!/usr/bin/env python3
"""Runs jobs in which something goes wrong, and says what became of them.

usage: tests/faults/fault_suite.py [--build DIR] [--repeat N] [--others-repeat N] [--only NAME[,NAME..]] [--strategies NAME[,NAME..]]
                                   [--seed N] [--jobs N] [--slack S] [--long] [--markdown FILE] [--journal FILE] [--list]
  --strategies  names, or all (default: {strategies} by --repeat,
              and by --others-repeat {others})
  --repeat    jobs of each scenario and strategy (default: 1), at random moments
  --others-repeat  the same for the other strategies, without --strategies (default: 1); 0: leave them out
  --seed      of these moments (default: 1)
  --jobs      that run at the same time (default: 1)
  --slack     seconds by which bounds may be exceeded, for a busy machine (default: 0). Half of all jobs must keep them without
  --long      also faults that last for minutes, once each
  --markdown  writes the table there
  --journal   adds the result of each job to this file, and does not run jobs again whose results are there. So a long run may be
              interrupted. Results of another commit or with another --seed, --jobs or --slack are refused
Each job must find the right cause within its bound, leave nothing behind, and, where it goes on, count each gradient once.
Exit code: 0 all did, 1 one did not, 2 usage, 130 Ctrl-C.
"""
import argparse
import concurrent.futures
import pathlib
import random
import sys
import tempfile
import threading
import traceback

from suite import leaks
from suite.all_scenarios import SCENARIOS
from suite.commit import commit
from suite.job import MARK
from suite.journal import Journal, JournalError
from suite.judge import Result, run_once
from suite.medians import late_medians
from suite.scenarios import ALL_STRATEGIES, OTHERS, STRATEGIES, no_strategy
from suite.table import markdown
from suite.turns import Turns

ROOT = pathlib.Path(__file__).resolve().parents[2]


def refuse(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def chosen(names, all_names, what):
    wanted = names.split(",") if names else list(all_names)
    unknown = [name for name in wanted if name not in all_names]
    if unknown:
        refuse(f"unknown {what} {', '.join(unknown)}; there are {', '.join(all_names)}")
    return wanted


def cells_of(scenarios, strategies):
    return [(scenario, strategy) for scenario in scenarios for strategy in strategies if scenario.strategies(strategy)]


def repetitions(scenario, strategy, arguments):
    if scenario.long:
        return 1
    return arguments.others_repeat if strategy in OTHERS and not arguments.strategies else arguments.repeat


def jobs_of(cells, arguments):
    """Scenario, strategy and repetition. The first of all comes before the second of any, so that an interrupted run has all."""
    jobs = [(scenario, strategy, repetition) for scenario, strategy in cells
            for repetition in range(repetitions(scenario, strategy, arguments))]
    return sorted(jobs, key=lambda job: job[2])


def open_journal(arguments):
    if arguments.journal is None:
        return None
    try:
        return Journal(arguments.journal, {"commit": commit(), "seed": arguments.seed, "jobs": arguments.jobs, "slack": arguments.slack})
    except (JournalError, OSError) as error:
        refuse(str(error))


def parse():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", default=ROOT / "build" / "release", type=pathlib.Path)
    parser.add_argument("--repeat", default=1, type=int)
    parser.add_argument("--others-repeat", default=1, type=int)
    parser.add_argument("--only")
    parser.add_argument("--strategies")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--jobs", default=1, type=int)
    parser.add_argument("--slack", default=0, type=float)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--journal", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__.strip().format(strategies=", ".join(STRATEGIES), others=", ".join(OTHERS)))
        sys.exit(0)
    if not arguments.list and not (arguments.build / "bin" / "fault_program").exists():
        refuse(f"{arguments.build}/bin/fault_program is missing: build the tests first")
    return arguments


def main():
    arguments = parse()
    names = chosen(arguments.only, [scenario.name for scenario in SCENARIOS], "scenario")
    by_default = ALL_STRATEGIES if arguments.others_repeat else STRATEGIES
    asked_for = {None: ",".join(by_default), "all": ",".join(ALL_STRATEGIES)}.get(arguments.strategies, arguments.strategies)
    strategies = chosen(asked_for, ALL_STRATEGIES, "strategy")
    wanted = [scenario for scenario in SCENARIOS if scenario.name in names and (arguments.long or not scenario.long)]
    if not wanted:
        refuse(f"{', '.join(names)} last for minutes: give --long")
    if arguments.list:
        for scenario, strategy in cells_of(wanted, strategies):
            print(scenario.name, strategy)
        return 0
    left_out = {}  # why, by scenario or strategy
    for strategy in strategies:
        if why_not := no_strategy(strategy):
            print(f"LEFT OUT {strategy}: {why_not}")
            left_out[strategy] = f"{strategy}: {why_not}"
    for scenario in wanted:
        if scenario.why_not and (why_not := scenario.why_not()):
            print(f"LEFT OUT {scenario.name}: {why_not}")
            left_out[scenario.name] = f"{scenario.what}: {why_not}"
    cells = cells_of([scenario for scenario in wanted if scenario.name not in left_out],
                     [strategy for strategy in strategies if strategy not in left_out])
    # Of other jobs at the same time nothing can be told apart that has lost its process.
    alone = arguments.jobs == 1

    def on_this_machine():
        return leaks.in_use(MARK)

    journal = open_journal(arguments)
    before = on_this_machine()
    turns = Turns()
    interrupted = threading.Event()  # jobs that have not ended get the same Ctrl-C, so that their results say nothing

    def run(scenario, strategy, repetition):
        recorded = Result(scenario, strategy)
        if journal and journal.fill(recorded, repetition):
            return recorded
        moment = random.Random(f"{arguments.seed} {scenario.name} {strategy} {repetition}")
        before_it = on_this_machine() if alone else None
        with turns.take(scenario), tempfile.TemporaryDirectory(prefix="ringside-faults-") as directory:
            try:
                result = run_once(arguments.build.resolve(), directory, scenario, strategy, moment, arguments.slack, repetition)
            except Exception as error:  # of the suite itself: the other jobs must count all the same
                traceback.print_exc()
                result = Result(scenario, strategy, problems=[f"the suite failed: {error!r}"])
        if alone:
            result.problems += leaks.left(on_this_machine, before_it)
        print(f"{scenario.name} {strategy} {repetition}: {result.text()}\n", end="", flush=True)  # one write: others print, too
        if journal and not interrupted.is_set():
            journal.add(result, repetition)
        return result

    if journal:
        journal.begin()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        started = [pool.submit(run, *job) for job in jobs_of(cells, arguments)]
        try:
            results = [one.result() for one in started]
        except KeyboardInterrupt:
            interrupted.set()
            pool.shutdown(wait=False, cancel_futures=True)
            print("interrupted: the jobs that run now end first")
    left = leaks.left(on_this_machine, before)
    if journal:
        journal.end(left)
        left = journal.left()
    if interrupted.is_set():
        return 130
    late = late_medians(results, arguments.slack)
    for text in [*left, *late]:
        print(f"WRONG: {text}")
    if arguments.markdown:
        arguments.markdown.write_text(markdown(results, arguments, left_out.values(), left))
    wrong = [result for result in results if result.problems]
    if not results:
        print("nothing could be tried")
        return 1
    print(f"{len(results) - len(wrong)} of {len(results)} jobs did what they must")
    return 1 if wrong or left or late else 0


if __name__ == "__main__":
    sys.exit(main())

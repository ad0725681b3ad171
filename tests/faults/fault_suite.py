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
  --long      also faults that last for minutes, once each. With --jobs above 1, half as many of them run beside the other jobs
  --markdown  writes the table there
  --journal   adds the result of each job to this file, and does not run jobs again whose results are there. So a long run may be
              interrupted. Results of another commit, program, --seed, --jobs or --slack are refused
Each job must find the right cause within its bound, leave nothing behind, and, where it goes on, count each gradient once.
Exit code: 0 all did, 1 one did not, 2 usage, 130 Ctrl-C.
"""
import argparse
import contextlib
import hashlib
import pathlib
import random
import sys

from suite import leaks
from suite.all_scenarios import SCENARIOS
from suite.commit import commit
from suite.journal import Journal, JournalError
from suite.medians import late_medians
from suite.runner import Runner, on_this_machine
from suite.scenarios import ALL_STRATEGIES, OTHERS, STRATEGIES, no_strategy
from suite.table import markdown

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
    """Scenario, strategy and repetition. The first of all comes before the second of any, so that an interrupted run has all.

    Between these the order is random. Jobs of one scenario need the processor in the same way: some all the time, some hardly ever. One
    after the other they would crowd the machine for a while, and then leave it idle.
    """
    jobs = [(scenario, strategy, repetition) for scenario, strategy in cells
            for repetition in range(repetitions(scenario, strategy, arguments))]
    random.Random(arguments.seed).shuffle(jobs)
    return sorted(jobs, key=lambda job: job[2])


def in_order_of(cells, results):
    places = {(scenario.name, strategy): place for place, (scenario, strategy) in enumerate(cells)}
    return sorted(results, key=lambda result: places[result.scenario.name, result.strategy])


def open_journal(arguments):
    if arguments.journal is None:
        return None
    program = hashlib.sha256((arguments.build / "bin" / "fault_program").read_bytes()).hexdigest()
    made_with = {"commit": commit(), "program": program[:16], "seed": arguments.seed, "jobs": arguments.jobs, "slack": arguments.slack}
    try:
        return Journal(arguments.journal, made_with)
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


def run(jobs, arguments):
    """The results, None after a Ctrl-C, and what is left on the machine."""
    journal = open_journal(arguments)
    before = on_this_machine()
    if journal is None:
        return Runner(arguments, None).run(jobs), leaks.left(on_this_machine, before)
    with contextlib.closing(journal):
        for text in journal.left():
            print(f"WRONG in an earlier call: {text}")
        journal.begin()
        results = Runner(arguments, journal).run(jobs)
        journal.end(leaks.left(on_this_machine, before))
        return results, journal.left()


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
    results, left = run(jobs_of(cells, arguments), arguments)
    if results is None:
        return 130
    results = in_order_of(cells, results)
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

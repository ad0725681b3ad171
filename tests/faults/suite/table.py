"""The page of what was seen."""
import datetime
import re

from suite import left_out
from suite.all_scenarios import SCENARIOS
from suite.commit import commit
from suite.elsewhere import ELSEWHERE
from suite.lost_worker import APPLIED, NOT_APPLIED
from suite.scenarios import ALL_STRATEGIES, LEASE_BOUND_S, LEASE_S, OTHERS

LONGEST_PROBLEM = 300  # characters
NOTHING_LEFT = ("Nothing was left on the machine when all jobs had ended: no process, temporary file, network namespace or shared "
                "memory.")
COLUMNS = ("| fault | strategy | survived | found | blamed | p50 (s) | p99 (s) | max (s) | bound (s) |",
           "|---|---|---|---|---|---|---|---|---|")
OTHERS_HEAD = "## The other strategies"
PUSHES = ("Where the servers go on without a worker, they may have had its last push or not. In {all} jobs this push had no answer. The "
          "final parameters say that it had been applied in {applied} of them, and not in {not_applied}.")

HEAD = """# Faults

Something goes wrong in a job: a process is killed or stopped, a connection breaks, messages are lost. This page says what
was seen. A job survives if it names the right cause and the right member within the bound, leaves no process, temporary
file, network namespace and shared memory behind, and, where its processes start again, counts every gradient exactly once.
A killed launcher may leave a temporary file of a checkpoint in the directory of the run, which the next run there removes. Files of
jobs, such as sockets, are looked for when all jobs have ended.

`{command}` made this page
on {date}, at commit `{commit}`. The faults come at random moments. About half of the jobs have a bucket for each tensor, the others
have larger ones. "Found" is what the launcher blames, and the times are
from the fault until it decides that. They are up to a tenth of a second too short, because the launcher counts from its
own start. Of fewer than 100 jobs, p99 is the maximum. For a job that ends early (a killed launcher, SIGTERM), they are the
time until the last process has ended. For the token of another job they are from the start. For strangers they are the time until
the last one has lost its connection. Where memory runs out, they are from when the kernel has killed the process. Where a checkpoint is
damaged, the launcher is stopped meanwhile, and they are from when it goes on. A full disk leaves no room for the launcher's summary: there
"no space left" means that its error named the file and the cause. The call that meets the full disk fails at once. The time is until the job
ended, which its bound allows a second for.

A process that is stopped counts as lost when its lease of {lease} s is over. The launcher looks at the leases again and again, so the bound
is {lease_bound} s: the lease, and {look} s for a look at it.{slack}

Under `--on-failure shrink`, the servers of `ps-async`, `ps-ssp` and `ps-backup` go on without the lost worker. Then every gradient of the
other workers counts exactly once, and those of the lost worker count exactly once up to a step, and not at all after it. Under the other
strategies all processes start again, with one worker less, and every gradient counts exactly once. They may do so under `ps-ssp` and
`ps-backup`, too, where nothing from or to a worker arrives any more: there the others wait for this worker as long as it waits itself.

Under `hierarchical` (here with two hosts of two workers), only the two ends of a silent connection see that it is silent.
Neither can tell which of them is cut off, so either may be blamed. Where one connection breaks, or loses a message, either of its
ends may be blamed under every strategy.

All members run on one host. A proxy between the processes makes the faults of connections
([tests/faults](../tests/faults/README.md)). Which test covers which fault is there, too.
"""


def quantile(values, share):
    """The smallest value that is at least as large as this share of all."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def row(scenario, strategy, results):
    survived = sum(not result.problems for result in results)
    kinds = sorted({result.kind for result in results if result.kind})
    culprits = sorted({result.culprit for result in results if result.culprit})
    seconds = [result.seconds for result in results if result.seconds is not None]
    times = [f"{quantile(seconds, share):.2f}" for share in (50, 99, 100)] if seconds else ["–"] * 3
    bound = f"{scenario.bound_s}" if scenario.bound_s else "–"
    return (f"| {scenario.what} | {strategy} | {survived}/{len(results)} | {', '.join(kinds) or '–'} | "
            f"{', '.join(culprits) or '–'} | {' | '.join(times)} | {bound} |")


def rows_of(results):
    """In the order of the scenarios."""
    lines = []
    for scenario in SCENARIOS:
        for strategy in dict.fromkeys(result.strategy for result in results if result.scenario is scenario):
            lines.append(row(scenario, strategy, [result for result in results
                                                  if result.scenario is scenario and result.strategy == strategy]))
    return lines


def second_table(results, repeat):
    """What the strategies do that the first table does not have."""
    if not results:
        return []
    times = "once" if repeat == 1 else f"{repeat} times"
    return ["", OTHERS_HEAD, "",
            f"Each fault was tried {times} under each of them. Under `none` and `diloco` the parameters do not say what counted: there a job "
            "survives if cause, member and time are right and nothing is left.", "", *COLUMNS, *rows_of(results)]


def pushes_of(results):
    """How many pushes without an answer had been applied."""
    fates = [result.push for result in results if result.push]
    return ["", PUSHES.format(all=len(fates), applied=fates.count(APPLIED), not_applied=fates.count(NOT_APPLIED))] if fates else []


def problems_of(results):
    """What those jobs did that did not survive, without the names of temporary directories."""
    lines = []
    for result in results:
        for problem in result.problems:
            text = re.sub(r"\S*/ringside-faults-\w+", "", " ".join(problem.split()))
            lines.append(f"- {result.scenario.what}, {result.strategy}: {text[:LONGEST_PROBLEM]}{'…' * (len(text) > LONGEST_PROBLEM)}")
    return ["", "Jobs that did not survive:", "", *lines] if lines else []


def not_tried(results):
    """Rows of faults that this run did not try."""
    tried = {result.scenario.name for result in results}
    return [*ELSEWHERE, *((scenario.what, "this suite, with `--long` alone") for scenario in SCENARIOS
                          if scenario.long and scenario.name not in tried)]


def command_of(arguments):
    words = ["tests/faults/fault_suite.py"]
    for name in ("only", "strategies"):
        if getattr(arguments, name):
            words.append(f"--{name} {getattr(arguments, name)}")
    words.append(f"--repeat {arguments.repeat}")
    if arguments.others_repeat != 1:
        words.append(f"--others-repeat {arguments.others_repeat}")
    words.append(f"--jobs {arguments.jobs} --seed {arguments.seed}")
    if arguments.slack:
        words.append(f"--slack {arguments.slack:g}")
    return " ".join([*words, *(["--long"] if arguments.long else []), "--markdown docs/faults.md"])


def head(arguments):
    slack = f" This run allowed {arguments.slack:g} s more than each bound of the table." if arguments.slack else ""
    return HEAD.format(command=command_of(arguments), commit=commit(), lease=LEASE_S, lease_bound=LEASE_BOUND_S, slack=slack,
                       look=LEASE_BOUND_S - LEASE_S, date=datetime.datetime.now(datetime.timezone.utc).date())


def what_is_left(left):
    """What all jobs together have left on the machine."""
    return ["", "Left on the machine:", "", *(f"- {text}" for text in left)] if left else ["", NOTHING_LEFT]


def strategies_left_out(results, arguments):
    tried = {result.strategy for result in results}
    return left_out.rows(tried, ALL_STRATEGIES, left_out.strategies_of(arguments.build / "bin" / "fault_program"))


def markdown(results, arguments, not_here, left):
    """Results of `--strategies` are in one table, whatever the strategies. `not_here`: what this machine cannot try. `left`: what the machine has now and did not have before."""
    of_others = [result for result in results if result.strategy in OTHERS and not arguments.strategies]
    lines = [head(arguments), *COLUMNS, *rows_of([result for result in results if arguments.strategies or result.strategy not in OTHERS])]
    lines += second_table(of_others, arguments.others_repeat)
    lines += pushes_of(results)
    lines += problems_of(results)
    lines += what_is_left(left)
    lines += ["", "Not tried on this machine:", "", *(f"- {text}" for text in not_here)] if not_here else []
    lines += ["", "## Not tried by this suite", "", "| fault | where it is tried, or why it cannot be tried here |", "|---|---|"]
    lines += [f"| {what} | {where} |" for what, where in not_tried(results)]
    lines += ["", "## Strategies that this page does not try, or not as they are", "",
              "| strategy | why | what tries it |", "|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in strategies_left_out(results, arguments)]
    return "\n".join(lines) + "\n"

"""Jobs under `--on-failure shrink`: whether a job went on without its lost worker, and whose gradients counted.

Some servers go on with the workers that are left. Under the other strategies all processes start again from a checkpoint, with one
worker less. The global batch stays, so each gradient counts once there.
"""
import re
import time

from suite.job import STEPS, parameters
from suite.samples import SAMPLES, STEPS_OF_EPOCH, indices

TENSORS = 3
LOST = 1  # the worker's number
# What became of a push without an answer.
APPLIED, NOT_APPLIED = "applied", "not applied"
GOES_ON = "the run goes on with"
# The servers of these go on. Each divides what is in the parameters by its number to get whole numbers.
SERVERS_GO_ON = ("ps-async", "ps-ssp", "ps-backup")
# Their other workers wait for the one that says nothing, as long as it waits itself. Whichever of them gives up first decides
# whether the servers go on or all processes start again.
OTHERS_WAIT = ("ps-ssp", "ps-backup")
# What `lost_workers` says of a kind of failure.
REASONS = {
    "out of memory": "because memory ran out",  # which is by a signal
    "signal": "was killed by signal",
    "early exit": "exited with code 0",
    "lost": "is lost: no heartbeat",
    "comm": "is cut off",
}
# How many steps of the lost worker may have counted, if it was lost in a phase of step S: S more than these. Before the first push of
# a step it has awaited all answers to the step before.
COUNTED = {"step.begins": (-1, 0), "bucket.awaited": (-1, 0), "bucket.ready": (0, 0), "bucket.submitted": (0, 1)}


def goes_on(scenario, strategy):
    return scenario.on_failure == "shrink" and strategy in SERVERS_GO_ON


def may_start_again(scenario, strategy):
    return strategy in OTHERS_WAIT and scenario.kinds == ("comm",)


def when_it_went_on(job, limit_s):
    """When the launcher says that the job goes on without a worker, by time.time(); None: it did not say so."""
    end = time.monotonic() + limit_s
    while GOES_ON not in job.log.read_text(errors="replace"):
        if job.finish(0.01) is not None or time.monotonic() > end:
            return time.time() if GOES_ON in job.log.read_text(errors="replace") else None
    return time.time()


def kind_of(reason):
    return next((kind for kind, text in REASONS.items() if text in reason), "")


def judge_lost(result, job, went_on, struck, slack_s):
    """The summary of a job that went on: it has lost worker 1 alone, for the right reason and in time, and nothing started again."""
    scenario, summary = result.scenario, job.summary()
    lost = summary.get("lost_workers") or []
    if [one["worker"] for one in lost] != [LOST]:
        result.problems.append(f"lost_workers is {lost}: {job.text()}")
    else:
        result.kind, result.culprit = kind_of(lost[0]["reason"]), f"worker {lost[0]['worker']}"
        if result.kind not in scenario.kinds:
            result.problems.append(f"expected {' or '.join(scenario.kinds)}, found {lost[0]['reason']}")
    began = summary.get("restarts"), summary.get("failed_generations"), summary.get("workers")
    if began != (0, [], job.workers):
        result.problems.append(f"restarts, failed generations and workers are {began}: {job.text()}")
    if went_on is None:
        result.problems.append("the launcher did not say that the job goes on")
        return
    result.seconds = max(went_on - struck, 0)
    if result.seconds > scenario.bound_s + slack_s:
        result.problems.append(f"went on after {result.seconds:.2f} s, later than {scenario.bound_s} s")


def judge_fewer(result, job):
    """The summary of a job that started again: it has one worker less."""
    summary = job.summary()
    began = summary.get("restarts"), summary.get("lost_workers"), summary.get("workers")
    if began != (1, [], job.workers - 1):
        result.problems.append(f"restarts, lost workers and workers are {began}: {job.text()}")


def times_of(values, tensor, step, worker, workers, unit):
    """How often the gradients of a worker's samples of a step counted in a tensor, in parts of `unit`."""
    epoch = step // STEPS_OF_EPOCH
    return {int(-unit * values[tensor * SAMPLES + sample]) // 4**epoch % 4 for sample in indices(step, worker, workers)}


def steps_counted(values, tensor, workers, unit):
    """How many steps of the lost worker counted in a tensor: all of them once, and none of the later ones. None: it is not so."""
    times = [times_of(values, tensor, step, LOST, workers, unit) for step in range(STEPS)]
    counted = next((step for step, found in enumerate(times) if found != {unit}), STEPS)
    return counted if all(found == {0} for found in times[counted:]) else None


def miscounted_without(bundle, strategy, workers):
    """What counted wrongly in the final parameters of a job that went on without worker 1, and how many steps of that worker
    counted in each tensor.

    Digit e to the base 4 of an element is how often the gradient of one sample in epoch e was applied (`update_ledger.h`). The order
    of the samples says which worker had to train it, and in which step. Every gradient of another worker must have a 1. Those of
    worker 1 must have a 1 in all of its steps before one step, and a 0 from there on. This boundary may differ by one step from
    tensor to tensor, because a worker waits for the answers to a step before it pushes the next one.

    Under `ps-backup` the sum of two gradients is multiplied by 3/2. Twice the parameters are whole numbers: the digits of the
    others are 2 in steps in which worker 1 counted, and 3 later. Its own are 2, and 0 later.
    """
    values = parameters(bundle)
    if values is None:
        return ["there are no parameters"], []
    unit = 2 if strategy == "ps-backup" else 1
    boundaries = [steps_counted(values, tensor, workers, unit) for tensor in range(TENSORS)]
    wrong = [f"of worker {LOST}, gradients in tensor {tensor} counted more than once, or after it was lost"
             for tensor, boundary in enumerate(boundaries) if boundary is None]
    if wrong:
        return wrong, []
    if max(boundaries) - min(boundaries) > 1:
        wrong.append(f"of worker {LOST}, so many steps counted: {boundaries}")
    others = [worker for worker in range(workers) if worker != LOST]
    for tensor, boundary in enumerate(boundaries):
        for step in range(STEPS):
            expected = {3 if unit == 2 and step >= boundary else unit}
            for worker in others:
                if (found := times_of(values, tensor, step, worker, workers, unit)) != expected:
                    wrong.append(f"worker {worker}, step {step}, tensor {tensor}: counted {sorted(found)} in place of {expected}")
    most = 4 ** (STEPS // STEPS_OF_EPOCH)
    wrong += [f"an element is {value}" for value in values if not 0 <= -unit * value < most or (unit * value) % 1]
    return wrong, boundaries


def judge_count_without(result, job, plan):
    """Each gradient of the others counted once. Those of worker 1 counted once until it was lost."""
    wrong, boundaries = miscounted_without(job.bundle, result.strategy, job.workers)
    if wrong:
        result.problems.append(f"{len(wrong)} gradients or tensors are wrong; {wrong[0]}")
        return
    least, most = counted_by_plan(plan) if plan else (0, STEPS - 1)
    # While it is in step S its heartbeats say S + 1, and it has all answers to step S - 2. The last heartbeat may be older.
    lost = (job.summary().get("lost_workers") or [{"step": 0}])[0]
    least = max(least, lost["step"] - 2)
    result.push = fate_of_push(plan, boundaries)
    if not all(least <= boundary <= most for boundary in boundaries):
        result.problems.append(f"{boundaries} steps of worker {LOST} counted, which must be {least} to {most} ({plan})")


def counted_by_plan(plan):
    """The fewest and the most steps of worker 1 that may have counted."""
    step, phase = re.search(r":step(\d+):([a-z.]+)", plan).groups()
    return tuple(int(step) + more for more in COUNTED[phase])


def fate_of_push(plan, boundaries):
    """What became of the push that worker 1 had just submitted when the fault came; empty: it had not just submitted one.

    The first bucket has the first tensor, and the last one has the last tensor."""
    found = re.search(r":step(\d+):bucket\.submitted:bucket(\d+)", plan or "")
    if not found:
        return ""
    step, bucket = map(int, found.groups())
    return APPLIED if boundaries[-1 if bucket else 0] > step else NOT_APPLIED


def judge(result, job, plan, went_on, struck, slack_s):
    judge_lost(result, job, went_on, struck, slack_s)
    judge_count_without(result, job, plan)


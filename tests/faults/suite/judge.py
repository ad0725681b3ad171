"""Runs one job in which something goes wrong, and compares what became of it with what must."""
import contextlib
import dataclasses
import pathlib
import time

from suite import lost_worker
from suite.job import ONE_FOR_EACH_TENSOR, UNCOUNTED, Job, miscounted, parameters, some_buckets
from suite.scenarios import Scenario

CLEAN_UP_S = 3  # from the decision to the launcher's end
REST_S = 60  # what is left of an interrupted job


@dataclasses.dataclass
class Result:
    scenario: Scenario
    strategy: str
    kind: str = ""  # of the failure that was found
    culprit: str = ""
    seconds: float | None = None  # from the fault to the decision
    push: str = ""  # what became of a push of a lost worker that had no answer
    problems: list = dataclasses.field(default_factory=list)

    def text(self):
        parts = [self.kind or "no failure"]
        if self.culprit:
            parts.append(self.culprit)
        if self.seconds is not None:
            parts.append(f"{self.seconds:.2f} s")
        if self.push:
            parts.append(f"the push without an answer was {self.push}")
        return ", ".join(parts) + "".join(f"\n  WRONG: {problem}" for problem in self.problems)


def judge_failure(result, job, struck, slack_s):
    """The failure of the first generation against what must be found."""
    scenario = result.scenario
    summary = job.summary()
    generations = summary.get("failed_generations") or []
    failure = (generations[0] if generations else summary).get("failure")
    if failure is None:
        if scenario.kinds and not scenario.may_fail:
            result.problems.append("nothing was found")
        return
    result.kind, result.culprit = failure["kind"], failure["member"] or ""
    error = generations[0]["error"] if generations else summary["error"]
    # The launcher counts from its own start, a few hundredths of a second after ours.
    result.seconds = max(job.begin + failure["seconds"] - struck, 0)
    if result.kind not in scenario.kinds:
        result.problems.append(f"expected {' or '.join(scenario.kinds) or 'no failure'}, found {result.kind}: {error}")
    culprits = scenario.culprits_under(result.strategy, job.proxy)
    if culprits and result.culprit not in culprits:
        result.problems.append(f"expected {' or '.join(culprits)} to be blamed, not "
                               f"{result.culprit or 'nobody'}: {error}")
    if scenario.kinds and result.seconds > scenario.bound_s + slack_s:
        result.problems.append(f"found after {result.seconds:.2f} s, later than {scenario.bound_s} s: {error}")
    if len(generations) > 1:
        result.problems.append(f"{len(generations)} generations failed; the second one: {generations[1]['error']}")


def judge_count(result, job):
    if result.strategy in UNCOUNTED:
        if parameters(job.bundle) is None:
            result.problems.append(f"there are no parameters: {job.text()}")
        return
    wrong = miscounted(job.bundle)
    if wrong is None:
        result.problems.append(f"there are no parameters: {job.text()}")
    elif wrong:
        result.problems.append(f"{wrong} gradients did not count exactly once")


def judge_end(result, job, struck, slack_s):
    """A job that ends early: how soon."""
    scenario = result.scenario
    code = job.finish(scenario.bound_s + CLEAN_UP_S)
    while job.living() and time.time() < struck + scenario.bound_s + CLEAN_UP_S:
        time.sleep(0.01)
    result.seconds = time.time() - struck
    if code is None:
        result.problems.append("the launcher hangs")
    if result.seconds > scenario.bound_s + slack_s:
        result.problems.append(f"ended after {result.seconds:.2f} s, later than {scenario.bound_s} s")
    if scenario.ends == "interrupted":
        status = job.summary().get("status")
        if status != "interrupted":
            result.problems.append(f"the status is {status}: {job.text()}")
        if "stopped after a common last step" not in (error := job.summary().get("error") or ""):
            result.problems.append(f"it was killed: {error}")


def judge_rest(result, build, directory, job, buckets):
    """Where a job was interrupted there is a checkpoint of its last step. Another job goes on from there and counts the rest."""
    last = job.summary().get("steps")
    if not (job.bundle / "checkpoints" / f"step-{last}.ckpt").exists():
        result.problems.append(f"there is no checkpoint of step {last}: {job.text()}")
        return
    place = pathlib.Path(directory) / "rest"
    place.mkdir()
    with Job(build, place, result.strategy, buckets=buckets, flags=("--resume", str(job.bundle))) as rest:
        if (code := rest.finish(REST_S)) != 0:
            result.problems.append(f"the job that goes on hangs, or ended with another code than 0 ({code}): {rest.text()}")
            return
        if (first := rest.summary().get("first_step")) != last:
            result.problems.append(f"it went on from step {first}, not {last}")
        judge_count(result, rest)
        result.problems += rest.things_left() + rest.files_left()


def judge_refusal(result, job, struck, slack_s):
    """A job that must not begin."""
    if job.finish(result.scenario.longest_s) != 1:
        result.problems.append(f"the launcher hangs, or ended with another code than 1: {job.text()}")
        return
    judge_failure(result, job, struck, slack_s)
    if job.steps() > 0:
        result.problems.append("it trained")


def judge_done(result, job, plan, struck, slack_s):
    """A job that must reach its last step."""
    scenario = result.scenario
    goes_on = lost_worker.goes_on(scenario, result.strategy)
    went_on = lost_worker.when_it_went_on(job, scenario.longest_s) if goes_on else None
    code = job.finish(scenario.longest_s)
    if code is None:
        result.problems.append(f"the launcher hangs: {job.text()}")
        return
    if code != 0:
        result.problems.append(f"the launcher ended with code {code}: {job.text()}")
    elif (status := job.summary().get("status")) != "done":
        result.problems.append(f"the status is {status}: {job.text()}")
    if goes_on and not (went_on is None and lost_worker.may_start_again(scenario, result.strategy)):
        lost_worker.judge(result, job, plan, went_on, struck, slack_s)
    else:
        judge_failure(result, job, struck, slack_s)
        judge_count(result, job)
        if scenario.on_failure == "shrink":
            lost_worker.judge_fewer(result, job)
    if scenario.after:
        scenario.after(result, job, slack_s)
    if time.time() < struck + scenario.least_s:
        result.problems.append(f"the job ended {time.time() - struck:.0f} s after the fault, earlier than {scenario.least_s} s")


def run_once(build, directory, scenario, strategy, random, slack_s=0, repetition=0):
    result = Result(scenario, strategy)
    buckets = ONE_FOR_EACH_TENSOR if scenario.needs_many_buckets else some_buckets(strategy, random)
    plan = scenario.plan(random, buckets) if scenario.plan else None
    job = Job(build, directory, strategy, buckets=buckets, on_failure=scenario.on_failure if scenario.ends == "done" else "stop",
              fault=plan, proxy=scenario.proxy, clock_jumps=scenario.clock_jumps, step_ms=scenario.step_ms, busy_ms=scenario.busy_ms,
              timeout_s=scenario.timeout_s, flags=scenario.flags, shims=scenario.shims, open_files=scenario.open_files,
              repetition=repetition)
    if scenario.before:
        scenario.before(job.proxy)
    with scenario.around(job, random) if scenario.around else contextlib.nullcontext(), job:
        try:
            struck = scenario.strike(job, random)
        except (RuntimeError, StopIteration, OSError) as error:
            result.problems.append(f"the fault could not be made: {error}")
            return result
        if not struck:
            result.problems.append(f"the fault did not happen ({plan or scenario.name})")
        if scenario.judge:
            scenario.judge(result, job, struck, slack_s)
        elif scenario.ends == "refused":
            judge_refusal(result, job, struck, slack_s)
        elif scenario.ends != "done":
            judge_end(result, job, struck, slack_s)
            if scenario.ends == "interrupted":
                judge_rest(result, build, directory, job, buckets)
        else:
            judge_done(result, job, plan, struck, slack_s)
        if scenario.also:
            result.problems += scenario.also(job)
        if job.proxy:
            result.problems += [f"the proxy failed by {text}" for text in job.proxy.broken]
        result.problems += job.things_left()
        if scenario.ends != "killed":  # nobody is left who could remove files
            result.problems += job.files_left()
    return result

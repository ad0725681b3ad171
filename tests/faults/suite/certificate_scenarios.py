"""Certificates (`--tls`) that are replaced, or run out, while the job runs."""
import contextlib
import re
import signal
import time

from suite.job import has_servers
from suite.judge import judge_count, judge_failure
from suite.scenarios import AT_ONCE_S, FIRST_STEPS, VICTIM, Scenario, anywhere, wait_for_some_step

DAY_S = 24 * 3600
LIFE_S = 16  # of certificates that run out, and up to 2 s more
LIFE_STEP_MS = 180  # the job takes longer than such a certificate lives
PAST_END_S = 1.5  # looks at what happens when a certificate has run out


def folder(job):
    return job.bundle.parent / "certificates"


def manage(job, action, directory, life_s=DAY_S):
    """Makes, renews or checks certificates. Their least life is a day, so the clock of their maker is turned back."""
    past = {} if life_s == DAY_S else {"shims": ("clock",), "RINGSIDE_FAULT_CLOCK_AHEAD": str(life_s - DAY_S)}
    code, said = job.tool("certificates", action, directory, "--days", 1, **past)
    if code != 0:
        raise RuntimeError(f"ringside certificates {action} failed: {said}")


def use_certificates(job, life_s=DAY_S):
    manage(job, "make", folder(job), life_s)
    job.add("--tls", str(folder(job)), *(("--ps-transport", "grpc") if has_servers(job.strategy) else ()))


@contextlib.contextmanager
def certified(job, _):
    use_certificates(job)
    yield


@contextlib.contextmanager
def certified_for_seconds(job, random):
    life_s = LIFE_S + random.randint(0, 2)
    job.remembered["end"] = time.time() + life_s
    use_certificates(job, life_s)
    yield


def put(path, text):
    """By a rename, as the page on security asks for."""
    new = path.with_name(path.name + ".new")
    new.touch(mode=0o600)
    new.write_text(text)
    new.rename(path)


def change_the_authority(job):
    """In the order of the page on security."""
    ours, theirs = folder(job), folder(job).with_name("next")
    manage(job, "make", theirs)
    old, next_ca = (ours / "ca.pem").read_text(), (theirs / "ca.pem").read_text()
    put(ours / "ca.pem", old + next_ca)
    for name in ("key.pem", "cert.pem"):
        put(ours / name, (theirs / name).read_text())
    put(ours / "ca.pem", next_ca)


def kill_the_victim(job):
    victim = job.pid(VICTIM)
    now = time.time()
    job.signal_pid(victim, signal.SIGKILL)
    return now


def replace_and_kill(job, random):
    """Nobody trusts the old certificates any more when the processes start again."""
    wait_for_some_step(job, random)
    change_the_authority(job)
    time.sleep(random.random() * 2)  # processes may have read the new files or not; they look every second
    return kill_the_victim(job)


def run_out(job, _):
    """Waits until the certificate has run out. The job must go on."""
    job.wait_for_steps(FIRST_STEPS)
    end = job.remembered["end"]
    if time.time() > end:
        return 0
    time.sleep(max(end + PAST_END_S - time.time(), 0))
    code, said = job.tool("certificates", "check", folder(job))
    if code == 0 or "ran out on" not in said:
        raise RuntimeError(f"the certificate has not run out: {said}")
    job.wait_for_steps(job.steps() + 1)
    return end


def run_out_and_kill(job, random):
    return run_out(job, random) and kill_the_victim(job)


def judge_no_restart(result, job, struck, slack_s):
    """The next generation cannot begin. The error has both reasons. With new certificates the job goes on by hand."""
    if (code := job.finish(result.scenario.longest_s)) != 1:
        result.problems.append(f"the launcher hangs, or ended with another code than 1: {code}: {job.text()}")
        return
    judge_failure(result, job, struck, slack_s)
    error = job.summary().get("error") or ""
    cause = rf"the run cannot start again: {re.escape(str(folder(job)))}/cert\.pem: the certificate of .* ran out on "
    if not re.search(cause, error):
        result.problems.append(f"the error does not say that the certificate ran out: {error}")
    result.problems += job.things_left() + job.files_left()
    manage(job, "renew", folder(job))
    job.resume()
    if (code := job.finish(result.scenario.longest_s)) != 0:
        result.problems.append(f"the job that resumes hangs, or ended with code {code}: {job.text()}")
        return
    judge_count(result, job)


def not_encrypted(job):
    return [] if job.summary().get("tls") else ["no certificates were in use"]


SCENARIOS = [
    Scenario("certificates-replaced", "certificates and their authority are replaced (`--tls`), and then a worker is killed",
             replace_and_kill, anywhere, ("signal",), (VICTIM,), AT_ONCE_S, around=certified, also=not_encrypted, step_ms=60),
    Scenario("certificates-expired", "certificates run out (`--tls`); open connections go on", run_out, anywhere,
             around=certified_for_seconds, also=not_encrypted, step_ms=LIFE_STEP_MS, least_s=PAST_END_S),
    Scenario("certificates-expired-restart", "certificates run out (`--tls`), and then a worker is killed; the job ends, and goes on with new ones",
             run_out_and_kill, anywhere, ("signal",), (VICTIM,), AT_ONCE_S, around=certified_for_seconds,
             judge=judge_no_restart, also=not_encrypted, step_ms=LIFE_STEP_MS),
]

"""Checkpoints: the disk is full, the writer dies before the file has its name, and a file is damaged."""
import contextlib
import errno
import json
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import time

from suite.judge import CLEAN_UP_S, judge_count
from suite.scenarios import AT_ONCE_S, FIRST_STEPS, STEPS, VICTIM, Scenario, anywhere, planned, wait_for_some_step

WRITER = "worker 0"
VICTIMS_PART = f".{VICTIM.replace(' ', '-')}."
EVERY = 4  # steps, `--checkpoint-every` of a Job
DISK = 1 << 20  # bytes
LENGTH_BYTES = 8  # before the header of a checkpoint
SETTLED_S = 0.5  # a folder in which nothing has changed for so long stays as it is, while the launcher is stopped
LOOK_S = 0.02
# Workers keep what the codec has lost. bf16 loses nothing of the ledger's powers of 4.
FEEDBACK = ("--codec", "bf16", "--error-feedback", "on")
# Under these each worker has a part of the checkpoint then.
WITH_PARTS = ("ring", "halving-doubling", "tree", "auto", "ps-sync", "ps-async", "ps-ssp", "ps-backup", "mixed")
NO_SPACE = "No space left on device"


def checkpoints(job):
    """Their files of the whole job, the newest first."""
    found = [path for path in (job.bundle / "checkpoints").glob("step-*.ckpt") if step_of(path) is not None]
    return sorted(found, key=step_of, reverse=True)


def wait_for_two(job):
    end = time.monotonic() + 10
    while len(checkpoints(job)) < 2 and time.monotonic() < end:
        time.sleep(LOOK_S)


def step_of(path):
    """None: it is no file of the whole job."""
    found = re.fullmatch(r"step-(\d+)\.ckpt", path.name)
    return int(found[1]) if found else None


def began_with(job, step):
    """What is wrong with the first step of the last start."""
    first = job.summary().get("first_step")
    return [] if first == step else [f"the job went on from step {first}, not from {step}"]


# --- The disk is full.

@contextlib.contextmanager
def mounted(folder):
    """A small file system in this folder, for as long as the context."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "none", folder], check=True, capture_output=True)
    try:
        yield
    finally:
        # Lazy, because a process that does not end may have a file of it open.
        subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


def no_mount():
    """Why there can be no file system of our own; empty: there can."""
    with tempfile.TemporaryDirectory(prefix="ringside-faults-") as folder:
        try:
            with mounted(folder):
                return ""
        except (OSError, subprocess.CalledProcessError) as error:
            return f"no file system can be mounted: {(getattr(error, 'stderr', b'') or b'').decode().strip() or error}"


@contextlib.contextmanager
def on_a_small_disk(job, _):
    job.bundle.mkdir()
    with mounted(job.bundle):
        yield


def filler(job):
    return job.bundle / "filler"


def fill_the_disk(job, random):
    wait_for_some_step(job, random)
    wait_for_two(job)
    job.remembered["newest"] = step_of(checkpoints(job)[0])
    now = time.time()
    with open(filler(job), "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    return now


def judge_full_disk(result, job, struck, slack_s):
    """The job ends and says why. What it has saved before is whole, and it goes on from there when there is room again."""
    bound_s = result.scenario.bound_s + slack_s
    code = job.finish(bound_s + CLEAN_UP_S)
    result.seconds = time.time() - struck
    if code != 1:
        result.problems.append(f"the launcher hangs, or ended with another code than 1: {code}: {job.text()}")
        if code is None:
            return
    if result.seconds > bound_s:
        result.problems.append(f"ended after {result.seconds:.2f} s, later than {bound_s} s")
    cause = rf"^failed: .*{re.escape(str(job.bundle))}/\S+: cannot (write|sync|create)[^:]*: {NO_SPACE}"
    if re.search(cause, job.text(), re.MULTILINE):
        result.kind = "no space left"
    else:
        result.problems.append(f"the error does not name a file and the cause: {job.text()}")
    result.problems += job.things_left() + job.files_left()
    filler(job).unlink()
    resume(result, job)


def resume(result, job):
    code, said = job.tool("checkpoint", "check", job.bundle)
    if code != 0:
        result.problems.append(f"a checkpoint is damaged: {said}")
    newest = step_of(checkpoints(job)[0])
    if newest < job.remembered["newest"]:
        result.problems.append(f"the checkpoint of step {job.remembered['newest']} is gone")
    job.resume()
    if (code := job.finish(result.scenario.longest_s)) != 0:
        result.problems.append(f"the job that resumes hangs, or ended with code {code}: {job.text()}")
        return
    result.problems += began_with(job, newest)
    judge_count(result, job)


# --- The writer is killed before the file has its name.

@contextlib.contextmanager
def killed_in_some_rename(job, random):
    job.remembered["checkpoint"] = random.randint(FIRST_STEPS // EVERY + 1, STEPS // EVERY - 2)
    job.add(RINGSIDE_FAULT_RENAME=str(job.remembered["checkpoint"]))
    yield


def killed_before_the_name(job):
    """The file was there under its temporary name alone. So the job goes on from the one before."""
    step = EVERY * job.remembered["checkpoint"]
    temporary = job.mark_text()
    if not re.fullmatch(rf"step-{step}\.ckpt\.tmp\d+", temporary):
        return [f"the process was killed at '{temporary}', not at a temporary file of step {step}"]
    return began_with(job, step - EVERY)


# --- A checkpoint is damaged.

def sections(content):
    """Where each begins and ends: the header's length, the header, its checksums, the tensors, and the last byte."""
    length, = struct.unpack_from("<Q", content)
    begin = LENGTH_BYTES + length
    header = json.loads(content[LENGTH_BYTES:begin])
    found = {"the header's length": (0, LENGTH_BYTES), "the header": (LENGTH_BYTES, begin),
             "the end": (len(content) - 1, len(content))}
    for name, text in header.pop("__metadata__").items():
        if "sha256" in name:
            at = content.index(text.encode())
            found[name] = (at, at + len(text))
    for name, tensor in header.items():
        found[name] = tuple(begin + offset for offset in tensor["data_offsets"])
    return found


def section_of(content, repetition):
    """As many repetitions as there are sections hit each of them."""
    ordered = sorted(sections(content).items())
    return ordered[repetition % len(ordered)]


def damage(path, random, repetition):
    """Flips a bit of a section, or cuts the file there. Returns what was done."""
    content = path.read_bytes()
    section, (begin, end) = section_of(content, repetition)
    at = random.randrange(begin, end)
    with open(path, "r+b") as file:
        if random.random() < 0.5:
            file.truncate(at)
            return f"cut at byte {at}, in {section}"
        file.seek(at)
        file.write(bytes([content[at] ^ 1 << random.randrange(8)]))
        return f"a bit of byte {at} flipped, in {section}"


def settled(job):
    """The checkpoints, when nothing more is being written."""
    end = time.monotonic() + 10
    before, since = None, time.monotonic()
    while time.monotonic() < end:
        now = sorted(path.name for path in (job.bundle / "checkpoints").iterdir())
        # The victim may have been killed as it wrote its part.
        if now != before or any(".tmp" in name and VICTIMS_PART not in name for name in now):
            before, since = now, time.monotonic()
        elif time.monotonic() > since + SETTLED_S:
            return checkpoints(job)
        time.sleep(LOOK_S)
    raise RuntimeError("checkpoints do not settle while the launcher is stopped")


def whole(newest, _):
    return newest


def part_of_some_worker(newest, job):
    """The same number of repetitions as there are workers hits the part of each."""
    return newest.with_name(f"{newest.stem}.worker-{job.repetition % job.workers}.ckpt")


def damage_the_newest(file_of):
    """`file_of`: of the file of the whole job and a Job: the file of the checkpoint that is damaged."""
    return lambda job, random: damage_and_kill(job, random, file_of)


def damage_and_kill(job, random, file_of):
    """The launcher is stopped meanwhile, so that nothing starts again before the file is damaged; how long depends on the writers of
    checkpoints. So the time counts from when the launcher goes on. Worker 0 is stopped until the launcher has decided, so that it
    writes no newer one."""
    wait_for_some_step(job, random)
    wait_for_two(job)
    victim, writer = job.pid(VICTIM), job.pid(WRITER)
    job.signal_pid(job.launcher_pid, signal.SIGSTOP)
    try:
        job.signal_pid(victim, signal.SIGKILL)
        newest, older = settled(job)[:2]
        job.signal_pid(writer, signal.SIGSTOP)
        file = file_of(newest, job)
        job.remembered |= {"damaged": file, "older": step_of(older), "damage": damage(file, random, job.repetition)}
    finally:
        goes_on = time.time()
        job.signal_pid(job.launcher_pid, signal.SIGCONT)
    wait_for_decision(job, writer)
    job.signal_pid(writer, signal.SIGCONT)
    return goes_on


def wait_for_decision(job, pid):
    """Until the launcher asks this process, which is stopped, to end."""
    end = time.monotonic() + 10
    while job.runs(pid) and not is_pending(pid, signal.SIGTERM) and time.monotonic() < end:
        time.sleep(0.002)


def is_pending(pid, number):
    """Whether a process has a signal that it has not handled yet."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False  # it has ended
    return any(int(mask, 16) >> number - 1 & 1 for mask in re.findall(r"^(?:SigPnd|ShdPnd):\s+(\w+)$", status, re.MULTILINE))


def named_the_damaged(job):
    path = job.remembered["damaged"]
    wrong = began_with(job, job.remembered["older"])
    notes = job.summary().get("notes") or []
    if not any(note.startswith("could not resume from the newest checkpoint") and str(path) in note for note in notes):
        wrong.append(f"no note names {path.name}: {notes}")
    return [f"{text} ({path.name}: {job.remembered['damage']})" for text in wrong]


SCENARIOS = [
    Scenario("disk-full", "the disk of the run's directory is full; the job ends, and goes on when there is room again",
             fill_the_disk, anywhere, bound_s=AT_ONCE_S, around=on_a_small_disk, judge=judge_full_disk,
             why_not=no_mount),
    Scenario("killed-in-rename", "worker 0 is killed between the sync of a checkpoint and its rename", planned, anywhere,
             ("signal",), (WRITER,), AT_ONCE_S, shims=("rename",), around=killed_in_some_rename, also=killed_before_the_name),
    Scenario("checkpoint-damaged", "a worker is killed, and a bit of the newest checkpoint flips, or the file is cut",
             damage_the_newest(whole), anywhere, ("signal",), (VICTIM,), AT_ONCE_S, also=named_the_damaged),
    Scenario("checkpoint-part-damaged", "a worker is killed, and the part of a worker in the newest checkpoint is damaged (`--codec bf16 --error-feedback on`)",
             damage_the_newest(part_of_some_worker), lambda strategy: strategy in WITH_PARTS, ("signal",), (VICTIM,), AT_ONCE_S,
             flags=FEEDBACK, also=named_the_damaged),
]

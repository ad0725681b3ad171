#!/usr/bin/env python3
"""Checks Ringside on the GPUs of this machine: the speed of its all-reduce beside NCCL alone, the steps of training, and the trained
parameters against those of a CPU. It compiles and installs nothing.

usage: gpu_check.py [--out DIR] [--ringside PATH] [--minutes M]
       gpu_check.py --render FILE [--out DIR]
       gpu_check.py --write-references [--ringside PATH]
  --out       where gpu-check.json and gpu-check.md go (default: gpu-check)
  --ringside  the program (default: that of the archive, or of build/release)
  --minutes   the most time that it takes (default: 8). What did not run for lack of time is named.
  --render    writes the page of a gpu-check.json again
  --write-references  makes the parameters of the CPU again, with --model mlp, which needs libtorch; needs no GPU
It runs from the unpacked .tar.gz (share/ringside/gpu-check/) and from the sources. CUDA, cuBLAS and NCCL are the machine's: it looks for them in
LD_LIBRARY_PATH, where ldconfig knows them, in /usr/local/cuda*/ and among Python's packages (nvidia/*/lib).
With one GPU two workers share it, and every such figure says that it is emulated.

Exit code: 0 all limits hold; 1 a run failed; 2 usage; 4 no GPU, or a library or a part of Ringside is missing: then nothing is written; 5 a limit
is missed, or could not be measured in the time. gpu_check_parts/plan.py has what is run, and the limits.
"""
import argparse
import json
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from gpu_check_parts import all_reduce, machine, page, plan, references, training  # noqa: E402
from gpu_check_parts.runs import RunFailed, Runs, TimeIsOver  # noqa: E402

MISSING = 4
RESERVE_S = 10  # of the time, for writing and for programs that end slowly
REFERENCE_S = 600


def parse():
    parser = argparse.ArgumentParser(add_help=False, usage="\n".join(__doc__.splitlines()[3:7]).strip().replace("usage: ", "", 1))
    parser.add_argument("--out", default="gpu-check", type=pathlib.Path)
    parser.add_argument("--ringside", type=pathlib.Path)
    parser.add_argument("--minutes", default=plan.MINUTES, type=float)
    parser.add_argument("--render", type=pathlib.Path)
    parser.add_argument("--write-references", action="store_true")
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__.strip())
        sys.exit(0)
    if not arguments.minutes > 0:
        parser.error("--minutes must be above 0")
    return arguments


def write(result, out):
    out.mkdir(parents=True, exist_ok=True)
    (out / "gpu-check.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (out / "gpu-check.md").write_text(page.render(result), encoding="utf-8")


def check(arguments):
    begin = time.monotonic()
    gpus = machine.smi()
    program = machine.find_program(arguments.ringside)
    names = machine.wanted(program.folder)
    needed = machine.find_libraries(names, machine.folders_of_machine(machine.environment_with([])), machine.known_to_linker())
    environment = machine.environment_with(needed)
    found = machine.probe(names, environment, gpus[0]["driver_version"])
    runs = Runs(environment, arguments.minutes * 60 - RESERVE_S - (time.monotonic() - begin))
    result = {"schema": "ringside.gpu-check/1", "status": "running", "facts": machine.facts(program, environment, gpus, found),
              "all_reduce": [], "steps": [], "verify": [], "failures": [], "left_out": [], "runs": runs.records}
    # The last part takes what is left.
    for part in (training.verify, training.steps, all_reduce.measure):
        part(runs, program, found["gpus"], result)
        result["seconds"] = time.monotonic() - begin
        write(result, arguments.out)
        print(f"{part.__module__.rpartition('.')[2]} {part.__name__}: done after {result['seconds']:.0f} s", flush=True)
    result["status"] = "done"
    return finish(result, arguments.out)


def finish(result, out):
    """Writes the result and says what it is. Returns the exit code."""
    code = page.exit_code(result)
    result["exit_code"] = code
    write(result, out)
    for text, ok in page.verdicts(result):
        if ok is not True:
            print(f"{'missed' if ok is False else 'not measured'}: {text}")
    for text in result["left_out"]:
        print(f"not run, because the time was over: {text}")
    for text in result["failures"]:
        print(f"gpu_check.py: {text}", file=sys.stderr)
    if code == 0:
        print("all limits hold")
    print(f"{out / 'gpu-check.md'}")
    return code


def write_references(ringside):
    ringside = (ringside or machine.ROOT / "build/release/bin/ringside").resolve()
    version, commit, _ = machine.ringside_version(ringside, None)
    runs = Runs(None, REFERENCE_S)
    for case in plan.CASES:
        with tempfile.TemporaryDirectory() as folder:
            references.write(case, *references.train_reference(runs, ringside, case, pathlib.Path(folder) / "run"), version, commit)
        print(references.path_of(case))
    return 0


def main():
    arguments = parse()
    # As Ctrl-C: what was started is ended.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        if arguments.write_references:
            return write_references(arguments.ringside)
        if arguments.render:
            return finish(json.loads(arguments.render.read_text(encoding="utf-8")), arguments.out)
        return check(arguments)
    except machine.Missing as error:
        print(f"gpu_check.py: {error}", file=sys.stderr)
        return MISSING
    except (RunFailed, TimeIsOver, OSError, ValueError) as error:
        print(f"gpu_check.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

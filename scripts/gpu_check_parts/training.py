"""Parts 2 and 3: training with `cuda:mlp`: its steps, and its parameters against those of the CPU."""
import json
import math
import pathlib
import shutil
import tempfile

from gpu_check_parts import plan, references, samples, trace
from gpu_check_parts.runs import RunFailed, TimeIsOver


def placement(several, shares, gpus):
    """(workers, flags) of a row of the plan."""
    workers = (2 if gpus == 1 else gpus) if several else 1
    return workers, ["--workers", str(workers), *(["--nccl-share-gpu"] if shares and gpus == 1 else [])]


def is_emulated(several, gpus):
    return several and gpus == 1


def measure_step(runs, program, flags, batch, more, out):
    runs.run(f"step, {' '.join(flags)}",
             [program.ringside, "train", *plan.STEP_FLAGS, "--global-batch", batch, "--warmup-steps", plan.STEP_WARMUP, *flags, *more,
              "--timeline", "--quiet", "--out", out], plan.RUN_LIMIT)
    return json.loads((out / "summary.json").read_text()), json.loads((out / "trace.json").read_text())


def step_row(name, summary, traced, limit):
    workers = trace.workers_of(traced, plan.STEP_WARMUP)
    shares = [figures["overlap"] for figures in workers.values() if figures and figures["overlap"] is not None]
    least = min(shares) if shares else None
    return {"name": name, "workers": summary["workers"], "global_batch": summary["global_batch"], "parameters": summary["parameters"],
            "buckets": summary["buckets"], "step_ms": summary["step_ms"], "compute_ms": summary["compute_ms"],
            "exposed_comm_ms": summary["exposed_comm_ms"], "critical_path": summary["critical_path"], "samples_per_s": summary["samples_per_s"],
            "notes": summary["notes"], "dropped_spans": traced["otherData"]["dropped_spans"], "by_worker": workers, "overlap": least,
            "limit": limit, "ok": None if limit is None or least is None else least >= limit}


def each(rows, result, part, work):
    """Calls `work` with a scratch folder for each row; a row that fails or has no time left is named."""
    for row in rows:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-gpu-check-"))
        try:
            work(row, folder / "run")
        except TimeIsOver as error:
            result["left_out"].append(f"{part}: {error}")
        except RunFailed as error:
            result["failures"].append(str(error))
        except (OSError, ValueError, KeyError, TypeError) as error:
            result["failures"].append(f"{part}, {row[0]}: {type(error).__name__}: {error}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def steps(runs, program, gpus, result):
    """Fills result["steps"]."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-gpu-check-"))
    try:
        samples.write(folder / "samples.npz", plan.STEP_BATCH, plan.STEP_FEATURES)
        step_rows(runs, program, gpus, result, folder / "samples.npz")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def step_rows(runs, program, gpus, result, data):
    def work(row, out):
        name, flags, several, shares, limit = row
        workers, more = placement(several, shares, gpus)
        each_worker = plan.STEP_BATCH // placement(True, False, gpus)[0]  # a single worker has the part of one of several
        summary, traced = measure_step(runs, program, flags, each_worker * workers,
                                        ["--data", f"npz:{data}", *more], out)
        result["steps"].append({**step_row(name, summary, traced, limit), "emulated": is_emulated(several, gpus)})
    each(plan.STEP_ROWS, result, "training step", work)


def verify(runs, program, gpus, result):
    """Fills result["verify"]."""
    def work(row, out):
        name, flags, several, shares, case = row
        reference = references.read(case)
        workers, more = placement(several, shares, gpus)
        params, summary = references.train(runs, program.ringside, "cuda:mlp", case, [*flags, *more], out)
        distance, largest = references.compare(params, reference["params"])
        result["verify"].append({
            "name": name, "case": case, "workers": workers, "emulated": is_emulated(several, gpus),
            "distance": distance if math.isfinite(distance) else None, "largest": largest if math.isfinite(largest) else None,
            "loss": summary["final_loss"], "reference_loss": reference["loss"], "reference_commit": reference["commit"],
            "limit": plan.DISTANCE, "ok": distance <= plan.DISTANCE})
    each([(*row[:4], case) for row in plan.VERIFY_ROWS for case in row[4]], result, "comparison with the CPU", work)

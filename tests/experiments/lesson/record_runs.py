#!/usr/bin/env python3
"""Runs every lesson in its quick form and writes what the answers read to recorded_runs.json.

usage: record_runs.py RINGSIDE   (on a machine that can emulate links)
"""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

KEPT = ["achievable_ms", "bound_bytes_sent_per_worker_per_step", "bound_comm_ms", "bound_ms", "buckets", "bytes_per_server_per_step",
        "bytes_sent_per_worker_per_step", "dropped_pushes", "eval_accuracy", "exposed_comm_ms", "failure", "first_step", "forward_ms",
        "global_batch", "network", "parameters", "params_sha256", "staleness", "status", "step_ms", "steps", "workers"]


def steps_of_ranks(bundle, summary):
    ranks = []
    for rank in range(summary["workers"]):
        lines = (bundle / ("metrics.jsonl" if rank == 0 else f"metrics-rank-{rank}.jsonl")).read_text().splitlines()
        steps = [row["step_ms"] for row in map(json.loads, lines) if row["kind"] == "step"]
        ranks.append(steps[summary["warmup_steps"]:-1])
    return ranks


def of_bundle(bundle, slow_worker):
    summary = json.loads((bundle / "summary.json").read_text())
    kept = {key: summary[key] for key in KEPT}
    kept["staleness"] = {key: summary["staleness"][key] for key in ("histogram", "max", "mean")}
    if summary["last_words"]:
        kept["last_words"] = [{key: words[key] for key in ("member", "silent_seconds")} for words in summary["last_words"]]
    if slow_worker:
        kept["rank_step_ms"] = steps_of_ranks(bundle, summary)
    kept["lesson_exit_code"] = 0 if summary["status"] == "done" else 1
    return kept


def of_output(ringside, command, folder):
    words = shlex.split(command)[1:]
    return json.loads(subprocess.run([ringside, *words], stdout=subprocess.PIPE, cwd=folder, check=True).stdout)


def record(ringside, number, folder):
    done = subprocess.run([ringside, "lesson", str(number), "--quick", "--quiet", "--json", "--out", "."], cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    answer = json.loads(done.stdout)
    results = {pathlib.Path(run).name: of_bundle(folder / run, number == 6) for run in answer["runs"]}
    for command in answer["commands"]:
        verb = shlex.split(command)[1]
        if verb in ("bench", "checkpoint"):
            results["bench" if verb == "bench" else "check"] = of_output(ringside, command, folder)
    return results


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    ringside = str(pathlib.Path(sys.argv[1]).resolve())
    recorded = {}
    for number in range(1, 11):
        with tempfile.TemporaryDirectory() as folder:
            recorded[number] = record(ringside, number, pathlib.Path(folder))
    pathlib.Path(__file__).with_name("recorded_runs.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()

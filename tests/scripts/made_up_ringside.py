#!/usr/bin/env python3
"""Stands in for `ringside` and `nccl-peer` in gpu_check_test.py: answers at once, with figures that variables set.

FAKE_OURS, FAKE_BLOCKING, FAKE_PIPELINED: GB/s. FAKE_WRONG: wrong elements. FAKE_AWAIT_US: how long the last worker waits for each of its 40 us of
communication.
FAKE_PARAMETER_ERROR: added to a parameter. FAKE_FAILS: the strategy that fails. FAKE_SECONDS: how long a run takes.
"""
import json
import os
import pathlib
import sys
import time

REFERENCES = pathlib.Path(os.environ.get("FAKE_REFERENCES", ""))


def knob(name, otherwise):
    return float(os.environ.get("FAKE_" + name, otherwise))


def option(words, name, otherwise=None):
    return words[words.index(name) + 1] if name in words else otherwise


def peer(words):
    rates = {0: knob("PIPELINED", 10), 1: knob("BLOCKING", 10)}
    print(json.dumps({"rows": [{"blocking": int(mode), "busbw_GBps": rates[int(mode)], "wrong": 0}
                               for mode in option(words, "--blocking").split(",")]}))


def bench():
    if os.environ.get("FAKE_OURS") == "nonsense":
        print("nonsense")
        return
    print(json.dumps({"skipped": [], "rows": [{"strategy": "nccl", "busbw_GBps": knob("OURS", 9.9), "wrong": knob("WRONG", 0)}]}))


def trace(workers, steps=6):
    """A step of 100 us. 40 us of communication end a while after the next forward pass has begun, which waits for it."""
    events = []
    for worker in range(workers):
        wait = knob("AWAIT_US", 1) if worker == workers - 1 else 1
        events.append({"ph": "M", "name": "process_name", "pid": worker, "args": {"name": f"worker {worker}"}})
        for step in range(steps):
            for name, begin, duration in (("forward", 0, 40), ("backward", 40, 60), ("wire", 60 + wait, 40), ("await", 0, wait)):
                events.append({"ph": "X", "name": name, "pid": worker, "ts": 100 * step + begin, "dur": duration, "args": {"step": step}})
    return {"otherData": {"dropped_spans": 0}, "traceEvents": events}


def params(words):
    """Those of the reference whose flags the command has."""
    import array
    import base64
    import gzip

    for path in sorted(REFERENCES.glob("*.gz")):
        content = json.loads(gzip.decompress(path.read_bytes()))
        optimizer = [flag for flag in ("--momentum", "--optimizer") if flag in words]
        if optimizer == [flag for flag in ("--momentum", "--optimizer") if flag in content["flags"]]:
            values = array.array("f", base64.b64decode(content["params_base64"]))
            values[0] += knob("PARAMETER_ERROR", 0)
            return values.tobytes()
    raise SystemExit("no such reference")


def train(words):
    strategy = option(words, "--strategy")
    if strategy == os.environ.get("FAKE_FAILS"):
        raise SystemExit(f"no luck with {strategy}")
    out = pathlib.Path(option(words, "--out"))
    out.mkdir(parents=True)
    summary = {"workers": int(option(words, "--workers")), "global_batch": int(option(words, "--global-batch")), "parameters": 1, "buckets": 1,
               "step_ms": {"median": 0.1}, "compute_ms": 0.09, "exposed_comm_ms": 0.01, "critical_path": None, "samples_per_s": 1.0,
               "notes": [], "final_loss": 1.0, "eval_loss": 1.0}
    (out / "summary.json").write_text(json.dumps(summary))
    (out / "trace.json").write_text(json.dumps(trace(summary["workers"])))
    if "--save-params" in words:
        import hashlib

        data = params(words)
        (out / "params.bin").write_bytes(b"RSPARAM1" + (len(data) // 4).to_bytes(8, "little") + hashlib.sha256(data).hexdigest().encode() + data)


def main():
    words = sys.argv[1:]
    if words == ["--version"]:
        print("ringside 9.9 (git abc, Release, GNU 12)")
        return
    time.sleep(knob("SECONDS", 0))
    if pathlib.Path(sys.argv[0]).name == "nccl-peer":
        peer(words)
    elif words[0] == "bench":
        bench()
    else:
        train(words)


main()

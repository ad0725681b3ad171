"""Part 1: `ringside bench` beside NCCL alone (nccl-peer), in rounds, in turns."""
import json
import statistics
import time

from gpu_check_parts import plan
from gpu_check_parts.runs import RunFailed, TimeIsOver


def peer_busbw(runs, program, algorithm, size, workers, shared):
    """GB/s of NCCL alone by mode, in place as our sums are."""
    command = [program.peer, "--ranks", workers, "--bytes", size, "--iterations", plan.SIZES[size][shared], "--warmup", plan.WARMUP[shared],
               "--blocking", ",".join(str(mode) for mode in plan.MODES.values()), "--in-place", "--algorithm", algorithm,
               "--timeout", plan.RUN_LIMIT, *(["--share-gpu"] if shared else [])]
    result = json.loads(runs.run(f"NCCL alone, {algorithm}, {size} bytes", command, plan.RUN_LIMIT))
    by_mode = {row["blocking"]: row for row in result["rows"]}
    wrong = sum(row["wrong"] for row in result["rows"])
    if wrong:
        raise RunFailed(f"NCCL alone, {algorithm}, {size} bytes: {wrong} elements of the sums are wrong")
    return {name: by_mode[number]["busbw_GBps"] for name, number in plan.MODES.items()}


def our_busbw(runs, program, algorithm, size, workers, shared):
    """GB/s of our sum, and how many elements were wrong."""
    command = [program.ringside, "bench", "--strategy", "nccl", "--workers", workers, "--memory", "device", "--nccl-algorithm", algorithm,
               *(["--nccl-share-gpu"] if shared else []), "-b", size, "-e", size, "-n", plan.SIZES[size][shared],
               "-w", plan.WARMUP[shared], "--timeout", f"{plan.RUN_LIMIT}s", "--quiet", "--json"]
    result = json.loads(runs.run(f"ringside bench, {algorithm}, {size} bytes", command, plan.RUN_LIMIT))
    rows = [row for row in result["rows"] if row["strategy"] == "nccl"]
    if not rows:
        raise RunFailed(f"ringside bench, {algorithm}, {size} bytes: it has no row for nccl: {result['skipped']}")
    return rows[0]["busbw_GBps"], rows[0]["wrong"]


class Cell:
    """One size under one algorithm."""

    def __init__(self, algorithm, size):
        self.algorithm, self.size = algorithm, size
        self.ours, self.wrong = [], 0
        self.peer = {mode: [] for mode in plan.MODES}
        self.failed = False

    def round(self, runs, program, workers, shared):
        peer = peer_busbw(runs, program, self.algorithm, self.size, workers, shared)
        ours, wrong = our_busbw(runs, program, self.algorithm, self.size, workers, shared)
        self.ours.append(ours)
        self.wrong += wrong or 0
        for mode, value in peer.items():
            self.peer[mode].append(value)

    def row(self, workers, shared):
        """The figures, with null where nothing was measured."""
        median = statistics.median(self.ours) if self.ours else None
        row = {"algorithm": self.algorithm, "bytes": self.size, "workers": workers, "emulated": shared, "rounds": len(self.ours),
               "wrong": self.wrong, "ours_GBps": median, "ours_rounds_GBps": self.ours, "peer_rounds_GBps": self.peer, "limit": plan.BUSBW_RATIO,
               "peer_GBps": {}, "ratio": {}, "ok": {}}
        for mode, values in self.peer.items():
            peer = statistics.median(values) if values else None
            row["peer_GBps"][mode] = peer
            row["ratio"][mode] = median / peer if peer else None
            row["ok"][mode] = row["ratio"][mode] >= plan.BUSBW_RATIO and self.wrong == 0 if peer else None
        return row


def measure(runs, program, gpus, result):
    """Fills result["all_reduce"]. Rounds go over all cells; a round that the time does not suffice for is not begun."""
    shared = gpus == 1
    workers = 2 if shared else gpus
    cells = [Cell(algorithm, size) for size in plan.SIZES for algorithm in plan.ALGORITHMS]
    longest = 0.0
    for number in range(plan.ROUNDS):
        if number > 0 and runs.left() < longest:
            result["left_out"].append(f"all-reduce: {plan.ROUNDS - number} of {plan.ROUNDS} rounds")
            break
        begin = time.monotonic()
        for cell in cells:
            if cell.failed:
                continue
            try:
                cell.round(runs, program, workers, shared)
            except RunFailed as error:
                cell.failed = True
                result["failures"].append(str(error))
            except (OSError, ValueError, KeyError, TypeError) as error:
                cell.failed = True
                result["failures"].append(f"all-reduce, {cell.algorithm}, {cell.size} bytes: {type(error).__name__}: {error}")
            except TimeIsOver as error:
                result["left_out"].append(f"all-reduce, round {number + 1}: {error}")
                break
        longest = max(longest, time.monotonic() - begin)
        result["all_reduce"] = [cell.row(workers, shared) for cell in cells]

"""How much of the communication ran while the worker computed, from trace.json (docs/timeline.md).

For each worker: communication is the union of its `wire` spans. Compute is the union of its `forward` and `backward` spans, without the
`await` and `submit` spans in them, in which the training thread waits for communication or hands over a bucket. The overlap is the time
that both have in common; its share is that of the shorter of both. With the awaits counted as compute, too, the share says how much of the
communication was within the passes at all; it is close to one in any case, so no limit is set on it.

The window goes from the begin of the first counted step's forward pass to the begin of the last step's, so it has whole steps, each with
the communication that its gradients need until the next forward pass.
"""


def union(spans):
    """Disjoint spans in order that cover the same time. A span is (begin, end)."""
    merged = []
    for begin, end in sorted(spans):
        if end <= begin:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def intersection(some, others):
    """What two unions have in common."""
    common, i, j = [], 0, 0
    while i < len(some) and j < len(others):
        begin, end = max(some[i][0], others[j][0]), min(some[i][1], others[j][1])
        if begin < end:
            common.append((begin, end))
        if some[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return common


def difference(some, others):
    """What the first union has alone."""
    left = []
    for begin, end in some:
        for other_begin, other_end in others:
            if other_end <= begin:
                continue
            if other_begin >= end:
                break
            if other_begin > begin:
                left.append((begin, other_begin))
            begin = max(begin, other_end)
        if begin < end:
            left.append((begin, end))
    return left


def length(spans):
    return sum(end - begin for begin, end in spans)


def share(some, others):
    shorter = min(length(some), length(others))
    return length(intersection(some, others)) / shorter if shorter > 0 else None


def spans_of(events, *names):
    return [(event["ts"], event["ts"] + event["dur"]) for event in events if event["name"] in names]


def of_worker(events, warmup):
    """The figures of the spans of one worker, in milliseconds; None if there are too few steps."""
    begins = sorted(event["ts"] for event in events if event["name"] == "forward" and event["args"]["step"] >= warmup)
    if len(begins) < 2:
        return None
    window = [(begins[0], begins[-1])]
    passes = intersection(union(spans_of(events, "forward", "backward")), window)
    compute = difference(passes, union(spans_of(events, "await", "submit")))
    communication = intersection(union(spans_of(events, "wire")), window)
    steps = len(begins) - 1
    return {"steps": steps, "compute_ms": length(compute) / 1e3 / steps, "communication_ms": length(communication) / 1e3 / steps,
            "overlap_ms": length(intersection(compute, communication)) / 1e3 / steps, "overlap": share(compute, communication),
            "overlap_with_awaits": share(passes, communication)}


def workers_of(trace, warmup):
    """The figures of every worker, by name. The times of a trace are in microseconds."""
    names = {event["pid"]: event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M" and event["name"] == "process_name"}
    found = {}
    for process, name in sorted(names.items()):
        if name.startswith("worker"):
            found[name] = of_worker([event for event in trace["traceEvents"] if event["ph"] == "X" and event["pid"] == process], warmup)
    return found

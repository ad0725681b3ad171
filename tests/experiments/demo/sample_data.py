#!/usr/bin/env python3
"""Writes made-up but consistent data for the demo's page: a ring and a parameter server, simulated with a simple network.

usage: sample_data.py OUT.json [--workers 4] [--servers 1] [--steps 4] [--buckets 3] [--events 0] [--second ps-sync|ps-async|pairs|tree|host|all-reduce|none]
                               [--colocated] [--hostile] [--without-record] [--loopback]

--events N adds buckets and steps until both runs together have about N spans, transfers and updates.
"""
import argparse
import json
import pathlib
import random

from columns import table
from sample_collectives import BUCKETS

SPAN_KINDS = ["data", "forward", "backward", "submit", "queue", "wire", "reduce", "apply", "await", "evaluate", "codec"]
LANES = ["compute", "communication", "queue", "server", "server queue"]
PHASES = ["reduce-scatter", "all-gather", "reduce", "broadcast", "exchange", "push", "pull", "gather", "slice", "all-reduce"]
SPAN_COLUMNS = ["node", "lane", "kind", "step", "bucket", "begin", "end"]
TRANSFER_COLUMNS = ["from", "to", "phase", "step", "bucket", "offset", "elements", "bytes", "begin", "sent", "asked", "arrived",
                    "version", "staleness"]
UPDATE_COLUMNS = ["node", "step", "bucket", "offset", "elements", "version", "last", "begin", "end"]
HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>{{data}}'
LATENCY_US = 60


class Simulation:
    """One run: the spans, transfers and updates of all nodes, with each link used by one chunk at a time."""

    def __init__(self, options, seed):
        self.options = options
        self.random = random.Random(seed)
        self.workers, self.first = options.workers, 3
        self.rate = options.link_bytes_per_s / 1e6
        self.buckets = bucket_sizes(options.parameters, options.buckets)
        self.spans, self.transfers, self.updates, self.steps = [], [], [], []
        self.out_free, self.in_free = {}, {}
        self.ready = [[0.0] * len(self.buckets) for _ in range(self.workers)]  # when a worker may use the parameters of a bucket
        self.position = [0.0] * self.workers

    def span(self, node, lane, kind, step, bucket, begin, end):
        self.spans.append({"node": node, "lane": LANES.index(lane), "kind": SPAN_KINDS.index(kind), "step": step, "bucket": bucket,
                           "begin": round(begin), "end": round(end)})

    def send(self, phase, source, target, step, bucket, offset, elements, at, asked, version=-1, staleness=-1):
        """Sends a chunk as soon as both links are free. Returns when it is there."""
        took = 4 * elements / self.rate
        begin = max(at, self.out_free.get(source, 0.0))
        sent = begin + took
        arrived = max(sent, self.in_free.get(target, 0.0) + took) + LATENCY_US
        self.out_free[source], self.in_free[target] = sent, arrived - LATENCY_US
        self.chunk(phase, source, target, step, bucket, offset, elements, begin, sent, arrived, asked, version, staleness)
        return arrived

    def chunk(self, phase, source, target, step, bucket, offset, elements, begin, sent, arrived, asked, version=-1, staleness=-1):
        self.transfers.append({"from": source, "to": target, "phase": PHASES.index(phase), "step": step, "bucket": bucket, "offset": offset,
                               "elements": elements, "bytes": 4 * elements, "begin": round(begin), "sent": round(sent),
                               "asked": round(min(asked, arrived)), "arrived": round(arrived), "version": version, "staleness": staleness})

    def update(self, node, step, bucket, offset, elements, version, last, begin, end):
        self.updates.append({"node": node, "step": step, "bucket": bucket, "offset": offset, "elements": elements, "version": version, "last": last,
                             "begin": round(begin), "end": round(end)})

    def compute(self, worker, step):
        """A worker's forward and backward pass. Returns when each bucket is submitted."""
        share = self.options.compute_us / (3 * len(self.buckets))
        slow = 1.6 if step % self.workers == worker and step % 2 == 1 else 1.0
        begin = at = self.position[worker]
        for bucket in reversed(range(len(self.buckets))):
            if self.ready[worker][bucket] > at:
                self.span(worker, "compute", "await", step, bucket, at, self.ready[worker][bucket])
                at = self.ready[worker][bucket]
            at += share * slow * self.random.uniform(0.9, 1.1)
        self.span(worker, "compute", "forward", step, -1, begin, at)
        begin, submitted = at, []
        for bucket in range(len(self.buckets)):
            at += 2 * share * slow * self.random.uniform(0.9, 1.1)
            self.span(worker, "compute", "submit", step, bucket, at, at + 4)
            submitted.append(at + 4)
            at += 4
        self.span(worker, "compute", "backward", step, -1, begin, at)
        self.position[worker] = at
        return submitted

    def close(self, run):
        """Ends the steps where all workers have ended them, and gives the run its tables."""
        end = max([row["arrived"] for row in self.transfers] + [row["end"] for row in self.spans])
        run["window"] = {"first_step": self.first, "last_step": self.first + len(self.steps) - 1, "begin_us": 0, "end_us": end}
        run["steps"] = self.steps
        run["spans"] = table(self.spans, SPAN_COLUMNS)
        run["transfers"] = table(self.transfers, TRANSFER_COLUMNS)
        run["updates"] = table(self.updates, UPDATE_COLUMNS)
        times = sorted(one["end_us"] - one["begin_us"] for one in self.steps)
        run["step_ms"] = round(times[len(times) // 2] / 1000, 3)
        run["step_interval_ms"] = [round(times[0] / 1000, 3), round(times[-1] / 1000, 3)]
        return run

    def end_step(self, step, begin):
        end = round(sum(self.position) / self.workers)
        self.steps.append({"step": step, "begin_us": begin, "end_us": end})
        return end


def bucket_sizes(parameters, count):
    """The last bucket is the largest, as in a network whose first layer is."""
    weights = [1 + i for i in range(count)]
    sizes = [max(1, parameters * weight // sum(weights)) for weight in weights]
    sizes[-1] += max(0, parameters - sum(sizes))
    return sizes


def parts(elements, count):
    """(offset, elements) of `count` nearly equal chunks."""
    edges = [elements * i // count for i in range(count + 1)]
    return [(a, b - a) for a, b in zip(edges, edges[1:])]


def simulate_all_reduce(options, sum_bucket):
    sim, workers, begin = Simulation(options, 1), options.workers, 0
    for step in range(sim.first, sim.first + options.steps):
        submitted = [sim.compute(worker, step) for worker in range(workers)]
        for bucket, elements in enumerate(sim.buckets):
            start = [submitted[worker][bucket] for worker in range(workers)]
            update_workers(sim, step, bucket, elements, start, sum_bucket(sim, step, bucket, elements, start))
        begin = sim.end_step(step, begin)
    return sim


def ring_bucket(sim, step, bucket, elements, start):
    """Sums one bucket: N-1 hops of reduce-scatter, then N-1 of all-gather."""
    workers, at = sim.workers, list(start)
    chunks = parts(elements, workers)
    for hop in range(2 * (workers - 1)):
        phase = "reduce-scatter" if hop < workers - 1 else "all-gather"
        arrived = [0.0] * workers
        for worker in range(workers):
            right = (worker + 1) % workers
            offset, size = chunks[(worker - hop) % workers]
            arrived[right] = sim.send(phase, worker, right, step, bucket, offset, size, at[worker], at[right])
        at = [max(own, there) for own, there in zip(at, arrived)]
    return at


def update_workers(sim, step, bucket, elements, start, at):
    for worker in range(sim.workers):
        took = 6 + elements / 400
        sim.span(worker, "communication", "wire", step, bucket, start[worker], at[worker])
        sim.span(worker, "communication", "apply", step, bucket, at[worker], at[worker] + took)
        sim.update(worker, step, bucket, 0, elements, step + 1, -1, at[worker], at[worker] + took)
        sim.ready[worker][bucket] = at[worker] + took


def simulate_servers(options, asynchronous):
    sim, begin = Simulation(options, 2), 0
    sim.versions, sim.held = {}, [{} for _ in range(options.workers)]
    for step in range(sim.first, sim.first + options.steps):
        submitted = [sim.compute(worker, step) for worker in range(options.workers)]
        for bucket, elements in enumerate(sim.buckets):
            for server, (offset, size) in enumerate(parts(elements, options.servers)):
                server_chunk(sim, options.workers + server, step, bucket, offset, size, [one[bucket] for one in submitted], asynchronous)
        begin = sim.end_step(step, begin)
    return sim


def server_chunk(sim, server, step, bucket, offset, elements, submitted, asynchronous):
    key, took = (server, bucket, offset), 4 + elements / 500
    version = sim.versions.get(key, step)
    pushes = []
    for worker in sorted(range(sim.workers), key=lambda one: submitted[one]):
        held = sim.held[worker].get(key, step)
        arrived = sim.send("push", worker, server, step, bucket, offset, elements, submitted[worker], submitted[worker], held, -1)
        pushes.append((arrived, worker, held, len(sim.transfers) - 1))
    pushes.sort()
    free = 0.0
    for i, (arrived, worker, held, row) in enumerate(pushes):
        begin, last = max(arrived, free), i == len(pushes) - 1
        sim.span(server, "server", "apply" if asynchronous or last else "reduce", step, bucket, begin, begin + took)
        free = begin + took
        sim.transfers[row]["staleness"] = version - held
        if asynchronous or last:
            version += 1
            sim.update(server, step, bucket, offset, elements, version, worker, begin, free)
        if asynchronous:
            answer(sim, server, worker, step, bucket, offset, elements, free, version)
    sim.versions[key] = version
    if not asynchronous:
        for worker in range(sim.workers):
            answer(sim, server, worker, step, bucket, offset, elements, free, version)


def answer(sim, server, worker, step, bucket, offset, elements, at, version):
    sim.held[worker][(server, bucket, offset)] = version
    there = sim.send("pull", server, worker, step, bucket, offset, elements, at, sim.position[worker], version, 0)
    sim.ready[worker][bucket] = max(sim.ready[worker][bucket], there)


def describe(options, strategy, sim):
    servers = options.servers if strategy.startswith("ps-") else 0
    name = HOSTILE if options.hostile else None
    hosts = [f"host {i}" for i in range(options.workers + (0 if options.colocated else servers))]
    nodes = [{"name": name or f"worker {i}", "kind": "worker", "host": hosts[i]} for i in range(options.workers)]
    nodes += [{"name": name or f"server {i}", "kind": "server", "host": hosts[i % len(hosts) if options.colocated else options.workers + i]}
              for i in range(servers)]
    moved = 4 * options.parameters
    wire = 2 * (options.workers - 1) / options.workers * moved if servers == 0 else options.workers * moved / servers
    bound = max(wire / sim.rate, options.compute_us) / 1000
    return {
        "title": f"{strategy} {name}" if name else strategy, "id": f"{strategy}-0123456789ab", "strategy": strategy,
        "family": "ring" if servers == 0 else "parameter server", "topology": "star" if servers > 0 else strategy,
        "model": name or f"mlp ({options.parameters:,} parameters)", "parameters": options.parameters, "workers": options.workers, "servers": servers,
        "servers_in_workers": options.colocated and servers > 0,
        "network": "loopback: networks cannot be emulated here" if options.loopback else
                   f"{len(hosts)} emulated hosts, links of {options.link_bytes_per_s * 8 / 1e6:.0f} Mbit/s",
        "emulated": not options.loopback, "link_bytes_per_s": None if options.loopback else options.link_bytes_per_s, "dilation": 1,
        "bound_ms": round(bound, 3), "bound_resource": "network" if wire / sim.rate > options.compute_us else "compute",
        "achievable_ms": round(bound * 1.08, 3), "status": "ok", "nodes": nodes, "buckets": sim.buckets,
        "notes": [name] if name else [], "span_kinds": SPAN_KINDS, "lanes": LANES, "phases": PHASES}


def empty(run):
    """A run of whose record nothing but the head is left."""
    run |= {"spans": table([], SPAN_COLUMNS), "transfers": table([], TRANSFER_COLUMNS), "updates": table([], UPDATE_COLUMNS), "steps": []}
    run["notes"] = run["notes"] + ["The record is cut off. The page shows what there is.", "The run has no trace.json, so nobody knows what its threads did."]
    return run


def make_run(options, strategy):
    sums = {"ring": ring_bucket, **BUCKETS}
    sim = simulate_all_reduce(options, sums[strategy]) if strategy in sums else simulate_servers(options, strategy == "ps-async")
    run = sim.close(describe(options, strategy, sim))
    return empty(run) if options.without_record else run


def grow(options):
    """Chooses buckets and steps so that a ring and a server together have about `events` rows."""
    a_bucket = options.workers * (2 * (options.workers - 1) + 5) + options.workers * (2 * options.servers + 3) + options.servers * options.workers
    options.steps = max(options.steps, 8)
    options.buckets = max(1, round(options.events / a_bucket / options.steps))


def make(options):
    if options.events:
        grow(options)
    runs = [make_run(options, "ring")]
    if options.second != "none":
        runs.append(make_run(options, options.second))
    return {"format": 1, "made": {"commit": "0123abc", "command": "ringside demo", "version": "1.0.0"}, "runs": runs}


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("workers", 4), ("servers", 1), ("steps", 4), ("buckets", 3), ("events", 0), ("parameters", 9610)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--compute-us", type=float, default=5000)
    parser.add_argument("--link-bytes-per-s", type=float, default=12_500_000)
    parser.add_argument("--second", choices=["ps-sync", "ps-async", *BUCKETS, "none"], default="ps-sync")
    for name in ("colocated", "hostile", "without-record", "loopback"):
        parser.add_argument(f"--{name}", action="store_true")
    return parser, parser.parse_args(arguments) if arguments is not None else None


def sample(*arguments):
    """The data for these flags, for tests."""
    return make(parse(arguments)[1])


def main():
    parser, _ = parse()
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    data = make(options)
    options.out.write_text(json.dumps(data), encoding="utf-8")
    for run in data["runs"]:
        print(run["strategy"], *(f"{run[name]['count']} {name}" for name in ("spans", "transfers", "updates")), f"{run['step_ms']} ms a step")


if __name__ == "__main__":
    main()

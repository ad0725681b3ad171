"""Times push and pull through the parameter server of Apache MXNet 1.9.1: its `dist_sync` key-value store, which is built on ps-lite
over ZeroMQ. It is the peer of `push_pull_benchmark`.

Starts a scheduler, servers and workers as processes of their own on loopback. Servers sum the pushes of all workers and store the
sum; they update nothing. Each bucket is a key. Each process has one thread for sums (OMP_NUM_THREADS, MXNET_CPU_WORKER_NTHREADS). All
other settings are MXNet's own: arrays of more than a million elements are divided among all servers.

Prints one JSON object: the median over ROUNDS rounds of the slowest worker's time from its first push until it has all sums.
usage: mxnet_push_pull.py WORKERS SERVERS MIB BUCKET_MIB ROUNDS
"""
import json
import os
import socket
import statistics
import subprocess
import sys
import time

WARMUP = 3
SECONDS = 120  # of a job, at most


def run_worker(mib, bucket_mib, rounds):
    import mxnet as mx  # a scheduler or a server would begin to serve with this line

    store = mx.kv.create("dist_sync")
    shape = (bucket_mib * (1 << 20) // 4,)
    keys = list(range(mib // bucket_mib))
    gradients = [mx.nd.zeros(shape) for _ in keys]
    params = [mx.nd.zeros(shape) for _ in keys]
    store.init(keys, params)
    times = []
    for index in range(WARMUP + rounds):
        for each in gradients:  # the store receives pulls where it sent pushes from, to save a copy
            each[:] = 1 << store.rank
        mx.nd.waitall()
        store._barrier()
        begin = time.perf_counter()
        store.push(keys, gradients)
        store.pull(keys, out=params)
        mx.nd.waitall()
        if index >= WARMUP:
            times.append(1e3 * (time.perf_counter() - begin))
    wanted = (1 << store.num_workers) - 1
    right = all(float(each.min().asscalar()) == wanted == float(each.max().asscalar()) for each in params)
    print(json.dumps({"times_ms": times, "right": right}))


def environment(role, port, workers, servers):
    return {**os.environ, "DMLC_ROLE": role, "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(port),
            "DMLC_NODE_HOST": "127.0.0.1", "DMLC_NUM_WORKER": str(workers), "DMLC_NUM_SERVER": str(servers),
            "OMP_NUM_THREADS": "1", "MXNET_CPU_WORKER_NTHREADS": "1"}


def main():
    workers, servers, mib, bucket_mib, rounds = (int(argument) for argument in sys.argv[1:6])
    if os.environ.get("DMLC_ROLE") == "worker":
        run_worker(mib, bucket_mib, rounds)
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    deadline = time.monotonic() + SECONDS
    started = []

    def start(role, command, **more):
        started.append(subprocess.Popen(command, env=environment(role, port, workers, servers), **more))
        return started[-1]

    try:
        for role, count in (("scheduler", 1), ("server", servers)):
            for _ in range(count):
                start(role, [sys.executable, "-c", "import mxnet"], stdout=subprocess.DEVNULL)
        outputs = [start("worker", [sys.executable, *sys.argv], stdout=subprocess.PIPE, text=True) for _ in range(workers)]
        results = [json.loads(each.communicate(timeout=max(1, deadline - time.monotonic()))[0]) for each in outputs]
        for each in started:
            each.wait(timeout=max(1, deadline - time.monotonic()))
    finally:
        for each in started:
            each.kill()
    if not all(each["right"] for each in results):
        sys.exit("mxnet_push_pull: a sum is wrong")
    slowest = [max(times) for times in zip(*(each["times_ms"] for each in results))]
    print(json.dumps({"ms": statistics.median(slowest), "rounds": rounds}))


if __name__ == "__main__":
    main()

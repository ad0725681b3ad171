"""Measures the rows on one host, except those of the whole program (`whole_jobs`). Every function takes the context first and returns a row's figures."""
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile

from comparison.measure import ROOT, Measured, Skipped, faster, interleaved, run, slower

WARMUP = 3
MLP_PARAMETERS = 5_824_522
MLP = ["--model", "mlp", "--data", "synthetic", "--batch-per-worker", 32, "--lr", 0.01]


# Sums over all ranks; one `ringside bench --peers` serves all rows of a size.

def bench_rows(context, strategy, workers, size):
    def measure():
        context.strategy(strategy)
        out = run([context.ringside, "bench", "--strategy", strategy, "--workers", workers, "-b", size, "-e", size,
                   "-n", 10 if size.endswith("MiB") else 200, "--rounds", context.rounds, "--peers",
                   "--quiet", "--json"])
        return json.loads(out)
    result = context.once(("bench", strategy, workers, size), measure)
    return result["rows"], {skipped["strategy"]: skipped["reason"] for skipped in result["skipped"]}


def bench_ratio(strategy, peer, workers, size):
    """`peer` is the name of a row, or "gloo" for the fastest algorithm of Gloo alone."""
    def measure(context):
        rows, skipped = bench_rows(context, strategy, workers, size)
        ours = next(row for row in rows if row["strategy"] == strategy)
        theirs = next((row for row in rows if row["strategy"] == peer or (peer == "gloo" and row["best"])), None)
        if theirs is None:
            raise Skipped(skipped.get(peer, f"{peer} did not run"))
        if ours["wrong"]:
            raise RuntimeError(f"{strategy}: {ours['wrong']} elements of {size} are wrong")
        unsteady = [row["strategy"] for row in (ours, theirs) if row["steady"] is False]
        note = ", ".join([theirs["strategy"], *(f"{name} was not known to be steady" for name in unsteady)])
        return Measured(ours["time_us"], theirs["time_us"], theirs["time_us"] / ours["time_us"],
                        len(ours["round_us"]), unit="us", note=note,
                        samples={"ours": ours["round_us"], "peer": theirs["round_us"]})
    return measure


# Training on this machine.

def metrics_step_ms(bundle):
    """The mean over the steps after the warm-up, timed like PyTorch's loop."""
    lines = (pathlib.Path(bundle) / "metrics.jsonl").read_text().splitlines()
    records = [record for record in map(json.loads, lines) if "step_ms" in record]
    last = max(record["step"] for record in records)
    if last < WARMUP:
        raise RuntimeError(f"{bundle}: only {last + 1} steps")
    return statistics.fmean(record["step_ms"] for record in records if record["step"] >= WARMUP)


def train_step_ms(context, strategy, workers, steps, *flags, env=None):
    with tempfile.TemporaryDirectory() as out:
        bundle = pathlib.Path(out) / "run"
        run([context.ringside, "train", "--strategy", strategy, "--workers", workers, "--steps", WARMUP + steps,
             "--quiet", "--out", bundle, *flags], env)
        return metrics_step_ms(bundle)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def need_torch():
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True, check=False).returncode:
        raise Skipped("python3-torch is not installed (scripts/install-dependencies.sh --benchmarks)")


def torch_program(model, sync, steps):
    return ["/usr/bin/python3", str(ROOT / "benchmarks/peers/torch_training.py"), model, sync, "32", str(WARMUP), str(steps)]


def ddp_step_ms(workers, steps, model="mlp"):
    # torch.set_num_threads does not reach OpenBLAS. One thread for each process, as torchrun sets it and as our workers have.
    env = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "GLOO_SOCKET_IFNAME": "lo",
           "WORLD_SIZE": str(workers), "OMP_NUM_THREADS": "1"}
    command = torch_program(model, "ddp", steps)
    others = [subprocess.Popen(command, env={**os.environ, **env, "RANK": str(rank)}) for rank in range(1, workers)]
    try:
        return json.loads(run(command, {**env, "RANK": "0"}))["step_ms"]
    finally:
        for process in others:
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()


def mlp_against(strategy, peer, *flags):
    """The MLP's step with two workers, over that of DDP or of another strategy."""
    def measure(context):
        context.strategy(strategy)
        steps = context.steps
        if peer == "ddp":
            need_torch()
            theirs = lambda: ddp_step_ms(2, steps)
        else:
            theirs = lambda: train_step_ms(context, peer, 2, steps, *MLP)
        values = interleaved(context.rounds, {
            "ours": lambda: train_step_ms(context, strategy, 2, steps, *MLP, *flags), "peer": theirs})
        return slower(values["ours"], values["peer"])
    return measure


def python_step_ms(context, model, strategy, workers, steps):
    """A step of a PyTorch program as the model of a run."""
    package = context.build / "python"
    if not any(package.glob("ringside/_native*.so")):
        raise Skipped("the Python package is not built (RINGSIDE_PYTHON_PACKAGE)")
    return train_step_ms(context, strategy, workers, steps, "--", *torch_program(model, "ringside", steps),
                         env={"PYTHONPATH": str(package)})


def python_against_ddp(model, strategy, workers=2):
    """A PyTorch program under a strategy, and the same under DistributedDataParallel. With one worker: a plain loop."""
    def measure(context):
        need_torch()
        context.strategy(strategy)
        steps = 3 * context.steps
        values = interleaved(context.rounds, {
            "ours": lambda: python_step_ms(context, model, strategy, workers, steps),
            "peer": lambda: ddp_step_ms(workers, steps, model)})
        return slower(values["ours"], values["peer"])
    return measure


def python_against_ours(model):
    """A model as a PyTorch program, and the same in Ringside's own loop, with `ring`. There the CNN is a TorchScript module."""
    def measure(context):
        need_torch()
        steps = 3 * context.steps
        with tempfile.TemporaryDirectory() as folder:
            if model == "mlp":
                flags = MLP
            else:
                run([*torch_program(model, "script", steps), folder])
                flags = ["--model", f"script:{folder}/net.pt", "--data", f"npz:{folder}/data.npz", "--batch-per-worker", "32", "--lr", "0.01"]
            values = interleaved(context.rounds, {
                "ours": lambda: python_step_ms(context, model, "ring", 2, steps),
                "peer": lambda: train_step_ms(context, "ring", 2, steps, *flags)})
        return slower(values["ours"], values["peer"])
    return measure


def cost_of_flags(strategy, steps, job, *flags):
    """The step of two workers with these flags, over the step of the same job without: medians over rounds of a run's
    mean step. A difference of one percent needs more rounds than others."""
    def measure(context):
        def step_ms(*more):
            return train_step_ms(context, strategy, 2, max(steps, context.steps), *job, *more)
        values = interleaved(max(21, context.rounds), {"ours": lambda: step_ms(*flags), "peer": step_ms})
        return slower(values["ours"], values["peer"])
    return measure


def coalesced(workers):
    """1,000 tensors of 4 KiB with `ring`: in buckets of 4 MiB, and every tensor alone."""
    def measure(context):
        model = ["--model", "profile:small-tensors"]
        values = interleaved(context.rounds, {
            "ours": lambda: train_step_ms(context, "ring", workers, 20, *model, "--bucket-mb", 4),
            "peer": lambda: train_step_ms(context, "ring", workers, 20, *model, "--bucket-mb", 0)})
        return faster(values["ours"], values["peer"])
    return measure


def plain_loop(context):
    program = context.build / "bin/plain_loop_benchmark"
    if not program.exists():
        raise Skipped("plain_loop_benchmark is not built: it needs libtorch")
    result = json.loads(run([program, "--rounds", context.rounds]).splitlines()[-1])
    return Measured(result["ours_ms"], result["plain_ms"], result["ratio"], context.rounds)


def start_of_help(context):
    import time
    def once():
        begin = time.perf_counter()
        run([context.ringside, "--help"])
        return (time.perf_counter() - begin) * 1e3
    rounds = max(9, context.rounds)
    median = statistics.median(once() for _ in range(rounds))
    return Measured(median, 50.0, median / 50.0, rounds)


# The report's page for the 500 runs of the browser test.

def page(context):
    def measure():
        study = context.build / "bin/synthetic_study"
        if not study.exists():
            raise Skipped("synthetic_study is not built: it is one of the tests")
        with tempfile.TemporaryDirectory() as scratch:
            run([study, f"{scratch}/study"])
            run([context.ringside, "report", f"{scratch}/study"])
            check = ROOT / "tests/experiments/report/page/browser_check.py"
            return json.loads(run(["/usr/bin/python3", "-B", check, f"{scratch}/study", f"{scratch}/study.names.json", "--benchmark"]))
    return context.once("page", measure)


def page_interactive(context):
    result = page(context)
    return Measured(result["interactive_ms"], 2000.0, result["interactive_ms"] / 2000, result["loads"])


def page_size(context):
    megabytes = page(context)["page_bytes"] / 1e6
    return Measured(megabytes, 8.0, megabytes / 8, 1, unit="MB")


# Push and pull.

def push_pull_result(context, workers=2, servers=1):
    rounds = max(5, context.rounds)
    return context.once(("push-pull", workers, servers), lambda: {"rounds": rounds, **json.loads(
        run([context.build / "bin/push_pull_benchmark", "--rounds", rounds, "--workers", workers, "--servers", servers],
            timeout=300).splitlines()[-1])})


def optimizer_copy(rule):
    """Bytes a second that an optimizer reads and writes, over those of a copy. The vector is that of the MLP, larger than a cache."""
    def measure(context):
        program = context.build / "bin/optimizer_benchmark"
        if not program.exists():
            raise Skipped("optimizer_benchmark was not built: Google Benchmark is missing")

        def seconds_per_gigabyte(name):
            output = run([program, f"--benchmark_filter=^{name}/{MLP_PARAMETERS}$", "--benchmark_format=json"])
            return 1e9 / json.loads(output)["benchmarks"][0]["bytes_per_second"]

        values = interleaved(context.rounds, {"ours": lambda: seconds_per_gigabyte(f"Apply/{rule}"),
                                              "peer": lambda: seconds_per_gigabyte("Copy")})
        return faster(values["ours"], values["peer"], unit="s/GB")
    return measure


def push_pull_protobuf(context):
    result = push_pull_result(context)
    return Measured(result["ours_ms"], result["protobuf_ms"], 1 / result["ratio"], result["rounds"])


def push_pull_sockets(context):
    result = push_pull_result(context)
    return Measured(result["ours_ms"], result["sockets_ms"], result["sockets_ratio"], result["rounds"])


def push_pull_tcp(workers, servers):
    def measure(context):
        result = push_pull_result(context, workers, servers)
        return Measured(result["tcp_ms"], result["ours_ms"], result["tcp_to_grpc"], result["rounds"])
    return measure


def push_pull_tcp_sockets(workers, servers):
    def measure(context):
        result = push_pull_result(context, workers, servers)
        return Measured(result["tcp_ms"], result["sockets_ms"], result["tcp_to_sockets"], result["rounds"])
    return measure


def push_pull_mxnet(workers, servers):
    """Our plain TCP, and the parameter server of MXNet (ps-lite over ZeroMQ), in turns. MXNet's servers sum, ours also update."""
    def measure(context):
        made = subprocess.run([ROOT / "scripts/python-venv.sh", "mxnet==1.9.1", "numpy<1.24"], capture_output=True, text=True, check=False)
        if made.returncode:
            raise Skipped("MXNet 1.9.1 could not be installed from PyPI")
        layout = ["--workers", workers, "--servers", servers]

        def ours():
            command = [context.build / "bin/push_pull_benchmark", "--rounds", 10, "--transport", "tcp", "--only", "ringside", *layout]
            return json.loads(run(command).splitlines()[-1])["tcp_ms"]

        def theirs():
            command = [made.stdout.strip(), ROOT / "benchmarks/peers/mxnet_push_pull.py", workers, servers, 64, 4, 10]
            return json.loads(run(command).splitlines()[-1])["ms"]
        values = interleaved(context.slow_rounds, {"ours": ours, "peer": theirs})
        return slower(values["ours"], values["peer"])
    return measure


def push_pull_90_ms(context):
    result = push_pull_result(context)
    return Measured(result["ours_ms"], 90.0, result["ours_ms"] / 90.0, result["rounds"])


def push_pull_transport(transport):
    """64 MiB over a transport, compared with gRPC over TCP."""
    def measure(context):
        context.key("ps-sync", "ps-transport")

        def once(name):
            out = run([context.ringside, "bench", "--strategy", "ps-sync", "--workers", 2, "--servers", 1, "-b", "64MiB",
                       "-e", "64MiB", "-n", 5, "-w", 2, "--ps-transport", name, "--quiet", "--json"])
            return json.loads(out)["rows"][0]["time_us"] / 1e3
        values = interleaved(context.rounds, {"ours": lambda: once(transport), "peer": lambda: once("grpc")})
        return faster(values["ours"], values["peer"])
    return measure

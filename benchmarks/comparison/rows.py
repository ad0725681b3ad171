"""The table of rows: what a row shows, its target, and how it is measured."""
import dataclasses
import typing

from comparison import cells, emulated, laboratory, subjects, whole_jobs
from comparison.cells import Cell
from comparison.measure import Measured


@dataclasses.dataclass(frozen=True)
class Row:
    name: str  # group/detail; --only takes the group or the whole name
    what: str
    measure: typing.Callable[..., Measured]
    at_least: float | None = None
    at_most: float | None = None

    def target(self):
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return "none" if self.at_most is None else f"<= {self.at_most:g}"

    def reached(self, ratio):
        """Whether the ratio is within the target; None without a target."""
        if self.at_least is not None:
            return ratio >= self.at_least
        return None if self.at_most is None else ratio <= self.at_most


# Strategy, dedicated servers, flags.
RING = ("ring", 0, ())
HALVING_DOUBLING = ("halving-doubling", 0, ())
# The last bucket's pulls follow its pushes. With few buckets per server, this tail is a large part of the whole.
SMALL_BUCKETS = ("--bucket-mb", 1)
QUARTER_BUCKETS = ("--bucket-mb", 0.25)
COLOCATED = ("ps-sync", 0, ("--servers", "colocated", *SMALL_BUCKETS))
MIXED_2 = ("mixed", 2, QUARTER_BUCKETS)
MIXED_4 = ("mixed", 4, QUARTER_BUCKETS)

# All traffic of four or more hosts goes through two cores. At 1 Gbit/s rings leave half of them idle, but servers do not
# (README.md). So servers run at 500 Mbit/s, where the links are the limit and not the cores.
RING_RATE = "1Gbps"
RATE = "500Mbps"
OVERLAP = "2 hosts at 1 Gbit/s, profile:resnet50, compute = communication, ring, overlap"
FOUR_AT_1G = "four hosts at 1 Gbit/s, 100 MB"
FOUR = "four hosts at 500 Mbit/s (two cores are the limit above), 100 MB"


def shm(workers, size, peer, label, at_least):
    return Row(f"shm/{label}-{workers}x{size}", f"shm / {label}, {workers} ranks, {size}: times as fast",
               subjects.bench_ratio("shm", peer, workers, size), at_least=at_least)


# The contenders that take turns.
RINGS = (RING, HALVING_DOUBLING)
BESIDE_RING = (MIXED_4, RING)


def share(name, contender, contenders, text, rate=RATE, hosts=FOUR):
    return Row(f"lab/{name}", f"{hosts}: {text}, share of its own bound",
               emulated.lab_share(rate, contender, contenders), at_least=0.93)


def cell(what, contender, at_most):
    return Row(f"net/{contender.name()}", f"{what}: step / achievable",
               cells.over_achievable(contender), at_most=at_most)


def beyond_ps_sync(what, contender, servers):
    return Row(f"net/{contender.name()}", f"{MOBILENET}, 300 Mbit/s, 4 workers, {what}, servers {servers}: step / achievable, less that "
               "of ps-sync", cells.beyond(contender, Cell("ps-sync", 4, "300Mbps", servers)), at_most=0.05)


# Default flags; the emulated compute of a step is 400 ms.
MOBILENET = "profile:mobilenet-v2"
RING_NAMES = ("ring", "halving-doubling")
LAYOUTS = ((1, 1), (2, 1), (2, 2), (4, 2))  # workers, servers
CELLS = [
    *[cell(f"{MOBILENET}, {rate}, 4 workers, servers {servers}", Cell("ps-sync", 4, rate, servers, steps=6 if servers == "1" else 9),
           1.06) for rate in ("100Mbps", "300Mbps", "1Gbps") for servers in ("1", "4", "colocated")],
    *[cell(f"{MOBILENET}, {rate}, 8 workers, servers {servers}", Cell("ps-sync", 8, rate, servers, steps=6, dilation="auto"), 1.10)
      for rate in ("100Mbps", "300Mbps", "1Gbps") for servers in ("1", "8", "colocated")],
    *[cell(f"profile:resnet50, 25 Gbit/s, 16 workers, {strategy}, servers {servers or 'none'}",
           Cell(strategy, 16, "25Gbps", servers, model="profile:resnet50", compute_ms=30, steps=5, dilation="auto",
                label="resnet50"), 1.10)
      for strategy, servers in (("ring", ""), ("halving-doubling", ""), ("ps-sync", "1"), ("ps-sync", "16"), ("ps-sync", "colocated"))],
    cell("profile:resnet50, 200 Mbit/s, 3 workers, 2 servers",
         Cell("ps-sync", 3, "200Mbps", "2", model="profile:resnet50", steps=6, label="resnet50"), 1.06),
    cell("profile:bert-base, 1 Gbit/s, 4 workers, 4 servers",
         Cell("ps-sync", 4, "1Gbps", "4", model="profile:bert-base", steps=6, dilation="auto", label="bert-base"), 1.06),
    # The target is relative: at most 0.05 further from the achievable step than `ps-sync` with the same servers.
    *[beyond_ps_sync(strategy, Cell(strategy, 4, "300Mbps", servers), servers)
      for strategy, servers in (("mixed", "2"), ("ps-async", "4"), ("ps-ssp", "4"), ("ps-backup", "4"))],
    *[beyond_ps_sync(label, Cell("ps-sync", 4, "300Mbps", "4", flags=flags, label=label), "4")
      for label, flags in (("fp16", ("--codec", "fp16")), ("int8", ("--codec", "int8")),
                           ("priority", ("--schedule", "priority")))],
    *[cell(f"{MOBILENET}, {rate}, 4 workers, {strategy}", Cell(strategy, 4, rate), 1.03)
      for strategy in RING_NAMES for rate in ("100Mbps", "300Mbps", "1Gbps")],
    *[cell(f"{MOBILENET}, {rate}, 8 workers, {strategy}", Cell(strategy, 8, rate, steps=6, dilation="auto"), 1.03)
      for strategy in RING_NAMES for rate in ("100Mbps", "300Mbps", "1Gbps")],
    *[cell(f"profile:resnet50, 200 Mbit/s, 3 workers, {strategy}",
           Cell(strategy, 3, "200Mbps", model="profile:resnet50", steps=6, label="resnet50"), 1.03) for strategy in RING_NAMES],
    *[cell(f"profile:bert-base, 1 Gbit/s, 4 workers, {strategy}",
           Cell(strategy, 4, "1Gbps", model="profile:bert-base", steps=6, dilation="auto", label="bert-base"), 1.03)
      for strategy in RING_NAMES],
    *[Row(f"net-cpu/{servers}", f"{MOBILENET}, 1 Gbit/s, 4 workers, servers {servers}: processor time of a step, tcp / grpc",
          cells.processor_time(Cell("ps-sync", 4, "1Gbps", servers), "tcp", "grpc"), at_most=1.0) for servers in ("1", "4")],
]

# A cell in which the processor is not the limit.
FACTORS = ("2", "4", "10")
DILATIONS = [
    *[row for label, contender in (("ring", Cell("ring", 4, "300Mbps", steps=8)), ("ps-sync", Cell("ps-sync", 4, "300Mbps", "4", steps=8)))
      for row in (
          Row(f"net-dilation/{label}", f"{MOBILENET}, 300 Mbit/s, 4 workers, {label}: longest step / shortest, dilated by 2, 4 and 10",
              cells.dilations_agree(contender, FACTORS, lambda run: run["step_ms"]["median"], "ms"), at_most=1.03),
          Row(f"net-dilation/{label}-bytes", "the same: most bytes a worker sent / least",
              cells.dilations_agree(contender, FACTORS, lambda run: run["bytes_sent_per_worker"], "bytes"), at_most=1.03))],
    Row("net-dilation/control", f"{MOBILENET}, 2 Gbit/s, 8 workers, 8 servers without dilation, where the processor is the limit: "
        "share of runs that pass as true to the network",
        cells.not_limited(Cell("ps-sync", 8, "2Gbps", "8", compute_ms=100, steps=6)), at_most=0),
]

ROWS = [
    Row("help", "ringside --help / 50 ms", subjects.start_of_help, at_most=1.0),
    Row("libtorch", "libraries of libtorch that ringside --help loads", whole_jobs.libtorch_loaded, at_most=0),
    Row("quickstart/time", "the quickstart's matrix / 60 s", whole_jobs.quickstart_time, at_most=1),
    Row("quickstart/accuracy", "the quickstart: least test accuracy of a synchronous strategy / 95 %",
        whole_jobs.quickstart_accuracy, at_least=1),
    *[Row(f"launch/{name}", f"64 workers of profile:small-tensors, {text}: from the start to the first step / {whole_jobs.LAUNCH_SECONDS:g} s",
          whole_jobs.launch(64, *flags), at_most=1)
      for name, text, flags in (("ring", "ring, our launcher", ("ring",)),
                                ("ps-sync", "ps-sync, our launcher", ("ps-sync",)),
                                ("ring-mpirun", "ring, mpirun", ("ring", "--launcher", "mpirun")))],
    *[Row(f"verify/{optimizer}", f"MLP, digits, 50 steps of {optimizer}, 1 to 4 workers, 1 to 3 servers: largest difference to "
          "a single worker / its limit", whole_jobs.verify(optimizer), at_most=1) for optimizer in ("sgd", "adam")],
    *[Row(f"matrix/{label}", f"matrix, 4 workers, {model}: a run's time besides its steps / {target} s",
          whole_jobs.matrix_overhead(study, needs_libtorch), at_most=1)
      for label, model, target, study, needs_libtorch in (
          ("overhead", "emulated model", 2, "profile", False), ("overhead-libtorch", "MLP on libtorch", 4, "mlp", True))],
    Row("matrix/kills", f"{whole_jobs.KILLS} times kill -9 of a matrix's runner, then --resume: runs lost, doubled or half-written",
        whole_jobs.matrix_kills, at_most=0),
    Row("report/interactive", "report.html of 500 runs in headless Chromium: interactive / 2 s", subjects.page_interactive, at_most=1.0),
    Row("report/size", "report.html of 500 runs / 8 MB", subjects.page_size, at_most=1.0),
    Row("plain", "MLP 5.8 M step, 1 worker: none / plain libtorch loop", subjects.plain_loop, at_most=1.05),

    *[shm(2, size, "gloo", "gloo", 10) for size in ("4MiB", "64MiB")],
    *[shm(2, size, "openmpi", "mpi", at_least)
      for size, at_least in (("4KiB", 1), ("256KiB", 3), ("4MiB", 2), ("64MiB", 5))],
    *[shm(4, size, "openmpi", "mpi", at_least) for size, at_least in (("4MiB", 4), ("64MiB", 6))],
    *[shm(2, size, "impi", "impi", at_least) for size, at_least in (("4KiB", 1), ("256KiB", 2), ("4MiB", 2), ("64MiB", 2))],
    *[shm(2, size, peer, peer, at_least) for peer in ("openmpi5", "mpich")
      for size, at_least in (("4KiB", 1), ("256KiB", 2), ("4MiB", 2), ("64MiB", 2))],
    Row("shm/copy-2x64MiB", "shm, 2 ranks, 64 MiB: share of the bound 2NM / copy bandwidth",
        subjects.bench_ratio("shm", "memory-copy", 2, "64MiB"), at_least=0.8),

    Row("ddp/shm", "MLP 5.8 M step, 2 workers: shm / DDP over Gloo", subjects.mlp_against("shm", "ddp"), at_most=0.4),
    Row("ddp/ring", "MLP 5.8 M step, 2 workers: ring / DDP over Gloo", subjects.mlp_against("ring", "ddp"), at_most=0.9),
    Row("ddp/ps-sync", "MLP 5.8 M step, 2 workers: ps-sync / DDP over Gloo",
        subjects.mlp_against("ps-sync", "ddp", "--servers", 1), at_most=1.3),
    *[Row(f"python/{model}-{strategy}", f"{text} as a PyTorch program, 2 workers: {strategy} / DDP over Gloo",
          subjects.python_against_ddp(model, strategy), at_most=at_most)
      for model, text, strategy, at_most in (
          ("mlp", "MLP 5.8 M", "shm", 0.45), ("cnn", "CNN 4.3 M", "shm", 0.75),
          ("mlp", "MLP 5.8 M", "ring", 0.75), ("cnn", "CNN 4.3 M", "ring", 0.9))],
    # What computing alone takes, so no strategy can be at less.
    *[Row(f"python/{model}-none", f"{text} as a PyTorch program, 2 workers: none / DDP over Gloo", subjects.python_against_ddp(model, "none"))
      for model, text in (("mlp", "MLP 5.8 M"), ("cnn", "CNN 4.3 M"))],
    *[Row(f"python/{model}-alone-{strategy}", f"{text} as a PyTorch program, 1 worker: {strategy} / a plain PyTorch loop",
          subjects.python_against_ddp(model, strategy, 1), at_most=1.05)
      for model, text in (("mlp", "MLP 5.8 M"), ("cnn", "CNN 4.3 M")) for strategy in ("none", "ring", "shm")],
    *[Row(f"python/{model}-loop", f"{text}, 2 workers, ring: as a PyTorch program / Ringside's own loop",
          subjects.python_against_ours(model), at_most=1.05) for model, text in (("mlp", "MLP 5.8 M"), ("cnn", "CNN 4.3 M, TorchScript"))],
    Row("mlp/ps-sync-ring", "MLP 5.8 M step, 2 workers: ps-sync over tcp / ring",
        subjects.mlp_against("ps-sync", "ring", "--servers", 1, "--ps-transport", "tcp"), at_most=1.25),
    *[Row(f"guards/replicas-{strategy}", f"MLP 5.8 M step, 2 workers, {strategy}: --check-replicas 100 / without",
          subjects.cost_of_flags(strategy, 300, subjects.MLP, "--check-replicas", 100), at_most=1.02)
      for strategy in ("ring", "shm", "ps-sync")],
    Row("guards/pushes-ps-sync", "MLP 5.8 M step, 2 workers, ps-sync: --check-pushes / without",
        subjects.cost_of_flags("ps-sync", 300, subjects.MLP, "--check-pushes"), at_most=1.05),
    Row("mlp/shm-none", "MLP 5.8 M step, 2 workers: shm / none", subjects.mlp_against("shm", "none"), at_most=1.15),

    *[Row(f"optimizer/{rule}", f"{rule} of 5.8 M parameters, one thread: bytes a second / those of a copy",
          subjects.optimizer_copy(rule), at_least=at_least)
      for rule, at_least in (("sgd", 1), ("momentum", 1), ("nesterov", 1), ("adam", 0.7))],

    Row("push-pull/protobuf", "push and pull 64 MiB, 2 workers, 1 server, gRPC / plain protobuf bytes service: times as fast",
        subjects.push_pull_protobuf, at_least=2),
    Row("push-pull/90ms", "the same / 90 ms", subjects.push_pull_90_ms, at_most=1),
    # No target, because the peer sums nothing. The part above 1 is the cost of gRPC, the sum and the update.
    Row("push-pull/sockets", "the same / sockets that only send every bucket back", subjects.push_pull_sockets),
    *[Row(f"push-pull/tcp-{workers}+{servers}", f"push and pull 64 MiB, workers + servers {workers}+{servers}: tcp transport / gRPC",
          subjects.push_pull_tcp(workers, servers), at_most=0.6) for workers, servers in LAYOUTS],
    *[Row(f"push-pull/tcp-sockets-{workers}+{servers}", f"push and pull 64 MiB, workers + servers {workers}+{servers}: tcp transport / "
          "sockets that only send every bucket back", subjects.push_pull_tcp_sockets(workers, servers), at_most=1.25)
      for workers, servers in LAYOUTS],
    *[Row(f"push-pull/mxnet-{workers}+{servers}", f"push and pull 64 MiB, workers + servers {workers}+{servers}: tcp transport / "
          "MXNet's parameter server (ps-lite over ZeroMQ)", subjects.push_pull_mxnet(workers, servers), at_most=1)
      for workers, servers in LAYOUTS],
    Row("push-pull/shm", "push and pull 64 MiB, 2 workers, 1 server: shm transport / gRPC: times as fast",
        subjects.push_pull_transport("shm"), at_least=4),

    Row("lab/goodput", "eight hosts, 50 Mbit/s to 2 Gbit/s: distance of a rate's median goodput from 1448/1514 of the rate / 2 %",
        laboratory.goodput, at_most=1),
    Row("lab/hosts-8", "eight hosts at 1 Gbit/s built and removed / 3 s", laboratory.eight_hosts, at_most=1),
    Row("lab/cycles", f"eight hosts built and removed {laboratory.CYCLES} times: namespaces, devices and names left behind",
        laboratory.left_behind, at_most=0),
    share("ring", RING, RINGS, "ring", RING_RATE, FOUR_AT_1G),
    share("halving-doubling", HALVING_DOUBLING, RINGS, "halving-doubling", RING_RATE, FOUR_AT_1G),
    share("ps-sync", COLOCATED, (COLOCATED,), "ps-sync, 4 co-located servers, buckets of 1 MiB"),
    share("mixed-2", MIXED_2, (MIXED_2,), "mixed, k = 2, buckets of 256 KiB"),
    share("mixed-4", MIXED_4, BESIDE_RING, "mixed, k = 4, buckets of 256 KiB"),
    Row("lab/mixed-4-ring", f"{FOUR}: mixed, k = 4 / ring: times as fast", emulated.lab_faster(RATE, MIXED_4, RING),
        at_least=1.35),
    Row("hierarchical", "2 hosts x 2 workers at 1 Gbit/s, 100 MB: hierarchical / flat ring: times as fast",
        emulated.lab_hierarchical, at_least=1.4),
    Row("lab/resnet50", "four hosts at 1 Gbit/s, profile:resnet50 under ring: step / bound", emulated.lab_training,
        at_most=1.10),
    # In the order of the backward pass, the forward pass (a third of the compute) overlaps with nothing: 1.5 at most.
    *[Row(f"overlap/{order}", f"{OVERLAP} on ({order}) / off: times as fast", emulated.overlap(order), at_least=at_least)
      for order, at_least in (("fifo", None), ("priority", 1.6))],
    Row("priority", "2 hosts at 2 Gbit/s, profile:vgg16, compute = communication, ps-sync co-located: priority / fifo: "
        "times as fast", emulated.priority, at_least=1.2),
    # Horovod's figure is published, not measured here.
    *[Row(f"timeline/{label}", f"{what}, 2 workers, ring: timeline on / off (published of Horovod's: up to 40 % of throughput)",
          subjects.cost_of_flags("ring", steps, flags, "--timeline"), at_most=1.01)
      for label, what, steps, flags in (
          ("mlp", "MLP 5.8 M step", 100, subjects.MLP),
          ("resnet50", "profile:resnet50 step, 120 ms of compute", 20,
           ("--model", "profile:resnet50", "--compute-ms", 120)))],
    *[Row(f"coalesce/{workers}", f"1,000 tensors of 4 KiB, ring, {workers} workers: coalesced / one by one: times as fast",
          subjects.coalesced(workers), at_least=20) for workers in (2, 4)],
    *[Row(f"codec/{label}", f"four hosts at 100 Mbit/s, profile:resnet50: {codec} / full gradients: times as fast",
          emulated.codec(codec), at_least=at_least)
      for label, codec, at_least in (("powersgd", "powersgd:4", 4), ("topk", "topk:0.01", 4), ("fp16", "fp16", 1.8))],
    *CELLS,
    *DILATIONS,
]


def choose(only):
    """Rows chosen by full name or by group, in the order of the table. Raises KeyError on an unknown word."""
    words = only.split(",")
    for word in words:
        if not any(row.name == word or row.name.startswith(word + "/") for row in ROWS):
            raise KeyError(word)
    return [row for row in ROWS if any(row.name == word or row.name.startswith(word + "/") for word in words)]

"""What is run, and the limits. All constants of the check are here."""

MINUTES = 8

# All-reduces. The sizes in bytes; for each: timed operations where every worker has a GPU, and where workers share one.
MIB = 1 << 20
SIZES = {MIB: (100, 100), 64 * MIB: (20, 20), 1024 * MIB: (20, 3)}
WARMUP = {True: 1, False: 5}  # untimed operations, by: workers share a GPU
ALGORITHMS = ("ring", "tree")
ROUNDS = 5
MODES = {"blocking": 1, "pipelined": 0}  # the peer's --blocking
BUSBW_RATIO = 0.98  # ours / the peer's, at least

# Training steps. The batch is divided by the workers. It is so large that a backward pass is longer than the sums of all buckets even where
# two workers share a GPU, and a bucket takes 5 ms to sum: then what does not overlap is not for lack of something to overlap with.
STEP_BATCH = 131072
STEP_FEATURES = 64  # of a sample
STEP_FLAGS = ["--model", "cuda:mlp", "--hidden", "2048,2048,2048,2048,2048", "--steps", "14", "--lr", "0.01", "--seed", "1"]
STEP_WARMUP = 3  # steps that are not counted; also of summary.json
OVERLAP = 0.90  # for the rows below that have a limit, at least

# Name, flags, whether the workers are several, whether it reads --nccl-share-gpu, limit of the overlap.
STEP_ROWS = [
    ("none", ["--strategy", "none"], False, False, None),
    ("nccl", ["--strategy", "nccl"], True, True, OVERLAP),
    ("nccl, priority", ["--strategy", "nccl", "--schedule", "priority"], True, True, None),
    ("hierarchical over nccl", ["--strategy", "hierarchical", "--host-sum", "nccl"], True, True, None),
    ("ring", ["--strategy", "ring"], True, False, None),
    ("ps-sync", ["--strategy", "ps-sync"], True, False, None),
]

# Training against the CPU. A case has a reference file; its flags are those of both sides. The buckets are small, so that some are summed and
# updated while the backward pass goes on.
CASE_FLAGS = ["--data", "digits", "--hidden", "32,32", "--global-batch", "64", "--steps", "60", "--seed", "1", "--bucket-mb", "2KiB"]
CASES = {
    "sgd": ["--lr", "0.1"],
    "momentum": ["--lr", "0.1", "--momentum", "0.9"],
    "adam": ["--optimizer", "adam", "--lr", "0.01"],
}
DISTANCE = 1e-4  # relative L2 distance of the parameters, at most
# As STEP_ROWS, without a limit: name, flags, several workers, shares a GPU, cases.
VERIFY_ROWS = [
    ("none", ["--strategy", "none"], False, False, ["sgd"]),
    ("nccl", ["--strategy", "nccl"], True, True, ["sgd", "momentum", "adam"]),
    ("hierarchical over nccl", ["--strategy", "hierarchical", "--host-sum", "nccl"], True, True, ["sgd"]),
    ("ring", ["--strategy", "ring"], True, False, ["sgd"]),
    ("ps-sync", ["--strategy", "ps-sync"], True, False, ["sgd"]),
]

# The longest time of one run, in seconds.
RUN_LIMIT = 120

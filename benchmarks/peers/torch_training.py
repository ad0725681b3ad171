"""Times a step of PyTorch DistributedDataParallel over Gloo, the peer of `ringside train --model mlp`.

This is one rank of a job: start WORLD_SIZE of them with RANK, MASTER_ADDR, MASTER_PORT and GLOO_SOCKET_IFNAME set. Rank 0
prints one JSON object with the mean step time over the STEPS steps that follow WARMUP steps.
usage: torch_ddp.py BATCH_PER_WORKER WARMUP STEPS
"""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn


def main():
    batch, warmup, steps = (int(argument) for argument in sys.argv[1:4])
    world, rank = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10))
    inputs, labels = torch.randn(batch, 784), torch.randint(0, 10, (batch,))
    if world > 1:
        dist.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
    optimizer, loss = torch.optim.SGD(model.parameters(), lr=0.01), nn.CrossEntropyLoss()

    def run(count):
        for _ in range(count):
            optimizer.zero_grad()
            loss(model(inputs), labels).backward()
            optimizer.step()
        if world > 1:
            dist.barrier()

    run(warmup)
    start = time.perf_counter()
    run(steps)
    seconds = time.perf_counter() - start
    if rank == 0:
        print(json.dumps({"workers": world, "batch_per_worker": batch, "step_ms": seconds / steps * 1e3}), flush=True)


if __name__ == "__main__":
    main()

"""Times a step of a PyTorch program: alone, under DistributedDataParallel over Gloo, or as the model of a run of Ringside.

Alone or under DDP, this is one rank of a job: start WORLD_SIZE of them with RANK, MASTER_ADDR, MASTER_PORT and GLOO_SOCKET_IFNAME
set. Rank 0 prints one JSON object with the mean step time over the STEPS steps that follow WARMUP steps. Under Ringside the run's
records have the times. With `script` it trains nothing: it writes the model (net.pt) and samples (data.npz) into FOLDER.
usage: torch_training.py mlp|cnn ddp|ringside|script BATCH_PER_WORKER WARMUP STEPS [FOLDER]
"""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn


def mlp():
    """5.8 million parameters."""
    return nn.Sequential(
        nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)), (784,)


def cnn():
    """4.3 million parameters."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 1360), nn.ReLU(), nn.Linear(1360, 10)), (1, 28, 28)


def save(model, shape, folder):
    import numpy
    samples = 2048
    torch.jit.save(torch.jit.script(model), f"{folder}/net.pt")
    inputs, labels = torch.randn(samples, *shape).numpy(), torch.randint(0, 10, (samples,)).numpy()
    numpy.savez(f"{folder}/data.npz", x_train=inputs, y_train=labels, x_test=inputs[:64], y_test=labels[:64])


def main():
    make, sync = {"mlp": mlp, "cnn": cnn}[sys.argv[1]], sys.argv[2]
    batch, warmup, steps = (int(argument) for argument in sys.argv[3:6])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, shape = make()
    if sync == "script":
        save(model, shape, sys.argv[6])
        return
    inputs, labels = torch.randn(batch, *shape), torch.randint(0, 10, (batch,))
    optimizer, loss = torch.optim.SGD(model.parameters(), lr=0.01), nn.CrossEntropyLoss()
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if sync == "ringside":
        import ringside
        import ringside.torch
        ringside.init()
        optimizer = ringside.torch.DistributedOptimizer(optimizer, model)
    elif world > 1:
        dist.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)

    def run(count):
        for _ in range(count):
            optimizer.zero_grad()
            loss(model(inputs), labels).backward()
            optimizer.step()
        if sync == "ddp" and world > 1:
            dist.barrier()

    run(warmup)
    start = time.perf_counter()
    run(steps)
    seconds = time.perf_counter() - start
    if sync == "ddp" and int(os.environ["RANK"]) == 0:
        print(json.dumps({"workers": world, "batch_per_worker": batch, "step_ms": seconds / steps * 1e3}), flush=True)


if __name__ == "__main__":
    main()

"""Works on after the training, as a program does that saves its model.

usage: late_program.py FOLDER
"""
import pathlib
import sys
import time

import torch
from torch import nn

import ringside
import ringside.torch

STEPS = 4
SECONDS = (1, 9)  # of rank 0 and of the others; longer than a launcher gives processes that it ends


def main():
    ringside.init()
    rank = ringside.rank()
    model = nn.Linear(8, 8)
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05), model)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
    ringside.shutdown()
    time.sleep(SECONDS[min(rank, 1)])
    (pathlib.Path(sys.argv[1]) / f"rank-{rank}").write_text("saved")


if __name__ == "__main__":
    main()

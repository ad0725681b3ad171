"""Trains the network that script_models_test.py also gives to Ringside's own loop.

usage: wide_program.py STEPS
"""
import sys

import torch
from torch import nn


def wide_network():
    """It has many parameters for what it computes."""
    return nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 10))


def main():
    import ringside
    import ringside.torch

    ringside.init()
    model = wide_network()
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), model)
    for _ in range(int(sys.argv[1])):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(24, 64)), torch.randint(0, 10, (24,))).backward()
        optimizer.step()


if __name__ == "__main__":
    main()

"""Trains a small network on samples from a seed, and writes its parameters. Workers share a global batch of 24 samples.

usage: network_program.py STEPS OPTIMIZER OUT [update=program] [case=NAME] [evaluate]
OPTIMIZER is sgd, adam, adamw or rmsprop. Without a launcher it is the reference: plain PyTorch on the whole batch.
"""
import os
import sys
import time

import torch
from torch import nn

import ringside
import ringside.torch

OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-4),
    "nesterov": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, nesterov=True),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.002),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.002, weight_decay=0.1),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.002),
}


class Network(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.frozen = nn.Linear(20, 20)
        self.frozen.requires_grad_(False)
        self.first = nn.Linear(20, hidden)
        self.last = nn.Linear(hidden, 5)
        self.register_buffer("scale", torch.rand(1) + 1)

    def forward(self, inputs):
        return self.last(torch.tanh(self.first(self.frozen(inputs) * self.scale)))


def main():
    steps, kind, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    options = dict(word.split("=") for word in sys.argv[4:] if "=" in word)
    case = options.get("case", "")
    if case == "never-inits":
        return
    ringside.init()
    rank, size = ringside.rank(), ringside.size()
    # Only worker 0 begins with the parameters of the reference.
    torch.manual_seed(1 + rank)
    if case == "no-parameters":
        return
    model = Network(41 if case == "shapes" and rank == 1 else 40)
    if case == "double":
        model = model.double()
    if case == "meta":
        model = model.to("meta")
    wanted = (parameter for parameter in model.parameters() if parameter.requires_grad)
    more = {"update": options["update"]} if "update" in options else {}
    if case == "accumulate":
        more["backward_passes_per_step"] = 2
    if case == "unused-zero":
        more["unused_parameters"] = "zero"
    optimizer = ringside.torch.DistributedOptimizer(OPTIMIZERS[kind](wanted), model, **more)
    if size > 1:
        # The parameters are the job's own memory.
        worker = ringside._job._job.worker
        flat = torch.from_dlpack(worker.params())
        assert ({parameter.data_ptr() for parameter in model.parameters() if parameter.requires_grad}
                == {flat[begin:].data_ptr() for begin, _ in worker.ranges()})
    generator = torch.Generator().manual_seed(7)
    criterion = nn.CrossEntropyLoss()
    mine = 24 // size
    for step in range(5 if case == "fewer-steps" and rank == 1 else steps):
        inputs, labels = torch.randn(24, 20, generator=generator), torch.randint(0, 5, (24,), generator=generator)
        inputs, labels = inputs[rank * mine:(rank + 1) * mine], labels[rank * mine:(rank + 1) * mine]
        optimizer.zero_grad()
        if case == "raises" and rank == 1 and step == 3:
            raise ValueError("a bad batch")
        if case == "exits" and rank == 1 and step == 3:
            sys.exit(3)
        if case == "slow":
            time.sleep(0.05)
        if case.startswith("unused"):
            loss = criterion(model.first(inputs)[:, :5], labels)
        else:
            loss = criterion(model(inputs), labels)
        if case == "diverges" and rank == 1 and step == 3:
            loss = loss * float("inf")
        if case == "accumulate":
            halves = [criterion(model(inputs[part]), labels[part]) / 2
                      for part in (slice(0, mine // 2), slice(mine // 2, None))]
            for half in halves:
                half.backward()
        else:
            loss.backward()
        if case == "twice":
            criterion(model(inputs), labels).backward()
        if case == "clips":
            optimizer.synchronize()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        if case == "clips-too-late":
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        if case == "rate-too-late":
            optimizer.param_groups[0]["lr"] = 0.01
        if case == "fork" and step == 1:
            fork_and_step(optimizer)
        ringside.report(loss=loss.item(), samples=mine)
        optimizer.step()
        if case == "saves-state":
            optimizer.state_dict()
        if case == "loads-late":
            model.load_state_dict(model.state_dict())
        if case == "changes-momentum":
            optimizer.param_groups[0]["momentum"] = 0.5
        if case == "moves-parameter":
            moved = next(iter(model.first.parameters()))
            moved.data = moved.data.clone()
        if case == "adds-group":
            optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(3))]})
        if case == "decays":
            optimizer.param_groups[0]["lr"] *= 0.95
    if "evaluate" in sys.argv:
        ringside.evaluation(loss=1.5, accuracy=0.25)
    if rank == 0:
        torch.save(model.state_dict(), out)
        print("trained", size, flush=True)


def fork_and_step(optimizer):
    child = os.fork()
    if child == 0:
        try:
            optimizer.step()
        except ringside.Error as error:
            print("the child:", error, flush=True)
        sys.exit(0)
    print("the child ended with", os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()

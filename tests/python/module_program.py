"""Trains with a model and an optimizer that are variables of this module, as in docs/own-model.md: they live until the interpreter ends. The
program forks, and waits for the child.

usage: module_program.py exits|raises|steps|computes|inits|inits-first
"""
import os
import signal
import sys

import torch

import ringside
import ringside.torch

CASE = sys.argv[1]


def fork():
    """A child that hangs is ended."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
    return child


def wait(child):
    print("the child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def raises():
    raise ValueError("a fault of the child")


IN_CHILD = {"exits": lambda: None, "raises": raises, "steps": lambda: optimizer.step(), "computes": lambda: model(inputs)}

if CASE in ("inits", "inits-first"):
    told, tell = os.pipe()
    child = fork()
    first = (child == 0) == (CASE == "inits-first")
    if not first:
        os.read(told, 1)
    ringside.init()
    if first:
        os.write(tell, b"!")
    if child == 0:
        sys.exit(0)
    wait(child)

ringside.init()
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model)
inputs = torch.ones(2, 6)
for step in range(5):
    optimizer.zero_grad()
    if step == 2 and CASE in IN_CHILD:
        child = fork()
        if child == 0:
            IN_CHILD[CASE]()
            sys.exit(0)
        wait(child)
    model(inputs).sum().backward()
    optimizer.step()
print("the loop has ended", flush=True)

"""Gradients of large linear layers, which are computed where the strategy takes them: bit for bit those of plain PyTorch, whatever a
program does with its layers.

usage: linear_layers_test.py      with RINGSIDE (the executable) and PYTHONPATH (the package) set
It starts itself as the program of a run: linear_layers_test.py cases
"""
import contextlib
import copy
import io
import os
import subprocess
import sys
import tempfile
import unittest

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import ringside
import ringside.torch

WIDE = 512
WORDS = 600
HELD = []  # gradients that a case has computed for itself, and their values then


class Network(nn.Module):
    """Which of its layers a step uses, and how, is the case's choice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(768, WIDE)
        self.second = nn.Linear(WIDE, WIDE)
        self.without_bias = nn.Linear(WIDE, WIDE, bias=False)
        self.words = nn.Embedding(WORDS, WIDE)
        self.attention = nn.MultiheadAttention(WIDE, 4)
        self.small = nn.Linear(WIDE, 8)

    def forward(self, way, inputs):
        return way(self, inputs)


def two(net, inputs):
    return net.second(torch.relu(net.first(inputs)))


def without_bias(net, inputs):
    return net.small(net.without_bias(net.first(inputs)))


def twice(net, inputs):
    return net.second(torch.relu(net.second(net.first(inputs))))


def tied(net, inputs):
    """The weight of an embedding is that of the last layer, too."""
    numbers = (inputs.abs().sum(-1) * 100).long() % WORDS
    return functional.linear(net.words(numbers), net.words.weight)


def checkpointed(net, inputs):
    return checkpoint(net.second, torch.relu(net.first(inputs)))


def checkpointed_without_reentry(net, inputs):
    return checkpoint(lambda values: two(net, values), inputs.requires_grad_(), use_reentrant=False)


def changed_in_place(net, inputs):
    hidden = net.first(inputs)
    hidden += 0.1
    return net.second(hidden.relu_())


def with_a_changed_weight(net, inputs):
    """The weight of the first layer is not read again."""
    result = two(net, inputs)
    with torch.no_grad():
        net.first.weight.clamp_(-1, 1)
    return result


class Doubling(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        return result * 2 if function is torch._C._nn.linear else result


def in_a_mode(net, inputs):
    with Doubling():
        return two(net, inputs)


def by_columns(net, inputs):
    return two(net, inputs.requires_grad_().t())


def attends(net, inputs):
    hidden = net.first(inputs)
    return net.attention(hidden, hidden, hidden)[0]


def low_precision(net, inputs):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return two(net, inputs).float()


def traced(net, inputs):
    """A module that is traced meanwhile can be saved."""
    hidden = torch.relu(net.first(inputs))
    module = torch.jit.trace(net.second, hidden.detach(), check_trace=False)
    torch.jit.save(module, io.BytesIO())
    return module(hidden)


def scripted(net, inputs):
    """A function that is compiled meanwhile."""
    def last(hidden, weight):
        return functional.linear(hidden, weight)
    return torch.jit.script(last)(torch.relu(net.first(inputs)), net.second.weight)


def without_a_gradient(net, inputs):
    with torch.no_grad():
        hidden = net.first(inputs)
    return net.second(hidden)


def on_a_copy(net, inputs):
    """The copy's weights are no parameters of the job."""
    return copy.deepcopy(net.second)(torch.relu(net.first(inputs)))


def backward(optimizer, net, loss):
    loss().backward()


def twice_in_a_step(optimizer, net, loss):
    with optimizer.no_sync() if hasattr(optimizer, "no_sync") else contextlib.nullcontext():
        loss().backward()
    loss().backward()


def after_one_that_is_thrown_away(optimizer, net, loss):
    with optimizer.no_sync() if hasattr(optimizer, "no_sync") else contextlib.nullcontext():
        loss().backward()
    mine = net.first.weight.grad
    HELD.append((mine, mine.clone()))
    optimizer.zero_grad(set_to_none=True)
    (2 * loss()).backward()


def with_a_hook(optimizer, net, loss):
    handle = net.first.weight.register_hook(lambda gradient: gradient * 0.5)
    loss().backward()
    handle.remove()


def with_a_hook_that_writes(optimizer, net, loss):
    handle = net.first.weight.register_hook(lambda gradient: gradient.mul_(0.5))
    loss().backward()
    handle.remove()


def with_a_hook_that_keeps(optimizer, net, loss):
    handle = net.first.weight.register_hook(lambda gradient: HELD.append((gradient, gradient.clone())))
    loss().backward()
    handle.remove()


def by_the_program(optimizer, net, loss):
    """It sets the gradients itself, one of them transposed."""
    parameters = [net.first.weight, net.second.weight]
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss(), parameters)):
        parameter.grad = gradient
    net.second.weight.grad = net.second.weight.grad.t()


def after_a_gradient_of_the_programs(optimizer, net, loss):
    """What ``torch.autograd.grad`` returned stays as it is."""
    value = loss()
    mine, = torch.autograd.grad(value, [net.first.weight], retain_graph=True)
    HELD.append((mine, mine.clone()))
    (2 * value).backward()


def with_a_penalty(optimizer, net, loss):
    value = loss()
    slope, = torch.autograd.grad(value, [net.first.weight], create_graph=True)
    (value + slope.pow(2).sum()).backward()


def with_a_graph(optimizer, net, loss):
    loss().backward(create_graph=True)


def of_some_inputs(optimizer, net, loss):
    loss().backward(inputs=list(net.second.parameters()))


ADDS = "added to those of the last step"

# (name, the forward pass, the shape of the samples, the backward pass)
CASES = [
    ("plain", two, (32, 768), backward),
    ("three dimensions", two, (4, 8, 768), backward),
    ("not contiguous", lambda net, inputs: two(net, inputs.transpose(0, 1)), (8, 4, 768), backward),
    ("one sample", two, (768,), backward),
    ("no sample", two, (0, 768), backward),
    ("without a bias", without_bias, (32, 768), backward),
    ("a layer twice", twice, (32, 768), backward),
    ("tied weights", tied, (32, 768), backward),
    ("checkpointed", checkpointed, (32, 768), backward),
    ("checkpointed without reentry", checkpointed_without_reentry, (WIDE, 768), backward),
    ("changed in place", changed_in_place, (4, 8, 768), backward),
    ("a changed weight", with_a_changed_weight, (32, 768), backward),
    ("a mode", in_a_mode, (32, 768), backward),
    ("by columns", by_columns, (768, 32), backward),
    ("attention", attends, (6, 4, 768), backward),
    ("autocast", low_precision, (32, 768), backward),
    ("traced", traced, (32, 768), backward),
    ("scripted", scripted, (32, 768), backward),
    ("no_grad", without_a_gradient, (32, 768), backward),
    ("a copied layer", on_a_copy, (32, 768), backward),
    ("two backward passes", two, (32, 768), twice_in_a_step),
    ("a hook", two, (32, 768), with_a_hook),
    ("a hook that writes", two, (32, 768), with_a_hook_that_writes),
    ("a hook that keeps", two, (32, 768), with_a_hook_that_keeps),
    ("gradients of the program", two, (32, 768), by_the_program),
    ("torch.autograd.grad", two, (32, 768), after_a_gradient_of_the_programs),
    ("a gradient of a gradient", two, (32, 768), with_a_penalty),
    ("create_graph", two, (32, 768), with_a_graph),
    ("some inputs", two, (32, 768), of_some_inputs),
    ("one thrown away", two, (32, 768), after_one_that_is_thrown_away),
    (ADDS, two, (32, 768), backward),
]


def run_cases():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Network()
    plain = copy.deepcopy(net)
    theirs = torch.optim.SGD(plain.parameters(), lr=0.01)
    seen = []  # where gradients are when autograd is done with them
    nodes = [weight.expand_as(weight).grad_fn.next_functions[0][0] for weight in (net.first.weight, net.second.weight)]
    for node, weight in zip(nodes, (net.first.weight, net.second.weight)):
        node.register_hook(lambda *_, weight=weight: seen.append(weight.grad.data_ptr()))
    ringside.init()
    optimizer = ringside.torch.DistributedOptimizer(
        torch.optim.SGD(net.parameters(), lr=0.01), net, update="program", unused_parameters="zero")
    for name, way, shape, passes in CASES:
        inputs = torch.randn(shape)
        gradients = []
        for model, updates in ((plain, theirs), (net, optimizer)):
            if name != ADDS:
                updates.zero_grad()
            samples = inputs.detach().clone()
            passes(updates, model, lambda: model(way, samples).square().sum() / 100)
            if model is net:
                optimizer.synchronize()
            gradients.append([torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()])
            gradients[-1].append(torch.zeros(1) if samples.grad is None else samples.grad)
            updates.step()
        names = [parameter for parameter, _ in net.named_parameters()] + ["the samples"]
        for parameter, mine, expected in zip(names, *reversed(gradients)):
            assert torch.equal(mine, expected), f"{name}: the gradient of {parameter} differs by {(mine - expected).abs().max()}"
        for gradient, values in HELD:
            assert torch.equal(gradient, values), f"{name}: a gradient of the program's has changed"
        print("equal:", name)

    # Nothing is copied: autograd has computed the gradient where it stays.
    optimizer.zero_grad()
    net(two, torch.randn(32, 768)).sum().backward()
    optimizer.synchronize()
    assert seen[-2:] == [net.second.weight.grad.data_ptr(), net.first.weight.grad.data_ptr()], "a gradient was copied"
    optimizer.step()
    print("in place")


class LinearLayers(unittest.TestCase):
    def check(self, *flags):
        with self.subTest(flags=flags), tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [os.environ["RINGSIDE"], "train", *flags, "--out", f"{folder}/run", "--", sys.executable, __file__, "cases"],
                capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            said = done.stdout + done.stderr
            for name, *_ in CASES:
                self.assertIn(f"equal: {name}\n", said)
            self.assertIn("in place\n", said)

    def test_gradients_are_those_of_plain_pytorch(self):
        self.check("--strategy", "ring", "--workers", "1")
        self.check("--strategy", "shm", "--workers", "2")
        self.check("--strategy", "ps-sync", "--server-update", "off", "--workers", "2")


if __name__ == "__main__":
    if sys.argv[1:] == ["cases"]:
        run_cases()
    else:
        unittest.main()

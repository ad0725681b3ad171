"""The networks that network_program.py trains: the usual one, and those of its cases."""
import time

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.frozen = nn.Linear(20, 20)
        self.frozen.requires_grad_(False)
        self.first = nn.Linear(20, hidden)
        self.last = nn.Linear(hidden, 5)
        self.register_buffer("scale", torch.rand(1) + 1)

    def hidden(self, inputs):
        return self.first(self.frozen(inputs) * self.scale)

    def forward(self, inputs):
        return self.last(torch.tanh(self.hidden(inputs)))


class ListNetwork(Network):
    """The parameters of its last layer are in lists, which are never called."""

    def __init__(self):
        super().__init__()
        self.last = nn.ModuleList([nn.ParameterList(self.last.parameters())])

    def forward(self, inputs):
        weight, bias = self.last[0]
        return nn.functional.linear(torch.tanh(self.hidden(inputs)), weight, bias)


class ScriptedNetwork(Network):
    """Its last layer is TorchScript."""

    def __init__(self):
        super().__init__()
        self.last = torch.jit.script(nn.Sequential(nn.Tanh(), self.last))

    def forward(self, inputs):
        return self.last(self.hidden(inputs))


class EncoderNetwork(Network):
    """Without gradients, its encoder reads parameters of layers that it does not call."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(40, 4, dim_feedforward=32, dropout=0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)

    def forward(self, inputs):
        return self.last(self.encoder(self.hidden(inputs).unsqueeze(1)).squeeze(1))


class AttentionNetwork(Network):
    """Attention reads the parameters of its projection without calling that. Its own are frozen."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(40, 4, batch_first=True)
        self.attention.in_proj_weight.requires_grad_(False)
        self.attention.in_proj_bias.requires_grad_(False)

    def forward(self, inputs):
        words = self.hidden(inputs).unsqueeze(1)
        return self.last(self.attention(words, words, words)[0].squeeze(1))


class NoGradient(torch.autograd.Function):
    """Adds a bias, and computes no gradient of it."""

    @staticmethod
    def forward(context, inputs, bias):
        return inputs + bias

    @staticmethod
    def backward(context, gradient):
        return gradient, None


def frozen_on_meta(model, rank):
    model.frozen.to("meta")
    return model


def with_a_hook_that_raises(model, rank):
    calls = []

    def hook(gradient):
        calls.append(gradient)
        if rank == 1 and len(calls) == 4:
            raise ValueError("a bad hook")

    model.first.bias.register_hook(hook)
    return model


def with_a_slow_backward_pass(model, rank):
    model.first.bias.register_hook(lambda gradient: time.sleep(0.02))
    return model


def with_a_slow_forward_pass(model, rank):
    """It pauses between its two layers."""
    model.first.register_forward_hook(lambda *_: time.sleep(0.02))
    return model


MODELS = {
    "large": lambda model, rank: Network(13200),
    "lists": lambda model, rank: ListNetwork(),
    "attention": lambda model, rank: AttentionNetwork(),
    "scripted": lambda model, rank: ScriptedNetwork(),
    "scripted-waits-first": lambda model, rank: ScriptedNetwork(),
    "scripted-whole": lambda model, rank: torch.jit.script(model),
    "evaluates-encoder": lambda model, rank: EncoderNetwork(),
    "trains-in-eval": lambda model, rank: model.eval(),
    "shapes": lambda model, rank: Network(41 if rank == 1 else 40),
    "double": lambda model, rank: model.double(),
    "meta": lambda model, rank: model.to("meta"),
    "frozen-meta": frozen_on_meta,
    "slow-backward": with_a_slow_backward_pass,
    "slow-forward": with_a_slow_forward_pass,
    "slow-forward-waits-first": with_a_slow_forward_pass,
    "raises-in-hook": with_a_hook_that_raises,
}

"""The gradients of large linear layers, computed where the strategy takes them.

The gradient of a linear layer's weight is one matrix product. PyTorch computes it into memory of its own, and then it must be copied
into the flat vector. Here the product is written into the flat vector, as in Ringside's own models (docs/decisions/0008). All else
is what PyTorch does: the gradient is a tensor that adds up with others of the same parameter and becomes ``parameter.grad``.
"""
from __future__ import annotations

import sys
from collections.abc import Callable

import torch

# A smaller weight is copied in less time than a function in Python takes.
_LEAST_ELEMENTS = 1 << 18

# From PyTorch 2 on, `torch.compile` reads the function that would be replaced, and tells it by its identity. Before 1.13, autograd
# cannot tell which gradients it computes.
_POSSIBLE = torch.__version__.startswith("1.") and hasattr(torch._C, "_will_engine_execute_node")

_linear = torch.nn.functional.linear


class _Linear(torch.autograd.Function):
    """``torch.nn.functional.linear`` of float32 tensors. The products are PyTorch's, so every value is the same."""

    @staticmethod
    def forward(ctx, input, weight, bias, place):
        ctx.save_for_backward(input, weight if ctx.needs_input_grad[0] else None)
        ctx.place = place
        output = _linear(input, weight, bias)
        # A view that a function returns could not be changed in place.
        return torch.ops.aten._unsafe_view(output, output.shape) if output._is_view() else output

    @staticmethod
    def backward(ctx, output_grad):
        input, weight = ctx.saved_tensors
        wants_input, wants_weight, wants_bias, _ = ctx.needs_input_grad
        rows = output_grad.reshape(-1, output_grad.shape[-1])
        input_grad = _input_grad(rows, weight, input) if wants_input else None
        weight_grad = _weight_grad(rows, input.reshape(-1, input.shape[-1]), ctx.place) if wants_weight else None
        return input_grad, weight_grad, rows.sum(0) if wants_bias else None, None


def _input_grad(rows, weight, input):
    if input.dim() == 2 and input.stride() == (1, input.shape[0]):
        return weight.t().mm(rows.t()).t()  # by columns, as its input lies
    return rows.mm(weight).view(input.shape)


def _weight_grad(rows, inputs, place):
    # A gradient of which a gradient is computed later must be an ordinary one.
    view = None if torch.is_grad_enabled() else place()
    if view is None:
        return rows.t().mm(inputs)
    torch.mm(rows.t(), inputs, out=view)
    return view.detach()  # to which nothing else refers, so autograd takes it as it is


_places: dict[int, tuple[torch.nn.Parameter, Callable[[], torch.Tensor | None]]] = {}  # by identity of the parameter


def _linear_in_place(input, weight, bias=None):
    known = _places.get(id(weight))
    if known is None or not _is_plain(input, weight, bias):
        return _linear(input, weight, bias)
    return _Linear.apply(input, weight, bias, known[1])


def compute_in_place(places: list[tuple[torch.nn.Parameter, Callable[[], torch.Tensor | None]]]) -> None:
    """``places``: parameters, each with a function that returns where the gradient which autograd computes now may be written, or
    None if it must be in memory of its own. Small parameters and those that are no matrices are left out.

    From now on ``torch.nn.functional.linear`` is a function of this module, also in the backward pass: a checkpoint computes a part
    of the forward pass again there, and must find the same function. One that somebody else has put there stays."""
    _places.update({id(parameter): (parameter, place) for parameter, place in places
                    if parameter.dim() == 2 and parameter.numel() >= _LEAST_ELEMENTS})
    if _POSSIBLE and _places and torch.nn.functional.linear is _linear:
        torch.jit._builtins._register_builtin(_linear_in_place, "aten::linear")  # for scripts that are compiled later
        torch.nn.functional.linear = _linear_in_place


def _is_plain(input, weight, bias) -> bool:
    """Whether this is a call for values and later for their gradients by ``backward``, and nothing else."""
    return (
        type(input) in (torch.Tensor, torch.nn.Parameter) and type(weight) is torch.nn.Parameter
        and (bias is None or type(bias) is torch.nn.Parameter)
        and input.dtype == torch.float32 and (bias is None or bias.dtype == torch.float32)
        and input.layout == torch.strided and not input.is_nested
        and torch.is_grad_enabled() and weight.requires_grad
        and not torch.is_autocast_cpu_enabled() and not torch.is_autocast_enabled()
        and torch._C._get_tracing_state() is None and torch._C._len_torch_function_stack() == 0
        and torch.autograd.forward_ad._current_level < 0
        and "functorch" not in sys.modules)

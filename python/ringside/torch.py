"""Ringside for PyTorch.

    import ringside, ringside.torch
    ringside.init()
    model = Net()
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model)
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()

Parameters become views of one flat vector, which the strategy reads and writes. Gradients leave while the backward pass runs, a
bucket at a time. The forward pass waits for a layer's parameters right before that layer computes.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping

import torch

from ringside._job import Error, _worker, rank, size
from ringside._torch_sync import Synchronizer, broadcast

__all__ = ["DistributedOptimizer", "DistributedSampler", "SynchronizedOptimizer", "broadcast_parameters"]

_UPDATES = ("auto", "strategy", "program")
_UNUSED = ("error", "zero")


class DistributedSampler(torch.utils.data.distributed.DistributedSampler):
    """``torch.utils.data.distributed.DistributedSampler`` for the workers of the job: every worker sees its own part of the
    dataset. Call ``set_epoch`` before each epoch, or the order stays the same."""

    def __init__(self, dataset: torch.utils.data.Dataset, *, shuffle: bool = True, seed: int = 0, drop_last: bool = False) -> None:
        super().__init__(
            dataset, num_replicas=size(), rank=rank(), shuffle=shuffle, seed=seed, drop_last=drop_last)


def broadcast_parameters(
    params: Mapping[str, torch.Tensor] | Iterable[tuple[str, torch.Tensor]], root_rank: int = 0
) -> None:
    """Gives every worker the values of worker 0. ``params``: a ``state_dict()``, or pairs of name and tensor. Parameters of a
    ``DistributedOptimizer`` have them already. For small tensors: they pass the coordinator."""
    if root_rank != 0:
        raise Error("only worker 0 can be the root")
    worker = _worker()
    if worker is None:
        return
    for name, tensor in sorted(params.items() if isinstance(params, Mapping) else params):
        broadcast(worker, name, tensor)


def DistributedOptimizer(
    optimizer: torch.optim.Optimizer,
    model: torch.nn.Module,
    *,
    update: str = "auto",
    backward_passes_per_step: int = 1,
    unused_parameters: str = "error",
    overlap_forward: bool = True,
) -> SynchronizedOptimizer:
    """Returns ``optimizer`` with a ``step()`` that synchronises ``model`` with the other workers. All parameters of the model
    then have the values of worker 0.

    update: who updates the parameters. ``"strategy"``: Ringside does, in workers or in servers, with the rule of this optimizer:
        SGD, Adam or AdamW, the same for all parameters. ``"program"``: this optimizer does, whatever it is, with the mean of the
        workers' gradients; servers must only sum then (``ps-sync`` or ``mixed`` with ``--server-update off``). ``"auto"``: the strategy if
        it can.
    backward_passes_per_step: calls of ``backward()`` whose gradients add up before ``step()``. ``no_sync()`` does the same.
    unused_parameters: ``"error"``: a parameter without a gradient in a step is refused by name. ``"zero"``: its gradient is 0.
    overlap_forward: False: the forward pass waits for all parameters before it begins. Needed if a module reads the parameters
        of another one that has not run yet.

    The gradient of each worker is that of the mean loss over its own batch. Between ``backward()`` and ``step()`` gradients are
    under way: ``parameter.grad`` can be read only after ``synchronize()``, with ``update="program"``.

    Raises ``Error``: a parameter that is not a float32 tensor in the memory of the processor, an optimizer that cannot be mapped.
    """
    for value, choices, name in ((update, _UPDATES, "update"), (unused_parameters, _UNUSED, "unused_parameters")):
        if value not in choices:
            raise Error(f"{name} is {value!r}; there are {', '.join(choices)}")
    if backward_passes_per_step < 1:
        raise Error("backward_passes_per_step must be at least 1")
    worker = _worker()
    kind = type(optimizer)
    wrapped_kind = type(kind.__name__, (_Alone if worker is None else _Distributed, kind), {"__doc__": kind.__doc__})
    wrapped = wrapped_kind.__new__(wrapped_kind)
    # A learning rate scheduler that was made before has replaced `step`.
    wrapped.__dict__.update({name: value for name, value in optimizer.__dict__.items() if name != "step"})
    if worker is not None:
        wrapped._sync = Synchronizer(
            worker, optimizer, model, update, backward_passes_per_step, unused_parameters == "zero", overlap_forward)
    return wrapped


class SynchronizedOptimizer(torch.optim.Optimizer):
    """What ``DistributedOptimizer`` returns. It is also of the class of the optimizer that was given."""

    def synchronize(self) -> None:
        """With ``update="program"``: waits until every ``parameter.grad`` is the mean over the workers, for instance to clip
        it before ``step()``. Between two steps: waits until all parameters are up to date, for instance to save them."""
        raise NotImplementedError

    def no_sync(self) -> contextlib.AbstractContextManager[None]:
        """Inside, ``backward()`` only adds gradients up, on this worker. The first ``backward()`` after it sends them."""
        raise NotImplementedError


class _Alone(SynchronizedOptimizer):
    """The methods of a ``DistributedOptimizer`` in a program that trains alone, before those of the optimizer's own class."""

    def synchronize(self) -> None:
        """Gradients and parameters are there already."""

    def no_sync(self) -> contextlib.AbstractContextManager[None]:
        """Gradients add up in any case."""
        return contextlib.nullcontext()


class _Distributed(SynchronizedOptimizer):
    """The methods of a ``DistributedOptimizer``, before those of the optimizer's own class."""

    _sync: Synchronizer

    def step(self, closure=None):
        """Ends the step. With ``update="program"`` it waits for the mean gradients and applies the optimizer."""
        if closure is not None:
            raise Error("a closure would compute gradients again and again; omit it")
        sync = self._sync
        sync.check_passes()
        if not sync.updates_here:
            return sync.end_step()
        sync.finish_gradients()
        super().step()
        return sync.end_step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets all gradients. ``set_to_none`` has no effect: they are always set to None, as PyTorch 2 does."""
        super().zero_grad(set_to_none=True)

    def add_param_group(self, param_group) -> None:
        """Refused: all parameters are registered when the ``DistributedOptimizer`` is made."""
        raise Error("a group of parameters cannot be added: all are registered when the DistributedOptimizer is made")

    def state_dict(self):
        """As the optimizer's own. Refused where the strategy updates, because the strategy then has the state."""
        self._refuse_state()
        return super().state_dict()

    def load_state_dict(self, state_dict) -> None:
        """As the optimizer's own. Refused where the strategy updates."""
        self._refuse_state()
        super().load_state_dict(state_dict)
        self._sync.groups = self.param_groups

    def _refuse_state(self) -> None:
        if not self._sync.updates_here:
            raise Error(
                "the strategy updates the parameters, so it has the optimizer's state: to save or load that, make the "
                'DistributedOptimizer with update="program"')

    def synchronize(self) -> None:
        self._sync.synchronize()

    def no_sync(self) -> contextlib.AbstractContextManager[None]:
        return self._sync.no_sync()

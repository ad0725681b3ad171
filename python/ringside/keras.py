"""Ringside for Keras 3, on TensorFlow, JAX or PyTorch.

    import keras, ringside, ringside.keras
    ringside.init()
    model = keras.Sequential([...])
    model.compile(optimizer=ringside.keras.DistributedOptimizer(keras.optimizers.Adam(1e-3)), loss=...)
    model.fit(x, y, batch_size=32, callbacks=[ringside.keras.BroadcastVariables(), ringside.keras.ReportMetrics()])

The optimizer updates the variables itself, with the mean gradients of all workers. So the strategy must leave the update to the
program: an all-reduce such as ``ring``, or ``ps-sync`` or ``mixed`` with ``--server-update off``. The variables that it trains begin
with the values of worker 0. Give every worker its own part of the data, and the same number of batches.
"""
from __future__ import annotations

import contextlib
from typing import Any

import keras
import numpy

from ringside._arrays import Exchange, broadcast, require_sums
from ringside._job import Error, TrainingEnded, _job, _worker, evaluation

__all__ = ["BroadcastVariables", "DistributedOptimizer", "ReportMetrics"]


def DistributedOptimizer(optimizer: keras.optimizers.Optimizer) -> keras.optimizers.Optimizer:
    """Returns ``optimizer`` with gradients that are the means over the workers. A program has one. Works inside of what Keras
    compiles. When it is built, which ``fit`` does before the first step, every worker gets the trained variables of worker 0.

    Raises ``Error`` for an optimizer that is built already, where the strategy does not leave the update to the program, and in the
    first step of a loop of your own that has not built it."""
    if optimizer.built:
        raise Error("make the DistributedOptimizer before the model is compiled")
    # Here, because what is raised inside of a step that a framework has compiled comes out as an error of the framework.
    if _worker() is not None:
        require_sums(_worker())
    kind = type(optimizer)
    wrapped = type(kind.__name__, (_Distributed, kind), {"__doc__": kind.__doc__})
    distributed = wrapped.from_config(optimizer.get_config())
    distributed._ringside = Exchange()
    return distributed


class _Distributed:
    """The methods of a ``DistributedOptimizer``, before those of the optimizer's own class."""

    def build(self, variables) -> None:
        super().build(variables)
        _broadcast(variables)

    def apply(self, grads, trainable_variables=None):
        variables = trainable_variables if trainable_variables is not None else self._trainable_variables
        grads = list(grads)
        if _worker() is not None:
            if not self.built and not _in_graph():
                raise Error("call the optimizer's build(model.trainable_variables) before the first gradients are computed")
            for variable, gradient in zip(variables, grads):
                if gradient is None:
                    raise Error(f"there is no gradient of '{variable.path}'")
            names = [variable.path for variable in variables]
            grads = _BACKENDS[keras.backend.backend()](lambda *values: self._ringside.means_or_end(names, list(values)), grads)
        return super().apply(grads, trainable_variables)


def _in_tensorflow(exchange, grads):
    import tensorflow as tf
    grads = [tf.convert_to_tensor(gradient) for gradient in grads]
    # The next call overwrites what this one returns.
    means = tf.numpy_function(
        lambda *values: [numpy.array(mean) for mean in exchange(*values)], grads, [tf.float32] * len(grads))
    for mean, gradient in zip(means, grads):
        mean.set_shape(gradient.shape)
    return means


def _in_jax(exchange, grads):
    import jax
    from jax.experimental import io_callback
    shapes = [jax.ShapeDtypeStruct(gradient.shape, gradient.dtype) for gradient in grads]
    return io_callback(
        lambda *values: [numpy.array(mean) for mean in exchange(*(numpy.asarray(value) for value in values))],
        shapes, *grads, ordered=True)


def _in_torch(exchange, grads):
    import torch
    means = exchange(*(gradient.detach().numpy() for gradient in grads))
    return [torch.from_numpy(numpy.array(mean)) for mean in means]


_BACKENDS = {"tensorflow": _in_tensorflow, "jax": _in_jax, "torch": _in_torch}


def _in_graph() -> bool:
    """Whether TensorFlow makes a graph now, which it runs later: gradients are not computed yet."""
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf
    return tf.inside_function()


def _outside_of_the_graph() -> contextlib.AbstractContextManager:
    if not _in_graph():
        return contextlib.nullcontext()
    import tensorflow as tf
    return tf.init_scope()


def _broadcast(variables) -> None:
    with _outside_of_the_graph():
        for variable in variables:
            variable.assign(broadcast(variable.path, numpy.asarray(keras.ops.convert_to_numpy(variable))))


class _Callback(keras.callbacks.Callback):
    """Ends the program when the job has ended: no exception may leave the optimizer."""

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        exchange = getattr(self.model.optimizer, "_ringside", None)
        if exchange is not None and exchange.ended:
            raise TrainingEnded()


class BroadcastVariables(_Callback):
    """Gives every worker all weights of worker 0 when training begins, also those that are not trained, and ends the program when the
    job has ended. Random seeds stay those of each worker."""

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        _broadcast(self.model.weights)


class ReportMetrics(_Callback):
    """Puts the loss, and what is measured on validation data, into the run's records, and ends the program when the job has ended.

    The loss of a batch comes one record late, because Keras tells it after the step. It is computed from Keras's mean over the epoch, as if
    all batches had the same size. ``accuracy`` names the metric. ``batch_size`` is that of ``fit``; it counts samples per second."""

    def __init__(self, accuracy: str = "accuracy", batch_size: int = 32) -> None:
        super().__init__()
        self._accuracy = accuracy
        self._batch_size = batch_size
        self._batches = 0
        self._sum = 0.0

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._batches, self._sum = 0, 0.0

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        super().on_train_batch_end(batch, logs)
        if logs and "loss" in logs:
            loss_sum, new = float(logs["loss"]) * (batch + 1), batch + 1 - self._batches
            _job.loss_sum, _job.samples = (loss_sum - self._sum) / new * self._batch_size, self._batch_size
            self._batches, self._sum = batch + 1, loss_sum

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if logs and "val_loss" in logs:
            metrics = {name.removeprefix("val_"): value for name, value in logs.items() if name.startswith("val_")}
            evaluation(loss=metrics.pop("loss"), accuracy=metrics.pop(self._accuracy, None), **metrics)

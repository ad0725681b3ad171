"""Gradients of frameworks whose arrays cannot share memory: they are copied into the flat vector and out of it."""
from __future__ import annotations

import numpy

from ringside import _native
from ringside._job import Error, TrainingEnded, _job, _keep_versions, _worker


class Exchange:
    """Means over the workers of a list of float32 arrays that has the same shapes in every step. The program updates its
    parameters itself."""

    def __init__(self) -> None:
        self._shapes: list[tuple[int, ...]] | None = None
        self._began: int | None = None
        self.ended = False

    def means(self, names: list[str], arrays: list[numpy.ndarray]) -> list[numpy.ndarray]:
        """The means of all workers' arrays, as views that the next call overwrites. It is one step of the job."""
        worker = _worker()
        if worker is None:
            return arrays
        self._check(names, arrays)
        if self._shapes is None:
            self._register(worker, names, arrays)
        now = _native.now()
        _job.begin_step(self._began if self._began is not None else now, None, 0.0)
        for index in reversed(range(len(arrays))):
            worker.gradient_ready(len(arrays) - 1 - index, arrays[index])
        worker.await_all()
        loss_sum, samples = _job.take_report(0)
        worker.end_step(loss_sum=loss_sum, samples=samples)
        self._began = _native.now()
        return self._views

    def means_or_end(self, names: list[str], arrays: list[numpy.ndarray]) -> list[numpy.ndarray]:
        """The same for a place where no exception may pass: when the job has ended, ``ended`` is set."""
        try:
            return self.means(names, arrays)
        except TrainingEnded:
            self.ended = True
            return arrays

    def _register(self, worker, names, arrays) -> None:
        require_sums(worker)
        self._shapes = [array.shape for array in arrays]
        # The gradients of the last parameters are ready first.
        worker.register(names[::-1], [list(shape) for shape in self._shapes[::-1]], optimizer=None, learning_rate=0.0)
        grads = numpy.from_dlpack(worker.grads())
        self._views = [grads[begin:end].reshape(shape)
                       for (begin, end), shape in zip(worker.ranges(), self._shapes[::-1])][::-1]
        worker.loaded()
        _keep_versions()

    def _check(self, names, arrays) -> None:
        for name, array in zip(names, arrays):
            if array.dtype != numpy.float32:
                raise Error(f"the gradient of '{name}' is {array.dtype}; Ringside sums float32")
        if self._shapes is None:
            return
        if len(arrays) != len(self._shapes):
            raise Error(f"there were {len(self._shapes)} gradients in the first step, and {len(arrays)} now")
        for name, array, shape in zip(names, arrays, self._shapes):
            if array.shape != shape:
                raise Error(f"the gradient of '{name}' has the shape {array.shape}; in the first step it had {shape}")


def require_sums(worker) -> None:
    """That the job leaves the update to the program, and needs nothing but gradients."""
    if worker.needs_parameters:
        raise Error("verify, --save-params and --check-replicas need the parameters, and Ringside knows only this program's gradients")
    if not worker.program_can_update:
        raise Error(
            f"strategy '{worker.strategy}' updates the parameters itself, but this framework's optimizer does; {worker.how_to_update}")


def broadcast(name: str, array: numpy.ndarray) -> numpy.ndarray:
    """A copy with the values of worker 0, which must broadcast an array of the same name, shape and type."""
    copy = numpy.array(array, order="C")
    if _worker() is not None and copy.size > 0:
        _worker().broadcast(f"'{name}' of shape {copy.shape} and type {copy.dtype}", copy.reshape(-1).view(numpy.uint8))
    return copy

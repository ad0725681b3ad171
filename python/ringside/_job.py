"""The job that this program is a worker of."""
from __future__ import annotations

import atexit
import importlib.metadata
import json
import math
import os
import platform
import sys
import threading
import traceback
from collections.abc import Callable

from ringside import _native

Error = _native.Error
Error.__module__ = "ringside"


class TrainingEnded(SystemExit):
    """The job needs no further step: it has done ``--steps``, or somebody stopped it."""

    def __init__(self) -> None:
        super().__init__(0)


class _Job:
    """What this process knows of its job. ``worker`` is None in a program that trains alone."""

    def __init__(self) -> None:
        self.initialized = False
        self.worker: _native.Worker | None = None
        self.pid = 0
        self.failed = False
        self.earlier_hook = sys.excepthook
        self.earlier_thread_hook = threading.excepthook
        self.thread: threading.Thread | None = None  # that does the steps
        self.progress: Callable[[], str] = lambda: ""  # of the step, for the reason why the program failed
        self.loss_sum = 0.0
        self.samples = 0
        self.losses_of_batch: list[float] = []

    def begin_step(self, began: int, forward_end: int | None, learning_rate: float) -> None:
        """Times are in nanoseconds, as of ``_native.now``. Raises ``TrainingEnded`` if the job needs no further step."""
        self.thread = threading.current_thread()
        if not self.worker.begin(began, forward_end, learning_rate):
            raise TrainingEnded()

    def take_report(self, batch: int) -> tuple[float, int]:
        """The sum of losses and the number of samples since the last call. ``batch`` is how many samples losses without a number
        of samples are of together; 0: it is not known."""
        loss_sum, samples, losses = self.loss_sum, self.samples, self.losses_of_batch
        self.loss_sum, self.samples, self.losses_of_batch = 0.0, 0, []
        if losses:
            if not batch:
                raise Error("report: give samples, the number of samples of the loss; nothing that was given to a model tells it")
            loss_sum += sum(losses) / len(losses) * batch
            samples += batch
        return loss_sum, samples


_job = _Job()


def init() -> None:
    """Joins the job whose launcher started this program. A second call does nothing.

    Without a launcher the program trains alone. Call it before you make the model. A process that the job refuses ends with exit
    code 1."""
    if _job.initialized:
        return
    _job.pid = os.getpid()
    if "RINGSIDE_JOB_FD" in os.environ:
        _job.worker = _native.Worker()
        os.environ.pop("RINGSIDE_JOB_FD")  # processes that this one starts are no workers
        _job.earlier_hook = sys.excepthook
        sys.excepthook = _report_exception
        _job.earlier_thread_hook = threading.excepthook
        threading.excepthook = _report_thread_exception
        atexit.register(shutdown)
    _job.initialized = True


def shutdown() -> None:
    """Ends this worker's part of the job: it does no further step. Waits until the other workers have ended theirs.

    It is called at the end of the program, so most programs never call it."""
    if _job.worker is None or os.getpid() != _job.pid or _job.failed:
        return
    sys.stdout.flush()
    _job.worker.end()


def is_initialized() -> bool:
    """Whether ``init`` was called."""
    return _job.initialized


def rank() -> int:
    """The number of this worker, from 0."""
    return 0 if _worker() is None else _worker().rank


def size() -> int:
    """The number of workers."""
    return 1 if _worker() is None else _worker().workers


def local_rank() -> int:
    """The number of this worker among those of its host, from 0."""
    return 0 if _worker() is None else _worker().local_rank


def local_size() -> int:
    """The number of workers on this host."""
    return 1 if _worker() is None else _worker().local_workers


def strategy() -> str:
    """The strategy of the job, as ``--strategy`` names it; ``none`` in a program that trains alone."""
    return "none" if _worker() is None else _worker().strategy


def seed() -> int:
    """The ``--seed`` of the job, for the program's own random numbers; 1 in a program that trains alone."""
    return 1 if _worker() is None else _worker().seed


def report(*, loss: float, samples: int | None = None) -> None:
    """For the records of the current step: the mean ``loss`` over ``samples`` samples of this worker; without ``samples``, over the
    first dimension of the first argument that the model was called with in the step (PyTorch). Call it before the optimizer's
    ``step()``; calls before the same step add up. Without it a run has no loss and no samples per second."""
    if samples is not None and (int(samples) != samples or samples < 1):
        raise Error(f"report: samples is {samples}; it is the number of samples of the loss, 1 or more")
    if _worker() is None:
        return
    if samples is None:
        _job.losses_of_batch.append(float(loss))
        return
    _job.loss_sum += float(loss) * int(samples)
    _job.samples += int(samples)


def evaluation(*, loss: float, accuracy: float | None = None, **metrics: float) -> None:
    """For the records: what the program has measured on held-out data after the steps done so far. ``accuracy`` is from 0 to 1;
    other metrics have names of their own (``mae=0.3``), and are finite. The values of worker 0 count. A ``loss`` of worker 0 that
    is not finite ends the run: it has diverged."""
    for name, value in {"accuracy": accuracy, **metrics}.items():
        if value is not None and not math.isfinite(value):
            raise Error(f"evaluation: {name} is {value}; it must be finite")
    # A mean of ones may be a bit more than 1.
    if accuracy is not None and not 0 <= accuracy <= 1 + 1e-6:
        raise Error(f"evaluation: accuracy is {accuracy}; it is from 0 to 1")
    if _worker() is not None:
        _worker().add_evaluation(
            loss=float(loss), accuracy=None if accuracy is None else min(float(accuracy), 1.0),
            metrics={name: float(value) for name, value in metrics.items()})


def _worker() -> _native.Worker | None:
    if not _job.initialized:
        raise Error("call ringside.init() first")
    return _job.worker


def _keep_versions() -> None:
    """Keeps the versions of Python and of the packages that are imported now, for the bundle."""
    worker = _worker()
    if worker is None or worker.rank != 0:
        return
    packages = {}
    for name, module in sorted(sys.modules.items()):
        if "." in name or name in sys.stdlib_module_names:
            continue
        version = getattr(module, "__dict__", {}).get("__version__")  # getattr would load parts of some packages
        if not isinstance(version, str):
            try:
                version = importlib.metadata.version(name)
            except (importlib.metadata.PackageNotFoundError, ValueError):
                continue  # a part of the program
        packages[name] = version
    worker.keep_file("packages.json", json.dumps(
        {"python": platform.python_version(), "packages": packages}, indent=2) + "\n")


def _report_exception(kind: type[BaseException], error: BaseException, trace: object) -> None:
    """Tells the job why this program ends, after the usual traceback."""
    _job.earlier_hook(kind, error, trace)
    _fail(error)


def _report_thread_exception(args: threading.ExceptHookArgs) -> None:
    """The program goes on without a thread that raised, but not the training without the thread that does the steps."""
    _job.earlier_thread_hook(args)
    if args.thread is not None and args.thread is _job.thread and args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        _fail(args.exc_value)


def _fail(error: BaseException) -> None:
    if _job.worker is None or os.getpid() != _job.pid or _job.worker.finished:
        return
    _job.failed = True
    sys.stderr.flush()
    sys.stdout.flush()
    _job.worker.fail(f"the program raised {_type_and_message(error)}{_job.progress()}")


def _type_and_message(error: BaseException) -> str:
    """Without the notes that were added to it."""
    described = traceback.TracebackException(type(error), error, None)
    described.__notes__ = None
    return list(described.format_exception_only())[-1].strip()

"""Which jobs may not run at the same time.

The kernel counts processes that it kills for lack of memory, on the whole machine. Where it kills one, any other process that is
killed meanwhile looks as if memory had run out.
"""
import contextlib
import threading

EXCLUSIVE = ("signal", "out of memory")


class Turns:
    """Of the kinds that exclude each other, only jobs of one run at a time. Others do not wait."""

    def __init__(self):
        self._changed = threading.Condition()
        self._running = dict.fromkeys(EXCLUSIVE, 0)

    @contextlib.contextmanager
    def take(self, scenario):
        kind = next((kind for kind in EXCLUSIVE if kind in scenario.kinds), None)
        if kind is None:
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: not any(count for other, count in self._running.items() if other != kind))
            self._running[kind] += 1
        try:
            yield
        finally:
            with self._changed:
                self._running[kind] -= 1
                self._changed.notify_all()

"""What is started with a context and stopped with it, also when its start fails half-way."""
import contextlib


class Started(contextlib.AbstractContextManager):
    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

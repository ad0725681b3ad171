"""The results of jobs in a file, one line each, so that a run of hours may be interrupted and go on later.

The first line has the commit, the program and the options of all results in the file. A call with others is refused. A call of the
suite writes a line when it begins and one when it has ended, with what it has left on the machine.
"""
import dataclasses
import fcntl
import json
import threading

KILLED = "a call of the suite was killed, so nobody looked at what it left on the machine"


class JournalError(Exception):
    pass


class Journal:
    def __init__(self, path, made_with):
        """`made_with`: what must be the same for all results, as it is in JSON. Raises JournalError, naming the line. A file that is
        not a journal stays as it is."""
        self._path = path
        self._lock = threading.Lock()
        self._results = {}  # by scenario, strategy and repetition
        self._calls = []  # what each has left; None: it has not ended
        self._file = path.open("a+")
        try:
            self._open(made_with)
        except BaseException:
            self._file.close()
            raise

    def close(self):
        self._file.close()

    def begin(self):
        self._append({"begins": True})
        self._calls.append(None)

    def end(self, left):
        self._append({"left": left})
        self._calls[-1] = left

    def add(self, result, repetition):
        self._append({"scenario": result.scenario.name, "strategy": result.strategy, "repetition": repetition,
                      **{name: getattr(result, name) for name in ("kind", "culprit", "seconds", "push", "problems")}})

    def fill(self, result, repetition):
        """Whether this job has ended before. Its outcome is then in `result`."""
        found = self._results.get((result.scenario.name, result.strategy, repetition))
        if found is None:
            return False
        for field in dataclasses.fields(result):
            if field.name in found and field.name not in ("scenario", "strategy"):
                setattr(result, field.name, found[field.name])
        return True

    def left(self):
        """What all calls have left on the machine."""
        return [text for left in self._calls for text in ([KILLED] if left is None else left)]

    def _open(self, made_with):
        path = self._path
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalError(f"{path}: another call of the suite uses it") from error
        self._file.seek(0)
        text = self._file.read()
        if not text:
            self._append({"made_with": made_with})
            return
        whole = text[:text.rfind("\n") + 1]  # a call that was killed may have written a part of its last line
        for number, line in enumerate((whole or text).splitlines(), 1):
            try:
                self._take(json.loads(line), number, made_with)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                raise JournalError(f"{path}:{number}: not a line of this suite: {error!r}") from error
        if whole != text:
            self._file.truncate(len(whole.encode()))

    def _append(self, line):
        with self._lock:
            end = self._file.seek(0, 2)
            try:
                self._file.write(json.dumps(line) + "\n")
                self._file.flush()
            except OSError:
                self._file.truncate(end)  # a part of a line would join the next one
                raise

    def _take(self, line, number, made_with):
        if number == 1:
            if line["made_with"] != made_with:
                raise JournalError(f"{self._path}:1: its results were made with {line['made_with']}, not with {made_with}; take another file")
        elif "begins" in line:
            self._calls.append(None)
        elif "left" in line:
            self._calls[-1] = line["left"]
        else:
            self._results[line["scenario"], line["strategy"], line["repetition"]] = line

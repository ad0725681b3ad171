"""The results of jobs in a file, one line each, so that a run of hours may be interrupted and go on later.

The first line says of which commit and with which options the results are. Results of others are not added to them. A call of the
suite writes a line when it begins and one when it has ended, with what it has left on the machine.
"""
import dataclasses
import json
import threading

KILLED = "a call of the suite was killed, so nobody looked at what it left on the machine"


class JournalError(Exception):
    pass


class Journal:
    def __init__(self, path, made_with):
        """`made_with`: what must be the same for all results, as it is in JSON. Raises JournalError, naming the line."""
        self._path = path
        self._lock = threading.Lock()
        self._results = {}  # by scenario, strategy and repetition
        self._calls = []  # what each has left; None: it has not ended
        if path.exists() and path.stat().st_size > 0:
            self._read(made_with)
        else:
            self._append({"made_with": made_with})

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

    def _append(self, line):
        with self._lock, self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def _read(self, made_with):
        text = self._path.read_text()
        whole = text[:text.rfind("\n") + 1]  # a call that was killed may have written a part of its last line
        if whole != text:
            self._path.write_text(whole)
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                self._take(json.loads(line), number, made_with)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                raise JournalError(f"{self._path}:{number}: not a line of this suite: {error!r}") from error

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

#!/usr/bin/env python3
"""Reads the record of a run, which `ringside train --timeline` keeps in its bundle (docs/record.md), and prints its sums.

usage: read_record.py BUNDLE...

A program of your own can import this file: `read_record(bundle)` gives a `Record`.
Exit codes: 1 a file is missing, damaged, cut off or changed after it was written, 2 wrong usage.
"""
import collections
import dataclasses
import hashlib
import json
import pathlib
import sys

FORMAT = 2


class RecordError(Exception):
    """What is wrong with a record; the text names file and line."""


@dataclasses.dataclass(frozen=True)
class Chunk:
    """What a process did with a chunk. Times are nanoseconds since the first event of the run."""
    process: int
    server: int
    action: str
    phase: str
    peer: int
    step: int
    bucket: int
    piece: int
    offset: int | None
    elements: int
    bytes: int
    begin: int
    end: int
    version: int
    staleness: int


@dataclasses.dataclass(frozen=True)
class Span:
    """What a thread of a process did (docs/timeline.md). Times are as in `Chunk`."""
    process: int
    thread: str
    kind: str
    step: int
    bucket: int
    begin: int
    end: int


@dataclasses.dataclass
class Record:
    head: dict
    chunks: list[Chunk]
    spans: list[Span]
    complete: bool  # False: the file of chunks is cut off

    def node_of(self, chunk: Chunk) -> str:
        return f"server {chunk.server}" if chunk.server >= 0 else f"worker {chunk.process}"


def read_record(bundle) -> Record:
    """Reads chunks.jsonl and, if it is there, trace.json of a bundle. Raises RecordError."""
    bundle = pathlib.Path(bundle)
    head, chunks, complete = _read_chunks(bundle / "chunks.jsonl")
    trace = bundle / "trace.json"
    return Record(head, chunks, _read_spans(trace) if trace.exists() else [], complete)


def _read_chunks(path):
    lines = _text(path).split("\n")
    head, chunks = None, []
    written = hashlib.sha256()
    for number, line in enumerate(lines, 1):
        last = number == len(lines)
        if last and not line:
            break
        try:
            row = json.loads(line)
        except ValueError:
            if last:
                break
            raise RecordError(f"{path}:{number}: this is not JSON") from None
        if head is None:
            head = _checked_head(path, row)
        elif isinstance(row, dict):
            if row.get("chunks") != len(chunks):
                raise RecordError(f"{path}:{number}: the number of chunks is another one")
            if row.get("sha256") != written.hexdigest():
                raise RecordError(f"{path}:{number}: the record was changed after it was written: its checksum is another one")
            return head, chunks, True
        elif isinstance(row, list) and len(row) == len(head["columns"]):
            chunks.append(_checked_chunk(path, number, Chunk(*row)))
        else:
            raise RecordError(f"{path}:{number}: this is no chunk")
        written.update(line.encode() + b"\n")
    if head is None:
        raise RecordError(f"{path}: the head of the record is missing")
    return head, chunks, False


def _text(path):
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: this is not UTF-8, at byte {error.start}") from error


def _checked_chunk(path, number, chunk):
    for field in dataclasses.fields(chunk):
        value = getattr(chunk, field.name)
        wanted = str if field.name in ("action", "phase") else int
        if type(value) is not wanted and not (field.name == "offset" and value is None):
            raise RecordError(f"{path}:{number}: '{field.name}' is {value!r}")
    return chunk


def _checked_head(path, head):
    if not isinstance(head, dict) or not isinstance(head.get("format"), int):
        raise RecordError(f"{path}:1: this is not the head of a record of chunks")
    if head["format"] != FORMAT:
        raise RecordError(f"{path}:1: the record has format {head['format']}, and this program reads {FORMAT}")
    names = [field.name for field in dataclasses.fields(Chunk)]
    if head.get("columns") != names:
        raise RecordError(f"{path}:1: the columns are not {', '.join(names)}")
    return head


def _read_spans(path):
    try:
        events = json.loads(_text(path))["traceEvents"]
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path}: this is not a trace, or it is cut off") from error
    try:
        return _spans(events)
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{path}: an event lacks what a trace of Ringside has: {error}") from error


def _spans(events):
    threads = {(event["pid"], event["tid"]): event["args"]["name"]
               for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    spans = []
    for event in events:
        if event["ph"] != "X":
            continue
        begin = round(event["ts"] * 1000)
        spans.append(Span(event["pid"], threads.get((event["pid"], event["tid"]), ""), event["name"],
                          event["args"]["step"], event["args"].get("bucket", -1), begin, begin + round(event["dur"] * 1000)))
    return spans


def traffic(record: Record):
    """Bytes by (node, phase, action), and for each node when its last event ended, in nanoseconds."""
    sums = collections.Counter()
    last = {}
    for chunk in record.chunks:
        node = record.node_of(chunk)
        last[node] = max(last.get(node, 0), chunk.end)
        if chunk.action != "update" or chunk.phase == "slice":
            sums[node, chunk.phase, chunk.action] += chunk.bytes
    return sums, last


def main(bundles):
    if not bundles or bundles[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    cut_off = False
    for bundle in bundles:
        try:
            record = read_record(bundle)
        except RecordError as error:
            print(f"read_record.py: {error}", file=sys.stderr)
            return 1
        cut_off = cut_off or not record.complete
        sums, last = traffic(record)
        print(f"{bundle}: {record.head.get('strategy', '?')}, {len(record.chunks)} events of chunks, {len(record.spans)} spans"
              + ("" if record.complete else "; the record is cut off"))
        for (node, phase, action), count in sorted(sums.items()):
            print(f"  {node:10} {phase:14} {action:8} {count:14,} bytes")
        for node, end in sorted(last.items()):
            print(f"  {node:10} ends at {end / 1e6:.3f} ms")
    return int(cut_off)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

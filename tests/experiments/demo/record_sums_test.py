"""The record of a run against the run's other counts: bytes of every rank and phase, times when buckets end.

usage: record_sums_test.py BUNDLE...     bundles of `ring` and `ps-sync` with --timeline, all steps recorded
"""
import collections
import json
import math
import pathlib
import statistics
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from read_record import read_record, traffic  # noqa: E402

BUNDLES = []


class RecordSums(unittest.TestCase):
    def each(self):
        for bundle in BUNDLES:
            with self.subTest(bundle=bundle):
                path = pathlib.Path(bundle)
                yield read_record(path), json.loads((path / "summary.json").read_text(encoding="utf-8"))

    def test_every_rank_sends_what_theory_says(self):
        for record, summary in self.each():
            workers, steps = record.head["workers"], summary["steps"]
            all_bytes = 4 * sum(record.head["bucket_elements"])
            ring = record.head["strategy"] == "ring"
            expected = steps * all_bytes * (2 * (workers - 1) / workers if ring else 1)
            sums, _ = traffic(record)
            for rank in range(workers):
                sent = sum(count for (node, _, action), count in sums.items() if node == f"worker {rank}" and action == "send")
                self.assertLess(abs(sent - expected), 0.01 * expected)

    def test_phases_add_up(self):
        for record, summary in self.each():
            workers, steps = record.head["workers"], summary["steps"]
            once = steps * 4 * sum(record.head["bucket_elements"])
            totals = collections.Counter()
            for (_, phase, action), count in traffic(record)[0].items():
                totals[phase, action] += count
            ring = record.head["strategy"] == "ring"
            for phase in ("reduce-scatter", "all-gather") if ring else ("push", "pull"):
                for action in ("send", "receive"):
                    self.assertEqual(totals[phase, action], once * (workers - 1 if ring else workers))

    def test_bytes_are_those_of_summary_and_kernel(self):
        for record, summary in self.each():
            sums, _ = traffic(record)
            sent = collections.Counter()
            for (node, _, action), count in sums.items():
                if action == "send":
                    sent[node] += count
            workers = [sent[f"worker {rank}"] for rank in range(record.head["workers"])]
            mean = statistics.mean(workers)
            self.assertLess(abs(mean - summary["payload_bytes_sent_per_worker"]), 0.001 * mean)
            self.assertEqual(len(summary["bytes_sent_by_worker"]), len(workers))
            for rank, (recorded, counted) in enumerate(zip(workers, summary["bytes_sent_by_worker"])):
                with self.subTest(rank=rank):
                    # The kernel counts headers, and again what it sends again.
                    self.assertLess(abs(recorded - counted), 0.01 * recorded)

    def test_buckets_end_with_their_last_chunk(self):
        for record, _ in self.each():
            ends = collections.defaultdict(int)
            for chunk in record.chunks:
                if chunk.server < 0 and chunk.action == "receive":
                    key = (chunk.process, chunk.step, chunk.bucket)
                    ends[key] = max(ends[key], chunk.end)
            wires = collections.defaultdict(list)
            for span in record.spans:
                if span.kind == "wire":
                    wires[span.process, span.step, span.bucket].append(span.end)
            self.assertEqual(ends.keys(), wires.keys())
            late = []
            for key, end in ends.items():
                # A pull of all parameters has a `wire` too, and comes later. A trace has whole nanoseconds.
                after = [wire - end for wire in wires[key] if wire >= end - 2]
                self.assertTrue(after, key)
                late.append(min(after))
            # A thread may lose its core between the two. So one in a hundred may be later.
            self.assertLessEqual(sum(wait > 1_000_000 for wait in late), math.ceil(len(late) / 100))


if __name__ == "__main__":
    BUNDLES = sys.argv[1:]
    if not BUNDLES:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    unittest.main(argv=sys.argv[:1])

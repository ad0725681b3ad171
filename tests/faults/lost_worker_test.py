"""What the fault suite says of parameters in which the lost worker's gradients counted as they should, or otherwise.

usage: lost_worker_test.py
"""
import array
import pathlib
import tempfile
import unittest

from suite.all_scenarios import SCENARIOS
from suite.job import EPOCHS, PARAMS_HEADER, STEPS
from suite.lost_worker import APPLIED, LOST, NOT_APPLIED, TENSORS, counted_by_plan, fate_of_push, may_start_again, miscounted_without
from suite.samples import SAMPLES, STEPS_OF_EPOCH, indices, order

WORKERS = 3
BOUNDARIES = [50, 49, 50]


def weights(strategy, boundaries):
    """What an update of a worker, step and tensor subtracts, in gradients, after worker 1 was lost at the boundary."""
    def weight(worker, step, tensor):
        lost = step >= boundaries[tensor]
        if worker == LOST:
            return 0 if lost else 1
        return 1.5 if lost and strategy == "ps-backup" else 1
    return weight


def written(directory, weight):
    """A bundle with these updates."""
    values = array.array("f", [0.0] * TENSORS * SAMPLES)
    for tensor in range(TENSORS):
        for step in range(STEPS):
            for worker in range(WORKERS):
                for sample in indices(step, worker, WORKERS):
                    values[tensor * SAMPLES + sample] -= weight(worker, step, tensor) * 4**(step // STEPS_OF_EPOCH)
    bundle = pathlib.Path(directory)
    (bundle / "params.bin").write_bytes(bytes(PARAMS_HEADER) + values.tobytes())
    return bundle


class LostWorker(unittest.TestCase):
    def wrong(self, weight, strategy="ps-async"):
        with tempfile.TemporaryDirectory() as directory:
            return miscounted_without(written(directory, weight), strategy, WORKERS)

    def changed(self, changes):
        """The right updates but for these, by worker, step and tensor."""
        right = weights("ps-async", BOUNDARIES)
        return self.wrong(lambda *place: changes.get(place, right(*place)))[0]

    def test_the_order_of_samples_is_that_of_the_program(self):
        self.assertEqual(indices(0, 0, WORKERS), [41, 48, 53])  # of a run of the program
        for epoch in range(EPOCHS):
            self.assertEqual(sorted(order(epoch)), list(range(SAMPLES)))

    def test_a_lost_worker_counts_until_a_boundary(self):
        for strategy in ("ps-async", "ps-backup"):
            with self.subTest(strategy=strategy):
                self.assertEqual(self.wrong(weights(strategy, BOUNDARIES), strategy), ([], BOUNDARIES))

    def test_the_others_must_count_once(self):
        for times in (0, 2):
            with self.subTest(times=times):
                self.assertRegex(self.changed({(2, 70, 1): times})[0], "worker 2, step 70, tensor 1")

    def test_a_late_push_of_the_lost_worker_is_found(self):
        self.assertRegex(self.changed({(LOST, 60, 2): 1})[0], "worker 1, gradients in tensor 2 .* after it was lost")

    def test_a_push_of_the_lost_worker_that_counts_twice_is_found(self):
        for step in (3, BOUNDARIES[0] - 1):
            with self.subTest(step=step):
                self.assertRegex(self.changed({(LOST, step, 0): 2})[0], "worker 1, gradients in tensor 0")

    def test_a_push_of_the_lost_worker_that_is_lost_is_found(self):
        self.assertRegex(self.changed({(LOST, 20, 0): 0})[0], "worker 1, gradients in tensor 0")

    def test_tensors_differ_by_one_step_at_most(self):
        self.assertRegex(self.wrong(weights("ps-async", [50, 48, 50]))[0][0], r"\[50, 48, 50\]")

    def test_backups_scale_the_sum_from_the_boundary_on(self):
        self.assertTrue(self.wrong(weights("ps-async", BOUNDARIES), "ps-backup")[0])

    def test_a_plan_says_how_many_steps_count(self):
        self.assertEqual(counted_by_plan("kill@rank1:step50:step.begins"), (49, 50))
        self.assertEqual(counted_by_plan("kill@rank1:step50:bucket.submitted:bucket0"), (50, 51))

    def test_the_parameters_say_whether_the_last_push_was_applied(self):
        for bucket, tensor in ((0, 0), (1, 2), (2, 2)):
            for counted, fate in ((50, NOT_APPLIED), (51, APPLIED)):
                boundaries = [50, 50, 50]
                boundaries[tensor] = counted
                with self.subTest(bucket=bucket, fate=fate):
                    self.assertEqual(fate_of_push(f"kill@rank1:step50:bucket.submitted:bucket{bucket}", boundaries), fate)

    def test_only_workers_that_wait_as_long_may_end_the_generation(self):
        named = {scenario.name: scenario for scenario in SCENARIOS}
        for name, strategy, may in (("black-hole-shrink", "ps-ssp", True), ("black-hole-shrink", "ps-async", False),
                                    ("worker-killed-shrink", "ps-ssp", False)):
            with self.subTest(name=name, strategy=strategy):
                self.assertEqual(may_start_again(named[name], strategy), may)

    def test_no_push_is_unanswered_for_sure_in_other_phases(self):
        for plan in (None, "kill@rank1:step50:step.begins", "kill@rank1:step50:bucket.ready:bucket0"):
            self.assertEqual(fate_of_push(plan, BOUNDARIES), "")


if __name__ == "__main__":
    unittest.main()

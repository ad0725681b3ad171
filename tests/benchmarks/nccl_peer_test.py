"""nccl-peer over the stand-ins for CUDA and NCCL: what it prints and checks, and how it ends when a rank fails. Not how fast NCCL is.

usage: nccl_peer_test.py PROGRAM STAND_INS
"""
import json
import os
import subprocess
import sys
import unittest


class NcclPeer(unittest.TestCase):
    def peer(self, *words, gpus=4, **variables):
        environment = {**os.environ, "LD_LIBRARY_PATH": STAND_INS, "RINGSIDE_STAND_IN_GPUS": str(gpus), **variables}
        return subprocess.run([PROGRAM, *map(str, words)], env=environment, capture_output=True, text=True, timeout=60, check=False)

    def rows(self, *words, **more):
        done = self.peer(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["schema"], "ringside.nccl-peer/1")
        return result["rows"]

    def test_every_size_in_every_mode_out_of_place_and_in_place(self):
        rows = self.rows("--ranks", 3, "--bytes", "4096,300000", "--iterations", "3,2", "--blocking", "0,1,2", "--algorithm", "tree")
        self.assertEqual([(row["bytes"], row["iterations"], row["blocking"], row["in_place"]) for row in rows],
                         [(size, n, mode, place) for size, n in ((4096, 3), (300000, 2)) for mode in (0, 1, 2) for place in (False, True)])
        for row in rows:
            self.assertEqual(row["wrong"], 0)
            self.assertLessEqual(row["time_us"], row["slowest_us"])
            self.assertAlmostEqual(row["algbw_GBps"] / (row["bytes"] / row["time_us"] / 1e3), 1, places=2)
            self.assertAlmostEqual(row["busbw_GBps"] / row["algbw_GBps"], 4 / 3, places=2)

    def test_ranks_share_a_gpu_when_they_may(self):
        rows = self.rows("--ranks", 2, "--bytes", 64, "--share-gpu", "--in-place", "--blocking", gpus=1)
        self.assertEqual([(row["blocking"], row["in_place"], row["wrong"]) for row in rows], [(1, True, 0)])
        done = self.peer("--ranks", 2, "--bytes", 64, gpus=1)
        self.assertEqual(done.returncode, 4)
        self.assertIn("2 workers on a host with 1 GPU", done.stderr)

    def test_no_gpu(self):
        for gpus, reason in ((0, "no CUDA-capable device is detected"), ("old-driver", "driver version is insufficient")):
            done = self.peer("--ranks", 2, "--bytes", 64, gpus=gpus)
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            self.assertEqual(done.stderr.count("no GPU is found on "), 1)
            self.assertIn(reason, done.stderr)

    def test_a_rank_that_fails_ends_all(self):
        for rank in (0, 1, 2):
            done = self.peer("--ranks", 3, "--bytes", 64, "--blocking", RINGSIDE_STAND_IN_FAULT=f"fail:{rank}:4")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"rank {rank}: unhandled system error", done.stderr)

    def test_a_rank_that_hangs_is_given_up(self):
        done = self.peer("--ranks", 2, "--bytes", 64, "--blocking", "--timeout", 1, RINGSIDE_STAND_IN_FAULT="hang:1:4")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("it took longer than its --timeout", done.stderr)

    def test_usage(self):
        for words in ([], ["--ranks", 2], ["--bytes", 64], ["--ranks", 2, "--bytes", "64,x"], ["--ranks", 0, "--bytes", 64],
                      ["--ranks", 2, "--bytes", 64, "--iterations", "1,2"], ["--ranks", 2, "--bytes", 64, "--algorithm", "star"],
                      ["--ranks", 2, "--bytes"], ["--nonsense"]):
            done = self.peer(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertTrue(done.stderr.startswith("nccl-peer: "), words)


if __name__ == "__main__":
    PROGRAM, STAND_INS = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()

"""The token of a job is in none of its files, arguments, variables and messages, whatever the job records.

Usage: token_test.py BUILD
"""
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time
import unittest

from suite.ports import free_port

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path("build/release").resolve()
JOBS = (
    ("ring",), ("hierarchical",), ("ps-sync", "--servers", "colocated", "--ps-transport", "tcp"),
    ("ps-sync", "--servers", "colocated", "--ps-transport", "grpc"),
)
RECORDS = ("--timeline", "--save-params", "--checkpoint-every", "10")
RANKS = 2
STEPS = 100  # the workers are looked at after the first
STEP_MS = 20
ENDS_WITHIN_S = 60


def descendants_of(pids):
    """These processes, and all that they have started."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (ValueError, OSError):
            continue  # not a process, or an ended one
    found = set(pids)
    while grown := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= grown
    return found


def proc_files_of(pids):
    """What other programs may show of these processes, by path."""
    contents = {}
    for pid in pids:
        for name in ("cmdline", "environ", "comm"):
            path = pathlib.Path(f"/proc/{pid}/{name}")
            try:
                contents[path] = path.read_bytes()
            except OSError:
                continue  # it has ended
    return contents


class Token(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.token = secrets.token_hex(32)
        self.token_file = self.folder / "token"
        self.token_file.touch(0o600)
        self.token_file.write_text(self.token)

    def start(self, job, out):
        """Two ranks, as on two hosts: they find the token in the file."""
        port = str(free_port())
        ranks = []
        for rank in range(RANKS):
            variables = {"RANK": str(rank), "WORLD_SIZE": str(RANKS), "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
                         "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RINGSIDE_TOKEN_FILE": str(self.token_file)}
            ranks.append(subprocess.Popen(
                [BUILD / "bin" / "ringside", "train", "--strategy", *job, "--model", "profile:small-tensors", "--steps", str(STEPS),
                 "--compute-ms", str(STEP_MS), "--out", out, *RECORDS],
                env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
            self.addCleanup(ranks[-1].communicate)
            self.addCleanup(ranks[-1].kill)
        return ranks

    def wait_for_steps(self, ranks, out):
        metrics = out / "metrics.jsonl"
        end = time.monotonic() + ENDS_WITHIN_S
        while not (metrics.exists() and '"kind":"step"' in metrics.read_text()):
            for rank in ranks:
                if rank.poll() is not None:
                    self.fail(f"the job ended too early: {rank.communicate()[0].decode(errors='replace')}")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def places_of(self, secret, contents):
        return [str(path) for path, content in contents.items() if secret in content]

    def test_is_nowhere(self):
        for job in JOBS:
            with self.subTest(job=" ".join(job)):
                out = self.folder / " ".join(job)
                ranks = self.start(job, out)
                self.wait_for_steps(ranks, out)
                contents = proc_files_of(descendants_of(rank.pid for rank in ranks))
                words = [content.split(b"\0") for path, content in contents.items() if path.name == "cmdline"]
                self.assertEqual(sum(one[1:2] == [b"worker"] for one in words), RANKS)
                for number, rank in enumerate(ranks):
                    output, _ = rank.communicate(timeout=ENDS_WITHIN_S)
                    self.assertEqual(rank.returncode, 0, output.decode(errors="replace"))
                    contents[f"output of rank {number}"] = output
                files = [path for path in self.folder.rglob("*") if path.is_file()]
                contents |= {path: path.read_bytes() for path in files}
                self.assertIn(out / "trace.json", contents)
                self.assertTrue(any(path.suffix == ".ckpt" for path in files if out in path.parents))
                for secret in (self.token.encode(), bytes.fromhex(self.token)):
                    expected = [str(self.token_file)] if secret == self.token.encode() else []
                    self.assertEqual(self.places_of(secret, contents), expected)


if __name__ == "__main__":
    unittest.main()

"""TorchScript modules and .npz datasets in Ringside's own loop, against eager PyTorch, and against a program with the same network.

usage: script_models_test.py     with RINGSIDE (the executable) and PYTHONPATH (the package) set
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
import torch
from torch import nn

import emulation
from wide_program import wide_network

RINGSIDE = os.environ["RINGSIDE"]
WIDE_PROGRAM = pathlib.Path(__file__).with_name("wide_program.py")
STEPS = 50
SAMPLES = 48  # all of them in every step, so their order does not matter


class Words(nn.Module):
    """The mean of the embeddings of some words, and a network of it."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.unused = nn.Linear(3, 3)
        self.last = nn.Linear(8, 4)

    def forward(self, words):
        return self.last(torch.tanh(self.embedding(words).mean(1)))


def classes():
    generator = numpy.random.default_rng(1)
    return (nn.Sequential(nn.Linear(12, 20), nn.Tanh(), nn.Linear(20, 4)),
            generator.normal(size=(SAMPLES, 12)).astype("float32"), generator.integers(0, 4, SAMPLES), nn.CrossEntropyLoss())


def images():
    generator = numpy.random.default_rng(2)
    network = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 5, 4))
    return (network, generator.normal(size=(SAMPLES, 2, 8, 7)).astype("float32"), generator.integers(0, 4, SAMPLES),
            nn.CrossEntropyLoss())


def gray():
    """Images with one channel, which keep that dimension."""
    generator = numpy.random.default_rng(5)
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 5, 4))
    return network, generator.normal(size=(SAMPLES, 1, 8, 7)).astype("float32"), generator.integers(0, 4, SAMPLES), nn.CrossEntropyLoss()


def words():
    generator = numpy.random.default_rng(3)
    return Words(), generator.integers(0, 30, (SAMPLES, 5)), generator.integers(0, 4, SAMPLES), nn.CrossEntropyLoss()


def numbers():
    generator = numpy.random.default_rng(4)
    inputs = generator.normal(size=(SAMPLES, 6)).astype("float32")
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2)), inputs, numpy.sin(inputs[:, :2]), nn.MSELoss()


def one_number():
    network, inputs, answers, _ = numbers()
    network[2] = nn.Linear(16, 1)
    return network, inputs, answers[:, 0], nn.L1Loss()


def wide():
    generator = numpy.random.default_rng(6)
    return (wide_network(), generator.normal(size=(SAMPLES, 64)).astype("float32"), generator.integers(0, 10, SAMPLES), nn.CrossEntropyLoss())


class ScriptModels(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def prepare(self, make):
        torch.manual_seed(0)
        network, inputs, answers, loss = make()
        torch.jit.save(torch.jit.script(network), self.folder / "net.pt")
        numpy.savez(self.folder / "data.npz", x_train=inputs, y_train=answers, x_test=inputs[:16], y_test=answers[:16])
        return network, inputs, answers, loss

    def eager_losses(self, network, inputs, answers, loss):
        optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
        inputs, answers = torch.from_numpy(inputs), torch.from_numpy(answers)
        losses = []
        for _ in range(STEPS):
            optimizer.zero_grad(set_to_none=True)
            output = network(inputs)
            value = loss(output.squeeze(1) if answers.dim() == 1 and answers.dtype == torch.float32 else output, answers)
            value.backward()
            losses.append(value.item())
            optimizer.step()
        return losses

    def command(self, *flags, model=None, data=None, steps=STEPS):
        return [str(word) for word in (
            RINGSIDE, "train", "--model", model or f"script:{self.folder / 'net.pt'}", "--data",
            data or f"npz:{self.folder / 'data.npz'}", "--steps", steps, "--global-batch", SAMPLES, "--lr", 0.05, "--momentum", 0.9, "--out", self.folder / "run", "--force", *flags)]

    def train(self, *flags, **more):
        return self.run_command(self.command(*flags, **more))

    def run_command(self, command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        lines = (self.folder / "run" / "metrics.jsonl").read_text().splitlines()
        records = [record for record in map(json.loads, lines) if record["kind"] == "step"]
        return [record["loss"] for record in records], json.loads((self.folder / "run" / "summary.json").read_text())

    def test_losses_are_those_of_eager_pytorch(self):
        for make, flags in ((classes, ()), (images, ()), (gray, ()), (words, ()), (numbers, ("--loss", "mse")), (one_number, ("--loss", "mae"))):
            with self.subTest(make=make.__name__):
                expected = self.eager_losses(*self.prepare(make))
                losses, summary = self.train("--strategy", "none", "--workers", "1", *flags)
                for step, (mine, theirs) in enumerate(zip(losses, expected, strict=True)):
                    self.assertAlmostEqual(mine, theirs, delta=1e-6 * max(1, abs(theirs)), msg=f"step {step}")
                self.assertIsNotNone(summary["eval_loss"])

    def test_strategies_train_them_like_any_model(self):
        expected = self.eager_losses(*self.prepare(classes))
        for flags in (("--strategy", "ring"), ("--strategy", "shm"), ("--strategy", "ps-sync", "--servers", "2", "--bucket-mb", "0")):
            with self.subTest(flags=flags):
                _, summary = self.train("--workers", "3", *flags)
                # The loss of the last step is the mean over workers.
                self.assertAlmostEqual(summary["final_loss"], expected[-1], delta=1e-4)
                self.assertGreater(summary["eval_accuracy"], 0.3)

    def test_a_program_with_the_same_network_communicates_as_much(self):
        """On slow links, where a step is nearly all communication: the same bytes, and about the same time."""
        if missing := emulation.missing(RINGSIDE):
            self.skipTest(f"this machine has no {', '.join(missing)}")
        self.prepare(wide)
        for flags in (("ring",), ("ps-sync",)):
            with self.subTest(flags=flags):
                common = ("--strategy", *flags, "--workers", 2, "--network", "20Mbps")
                _, mine = self.train(*common, steps=20)
                _, program = self.run_command([str(word) for word in (
                    RINGSIDE, "train", *common, "--out", self.folder / "run", "--force", "--", sys.executable, WIDE_PROGRAM, 20)])
                for summary in (mine, program):
                    # A pass takes about 1 ms, and the links need more than 60 ms for 150 KiB.
                    self.assertGreater(summary["exposed_comm_ms"], 40)
                for name in ("parameters", "steps", "bound_ms", "payload_bytes_sent_per_worker", "payload_bytes_sent_per_worker_per_step"):
                    self.assertEqual(mine[name], program[name], name)
                self.assertAlmostEqual(program["bytes_sent_per_worker"], mine["bytes_sent_per_worker"],
                                       delta=0.05 * mine["bytes_sent_per_worker"])
                self.assertAlmostEqual(program["exposed_comm_ms"], mine["exposed_comm_ms"], delta=0.25 * mine["exposed_comm_ms"])

    def test_numbers_have_metrics_and_no_accuracy(self):
        self.prepare(numbers)
        _, summary = self.train("--strategy", "ring", "--workers", "2")
        self.assertIsNone(summary["eval_accuracy"])
        self.assertEqual(sorted(summary["eval_metrics"]), ["mae", "mse"])
        self.assertAlmostEqual(summary["eval_metrics"]["mse"], summary["eval_loss"], delta=1e-9)

    def refuses(self, text, *flags, expects=2, **files):
        done = subprocess.run(self.command(*flags, **files), capture_output=True, text=True, timeout=120)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.returncode, expects, done.stderr)

    def test_what_does_not_fit_is_refused(self):
        self.prepare(classes)
        self.refuses("mse and mae need numbers", "--loss", "mse")
        self.refuses("no loss is called 'mes' (did you mean 'mse'?)", "--loss", "mes")
        self.refuses("there is no file '/no/such/net.pt'", model="script:/no/such/net.pt")
        self.refuses("there is no file '/no/such/data.npz'", data="npz:/no/such/data.npz")
        self.refuses("would leave 3 idle", "--strategy", "ps-sync", "--servers", "4", "--bucket-mb", "4")
        (self.folder / "text.pt").write_text("no module")
        torch.save(nn.Linear(12, 4).state_dict(), self.folder / "state.pt")
        torch.save(nn.Linear(12, 4), self.folder / "pickled.pt")
        for name in ("text.pt", "state.pt", "pickled.pt"):
            for text in ("as a TorchScript module", "; save it with torch.jit.save(torch.jit.script(net), FILE)"):
                self.refuses(text, model=f"script:{self.folder / name}")
        torch.jit.save(torch.jit.script(nn.Linear(13, 4)), self.folder / "wide.pt")
        self.refuses(f"the forward method of '{self.folder / 'wide.pt'}' failed: ", model=f"script:{self.folder / 'wide.pt'}")
        torch.jit.save(torch.jit.script(nn.Linear(12, 4).double()), self.folder / "double.pt")
        self.refuses("float32 is trained", model=f"script:{self.folder / 'double.pt'}")
        torch.jit.save(torch.jit.script(nn.Linear(12, 3)), self.folder / "narrow.pt")
        self.refuses("returns another shape than (samples, 4)", model=f"script:{self.folder / 'narrow.pt'}")
        (self.folder / "text.npz").write_text("no archive")
        self.refuses("it is no .npz file", data=f"npz:{self.folder / 'text.npz'}", expects=1)
        self.prepare(numbers)
        self.refuses("classifies samples of floats, and the answers of", model="mlp")
        self.prepare(words)
        self.refuses("are integers; take script:FILE", model="mlp")


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Trains a small network on samples from a seed, and writes its parameters. Workers share a global batch of 24 samples.

usage: network_program.py STEPS OPTIMIZER OUT [update=program] [case=NAME] [evaluate]
OPTIMIZER is a name of OPTIMIZERS. Without a launcher it is the reference: plain PyTorch on the whole batch. A case is what the program
does besides, at the moments that the tables below name.
"""
import copy
import dataclasses
import os
import subprocess
import sys
import threading
import time

import torch
from torch import nn

import ringside
import ringside.torch
from networks import MODELS, Network, NoGradient

OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-4),
    "nesterov": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, nesterov=True),
    "dampening": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, dampening=0.1),
    "maximize": lambda parameters: torch.optim.SGD(parameters, lr=0.05, maximize=True),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.002),
    "amsgrad": lambda parameters: torch.optim.Adam(parameters, lr=0.002, amsgrad=True),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.002, weight_decay=0.1),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.002),
}
criterion = nn.CrossEntropyLoss()


@dataclasses.dataclass
class Run:
    """What a case can reach."""

    rank: int
    size: int
    model: Network
    optimizer: torch.optim.Optimizer
    step: int = 0
    inputs: torch.Tensor | None = None
    labels: torch.Tensor | None = None

    def loss(self):
        return criterion(self.model(self.inputs), self.labels)

    def half_losses(self):
        middle = len(self.inputs) // 2
        return [criterion(self.model(self.inputs[part]), self.labels[part]) / 2
                for part in (slice(0, middle), slice(middle, None))]

    def fails(self):
        """Whether it is here that one rank fails."""
        return self.rank == 1 and self.step == 3


# What the optimizer gets, and what the DistributedOptimizer gets besides

def two_groups(model):
    return [{"params": model.first.parameters(), "lr": 0.1}, {"params": model.last.parameters()}]


PARAMETERS = {"groups": two_groups, "frozen": lambda model: model.parameters(), "unfreezes": lambda model: model.parameters()}
OPTIONS = {
    "accumulate": {"backward_passes_per_step": 2},
    "unused-zero": {"unused_parameters": "zero"},
    "branches": {"unused_parameters": "zero"},
    "no-gradient-zero": {"unused_parameters": "zero"},
    "freezes-for-a-while": {"unused_parameters": "zero"},
    "slow-forward-waits-first": {"overlap_forward": False},
    "calls-layers": {"overlap_forward": False},
    "scripted-waits-first": {"overlap_forward": False},
}


# Before the forward pass

def raises(run):
    if run.fails():
        error = ValueError("a bad batch")
        if hasattr(error, "add_note"):  # Python 3.11
            error.add_note("a note on it")
        raise error


def exits(code, how=sys.exit):
    return lambda run: how(code) if run.fails() else None


def adds_to_the_wrapped_optimizer(run):
    run.optimizer.param_groups.append({**run.optimizer.param_groups[0], "params": [nn.Parameter(torch.zeros(3))]})


def broadcasts(run, name, tensor):
    tensor += run.rank
    ringside.torch.broadcast_parameters({name: tensor})
    assert not tensor.any()


def evaluates_to_infinity(run):
    if run.step == 3:
        ringside.evaluation(loss=float("inf"))


def evaluates_a_part(run):
    """The updates of the last step may be under way."""
    values = torch.ones(2, 1, 40)
    run.model.eval()
    with torch.no_grad():
        first = run.model.encoder(values)
        run.optimizer.synchronize()
        assert torch.equal(run.model.encoder(values), first)
    run.model.train()


def copies_the_model(run):
    target = copy.deepcopy(run.model)
    target.load_state_dict(run.model.state_dict())


BEFORE_FORWARD = {
    "evaluates-encoder": evaluates_a_part,
    "copies-model": copies_the_model,
    "evaluates-to-infinity": evaluates_to_infinity,
    "raises": raises,
    "exits": exits(3),
    "exits-0": exits(0),
    "exits-at-once": exits(0, os._exit),
    "slow": lambda run: time.sleep(0.05),
    "unfreezes": lambda run: run.model.frozen.requires_grad_(run.step >= 3),
    "freezes-for-a-while": lambda run: run.model.first.requires_grad_(run.step >= 3),
    "broadcasts": lambda run: broadcasts(run, "mean", torch.zeros(3)),
    "broadcasts-other-name": lambda run: broadcasts(run, "variance" if run.fails() else "mean", torch.zeros(3)),
    "broadcasts-other-shape": lambda run: broadcasts(run, "mean", torch.zeros(3, 1 + run.fails())),
    "broadcasts-more": lambda run: [broadcasts(run, "mean", torch.zeros(3)) for _ in range(1 + run.fails())],
    "grows": lambda run: adds_to_the_wrapped_optimizer(run) if run.step == 3 else None,
}


# The loss, and the backward pass

def without_last(run):
    return criterion(run.model.first(run.inputs)[:, :5], run.labels)


def functional(run):
    """It reads the parameters of the last layer without calling that."""
    model = run.model
    return criterion(nn.functional.linear(torch.tanh(model.hidden(run.inputs)), model.last.weight, model.last.bias), run.labels)


def functional_when_updated(run):
    run.optimizer.synchronize()
    return functional(run)


def with_the_parameters_size(run):
    """It reads parameters before the forward pass waits for their update."""
    size = sum(parameter.pow(2).sum() for parameter in run.model.parameters() if parameter.requires_grad)
    return run.loss() + 0.001 * size


def with_the_parameters_size_when_updated(run):
    run.optimizer.synchronize()
    return with_the_parameters_size(run)


def without_gradient(run):
    model = run.model
    run.optimizer.synchronize()
    return criterion(NoGradient.apply(torch.tanh(model.hidden(run.inputs)) @ model.last.weight.t(), model.last.bias), run.labels)


def branch_of_the_step(run):
    if run.step % 3 == 0:
        return run.loss()
    if run.step % 3 == 1:
        return without_last(run)
    return criterion(run.model.last(torch.relu(run.model.first(torch.relu(run.model.hidden(run.inputs))[:, :20]))), run.labels)


def gradients_by_hand(run, loss):
    """None of these reads a parameter through its module."""
    parameters = [parameter for parameter in run.model.parameters() if parameter.requires_grad]
    for parameter, gradient in zip(parameters, torch.autograd.grad(functional(run), parameters)):
        parameter.grad = gradient


LOSSES = {
    "gradients-by-hand": lambda run: None,
    "reads-early": functional,
    "reads-when-updated": functional_when_updated,
    "size-early": with_the_parameters_size,
    "size-when-updated": with_the_parameters_size_when_updated,
    "calls-layers": lambda run: criterion(run.model.last(torch.tanh(run.model.hidden(run.inputs))), run.labels),
    "reports-batch-of-keywords": lambda run: criterion(run.model(inputs=run.inputs), run.labels),
    "fills-unused": without_last,
    "unused-error": without_last,
    "unused-zero": without_last,
    "no-gradient": without_gradient,
    "no-gradient-zero": without_gradient,
    "branches": branch_of_the_step,
    "diverges": lambda run: run.loss() * (float("inf") if run.fails() else 1),
}


def plain_backward(run, loss):
    loss.backward()
    if run.size == 1:
        # What "zero" does for parameters that the step leaves out.
        for parameter in run.model.parameters():
            if parameter.grad is None and parameter.requires_grad:
                parameter.grad = torch.zeros_like(parameter)


def accumulates(run, loss):
    for half in run.half_losses():
        half.backward()


def accumulates_with_no_sync(run, loss):
    first, second = run.half_losses()
    with run.optimizer.no_sync():
        first.backward()
    second.backward()


def no_sync_comes_late(run, loss):
    first, second = run.half_losses()
    first.backward()
    with run.optimizer.no_sync():
        second.backward()


def twice(run, loss):
    loss.backward()
    run.loss().backward()


BACKWARD = {"gradients-by-hand": gradients_by_hand, "accumulate": accumulates, "no-sync": accumulates_with_no_sync, "no-sync-late": no_sync_comes_late, "twice": twice}


# Between the backward pass and the step

def clips(run):
    run.optimizer.synchronize()
    nn.utils.clip_grad_norm_(run.model.parameters(), 0.1)


def fills_what_is_missing(run):
    for parameter in run.model.parameters():
        if parameter.grad is None and parameter.requires_grad:
            parameter.grad = torch.zeros_like(parameter)


def changes(option, value):
    return lambda run: run.optimizer.param_groups[0].update({option: value})


def forks(run):
    """One child uses the job, one raises. Neither may end or fail the job of its parent."""
    if run.step != 1:
        return
    for misuse in (True, False):
        child = os.fork()
        if child == 0:
            if not misuse:
                raise ValueError("a fault of the child")
            try:
                run.optimizer.step()
            except ringside.Error as error:
                print("the child:", error, flush=True)
            sys.exit(0)
        print("the child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def starts_a_program(run):
    """It is no worker of the job, although it has the environment of one."""
    if run.step == 1:
        subprocess.run(
            [sys.executable, "-c", "import ringside; ringside.init(); print('one of', ringside.size(), flush=True)"],
            env=dict(os.environ), check=True)


def predicts_again(run):
    with torch.no_grad():
        run.loss()


BEFORE_STEP = {
    "predicts-before-step": predicts_again,
    "saves-before-step": lambda run: run.model.state_dict(),
    "clips": clips,
    "fills-unused": fills_what_is_missing,
    "clips-too-late": lambda run: nn.utils.clip_grad_norm_(run.model.parameters(), 0.1),
    "saves-model": lambda run: torch.save(run.model, os.devnull),
    "rate-too-late": changes("lr", 0.01),
    "fork": forks,
    "starts-program": starts_a_program,
}


# After the step

def moves_a_parameter(run):
    moved = next(iter(run.model.first.parameters()))
    moved.data = moved.data.clone()


def clamps(run):
    run.optimizer.synchronize()
    with torch.no_grad():
        for parameter in run.model.parameters():
            parameter.clamp_(-0.1, 0.1)


def decays(run):
    run.optimizer.param_groups[0]["lr"] *= 0.95


AFTER_STEP = {
    "clamps": clamps,
    "saves-state": lambda run: run.optimizer.state_dict(),
    "loads-late": lambda run: run.model.load_state_dict(run.model.state_dict()),
    "changes-momentum": changes("momentum", 0.5),
    "moves-parameter": moves_a_parameter,
    "adds-group": lambda run: run.optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(3))]}),
    "decays": decays,
}


def nothing(*_):
    pass


def batches(steps, rank, size):
    """This worker's part of every global batch."""
    generator = torch.Generator().manual_seed(7)
    mine = slice(rank * (24 // size), (rank + 1) * (24 // size))
    for _ in range(steps):
        yield torch.randn(24, 20, generator=generator)[mine], torch.randint(0, 5, (24,), generator=generator)[mine]


def train(run, steps, case):
    data = batches(steps, run.rank, run.size)
    if case == "loads-in-processes":
        data = torch.utils.data.DataLoader(list(data), batch_size=None, num_workers=2)
    for run.step, (run.inputs, run.labels) in enumerate(data):
        run.optimizer.zero_grad()
        BEFORE_FORWARD.get(case, nothing)(run)
        loss = LOSSES.get(case, Run.loss)(run)
        BACKWARD.get(case, plain_backward)(run, loss)
        BEFORE_STEP.get(case, nothing)(run)
        if case in ("reports-batch", "reports-batch-of-keywords", "trains-in-eval"):
            ringside.report(loss=loss.item())
        elif case not in ("reports-nothing", "gradients-by-hand"):
            ringside.report(loss=loss.item(), samples=len(run.inputs))
        run.optimizer.step()
        AFTER_STEP.get(case, nothing)(run)


def check_that_memory_is_shared(model):
    """The trained parameters are the job's own memory."""
    worker = ringside._job._job.worker
    flat = torch.from_dlpack(worker.params())
    trained = {parameter.data_ptr() for parameter in model.parameters() if parameter.requires_grad}
    assert trained == {flat[begin:].data_ptr() for begin, _ in worker.ranges()}


def main():
    steps, kind, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    options = dict(word.split("=") for word in sys.argv[4:] if "=" in word)
    case = options.pop("case", "")
    if case == "never-inits":
        return
    ringside.init()
    rank, size = ringside.rank(), ringside.size()
    # Only worker 0 begins with the parameters of the reference.
    torch.manual_seed(1 + rank)
    if case == "no-parameters":
        return
    if case == "registers-without-rule":
        ringside._job._worker().register(["weight"], [[3]], optimizer=None, learning_rate=0.1)
    if case == "places":
        print(f"rank {rank}: {ringside.local_rank()} of {ringside.local_size()}", flush=True)
    model = MODELS.get(case, lambda model, rank: model)(Network(), rank)
    wanted = PARAMETERS[case](model) if case in PARAMETERS else (each for each in model.parameters() if each.requires_grad)
    optimizer = ringside.torch.DistributedOptimizer(OPTIMIZERS[kind](wanted), model, **options, **OPTIONS.get(case, {}))
    if size > 1:
        check_that_memory_is_shared(model)
    run = Run(rank, size, model, optimizer)
    if case in ("fewer-steps", "broadcasts-after-fewer-steps") and rank == 1:
        steps = 5
    if case == "raises-in-thread":
        thread = threading.Thread(target=train, args=(run, steps, "raises"))
        thread.start()
        thread.join()
    else:
        train(run, steps, case)
    if case == "broadcasts-after-fewer-steps":
        broadcasts(run, "mean", torch.zeros(3))
    if "evaluate" in sys.argv:
        ringside.evaluation(loss=1.5, accuracy=0.25)
    if rank == 0:
        torch.save(model.state_dict(), out)
        print("trained", size, flush=True)


if __name__ == "__main__":
    main()

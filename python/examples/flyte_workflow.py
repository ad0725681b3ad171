"""Prepare, train, report, as a Flyte workflow: ``pyflyte run flyte_workflow.py study --epochs 50``.

The prepared data is kept: a second run with the same samples and seed takes it from Flyte's cache. A training that fails is tried
again twice. On a cluster the pods' network is trusted, and the job's token is the secret "token" of the group "ringside".
"""
from __future__ import annotations

import numpy
from flytekit import Secret, task, workflow

from ringside.flyte import Ringside


@task(cache=True, cache_version="1")
def prepare(samples: int, seed: int) -> list[list[float]]:
    """Points and their labels: which side of a plane they are on."""
    random = numpy.random.default_rng(seed)
    points = random.normal(size=(samples, 8))
    plane = random.normal(size=8)
    labels = (points @ plane > 0).astype(float)
    return numpy.column_stack([points, labels]).tolist()


@task(task_config=Ringside(workers=2, strategy="ring", insecure_network=True), retries=2,
      secret_requests=[Secret(group="ringside", key="token", mount_requirement=Secret.MountType.FILE)])
def train(data: list[list[float]], epochs: int) -> list[float]:
    """Logistic regression. Each worker has every second point."""
    import torch

    import ringside
    import ringside.torch

    ringside.init()
    torch.manual_seed(ringside.seed())
    model = torch.nn.Linear(len(data[0]) - 1, 1)
    optimizer = ringside.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.5), model)
    table = torch.tensor(data)[ringside.rank()::ringside.size()]
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(table[:, :-1])[:, 0], table[:, -1])
        loss.backward()
        ringside.report(loss=loss.item(), samples=len(table))
        optimizer.step()
        losses.append(loss.item())
    return losses


@task
def report(losses: list[float]) -> str:
    return f"loss {losses[0]:.3f} before, {losses[-1]:.3f} after {len(losses)} epochs"


@workflow
def study(samples: int = 512, seed: int = 1, epochs: int = 50) -> str:
    return report(losses=train(data=prepare(samples=samples, seed=seed), epochs=epochs))

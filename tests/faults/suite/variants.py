"""The same faults in jobs that are started in another way: under `--on-failure shrink`, and over other transports."""
import dataclasses

from suite.job import has_servers

SHRINKING = ("worker-killed", "worker-exits", "worker-frozen", "black-hole", "worker-out-of-memory")
# The mean of three workers is not exact, so it cannot be told what counted.
CANNOT_SHRINK = ("local-sgd",)
WITH_TRANSPORTS = ("worker-killed", "worker-frozen", "server-killed", "server-frozen")
TRANSPORTS = ("grpc", "uds", "shm")
OVER_GRPC = ("strangers", "push-reset", "answer-reset")  # what needs a port


def shrinking(scenario):
    return dataclasses.replace(
        scenario, name=f"{scenario.name}-shrink", on_failure="shrink",
        what=f"{scenario.what}, and the job goes on without the worker (`--on-failure shrink`)",
        strategies=lambda strategy: scenario.strategies(strategy) and strategy not in CANNOT_SHRINK)


def over(transport, scenario):
    return dataclasses.replace(
        scenario, name=f"{scenario.name}-{transport}", what=f"{scenario.what} (`--ps-transport {transport}`)",
        flags=(*scenario.flags, "--ps-transport", transport),
        strategies=has_servers)


def variants(scenarios):
    """Further scenarios."""
    named = {scenario.name: scenario for scenario in scenarios}
    return [*(shrinking(named[name]) for name in SHRINKING),
            *(over(transport, named[name]) for transport in TRANSPORTS for name in WITH_TRANSPORTS),
            *(over("grpc", named[name]) for name in OVER_GRPC)]

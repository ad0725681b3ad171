"""Who updates the parameters of a PyTorch program, and with which rule."""
from __future__ import annotations

import torch

from ringside._job import Error


def options_of(groups) -> list[dict]:
    return [{key: value for key, value in group.items() if key not in ("params", "lr", "initial_lr")} for group in groups]


def updates_here(worker, update: str, rule, why_not: str) -> bool:
    if update == "program" or (update == "auto" and (rule is None or not _strategy_updates(worker))):
        if worker.program_can_update:
            return True
        if update == "program":
            raise Error(f"strategy '{worker.strategy}' updates the parameters itself, so the program cannot; {worker.how_to_update}")
    if rule is None:
        raise Error(f"strategy '{worker.strategy}' cannot update as this optimizer does: {why_not}; "
                    + ('with update="program" the optimizer itself does' if worker.program_can_update
                       else f"so that the optimizer itself updates: {worker.how_to_update}"))
    return False


def _strategy_updates(worker) -> bool:
    """Whether the run leaves the update to the strategy. ``--server-update off`` is the wish that it does not."""
    return worker.servers == 0 or worker.servers_update


def rule_of(optimizer) -> tuple[dict | None, str]:
    """The optimizer's rule in Ringside's terms, or None and why there is none."""
    kind = type(optimizer)
    if len(optimizer.state) > 0:
        return None, "it has made steps already, and its state cannot be taken over"
    groups = [{key: value for key, value in group.items() if key not in ("params", "initial_lr")}
              for group in optimizer.param_groups]
    if any(group != groups[0] for group in groups):
        return None, "its groups of parameters have different options"
    group = groups[0]
    if not isinstance(group["lr"], float | int):
        return None, "its learning rate is not a number"
    for option in ("maximize", "amsgrad", "differentiable", "capturable"):
        if group.get(option):
            return None, f"{option} is set"
    if kind is torch.optim.SGD:
        if group["dampening"]:
            return None, "dampening is set"
        return {"kind": "sgd", "momentum": float(group["momentum"]), "nesterov": bool(group["nesterov"]),
                "weight_decay": float(group["weight_decay"])}, ""
    if kind in (torch.optim.Adam, torch.optim.AdamW):
        beta1, beta2 = group["betas"]
        coupled = kind is torch.optim.Adam and not group.get("decoupled_weight_decay")
        return {"kind": "adam" if coupled else "adamw", "beta1": float(beta1), "beta2": float(beta2),
                "eps": float(group["eps"]), "weight_decay": float(group["weight_decay"])}, ""
    return None, f"{kind.__name__} is not SGD, Adam or AdamW"

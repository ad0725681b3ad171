"""Ringside for JAX.

    import ringside, ringside.jax
    ringside.init()
    params = ringside.jax.broadcast_parameters(init_params(key))
    for batch in batches:
        loss, grads = value_and_grad(params, batch)     # may be compiled
        grads = ringside.jax.mean_gradients(grads)      # not inside of jax.jit
        params, state = update(grads, state, params)    # may be compiled

The program updates its parameters itself. So the strategy must leave the update to it: an all-reduce such as ``ring``, or ``ps-sync`` or
``mixed`` with ``--server-update off``. A program has one tree of gradients.
"""
from __future__ import annotations

from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy

from ringside._arrays import Exchange, broadcast
from ringside._job import size

__all__ = ["broadcast_parameters", "mean_gradients", "sum_gradients"]

#: Nested dicts, lists, tuples of arrays, as jax.tree_util takes them.
Tree = TypeVar("Tree")

_exchange = Exchange()


def mean_gradients(tree: Tree) -> Tree:
    """The mean over the workers of a tree of float32 arrays, with the same shapes in every step. It is one step of the job."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    names = [jax.tree_util.keystr(path) for path, _ in leaves]
    means = _exchange.means(names, [numpy.asarray(leaf) for _, leaf in leaves])
    # JAX may keep views of numpy's memory, which the next step overwrites.
    return jax.tree_util.tree_unflatten(
        jax.tree_util.tree_structure(tree), [jnp.array(numpy.array(mean)) for mean in means])


def sum_gradients(tree: Tree) -> Tree:
    """The sum over the workers, as ``mean_gradients``."""
    return jax.tree_util.tree_map(lambda mean: mean * size(), mean_gradients(tree))


def broadcast_parameters(tree: Tree) -> Tree:
    """A tree with the values of worker 0. Every worker calls it."""
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: jnp.array(broadcast(jax.tree_util.keystr(path), numpy.asarray(leaf))), tree)

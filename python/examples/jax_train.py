"""Training with JAX: ``ringside train --strategy ring --workers 2 -- python3 jax_train.py``.

Under ``--strategy ps-sync`` it needs ``--server-update off``, because the program updates its parameters itself. With a file as
argument, worker 0 writes the trained parameters there (``jax_train.py trained.npz``). All workers together see the same batches of
24 samples, if their number divides 24.
"""
import sys

import jax
import jax.numpy as jnp
import numpy

import ringside
import ringside.jax


def loss_of(params, inputs, labels):
    hidden = jnp.tanh(inputs @ params["first"]["weight"] + params["first"]["bias"])
    logits = hidden @ params["last"]["weight"] + params["last"]["bias"]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(labels.shape[0]), labels])


@jax.jit
def update(params, velocity, grads):
    velocity = jax.tree_util.tree_map(lambda v, g: 0.9 * v + g, velocity, grads)
    return jax.tree_util.tree_map(lambda p, v: p - 0.05 * v, params, velocity), velocity


def layer(random, rows, columns):
    return {"weight": jnp.array(random.normal(size=(rows, columns)) / 4, jnp.float32), "bias": jnp.zeros(columns)}


def main():
    ringside.init()
    rank, size = ringside.rank(), ringside.size()
    random = numpy.random.default_rng(1 + rank)
    params = ringside.jax.broadcast_parameters({"first": layer(random, 20, 40), "last": layer(random, 40, 5)})
    velocity = jax.tree_util.tree_map(jnp.zeros_like, params)
    value_and_grad = jax.jit(jax.value_and_grad(loss_of))
    samples = numpy.random.default_rng(7)
    mine = slice(rank * (24 // size), (rank + 1) * (24 // size))
    for _ in range(50):
        inputs, labels = samples.normal(size=(24, 20)).astype(numpy.float32), samples.integers(0, 5, 24)
        loss, grads = value_and_grad(params, inputs[mine], labels[mine])
        ringside.report(loss=float(loss), samples=len(labels[mine]))
        params, velocity = update(params, velocity, ringside.jax.mean_gradients(grads))
    if rank == 0 and sys.argv[1:]:
        numpy.savez(sys.argv[1], **{f"{layer}.{name}": value for layer, values in params.items() for name, value in values.items()})


if __name__ == "__main__":
    main()

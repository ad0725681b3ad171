"""Trains a small network with JAX on samples from a seed. Workers share a global batch of 24 samples.

usage: jax_program.py OUT [changes-shape]
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


def main():
    ringside.init()
    rank, size = ringside.rank(), ringside.size()
    generator = numpy.random.default_rng(1 + rank)  # only worker 0 begins with the parameters of the reference

    def layer(rows, columns):
        return {"weight": jnp.array(generator.normal(size=(rows, columns)) / 4, jnp.float32), "bias": jnp.zeros(columns)}

    params = ringside.jax.broadcast_parameters({"first": layer(20, 40), "last": layer(40, 5)})
    velocity = jax.tree_util.tree_map(jnp.zeros_like, params)
    value_and_grad = jax.jit(jax.value_and_grad(loss_of))
    samples = numpy.random.default_rng(7)
    mine = 24 // size
    for step in range(50):
        inputs, labels = samples.normal(size=(24, 20)).astype(numpy.float32), samples.integers(0, 5, 24)
        part = slice(rank * mine, (rank + 1) * mine)
        loss, grads = value_and_grad(params, inputs[part], labels[part])
        if "changes-shape" in sys.argv and step == 3:
            grads["last"]["bias"] = jnp.zeros(6)
        ringside.report(loss=float(loss), samples=mine)
        params, velocity = update(params, velocity, ringside.jax.mean_gradients(grads))
    if rank == 0:
        numpy.savez(sys.argv[1], **{f"{layer}.{name}": value for layer, values in params.items() for name, value in values.items()})


if __name__ == "__main__":
    main()

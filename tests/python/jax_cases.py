"""Gradients that each worker makes up, given to ringside.jax.

usage: jax_cases.py changes-shape|changes-dtype|changes-count|sums
"""
import sys

import jax.numpy as jnp
import numpy

import ringside
import ringside.jax


def gradients(step, case):
    """Worker r has the values r + 1."""
    tree = {"bias": jnp.full(5, ringside.rank() + 1.0), "weight": jnp.full((3, 5), ringside.rank() + 1.0)}
    if step == 2 and case == "changes-shape":
        tree["bias"] = jnp.zeros(6)
    if step == 2 and case == "changes-dtype":
        tree["bias"] = jnp.zeros(5, jnp.int32)
    if step == 2 and case == "changes-count":
        del tree["bias"]
    return tree


def main():
    case = sys.argv[1]
    ringside.init()
    workers = ringside.size()
    for step in range(4):
        sums = ringside.jax.sum_gradients(gradients(step, case))
        means = ringside.jax.mean_gradients(gradients(step, ""))
        for tree, expected in ((sums, workers * (workers + 1) / 2), (means, (workers + 1) / 2)):
            for name, shape in (("bias", (5,)), ("weight", (3, 5))):
                assert isinstance(tree[name], jnp.ndarray)
                numpy.testing.assert_array_equal(tree[name], numpy.full(shape, expected, numpy.float32))
    print("as expected")


if __name__ == "__main__":
    main()

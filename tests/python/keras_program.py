"""Trains a small network with Keras 3 on samples from a seed. Workers share global batches of 24 samples.

usage: keras_program.py OUT     with KERAS_BACKEND set
"""
import sys

import keras
import numpy

import ringside
import ringside.keras


def main():
    ringside.init()
    rank, size = ringside.rank(), ringside.size()
    keras.utils.set_random_seed(1 + rank)  # only worker 0 begins with the variables of the reference
    model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(40, "tanh"), keras.layers.Dense(5, "softmax")])
    optimizer = ringside.keras.DistributedOptimizer(keras.optimizers.SGD(0.05, momentum=0.9))
    model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    generator = numpy.random.default_rng(7)
    inputs, labels = generator.normal(size=(24 * 30, 20)).astype("float32"), generator.integers(0, 5, 24 * 30)
    mine = 24 // size
    # Batch b of all workers together is rows 24 b to 24 b + 23.
    rows = numpy.arange(24 * 30).reshape(30, size, mine)[:, rank].ravel()
    callbacks = [ringside.keras.BroadcastVariables(), ringside.keras.ReportMetrics(batch_size=mine)]
    model.fit(inputs[rows], labels[rows], batch_size=mine, shuffle=False, callbacks=callbacks, verbose=0,
              validation_data=(inputs[:48], labels[:48]))
    if rank == 0:
        numpy.savez(sys.argv[1], **{f"v{index}": numpy.asarray(value) for index, value in enumerate(model.get_weights())})


if __name__ == "__main__":
    main()

"""Training with Keras 3: ``KERAS_BACKEND=jax ringside train --strategy ring --workers 2 -- python3 keras_train.py``.

Under ``--strategy ps-sync`` it needs ``--server-update off``, because Keras updates the variables itself. With a file as argument,
worker 0 writes the trained weights there (``keras_train.py trained.npz``). All workers together see the same batches of 24 samples,
if their number divides 24.
"""
import sys

import keras
import numpy

import ringside
import ringside.keras

BATCHES, GLOBAL_BATCH = 30, 24


def main():
    ringside.init()
    rank, size = ringside.rank(), ringside.size()
    keras.utils.set_random_seed(1 + rank)
    model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(40, "tanh"), keras.layers.Dense(5, "softmax")])
    optimizer = ringside.keras.DistributedOptimizer(keras.optimizers.SGD(0.05, momentum=0.9))
    model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    samples = numpy.random.default_rng(7)
    inputs, labels = samples.normal(size=(BATCHES * GLOBAL_BATCH, 20)).astype("float32"), samples.integers(0, 5, BATCHES * GLOBAL_BATCH)
    mine = GLOBAL_BATCH // size
    # This worker's part of every global batch.
    rows = numpy.arange(BATCHES * GLOBAL_BATCH).reshape(BATCHES, size, mine)[:, rank].ravel()
    callbacks = [ringside.keras.BroadcastVariables(), ringside.keras.ReportMetrics(batch_size=mine)]
    model.fit(inputs[rows], labels[rows], batch_size=mine, shuffle=False, callbacks=callbacks, verbose=0,
              validation_data=(inputs[:48], labels[:48]))
    if rank == 0 and sys.argv[1:]:
        numpy.savez(sys.argv[1], **{f"v{index}": numpy.asarray(value) for index, value in enumerate(model.get_weights())})


if __name__ == "__main__":
    main()

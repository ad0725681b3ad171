"""What programs with Keras may get wrong, or rely on.

usage: keras_cases.py begins|seeds|losses|not-built|goes-on [FILE]     with KERAS_BACKEND set
"""
import json
import sys

import keras
import numpy

import ringside
import ringside.keras
from ringside._arrays import broadcast

BATCH = 8


def distributed(rate):
    return ringside.keras.DistributedOptimizer(keras.optimizers.SGD(rate))


def network(optimizer):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, "tanh"), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    model.compile(optimizer=optimizer, loss="mse")
    return model


def fit(model, inputs, outputs, epochs=1, callbacks=()):
    model.fit(inputs, outputs, batch_size=BATCH, epochs=epochs, shuffle=False, verbose=0, callbacks=list(callbacks))


def begins(inputs, outputs):
    """Without callbacks, the workers train the same variables."""
    model = network(distributed(0.1))
    fit(model, inputs, outputs)
    for variable in model.trainable_variables:
        mine = keras.ops.convert_to_numpy(variable)
        numpy.testing.assert_array_equal(mine, broadcast(variable.path, mine))


def losses(inputs, outputs):
    """Writes the loss of each batch of two epochs. Nothing is learned."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile(optimizer=distributed(0.0), loss="mse")
    fit(model, inputs, outputs, 2, [ringside.keras.ReportMetrics(batch_size=BATCH)])
    starts = range(0, len(inputs), BATCH)
    with open(sys.argv[2], "w") as file:
        json.dump(2 * [model.evaluate(inputs[begin:begin + BATCH], outputs[begin:begin + BATCH], verbose=0) for begin in starts], file)


def seeds(inputs, outputs):
    """BroadcastVariables gives all weights of worker 0, but each worker drops out other units."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dropout(0.5, seed=1 + ringside.rank()), keras.layers.BatchNormalization()])
    model.layers[1].moving_mean.assign(numpy.full(4, 1 + ringside.rank()))
    callback = ringside.keras.BroadcastVariables()
    callback.set_model(model)
    callback.on_train_begin()
    numpy.testing.assert_array_equal(keras.ops.convert_to_numpy(model.layers[1].moving_mean), numpy.ones(4))
    assert keras.ops.convert_to_numpy(model.layers[0].seed_generator.state)[0] == 1 + ringside.rank()
    begins(inputs, outputs)  # a worker without a step has failed


def not_built(inputs, outputs):
    model = network(None)
    distributed(0.1).apply([keras.ops.zeros(variable.shape) for variable in model.trainable_variables], model.trainable_variables)


def goes_on(inputs, outputs):
    fit(network(distributed(0.1)), inputs, outputs, 1000, [ringside.keras.ReportMetrics(batch_size=BATCH)])


def main():
    ringside.init()
    keras.utils.set_random_seed(1 + ringside.rank())
    random = numpy.random.default_rng(1 + ringside.rank())
    inputs = random.normal(size=(5 * BATCH, 4)).astype("float32")
    cases = {"begins": begins, "seeds": seeds, "losses": losses, "not-built": not_built, "goes-on": goes_on}
    cases[sys.argv[1]](inputs, inputs.sum(axis=1, keepdims=True))
    print("as expected")


if __name__ == "__main__":
    main()

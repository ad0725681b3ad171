"""A worker of a job whose program is a function: ``python -m ringside._call`` calls it and keeps what it returns."""
import importlib
import os
import pathlib
import pickle

import ringside
from ringside._function_job import FOLDER_VARIABLE


def dumps(result: object) -> bytes:
    """By cloudpickle, if there is one: the result may be of a class of the user's script."""
    for name in ("cloudpickle", "pyspark.cloudpickle"):
        try:
            return importlib.import_module(name).dumps(result)
        except ImportError:
            continue
    return pickle.dumps(result)


def main(folder: pathlib.Path) -> None:
    ringside.init()
    # The pickle is from the user's own call, so it may contain code.
    function, args, kwargs = pickle.loads((folder / "call.pickle").read_bytes())
    result = function(*args, **kwargs)
    path = folder / f"result-{ringside.rank()}.pickle"
    new = path.with_suffix(".new")
    new.write_bytes(dumps(result))
    new.rename(path)


if __name__ == "__main__":
    main(pathlib.Path(os.environ[FOLDER_VARIABLE]))

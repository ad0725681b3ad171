"""The parameters that the CPU's `mlp` has after the cases of plan.py, in files beside this one."""
import array
import base64
import gzip
import hashlib
import io
import json
import math
import pathlib
import sys

from gpu_check_parts import plan

FOLDER = pathlib.Path(__file__).resolve().parent / "references"
MAGIC = b"RSPARAM1"
HEADER = len(MAGIC) + 8 + 64  # the number of parameters, and their SHA-256 in hex


def floats(data):
    values = array.array("f")
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def read_params(path):
    """params.bin (experiments/checkpoint/params_file.h), as bytes of little-endian floats."""
    data = pathlib.Path(path).read_bytes()
    values = data[HEADER:]
    if data[:len(MAGIC)] != MAGIC or int.from_bytes(data[8:16], "little") * 4 != len(values) or \
            data[16:HEADER].decode("ascii", "replace") != hashlib.sha256(values).hexdigest():
        raise ValueError(f"{path} is damaged")
    return values


def compare(mine, reference):
    """(relative L2 distance, largest difference) of two vectors, as bytes. A vector that is not finite has no distance."""
    one, other = floats(mine), floats(reference)
    if len(one) != len(other):
        raise ValueError(f"{len(one)} parameters, and {len(other)} in the reference")
    differences = [a - b for a, b in zip(one, other)]
    norm = math.sqrt(math.fsum(b * b for b in other))
    if not all(map(math.isfinite, differences)):
        return math.inf, math.inf
    return math.sqrt(math.fsum(d * d for d in differences)) / norm, max(map(abs, differences))


def flags_of(case):
    return plan.CASE_FLAGS + plan.CASES[case]


def train(runs, ringside, model, case, more, out):
    """Trains a case into the folder `out`. Returns (parameters as bytes, summary.json)."""
    runs.run(f"{model}, {case}, {' '.join(more)}", [ringside, "train", "--model", model, *flags_of(case), *more, "--save-params", "--quiet",
                                                    "--out", out], plan.RUN_LIMIT)
    return read_params(out / "params.bin"), json.loads((out / "summary.json").read_text())


def train_reference(runs, ringside, case, out):
    return train(runs, ringside, "mlp", case, ["--strategy", "none", "--workers", "1"], out)


def path_of(case, folder=FOLDER):
    return folder / f"reference-{case}.json.gz"


def write(case, params, summary, version, commit, folder=FOLDER):
    text = json.dumps({"case": case, "flags": flags_of(case), "ringside": version, "commit": commit, "loss": summary["final_loss"],
                       "test_loss": summary["eval_loss"], "parameters": len(params) // 4,
                       "params_base64": base64.b64encode(params).decode()}, sort_keys=True)
    folder.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:  # the same bytes for the same content
        file.write(text.encode())
    path_of(case, folder).write_bytes(packed.getvalue())


def read(case, folder=FOLDER):
    """The content of a reference, with `params` as bytes. Raises ValueError if it is for other flags than plan.py has now."""
    content = json.loads(gzip.decompress(path_of(case, folder).read_bytes()))
    if content["flags"] != flags_of(case):
        raise ValueError(f"{path_of(case, folder).name} is for other flags; gpu_check.py --write-references makes it again")
    content["params"] = base64.b64decode(content.pop("params_base64"))
    return content

"""Prints every tensor of a safetensors file, as the real package reads it: name -> [shape, values]."""
import json
import sys

from safetensors import safe_open

with safe_open(sys.argv[1], framework="numpy") as file:
    tensors = {name: file.get_tensor(name) for name in file.keys()}
    print(json.dumps({"metadata": file.metadata(),
                      "tensors": {name: [list(value.shape), value.flatten().tolist()]
                                  for name, value in tensors.items()}}))

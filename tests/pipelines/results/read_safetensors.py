"""Reads a safetensors file by its specification alone and prints what it holds.

usage: read_safetensors.py FILE EXPECTED.json
Fails unless names, shapes and sums are those expected."""
import json
import sys

import numpy


def read_safetensors(path):
    """All tensors of a file by name, in the order of their bytes."""
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    assert size % 8 == 0, "header not padded"
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    body, end, found = data[8 + size:], 0, {}
    for name, entry in sorted(header.items(),
                              key=lambda e: e[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        assert begin == end and entry["dtype"] == "F32", "hole or other dtype"
        found[name] = numpy.frombuffer(body[begin:stop],
                                       "<f4").reshape(entry["shape"])
        end = stop
    assert end == len(body), "bytes that belong to no tensor"
    return found


if __name__ == "__main__":
    sums = {name: [list(values.shape), float(values.astype("f8").sum())]
            for name, values in sorted(read_safetensors(sys.argv[1]).items())}
    expected = json.load(open(sys.argv[2]))
    assert sums == expected, f"{sums} instead of {expected}"

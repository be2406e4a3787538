#!/usr/bin/env python3
"""Predicts with the weights of a finished run by numpy alone.

    python3 examples/read_weights.py runs/RUN
    python3 examples/read_weights.py runs/RUN --compare logits.npy
    python3 examples/read_weights.py runs/RUN --out logits.npy

Prints the name and shape of each weight, and the accuracy of the test split
(of labels that are numbers the mean of the squares of errors).
`--compare` takes what `graphmill predict RUN --all --logits` has written, and
fails if it differs. All of the graph is in memory, in double precision: this
is for small graphs, and to see what the weights mean. The formulas of all kinds
of models are in numpy_models.py, beside this file; the formats of weights and
datasets are told in examples/guide/models.md and partition/dataset-format.md."""

import argparse
import json
import pathlib
import re
import sys

import numpy as np

import numpy_models


def read_safetensors(path):
    """The tensors of a file by name: eight bytes with the length of a JSON
    text, the text, and the values, all little-endian."""
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(
                data[8 + size:][slice(*entry["data_offsets"])],
                "<f4").reshape(entry["shape"])
            for name, entry in header.items()}


def field(definition, section, name, absent=None):
    """A field of a section, as a run writes its definition. Runs that are older
    than the field have it not."""
    found = re.search(rf"^{section}:\n((?:  .*\n)+)", definition, re.MULTILINE)
    value = re.search(rf"^  {name}: (.*)$", found[1], re.MULTILINE)
    return value[1] if value else absent


def relations_of(definition):
    """How a run has put relations together. Runs that are older than the field
    have it not, and have divided in hetero_sage by all edge types."""
    is_mean = field(definition, "model", "kind") == "hetero_sage"
    return field(definition, "model", "relations",
                 "mean_of_all" if is_mean else "sum")


def label_set(definition):
    """The label set that a run has learnt; empty: the labels of the type."""
    found = re.search(r'^labels: "(.*)"$', definition, re.MULTILINE)
    return found[1] if found else ""


def predict(run, data):
    """Weights, logits of all nodes of the target type, and the dataset."""
    definition = (run / "definition.yaml").read_text()
    weights = read_safetensors(run / "weights.safetensors")
    dataset = numpy_models.Folder(data)
    layers = max(int(found[1]) for name in weights
                 if (found := re.match(r"layer(\d+)\.", name)))
    model = numpy_models.Model(
        field(definition, "model", "kind"), dataset, weights,
        field(definition, "model", "residual") == "true",
        field(definition, "model", "edge_weights", "use") == "use",
        relations_of(definition))
    if field(definition, "fetch", "precision") == "float16":
        for name, rows in model.inputs.items():
            if f"embedding.{name}" not in weights:
                model.inputs[name] = rows.astype(np.float16).astype(float)
    _, logits = model.run(layers, dataset.info["target"])
    return weights, logits, dataset


def test_text(logits, dataset, labels_of):
    """The accuracy of the test split of a label set, or the mean of the squares
    of errors where labels are numbers; None without such a split."""
    target = dataset.info["target"]
    end = f".{labels_of}" if labels_of else ""
    labels = dataset.node_array(target, f"labels{end}")
    test = dataset.node_array(target, f"test{end}")
    if labels is None or test is None or not len(test):
        return None
    if labels.dtype.kind == "f":
        return f"test MSE {((logits[test] - labels[test]) ** 2).mean():.4g}"
    if labels.ndim == 2:  # Several labels for each node, all of them right.
        right = ((logits[test] > 0) == labels[test]).all(axis=1)
    else:
        right = logits[test].argmax(axis=1) == labels[test]
    return f"test accuracy {right.mean():.4f}"


def difference(logits, file):
    """How far other logits are from these, as a share of the largest one."""
    other = np.load(file)
    if other.ndim == 1:  # One number for each node.
        other = other[:, None]
    if other.shape != logits.shape:
        sys.exit(f"{file} has the shape {other.shape}, not {logits.shape}")
    return np.abs(other - logits).max() / np.abs(logits).max()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=pathlib.Path,
                        help="folder of a finished run")
    parser.add_argument("--data", type=pathlib.Path,
                        help="the dataset, not cut into parts (default: where "
                             "the run found it)")
    parser.add_argument("--out", type=pathlib.Path,
                        help="write logits: [nodes, classes] float32")
    parser.add_argument("--compare", type=pathlib.Path,
                        help="logits of `graphmill predict --all --logits`, "
                             "or its values where labels are numbers")
    options = parser.parse_args()
    if not (options.run / "run.json").is_file():
        sys.exit(f"{options.run} is no folder of a run: it has no run.json")
    data = options.data or pathlib.Path(
        json.loads((options.run / "run.json").read_text())["data"])
    if not (data / "dataset.json").exists():
        sys.exit(f"{data} has no dataset.json: name the dataset as it was "
                 "before it was cut into parts, with --data")
    weights, logits, dataset = predict(options.run, data)
    for name, value in weights.items():
        print(f"{name:40} {list(value.shape)}")
    labels_of = label_set((options.run / "definition.yaml").read_text())
    if (text := test_text(logits, dataset, labels_of)) is not None:
        print(text)
    if options.out:
        np.save(options.out, logits.astype(np.float32))
    if options.compare:
        far = difference(logits, options.compare)
        print(f"logits differ by {far:.1e} of the largest one at the most")
        if not far < 1e-4:
            sys.exit("these are predictions of other weights or data")


if __name__ == "__main__":
    main()

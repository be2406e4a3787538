#!/usr/bin/env python3
"""Predicts with the weights of a finished run by numpy alone.

    python3 examples/read_weights.py runs/RUN
    python3 examples/read_weights.py runs/RUN --compare logits.npy
    python3 examples/read_weights.py runs/RUN --out logits.npy

Prints the name and shape of each weight, and the accuracy of the test split
(of labels that are numbers the mean of the squares of errors).
`--compare` takes what `graphmill predict RUN --all --logits` has written, and
fails if it differs. Of a run that has learnt edges, it takes the .csv of
`graphmill predict RUN --pairs FILE --neighbours all`, or `--top K`, and computes
the scores of its edges. All of the graph is in memory, in double precision: this
is for small graphs, and to see what the weights mean. The formulas of all kinds
of models are in numpy_models.py, beside this file; the formats of weights and
datasets are told in examples/guide/models.md and partition/dataset-format.md."""

import argparse
import csv
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


def task_of(definition, dataset):
    """The task of edges that a run has learnt; None: it has learnt nodes."""
    name = re.search(r'^task: "(.+)"$', definition, re.MULTILINE)
    return name and next(task for task in dataset.info["tasks"]
                         if task["name"] == name[1])


def layers_of(definition, kind):
    """A model has as many layers as `sampler.fanouts` has numbers."""
    if kind == "lookup":
        return 0
    fanouts = re.search(r"^  fanouts:(?:\n    default:)? \[(.*)\]$", definition,
                        re.MULTILINE)
    return len(fanouts[1].split(","))


def outputs_of(run, data):
    """Weights, the dataset, its task of edges, and what the model gives for all
    nodes: logits of the target type, or by node type what the decoder takes."""
    definition = (run / "definition.yaml").read_text()
    weights = read_safetensors(run / "weights.safetensors")
    dataset = numpy_models.Folder(data)
    task = task_of(definition, dataset)
    dataset.held_out = task is None  # Edges of training alone carry messages.
    kind = field(definition, "model", "kind")
    if field(definition, "sampler", "time", "none") in ("strict", "inclusive"):
        sys.exit("with `sampler.time` each node sees edges before its own "
                 "time, and these formulas take all edges")
    if field(definition, "sampler", "method", "uniform") == "pinsage":
        sys.exit("`sampler.method: pinsage` weighs messages by visits of walks, "
                 "and these formulas take all edges")
    if "decoder.edge.weight" in weights:
        sys.exit("the decoder reads features of edges, and these formulas leave "
                 "them out")
    model = numpy_models.Model(
        kind, dataset, weights,
        field(definition, "model", "residual") == "true",
        field(definition, "model", "edge_weights", "use") == "use",
        relations_of(definition))
    if field(definition, "fetch", "precision") == "float16":
        for name, rows in model.inputs.items():
            if f"embedding.{name}" not in weights:
                model.inputs[name] = rows.astype(np.float16).astype(float)
        for relation in model.relations:
            if relation.features is not None:
                relation.features = relation.features.astype(
                    np.float16).astype(float)
    types = ([dataset.info["target"]] if task is None else
             {end for name in task["edge_types"]
              for end in name.split("__")[::2]})
    made = {name: last for name, (_, last) in
            model.outputs(layers_of(definition, kind), types).items()}
    return weights, dataset, task, made


def edge_scores(definition, weights, dataset, task, outputs, lines):
    """What the decoder makes of the edges of a .csv."""
    places = {end: dataset.ids(end) for end in outputs}
    h, t, types = [], [], []
    for line in lines:
        name = line.get("type", task["edge_types"][0])
        at = next(i for i, full in enumerate(task["edge_types"])
                  if name in (full, full.split("__")[1]))
        source, _, destination = task["edge_types"][at].split("__")
        h.append(outputs[source][places[source][line["source"]]])
        t.append(outputs[destination][places[destination][
            line["destination"]]])
        types.append(at)
    return numpy_models.decoded(
        field(definition, "decoder", "kind"), weights, np.array(h),
        np.array(t), np.array(types), int(field(definition, "decoder", "norm")))


def compare_edges(run, weights, dataset, task, outputs, file):
    """How far scores of a .csv are from these, as a share of the largest one.
    Of classes, how many are others."""
    with open(file, newline="") as table:
        lines = list(csv.DictReader(table))
    made = edge_scores((run / "definition.yaml").read_text(), weights, dataset,
                       task, outputs, lines)
    if "class" in lines[0]:
        told = np.array([int(line["class"]) for line in lines])
        return (made.argmax(axis=1) != told).mean()
    names = [name for name in lines[0] if re.match(r"score|value_", name)]
    told = np.array([[float(line[name]) for name in names] for line in lines])
    if told.shape != made.shape:
        sys.exit(f"{file} has no scores of edges")
    return np.abs(told - made).max() / np.abs(made).max()


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


def tell_difference(far, what):
    print(f"{what} differ by {far:.1e} of the largest one at the most")
    if not far < 1e-4:
        sys.exit("these are predictions of other weights or data")


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
                             "or its values where labels are numbers; of edges "
                             "a .csv of `--pairs` or `--top`")
    options = parser.parse_args()
    if not (options.run / "run.json").is_file():
        sys.exit(f"{options.run} is no folder of a run: it has no run.json")
    data = options.data or pathlib.Path(
        json.loads((options.run / "run.json").read_text())["data"])
    if not (data / "dataset.json").exists():
        sys.exit(f"{data} has no dataset.json: name the dataset as it was "
                 "before it was cut into parts, with --data")
    weights, dataset, task, made = outputs_of(options.run, data)
    for name, value in weights.items():
        print(f"{name:40} {list(value.shape)}")
    if task is not None:
        if options.out:
            sys.exit("--out is for logits, and the run has learnt edges")
        if options.compare:
            tell_difference(compare_edges(options.run, weights, dataset, task,
                                          made, options.compare), "scores")
        return
    logits = made[dataset.info["target"]]
    labels_of = label_set((options.run / "definition.yaml").read_text())
    if (text := test_text(logits, dataset, labels_of)) is not None:
        print(text)
    if options.out:
        np.save(options.out, logits.astype(np.float32))
    if options.compare:
        tell_difference(difference(logits, options.compare), "logits")


if __name__ == "__main__":
    main()

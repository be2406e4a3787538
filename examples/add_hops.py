#!/usr/bin/env python3
"""Writes a dataset whose features are those of another one, with the means of
each node's neighbours, of their neighbours, and so on, beside them.

    python3 examples/add_hops.py data/cora data/cora-hops --hops 3

A perceptron of these (`model: {kind: mlp}` with `sampler: {fanouts: [0, 0]}`)
is a model like SIGN (Frasca et al., "SIGN: Scalable inception graph neural
networks", 2020): what the graph has to say is computed once, and training
neither samples nor waits for neighbours.

With X for the features, columns of the new ones are X, M X, M M X, ..., where M
takes the mean over all in-neighbours of a node, in all edge types, and 0
without any: exact, over whole lists, so that the new dataset is a function of
the old one alone. Edges count alike, whatever they weigh. Sums are made in
double precision in the order of the edges, and each hop is rounded to float32.
Features and edges are read from disk piece by piece: memory does not grow with
the graph. The disk takes the new features twice until they are imported, which
checks and digests them.

Nodes, edges, their weights, labels, label sets and splits stay as they are; ids
and names beside them are copied. For datasets of one node type, before they are
cut into parts."""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np
from numpy.lib.format import open_memmap

import to_graphmill  # noqa: F401 - finds the package in a checkout.
from graphmill.data.convert import (find_program, import_arrays,
                                    import_command)
from graphmill.data.values import Refused

SPLITS = ("train", "val", "test")
# Destinations whose means are made together, and values that are gathered for
# them at a time. Both are fixed, for where a sum is cut decides its rounding.
NODES, VALUES = 4096, 1 << 21
# How an import is told what labels are, by what dataset.json says: rows of one
# label, or of one label each, would else be taken for classes.
KIND_FLAGS = {"": [], "multi_label": ["--multi-label"],
              "regression": ["--regression"]}


def opened(path):
    return np.load(path, mmap_mode="r")


class Source:
    """A dataset of one node type."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        if not (self.folder / "dataset.json").is_file():
            raise Refused(f"{folder} has no dataset.json: name a dataset, as it "
                          "was before it was cut into parts")
        self.info = json.loads((self.folder / "dataset.json").read_text())
        types = self.info["node_types"]
        if len(types) != 1:
            raise Refused(f"{folder} has {len(types)} node types, and hops are "
                          "means over nodes of one type")
        self.type = types[0]
        self.nodes = self.folder / "nodes" / self.type["name"]
        for each in (self.type, *self.type.get("label_sets", [])):
            if each.get("labels", "") not in KIND_FLAGS:
                raise Refused(f"{folder} has labels of the kind "
                              f"{each['labels']}, which is newer than this")
        if not (self.nodes / "features.npy").is_file():
            raise Refused(f"{folder} has no dense features to take means of")
        self.features = opened(self.nodes / "features.npy")
        self.edges = {}
        self.weighted = set()
        for each in self.info["edge_types"]:
            name = f"{each['source']}__{each['name']}__{each['destination']}"
            place = self.folder / "edges" / name
            self.edges[name] = (opened(place / "indptr.npy"),
                                opened(place / "indices.npy"))
            if each.get("weights"):
                self.weighted.add(name)


def add_sums(sums, rows, indptr, indices, begin, end):
    """Adds to row i of `sums` those of `rows` that lead to node begin + i."""
    bounds = np.asarray(indptr[begin:end + 1])
    step = max(1, VALUES // rows.shape[1])
    for at in range(int(bounds[0]), int(bounds[-1]), step):
        stop = min(at + step, int(bounds[-1]))
        found = rows[indices[at:stop]].astype(np.float64)
        counts = (np.clip(bounds[1:], at, stop) - np.clip(bounds[:-1], at, stop))
        nodes = np.flatnonzero(counts)
        starts = np.maximum(bounds[nodes], at) - at
        sums[nodes] += np.add.reduceat(found, starts, axis=0)


def add_hop(source, rows, means):
    """Fills `means` with the mean of `rows` over each node's in-neighbours."""
    for begin in range(0, len(rows), NODES):
        end = min(begin + NODES, len(rows))
        sums = np.zeros((end - begin, rows.shape[1]))
        counts = np.zeros(end - begin, np.int64)
        for indptr, indices in source.edges.values():
            add_sums(sums, rows, indptr, indices, begin, end)
            counts += np.diff(indptr[begin:end + 1])
        means[begin:end] = sums / np.maximum(counts, 1)[:, None]


def write_features(source, hops, path):
    count, width = source.features.shape
    out = open_memmap(path, "w+", np.float32, (count, width * (hops + 1)))
    for begin in range(0, count, NODES):
        out[begin:begin + NODES, :width] = source.features[begin:begin + NODES]
    for hop in range(1, hops + 1):
        at = hop * width
        add_hop(source, out[:, at - width:at], out[:, at:at + width])
    out.flush()


def write_edges(source, folder):
    for name, (indptr, indices) in source.edges.items():
        out = open_memmap(folder / f"{name}.edges.npy", "w+", np.int64,
                          (2, len(indices)))
        for begin in range(0, len(indices), VALUES):
            end = min(begin + VALUES, len(indices))
            out[0, begin:end] = indices[begin:end]
            out[1, begin:end] = np.searchsorted(
                indptr, np.arange(begin, end), side="right") - 1
        out.flush()
        weights = source.folder / "edges" / name / "weights.npy"
        if name in source.weighted:
            shutil.copyfile(weights, folder / f"{name}.edge_weight.npy")


def write_labels(source, folder):
    sets = [""] + [f".{each['name']}"
                   for each in source.type.get("label_sets", [])]
    prefix = source.type["name"]
    for one in sets:
        for old, new in (("labels", "labels"),
                         *((name, f"{name}_idx") for name in SPLITS)):
            path = source.nodes / f"{old}{one}.npy"
            if path.is_file():
                shutil.copyfile(path, folder / f"{prefix}.{new}{one}.npy")


def classes_of(labelled):
    """What meta.json says of the labels of a type, or of a label set."""
    out = {}
    if labelled["class_count"]:
        out["num_classes"] = labelled["class_count"]
    if labelled.get("class_names"):
        out["class_names"] = labelled["class_names"]
    return out


def kind_flags(node_type):
    """What an import has to be told of the kinds of labels."""
    flags = list(KIND_FLAGS[node_type.get("labels", "")])
    for each in node_type.get("label_sets", []):
        for flag in KIND_FLAGS[each.get("labels", "")]:
            flags += [f"{flag}-set", each["name"]]
    return flags


def write_meta(source, hops, folder):
    one = {"num_nodes": source.type["count"],
           "num_features": source.type["feature_width"] * (hops + 1),
           "label_sets": {each["name"]: classes_of(each)
                          for each in source.type.get("label_sets", [])},
           **classes_of(source.type)}
    (folder / "meta.json").write_text(
        json.dumps({"node_types": {source.type["name"]: one}}))


def add_hops(data, out, hops, program=None):
    """Writes the dataset `out`; returns what its import said."""
    if hops < 1:
        raise Refused(f"{hops} hops are none: say how many, from 1 on")
    source = Source(data)
    out = pathlib.Path(out)
    if out.exists():
        raise Refused(f"{out} is there already; remove it, or choose another "
                      "place")
    program = find_program(program)
    if program is None:
        raise Refused("the program graphmill is not found: name it with "
                      "--program")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent,
                                     prefix=f".{out.name}.") as scratch:
        arrays = pathlib.Path(scratch)
        name = source.type["name"]
        write_features(source, hops, arrays / f"{name}.features.npy")
        write_edges(source, arrays)
        write_labels(source, arrays)
        write_meta(source, hops, arrays)
        flags = kind_flags(source.type)
        said = import_arrays(
            import_command(program, arrays, out, out.name, flags, False),
            arrays, out, typed=True)
    for beside in ("ids.txt", "node_names.txt"):
        if (source.nodes / beside).is_file():
            shutil.copyfile(source.nodes / beside, out / "nodes" / name / beside)
    return said


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="a dataset folder")
    parser.add_argument("out", type=pathlib.Path, help="the new one")
    parser.add_argument("--hops", type=int, default=2,
                        help="how far means reach (default: 2)")
    parser.add_argument("--program", help="graphmill, if it is not on the path")
    options = parser.parse_args()
    try:
        add_hops(options.data, options.out, options.hops, options.program)
    except Refused as error:
        sys.exit(f"add_hops: {error}")
    width = json.loads((options.out / "dataset.json").read_text())[
        "node_types"][0]["feature_width"]
    print(f"wrote {options.out}: features and {options.hops} hops of them, "
          f"{width} values for each node")


if __name__ == "__main__":
    main()

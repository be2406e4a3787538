#!/usr/bin/env python3
"""Measures what features and times of edges cost, and growing.

    python3 examples/measure_edges.py MODE FOLDER [OPTIONS]

features
    Processor time of an epoch that reads 16 features of each edge, beside the
    same epoch with `model.edge_features: ignore`, for each kind of layer that
    reads them. Also the requests of a run that fetches from two parts. The first
    read of a page of a file costs more than those that follow: take many epochs.
times
    Processor time of sampling by time, with and without trees, beside uniform
    sampling of the same seeds: for a batch, and for a node of one. Also that of a
    whole step (`step_cpu_ms`).
growing
    Time of appending the last hundredth of the nodes with all of their edges,
    beside an import of the whole graph, and whether both have the same digest.

All use an R-MAT graph (--scale), which is made in FOLDER once. What is compared
runs in turns. Prints a table of medians with the load of the machine, or JSON."""

import json
import shutil
import time

import numpy as np

from measure_links import (SAMPLING, arrays_of, by_turns, graphmill, measured, rmat,
                           train)

KINDS = ("sage", "sage_sum", "gcn", "gin", "gat", "gatv2", "rgcn", "hetero_sage",
         "rgat", "hgt")
FETCHING = ("fetcher", "feature service")
WIDTH = 16  # Features of an edge.
SPLIT = ("--split", "0.1,0.00002,0.00002", "--by")  # Few are held out.


def imported(options, name, arguments, make):
    """A dataset of the R-MAT graph with further arrays."""
    from numpy_models import Folder
    if not (options.folder / name).exists():
        given = Folder(options.folder / rmat(options))
        labels = given.node_array(given.info["node_types"][0]["name"], "labels")
        edges = given.edges(given.edge_types()[0]).shape[1]
        arrays = arrays_of(options, rmat(options), labels=labels,
                           **make(np.random.default_rng(1), len(labels), edges))
        graphmill(options, "import", "npy", arrays, *arguments,
                  "--out", options.folder / name)
        shutil.rmtree(arrays)
    return name


def run_of(options, data, folder=None, **definition):
    """The summary of a run that learns for some epochs and evaluates once."""
    filled = {"sampler": {"fanouts": [15, 10]}, "model": {"dropout": 0},
              "train": {"batch_size": 1024, "epochs": options.epochs},
              "evaluate": {"every": 1000000}}
    for section, fields in definition.items():
        filled[section].update(fields)
    return train(options, data, folder, **filled)[0]


def of_stages(summary, field, *names):
    return sum(one[field] for one in summary["stages"] if one["stage"] in names)


# -- features


def features(options):
    data = imported(
        options, f"{rmat(options)}-features", [*SPLIT, "random"],
        lambda chance, _, edges: {"edge_attr": chance.normal(
            size=(edges, WIDTH)).astype(np.float32)})
    parts = options.folder / f"{data}-parts"
    if not parts.exists():
        graphmill(options, "partition", options.folder / data, "--parts", 2,
                  "--method", "random", "--out", parts)

    def run(kind, use, folder=None):
        summary = run_of(options, data, folder, model={
            "kind": kind, "hidden": options.hidden, "edge_features": use})
        spent = {"": summary["cpu_seconds"],
                 "trainer_": of_stages(summary, "cpu_seconds", "trainer"),
                 "fetch_": of_stages(summary, "cpu_seconds", *FETCHING)}
        return {**{f"{part}cpu_ms": 1000 * seconds / summary["steps"]
                   for part, seconds in spent.items()},
                "sampling_requests": of_stages(summary, "items", *SAMPLING[1:]),
                "fetch_requests": of_stages(summary, "items", *FETCHING[1:])}

    rows = []
    for kind in options.kinds:
        out = by_turns(options, {use: lambda use=use: run(kind, use)
                                 for use in ("use", "ignore")})
        with_them, without = out["use"], out["ignore"]
        rows.append({"kind": kind, "ratio": with_them["cpu_ms"] / without["cpu_ms"],
                     **{f"{key}{end}": each[key] for key in (
                         "cpu_ms", "trainer_cpu_ms", "fetch_cpu_ms")
                        for end, each in (("", with_them), ("_without", without))}})
    asked = {use: run(options.kinds[0], use, parts) for use in ("use", "ignore")}
    return {"rows": rows, "requests": {
        key: [asked[use][key] for use in ("use", "ignore")]
        for key in ("sampling_requests", "fetch_requests")}}


# -- times


def times(options):
    """Nodes are of the last sixteenth of all time, so that they see almost as many
    edges as without times, and a step has rows of many times."""
    last = 1 << 24
    data = imported(
        options, f"{rmat(options)}-times",
        [*SPLIT, "time", "--edge-time", "--node-time", "--time-unit", "step"],
        lambda chance, nodes, edges: {
            "edge_time": chance.integers(0, last, edges),
            "time": chance.integers(last - last // 16, last, nodes)})
    ways = {"uniform": {"time": "ignore"}, "strict": {"time": "strict"},
            "latest": {"time": "strict", "latest": True},
            "trees": {"time": "strict", "disjoint": True}}
    row = 4 * json.loads((options.folder / data / "dataset.json").read_text())[
        "node_types"][0]["feature_width"]

    def run(how):
        summary = run_of(options, data, sampler=how,
                         model={"kind": "sage", "hidden": options.hidden},
                         train={"shuffle": False})
        spent = of_stages(summary, "cpu_seconds", *SAMPLING)
        nodes = of_stages(summary, "bytes", "fetcher") / row
        return {"cpu_ms": 1000 * spent / summary["steps"],
                "step_cpu_ms": 1000 * summary["cpu_seconds"] / summary["steps"],
                "nodes": nodes / summary["steps"], "ns_a_node": 1e9 * spent / nodes}

    out = by_turns(options, {name: lambda how=how: run(how)
                             for name, how in ways.items()})
    return {"rows": [{"sampling": name, **each,
                      **{f"{key}_ratio": each[key] / out["uniform"][key]
                         for key in ("cpu_ms", "step_cpu_ms", "ns_a_node")}}
                     for name, each in out.items()]}


# -- growing


def growing(options):
    from numpy_models import Folder
    given = Folder(options.folder / rmat(options))
    node_type = given.info["node_types"][0]["name"]
    edges = given.edges(given.edge_types()[0])
    features, labels = (given.features(node_type),
                        given.node_array(node_type, "labels").copy())
    before = len(labels) - len(labels) // 100
    labels[before:] = -1  # An append of arrays has no labels.
    old = (edges < before).all(0)
    splits = {f"{name}_idx": np.arange(number, before, 10)
              for number, name in enumerate(("train", "val", "test"))}

    def written(name, **arrays):
        folder = options.folder / f"growing-{name}-arrays"
        folder.mkdir(exist_ok=True)
        for array, values in arrays.items():
            np.save(folder / f"{array}.npy", values)
        return folder

    base = written("base", edges=edges[:, old], features=features[:before],
                   labels=labels[:before], **splits)
    union = written("union", edges=np.hstack([edges[:, old], edges[:, ~old]]),
                    features=features, labels=labels, **splits)
    new = written("new", edges=edges[:, ~old], nodes=features[before:])
    data, whole, grown = (options.folder / f"growing-{name}"
                          for name in ("base", "union", "grown"))
    name = ("--name", "growing", "--quiet")
    graphmill(options, "import", "npy", base, *name, "--replace", "--out", data)

    def seconds(*command):
        began = time.perf_counter()
        graphmill(options, *command)
        return {"seconds": time.perf_counter() - began}

    def append():
        shutil.rmtree(grown, ignore_errors=True)
        shutil.copytree(data, grown)
        return seconds("append", grown, "--nodes", new / "nodes.npy", "--edges",
                       new / "edges.npy", "--quiet")

    out = by_turns(options, {
        "import": lambda: seconds("import", "npy", union, *name, "--replace",
                                  "--out", whole),
        "append": append})
    digests = [json.loads((folder / "dataset.json").read_text())["digest"]
               for folder in (whole, grown)]
    for folder in (base, union, new, data, whole, grown):
        shutil.rmtree(folder)
    return {"rows": [{"way": way, **each} for way, each in out.items()],
            "ratio": round(out["append"]["seconds"] / out["import"]["seconds"], 3),
            "new_edges": int((~old).sum()), "equal": digests[0] == digests[1]}


def as_table(rows):
    names = list(rows[0])
    lines = [names] + [[f"{one:.2f}" if isinstance(one, float) else str(one)
                        for one in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)


if __name__ == "__main__":
    given, found = measured(
        __doc__, (features, times, growing),
        ("--kinds", {"nargs": "+", "choices": KINDS, "default": KINDS}),
        ("--hidden", {"type": int, "default": 64}),
        ("--epochs", {"type": int, "default": 8}),
        ("--json", {"action": "store_true"}))
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        print(as_table(found.pop("rows")))
        print(", ".join(f"{key} {value}" for key, value in found.items()))

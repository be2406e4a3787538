#!/usr/bin/env python3
"""Measures what links cost.

    PYTHONPATH=actors/python python3 examples/measure_links.py MODE FOLDER [OPTIONS]

exclusion
    Processor time of sampling, and bytes of its answers, when each batch leaves
    out the links that it learns (`train.exclude: pair`), and when none is left out.
steps
    Processor time of a step of links, and of a step of nodes with as many seeds,
    which are ends of the same edges and corrupted ends.
loader
    Time of a batch of `graphmill.LinkLoader`, with its features.
ranking
    Full filtered ranking by ComplEx, and the matrix products alone.
triples
    Minutes that data of the size of WN18RR take to train and to rank.

The first three use an R-MAT graph (--scale), which is made in FOLDER once. What is
compared runs in turns. Prints JSON with the load of the machine."""

import argparse
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 3600
SAMPLING = ("sampler", "sampling service")
LOADED_BATCHES = 300
STEPS = 100
FEW = 0.00002  # The share of edges in each of the other splits.
DIMENSIONS = 128  # Complex numbers: 256 columns.


def graphmill(options, *arguments):
    done = subprocess.run([options.program, *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=PATIENCE_SECONDS)
    if done.returncode != 0:
        sys.exit(f"graphmill {arguments[0]} failed: {done.stderr[-1000:]}")
    return done.stdout


def train(options, data, folder=None, **definition):
    """The summary of a run, and its epochs.
    @param folder Where the data are, if not in FOLDER."""
    file = options.folder / "definition.yaml"
    file.write_text(json.dumps({"dataset": data, **definition}))
    told = graphmill(options, "train", file, "--data", folder or options.folder,
                     "--runs", options.folder / "runs", "--quiet", "--json")
    run = pathlib.Path(json.loads(told.splitlines()[-1])["run"])
    summary = json.loads((run / "summary.json").read_text())
    epochs = [json.loads(line)
              for line in (run / "metrics.jsonl").read_text().splitlines()]
    shutil.rmtree(run)
    return summary, epochs


def arrays_of(options, name, **more):
    """A folder with the arrays of a dataset, to import them once more."""
    from numpy_models import Folder
    given = Folder(options.folder / name)
    node_type = given.info["node_types"][0]["name"]
    arrays = options.folder / "arrays"
    shutil.rmtree(arrays, ignore_errors=True)
    arrays.mkdir()
    for array, values in {"edges": given.edges(given.edge_types()[0]),
                          "features": given.features(node_type), **more}.items():
        np.save(arrays / f"{array}.npy", values)
    return arrays


def rmat(options):
    """An R-MAT graph, whose nodes have labels."""
    name = f"rmat-{options.scale}"
    if not (options.folder / name).exists():
        graphmill(options, "import", "rmat", "--scale", options.scale,
                  "--out", options.folder / name)
    return name


def links_of(options, share):
    """The same with a task of links: a share of the edges is learnt."""
    name = f"{rmat(options)}-links-{share}"
    if not (options.folder / name).exists():
        arrays = arrays_of(options, rmat(options))
        graphmill(options, "import", "npy", arrays, "--task-kind", "link",
                  "--split-edges", f"{share},{FEW},{FEW}", "--by", "random",
                  "--out", options.folder / name)
        shutil.rmtree(arrays)
    return name


def link_definition(exclude="pair"):
    return {
        "task": "link",
        "sampler": {"fanouts": [15, 10]},
        "model": {"kind": "sage", "hidden": 64, "width": 64, "dropout": 0},
        "decoder": {"kind": "dot"},
        "negatives": {"kind": "per_edge", "count": 1},
        "train": {"batch_size": 1024, "epochs": 1, "exclude": exclude},
        "evaluate": {"every": 1000000, "negatives": 1},
    }


def by_turns(options, ways):
    """The median of what each way gives, in turns."""
    seen = {name: [] for name in ways}
    for _ in range(options.turns):
        for name, way in ways.items():
            seen[name].append(way())
    return {name: {key: statistics.median(one[key] for one in each)
                   for key in each[0]} for name, each in seen.items()}


# -- exclusion


def exclusion(options):
    data = links_of(options, 0.03)

    def run(exclude):
        summary, _ = train(options, data, **link_definition(exclude))
        stages = {one["stage"]: one for one in summary["stages"]}
        return {"sampling_cpu_ms": 1000 / summary["steps"] * sum(
                    stages[name]["cpu_seconds"] for name in SAMPLING),
                "bytes": sum(stages[name]["bytes"] for name in SAMPLING)}

    out = by_turns(options, {"pair": lambda: run("pair"), "none": lambda: run("none")})
    return {**out, "ratios": {key: round(out["pair"][key] / out["none"][key], 4)
                              for key in out["pair"]}}


# -- steps


def steps(options):
    """Each epoch is one step with the same seeds."""
    links = links_of(options, 0.0002)
    told = options.folder / links / "tasks"
    edges = np.load(next(told.glob("*/train.edges.npy")))
    nodes = 1 << options.scale
    seeds = np.unique(np.concatenate([
        edges.ravel(), np.random.default_rng(1).integers(0, nodes, len(edges))]))
    seeded = seeds_of(options, seeds, nodes)

    def run(data, **definition):
        summary, _ = train(options, data, **definition, train={
            "batch_size": "all", "epochs": STEPS})
        return {"cpu_ms": 1000 * summary["cpu_seconds"] / summary["steps"]}

    of_links = link_definition()
    del of_links["train"]
    of_nodes = {"sampler": of_links["sampler"],
                "model": {"kind": "sage", "hidden": 64, "dropout": 0},
                "evaluate": {"every": STEPS}}
    out = by_turns(options, {"links": lambda: run(links, **of_links),
                             "nodes": lambda: run(seeded, **of_nodes)})
    return {"rows": len(edges), "seeds": len(seeds), **out,
            "ratio": round(out["links"]["cpu_ms"] / out["nodes"]["cpu_ms"], 3)}


def seeds_of(options, seeds, nodes):
    """A dataset of the same graph in which these nodes are learnt."""
    from numpy_models import Folder
    name = f"{rmat(options)}-seeds"
    if (options.folder / name).exists():
        return name
    given = Folder(options.folder / rmat(options))
    labels = given.node_array(given.info["node_types"][0]["name"], "labels")
    others = np.setdiff1d(np.arange(nodes), seeds)
    arrays = arrays_of(options, rmat(options), labels=labels, train_idx=seeds,
                       val_idx=others[:100], test_idx=others[100:200])
    graphmill(options, "import", "npy", arrays, "--out", options.folder / name)
    shutil.rmtree(arrays)
    return name


# -- loader


def loader(options):
    import graphmill as package

    links = links_of(options, 0.03)

    def run():
        with package.LinkLoader(
                options.folder / links, [15, 10], batch_size=1024, as_="numpy",
                negatives=package.Negatives("binary", 1, corrupt="pair")) as loaded:
            batches = itertools.chain.from_iterable(itertools.repeat(loaded))
            for batch in itertools.islice(batches, 20):
                pass
            began = time.perf_counter()
            for batch in itertools.islice(batches, LOADED_BATCHES):
                batch.x, batch.edge_index, batch.edge_label_index
            return {"ms": 1000 * (time.perf_counter() - began) / LOADED_BATCHES}

    return by_turns(options, {"loader": run})


# -- ranking, triples


def knowledge(options, name, nodes, relations, counts):
    """A dataset of triples whose nodes are as unequally frequent as words."""
    folder = options.folder / name
    if folder.exists():
        return name
    chance = np.random.default_rng(1)
    arrays = options.folder / "arrays"
    arrays.mkdir(exist_ok=True)
    named = []
    for split, count in zip(("train", "val", "test"), counts):
        ends = (nodes * chance.random((count, 2)) ** 2).astype(np.int64)
        kinds = (relations * chance.random(count) ** 2).astype(np.int64)
        if split == "train":  # Each node occurs.
            ends[:nodes // 2] = chance.permutation(nodes)[:nodes // 2 * 2].reshape(-1, 2)
        table = arrays / f"{split}.tsv"
        np.savetxt(table, np.stack([ends[:, 0], kinds, ends[:, 1]], 1), fmt=(
            "n%d", "r%d", "n%d"), delimiter="\t")
        named += [f"--task-{split}", table]
    graphmill(options, "import", "csv", *named, "--source", 1, "--relation", 2,
              "--destination", 3, "--no-header", "--separator", "tab", "--out", folder)
    shutil.rmtree(arrays)
    return name


def triples_definition(epochs, negatives, every):
    return {"task": "link", "sampler": {"fanouts": [0]},
            "model": {"kind": "lookup", "hidden": 2 * DIMENSIONS},
            "decoder": {"kind": "complex"},
            "negatives": {"kind": "joint", "count": 100, "corrupt": "both"},
            "optimizer": {"kind": "adam", "learning_rate": 0.003},
            "train": {"batch_size": 512, "epochs": epochs, "link_loss": "softmax"},
            "evaluate": {"neighbours": "all", "metric": "mrr", "every": every,
                         "batch_size": 1000, "negatives": negatives}}


def ranking(options):
    data = knowledge(options, "ranking", 100_000, 10, (60_000, 100, 10_000))

    def run():
        _, epochs = train(options, data, **triples_definition(1, "all", 1))
        test = [one for one in epochs if one["phase"] == "test"][-1]
        return {"seconds": test["seconds"]}

    rows = np.ones((2 * 128, 2 * DIMENSIONS), np.float32)
    table = np.ones((2 * DIMENSIONS, 100_000), np.float32)

    def products():
        began = time.perf_counter()
        for _ in range(10_000 // 128):
            rows @ table
        return {"seconds": time.perf_counter() - began}

    out = by_turns(options, {"ranking": run, "products": products})
    return {**out, "ratio": round(out["ranking"]["seconds"]
                                  / out["products"]["seconds"], 2)}


def triples(options):
    data = knowledge(options, "triples", 40_943, 11, (86_835, 3_034, 3_134))
    began = time.perf_counter()
    summary, epochs = train(options, data, **triples_definition(30, "all", 10))
    return {"minutes": round((time.perf_counter() - began) / 60, 2),
            "cpu_minutes": round(summary["cpu_seconds"] / 60, 2),
            "ranking_seconds": [round(one["seconds"], 1) for one in epochs
                                if one["phase"] != "train"]}


def measured(about, modes, *more):
    """Runs the mode that the command line names, and prints what it returns."""
    modes = {mode.__name__: mode for mode in modes}
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=modes)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--scale", type=int, default=18)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--program", default=str(ROOT / "build/actors/graphmill"))
    for name, settings in more:
        parser.add_argument(name, **settings)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    out = modes[options.mode](options)
    return options, {**out, "cpus": os.cpu_count(), "load_before": round(load, 2),
                     "load_after": round(os.getloadavg()[0], 2)}


if __name__ == "__main__":
    print(json.dumps(measured(__doc__, (exclusion, steps, loader, ranking, triples))[1],
                     indent=1))

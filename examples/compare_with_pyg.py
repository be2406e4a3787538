#!/usr/bin/env python3
"""Times epochs of Graphmill beside PyG's, on this machine.

    python3 examples/compare_with_pyg.py [--json]

Both train GraphSAGE (mean) with the same layers, fanouts, batch size and
optimizer on the same R-MAT graph, which Graphmill makes first, and use all
cores. PyG samples in the loader's own process and in worker processes, and
multiplies by sparse matrices or adds up messages by index: each way is timed,
and the fastest counts. Both print the mean loss of their last epoch: they learn
the same.

Needs torch, torch_geometric and torch_sparse. The comparison is fair if torch
and the libtorch that Graphmill was built with are the same version."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 3600
LEARNING_RATE = 0.003


def time_graphmill(options, data, folder):
    definition = {
        "dataset": f"rmat-{options.scale}",
        "sampler": {"fanouts": options.fanouts},
        "model": {"kind": "sage", "hidden": options.hidden, "dropout": 0},
        "optimizer": {"kind": "adam", "learning_rate": LEARNING_RATE},
        "train": {"batch_size": options.batch_size, "epochs": options.epochs},
        "evaluate": {"every": 1000000},  # Once, after the last epoch.
        "trainer": {"threads": os.cpu_count()},
    }
    file = folder / "rmat.yaml"
    file.write_text(json.dumps(definition))  # YAML allows it to be JSON.
    summary = graphmill(options, "train", file, "--data", data, "--runs",
                        folder / "runs", "--quiet", "--json")
    lines = (pathlib.Path(summary["run"]) / "metrics.jsonl").read_text()
    epochs = [json.loads(line) for line in lines.splitlines()]
    epochs = [one for one in epochs if one["phase"] == "train"]
    return {"way": "graphmill", "loss": epochs[-1]["loss"],
            "seconds": [one["seconds"] for one in epochs]}


def graphmill(options, *arguments):
    done = subprocess.run([options.program, *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, timeout=PATIENCE_SECONDS)
    if done.returncode != 0:
        sys.exit(f"graphmill {arguments[0]} failed: {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def time_pyg(options, data, sparse, workers):
    """In a process of its own, which imports torch."""
    given = json.dumps({**vars(options), "program": "", "data": str(data),
                        "sparse": sparse, "workers": workers})
    done = subprocess.run([sys.executable, __file__, "--pyg", given],
                          text=True, stdout=subprocess.PIPE,
                          timeout=PATIENCE_SECONDS)
    if done.returncode != 0:
        sys.exit("PyG failed; it needs torch, torch_geometric and torch_sparse")
    return json.loads(done.stdout.splitlines()[-1])


def run_pyg(given):
    """Trains by PyG; prints the seconds of each epoch."""
    import numpy
    import torch
    import torch_geometric
    from torch_geometric.loader import NeighborSampler
    from torch_geometric.nn import SAGEConv
    from torch_sparse import SparseTensor

    warnings.filterwarnings("ignore")
    torch.set_num_threads(os.cpu_count())
    torch.manual_seed(0)
    root = pathlib.Path(given["data"])
    info = json.loads((root / "dataset.json").read_text())
    kind, edges = info["node_types"][0], info["edge_types"][0]
    nodes = root / "nodes" / kind["name"]
    links = root / "edges" / "__".join(
        edges[key] for key in ("source", "name", "destination"))

    def load(path):
        return torch.from_numpy(numpy.load(path))

    features, labels = load(nodes / "features.npy"), load(nodes / "labels.npy")
    adjacency = SparseTensor(
        rowptr=load(links / "indptr.npy").long(),
        col=load(links / "indices.npy").long(),
        sparse_sizes=(len(features), len(features)))
    if not given["sparse"]:
        row, col, _ = adjacency.coo()
        adjacency = torch.stack([col, row])

    hidden, fanouts = given["hidden"], given["fanouts"]
    widths = [features.size(1), *[hidden] * (len(fanouts) - 1),
              kind["class_count"]]
    layers = torch.nn.ModuleList(
        SAGEConv(a, b) for a, b in zip(widths, widths[1:]))
    optimizer = torch.optim.Adam(layers.parameters(), lr=LEARNING_RATE)
    loader = NeighborSampler(
        adjacency, sizes=fanouts, node_idx=load(nodes / "train.npy"),
        num_nodes=len(features), batch_size=given["batch_size"], shuffle=True,
        num_workers=given["workers"], persistent_workers=given["workers"] > 0)

    seconds = []
    for _ in range(given["epochs"]):
        begun, loss_sum, seeds = time.perf_counter(), 0.0, 0
        for size, ids, blocks in loader:
            rows = features[ids]
            for number, (layer, block) in enumerate(zip(layers, blocks)):
                to = block.adj_t if given["sparse"] else block.edge_index
                rows = layer((rows, rows[:block.size[1]]), to)
                if number + 1 < len(layers):
                    rows = rows.relu()
            loss = torch.nn.functional.cross_entropy(rows, labels[ids[:size]])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum, seeds = loss_sum + loss.item() * size, seeds + size
        seconds.append(time.perf_counter() - begun)
    print(json.dumps({
        "way": f"PyG, {'sparse matrices' if given['sparse'] else 'indices'}, "
               f"{given['workers']} workers",
        "seconds": seconds, "loss": loss_sum / seeds,
        "torch": torch.__version__, "pyg": torch_geometric.__version__}))


def main():
    built = ROOT / "build/actors/graphmill"
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=built if built.exists()
                        else shutil.which("graphmill") or built)
    parser.add_argument("--scale", type=int, default=18,
                        help="the graph has 2^SCALE nodes")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--fanouts", type=int, nargs="+", default=[15, 10, 5])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pyg", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.pyg:
        return run_pyg(json.loads(options.pyg))
    if options.epochs < 2:
        sys.exit("--epochs must be 2 or more: the first one warms up")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "rmat"
        graphmill(options, "import", "rmat", "--scale", options.scale,
                  "--features", 100, "--validation", 0.001, "--test", 0.001,
                  "--name", f"rmat-{options.scale}", "--out", data, "--quiet", "--json")
        results = [time_graphmill(options, data, folder)]
        results += [time_pyg(options, data, sparse, workers)
                    for sparse in (True, False)
                    for workers in (0, os.cpu_count())]
    for one in results:
        one["epoch_seconds"] = statistics.median(one["seconds"][1:])
    best = min(one["epoch_seconds"] for one in results[1:])
    ratio = best / results[0]["epoch_seconds"]
    if options.json:
        print(json.dumps({"results": results, "times_as_fast": ratio}))
        return None
    for one in results:
        print(f"{one['way']:32} {one['epoch_seconds']:8.2f} s per epoch,"
              f" loss {one['loss']:.3f}")
    print(f"Graphmill is {ratio:.1f} times as fast as the fastest of PyG's ways")
    return None


if __name__ == "__main__":
    main()

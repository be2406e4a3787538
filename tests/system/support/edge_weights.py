"""Datasets whose edges have weights, made of others without an import."""

import json
import shutil

from support import Dataset, np


def weighted(data, out, weights_of, edge_types=None):
    """A copy of a dataset with weights of edges. `weights_of(E)` gives those of
    a type; `edge_types`: of which, all by default. Digests are left out, for
    the content has changed."""
    shutil.copytree(data, out)
    info = json.loads((out / "dataset.json").read_text())
    dataset = Dataset(data)
    for about in info["edge_types"]:
        name = f"{about['source']}__{about['name']}__{about['destination']}"
        if edge_types is not None and name not in edge_types:
            continue
        counts = {t["name"]: t["count"] for t in info["node_types"]}
        sources, targets = dataset.edges(name)
        weights = np.asarray(weights_of(len(sources)), np.float32)
        folder = out / "edges" / name
        np.save(folder / "weights.npy", weights)
        for file, ends, count in (
                ("in_weights", targets, counts[about["destination"]]),
                ("out_weights", sources, counts[about["source"]])):
            sums = np.bincount(ends, weights.astype(np.float64), count)
            np.save(folder / f"{file}.npy", sums.astype(np.float32))
        about["weights"] = True
    info["format_version"] = 5
    for digests in ("digest", "array_digests"):
        info.pop(digests, None)
    (out / "dataset.json").write_text(json.dumps(info))
    return out


def random_weights(count):
    """From 0 to 2; some are 0."""
    rng = np.random.default_rng(count)
    return rng.uniform(0, 2, count) * (rng.uniform(size=count) > 0.1)

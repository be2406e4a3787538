"""Digests of clusters of several shapes beside those of one process, on data of
real size. Takes minutes, so it is not among the tests that Meson runs:

    python3 tests/system/cluster/matrix.py build/actors/graphmill [--scale 18]

Prints a row per run, and fails unless all digests of a dataset and a number of
trainers are the same: with seed order `global`, neither the partitioning nor
the daemons may change a bit of the weights."""

import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
import support
from clusters import Cluster
from slow_links import SlowCluster

# Name, parts, what the daemons serve (nothing: one process), their cluster,
# and what changes in the definition.
SHAPES = [
    ("one process", 1, None, None, {}),
    ("one process", 2, None, None, {}),
    ("2 daemons", 2, ["0", "1"], Cluster, {}),
    ("one process", 4, None, None, {}),
    ("4 daemons", 4, ["0", "1", "2", "3"], Cluster, {}),
    ("samplers apart", 4, ["0-1", "2-3", "none", "none"], Cluster,
     {"placement": {"trainers": ["d0", "d1"], "samplers": ["d2", "d3"]}}),
    ("one process", 8, None, None, {}),
    ("3 daemons", 8, ["0,2-5", "1", "6-7"], Cluster, {}),
    ("3 daemons, 50 ms, shuffled", 8, ["0,2-5", "1", "6-7"], SlowCluster,
     {"faults": {"reply_delay_ms": 20}}),
]

RMAT = {
    "sampler": {"fanouts": [15, 10, 5]},
    "model": {"kind": "sage", "hidden": 64, "dropout": 0.5},
    "train": {"batch_size": 1024, "epochs": 1, "max_steps": 6,
              "seed_order": "global"},
    "evaluate": {"every": 1000000},
}
WORDNET = {
    "sampler": {"fanouts": [10, 10]},
    "model": {"kind": "sage", "hidden": 128, "dropout": 0.5},
    "train": {"batch_size": 1000, "epochs": 1, "seed_order": "global"},
    "evaluate": {"every": 1000000},
}
# Fewer seeds than parts.
FEW = runs.merged(RMAT, {"train": {"batch_size": 2}})


def datasets(folder, scale):
    """Name, folder and definition of each."""
    rmat = {"scale": scale, "validation": 0.001, "test": 0.001}
    runs.imported_rmat(folder / "rmat", **rmat)
    yield f"R-MAT 2^{scale}", folder / "rmat", RMAT
    runs.imported_rmat(folder / "few", **rmat, train=5 / 2 ** scale)
    yield f"R-MAT 2^{scale}, 5 seeds", folder / "few", FEW
    support.imported("wordnet", "--out", folder / "wordnet")
    yield "WordNet", folder / "wordnet", WORDNET


def run(folder, data, definition, shares, kind):
    """Trains once; returns the summary."""
    file = folder / "matrix.yaml"
    file.write_text(json.dumps({"dataset": runs.name_of(data), **definition}))
    if shares is None:
        done = support.graphmill("train", file, "--data", data, "--runs",
                                 folder / "runs", "--quiet", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])
    where = folder / f"cluster-{time.monotonic_ns()}"
    with kind(where, data, shares) as cluster:
        return cluster.run(file)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path,
                        help="the graphmill to test")
    parser.add_argument("--scale", type=int, default=18,
                        help="2^SCALE nodes of the R-MAT graph")
    parser.add_argument("--trainers", type=int, nargs="*", default=[1, 3])
    options = parser.parse_args()
    os.environ["GRAPHMILL"] = str(options.program.resolve())
    support.TIMEOUT_SECONDS = 1200
    # Ends the daemons, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(support.program())
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="graphmill-") as top:
        folder = pathlib.Path(top)
        for name, whole, definition in datasets(folder, options.scale):
            for trainers in options.trainers:
                digests = set()
                for what, parts, shares, kind, change in SHAPES:
                    data = whole if parts == 1 else \
                        runs.partitioned(whole, parts, "metis")
                    began = time.monotonic()
                    summary = run(folder, data, runs.merged(
                        definition, {"trainer": {"replicas": trainers}},
                        change), shares, kind)
                    digests.add(summary["digest"])
                    print(f"{name:<20} {trainers} trainers  {parts} parts  "
                          f"{what:<27} {summary['steps']:>3} steps  "
                          f"{time.monotonic() - began:>6.1f} s  "
                          f"{summary['digest']}", flush=True)
                wrong += len(digests) != 1
    if wrong:
        sys.exit(f"{wrong} times digests differ that should be the same")
    print("all as they should be")


if __name__ == "__main__":
    main()

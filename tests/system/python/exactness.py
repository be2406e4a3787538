"""Digests of batches in Python, by all ways on which they may be made. Takes
minutes, so it is not among the tests that Meson runs:

    python3 tests/system/python/exactness.py build/actors/graphmill [--scale 12]

Prints a row for each way, and fails unless three epochs have the same batches in
one process, in parts, with any number of threads, on clusters, after an owner was
killed, and after Python was killed behind every step and went on, there as well."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import PATIENCE_SECONDS, Cluster
from support import ROOT, program

PACKAGE = ROOT / "actors/python"
sys.path.insert(0, str(PACKAGE))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402

EPOCHS = 3
# Goes on from its state, and writes a line for each batch, in one piece with the
# state behind it, until it is killed.
CONSUMER = """
import json, sys, graphmill
source, options, log, epochs = sys.argv[1], json.loads(sys.argv[2]), *sys.argv[3:]
lines = open(log).read().splitlines()
with graphmill.Loader(source, **options) as loader, open(log, "a", 1) as out:
    loader.load_state_dict(json.loads(lines[-1])["state"] if lines else {})
    while loader.epoch < int(epochs):
        for batch in loader:
            print(json.dumps({"key": batch.key[1:3], "digest": batch.digest(),
                              "state": loader.state_dict()}), file=out)
            sys.stdin.readline()
"""


def digests(source, **options):
    with graphmill.Loader(source, **options) as loader:
        return {(batch.key.epoch, batch.key.step): batch.digest()
                for _ in range(EPOCHS) for batch in loader}


def killed_behind_each_step(source, folder, steps, **options):
    """A consumer for each step, which is killed when it has written that."""
    log = folder / "batches.jsonl"
    log.write_text("")
    for done in range(1, EPOCHS * steps + 1):
        consumer = subprocess.Popen(
            [sys.executable, "-c", CONSUMER, str(source), json.dumps(options),
             str(log), str(EPOCHS)], stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while log.read_text().count("\n") < done:
                assert consumer.poll() is None, f"it ended before step {done}"
                assert time.monotonic() < deadline, f"no batch of step {done}"
                time.sleep(0.002)
        finally:
            consumer.kill()
            consumer.wait()
            consumer.stdin.close()
    return {tuple(line["key"]): line["digest"]
            for line in map(json.loads, log.read_text().splitlines())}


def on_cluster(folder, data, shares, what, **options):
    with Cluster(folder, data, shares) as cluster:
        return what(cluster, cluster.coordinator, data=str(data),
                    timeout=float(PATIENCE_SECONDS), **options)


def with_a_killed_owner(cluster, source, **options):
    """In the midst of the second epoch."""
    out = {}
    with graphmill.Loader(source, prefetch=1, **options) as loader:
        for epoch in range(EPOCHS):
            for batch in loader:
                key = batch.key
                out[key.epoch, key.step] = batch.digest()
                if (epoch, key.step) == (1, len(loader) // 2):
                    cluster.daemons[1].kill()
                    cluster.add("1", name="d1")
    return out


def ways(folder, scale):
    """Name, and the digests by epoch and step."""
    data = folder / "rmat"
    runs.imported_rmat(data, scale=scale, edges=12 << scale, features=16)
    options = {"fanouts": [6, 4], "batch_size": 64, "seed": 5, "as_": "numpy",
               "edge_ids": True}
    whole = digests(data, **options)
    yield "one process", whole
    for threads in range(1, 5):
        yield f"{threads} threads", digests(data, threads=threads, **options)
    four = runs.partitioned(data, 4, "metis")
    yield "4 parts by METIS", digests(four, **options)
    yield "4 parts from disk", digests(four, storage="disk", **options)
    steps = max(step for _, step in whole) + 1
    yield (f"killed behind each of {EPOCHS * steps} steps",
           killed_behind_each_step(four, folder, steps, **options))
    two = runs.partitioned(data, 2, "metis")

    def plain(_, source, **more):
        return digests(source, **more)
    yield "2 daemons", on_cluster(folder / "two", two, ["0", "1"], plain, **options)
    yield "4 daemons", on_cluster(folder / "four", four, ["0", "1", "2", "3"],
                                  plain, **options)
    yield "2 daemons, an owner killed", on_cluster(
        folder / "killed", two, ["0", "1"], with_a_killed_owner, **options)

    def killed(_, source, **more):
        return killed_behind_each_step(source, folder, steps, **more)
    yield "2 daemons, killed behind each step", on_cluster(
        folder / "consumers", two, ["0", "1"], killed, **options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=12)
    arguments = parser.parse_args()
    expected, wrong = None, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, found in ways(pathlib.Path(folder), arguments.scale):
            expected = expected or found
            same = found == expected
            wrong += not same
            print(f"{name:40} {len(found):5} batches  "
                  + ("equal" if same else "DIFFERENT"), flush=True)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()

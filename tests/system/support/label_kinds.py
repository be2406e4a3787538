"""What tests of other labels than one class for each node share: a graph, and a
run on it."""

import json
import pathlib
import subprocess
import sys

import runs
from clusters import Cluster
from imports import save
from support import ROOT, Dataset, imported, np

NODES, SPLITS = 150, (70, 100, 140)

DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 3]},
    "model": {"kind": "sage", "hidden": 8},
    "train": {"batch_size": 20, "seed_order": "global"},
    "evaluate": {"neighbours": "all", "batch_size": 16},
}


def arrays_of(width, labels_of, unknown):
    """Rows of labels are what `labels_of` makes of as many sums of features; of
    the last ten nodes nothing is known."""
    rng = np.random.default_rng(4)
    features = rng.normal(size=(NODES, 6)).astype(np.float32)
    labels = labels_of(features @ rng.normal(size=(6, width)))
    order = rng.permutation(NODES)
    labels[order[SPLITS[2]:]] = unknown
    splits = np.split(order[:SPLITS[2]], SPLITS[:2])
    return {"features": features, "labels": labels,
            "edges": rng.integers(0, NODES, (2, 700)),
            **{f"{name}_idx": ids
               for name, ids in zip(("train", "val", "test"), splits)}}


class LabelKind(runs.Workplace):
    """Has a graph, whole and in parts, and a run on it."""

    @classmethod
    def take(cls, definition, arrays, *flags):
        """Imports a graph and trains on it."""
        cls.definition = definition
        source = cls.top / "source"
        source.mkdir()
        save(source, **arrays)
        cls.data = cls.top / "graph"
        imported("npy", source, *flags, "--out", cls.data)
        cls.parts = runs.partitioned(cls.data, 3, "random")
        dataset = Dataset(cls.data)
        cls.info = dataset.info
        cls.test = dataset.node_array("node", "test")
        cls.labels = dataset.node_array("node", "labels")
        cls.summary = cls("train").train(definition, cls.data)

    def check_best_epoch(self, metric, best):
        """By `best` of the metric in all epochs; returns all metrics."""
        text = pathlib.Path(self.summary["run"], "metrics.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(self.summary["metric"], metric)
        self.assertEqual(self.summary["validation"][metric],
                         best(line[metric] for line in lines
                              if line["phase"] == "validation"))
        losses = [line["loss"] for line in lines if line["phase"] == "train"]
        self.assertLess(losses[-1], losses[0])
        return lines

    def trained_elsewhere(self):
        """Summaries of the same run in parts, and on a cluster, which proves
        labels, too, and measures the test split as one process does."""
        parts = self.train(self.definition, self.parts)
        checked = runs.merged(self.definition, {"fetch": {"verify": 0.5}})
        with Cluster(self.top / "cluster", self.parts,
                     ["0", "1", "2"]) as cluster:
            measured = cluster.ask("submit", "--evaluate", self.summary["run"],
                                   "--watch", "--quiet")["evaluation"]
            alone = self.ask("evaluate", self.summary["run"], "--quiet")
            del alone["seconds"], alone["run"]
            self.assertEqual(measured, alone)
            return [parts, cluster.run(self.write(checked, self.parts))]

    def table(self, run, data):
        """Lines of a table of what is predicted of nodes 7 and 3."""
        nodes = self.top / "nodes.txt"
        nodes.write_text("7\n3\n")
        out = self.top / f"{self.own_name}.csv"
        self.ask("predict", run, "--data", data, "--out", out, "--nodes", nodes)
        return out.read_text().splitlines()

    def said_by_example(self, predictions):
        """What examples/read_weights.py says, which predicts the same."""
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "examples/read_weights.py",
             self.summary["run"], "--data", self.data, "--compare",
             predictions], text=True, capture_output=True,
            timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

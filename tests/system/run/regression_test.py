"""Labels that are numbers: losses, metrics and predictions once more by numpy, and
the same weights whole, in parts and on a cluster."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from imports import save
from runs import merged, partitioned
from support import ROOT, Dataset, graphmill, imported, np, program

NODES, VALUES, SPLITS = 150, 2, (70, 100, 140)

DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 3]},
    "model": {"kind": "sage", "hidden": 8, "dropout": 0},
    "train": {"batch_size": 20, "epochs": 6, "seed_order": "global"},
    "evaluate": {"neighbours": "all", "batch_size": 16, "metric": "mse"},
}


def graph():
    """Values follow from features; of the last ten nodes nothing is known."""
    rng = np.random.default_rng(4)
    features = rng.normal(size=(NODES, 6)).astype(np.float32)
    labels = (features @ rng.normal(size=(6, VALUES)) + 3).astype(np.float32)
    order = rng.permutation(NODES)
    labels[order[SPLITS[2]:]] = np.nan
    splits = np.split(order[:SPLITS[2]], SPLITS[:2])
    return features, labels, rng.integers(0, NODES, (2, 700)), splits


def measured(predictions, labels):
    """Metrics as the README has them, of [seeds, values]."""
    errors = predictions.astype(float) - labels
    around = labels - labels.mean(axis=0, dtype=float)
    return {"mse": (errors ** 2).mean(), "rmse": (errors ** 2).mean() ** 0.5,
            "mae": np.abs(errors).mean(),
            "r2": (1 - (errors ** 2).sum(axis=0)
                   / (around ** 2).sum(axis=0)).mean()}


class Regression(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.top / "source"
        source.mkdir()
        features, labels, edges, splits = graph()
        save(source, edges=edges, features=features, labels=labels,
             **{f"{name}_idx": ids for name, ids in
                zip(("train", "val", "test"), splits)})
        cls.data = cls.top / "graph"
        imported("npy", source, "--regression", "--out", cls.data)
        cls.parts = partitioned(cls.data, 3, "random")
        dataset = Dataset(cls.data)
        cls.info = dataset.info
        cls.test = dataset.node_array("node", "test")
        cls.labels = dataset.node_array("node", "labels")
        cls.summary = cls("train").train(DEFINITION, cls.data)

    def runTest(self):
        """Lets a test be made while the class is set up."""

    def predicted(self, *more):
        out = self.top / "values.npy"
        self.ask("predict", self.summary["run"], "--data", self.data, "--out",
                 out, *more)
        return np.load(out)

    def lines_of(self, summary):
        text = pathlib.Path(summary["run"], "metrics.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def check_metrics(self, got, want):
        for key, value in want.items():
            self.assertAlmostEqual(got[key], value, 4, key)

    def test_what_is_written(self):
        self.assertEqual(self.info["format_version"], 3)
        self.assertEqual(self.info["node_types"][0]["labels"], "regression")
        self.assertEqual(self.labels.dtype, np.float32)
        np.testing.assert_array_equal(self.labels, graph()[1])
        for folder in (self.parts, self.data):
            done = graphmill("inspect", folder, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("labels of node: 2 numbers, 10 nodes without",
                      done.stdout)
        told = self.ask("inspect", self.data)["node_types"][0]
        self.assertTrue(told["regression"])
        known = self.labels[~np.isnan(self.labels[:, 0])].astype(float)
        for c, value in enumerate(told["values"]):
            self.assertEqual(value["min"], known[:, c].min())
            self.assertEqual(value["max"], known[:, c].max())
            self.assertAlmostEqual(value["mean"], known[:, c].mean(), 9)
            self.assertAlmostEqual(value["deviation"], known[:, c].std(), 9)

    def test_metrics(self):
        predictions = self.predicted()
        self.assertEqual(predictions.dtype, np.float32)
        self.assertEqual(predictions.shape, (NODES, VALUES))
        want = measured(predictions[self.test], self.labels[self.test])
        got = self.summary["test"]
        self.check_metrics(got, want)
        self.assertAlmostEqual(got["loss"], got["mse"], 6)
        for c, told in enumerate(got["values"]):
            one = slice(c, c + 1)
            self.check_metrics(told, measured(predictions[self.test][:, one],
                                              self.labels[self.test][:, one]))
        for key in ("accuracy", "confusion", "classes"):
            self.assertNotIn(key, got)
        self.assertIsNone(self.summary["test_accuracy"])
        told = self.ask("evaluate", self.summary["run"], "--data", self.data)
        for key in want:
            self.assertEqual(told[key], got[key], key)
        done = graphmill("evaluate", self.summary["run"], "--data", self.data)
        self.assertIn(f"MSE {got['mse']:.4f}, RMSE", done.stdout)
        self.assertNotIn("accuracy", done.stdout)
        by_layers = self.predicted("--all")
        np.testing.assert_allclose(by_layers, predictions, rtol=1e-4,
                                   atol=1e-4)

    def test_the_best_epoch(self):
        lines = self.lines_of(self.summary)
        validations = [line for line in lines
                       if line["phase"] == "validation"]
        self.assertEqual(self.summary["metric"], "mse")
        self.assertEqual(self.summary["validation"]["mse"],
                         min(line["mse"] for line in validations))
        losses = [line["loss"] for line in lines if line["phase"] == "train"]
        self.assertLess(losses[-1], losses[0])
        self.assertFalse(any("accuracy" in line for line in lines))

    def test_weights(self):
        """The same in parts, and on a cluster, which proves values, too."""
        whole = self.summary
        self.check_same(self.train(DEFINITION, self.parts), whole)
        checked = merged(DEFINITION, {"fetch": {"verify": 0.5}})
        with Cluster(self.top / "cluster", self.parts,
                     ["0", "1", "2"]) as cluster:
            self.check_same(cluster.run(self.write(checked, self.parts)),
                            whole)

    def check_same(self, run, other):
        self.assertEqual(run["digest"], other["digest"])
        self.assertEqual(run["best_epoch"], other["best_epoch"])
        self.assertEqual(run["test"]["seeds"], other["test"]["seeds"])
        for key in ("mse", "rmse", "mae", "r2"):
            self.assertAlmostEqual(run["test"][key], other["test"][key], 5,
                                   key)

    def test_a_column(self):
        """One number for each node of a table, and other losses."""
        features, labels, edges, splits = graph()
        split_of = {node: name for name, ids in
                    zip(("train", "val", "test"), splits) for node in ids}
        rows = [f"{i},{'' if np.isnan(value) else value},{split_of.get(i, '')},"
                + ",".join(map(str, features[i]))
                for i, value in enumerate(labels[:, 0])]
        nodes = self.top / "nodes.csv"
        nodes.write_text("\n".join(["id,label,split,a,b,c,d,e,f", *rows, ""]))
        pairs = self.top / "edges.csv"
        pairs.write_text("\n".join(["source,destination", *(
            f"{a},{b}" for a, b in edges.T), ""]))
        data = self.top / "table"
        imported("csv", "--edges", pairs, "--nodes", nodes, "--regression",
                 "--out", data)
        np.testing.assert_array_equal(
            Dataset(data).node_array("node", "labels"), labels[:, :1])
        test = splits[2]
        for loss in ("mae", "huber"):
            done = self.train(merged(DEFINITION, {
                "train": {"loss": loss}, "evaluate": {"metric": "mae"}}), data)
            out = self.top / f"{loss}.npy"
            self.ask("predict", done["run"], "--data", data, "--out", out)
            predictions = np.load(out)
            self.assertEqual(predictions.shape, (NODES,))
            errors = np.abs(predictions[test].astype(float) - labels[test, 0])
            self.assertAlmostEqual(done["test"]["mae"], errors.mean(), 4)
            losses = errors if loss == "mae" else np.where(
                errors <= 1, errors ** 2 / 2, errors - 0.5)
            self.assertAlmostEqual(done["test"]["loss"], losses.mean(), 4)
            self.assertEqual(done["metric"], "mae")
            self.assertNotIn("values", done["test"])
        self.check_names(done["run"], data, predictions)

    def check_names(self, run, data, predictions):
        """A table of predictions has the ids of the tables it is made of."""
        names = data / "nodes/node/ids.txt"
        self.assertEqual(names.read_text(), "".join(
            f"{i}\n" for i in range(NODES)))
        names.write_text("".join(f"person {i}\n" for i in range(NODES)))
        nodes = self.top / "few.txt"
        nodes.write_text("7\n3\n")
        out = self.top / "few.csv"
        self.ask("predict", run, "--data", data, "--out", out, "--nodes", nodes)
        head, *lines = out.read_text().splitlines()
        self.assertEqual(head, "id,name,value_0")
        for node, line in zip((7, 3), lines):
            *front, value = line.split(",")
            self.assertEqual(front, [str(node), f"person {node}"])
            self.assertAlmostEqual(float(value), predictions[node], 4)

    def test_hops_beside_features(self):
        out = self.top / "hops"
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "examples/add_hops.py", self.data,
             out, "--hops", "1", "--program", program()], text=True,
            capture_output=True, timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(
            Dataset(out).node_array("node", "labels"), self.labels)

    def test_a_table(self):
        nodes = self.top / "nodes.txt"
        nodes.write_text("7\n3\n")
        out = self.top / "values.csv"
        self.ask("predict", self.summary["run"], "--data", self.data, "--out",
                 out, "--nodes", nodes)
        head, *lines = out.read_text().splitlines()
        self.assertEqual(head, "id,value_0,value_1")
        got = np.array([line.split(",") for line in lines], float)
        np.testing.assert_array_equal(got[:, 0], [7, 3])
        np.testing.assert_allclose(got[:, 1:], self.predicted()[[7, 3]],
                                   rtol=1e-4, atol=1e-4)

    def test_example_reads_weights(self):
        self.predicted("--all")
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "examples/read_weights.py",
             self.summary["run"], "--data", self.data, "--compare",
             self.top / "values.npy"], text=True, capture_output=True,
            timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("test MSE ", done.stdout)

    def test_refused(self):
        for change, sentence in (
                ({"evaluate": {"metric": "accuracy"}}, "is mse or mae"),
                ({"train": {"label_smoothing": 0.1}},
                 "have numbers for labels")):
            path = self.write(merged(DEFINITION, change), self.data)
            done = graphmill("validate", path, "--data", self.data)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(sentence, done.stderr)
        for words in (["predict", "--probabilities", "--out",
                       self.top / "p.npy"], ["evaluate", "--scores"]):
            done = graphmill(words[0], self.summary["run"], "--data",
                             self.data, *words[1:])
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("is for classes", done.stderr)


if __name__ == "__main__":
    program()
    unittest.main()

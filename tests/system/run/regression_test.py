"""Labels that are numbers: losses, metrics and predictions once more by numpy, and
the same weights whole, in parts and on a cluster."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import label_kinds
import runs
from label_kinds import NODES, LabelKind, arrays_of
from runs import merged
from support import ROOT, Dataset, graphmill, imported, np, program

VALUES = 2

DEFINITION = merged(label_kinds.DEFINITION, {
    "model": {"dropout": 0}, "train": {"epochs": 6},
    "evaluate": {"metric": "mse"}})


def graph():
    return arrays_of(VALUES, lambda sums: (sums + 3).astype(np.float32),
                     np.nan)


def measured(predictions, labels):
    """Metrics as examples/guide/evaluation.md has them, of [seeds, values]."""
    errors = predictions.astype(float) - labels
    around = labels - labels.mean(axis=0, dtype=float)
    return {"mse": (errors ** 2).mean(), "rmse": (errors ** 2).mean() ** 0.5,
            "mae": np.abs(errors).mean(),
            "r2": (1 - (errors ** 2).sum(axis=0)
                   / (around ** 2).sum(axis=0)).mean()}


class Regression(LabelKind):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.take(DEFINITION, graph(), "--regression")

    def predicted(self, *more):
        out = self.top / "values.npy"
        self.ask("predict", self.summary["run"], "--data", self.data, "--out",
                 out, *more)
        return np.load(out)

    def check_metrics(self, got, want):
        for key, value in want.items():
            self.assertAlmostEqual(got[key], value, 4, key)

    def test_what_is_written(self):
        self.assertEqual(self.info["format_version"], 3)
        self.assertEqual(self.info["node_types"][0]["labels"], "regression")
        self.assertEqual(self.labels.dtype, np.float32)
        np.testing.assert_array_equal(self.labels, graph()["labels"])
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
        lines = self.check_best_epoch("mse", min)
        self.assertFalse(any("accuracy" in line for line in lines))

    def test_weights(self):
        """The same in parts, and on a cluster."""
        for run in self.trained_elsewhere():
            self.check_same(run, self.summary)

    def check_same(self, run, other):
        self.assertEqual(run["digest"], other["digest"])
        self.assertEqual(run["best_epoch"], other["best_epoch"])
        self.assertEqual(run["test"]["seeds"], other["test"]["seeds"])
        for key in ("mse", "rmse", "mae", "r2"):
            self.assertAlmostEqual(run["test"][key], other["test"][key], 5,
                                   key)

    def test_a_column(self):
        """One number for each node of a table, and other losses."""
        arrays = graph()
        features, labels = arrays["features"], arrays["labels"]
        split_of = {node: name for name in ("train", "val", "test")
                    for node in arrays[f"{name}_idx"]}
        rows = [f"{i},{'' if np.isnan(value) else value},{split_of.get(i, '')},"
                + ",".join(map(str, features[i]))
                for i, value in enumerate(labels[:, 0])]
        nodes = self.top / "nodes.csv"
        nodes.write_text("\n".join(["id,label,split,a,b,c,d,e,f", *rows, ""]))
        pairs = self.top / "edges.csv"
        pairs.write_text("\n".join(["source,destination", *(
            f"{a},{b}" for a, b in arrays["edges"].T), ""]))
        data = self.top / "table"
        imported("csv", "--edges", pairs, "--nodes", nodes, "--regression",
                 "--out", data)
        np.testing.assert_array_equal(
            Dataset(data).node_array("node", "labels"), labels[:, :1])
        test = arrays["test_idx"]
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
        head, *lines = self.table(run, data)
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
        head, *lines = self.table(self.summary["run"], self.data)
        self.assertEqual(head, "id,value_0,value_1")
        got = np.array([line.split(",") for line in lines], float)
        np.testing.assert_array_equal(got[:, 0], [7, 3])
        np.testing.assert_allclose(got[:, 1:], self.predicted()[[7, 3]],
                                   rtol=1e-4, atol=1e-4)

    def test_example_reads_weights(self):
        self.predicted("--all")
        self.assertIn("test MSE ",
                      self.said_by_example(self.top / "values.npy"))

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

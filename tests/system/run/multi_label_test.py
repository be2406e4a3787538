"""Nodes with several labels: metrics and predictions once more by numpy, and the
same weights whole, in parts and on a cluster."""

import json
import pathlib
import shutil
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import label_kinds
from class_metrics import average_precision, roc_auc
from clusters import Cluster
from imports import save
from label_kinds import LabelKind, arrays_of
from runs import merged, partitioned
from support import graphmill, imported, np, program

LABELS = 35

DEFINITION = merged(label_kinds.DEFINITION, {
    "train": {"epochs": 4}, "evaluate": {"metric": "f1_micro", "scores": True}})


def quotient(a, b):
    """Not a number where both are 0."""
    return np.divide(a, b, out=np.full(np.shape(a), np.nan), where=b > 0)


class SeveralLabels(LabelKind):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.take(DEFINITION, arrays_of(
            LABELS, lambda sums: (sums > 0.5).astype(np.int8), -1))

    def predicted(self, *more):
        out = self.top / "labels.npy"
        self.ask("predict", self.summary["run"], "--data", self.data, "--out",
                 out, "--logits", "--probabilities", *more)
        return [np.load(path) for path in (
            out, self.top / "labels.logits.npy",
            self.top / "labels.probabilities.npy")]

    def test_what_is_written(self):
        self.assertEqual(self.info["format_version"], 3)
        self.assertEqual(self.info["node_types"][0]["labels"], "multi_label")
        self.assertEqual(self.labels.dtype, np.uint8)
        self.assertEqual((self.labels == 255).all(axis=1).sum(), 10)
        done = graphmill("inspect", self.parts, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = graphmill("inspect", self.data, "--quiet")
        self.assertIn("labels of node: 35 labels, 10 nodes without",
                      done.stdout)

    def test_predictions(self):
        labels, logits, probabilities = self.predicted()
        self.assertEqual(labels.dtype, np.uint8)
        np.testing.assert_array_equal(labels, logits > 0)
        np.testing.assert_allclose(
            probabilities, 1 / (1 + np.exp(-logits.astype(float))), rtol=1e-6)
        by_layers = self.predicted("--all")[1]
        np.testing.assert_allclose(by_layers, logits, rtol=1e-4, atol=1e-5)

    def test_metrics(self):
        predictions, logits, _ = (all_of[self.test]
                                  for all_of in self.predicted())
        own = self.labels[self.test] == 1
        taken = predictions == 1
        got = self.summary["test"]
        self.assertNotIn("confusion", got)
        right = (own & taken).sum(axis=0)
        f1 = quotient(2.0 * right, own.sum(axis=0) + taken.sum(axis=0))
        for c, told in enumerate(got["classes"]):
            self.assertEqual(told["seeds"], own[:, c].sum())
            self.assertEqual(told["predicted"], taken[:, c].sum())
            self.assertEqual(told["correct"], right[c])
        self.assertAlmostEqual(got["f1_macro"], np.nanmean(f1), 12)
        self.assertAlmostEqual(got["f1_micro"], 2.0 * right.sum()
                               / (own.sum() + taken.sum()), 12)
        self.assertEqual(got["accuracy"], (own == taken).all(axis=1).mean())
        x = logits.astype(float)
        losses = np.logaddexp(0, x) - x * own
        self.assertAlmostEqual(got["loss"], losses.mean(), delta=1e-5)
        # Scores that are as good as equal may come in either order.
        both = [c for c in range(LABELS) if 0 < own[:, c].sum() < len(own)]
        self.assertAlmostEqual(got["roc_auc"], np.mean(
            [roc_auc(x[:, c], own[:, c]) for c in both]), delta=1e-3)
        self.assertAlmostEqual(got["average_precision"], np.mean(
            [average_precision(x[:, c], own[:, c]) for c in range(LABELS)
             if own[:, c].any()]), delta=2e-3)
        told = self.ask("evaluate", self.summary["run"], "--data", self.data)
        for key in ("accuracy", "f1_micro", "f1_macro", "roc_auc"):
            self.assertEqual(told[key], got[key], key)

    def test_the_best_epoch(self):
        self.check_best_epoch("f1_micro", max)

    def test_weights(self):
        """The same in parts and on a cluster."""
        for run in self.trained_elsewhere():
            self.check_same(run, self.summary)

    def check_same(self, run, other):
        self.assertEqual(run["digest"], other["digest"])
        for key in ("seeds", "accuracy", "f1_micro", "f1_macro"):
            self.assertEqual(run["test"][key], other["test"][key], key)
        self.assertAlmostEqual(run["test"]["loss"], other["test"]["loss"], 6)

    def test_a_table(self):
        head, *lines = self.table(self.summary["run"], self.data)
        self.assertEqual(head, ",".join(
            ["id", *(f"label_{c}" for c in range(LABELS))]))
        labels = self.predicted()[0]
        self.assertEqual(lines, [",".join(map(str, [node, *labels[node]]))
                                 for node in (7, 3)])

    def test_example_reads_weights(self):
        told = self.ask("evaluate", self.summary["run"], "--data", self.data)
        self.predicted("--all")
        said = self.said_by_example(self.top / "labels.logits.npy")
        self.assertIn(f"test accuracy {told['accuracy']:.4f}", said)

    def test_other_data_have_labels_of_the_same_kind(self):
        """Weights fit as many classes as labels, and would be read as such."""
        source = self.top / "classes-source"
        source.mkdir()
        rng = np.random.default_rng(9)
        save(source, edges=rng.integers(0, 70, (2, 300)),
             features=rng.normal(size=(70, 6)).astype(np.float32),
             labels=np.arange(70) % LABELS, train_idx=np.arange(40),
             val_idx=np.arange(40, 50), test_idx=np.arange(50, 70))
        classes = self.top / "classes"
        imported("npy", source, "--out", classes)
        old = self.top / "old-run"  # From before runs said so.
        shutil.copytree(self.summary["run"], old)
        about = json.loads((old / "run.json").read_text())
        self.assertEqual(about.pop("labels"), "multi_label")
        about["dataset_digest"] = "that of another one"
        (old / "run.json").write_text(json.dumps(about))
        one, any_of = "one class for each node", "any of several labels"
        for run, data, found, learnt in (
                (self.summary["run"], classes, one, any_of),
                (old, self.data, any_of, one)):
            for words in (["evaluate"],
                          ["predict", "--out", self.top / "never.npy"]):
                done = graphmill(words[0], run, "--data", data, *words[1:])
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertRegex(done.stderr, "its labels are " + found
                                 + ".*, where the run has learnt " + learnt)
        self.assertFalse((self.top / "never.npy").exists())
        with Cluster(self.top / "other", partitioned(classes, 2, "random"),
                     ["0,1"]) as cluster:
            for option in ("--predict", "--evaluate"):
                said = cluster.refused("submit", option, self.summary["run"],
                                       "--set", "dataset=classes")
                self.assertRegex(said, f"are {one}.*has learnt {any_of}")
            self.assertEqual(cluster.ask("runs")["runs"], [])
        out = self.top / "as-classes.npy"
        self.ask("predict", old, "--data", classes, "--out", out)
        self.assertEqual(np.load(out).shape, (70,))

    def test_refused(self):
        path = self.write(merged(DEFINITION, {"train": {
            "class_weights": [1.0] * LABELS}}), self.data)
        done = graphmill("validate", path, "--data", self.data)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("is for one class for each node", done.stderr)


if __name__ == "__main__":
    program()
    unittest.main()

"""Metrics of classes that runs and `evaluate` tell, once more by numpy."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "examples"))
import runs
from class_metrics import (average_precision, confusion, f1_by_class,
                           log_odds, roc_auc)
from numpy_models import Folder, Model
from runs import merged, partitioned, small_rmat
from support import graphmill, np, program

LAYERS = 2
CLASSES = 4
DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 4]},
    "model": {"kind": "sage", "hidden": 8, "dropout": 0.2},
    "train": {"batch_size": 40, "epochs": 3, "seed_order": "global"},
    "evaluate": {"neighbours": "all", "batch_size": 70},
}
BY_F1 = {"evaluate": {"metric": "f1_macro", "scores": True}}


class Metrics(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat", classes=CLASSES,
                              validation=0.2, test=0.3)
        cls.dataset = Folder(cls.data)
        cls.labels = cls.dataset.node_array("node", "labels")
        cls.test = cls.dataset.node_array("node", "test")
        cls.plain = cls("train").train(DEFINITION, cls.data)
        cls.summary = cls("train").train(merged(DEFINITION, BY_F1), cls.data)

    def runTest(self):
        """Lets a test be made while the class is set up."""

    def lines(self, summary, phase="validation"):
        text = (pathlib.Path(summary["run"]) / "metrics.jsonl").read_text()
        return [line for line in map(json.loads, text.splitlines())
                if line["phase"] == phase]

    def test_in_words(self):
        done = graphmill("evaluate", self.summary["run"], "--data", self.data,
                         "--scores", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = done.stdout.splitlines()
        self.assertRegex(first, r"^test: accuracy \d\.\d{4}, loss ")
        self.assertRegex(
            second, r"^F1 \d\.\d{4} macro, \d\.\d{4} micro; "
                    r"ROC-AUC \d\.\d{4}, average precision \d\.\d{4}, "
                    r"means over the classes$")

    def test_counts(self):
        """By what `predict` says of the test's nodes."""
        out = self.top / "predictions.npy"
        self.ask("predict", self.summary["run"], "--data", self.data,
                 "--out", out)
        counts = confusion(self.labels[self.test], np.load(out)[self.test],
                           CLASSES)
        got = self.summary["test"]
        self.assertEqual(got["confusion"], counts.tolist())
        f1 = f1_by_class(counts)
        self.assertAlmostEqual(got["f1_macro"], np.nanmean(f1), 12)
        self.assertAlmostEqual(got["f1_micro"],
                               np.trace(counts) / counts.sum(), 12)
        self.assertEqual(got["f1_micro"], got["accuracy"])
        for c, told in enumerate(got["classes"]):
            self.assertEqual(told["class"], c)
            self.assertEqual(told["seeds"], counts[c].sum())
            self.assertEqual(told["predicted"], counts[:, c].sum())
            self.assertEqual(told["correct"], counts[c, c])
            if told["f1"] is None:
                self.assertTrue(np.isnan(f1[c]))
            else:
                self.assertAlmostEqual(told["f1"], f1[c], 12)

    def test_rankings(self):
        """By numpy's own logits. A pair of seeds whose scores are as good as
        equal may come in either order, and there are some thousand pairs."""
        model = Model("sage", self.dataset, self.weights(self.summary), False)
        _, logits = model.run(LAYERS, "node")
        scores = log_odds(logits[self.test])
        areas, precisions = [], []
        for c, told in enumerate(self.summary["test"]["classes"]):
            own = self.labels[self.test] == c
            areas.append(roc_auc(scores[:, c], own))
            precisions.append(average_precision(scores[:, c], own))
            self.assertAlmostEqual(told["roc_auc"], areas[-1], delta=2e-3)
            self.assertAlmostEqual(told["average_precision"], precisions[-1],
                                   delta=1e-2)
        got = self.summary["test"]
        self.assertAlmostEqual(got["roc_auc"], np.mean(areas), delta=2e-3)
        self.assertAlmostEqual(got["average_precision"], np.mean(precisions),
                               delta=1e-2)

    def test_evaluate(self):
        for run in (self.summary, self.plain):
            with self.subTest(run=run["run"]):
                got = self.ask("evaluate", run["run"], "--data", self.data,
                               "--scores")
                for key, value in run["test"].items():
                    if run is self.summary or key != "classes":
                        self.assertEqual(got[key], value, key)
                self.assertIn("roc_auc", got)
        self.assertNotIn("roc_auc", self.plain["test"])
        said = graphmill("evaluate", self.summary["run"], "--data", self.data,
                         "-q").stdout
        self.assertIn(f"F1 {self.summary['test']['f1_macro']:.4f} macro", said)
        self.assertIn(f"ROC-AUC {self.summary['test']['roc_auc']:.4f}", said)

    def test_best_epoch(self):
        lines = self.lines(self.summary)
        best = max(lines, key=lambda line: line["f1_macro"])
        self.assertEqual(self.summary["metric"], "f1_macro")
        self.assertEqual(self.summary["best_epoch"], best["epoch"])
        for key in ("accuracy", "loss", "f1_macro", "f1_micro", "roc_auc",
                    "average_precision", "seeds"):
            self.assertEqual(self.summary["validation"][key], best[key], key)
        self.assertEqual(self.summary["validation_accuracy"],
                         best["accuracy"])
        self.assertEqual({line["metric"] for line in lines}, {"f1_macro"})
        self.assertEqual(self.plain["metric"], "accuracy")
        for line in self.lines(self.plain):
            self.assertNotIn("metric", line)
            self.assertNotIn("roc_auc", line)

    def test_patience_counts_by_the_metric(self):
        patience, most = 2, 40
        summary = self.train(merged(DEFINITION, {
            "optimizer": {"learning_rate": 0.3},
            "train": {"patience": patience, "patience_window": 1,
                      "epochs": most},
            "evaluate": {"metric": "loss"},
        }), self.data)
        losses = [line["loss"] for line in self.lines(summary)]
        best = losses.index(min(losses))
        self.assertEqual(summary["best_epoch"], best + 1)
        self.assertEqual(len(losses), min(most, best + 1 + patience))

    def test_weights_do_not_depend_on_scores(self):
        scored = self.train(merged(DEFINITION, {"evaluate": {"scores": True}}),
                            self.data)
        self.assertEqual(scored["digest"], self.plain["digest"])
        self.assertEqual(scored["best_epoch"], self.plain["best_epoch"])
        self.assertIn("roc_auc", scored["test"])

    def test_parts_make_no_difference(self):
        parts = partitioned(self.data, 3, "random")
        there = self.train(merged(DEFINITION, BY_F1), parts)
        self.assertEqual(there["digest"], self.summary["digest"])
        for key in ("test", "validation", "metric", "best_epoch"):
            self.assertEqual(there[key], self.summary[key], key)

    def test_no_run_goes_on_by_another_metric(self):
        done = graphmill("resume", self.summary["run"], "--with-changes",
                         "--set", "evaluate.metric=loss", "--set",
                         "train.epochs=5")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("`evaluate.metric` has chosen the best epoch",
                      done.stderr)


if __name__ == "__main__":
    program()
    unittest.main()

"""A rare class: metrics of it by name, a threshold that is tuned on the
validation, weights by name and focal loss; once more by numpy."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import clusters
from class_metrics import (average_precision, best_f1_threshold, confusion,
                           f1_by_class, log_odds, precision_at_k,
                           recall_at_fpr, roc_auc)
from runs import merged, partitioned
from support import Dataset, graphmill, imported, np, program

NODES = 600
DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 4]},
    "model": {"kind": "sage", "hidden": 8, "dropout": 0},
    "train": {"batch_size": 60, "epochs": 3, "seed_order": "global",
              "class_weights": {"fraud": 4}, "focal_gamma": 1},
    "evaluate": {"neighbours": "all", "batch_size": 64,
                 "metric": "average_precision:fraud",
                 "threshold": "f1:fraud"},
}


def accounts(folder):
    """Accounts, a tenth of which are frauds and have a somewhat larger
    amount."""
    draw = np.random.default_rng(4)
    fraud = draw.random(NODES) < 0.1
    amount = draw.normal(size=NODES) + 1.2 * fraud
    with (folder / "accounts.csv").open("w") as out:
        out.write("id,amount,noise,kind\n")
        for i in range(NODES):
            out.write(f"a{i},{amount[i]:.4f},{draw.normal():.4f},"
                      f"{'fraud' if fraud[i] else 'sound'}\n")
    with (folder / "payments.csv").open("w") as out:
        out.write("source,destination\n")
        for a, b in draw.integers(0, NODES, size=(3000, 2)):
            out.write(f"a{a},a{b}\n")
    imported("csv", "--nodes", f"account={folder / 'accounts.csv'}",
             "--edges", f"account__pays__account={folder / 'payments.csv'}",
             "--label", "kind", "--out", folder / "accounts", "--split",
             "0.4,0.3,0.3", "--by", "label", "--seed", 3)
    return folder / "accounts"


class RareClass(clusters.ClusterWorkplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = accounts(cls.top)
        about = Dataset(cls.data).node_type("account")
        cls.names = about["class_names"]
        cls.fraud = cls.names.index("fraud")
        cls.summary = cls("train").train(DEFINITION, cls.data)
        out = cls.top / "plain.npy"
        cls("ask").ask("predict", cls.summary["run"], "--logits", "--quiet",
                       "--neighbours", "all", "--threshold", "none",
                       "--out", out)
        cls.plain = np.load(out)
        cls.logits = np.load(out.with_suffix(".logits.npy"))
        cls.scores = log_odds(cls.logits).astype(np.float32)[:, cls.fraud]

    def runTest(self):
        """Lets a test be made while the class is set up."""

    def split(self, name):
        dataset = Dataset(self.data)
        nodes = dataset.node_array("account", name)
        labels = dataset.node_array("account", "labels")
        return nodes, labels[nodes] == self.fraud

    def lines(self, phase):
        text = pathlib.Path(self.summary["run"],
                            "metrics.jsonl").read_text()
        return [line for line in map(json.loads, text.splitlines())
                if line["phase"] == phase]

    def test_metrics_of_one_class(self):
        nodes, own = self.split("test")
        scores = self.scores[nodes]
        expected = {
            "average_precision:fraud": average_precision(scores, own),
            "roc_auc:fraud": roc_auc(scores, own),
            "recall_at_fpr@0.1:fraud": recall_at_fpr(scores, own, 0.1),
            "precision_at_k@20:fraud": precision_at_k(scores, own, 20),
        }
        taken = self.plain[nodes] == self.fraud
        counts = confusion(own.astype(int), taken.astype(int), 2)
        expected["f1:fraud"] = f1_by_class(counts)[1]
        expected["recall:fraud"] = counts[1, 1] / counts[1].sum()
        expected["precision:fraud"] = counts[1, 1] / counts[:, 1].sum()
        for metric, value in expected.items():
            with self.subTest(metric=metric):
                got = self.train(merged(DEFINITION, {
                    "train": {"epochs": 1}, "evaluate": {"metric": metric}}),
                    self.data)
                line = json.loads(pathlib.Path(
                    got["run"], "metrics.jsonl").read_text().splitlines()[-1])
                self.assertEqual(line["metric"], metric)
                self.assertEqual(line[metric], got["test"][metric])
                self.assertEqual(got["metric"], metric)
                again = self.ask("evaluate", got["run"], "--quiet")
                self.assertEqual(again[metric], got["test"][metric])
        # All of the same weights: those that the class was set up with.
        folder = pathlib.Path(self.summary["run"])
        before = (folder / "definition.yaml").read_text()
        try:
            for metric, value in expected.items():
                (folder / "definition.yaml").write_text(before.replace(
                    '"average_precision:fraud"', json.dumps(metric)))
                got = self.ask("evaluate", folder, "--quiet")
                self.assertAlmostEqual(got[metric], value, delta=2e-3,
                                       msg=metric)
        finally:
            (folder / "definition.yaml").write_text(before)

    def test_threshold_is_the_best_of_the_validation(self):
        nodes, own = self.split("val")
        f1, _ = best_f1_threshold(self.scores[nodes], own)
        best = self.lines("validation")[self.summary["best_epoch"] - 1]
        self.assertEqual(best["threshold_of"], "f1:fraud")
        self.assertAlmostEqual(best["threshold_f1"], f1, delta=1e-6)
        self.assertEqual(self.summary["threshold"],
                         f"{best['threshold']!r}:fraud")
        tested, own = self.split("test")
        taken = self.probability()[tested] >= best["threshold"]
        told = self.summary["test"]
        self.assertEqual(told["threshold"], best["threshold"])
        self.assertEqual(told["threshold_predicted"], taken.sum())
        self.assertEqual(told["threshold_correct"], (taken & own).sum())
        self.assertAlmostEqual(told["threshold_recall"],
                               (taken & own).sum() / own.sum(), 12)
        self.assertAlmostEqual(told["threshold_false_positive_rate"],
                               (taken & ~own).sum() / (~own).sum(), 12)

    def probability(self):
        return 1 / (1 + np.exp(-self.scores.astype(np.float64)))

    def test_predictions_take_the_threshold(self):
        out = self.top / "decided.npy"
        told = self.ask("predict", self.summary["run"], "--quiet",
                        "--neighbours", "all", "--out", out)
        self.assertEqual(told["threshold"], self.summary["threshold"])
        threshold = float(told["threshold"].partition(":")[0])
        expected = np.where(self.probability() >= threshold, self.fraud,
                            1 - self.fraud)
        np.testing.assert_array_equal(np.load(out), expected)
        self.assertFalse(np.array_equal(np.load(out), self.plain))
        self.ask("predict", self.summary["run"], "--quiet", "--all", "--out",
                 out)
        np.testing.assert_array_equal(np.load(out), expected)
        self.ask("predict", self.summary["run"], "--quiet", "--all", "--out",
                 out, "--threshold", "0:fraud")
        self.assertTrue((np.load(out) == self.fraud).all())
        self.assertTrue(np.array_equal(self.plain, self.logits.argmax(1)))

    def test_evaluate_tells_what_the_threshold_makes(self):
        got = self.ask("evaluate", self.summary["run"], "--quiet")
        for key, value in self.summary["test"].items():
            if key != "threshold_of":
                self.assertEqual(got[key], value, key)
        said = graphmill("evaluate", self.summary["run"], "-q").stdout
        self.assertIn("average_precision:fraud "
                      f"{got['average_precision:fraud']:.4f}", said)
        self.assertIn("means over both classes", said)
        self.assertIn("fraud from probability "
                      f"{got['threshold']:.4f} on: precision", said)

    def test_the_table_shows_the_metric(self):
        done = graphmill("train", self.write(DEFINITION, self.data), "--data",
                         self.data, "--runs", self.top / "shown")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        head = next(place for place, line in enumerate(lines)
                    if line.startswith("epoch"))
        self.assertIn("average_precision:fraud", lines[head])
        for row, line in zip(lines[head + 1:], self.lines("validation")):
            self.assertIn(f"{line['average_precision:fraud']:.4f}",
                          row.split())
        self.assertIn(", the best by average_precision:fraud (0.", done.stdout)
        self.assertIn("test average_precision:fraud", done.stdout)
        self.assertIn("test threshold   fraud from probability", done.stdout)
        log = next((self.top / "shown").glob("*/log.txt")).read_text()
        self.assertIn(", average_precision:fraud 0.", log)

    def test_unknown_classes_are_refused_with_those_there_are(self):
        for change, where in (
                ({"evaluate": {"metric": "f1:frad"}}, "evaluate.metric"),
                ({"evaluate": {"threshold": "f1:frad"}},
                 "evaluate.threshold"),
                ({"train": {"class_weights": {"frad": 2}}},
                 "train.class_weights")):
            definition = self.write(merged(DEFINITION, change), self.data)
            for command in (("validate", definition, "--data", self.data),
                            ("train", definition, "--data", self.data,
                             "--runs", self.top / "refused")):
                done = graphmill(*command)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f"`{where}`: `frad` is no class; the classes "
                              "are ", done.stderr + done.stdout)
                self.assertIn("did you mean `fraud`?",
                              done.stderr + done.stdout)

    def test_a_mean_over_both_classes_says_so(self):
        definition = self.write(merged(DEFINITION, {
            "evaluate": {"metric": "average_precision"}}), self.data)
        for command in (("validate", definition, "--data", self.data),
                        ("train", definition, "--data", self.data, "--runs",
                         self.top / "mean")):
            done = graphmill(*command)
            self.assertIn("is the mean over both classes",
                          done.stderr + done.stdout)

    def test_weights_by_name_and_focal_loss_are_learnt_with(self):
        weights = [4 if name == "fraud" else 1 for name in self.names]
        for change, same in (({"class_weights": weights}, True),
                             ({"class_weights": [1, 1]}, False),
                             ({"focal_gamma": 0}, False)):
            with self.subTest(change):
                got = self.train(merged(DEFINITION, {"train": change}),
                                 self.data)
                self.assertEqual(got["digest"] == self.summary["digest"], same)

    def test_a_cluster_tells_the_same(self):
        parts = partitioned(self.data, 2, "random")
        cluster = self.cluster(["0", "1"], data=parts)
        there = cluster.ask("submit", self.write(DEFINITION, parts), "--watch",
                            "--quiet")
        self.assertEqual(there["digest"], self.summary["digest"])
        for key in ("test", "validation", "metric", "best_epoch", "threshold"):
            self.assertEqual(there[key], self.summary[key], key)
        listed = graphmill("runs", "--cluster", cluster.coordinator).stdout
        self.assertIn("average_precision:fraud "
                      f"{there['test']['average_precision:fraud']:.4f}",
                      listed)
        predicted = cluster.ask("submit", "--predict", self.summary["run"],
                                "--watch", "--quiet")
        out = self.top / "alone.npy"
        self.ask("predict", self.summary["run"], "--quiet", "--neighbours",
                 "all", "--out", out)
        np.testing.assert_array_equal(
            np.load(pathlib.Path(predicted["run"], "predictions.npy")),
            np.load(out))
        measured = cluster.ask("submit", "--evaluate", self.summary["run"],
                               "--watch", "--quiet")["evaluation"]
        for key, value in self.summary["test"].items():
            if key != "threshold_of":
                self.assertEqual(measured[key], value, key)


if __name__ == "__main__":
    program()
    unittest.main()

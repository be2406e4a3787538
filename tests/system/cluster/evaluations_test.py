"""A cluster measures a split with the weights of a finished run: the numbers of
`graphmill evaluate` in one process, for any number of parts and daemons."""

import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from runs import merged, partitioned, small_rmat
from support import graphmill, program

# Seeds of owners near a trainer go to it while it trains, neighbours are drawn
# anew in each epoch, and the fourth one comes after the best one or is it.
DEFINITION = merged(runs.SMALL, {
    "train": {"epochs": 4, "patience": 9, "min_epochs": 1},
    "trainer": {"replicas": 2},
})
SPLITS = ("test", "validation", "train")


class Evaluations(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.whole = small_rmat(cls.top / "rmat", validation=0.2, test=0.3)
        cls.parts = {count: partitioned(cls.whole, count, "random")
                     for count in (2, 3)}
        cls.run_alone = cls("train").train(DEFINITION, cls.whole)

    def runTest(self):
        """Lets a test be made while the class is set up."""

    def cluster(self, data, shares, name=""):
        made = Cluster(self.top / f"{self.own_name}{name}", data,
                       shares)
        self.addCleanup(made.__exit__)
        return made

    def alone(self, *more):
        """What one process measures, but for what is of the command."""
        told = self.ask("evaluate", self.run_alone["run"], "--quiet", *more)
        del told["seconds"], told["run"]
        return told

    def measured(self, cluster, *more):
        """The whole summary of a run that measures."""
        return cluster.ask("submit", "--evaluate", self.run_alone["run"],
                           "--watch", "--quiet", *more)

    def test_any_parts_and_daemons(self):
        run = self.run_alone
        expected = {split: self.alone("--split", split, "--scores")
                    for split in SPLITS}
        for key, value in run["test"].items():
            if key != "classes":  # Which have scores by now.
                self.assertEqual(expected["test"][key], value, key)
        all_of_them = self.alone("--neighbours", "all")
        self.assertNotEqual(all_of_them["loss"], expected["test"]["loss"])
        for parts, shares in ((2, ["0", "1"]), (3, ["1", "0,2"])):
            cluster = self.cluster(self.parts[parts], shares, f"-{parts}")
            for split in SPLITS:
                with self.subTest(parts=parts, split=split):
                    summary = self.measured(cluster, "--split", split, "--set",
                                            "evaluate.scores=true")
                    self.assertEqual(summary["evaluation"], expected[split])
                    self.assertIn("roc_auc", summary["evaluation"])
                    self.assertEqual(summary["digest"], run["digest"])
                    self.assertEqual(summary["steps"], 0)
                    # What is no epoch of its own is nowhere told as one.
                    for key in ("test", "validation", "test_accuracy"):
                        self.assertIsNone(summary[key], key)
                    folder = pathlib.Path(summary["run"])
                    self.assertEqual((folder / "metrics.jsonl").read_text(),
                                     "")
            summary = self.measured(cluster, "--set",
                                    "evaluate.neighbours=all")
            self.assertEqual(summary["evaluation"], all_of_them)
        done = cluster.call("watch", pathlib.Path(summary["run"]).name)
        self.assertIn("evaluated        the test split: accuracy "
                      f"{all_of_them['accuracy']:.4f}, loss ", done.stderr)

    def test_a_daemon_is_lost(self):
        """The pass begins anew, and ends with the same numbers."""
        cluster = self.cluster(self.parts[2], ["0", "1"])
        name = cluster.ask("submit", "--evaluate", self.run_alone["run"],
                           "--set", "faults.sampler_delay_ms=600")["run"]
        cluster.wait_until(lambda: f"run {name}: begun" in cluster.logs(),
                           "begin")
        cluster.daemons[1].kill()
        cluster.add("1", name="d1")
        summary = cluster.ask("watch", name, "--quiet")
        self.assertEqual(summary["attempts"], 2, cluster.logs())
        self.assertEqual(summary["evaluation"], self.alone())

    def test_refused(self):
        run = self.run_alone["run"]
        bare = small_rmat(self.top / "bare", validation=0, test=0.3)
        cluster = self.cluster(partitioned(bare, 2, "random"), ["0,1"])
        said = cluster.refused("submit", "--evaluate", run)
        self.assertIn("is on dataset \"rmat\", but this cluster serves", said)
        self.assertIn("`graphmill stop --all` and start its daemons with "
                      "--data of the other one", said)
        self.assertIn("the validation split of `bare` has no seeds",
                      cluster.refused("submit", "--evaluate", run, "--split",
                                      "validation", "--set", "dataset=bare"))
        definition = self.write(
            merged(runs.SMALL, {"evaluate": {"only": "test"}}), bare)
        self.assertIn("begins with the weights of a finished run",
                      cluster.refused("submit", definition))
        self.assertIn("nowhere", cluster.refused("submit", "--evaluate",
                                                 "nowhere"))
        for command, field, reason in (
                ("--evaluate", "evaluate.only=train", "--split says which"),
                ("--evaluate", "train.epochs=9", "neighbours are drawn as"),
                ("--evaluate", "evaluate={only: train}", "--split says which"),
                ("--evaluate", "train.patience=3", "it is for training"),
                ("--evaluate", "optimizer.learning_rate=1", "it is for train"),
                ("--evaluate", "evaluate.metric=f1_macro", "it chooses the"),
                ("--predict", "train={max_steps: 3}", "it is for training"),
                ("--predict", "evaluate.scores=true", "--predict measures"),
                ("--predict", "evaluate.predict=false", "--predict has the"),
                ("--predict", "model.weights=w", "the weights are those")):
            with self.subTest(command, field=field):
                self.assertIn(f"--set {field}: {reason}", cluster.refused(
                    "submit", command, run, "--set", field))
        self.assertEqual(cluster.ask("runs")["runs"], [])
        done = graphmill("train", definition, "--data", bare, "--runs",
                         self.top / "never", "--quiet")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("`evaluate.only` is for a cluster", done.stderr)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

"""Classes of edges on other data than those of a run: weights that a run begins
with are compared as those that predict are, and classes are those of the run."""

import pathlib
import shutil
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from imports import rows_of, write_table
from runs import merged, partitioned
from support import graphmill, imported, np, program

SEED = 41
ACCOUNTS, PAYMENTS = 60, 500

FRAUD = {
    "seed": 2,
    "task": "edge_class",
    "sampler": {"fanouts": [4, 3]},
    "model": {"kind": "hetero_sage", "hidden": 8, "dropout": 0},
    "decoder": {"kind": "mlp"},
    "optimizer": {"learning_rate": 0.02},
    "train": {"batch_size": 128, "epochs": 20},
    "evaluate": {"batch_size": 128},
}


class EdgePredictions(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.pay("pay")

    @classmethod
    def pay(cls, name, *flags, accounts=ACCOUNTS, names=("fraud", "ok")):
        """A day's payments: fraud is whatever the payer's first column says."""
        rng = np.random.default_rng([SEED, accounts])
        source = cls.top / f"{name}-source"
        source.mkdir()
        risk = rng.normal(0, 3, accounts).round(4)
        write_table(source / "account.csv", ["id", "risk", "age"],
                    [range(accounts), risk,
                     rng.integers(1, 90, accounts)])
        payer, payee = rng.integers(0, accounts, (2, PAYMENTS))
        write_table(source / "pays.csv", ["payer_id", "payee_id", "kind"],
                    [payer, payee, np.where(risk[payer] > 0, *names)])
        out = cls.top / name
        imported("csv", "--nodes", f"account={source / 'account.csv'}",
                 "--edges", f"account__pays__account={source / 'pays.csv'}",
                 "--source", "payer_id", "--destination", "payee_id",
                 "--task-kind", "edge_class", "--task-label", "kind",
                 "--split-edges", "0.6,0.2,0.2", *flags, "--out", out)
        return out

    def begun_with(self, weights, data):
        """A run of one epoch that begins with these weights."""
        return graphmill(
            "train", self.write(merged(FRAUD, {"train": {"epochs": 1}}), data),
            "--data", data, "--runs", self.runs, "--quiet", "--json", "--set",
            f"model.weights={weights}")

    def lines_of(self, run, data, *rows):
        out = self.top / "lines.csv"
        self.ask("predict", run, "--data", data, "--out", out, "--quiet", *rows)
        return rows_of(out)

    def test_first_weights_are_of_data_that_mean_the_same(self):
        run = pathlib.Path(self.train(FRAUD, self.data)["run"])
        weights = run / "weights.safetensors"
        checkpoint, = run.glob("checkpoints/*/tensors.safetensors")
        more = self.pay("more", accounts=ACCOUNTS + 9)
        for file in weights, checkpoint:
            done = self.begun_with(file, more)
            self.assertEqual(done.returncode, 0, done.stderr)
        loose = self.top / "loose.safetensors"
        shutil.copy(weights, loose)
        cases = {
            "scaled": (self.pay("scaled", "--normalise", "standardise"),
                       "features of account are scaled by", True),
            "swapped": (self.pay("swapped", names=("z", "a")),
                        "number 0 is `a` here and `fraud` there", True),
            "alone": (self.pay("alone", names=("ok", "ok")),
                      "there are 1 here and 2 there", False)}
        for name, (data, said, same_shapes) in cases.items():
            with self.subTest(name):
                before = sorted(self.runs.iterdir())
                for file in weights, checkpoint:
                    done = self.begun_with(file, data)
                    self.assertEqual(done.returncode, 1, done.stdout)
                    self.assertIn(said, done.stderr)
                self.assertEqual(sorted(self.runs.iterdir()), before)
                # Shapes alone are known of a file that lies in no run.
                done = self.begun_with(loose, data)
                self.assertEqual(done.returncode == 0, same_shapes, done.stderr)
        data, said, _ = cases["swapped"]
        parts = partitioned(data, 1, "random")
        with Cluster(self.top / "cluster", parts, ["0"]) as made:
            file = self.write(FRAUD, data)
            set_weights = ("--set", f"model.weights={weights}")
            for more in (), ("--grid", "seed=1,2"):
                told = made.refused("submit", file, *set_weights, *more)
                self.assertIn(said, told)

    def test_classes_are_those_of_the_run(self):
        """Also on a day on which one of them is missing."""
        run = self.train(FRAUD, self.data)["run"]
        days = [self.pay(f"day-{i}", names=names) for i, names in
                enumerate((("fraud", "ok"), ("z", "a"), ("ok", "ok")))]
        pairs = self.top / "pairs.csv"
        write_table(pairs, ["source", "destination"], [range(9), range(9)])
        for rows in ("--split", "test", "--probabilities"), ("--pairs", pairs):
            told = [self.lines_of(run, day, *rows) for day in days]
            self.assertEqual(told[0], told[1])
            self.assertEqual(told[0], told[2])
            self.assertEqual({(line["class"], line["class_name"])
                              for line in told[0]} - {("0", "fraud"),
                                                      ("1", "ok")}, set())
        made = []
        for day in days:
            told = self.ask("predict", run, "--data", day, "--all", "--quiet",
                            "--out", self.top / "all.npy")
            made.append(np.load(told["embeddings.account"]).tobytes())
        self.assertEqual(len(set(made)), 1)
        done = graphmill("evaluate", run, "--data", days[2])
        self.assertIn("there are 1 here and 2 there", done.stderr)

    def test_what_thresholds_and_logits_are_for(self):
        run = self.train(FRAUD, self.data)["run"]
        out = ("--out", self.top / "none.csv")
        for more, said in (
                (("--all", "--threshold", "0.3:fraud"), "--threshold is for"),
                (("--all", "--logits"), "--logits is for"),
                (("--split", "test", "--threshold", "0.3:theft"), "theft")):
            done = graphmill("predict", run, *more, *out)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

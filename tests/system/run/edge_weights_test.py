"""Weights of edges: what models make of them, by numpy, and that runs end with
the same bits however the graph is cut, stored and served."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import check_two_daemons
from edge_weights import random_weights, weighted
from exactness_test import TROUBLE, write_typed_set
from runs import SMALL, merged, model_kinds, partitioned, small_rmat
from support import ROOT, graphmill, imported, np, program

GLOBAL = {"train": {"seed_order": "global"}}
DEFINITION = merged(SMALL, GLOBAL)
PLAIN = ("gcn", "sage", "sage_sum", "gin", "gat", "gatv2")
TYPED = ("rgcn", "hetero_sage", "rgat", "hgt")
IGNORE = {"model": {"edge_weights": "ignore"}}


def of_kind(kind, *more):
    # Small steps, for models that sum as many rows as a node has neighbours.
    return merged(DEFINITION, {"model": {"kind": kind},
                               "optimizer": {"learning_rate": 0.002}}, *more)


class EdgeWeights(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bare = small_rmat(cls.top / "rmat")
        cls.data = weighted(cls.bare, cls.top / "weighted", random_weights)
        cls.ones = weighted(cls.bare, cls.top / "ones", np.ones)
        cls.parts = partitioned(cls.data, 2, "random")
        cls.typed = cls.top / "typed"
        imported("npy", write_typed_set(cls.top / "source"), "--reverse",
                 "--out", cls.typed)
        names = [f"{t['source']}__{t['name']}__{t['destination']}"
                 for t in json.loads((cls.typed / "dataset.json").read_text())[
                     "edge_types"]]
        # The last type has none.
        cls.typed_weights = weighted(cls.typed, cls.top / "typed-weighted",
                                     random_weights, names[:-1])
        cls.typed_parts = partitioned(cls.typed_weights, 2, "random")

    def test_weights_change_what_is_learnt(self):
        for kinds, data, bare in ((PLAIN, self.data, self.bare),
                                  (TYPED, self.typed_weights, self.typed)):
            for kind in kinds:
                with self.subTest(kind=kind):
                    used = self.digest(of_kind(kind), data)
                    ignored = self.digest(of_kind(kind, IGNORE), data)
                    self.assertNotEqual(used, ignored)
                    self.assertEqual(ignored,
                                     self.digest(of_kind(kind), bare))

    def test_weights_of_1_are_none(self):
        for kind in PLAIN:
            with self.subTest(kind=kind):
                self.assertEqual(self.digest(of_kind(kind), self.ones),
                                 self.digest(of_kind(kind), self.bare))

    def test_parts_and_trouble_and_disk(self):
        for kinds, data, parts in (
                (PLAIN, self.data, self.parts),
                (TYPED, self.typed_weights, self.typed_parts)):
            for kind in kinds:
                with self.subTest(kind=kind):
                    definition = of_kind(kind, {"trainer": {"replicas": 2}})
                    self.assertEqual(
                        self.digest(merged(definition, TROUBLE), parts,
                                    "--storage", "disk"),
                        self.digest(definition, data))

    def test_a_cluster(self):
        for name, data, parts, kinds in (
                ("plain", self.data, self.parts, ("gcn", "sage", "gat")),
                ("typed", self.typed_weights, self.typed_parts,
                 ("rgcn", "hgt"))):
            check_two_daemons(self, name, parts, [
                (of_kind(kind), self.digest(of_kind(kind), data))
                for kind in kinds])

    def test_predictions_are_those_of_the_script(self):
        """That those of all kinds are numpy's, the test of models says."""
        for kind, more, data in (("gcn", {}, self.data),
                                 ("gcn", IGNORE, self.data),
                                 ("gatv2", {}, self.data),
                                 ("rgcn", {}, self.typed_weights),
                                 ("hgt", {}, self.typed_weights)):
            with self.subTest(kind=kind, **more):
                self.check_predictions(of_kind(kind, more), data)

    def check_predictions(self, definition, data):
        run = self.train(definition, data)["run"]
        out = pathlib.Path(run) / "layers.npy"
        self.ask("predict", run, "--data", data, "--all", "--logits", "--out",
                 out)
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "examples/read_weights.py", run,
             "--compare", out.with_suffix(".logits.npy")], text=True,
            capture_output=True, timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_other_kinds_refuse(self):
        for kind in model_kinds():
            if kind in (*PLAIN, *TYPED, "mlp"):
                continue
            with self.subTest(kind=kind):
                done = graphmill(*self.arguments(of_kind(kind), self.data)[1:])
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("set model.edge_weights: ignore", done.stderr)
                self.assertIn(kind, done.stderr)
        definition = of_kind("sage_max", IGNORE)
        self.assertEqual(self.digest(definition, self.data),
                         self.digest(of_kind("sage_max"), self.bare))
        self.assertEqual(self.digest(of_kind("mlp"), self.data),
                         self.digest(of_kind("mlp"), self.bare))

    def test_nothing_to_ignore(self):
        for kind, data in (("sage", self.bare), ("mlp", self.data)):
            with self.subTest(kind=kind):
                done = graphmill(
                    *self.arguments(of_kind(kind, IGNORE), data)[1:])
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("leave it out", done.stderr)

    def test_a_run_goes_on_with_weights(self):
        definition = of_kind("gcn", {"train": {"epochs": 3}})
        want = self.digest(definition, self.data)
        first = self.train(of_kind("gcn", {"train": {"epochs": 2}}), self.data)
        again = self.ask("resume", first["run"], "--set", "train.epochs=3",
                         "--with-changes", "--quiet")
        self.assertEqual(again["digest"], want)


if __name__ == "__main__":
    program()
    unittest.main()

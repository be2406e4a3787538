"""Batches of other edges than those that were sampled, and of nodes that walks
and budgets find: runs end with the same bits however the graph is cut, stored
and served, learn, and are predicted from."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from exactness_test import TROUBLE, write_typed_set
from runs import SMALL, merged, partitioned, small_rmat
from support import graphmill, imported, np, program
from times_test import LINKS, write_events

SEED = 40
DEFINITION = merged(SMALL, {"train": {"seed_order": "global"}})
SAMPLERS = {
    "induced": {"subgraph": "induced"},
    "bidirectional": {"subgraph": "bidirectional"},
    "pinsage": {"method": "pinsage", "walks": 9, "walk_length": 3,
                "restart": 0.25},
    "hgt": {"method": "hgt", "fanouts": [60, 50]},
    "saint": {"method": "saint", "fanouts": ["all", "all"], "walk_length": 3},
}


def of(sampler, *more):
    return merged(DEFINITION, {"sampler": {**DEFINITION["sampler"],
                                           **sampler}}, *more)


class Sampling(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "small")
        cls.parts = partitioned(cls.data, 4, "random")
        cls.typed = cls.top / "typed"
        imported("npy", write_typed_set(cls.top / "typed-source"), "--reverse",
                 "--out", cls.typed)
        cls.typed_parts = partitioned(cls.typed, 2, "random")

    # -- the same bits

    def test_parts_and_trouble_and_disk(self):
        typed = {"model": {"kind": "hetero_sage"}}
        for data, parts, model in ((self.data, self.parts, {}),
                                   (self.typed, self.typed_parts, typed)):
            seen = {self.digest(of({}, model), data)}
            for name, sampler in SAMPLERS.items():
                with self.subTest(name, typed=bool(model)):
                    whole = self.digest(of(sampler, model), data)
                    self.assertEqual(
                        self.digest(merged(of(sampler, model), TROUBLE), parts,
                                    "--storage", "disk"), whole)
                    self.assertNotIn(whole, seen)
                    seen.add(whole)

    def test_several_trainers_and_weights(self):
        data = small_rmat(self.top / "weighted", weights="true")
        parts = partitioned(data, 3, "random")
        for name, sampler in SAMPLERS.items():
            with self.subTest(name):
                two = of(sampler, {"trainer": {"replicas": 2}})
                self.assertEqual(self.digest(two, parts),
                                 self.digest(two, data))

    def test_links_hear_of_their_past(self):
        source = write_events(self.top / "events", np.random.default_rng(SEED))
        data = self.top / "links"
        imported(*source, "--ignore", "kind", "--out", data)
        parts = partitioned(data, 3, "random")
        shared = merged(LINKS, {"sampler": {"disjoint": False},
                                "train": {"shuffle": False, "epochs": 1}})
        for name, sampler in SAMPLERS.items():
            with self.subTest(name):
                definition = merged(shared, {"sampler": sampler})
                self.assertEqual(self.digest(definition, parts),
                                 self.digest(definition, data))

    def test_a_cluster(self):
        with Cluster(self.top / "cluster",
                     partitioned(self.data, 2, "random"), ["0", "1"]) as made:
            for name, sampler in SAMPLERS.items():
                whole = self.digest(of(sampler), self.data)
                for more in ({}, {"placement": {"trainers": ["d0"],
                                                "samplers": ["d1"]}}):
                    with self.subTest(name, more=more):
                        told = made.run(self.write(
                            of(sampler, more), self.data,
                            f"-{name}{len(more)}"))
                        self.assertEqual(told["digest"], whole, made.logs())

    # -- what is learnt, and afterwards

    def test_runs_are_evaluated_and_predicted_from(self):
        for name, sampler in SAMPLERS.items():
            with self.subTest(name):
                summary = self.train(of(sampler, {"train": {"epochs": 15}}),
                                     self.data)
                found = summary["test"]["accuracy"]
                print(f"  {name}: {found:.3f}")
                self.assertGreater(found, 0.35)  # Of four classes.
                told = self.ask("evaluate", summary["run"], "--split", "test",
                                "--quiet")
                self.assertEqual(told["accuracy"], found)
                out = self.top / f"{name}.npy"
                self.ask("predict", summary["run"], "--out", out, "--quiet")
                about = json.loads((self.data / "dataset.json").read_text())
                self.assertEqual(len(np.load(out)),
                                 about["node_types"][0]["count"])

    def test_visits_are_no_neighbours_of_all_nodes(self):
        run = self.train(of(SAMPLERS["pinsage"]), self.data)["run"]
        done = graphmill("predict", run, "--all", "--out", self.top / "all.npy")
        self.assertEqual(done.returncode, 1)
        self.assertIn("learns from visited nodes", done.stderr)

    def test_plans_bound_them(self):
        plain = self.ask("plan", self.write(of({}), self.data), "--data",
                         self.data)
        for name, sampler in SAMPLERS.items():
            with self.subTest(name):
                told = self.ask("plan", self.write(of(sampler), self.data),
                                "--data", self.data)
                self.assertGreater(told["train"]["nodes"], 33)
                self.assertNotEqual(told["train"], plain["train"])
        labor = self.ask("plan", self.write(of({"method": "labor"}), self.data),
                         "--data", self.data)

        def lists(plan):
            return plan["memory"].get("lists that are read whole", 0)
        longest = np.diff(np.load(
            next(self.data.glob("edges/*/indptr.npy")))).max()
        self.assertEqual(lists(labor), 24 * longest)
        self.assertEqual(lists(plain), 0)


if __name__ == "__main__":
    program()
    unittest.main()

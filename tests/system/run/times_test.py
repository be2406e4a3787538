"""Sampling by time: a planted lag that only the past tells, leaks that are not
there, the same weights for any parts, daemons and kills, and ratings in order."""

import json
import pathlib
import random
import signal
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from runs import Running, merged, partitioned
from support import graphmill, imported, np, program

DATA = pathlib.Path(__file__).resolve().parents[4] / "shared/data"
SEED = 40
USERS, ITEMS, EVENTS = 200, 60, 4000

LAG = {
    "seed": 3,
    "task": "edge_class",
    "sampler": {"fanouts": [1], "time": "strict", "latest": True,
                "disjoint": True},
    "model": {"kind": "hetero_sage", "hidden": 16, "dropout": 0},
    "decoder": {"kind": "mlp"},
    "optimizer": {"learning_rate": 0.02},
    "train": {"batch_size": 256, "epochs": 12, "seed_order": "global"},
    "evaluate": {"batch_size": 256, "visible": "past"},
}

LINKS = merged(LAG, {
    "task": "link",
    "sampler": {"fanouts": [4, 3], "latest": False},
    "train": {"epochs": 2},
    "evaluate": {"negatives": 10, "metric": "mrr"},
    "decoder": {"kind": "dot"},
    "negatives": {"count": 2, "corrupt": "both"},
})


def write_table(path, header, columns):
    lines = zip(*[map(str, column) for column in columns])
    path.write_text(",".join(header) + "\n"
                    + "".join(",".join(line) + "\n" for line in lines))


def write_events(folder, rng):
    """Users, one of two sides each, buy items. An event is of class `before` if
    the user who bought the item last was of the first side."""
    folder.mkdir()
    side = rng.integers(0, 2, USERS)
    write_table(folder / "user.csv", ["id", "side"], [range(USERS), side])
    write_table(folder / "item.csv", ["id", "noise"],
                [range(ITEMS), rng.normal(0, 1, ITEMS).round(4)])
    user = rng.integers(0, USERS, EVENTS)
    item = rng.integers(0, ITEMS, EVENTS)
    last, kind = {}, []
    for u, i in zip(user, item):
        kind.append("before" if last.get(i, 0) == 1 else "other")
        last[i] = side[u]
    order = rng.permutation(EVENTS)  # Files need not be in order.
    write_table(folder / "buys.csv", ["user_id", "item_id", "kind", "when"],
                [column[order] for column in
                 (user, item, np.array(kind), np.arange(EVENTS))])
    return ["csv", "--nodes", f"user={folder / 'user.csv'}",
            "--nodes", f"item={folder / 'item.csv'}",
            "--edges", f"user__buys__item={folder / 'buys.csv'}", "--reverse",
            "--edge-time", "when", "--time-unit", "step",
            "--split-edges", "0.7,0.15,0.15", "--by", "time"]


class Times(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(f"seed {SEED}")
        source = write_events(cls.top / "events", np.random.default_rng(SEED))
        cls.data = cls.top / "lag"
        imported(*source, "--task-kind", "edge_class", "--task-label", "kind",
                 "--out", cls.data)
        cls.links = cls.top / "links"
        imported(*source, "--ignore", "kind", "--out", cls.links)

    def test_the_past_tells_the_class(self):
        strict = self.train(LAG, self.data)
        self.assertGreater(strict["test"]["accuracy"], 0.95)
        blind = self.train(merged(LAG, {
            "sampler": {"time": "ignore", "latest": False, "disjoint": False},
            "evaluate": {"visible": "training"}}), self.data)
        self.assertLess(blind["test"]["accuracy"], 0.7)

    def test_rows_of_a_step_share_the_past_of_the_earliest(self):
        """With steps of a row each, sharing is no loss."""
        shared = merged(LAG, {"sampler": {"disjoint": False},
                              "train": {"shuffle": False, "batch_size": 8,
                                        "epochs": 3},
                              "evaluate": {"batch_size": 1}})
        self.assertGreater(self.train(shared, self.data)["test"]["accuracy"],
                           0.9)

    def test_edges_of_a_split_have_their_own_times(self):
        """What is predicted of them has the accuracy that is measured."""
        parts = partitioned(self.data, 3, "random")
        shared = {"sampler": {"disjoint": False}, "train": {"shuffle": False},
                  "evaluate": {"batch_size": 16}}
        for change in {}, shared:
            run = self.train(merged(LAG, {"train": {"epochs": 3}}, change),
                             self.data)["run"]
            for split, stem in ("validation", "val"), ("test", "test"):
                with self.subTest(change, split=split):
                    task = self.data / "tasks/edge_class"
                    edges = np.load(task / f"{stem}.edges.npy")
                    labels = np.load(task / f"{stem}.labels.npy")
                    rows = []
                    for more in (), ("--data", parts):
                        out = self.top / "rows.csv"
                        self.ask("predict", run, "--split", split, "--out",
                                 out, "--quiet", *more)
                        rows.append(out.read_bytes())
                    self.assertEqual(rows[0], rows[1])
                    found = np.loadtxt(out, delimiter=",", skiprows=1,
                                       usecols=(0, 1, 2), dtype=int)
                    np.testing.assert_array_equal(found[:, :2], edges)
                    told = self.ask("evaluate", run, "--split", split,
                                    "--quiet")
                    self.assertEqual(told["accuracy"],
                                     (found[:, 2] == labels).sum()
                                     / len(labels))

    def test_parts_and_daemons_change_nothing(self):
        shared = {"sampler": {"disjoint": False}, "train": {"shuffle": False}}
        cut = partitioned(self.links, 4, "random")
        for change in ({}, shared, {"sampler": {"time": "inclusive",
                                                "window": 900},
                                    "evaluate": {"visible": "training"}}):
            with self.subTest(change):
                definition = merged(LINKS, change)
                whole = self.train(definition, self.links)
                told = self.train(definition, cut)
                self.assertEqual(told["digest"], whole["digest"])
                self.assertEqual(told["test"], whole["test"])
        # The last step of a test has one row, and so none for a trainer.
        two = merged(LINKS, {"trainer": {"replicas": 2},
                             "evaluate": {"batch_size": 599}})
        expected = self.train(two, self.links)
        with Cluster(self.top / "cluster", cut, ["0,1", "2,3", "none"]) as made:
            for placement in ({}, {"trainers": ["d1", "d2"],
                                   "samplers": ["d0"]}):
                with self.subTest(placement):
                    told = made.run(self.write(
                        merged(two, {"placement": placement}), cut))
                    self.assertEqual(told["digest"], expected["digest"])
                    self.assertEqual(told["test"], expected["test"])

    def test_no_row_takes_edges_from_the_trees_of_others(self):
        """Strictly before a row, there is nothing to exclude."""
        told = [self.train(merged(LINKS, {"train": {"exclude": exclude}}),
                           self.links)["digest"] for exclude in ("pair", "none")]
        self.assertEqual(*told)

    def test_who_would_hear_of_nothing_is_refused(self):
        source = write_events(self.top / "other", np.random.default_rng(SEED))
        untidy, seconds = self.top / "untidy", self.top / "seconds"
        imported(*source[:-2], "--ignore", "kind", "--out", untidy)
        imported(*["s" if word == "step" else word for word in source],
                 "--ignore", "kind", "--out", seconds)
        shared = {"sampler": {"disjoint": False}, "train": {"shuffle": False}}
        done = graphmill("train", self.write(merged(LINKS, shared), untidy),
                         "--data", untidy)
        self.assertIn("are not in the order of time", done.stderr)
        run = self.train(merged(LINKS, {"sampler": {"window": 900},
                                        "train": {"epochs": 1}}),
                         self.links)["run"]
        pairs = self.top / "pairs.csv"
        pairs.write_text("source,destination\n0,0\n")
        out = self.top / "refused.csv"
        done = graphmill("predict", run, "--pairs", pairs, "--out", out)
        self.assertIn("pairs that are named have no time", done.stderr)
        done = graphmill("evaluate", run, "--data", seconds)
        self.assertIn("counts seconds in it, where it was steps", done.stderr)

    def test_kills_change_nothing(self):
        slow = merged(LINKS, {"faults": {"trainer_delay_ms": 40},
                              "checkpoint": {"every_steps": 2}})
        expected = self.train(LINKS, self.links)
        draws = random.Random(SEED)
        self.runs = self.top / "killed"
        with Running(self.arguments(slow, self.links)) as run:
            run.await_phases(draws.randrange(1, 3))
            run.signal(signal.SIGKILL)
            run.end()
        done = graphmill("resume", run.folder(), "--quiet", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["digest"],
                         expected["digest"])

    def test_times_are_not_ignored_without_a_word(self):
        for change, said in (
                ({"sampler": {"time": "none", "latest": False,
                              "disjoint": False},
                  "evaluate": {"visible": "training"}}, "have times: say"),
                ({"sampler": {"disjoint": False}}, "train.shuffle: false")):
            done = graphmill("train", self.write(merged(LAG, change), self.data),
                             "--data", self.data)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)

    def test_next_ratings(self):
        """Ratings of Bitcoin OTC in order: their values, and future links."""
        source = DATA / "bitcoin_otc"
        if not source.is_dir():
            self.skipTest("no Bitcoin OTC in shared/data")
        ratings = ["csv", "--edges", source / "ratings.csv", "--source", "from",
                   "--destination", "to", "--edge-time", "time", "--reverse",
                   "--split-edges", "0.7,0.15,0.15", "--by", "time"]
        valued, linked = self.top / "valued", self.top / "linked"
        imported(*ratings, "--task-kind", "edge_value", "--task-label",
                 "feature", "--out", valued)
        imported(*ratings, "--ignore", "feature", "--out", linked)
        about = json.loads((valued / "dataset.json").read_text())
        self.assertEqual(about["format_version"], 7)
        told = json.loads(graphmill("inspect", valued, "--json").stdout)
        self.assertEqual(told["broken"], [])
        small = merged(LINKS, {"model": {"kind": "hetero_sage"},
                               "train": {"epochs": 1, "batch_size": 1024},
                               "evaluate": {"batch_size": 512}})
        self.assertIn("mrr", self.train(small, linked)["test"])
        values = merged(small, {"task": "edge_value", "decoder": {"kind": "mlp"},
                                "negatives": {"count": 1,
                                              "corrupt": "destination"},
                                "evaluate": {"negatives": 100,
                                             "metric": "mse"}})
        self.assertIn("rmse", self.train(values, valued)["test"])


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

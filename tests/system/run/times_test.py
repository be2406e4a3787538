"""Sampling by time: a planted lag that only the past tells, leaks that are not
there, the same weights for any parts, daemons and kills, and ratings in order."""

import json
import pathlib
import random
import re
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


def write_events(folder, rng, others_since=EVENTS):
    """Users, one of two sides each, buy items. An event is of class `before` if
    the user who bought the item last was of the first side.
    @param others_since From this time on, others buy other items."""
    folder.mkdir()
    side = rng.integers(0, 2, USERS)
    write_table(folder / "user.csv", ["id", "side"], [range(USERS), side])
    write_table(folder / "item.csv", ["id", "noise"],
                [range(ITEMS), rng.normal(0, 1, ITEMS).round(4)])
    user = rng.integers(0, USERS, EVENTS)
    item = rng.integers(0, ITEMS, EVENTS)
    user[others_since:] = (user[others_since:] + 7) % USERS
    item[others_since:] = (item[others_since:] + 11) % ITEMS
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
        for kind in "hetero_sage", "rgcn", "rgat", "hgt":
            with self.subTest(kind):
                own = merged(LAG, {"model": {"kind": kind}})
                strict = self.train(own, self.data)["test"]["accuracy"]
                blind = self.train(merged(own, {
                    "sampler": {"time": "ignore", "latest": False,
                                "disjoint": False},
                    "evaluate": {"visible": "training"}}),
                    self.data)["test"]["accuracy"]
                print(f"  {kind}: {strict:.3f}, without times {blind:.3f}")
                self.assertGreater(strict, 0.95)
                self.assertLess(blind, 0.7)

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

    def scores_of(self, run, split, *more):
        """Of the edges of a split, by the time of each, and the whole table."""
        out = self.top / "scores.csv"
        self.ask("predict", run, "--split", split, "--out", out, "--quiet",
                 *more)
        lines = rows_of(out)
        stem = {"validation": "val", "test": "test"}[split]
        times = np.load(self.links / f"tasks/link/{stem}.times.npy")
        self.assertEqual([(line["row"], line["time"]) for line in lines],
                         [(str(i), str(int(time)))
                          for i, time in enumerate(times)])
        return times, [float(line["score"]) for line in lines], out.read_bytes()

    def changed(self, run, name, field, value):
        """A copy of a run whose definition has another value of a field of
        `evaluate`."""
        copy = self.top / f"{self.own_name}-{name}"
        shutil.copytree(run, copy)
        path = copy / "definition.yaml"
        text, count = re.subn(rf"(?ms)^(evaluate:.*?^  {field}:) [^\n]*",
                              rf"\1 {value}", path.read_text())
        self.assertEqual(count, 1)
        path.write_text(text)
        return copy

    def test_scores_depend_neither_on_negatives_nor_on_the_future(self):
        run = self.train(merged(LINKS, {"train": {"epochs": 1},
                                        "evaluate": {"negatives": 20}}),
                         self.links)["run"]
        for split in "validation", "test":
            told = {self.scores_of(self.changed(run, f"{split}-{negatives}",
                                                "negatives", negatives),
                                   split)[2] for negatives in (20, 5)}
            self.assertEqual(len(told), 1)
        since = EVENTS - 300  # The test begins at EVENTS - 600.
        other = self.top / "other-future"
        imported(*write_events(self.top / "other-events",
                               np.random.default_rng(SEED), since),
                 "--ignore", "kind", "--out", other)
        times, scores, _ = self.scores_of(run, "test")
        _, others, _ = self.scores_of(run, "test", "--data", other)
        before = times < since
        self.assertEqual(before.sum(), 300)
        np.testing.assert_allclose(np.array(scores)[before],
                                   np.array(others)[before], rtol=1e-4,
                                   atol=1e-5)
        self.assertGreater(np.abs(np.subtract(scores, others)).max(), 1e-2)

    def test_links_that_are_searched_for_come_after_all_edges(self):
        run = self.train(merged(LINKS, {"train": {"epochs": 1}}),
                         self.links)["run"]
        told = []
        for visible in "past", "training":
            copy = self.changed(run, visible, "visible", visible)
            out, pairs = self.top / "top.csv", self.top / "pairs.csv"
            self.ask("predict", copy, "--top", "3", "--out", out, "--quiet")
            lines = rows_of(out)
            self.assertEqual(len(lines), 3 * USERS)
            write_table(pairs, ["source", "destination"],
                        [[line["source"] for line in lines],
                         [line["destination"] for line in lines]])
            self.ask("predict", copy, "--pairs", pairs, "--neighbours", "all",
                     "--out", out, "--quiet")
            scores = [float(line["score"]) for line in rows_of(out)]
            np.testing.assert_allclose([float(line["score"]) for line in lines],
                                       scores, rtol=1e-4, atol=1e-5)
            told.append(scores)
        self.assertNotEqual(*told)
        out = ("--out", self.top / "none.csv")
        for change, said in (({"window": 900}, "pairs that are named"),
                             ({"latest": True}, "`sampler.latest` the last")):
            run = self.train(merged(LINKS, {"train": {"epochs": 1},
                                            "sampler": change}),
                             self.links)["run"]
            done = graphmill("predict", run, "--top", "3", *out)
            self.assertIn(said, done.stderr)

    def test_edges_take_the_threshold(self):
        """Of the run, of the command, or none, as nodes do."""
        summary = self.train(merged(LAG, {
            "train": {"epochs": 3},
            "evaluate": {"threshold": "recall_at_fpr@0.3:before"}}), self.data)
        run, tuned = summary["run"], summary["threshold"]
        names = json.loads((self.data / "dataset.json").read_text())[
            "tasks"][0]["class_names"]
        pairs = self.top / "few.csv"
        write_table(pairs, ["source", "destination"], [[3, 5, 7], [1, 2, 4]])
        for rows in ("--split", "test"), ("--pairs", pairs):
            for more, threshold in (
                    ((), tuned), (("--threshold", "none"), None),
                    (("--threshold", "0.9:other"), "0.9:other")):
                with self.subTest(rows=rows, more=more):
                    out = self.top / "classes.csv"
                    told = self.ask("predict", run, *rows, "--probabilities",
                                    "--logits", "--out", out, "--quiet", *more)
                    self.assertEqual(told["threshold"], threshold)
                    lines = rows_of(out)
                    odds = [float(line["logit_1"]) - float(line["logit_0"])
                            for line in lines]
                    np.testing.assert_allclose(
                        [float(line["probability_1"]) for line in lines],
                        1 / (1 + np.exp(-np.array(odds))), atol=1e-5)
                    least, name = (threshold or "0.5:other").split(":")
                    own = names.index(name)
                    likely = np.array([float(line[f"probability_{own}"])
                                       for line in lines])
                    clear = np.abs(likely - float(least)) > 1e-6
                    want = np.where(likely >= float(least), own, 1 - own)
                    np.testing.assert_array_equal(
                        np.array([int(line["class"]) for line in lines])[clear],
                        want[clear])
                    self.assertEqual([line["class_name"] for line in lines],
                                     [names[int(line["class"])]
                                      for line in lines])
        done = graphmill("predict", run, "--split", "test", "--out", out)
        self.assertIn("edges are predicted as before from probability",
                      done.stdout)

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
        shared["evaluate"] = {"visible": "training"}
        done = graphmill("train", self.write(merged(LINKS, shared), untidy),
                         "--data", untidy)
        self.assertIn("are not in the order of time", done.stderr)
        run = self.train(merged(LINKS, {"train": {"epochs": 1}}),
                         self.links)["run"]
        before = list(self.runs.iterdir())
        for command in (("validate", self.write(LINKS, untidy)),
                        ("train", self.write(LINKS, untidy), "--runs",
                         self.runs)):
            done = graphmill(*command, "--data", untidy)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("trains on tasks that are split by time", done.stderr)
        done = graphmill("evaluate", run, "--data", untidy, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("older than the last training row", done.stderr)
        told = json.loads(done.stdout)
        self.assertGreater(told["rows_before_training"], 0)
        self.assertLessEqual(told["rows_before_training"], told["seeds"])
        self.assertEqual(list(self.runs.iterdir()), before)
        run = self.train(merged(LINKS, {"sampler": {"window": 900},
                                        "train": {"epochs": 1}}),
                         self.links)["run"]
        pairs = self.top / "pairs.csv"
        pairs.write_text("source,destination\n0,0\n")
        out = self.top / "refused.csv"
        done = graphmill("predict", run, "--pairs", pairs, "--out", out)
        self.assertIn("pairs that are named have no time", done.stderr)
        done = graphmill("evaluate", run, "--data", seconds)
        self.assertIn("counts seconds here and steps there", done.stderr)

    def test_kills_change_nothing(self):
        self.check_killed(LINKS, self.links, random.Random(SEED).randrange(1, 3))

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

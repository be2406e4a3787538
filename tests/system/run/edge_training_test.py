"""Training on links and edges: planted graphs of which the answer is known, and
the same weights for any parts, orders of parts, and kills."""

import pathlib
import random
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from imports import write_table
from runs import merged, partitioned
from support import graphmill, imported, np, program

SEED = 38
NODES, GROUPS, DEGREE = 600, 6, 12

LINKS = {
    "seed": 5,
    "task": "link",
    "sampler": {"fanouts": [6, 4]},
    "model": {"kind": "sage", "hidden": 16, "dropout": 0},
    "optimizer": {"learning_rate": 0.01},
    "train": {"batch_size": 256, "epochs": 12, "seed_order": "global"},
    "evaluate": {"batch_size": 200, "negatives": 20, "every": 4,
                 "metric": "mrr", "scores": True},
}


def planted_links(folder, bound, rng):
    """Undirected pairs of nodes, within groups if `bound`, else by chance, and
    features that tell the group with some noise."""
    group = rng.integers(0, GROUPS, NODES)
    pairs = set()
    while len(pairs) < NODES * DEGREE // 2:
        a, b = rng.integers(0, NODES, 2)
        if a != b and (not bound or group[a] == group[b]):
            pairs.add((min(a, b), max(a, b)))
    pairs = sorted(pairs)
    rng.shuffle(pairs)
    noisy = np.eye(GROUPS)[group] + rng.normal(0, 0.3, (NODES, GROUPS))
    folder.mkdir()
    names = [f"x{i}" for i in range(GROUPS)]
    write_table(folder / "nodes.csv", ["id", *names],
                [range(NODES), *noisy.T.round(4)])
    write_table(folder / "edges.csv", ["source", "target"],
                [[a for a, _ in pairs], [b for _, b in pairs]])
    return ["csv", "--edges", folder / "edges.csv", "--undirected",
            "--nodes", folder / "nodes.csv",
            "--split-edges", "0.8,0.1,0.1"]


def planted_edges(folder, rng):
    """Users who rate items. Each has a side that its features tell, and an edge
    is `like` if the sides agree; its stars are a product of features."""
    users, items, edges = 300, 200, 4000
    sides = rng.integers(0, 2, users) * 2 - 1, rng.integers(0, 2, items) * 2 - 1
    folder.mkdir()
    for name, side in zip(("user", "item"), sides):
        write_table(folder / f"{name}.csv", ["id", "side", "noise"],
                    [range(len(side)), side,
                     rng.normal(0, 1, len(side)).round(4)])
    pairs = rng.choice(users * items, edges, replace=False)
    user, item = pairs // items, pairs % items
    agree = sides[0][user] * sides[1][item]
    write_table(folder / "rates.csv", ["user_id", "item_id", "kind", "stars"],
                [user, item, np.where(agree > 0, "like", "hate"),
                 (2.5 * agree + 0.5).round(2)])
    return lambda kind, label, other: [
        "csv", "--nodes", f"user={folder / 'user.csv'}",
        "--nodes", f"item={folder / 'item.csv'}",
        "--edges", f"user__rates__item={folder / 'rates.csv'}",
        "--reverse",
        "--task-kind", kind, "--task-name", "rating", "--task-label", label,
        "--ignore", f"rates={other}",
        "--split-edges", "0.7,0.1,0.2"]


class EdgeTraining(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(f"seed {SEED}")
        rng = np.random.default_rng(SEED)
        cls.data = cls.top / "groups-data"
        imported(*planted_links(cls.top / "groups", True, rng),
                 "--out", cls.data)
        cls.chance = cls.top / "chance-data"
        imported(*planted_links(cls.top / "chance", False, rng),
                 "--out", cls.chance)
        cls.rated = staticmethod(planted_edges(cls.top / "rated", rng))

    def test_groups_are_found(self):
        summary = self.train(LINKS, self.data)
        self.assertGreater(summary["test"]["roc_auc"], 0.85)
        self.assertGreater(summary["test"]["mrr"], 0.35)

    def test_chance_stays_chance(self):
        """Pairs that nothing tells from others. A held-out edge that carries a
        message, or a target that sees itself, would lift this."""
        for kind in ("sage", "gcn", "gat"):
            with self.subTest(kind):
                summary = self.train(
                    merged(LINKS, {"model": {"kind": kind}}), self.chance)
                self.assertAlmostEqual(summary["test"]["roc_auc"], 0.5, delta=0.1)

    def test_parts_change_nothing(self):
        whole = self.train(LINKS, self.data)
        for parts in (1, 3):
            cut = partitioned(self.data, parts, "random")
            self.assertEqual(self.train(LINKS, cut)["digest"],
                             whole["digest"], parts)
        for change in ({"sampler": {"replicas": 3, "threads": 2}},
                       {"trainer": {"threads": 3}},
                       {"budget": {"batches": 1}},
                       {"faults": {"reply_delay_ms": 5}}):
            with self.subTest(change):
                self.assertEqual(
                    self.train(merged(LINKS, change), self.data)["digest"],
                    whole["digest"])

    def test_wrong_pairs_are_the_same_in_parts(self):
        definition = merged(LINKS, {"negatives": {"count": 2, "corrupt": "pair"},
                                    "train": {"epochs": 4}})
        whole = self.train(definition, self.data)
        told = self.train(definition, partitioned(self.data, 3, "random"))
        self.assertEqual(told["digest"], whole["digest"])
        self.assertEqual(told["test"], whole["test"])

    def test_wrong_pairs_are_no_edges_of_any_kind(self):
        """All pairs are edges, most of them in no split: none is left that is
        wrong, so that nothing can be ranked."""
        rng = np.random.default_rng(SEED)
        pairs = [(a, b) for a in range(40) for b in range(a)]
        folder = self.top / "complete"
        folder.mkdir()
        splits = rng.choice(["train", "val", "test", ""], len(pairs),
                            p=[0.2, 0.1, 0.1, 0.6])
        write_table(folder / "edges.csv", ["source", "target", "part"],
                    [*zip(*pairs), splits])
        data = self.top / "complete-data"
        imported("csv", "--edges", folder / "edges.csv", "--undirected",
                 "--task-split", "part", "--out", data)
        definition = merged(LINKS, {
            "model": {"kind": "lightgcn"}, "sampler": {"fanouts": [-1, -1]},
            "negatives": {"corrupt": "pair"}, "train": {"epochs": 1},
            "evaluate": {"scores": False}})
        for graph in (data, partitioned(data, 3, "random")):
            done = graphmill("train", self.write(definition, graph), "--data",
                             graph, "--runs", self.top / "runs")
            self.assertEqual(done.returncode, 1)
            self.assertIn("has a negative: all pairs of nodes are known links",
                          done.stderr)

    def test_areas_are_of_negatives_that_are_drawn(self):
        def check_refused(*command):
            done = graphmill(*command, "--data", self.data)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("make it a smaller number", done.stderr)
        for negatives in ("all", NODES):
            check_refused("train", self.write(merged(
                LINKS, {"evaluate": {"negatives": negatives}}), self.data))
        run = self.train(merged(LINKS, {
            "train": {"epochs": 1},
            "evaluate": {"negatives": "all", "scores": False}}),
            self.data)["run"]
        check_refused("evaluate", run, "--scores")

    def test_lightgcn_learns_vectors_alone(self):
        bare = self.top / "bare"
        imported("csv", "--edges", self.top / "groups/edges.csv",
                 "--undirected", "--split-edges", "0.8,0.1,0.1",
                 "--out", bare)
        definition = merged(LINKS, {
            "model": {"kind": "lightgcn"}, "sampler": {"fanouts": [-1, -1]},
            "train": {"link_loss": "bpr"}})
        whole = self.train(definition, bare)
        self.assertGreater(whole["test"]["roc_auc"], 0.75)
        cut = partitioned(bare, 3, "random")
        self.assertEqual(self.train(definition, cut)["digest"],
                         whole["digest"])

    def test_kills_change_nothing(self):
        self.check_killed(LINKS, self.data, random.Random(SEED).randrange(1, 4))

    def test_lost_daemons_change_nothing(self):
        """Two trainers on daemons have the weights of two in one process, with
        the whole graph. One of the daemons is killed: one without data, then
        one that serves a part."""
        parts = partitioned(self.data, 2, "random")
        definition = merged(LINKS, {
            "train": {"epochs": 4}, "checkpoint": {"every_steps": 2},
            "trainer": {"replicas": 2},
            "placement": {"trainers": ["d1", "d2"]}})
        expected = self.train(definition, self.data)["digest"]
        with Cluster(self.top / "cluster", parts, ["0", "1", "none"]) as made:
            self.assertEqual(made.run(self.write(definition, parts))["digest"],
                             expected)
            slow = merged(definition, {"faults": {"trainer_delay_ms": 100}})
            for name, share in (("d2", "none"), ("d1", "1")):
                run = made.ask("submit",
                               self.write(slow, parts, f"-{name}"))["run"]
                kept = made.folder / "runs" / run / "checkpoints"
                made.wait_until(lambda: kept.is_dir() and any(kept.iterdir()),
                                "checkpoint")
                next(one for one in reversed(made.daemons)
                     if one.name == name).kill()
                made.add(share, name=name)
                self.assertEqual(made.ask("watch", run, "--quiet")["digest"],
                                 expected, made.logs())

    def test_evaluations_are_repeatable(self):
        """The ranks of two trainers' tests are those of one, with its weights."""
        one = self.train(LINKS, self.data)
        told = [self.ask("evaluate", one["run"], "--data", self.data,
                         "--split", "test") for _ in range(2)]
        with Cluster(self.top / "evaluating",
                     partitioned(self.data, 2, "random"), ["0", "1"]) as made:
            told.append(made.ask("submit", "--evaluate", one["run"], "--watch",
                                 "--quiet")["evaluation"])
        for key in ("mrr", "hits@10", "mean_rank", "roc_auc"):
            self.assertEqual(told[0][key], one["test"][key])
            for other in told[1:]:
                self.assertEqual(told[0][key], other[key])

    def test_all_nodes_are_ranked(self):
        """The same metrics in parts, on a cluster, and for any batches; and as
        NumPy has them, of scores that `predict` gives."""
        definition = merged(LINKS, {
            "negatives": {"corrupt": "both"},
            "train": {"epochs": 4, "patience": 3},
            "evaluate": {"neighbours": "all", "negatives": "all",
                         "metric": "recall@10", "scores": False}})
        whole = self.train(definition, self.data)
        self.assertEqual(whole["metric"], "recall@10")
        parts = partitioned(self.data, 2, "random")
        self.assertEqual(self.train(definition, parts)["test"], whole["test"])
        with Cluster(self.top / "ranking", parts, ["0", "1"]) as made:
            self.assertEqual(made.run(self.write(definition, parts))["test"],
                             whole["test"])
        keys = ("mrr", "mean_rank", "tied", "recall@10", "recall@20",
                "ndcg@20", "source", "destination")
        for size in ("all", 37):
            other = merged(definition, {"evaluate": {"batch_size": size}})
            told = self.train(other, self.data)
            for key in keys:
                self.assertEqual(told["test"][key], whole["test"][key], key)
        self.check_with_numpy(whole)

    def check_with_numpy(self, summary):
        folder = self.data / "tasks/link"
        edges = {name: np.load(folder / f"{name}.edges.npy")
                 for name in ("train", "val", "test")}
        known = {pair for rows in edges.values() for s, d in rows
                 for pair in ((s, d), (d, s))}  # They are undirected.
        own = {}
        for s, d in edges["test"]:
            own.setdefault(s, set()).add(d)
        pairs = [(s, d) for s in own for d in range(NODES)]
        listed, out = self.top / "all-pairs.csv", self.top / "all-scores.csv"
        write_table(listed, ["source", "destination"], list(zip(*pairs)))
        self.ask("predict", summary["run"], "--pairs", listed, "--out", out,
                 "--neighbours", "all", "--quiet")
        found = np.loadtxt(out, delimiter=",", skiprows=1)[:, 2]
        scores = dict(zip(own, found.reshape(-1, NODES)))

        def rank(s, d, others, tie=0.5):
            among = scores[s][sorted(others - {d})]
            return (1 + np.sum(among > scores[s][d])
                    + np.sum(among == scores[s][d]) * tie)
        ranks, recall, gains = [], [], []

        def gain(rank):
            return 1 / np.log2(rank + 1)
        for s, ends in own.items():
            left = {d for d in range(NODES) if (s, d) not in known}
            ranks += [rank(s, d, left) for d in ends]
            within = np.array([rank(s, d, left | ends, 1) for d in ends])
            hits = within[within <= 20]
            recall.append(len(hits) / len(ends))
            gains.append(np.sum(gain(hits))
                         / np.sum(gain(np.arange(1, 1 + min(20, len(ends))))))
        test = summary["test"]
        self.assertGreater(test["recall@20"], 0.1)
        for told, value in ((test["destination"]["mrr"],
                             np.mean(1 / np.array(ranks))),
                            (test["recall@20"], np.mean(recall)),
                            (test["ndcg@20"], np.mean(gains))):
            self.assertAlmostEqual(told, value, delta=1e-4)

    def test_decoders_and_losses(self):
        cases = [{"decoder": {"kind": kind}} for kind in
                 ("cosine", "distmult", "complex", "bilinear", "mlp")]
        cases += [{"train": {"link_loss": loss}} for loss in
                  ("margin", "bpr", "softmax", "self_adversarial")]
        cases += [{"negatives": negatives} for negatives in
                  ({"kind": "joint", "count": 64},
                   {"count": 4, "corrupt": "both"},
                   {"count": 2, "corrupt": "pair"},
                   {"weight": "degree"})]
        for case in cases:
            with self.subTest(case):
                summary = self.train(merged(LINKS, case), self.data)
                self.assertGreater(summary["test"]["roc_auc"], 0.75)

    def test_edges_with_classes(self):
        data = self.top / "kinds"
        imported(*self.rated("edge_class", "kind", "stars"), "--out", data)
        definition = merged(LINKS, {
            "task": "rating", "model": {"kind": "hetero_sage"},
            "decoder": {"kind": "mlp"},
            "evaluate": {"metric": "f1:like", "negatives": 100}})
        summary = self.train(definition, data)
        self.assertGreater(summary["test_accuracy"], 0.95)
        self.check_predicted_classes(summary["run"])
        self.check_new_edges(summary["run"], data)

    def check_new_edges(self, run, data):
        """Tomorrow's edges have no column of labels, or some have none: all are
        predicted, and those with a label are measured."""
        folder = self.top / "rated"
        rows = [line.split(",") for line in
                (folder / "rates.csv").read_text().splitlines()[1:101]]
        for labels in (False, True):
            new, table, out = [self.top / f"new-{labels}{end}"
                               for end in ("", ".csv", "-out.csv")]
            kinds = [kind if i % 2 else "" for i, (*_, kind, _) in
                     enumerate(rows)]
            write_table(table, ["user_id", "item_id"] + ["kind"] * labels,
                        [[row[0] for row in rows], [row[1] for row in rows]]
                        + [kinds] * labels)
            told = imported(
                "csv", "--nodes", f"user={folder / 'user.csv'}",
                "--nodes", f"item={folder / 'item.csv'}",
                "--like", data,
                "--task-kind", "edge_class", "--task-name", "rating",
                "--task-test", f"user__rates__item={table}", *["--task-label", "kind"] * labels,
                "--out", new)
            (task,) = told["tasks"]
            self.assertEqual([task[key] for key in ("test", "unlabelled",
                                                    "class_names")],
                             [100, 50 if labels else 100, ["hate", "like"]])
            self.ask("predict", run, "--split", "test", "--data", new, "--out",
                     out, "--quiet")
            made = [line.split(",")
                    for line in out.read_text().splitlines()[1:]]
            self.assertEqual([line[:2] for line in made],
                             [row[:2] for row in rows])
            self.assertGreater(
                sum(line[3] == row[2] for line, row in zip(made, rows)), 90)
            if labels:
                measured = self.ask("evaluate", run, "--data", new, "--quiet")
                self.assertEqual(measured["seeds"], 50)
                self.assertEqual(
                    round(50 * measured["accuracy"]),
                    sum(line[3] == kind for line, kind in zip(made, kinds)))
            else:
                done = graphmill("evaluate", run, "--data", new)
                self.assertEqual(done.returncode, 1)
                self.assertIn("no edge of the test split has a label",
                              done.stderr)

    def test_a_test_split_without_labels_is_no_test(self):
        table = self.top / "untested.csv"
        write_table(table, ["source", "target", "kind", "part"],
                    [[i % 50 for i in range(400)],
                     [(7 * i + 1) % 50 for i in range(400)],
                     [i % 2 if i % 4 else "" for i in range(400)],
                     ["train" if i % 4 else "test" for i in range(400)]])
        data = self.top / "untested"
        imported("csv", "--edges", table, "--task-kind", "edge_class",
                 "--task-label", "kind", "--task-split", "part", "--out", data)
        summary = self.train(merged(LINKS, {
            "task": "edge_class", "model": {"kind": "lookup"},
            "decoder": {"kind": "mlp"}, "train": {"epochs": 1},
            "evaluate": {"metric": "accuracy", "negatives": 100,
                         "scores": False}}), data)
        self.assertFalse(summary["test"])

    def check_predicted_classes(self, run):
        """Of listed edges, which need not be of the graph."""
        lines = (self.top / "rated/rates.csv").read_text().splitlines()[1:301]
        rows = [line.split(",") for line in lines]
        pairs = self.top / "pairs.csv"
        pairs.write_text("source,destination\n" + "".join(
            f"{user},{item}\n" for user, item, *_ in rows))
        out = self.top / "kinds.csv"
        told = self.ask("predict", run, "--pairs", pairs, "--out", out,
                        "--probabilities", "--quiet")
        self.assertEqual(told["edges"], 300)
        header, *made = [line.split(",")
                         for line in out.read_text().splitlines()]
        self.assertEqual(header, ["source", "destination", "class",
                                  "class_name", "probability_0",
                                  "probability_1"])
        right = 0
        for (user, item, kind, _), line in zip(rows, made, strict=True):
            self.assertEqual(line[:2], [user, item])
            self.assertAlmostEqual(float(line[4]) + float(line[5]), 1,
                                   delta=1e-5)
            right += kind == line[3]
        self.assertGreater(right, 285)

    def test_scores_of_listed_links(self):
        """The same in any order of the list, and higher within groups."""
        summary = self.train(LINKS, self.data)
        edges = [line.split(",") for line in (
            self.top / "groups/edges.csv").read_text().splitlines()[1:201]]
        rng = random.Random(SEED)
        others = [[a, str(rng.randrange(NODES))] for a, _ in edges]

        def scores(pairs, name):
            listed = self.top / f"{name}.csv"
            listed.write_text("destination,source\n" + "".join(
                f"{b},{a}\n" for a, b in pairs))
            out = self.top / f"{name}-scores.csv"
            self.ask("predict", summary["run"], "--pairs", listed, "--out",
                     out, "--neighbours", "all", "--quiet")
            return [float(line.split(",")[2])
                    for line in out.read_text().splitlines()[1:]]
        found = scores(edges, "edges")
        self.assertGreater(np.mean(found), np.mean(scores(others, "others")))
        np.testing.assert_allclose(scores(edges[::-1], "reversed")[::-1],
                                   found, rtol=1e-5, atol=1e-6)
        for text, words in (("source,to\n1,2\n", "`to`"),
                            ("source,destination\n1,9999\n", "9999"),
                            ("source,destination\n1,2,3\n", "3 fields"),
                            ("source,destination\n", "lists no edge")):
            bad = self.top / "bad.csv"
            bad.write_text(text)
            done = graphmill("predict", summary["run"], "--pairs", bad, "--out",
                             self.top / "bad-scores.csv")
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)

    def test_edges_with_numbers(self):
        data = self.top / "stars"
        imported(*self.rated("edge_value", "stars", "kind"), "--out", data)
        definition = merged(LINKS, {
            "task": "rating", "model": {"kind": "hetero_sage"},
            "decoder": {"kind": "mlp"}, "train": {"epochs": 40},
            "evaluate": {"metric": "mse", "scores": False, "negatives": 100}})
        summary = self.train(definition, data)
        self.assertLess(summary["test"]["mae"], 0.5)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

"""What runs that have learnt links give: the best links of nodes, embeddings and
scores. NumPy computes the same from weights and embeddings."""

import csv
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[3] / "examples"))
import runs
from imports import rows_of, write_table
from numpy_models import Folder
from runs import merged, partitioned
from support import ROOT, graphmill, imported, np, program

SEED = 138
USERS, ITEMS = 60, 45

DEFINITION = {
    "seed": 5,
    "task": "link",
    "sampler": {"fanouts": [5, 5]},
    "model": {"kind": "hetero_sage", "hidden": 12, "width": 8, "dropout": 0},
    "decoder": {"kind": "distmult"},
    "train": {"batch_size": 64, "epochs": 2},
    "evaluate": {"neighbours": "all", "batch_size": 64, "negatives": 5},
}


def write_shop(folder, rng):
    """Users who buy and view items; ids are words, some with a comma. Returns
    the options that import their edges."""
    folder.mkdir()
    users = [f"user {i}" for i in range(USERS)]
    items = [f"item, {i}" if i % 3 else f"item {i}" for i in range(ITEMS)]
    for name, ids in (("user", users), ("item", items)):
        write_table(folder / f"{name}.csv", ["id", "age", "size"],
                    [ids, *rng.normal(size=(2, len(ids))).round(4)])
    for name, count in (("buys", 500), ("views", 700)):
        pairs = rng.choice(USERS * ITEMS, count, replace=False)
        write_table(folder / f"{name}.csv", ["user_id", "item_id"],
                    [[users[p // ITEMS] for p in pairs],
                     [items[p % ITEMS] for p in pairs]])
    flags = ["--reverse", "--split-edges", "0.8,0.1,0.1"]
    for name in ("buys", "views"):
        flags += ["--edges", f"user__{name}__item={folder / name}.csv"]
    return flags


class LinkPredictions(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(f"seed {SEED}")
        rng = np.random.default_rng(SEED)
        flags = write_shop(cls.top / "shop-source", rng)
        cls.shop = cls.top / "shop"
        cls.plain = cls.top / "plain"
        nodes = [argument for name in ("user", "item") for argument in
                 ("--nodes", f"{name}={cls.top / 'shop-source' / name}.csv")]
        cls.told = imported("csv", *flags, *nodes, "--out", cls.shop)
        imported("csv", *flags, "--out", cls.plain)
        pairs = rng.integers(0, 80, (300, 2))
        write_table(cls.top / "friends.csv", ["source", "target"], pairs.T)
        cls.friends = cls.top / "friends"
        imported("csv", "--edges", cls.top / "friends.csv", "--undirected",
                 "--split-edges", "0.8,0.1,0.1", "--out", cls.friends)
        cls.trained = {}

    def run_of(self, data, change=None):
        """The folder of a run of these data."""
        key = json.dumps([str(data), change])
        if key not in self.trained:
            self.trained[key] = self.train(
                merged(DEFINITION, change or {}), data)["run"]
        return self.trained[key]

    def friends_run(self):
        return self.run_of(self.friends, {
            "model": {"kind": "gcn"}, "decoder": {"kind": "dot"}})

    def top_of(self, run, name, *more):
        """The lines of the best links, and what was told."""
        out = self.top / f"{name}.csv"
        told = self.ask("predict", run, "--out", out, "--quiet", *more)
        self.assertEqual(told["predictions"], str(out))
        lines = rows_of(out)
        self.assertEqual(told["links"], len(lines))
        return lines, told

    def embeddings_of(self, run, name, *more):
        told = self.ask("predict", run, "--all", "--out",
                        self.top / f"{name}.npy", "--quiet", *more)
        return {key.split(".")[1]: np.load(path).astype(float)
                for key, path in told.items() if key.startswith("embeddings.")}

    def fails(self, *arguments, code="invalid_argument", exit_code=1):
        """The sentence of a refusal, which leaves nothing behind."""
        before = sorted(self.top.iterdir())
        done = graphmill("predict", *arguments, "--json")
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        told = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(told["code"], code, told)
        self.assertEqual(sorted(self.top.iterdir()), before)
        return told["error"]

    def check_best(self, lines, scores, names, most, without, to_sources=False):
        """Lines must be the largest of the scores, [asked, found], in order.
        @param without Pairs that are left out."""
        scores = scores.copy()
        for pair in without:
            scores[pair] = -np.inf
        asked, found = names
        at = 0
        for node in range(len(scores)):
            order = np.argsort(-scores[node], kind="stable")[:most]
            order = order[np.isfinite(scores[node, order])]
            for rank, want in enumerate(order, start=1):
                line = lines[at]
                at += 1
                ends = line["source"], line["destination"]
                own, other = ends[::-1] if to_sources else ends
                self.assertEqual(own, asked[node])
                self.assertEqual(line["rank"], str(rank))
                place = found.index(other)
                score = float(line["score"])
                # Of nearly the same score, either may come first.
                for one in (scores[node, place], scores[node, want]):
                    self.assertAlmostEqual(score, one, delta=1e-4)
        self.assertEqual(at, len(lines))

    def test_links_of_several_edge_types(self):
        """By embeddings and weights, with ids, in both directions."""
        run = self.run_of(self.shop)
        dataset = Folder(self.shop)
        made = self.embeddings_of(run, "shop")
        self.assertEqual({name: rows.shape for name, rows in made.items()},
                         {"user": (USERS, 8), "item": (ITEMS, 8)})
        names = {name: list(dataset.ids(name)) for name in made}
        weights = runs.read_safetensors(
            pathlib.Path(run) / "weights.safetensors")
        vectors = weights["decoder.relation"].astype(float)
        task = dataset.info["tasks"][0]
        self.assertEqual(len(task["edge_types"]), 2)
        everything, told = self.top_of(run, "all", "--top", "6")
        self.assertEqual(told["nodes"], 2 * USERS)
        for at, full in enumerate(task["edge_types"]):
            scores = (made["user"] * vectors[at]) @ made["item"].T
            known = set(map(tuple, dataset.edges(full).T))
            lines = [line for line in everything if line["type"] == full]
            self.check_best(lines, scores, (names["user"], names["item"]), 6,
                            known)
            word = full.split("__")[1]
            alone, _ = self.top_of(run, word, "--top", "6", "--type", word)
            self.assertEqual(alone, lines)
            kept, _ = self.top_of(run, f"{word}-kept", "--top", ITEMS,
                                  "--type", full, "--known", "keep")
            self.check_best(kept, scores, (names["user"], names["item"]),
                            ITEMS, ())
            back, _ = self.top_of(run, f"{word}-back", "--top", "3", "--end",
                                  "source", "--type", word)
            self.check_best(back, scores.T, (names["item"], names["user"]), 3,
                            [pair[::-1] for pair in known], to_sources=True)

    def test_parts_and_threads_change_nothing(self):
        for data, run in ((self.shop, self.run_of(self.shop)),
                          (self.friends, self.friends_run())):
            parts = partitioned(data, 3, "random")
            outputs = []
            for name, more in (("whole", ()), ("parts", ("--data", parts)),
                               ("disk", ("--storage", "disk"))):
                self.top_of(run, name, "--top", "5", *more)
                made = self.embeddings_of(run, name, *more)
                outputs.append(((self.top / f"{name}.csv").read_bytes(),
                                {key: rows.tobytes()
                                 for key, rows in made.items()}))
            self.assertEqual(outputs[0], outputs[1])
            self.assertEqual(outputs[0], outputs[2])

    def test_links_within_a_type(self):
        """Numbers are the ids, and no node is linked with itself."""
        run = self.friends_run()
        dataset = Folder(self.friends)
        made = self.embeddings_of(run, "friends")["node"]
        names = list(dataset.ids("node"))
        scores = made @ made.T
        known = set(map(tuple, dataset.edges("node__to__node").T))
        known |= {(i, i) for i in range(len(names))}
        lines, _ = self.top_of(run, "friends", "--top", "9")
        self.check_best(lines, scores, (names, names), 9, known)
        lines, _ = self.top_of(run, "friends-kept", "--top", "9", "--known",
                               "keep")
        self.check_best(lines, scores, (names, names), 9, ())

    def test_scores_are_those_of_listed_pairs(self):
        run = self.run_of(self.shop)
        lines, _ = self.top_of(run, "best", "--top", "4")
        listed = self.top / "listed.csv"
        write_table(listed, ["source", "destination", "type"],
                    [[line[name] for line in lines]
                     for name in ("source", "destination", "type")])
        out = self.top / "scores.csv"
        self.ask("predict", run, "--pairs", listed, "--out", out,
                 "--neighbours", "all", "--quiet")
        np.testing.assert_allclose(
            [float(line["score"]) for line in rows_of(out)],
            [float(line["score"]) for line in lines], rtol=1e-4, atol=1e-5)

    def test_scores_of_a_split(self):
        """They are those of its edges as listed pairs; a score of sampled
        neighbours is the same in parts."""
        run = self.run_of(self.shop)
        out, listed = self.top / "split.csv", self.top / "split-listed.csv"
        told = self.ask("predict", run, "--split", "test", "--out", out,
                        "--quiet")
        self.assertEqual((told["edges"], told["split"]), (120, "test"))
        lines = rows_of(out)
        dataset = Folder(self.shop)
        task = self.shop / "tasks/link"
        names = [list(dataset.ids(name)) for name in ("user", "item")]
        kinds = dataset.info["tasks"][0]["edge_types"]
        self.assertEqual(
            [(line["source"], line["destination"], line["type"])
             for line in lines],
            [(names[0][u], names[1][i], kinds[kind]) for (u, i), kind in zip(
                np.load(task / "test.edges.npy"),
                np.load(task / "test.types.npy"), strict=True)])
        write_table(listed, ["source", "destination", "type"],
                    [[line[name] for line in lines]
                     for name in ("source", "destination", "type")])
        pairs = self.top / "split-pairs.csv"
        self.ask("predict", run, "--pairs", listed, "--out", pairs, "--quiet")
        np.testing.assert_allclose(
            [float(line["score"]) for line in lines],
            [float(line["score"]) for line in rows_of(pairs)], rtol=1e-4,
            atol=1e-5)
        sampled = []
        for more in (), ("--data", partitioned(self.shop, 3, "random")):
            self.ask("predict", run, "--split", "test", "--neighbours",
                     "sampled", "--out", out, "--quiet", *more)
            sampled.append(out.read_bytes())
        self.assertEqual(sampled[0], sampled[1])

    def test_listed_nodes(self):
        run = self.run_of(self.shop)
        whole, _ = self.top_of(run, "whole-list", "--top", "3", "--type",
                               "buys")
        listed = self.top / "users.txt"
        listed.write_text("user 7\nuser 50\nuser 7\n")
        lines, told = self.top_of(run, "few", "--top", "3", "--type", "buys",
                                  "--nodes", listed)
        self.assertEqual(told["nodes"], 3)
        want = [[line for line in whole if line["source"] == f"user {user}"]
                for user in (7, 50, 7)]
        self.assertEqual(lines, sum(want, []))
        np.save(self.top / "users.npy", np.array([7, 50, 7]))
        again, _ = self.top_of(run, "numbers", "--top", "3", "--type", "buys",
                               "--nodes", self.top / "users.npy",
                               "--nodes-by", "number")
        self.assertEqual(again, lines)

    def test_embeddings_as_tables(self):
        run = self.run_of(self.shop)
        made = self.embeddings_of(run, "arrays")
        told = self.ask("predict", run, "--all", "--out", self.top / "e.csv",
                        "--embeddings-of", "item", "--quiet")
        self.assertNotIn("embeddings.user", told)
        lines = rows_of(told["embeddings.item"])
        self.assertEqual([line["name"] for line in lines],
                         list(Folder(self.shop).ids("item")))
        for line, row in zip(lines, made["item"], strict=True):
            np.testing.assert_array_equal(
                np.array([line[f"embedding_{c}"] for c in range(8)],
                         np.float32), row)
        error = self.fails(run, "--all", "--out", self.top / "e.npy",
                           "--embeddings-of", "shelf", code="not_found")
        self.assertIn("shelf", error)

    def test_example_reads_weights(self):
        """NumPy computes scores by the weights alone, of all decoders."""
        cases = [(self.shop, {"decoder": {"kind": kind}}) for kind in
                 ("distmult", "complex", "rotate", "bilinear", "mlp")]
        cases += [(self.shop, {"decoder": {"kind": "transe", "norm": 2}}),
                  (self.shop, {"model": {"kind": "rgcn", "jumping": True},
                               "decoder": {"kind": "cosine"}}),
                  (self.friends, {"model": {"kind": "gcn"},
                                  "decoder": {"kind": "dot"}})]
        cases += [(self.plain, {"model": {"kind": kind}})
                  for kind in ("lookup", "lightgcn")]
        for number, (data, change) in enumerate(cases):
            with self.subTest(change):
                run = self.run_of(data, change)
                name = f"read-{number}"
                self.top_of(run, name, "--top", "3")
                done = subprocess.run(
                    [sys.executable, "-B", ROOT / "examples/read_weights.py",
                     run, "--compare", self.top / f"{name}.csv"], text=True,
                    capture_output=True, timeout=runs.PATIENCE_SECONDS)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("scores differ by", done.stdout)
        lines = rows_of(self.top / "read-0.csv")
        lines[4]["score"] = str(float(lines[4]["score"]) + 1)
        with open(self.top / "wrong.csv", "w", newline="") as table:
            out = csv.DictWriter(table, list(lines[0]))
            out.writeheader()
            out.writerows(lines)
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "examples/read_weights.py",
             self.run_of(*cases[0]), "--compare", self.top / "wrong.csv"],
            text=True, capture_output=True, timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("other weights", done.stderr)

    def test_imports_tell_of_tasks(self):
        (task,) = self.told["tasks"]
        self.assertEqual((task["name"], task["kind"], task["class_count"]),
                         ("link", "link", 0))
        self.assertEqual(task["edge_types"], ["user__buys__item",
                                              "user__views__item"])
        self.assertEqual([task[split] for split in ("train", "val", "test")],
                         [960, 120, 120])

    def test_refusals(self):
        run = self.run_of(self.shop)
        out = ("--out", self.top / "no.csv")
        listed = self.top / "listed-users.txt"
        listed.write_text("user 7\nnobody\n")
        for words, *more in (
                ("--pairs", *out),
                ("--top", "--nodes", listed, *out),
                (".csv", "--top", "3"),
                (str(ITEMS), "--top", ITEMS + 1, *out),
                ("--logits", "--top", "3", "--logits", *out),
                ("--probabilities", "--top", "3", "--probabilities", *out),
                ("neighbours", "--embeddings", "--neighbours", "sampled", *out),
                ("--top", "--top", "3", "--all", *out)):
            with self.subTest(more):
                self.assertIn(words, self.fails(run, *more))
        self.assertIn("nobody", self.fails(
            run, "--top", "3", "--nodes", listed, *out, code="not_found"))
        self.assertIn("rev_buys", self.fails(
            run, "--top", "3", "--type", "rev_buys", *out, code="not_found"))
        for words, *more in (
                ("--top", "--top", "0"),
                ("--known", "--known", "keep", "--pairs", listed),
                ("neighbours", "--top", "3", "--neighbours", "sampled"),
                ("--pairs", "--top", "3", "--pairs", listed),
                ("--split", "--top", "3", "--split", "test")):
            with self.subTest(more):
                self.assertIn(words, self.fails(run, *more, *out, exit_code=2))

    def test_other_runs_are_refused(self):
        out = ("--out", self.top / "no.csv")
        source = self.top / "rated"
        source.mkdir()
        rng = np.random.default_rng(SEED)
        pairs = rng.integers(0, 30, (2, 200))
        write_table(source / "edges.csv", ["source", "target", "kind"],
                    [*pairs, rng.choice(["good", "bad"], 200)])
        imported("csv", "--edges", source / "edges.csv", "--task-kind",
                 "edge_class", "--task-name", "kind", "--task-label", "kind",
                 "--split-edges", "0.8,0.1,0.1", "--out", self.top / "kinds")
        run = self.train({"task": "kind", "sampler": {"fanouts": [3]},
                          "model": {"kind": "sage", "hidden": 8},
                          "decoder": {"kind": "mlp"},
                          "train": {"epochs": 1}}, self.top / "kinds")["run"]
        self.assertIn("classes of edges", self.fails(run, "--top", "3", *out))
        self.assertEqual(self.embeddings_of(run, "kinds")["node"].shape,
                         (30, 8))
        data = runs.small_rmat(self.top / "rmat", scale=8, edges=900)
        nodes = self.train(runs.SMALL, data)["run"]
        self.assertIn("has learnt nodes", self.fails(nodes, "--top", "3", *out))


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

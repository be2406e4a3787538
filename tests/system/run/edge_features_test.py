"""Features of edges: models that learn from them, what refuses them, and runs
that end with the same bits however the graph is cut, stored and served."""

import json
import os
import pathlib
import shutil
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import check_two_daemons
from exactness_test import TROUBLE, write_typed_set
from imports import rows_of, save, write_table
from runs import SMALL, merged, partitioned
from support import ROOT, graphmill, imported, np, program

sys.path.insert(0, str(ROOT / "actors/python"))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill as package  # noqa: E402

SEED = 40
GLOBAL = {"train": {"seed_order": "global"}}
DEFINITION = merged(SMALL, GLOBAL)
PLAIN = ("gcn", "sage", "sage_sum", "gin", "gat", "gatv2")
TYPED = ("rgcn", "hetero_sage", "rgat", "hgt")
IGNORE = {"model": {"edge_features": "ignore"}}

NODES, CLASSES, DEGREE = 1000, 3, 8
LEARN = {
    "seed": 3,
    "sampler": {"fanouts": [6, 2]},
    "model": {"kind": "sage", "hidden": 16, "dropout": 0},
    "optimizer": {"learning_rate": 0.01},
    "train": {"batch_size": 100, "epochs": 12},
}


def of_kind(kind, *more):
    # Small steps, for models that sum as many rows as a node has neighbours.
    return merged(DEFINITION, {"model": {"kind": kind},
                               "optimizer": {"learning_rate": 0.002}}, *more)


def planted(source, told):
    """Nodes whose features are noise. With `told`, the edges into a node tell
    its class with some noise; else nothing does."""
    rng = np.random.default_rng(SEED)
    label = rng.integers(0, CLASSES, NODES)
    edges = np.stack([rng.integers(0, NODES, NODES * DEGREE),
                      np.repeat(np.arange(NODES), DEGREE)])
    hint = label if told else rng.integers(0, CLASSES, NODES)
    order = rng.permutation(edges.shape[1])
    edges = edges[:, order]
    noisy = np.eye(CLASSES)[hint[edges[1]]] + rng.normal(
        0, 0.4, (edges.shape[1], CLASSES))
    seeds = rng.permutation(NODES)
    source.mkdir()
    save(source, edges=edges, labels=label,
         features=rng.normal(size=(NODES, 4)).astype(np.float32),
         edge_attr=noisy.astype(np.float32), train_idx=np.sort(seeds[:600]),
         val_idx=np.sort(seeds[600:700]), test_idx=np.sort(seeds[700:]))
    return source


class EdgeFeatures(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = planted(cls.top / "planted", True)
        cls.data = cls.top / "data"
        imported("npy", cls.source, "--out", cls.data)
        cls.parts = partitioned(cls.data, 4, "random")
        bare = cls.top / "bare-source"
        bare.mkdir()
        for path in cls.source.iterdir():
            if path.stem != "edge_attr":
                (bare / path.name).symlink_to(path)
        cls.bare = cls.top / "bare"
        imported("npy", bare, "--out", cls.bare)
        typed = write_typed_set(cls.top / "typed-source")
        rng = np.random.default_rng(SEED)
        # The other type of edges has none.
        save(typed, **{"paper__cites__paper.edge_attr":
                       rng.normal(size=(700, 5)).astype(np.float32)})
        cls.typed = cls.top / "typed"
        imported("npy", typed, "--reverse", "--out", cls.typed)
        cls.typed_parts = partitioned(cls.typed, 2, "random")

    def check_refused(self, definition, data, *fragments):
        done = graphmill(*self.arguments(definition, data)[1:])
        self.assertNotEqual(done.returncode, 0)
        for fragment in fragments:
            self.assertIn(fragment, done.stderr)

    # -- what is learnt

    def test_planted_classes_are_found(self):
        for kind in PLAIN + TYPED:
            with self.subTest(kind):
                found = self.train(merged(LEARN, {"model": {"kind": kind}}),
                                   self.data)["test"]["accuracy"]
                print(f"  {kind}: {found:.3f}")
                self.assertGreater(found, 0.95)

    def test_without_them_it_is_chance(self):
        for kind in PLAIN + TYPED:
            with self.subTest(kind):
                ignored = self.train(merged(LEARN, IGNORE,
                                            {"model": {"kind": kind}}),
                                     self.data)
                self.assertLess(ignored["test"]["accuracy"], 0.45)
        untold = self.top / "untold"
        imported("npy", planted(self.top / "untold-source", False),
                 "--out", untold)
        self.assertLess(self.train(LEARN, untold)["test"]["accuracy"], 0.45)

    def test_all_nodes_are_predicted_with_them(self):
        run = self.train(LEARN, self.data)["run"]
        out = pathlib.Path(run) / "all.npy"
        self.ask("predict", run, "--data", self.data, "--all", "--out", out)
        found = np.load(out)
        label = np.load(self.source / "labels.npy")
        self.assertGreater((found == label).mean(), 0.95)
        cut = pathlib.Path(run) / "cut.npy"
        self.ask("predict", run, "--data", self.parts, "--all", "--out", cut)
        self.assertEqual(out.read_bytes(), cut.read_bytes())

    def test_runs_that_ignore_them_take_data_with_others(self):
        other = self.top / "scaled"
        imported("npy", self.source, "--normalise", "to=l2", "--out", other)
        short = merged(LEARN, {"train": {"epochs": 1}})
        for definition, refused in ((merged(short, IGNORE), False),
                                    (short, True)):
            run = self.train(definition, self.data)["run"]
            done = graphmill("evaluate", run, "--data", other)
            self.assertEqual(done.returncode, int(refused), done.stderr)
            self.assertEqual("node__to__node are scaled by" in done.stderr,
                             refused)

    # -- the same bits

    def test_ignored_is_as_if_there_were_none(self):
        for kind in PLAIN:
            with self.subTest(kind):
                used = self.digest(of_kind(kind), self.data)
                ignored = self.digest(of_kind(kind, IGNORE), self.data)
                self.assertNotEqual(used, ignored)
                self.assertEqual(ignored, self.digest(of_kind(kind), self.bare))

    def test_parts_and_trouble_and_disk(self):
        for kinds, data, parts in ((PLAIN, self.data, self.parts),
                                   (TYPED, self.typed, self.typed_parts)):
            for kind in kinds:
                with self.subTest(kind):
                    definition = of_kind(kind, {"trainer": {"replicas": 2}})
                    self.assertEqual(
                        self.digest(merged(definition, TROUBLE), parts,
                                    "--storage", "disk"),
                        self.digest(definition, data))

    def test_a_batch_asks_each_part_once_more(self):
        """Not once for each hop: features of all edges are asked for together."""
        short = merged(LEARN, {"train": {"epochs": 1}})
        for hops in 1, 3:
            deep = merged(short, {"sampler": {"fanouts": [6] * hops}})
            for times, more in (1, IGNORE), (2, {}):
                with self.subTest(hops=hops, more=more):
                    run = self.train(merged(deep, more), self.parts)
                    items = {one["stage"]: one["items"] for one in run["stages"]}
                    # Each batch needs rows of all four parts.
                    self.assertEqual(
                        (items["sampling service"], items["feature service"]),
                        (4 * hops * items["fetcher"], 4 * times * items["fetcher"]))

    def test_draws_of_all_rules(self):
        for sampler in ({"replace": True}, {"method": "labor"}):
            with self.subTest(sampler):
                definition = of_kind("sage", {"sampler": {
                    "fanouts": [4, 3], **sampler}})
                self.assertEqual(self.digest(definition, self.parts),
                                 self.digest(definition, self.data))

    def test_half_precision(self):
        definition = of_kind("sage", {"fetch": {"precision": "float16"}})
        whole = self.digest(definition, self.data)
        self.assertNotEqual(whole, self.digest(of_kind("sage"), self.data))
        self.assertEqual(self.digest(definition, self.parts, "--storage",
                                     "disk"), whole)

    def test_stored_in_half_precision(self):
        """As rounded values of 32 bits, in parts and from disk as well."""
        half, rounded = (self.top / name for name in ("half", "rounded"))
        for folder in half, rounded:
            shutil.copytree(self.data, folder)
            path = folder / "edges/node__to__node/features.npy"
            rows = np.load(path).astype(np.float16)
            about = json.loads((folder / "dataset.json").read_text())
            if folder == half:
                about["edge_types"][0]["feature_type"] = "float16"
            np.save(path, rows if folder == half else rows.astype(np.float32))
            for name in "digest", "array_digests":
                about.pop(name, None)
            (folder / "dataset.json").write_text(json.dumps(about))
        parts = partitioned(half, 3, "random")
        for kind in "sage", "gatv2":
            with self.subTest(kind):
                whole = self.digest(of_kind(kind), half)
                self.assertEqual(self.digest(of_kind(kind), rounded), whole)
                self.assertEqual(self.digest(of_kind(kind), parts, "--storage",
                                             "disk"), whole)

    def test_a_cluster(self):
        for name, data, parts, kinds in (
                ("plain", self.data, partitioned(self.data, 2, "random"),
                 ("gatv2", "sage")),
                ("typed", self.typed, self.typed_parts, ("rgcn", "hgt"))):
            check_two_daemons(self, name, parts, [
                (of_kind(kind), self.digest(of_kind(kind), data))
                for kind in kinds])

    # -- edges that are the target

    def rated(self, name, rng, *more, split=None):
        """A dataset of users who like items or hate them, which an edge itself
        tells, and the kind of each edge by the words for its ends.
        @param split Of all edges."""
        users, items, count = 100, 80, 2500
        pairs = rng.choice(users * items, count, replace=False)
        told = rng.normal(0, 1, count)
        kinds = np.where(told > 0, "like", "hate")
        folder = self.top / name
        folder.mkdir()
        words = [[f"u{i}" for i in pairs // items],
                 [f"i{i}" for i in pairs % items]]
        header = ["user_id", "item_id", "kind", "told"]
        columns = [*words, kinds, told.round(4)]
        if split:
            header.append("part")
            columns.append([split] * count)
            more += "--task-split", "part"
        write_table(folder / "rates.csv", header, columns)
        for which, size in (("user", users), ("item", items)):
            write_table(folder / f"{which}.csv", ["id", "noise"],
                        [[f"{which[0]}{i}" for i in range(size)],
                         rng.normal(0, 1, size).round(4)])
        data = self.top / f"{name}-data"
        imported("csv", "--nodes", f"user={folder / 'user.csv'}",
                 "--nodes", f"item={folder / 'item.csv'}",
                 "--edges", f"user__rates__item={folder / 'rates.csv'}",
                 "--reverse", "--task-kind", "edge_class",
                 "--task-name", "rating", "--task-label", "kind",
                 "--feature", "rates=told", *more, "--out", data)
        return data, dict(zip(zip(*words), kinds))

    def check_rows(self, run, split, kinds, *more):
        """Predictions of a split have the accuracy that is measured. Returns the
        accuracy and the file."""
        out = self.top / "rows.csv"
        told = self.ask("predict", run, "--split", split, "--probabilities",
                        "--out", out, "--quiet", *more)
        lines = rows_of(out)
        self.assertEqual((told["edges"], told["split"]), (len(lines), split))
        right = [kinds[line["source"], line["destination"]]
                 == line["class_name"] for line in lines]
        for line in lines:
            odds = [float(line[f"probability_{c}"]) for c in range(2)]
            self.assertEqual(int(line["class"]), int(np.argmax(odds)))
            self.assertAlmostEqual(sum(odds), 1, places=5)
        measured = self.ask("evaluate", run, "--split", split, "--quiet", *more)
        self.assertEqual(measured["seeds"], len(lines))
        self.assertEqual(measured["accuracy"], sum(right) / len(right))
        return measured["accuracy"], out.read_bytes()

    def test_decoders_read_the_target_edge(self):
        """Whether a user likes an item is what the edge itself tells."""
        rng = np.random.default_rng(SEED)
        data, kinds = self.rated("rated", rng, "--split-edges", "0.7,0.1,0.2")
        definition = {
            "seed": 2, "task": "rating", "sampler": {"fanouts": [4, 4]},
            "model": {"kind": "hetero_sage", "hidden": 16, "dropout": 0},
            "decoder": {"kind": "mlp", "hidden": 16},
            "optimizer": {"learning_rate": 0.01},
            "train": {"batch_size": 128, "epochs": 8, "seed_order": "global"}}
        reads = merged(definition, {"decoder": {"edge_features": True}})
        whole = self.train(reads, data)
        self.assertGreater(whole["test"]["accuracy"], 0.95)
        parts = partitioned(data, 3, "random")
        cut = self.train(reads, parts)
        self.assertEqual(cut["digest"], whole["digest"])
        self.assertEqual(cut["test"], whole["test"])
        blind = self.train(definition, data)
        self.assertLess(blind["test"]["accuracy"], 0.65)
        for run in whole, blind:
            accuracy, rows = self.check_rows(run["run"], "test", kinds)
            self.assertEqual(accuracy, run["test"]["accuracy"])
            self.assertEqual(self.check_rows(run["run"], "test", kinds,
                                             "--data", parts)[1], rows)
        self.check_rows(whole["run"], "validation", kinds)
        self.check_rows(whole["run"], "train", kinds, "--neighbours", "all")
        # Tomorrow's edges are all of one split.
        tomorrow, kinds = self.rated("tomorrow", rng, "--like", data,
                                     split="test")
        there = "--data", tomorrow
        accuracy, _ = self.check_rows(whole["run"], "test", kinds, *there)
        self.assertGreater(accuracy, 0.95)
        listed = self.top / "listed.csv"
        listed.write_text("source,destination\nu1,i1\n")
        for asked, said in ((("--split", "train"), "no edges in the split"),
                            (("--pairs", listed), "--split test")):
            done = graphmill("predict", whole["run"], *asked, *there, "--out",
                             self.top / "no.csv")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(said, done.stderr)

    # -- what does not go

    def test_kinds_that_cannot(self):
        self.check_refused(of_kind("sage_max"), self.data, "sage_max",
                           "set model.edge_features: ignore")
        self.digest(of_kind("sage_max", IGNORE), self.data)

    def test_checks_of_rows(self):
        """A cluster refuses them, and one process checks nothing."""
        checked = merged(LEARN, {"train": {"epochs": 1}, "fetch": {"verify": 0.5}})
        said = "a cluster refuses this definition, and one process checks nothing"
        path = self.write(checked, self.parts)
        done = graphmill("validate", path, "--data", self.parts, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        note, = json.loads(done.stdout)["notes"]
        self.assertIn(f"{said}: `fetch.verify` is 0.5, but features of edges", note)
        done = graphmill("train", path, "--data", self.parts, "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"warning: {said}", done.stderr)
        # Rows of nodes have proofs.
        path = self.write(merged(checked, IGNORE), self.parts)
        done = graphmill("validate", path, "--data", self.parts, "--json")
        self.assertEqual(json.loads(done.stdout)["notes"], [], done.stderr)

    def test_nothing_to_ignore(self):
        self.check_refused(of_kind("sage", IGNORE), self.bare, "leave it out")

    # -- Python

    def test_batches_have_the_rows_of_their_edges(self):
        rows = np.load(self.source / "edge_attr.npy")
        edges = np.load(self.source / "edges.npy")
        rows_of = {}
        for row, pair in zip(rows, edges.T.tolist()):
            rows_of.setdefault(tuple(pair), []).append(row.tolist())
        for data in self.data, self.parts:
            with package.Loader(data, fanouts=[4, 3], batch_size=50, seed=7,
                                edge_attr=True, as_="numpy") as loader:
                batch = next(iter(loader))
                nodes = np.asarray(batch.n_id)
                ends = np.asarray(batch.edge_index)
                found = np.asarray(batch.edge_attr)
                self.assertEqual(found.shape, (ends.shape[1], CLASSES))
                for row, (a, b) in zip(found.tolist(), nodes[ends].T.tolist()):
                    self.assertIn(row, rows_of[a, b])

    def test_to_graphmill_takes_edge_attr(self):
        class Data:
            pass
        data = Data()
        for name, key in (("x", "features"), ("edge_index", "edges"),
                          ("edge_attr", "edge_attr"), ("y", "labels")):
            setattr(data, name, np.load(self.source / f"{key}.npy"))
        for split in "train", "val", "test":
            mask = np.zeros(NODES, bool)
            mask[np.load(self.source / f"{split}_idx.npy")] = True
            setattr(data, f"{split}_mask", mask)
        out = self.top / "taken"
        package.import_(data, out)
        self.assertEqual(self.digest(of_kind("sage"), out),
                         self.digest(of_kind("sage"), self.data))


if __name__ == "__main__":
    program()
    unittest.main()

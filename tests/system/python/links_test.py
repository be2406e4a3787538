"""Batches of links and of edges with labels in Python: those of `graphmill train`,
for any parts, ranks and resumption, and without the edges that they ask for."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import partitioned
from support import ROOT, Dataset, imported, np, program

sys.path.insert(0, str(ROOT / "actors/python"))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402

SEED = 39
NODES, GROUPS = 240, 4
SETTINGS = {"fanouts": [5, 3], "batch_size": 100, "seed": 7}
THREE = {"mode": "triplet", "count": 3}


def write_table(path, **columns):
    lines = zip(*[map(str, column) for column in columns.values()])
    path.write_text("\n".join([",".join(columns), *map(",".join, lines), ""]))


def groups(folder, rng):
    """Undirected links within groups, and features that tell the group."""
    folder.mkdir()
    group = rng.integers(0, GROUPS, NODES)
    ends = rng.integers(0, NODES, (2, 5000))
    pairs = np.unique(np.sort(ends[:, (group[ends[0]] == group[ends[1]])
                                   & (ends[0] != ends[1])], 0), axis=1)
    pairs = rng.permutation(pairs, axis=1)
    noisy = np.eye(GROUPS)[group] + rng.normal(0, 0.3, (NODES, GROUPS))
    write_table(folder / "nodes.csv", id=range(NODES),
                **{f"x{i}": column for i, column in enumerate(noisy.T.round(4))})
    write_table(folder / "edges.csv", source=pairs[0], target=pairs[1])
    imported("csv", "--edges", folder / "edges.csv", "--undirected",
             "--nodes", folder / "nodes.csv", "--split-edges", "0.8,0.1,0.1",
             "--out", folder / "data")
    return folder / "data"


def ratings(folder, rng):
    """Users who rate items, with a kind and a weight for each rating."""
    folder.mkdir()
    users, items = 60, 40
    pairs = rng.choice(users * items, 700, replace=False)
    for name, count in ("user", users), ("item", items):
        write_table(folder / f"{name}.csv", id=range(count),
                    side=rng.normal(0, 1, count).round(4))
    write_table(folder / "rates.csv", user_id=pairs // items,
                item_id=pairs % items, kind=rng.choice(["like", "hate"], 700),
                trust=rng.random(700).round(3))

    def made(kind, *more):
        out = folder / f"data-{kind}"
        imported("csv", "--nodes", f"user={folder / 'user.csv'}",
                 "--nodes", f"item={folder / 'item.csv'}",
                 "--edges", f"user__rates__item={folder / 'rates.csv'}",
                 "--reverse", "--task-kind", kind, "--task-name", "rating",
                 "--task-weight", "trust", *more,
                 "--split-edges", "0.7,0.1,0.2", "--out", out)
        return out
    return made("link", "--ignore", "rates=kind"), made(
        "edge_class", "--task-label", "kind")


def payments(folder, rng, by="time"):
    """People who pay each other, at times. Returns the dataset, and the times of
    its edges by their ids."""
    folder.mkdir()
    ends, at = rng.integers(0, 90, (2, 1200)), rng.integers(0, 400, 1200)
    write_table(folder / "nodes.csv", id=range(90),
                x=rng.normal(0, 1, 90).round(4))
    write_table(folder / "edges.csv", source=ends[0], target=ends[1], at=at)
    imported("csv", "--edges", folder / "edges.csv", "--nodes",
             folder / "nodes.csv", "--edge-time", "at", "--time-unit", "step",
             "--split-edges", "0.6,0.2,0.2", "--by", by, "--out",
             folder / "data")
    return folder / "data", np.load(
        folder / "data/edges/node__to__node/times.npy")


def triples(folder, rng):
    """Three relations between nodes of one type, which have no features."""
    folder.mkdir()
    for split, count in ("train", 400), ("valid", 40), ("test", 40):
        heads, tails = rng.integers(0, 50, (2, count))
        lines = [f"e{h}\tr{r}\te{t}" for h, r, t in
                 zip(heads, rng.integers(0, 3, count), tails)]
        (folder / f"{split}.txt").write_text("\n".join([*lines, ""]))
    imported("csv", "--task-train", folder / "train.txt",
             "--task-val", folder / "valid.txt", "--task-test", folder / "test.txt",
             "--source", "1", "--relation", "2", "--destination", "3",
             "--no-header", "--separator", "tab", "--out", folder / "data")
    return folder / "data"


def rows_of(data, task, split, name):
    return np.load(data / "tasks" / task / f"{split}.{name}.npy")


def batches(source, epochs=2, **options):
    """Digests, by epoch and step."""
    with graphmill.LinkLoader(source, **{**SETTINGS, "as_": "numpy", **options}
                              ) as loader:
        return {(batch.key.epoch, batch.key.step): batch.digest()
                for _ in range(epochs) for batch in loader}


def ids_of(batch, pairs):
    """Pairs by the ids of a dataset with one node type."""
    return batch.n_id[pairs]


def as_set(pairs):
    return set(map(tuple, np.asarray(pairs).T.tolist()))


class Links(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(f"seed {SEED}")
        rng = np.random.default_rng(SEED)
        cls.data = groups(cls.top / "groups", rng)
        cls.rated, cls.kinds = ratings(cls.top / "ratings", rng)
        cls.triples = triples(cls.top / "triples", rng)
        cls.rows = {split: rows_of(cls.data, "link", split, "edges")
                    for split in ("train", "val", "test")}

    def loader(self, source=None, **options):
        loader = graphmill.LinkLoader(
            source or self.data, **{**SETTINGS, "as_": "numpy", **options})
        self.addCleanup(loader.close)
        return loader

    def test_edges_back_of_one_type(self):
        """A graph with both directions of each edge, of which one is in a split:
        the other one tells nothing of it in training, and imports and
        inspections tell of those of held-out links."""
        rng = np.random.default_rng(SEED)
        ends = np.unique(np.sort(rng.integers(0, 60, (400, 2))), axis=0)
        ends = ends[ends[:, 0] != ends[:, 1]]
        split = rng.choice([0, 1, 2], len(ends), p=[0.6, 0.2, 0.2])
        data = self.top / "both"
        told = graphmill.import_(
            {"edge_index": np.concatenate([ends, ends[:, ::-1]]).T,
             "num_nodes": 60,
             "es": np.concatenate([split, np.full(len(ends), -1)])},
            data, edge={"split": "es"}, program=program())
        held = int((split > 0).sum())
        self.assertRegex(" ".join(told["dataset"]["notes"]),
                         f"other direction of {held} of {held} held-out links")
        inspected = json.loads(subprocess.run(
            [program(), "inspect", data, "--json"], check=True,
            capture_output=True, text=True).stdout)
        self.assertEqual(inspected["tasks"][0]["shown_back"], held)
        for batch in self.loader(data, fanouts=[-1, -1], batch_size=10):
            targets = as_set(ids_of(batch, batch.edge_label_index[
                :, :batch.batch_size]))
            seen = as_set(ids_of(batch, batch.edge_index))
            self.assertFalse(seen & (targets | {(b, a) for a, b in targets}))

    # -- times

    def test_links_hear_of_their_past(self):
        data, at = payments(self.top / "payments", np.random.default_rng(SEED))
        options = {"time": "strict", "disjoint": True, "edge_ids": True,
                   "edge_ages": True, "fanouts": [-1, 3], "negatives": 2}
        small = ["evaluate.negatives=2"]  # Of tests. As many as there are nodes otherwise.
        with self.assertRaisesRegex(graphmill.DefinitionError, "have times: say"):
            len(self.loader(data))
        for split in "train", "test":
            ids = rows_of(data, "link", split, "ids")
            heard = 0
            for batch in self.loader(
                    data, split=split, **options,
                    overrides=["evaluate.visible=past", *small]):
                # An edge and its negatives are in one tree.
                rows = np.arange(batch.batch_size)
                trees = batch.batch[batch.edge_label_index]
                self.assertTrue(np.array_equal(trees[0], trees[1]))
                self.assertTrue(np.array_equal(
                    trees[0], np.concatenate([rows, np.repeat(rows, 2)])))
                ends = batch.batch[batch.edge_index]
                self.assertTrue(np.array_equal(ends[0], ends[1]))
                until = at[ids[batch.input_id]][ends[0]]
                self.assertTrue((at[batch.e_id] < until).all())
                self.assertTrue(np.array_equal(batch.edge_age,
                                               until - at[batch.e_id]))
                self.assertTrue(np.array_equal(
                    batch.edge_label_time, at[ids[batch.input_id]][trees[0]]))
                heard += len(until)
            self.assertGreater(heard, 100)
            cut = partitioned(data, 2, "random")
            self.assertEqual(
                batches(cut, 1, split=split, overrides=small, **options),
                batches(data, 1, split=split, overrides=small, **options))
        # Pairs are after all edges.
        now = next(iter(self.loader(
            data, pairs=np.array([[3], [4]]), time="strict", disjoint=True,
            edge_ids=True, fanouts=[-1], overrides=small)))
        then = next(iter(self.loader(
            data, pairs=np.array([[3], [4]]), time="ignore", edge_ids=True,
            fanouts=[-1])))
        with self.assertRaisesRegex(graphmill.DefinitionError, "leave edge_ages out"):
            len(self.loader(data, pairs=np.array([[3], [4]]), time="strict",
                            disjoint=True, edge_ages=True, overrides=small))
        self.assertEqual(np.sort(now.e_id).tolist(), np.sort(then.e_id).tolist())
        self.assertGreater(len(now.e_id), 0)
        # They see training edges, or all.
        past = {"pairs": np.array([[3], [4]]), "time": "strict", "disjoint": True,
                "edge_ids": True, "fanouts": [-1],
                "overrides": ["evaluate.visible=past", *small]}
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    'give pairs split="test"'):
            self.loader(data, **past)
        everything = next(iter(self.loader(data, split="test", **past)))
        self.assertGreater(len(everything.e_id), len(now.e_id))
        self.assertLess(set(now.e_id), set(everything.e_id))
        # What tests rank is nothing to those that make no negatives for them.
        for wanted in ({}, {"pairs": np.array([[3], [4]])},
                       {"split": "test", "negatives": 0}):
            self.assertGreater(len(self.loader(data, time="strict", disjoint=True,
                                               **wanted)), 0)
        # From there no window reaches back to one.
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "would see nothing: give `split` in place of "
                                    "`pairs`, or train without `window`"):
            len(self.loader(data, pairs=np.array([[3], [4]]), time="strict",
                            disjoint=True, window=5, overrides=small))

    def test_links_hear_of_their_past_in_any_split(self):
        """Held-out edges may be older than training edges: no run trains then,
        but rows see just their past."""
        data, at = payments(self.top / "mixed", np.random.default_rng(SEED),
                            "random")
        options = {"time": "strict", "disjoint": True, "edge_ids": True,
                   "fanouts": [-1], "negatives": 0,
                   "overrides": ["evaluate.visible=past"]}
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "trains on tasks that are split by time"):
            len(self.loader(data, **options))
        ids = rows_of(data, "link", "test", "ids")
        begins = np.load(data / "edges/node__to__node/indptr.npy")
        cut = partitioned(data, 2, "random")
        for source in data, cut:
            seen = 0
            for batch in self.loader(source, split="test", **options):
                for row in range(batch.batch_size):
                    end = batch.edge_label_index[1, row]
                    node = batch.n_id[end]
                    known = np.arange(begins[node], begins[node + 1])
                    known = known[at[known] < at[ids[batch.input_id[row]]]]
                    into = batch.edge_index[1] == end
                    self.assertEqual(np.sort(batch.e_id[into]).tolist(),
                                     known.tolist())
                    seen += len(known)
            self.assertGreater(seen, 1000)
            pair = next(iter(self.loader(source, split="test", **{
                **options, "pairs": np.array([[3], [4]])})))
            into = pair.edge_index[1] == pair.edge_label_index[1, 0]
            self.assertEqual(np.sort(pair.e_id[into]).tolist(),
                             list(range(begins[4], begins[5])))

    # -- exactness

    def test_batches_do_not_depend_on_parts_threads_and_storage(self):
        cases = [{}, {"negatives": THREE}, {"split": "val"},
                 {"negatives": {"corrupt": "both", "count": 2}, "exclude": "none"},
                 {"negatives": {"corrupt": "pair", "count": 2}},
                 {"negatives": {"corrupt": "pair", "count": 2}, "split": "val"},
                 {"negatives": {"kind": "joint", "mode": "triplet", "count": 30,
                                "weight": "degree"}}]
        for options in cases:
            with self.subTest(options):
                expected = batches(self.data, **options)
                self.assertGreater(len(expected), 1)
                for parts, method in (2, "random"), (3, "metis"):
                    cut = partitioned(self.data, parts, method)
                    self.assertEqual(batches(cut, **options), expected)
                self.assertEqual(batches(cut, storage="disk", threads=3, **options),
                                 expected)
                self.assertEqual(batches(self.data, budget=1, **options), expected)
        for change in ({"seed": 8}, {"negatives": 2}, {"exclude": "none"},
                       {"negatives": {"corrupt": "source"}}):
            self.assertNotEqual(batches(self.data, **change), batches(self.data))

    def test_batches_are_those_of_train(self):
        """The rows, and, by the losses of a model of one layer that hardly
        changes, their neighbours and negatives."""
        definition = {
            "seed": 7, "task": "link", "sampler": {"fanouts": [5]},
            "model": {"kind": "sage", "hidden": 8, "width": 8, "dropout": 0},
            "optimizer": {"learning_rate": 1e-9}, "negatives": {"count": 2},
            "train": {"batch_size": 100, "epochs": 2, "seed_order": "global",
                      "record_steps": True}, "evaluate": {"every": 1000}}
        summary = self.train(definition, self.data)
        lines = (pathlib.Path(summary["run"]) / "steps.jsonl").read_text()
        trained = [line for line in map(json.loads, lines.splitlines())
                   if line["phase"] == "train"]
        weights = self.weights(summary)
        numbers = rows_of(self.data, "link", "train", "ids")
        loader = self.loader(fanouts=[5], negatives=2)
        fed = [batch.copy() for _ in range(2) for batch in loader]
        self.assertEqual(len(fed), len(trained))
        for batch, line in zip(fed, trained):
            self.assertEqual(numbers[batch.input_id].tolist(), line["seeds"])
            h = sage_layer(weights, batch)
            score = (h[batch.edge_label_index[0]]
                     * h[batch.edge_label_index[1]]).sum(1)
            each = np.logaddexp(0, np.where(batch.edge_label == 1, -score, score))
            count = batch.batch_size
            loss = (each[:count].sum()
                    + each[count:].reshape(count, 2).mean(1).sum()) / 2
            self.assertAlmostEqual(loss / line["loss_sum"], 1, delta=1e-4)

    def test_any_number_of_ranks_shares_the_same_rows(self):
        """Negatives of a row do not depend on who takes it."""
        for split, count in ("train", 3), ("val", 7):
            seen = {}
            for world in 1, 2, 3:
                found = seen.setdefault(world, {})
                for rank in range(world):
                    loader = self.loader(
                        split=split, rank=rank, world_size=world,
                        negatives={"mode": "triplet", "count": count})
                    for batch in loader:
                        ids = [batch.n_id[batch.src_index],
                               batch.n_id[batch.dst_pos_index],
                               *batch.n_id[batch.dst_neg_index].T]
                        for row, nodes in zip(batch.input_id, np.stack(ids, 1)):
                            found[batch.key.step, int(row)] = nodes.tolist()
                        self.assertEqual(batch.dst_neg_index.shape,
                                         (batch.batch_size, count))
                self.assertEqual(found, seen[1])
            self.assertEqual(len(seen[1]), len(self.rows[split]))

    def test_a_rank_may_have_no_rows(self):
        pairs = self.rows["train"][:3].T
        loader = self.loader(pairs=pairs, batch_size=2, rank=1, world_size=2,
                             shuffle=False)
        first, last = [batch.copy() for batch in loader]
        self.assertEqual(ids_of(first, first.edge_label_index).T.tolist(),
                         self.rows["train"][1:2].tolist())
        self.assertEqual((last.batch_size, last.global_batch_size, last.weight),
                         (0, 1, 0))
        self.assertEqual(last.edge_label_index.shape, (2, 0))

    def test_it_goes_on_from_every_step(self):
        options = {"negatives": {"corrupt": "both", "count": 2}}
        expected = batches(self.data, **options)
        steps = len(self.loader(**options))
        for at in 0, 1, steps - 1, steps, 2 * steps - 1:
            state = {**self.loader(**options).state_dict(), "epoch": at // steps,
                     "step": at % steps}
            resumed = self.loader(**options)
            resumed.load_state_dict(json.loads(json.dumps(state)))
            made = {}
            while len(made) < 2 * steps - at:
                for batch in resumed:
                    made[batch.key.epoch, batch.key.step] = batch.digest()
            self.assertEqual(made, dict(sorted(expected.items())[at:]))
        for change in ({"negatives": 3}, {"exclude": "none", **options},
                       {"split": "val", **options},
                       {"negatives": {**options["negatives"], "mode": "triplet"}}):
            with self.assertRaisesRegex(graphmill.StateError, "another loader"):
                self.loader(**change).load_state_dict(state)
        state = self.loader().state_dict()
        with self.assertRaisesRegex(graphmill.StateError, "another loader"):
            self.loader(negatives=0).load_state_dict(state)
        first, last = Dataset(self.triples).edge_types()[::2]
        pairs = [[1], [2]]
        state = self.loader(self.triples, pairs={first: pairs}).state_dict()
        with self.assertRaisesRegex(graphmill.StateError, "another loader"):
            self.loader(self.triples, pairs={last: pairs}).load_state_dict(state)

    # -- what is in a batch

    def test_pairs_are_edges_and_then_negatives(self):
        batch_sizes = []
        for batch in self.loader(negatives=3):
            edges, count = self.rows["train"][batch.input_id].T, batch.batch_size
            pairs = ids_of(batch, batch.edge_label_index)
            np.testing.assert_array_equal(pairs[:, :count], edges)
            self.assertEqual(pairs.shape, (2, 4 * count))
            # Edge by edge, with the same sources.
            np.testing.assert_array_equal(pairs[0, count:], np.repeat(edges[0], 3))
            self.assertEqual(batch.edge_label.tolist(),
                             [1] * count + [0] * (3 * count))
            self.assertEqual(batch.edge_label.dtype, np.float32)
            # Ends and negatives are what neighbours are drawn for.
            np.testing.assert_array_equal(
                np.unique(batch.edge_label_index),
                np.arange(batch.num_sampled_nodes[0]))
            batch_sizes.append(count)
        self.assertEqual(sum(batch_sizes), len(self.rows["train"]))
        self.assertEqual(set(batch_sizes[:-1]), {100})
        for batch in self.loader(negatives={"corrupt": "source", "count": 2}):
            pairs = ids_of(batch, batch.edge_label_index)
            np.testing.assert_array_equal(
                pairs[1, batch.batch_size:],
                np.repeat(pairs[1, :batch.batch_size], 2))

    def test_triplets_are_the_pairs(self):
        options = {"corrupt": "both", "count": 2}
        for pair, triplet in zip(
                self.loader(negatives=options),
                self.loader(negatives={**options, "mode": "triplet"}), strict=True):
            count = pair.batch_size
            source, destination = pair.edge_label_index
            np.testing.assert_array_equal(triplet.src_index, source[:count])
            np.testing.assert_array_equal(triplet.dst_pos_index,
                                          destination[:count])
            wrong = pair.edge_label_index[:, count:].reshape(2, count, 4)
            np.testing.assert_array_equal(triplet.dst_neg_index, wrong[1, :, :2])
            np.testing.assert_array_equal(triplet.src_neg_index, wrong[0, :, 2:])
            with self.assertRaisesRegex(AttributeError, "no edge_label"):
                triplet.edge_label_index
        batch = next(iter(self.loader(negatives={"corrupt": "pair", "count": 2})))
        ends = batch.edge_label_index
        kept = ends[:, 100:] == np.repeat(ends[:, :100], 2, axis=1)
        self.assertEqual(kept.shape, (2, 200))
        self.assertLess(kept.sum(1).max(), 20)  # Both ends are drawn.
        # One negative needs no second dimension.
        batch = next(iter(self.loader(negatives="triplet")))
        self.assertEqual(batch.dst_neg_index.shape, (100,))
        batch = next(iter(self.loader(
            negatives={"mode": "triplet", "kind": "joint", "count": 20})))
        self.assertEqual(batch.dst_neg_index.shape, (20,))
        batch = next(iter(self.loader(negatives=0)))
        self.assertEqual(batch.edge_label_index.shape, (2, 100))
        with self.assertRaisesRegex(AttributeError, "no edge_label"):
            batch.edge_label

    def test_no_row_hears_of_itself(self):
        held_out = as_set(np.concatenate(
            [self.rows["val"], self.rows["test"]]).T)
        heard = 0
        for exclude in "pair", "none":
            for batch in self.loader(exclude=exclude, fanouts=[-1, 5]):
                rows = self.rows["train"][batch.input_id].T
                rows = as_set(rows) | as_set(rows[::-1])
                edges = as_set(ids_of(batch, batch.edge_index))
                self.assertTrue(edges)
                self.assertFalse(edges & held_out)
                if exclude == "pair":
                    self.assertFalse(edges & rows)
                heard += len(edges & rows)
        self.assertGreater(heard, 1000)
        for batch in self.loader(split="val", negatives=5):
            self.assertFalse(as_set(ids_of(batch, batch.edge_index)) & held_out)

    def test_negatives_of_evaluations(self):
        known = as_set(np.concatenate(list(self.rows.values())).T)
        known |= {(b, a) for a, b in known}
        seen = []
        loader = self.loader(split="val")
        for _ in range(2):
            negatives = {}
            for batch in loader:
                pairs = ids_of(batch, batch.edge_label_index)
                self.assertFalse(as_set(pairs[:, batch.batch_size:]) & known)
                for row, wrong in zip(batch.input_id.tolist(), pairs[
                        1, batch.batch_size:].reshape(batch.batch_size, -1)):
                    negatives[row] = wrong.tolist()
            seen.append(negatives)
        self.assertEqual(seen[0], seen[1])
        self.assertEqual({len(wrong) for wrong in seen[0].values()}, {100})

    def test_pairs_of_ones_own(self):
        wanted = np.array([[3, 200, 3, 7], [9, 3, 3, 9]])
        for source in self.data, partitioned(self.data, 2, "random"):
            batch, = self.loader(source, pairs=wanted, split="test")
            np.testing.assert_array_equal(ids_of(batch, batch.edge_label_index),
                                          wanted)
            self.assertEqual(batch.input_id.tolist(), [0, 1, 2, 3])
            self.assertEqual(batch.num_sampled_nodes[0], 4)

    def test_types(self):
        for source in self.rated, partitioned(self.rated, 2, "random"):
            rates, reverse = (("user", "rates", "item"),
                              ("item", "rev_rates", "user"))
            edges = rows_of(self.rated, "rating", "train", "edges")
            weights = rows_of(self.rated, "rating", "train", "weights")
            loader = self.loader(source, task="rating", negatives=THREE)
            self.assertEqual(list(loader.info.tasks), ["rating"])
            self.assertEqual(loader.info.tasks["rating"].edge_types, [rates])
            for batch in loader:
                rows = batch.input_id
                self.assertEqual(batch.input_type, rates)
                self.assertEqual(batch.batch_size, len(rows))
                np.testing.assert_array_equal(
                    np.stack([batch["user"].n_id[batch.src_index],
                              batch["item"].n_id[batch.dst_pos_index]], 1),
                    edges[rows])
                self.assertLess(batch.dst_neg_index.max(),
                                batch["item"].num_nodes)
                np.testing.assert_array_equal(batch[rates].edge_label_weight,
                                              weights[rows])
                targets = as_set(edges[rows].T)
                for of, turned in (rates, 1), (reverse, -1):
                    pairs = batch[of].edge_index
                    drawn = np.stack([batch[of[0]].n_id[pairs[0]],
                                      batch[of[2]].n_id[pairs[1]]])
                    self.assertFalse(as_set(drawn[::turned]) & targets)
        self.assertEqual(
            batches(source, task="rating"), batches(self.rated, task="rating"))

    def test_classes(self):
        labels = rows_of(self.kinds, "rating", "val", "labels")
        edges = rows_of(self.kinds, "rating", "val", "edges")
        for batch in self.loader(self.kinds, task="rating", split="val"):
            self.assertEqual(batch.edge_label.tolist(),
                             labels[batch.input_id].tolist())
            source, destination = batch.edge_label_index
            np.testing.assert_array_equal(
                np.stack([batch["user"].n_id[source],
                          batch["item"].n_id[destination]], 1),
                edges[batch.input_id])
        info = self.loader(self.kinds, task="rating").info.tasks["rating"]
        self.assertEqual((info.kind, sorted(info.class_names)),
                         ("edge_class", ["hate", "like"]))

    def test_relations(self):
        """Edge types of one node type: all as one, and each apart."""
        about = Dataset(self.triples)
        names = about.edge_types()
        task, = about.info["tasks"]
        edges = rows_of(self.triples, "link", "train", "edges")
        types = rows_of(self.triples, "link", "train", "types")
        numbers = np.array([names.index(name) for name in task["edge_types"]])
        options = {"negatives": {"corrupt": "both", "count": 2}}
        merged = self.loader(self.triples, merge_edge_types=True, **options)
        apart = self.loader(self.triples, **options)
        for one, several in zip(merged, apart, strict=True):
            count = one.batch_size
            np.testing.assert_array_equal(
                ids_of(one, one.edge_label_index[:, :count]),
                edges[one.input_id].T)
            np.testing.assert_array_equal(one.edge_label_type[:count],
                                          numbers[types[one.input_id]])
            self.assertEqual(several.batch_size, count)
            self.assertIsNone(several.input_type)
            for of in several.edge_label_index_dict:
                number = names.index("__".join(of))
                chosen = one.edge_label_type == number
                np.testing.assert_array_equal(
                    several[of].edge_label_index, one.edge_label_index[:, chosen])
                np.testing.assert_array_equal(several[of].edge_label,
                                              one.edge_label[chosen])
        wanted = {tuple(name.split("__")): [[number], [5]]
                  for number, name in enumerate(names)}
        batch, = self.loader(self.triples, pairs=wanted, merge_edge_types=True)
        self.assertEqual(batch.edge_label_type.tolist(), [0, 1, 2])
        self.assertEqual(batch.input_id.tolist(), [0, 1, 2])
        self.assertEqual(ids_of(batch, batch.edge_label_index).tolist(),
                         [[0, 1, 2], [5, 5, 5]])

    def test_very_many_edge_types(self):
        folder = self.top / "many"
        folder.mkdir()
        lines = [f"e{i % 7}\tr{i}\te{i % 5}" for i in range(301)]
        (folder / "train.txt").write_text("\n".join([*lines, ""]))
        (folder / "valid.txt").write_text("e1\tr0\te2\n")
        imported("csv", "--task-train", folder / "train.txt",
                 "--task-val", folder / "valid.txt", "--source", "1",
                 "--relation", "2", "--destination", "3", "--no-header",
                 "--separator", "tab", "--out", folder / "data")
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "301 edge types.*merge_edge_types=True"):
            iter(self.loader(folder / "data"))
        batch = next(iter(self.loader(folder / "data", merge_edge_types=True)))
        self.assertEqual(batch.batch_size, 100)

    def test_a_definition(self):
        path = self.write({"seed": 7, "task": "link", "negatives": {"count": 2},
                           "sampler": {"fanouts": [5, 3]},
                           "train": {"batch_size": 100, "seed_order": "global"}},
                          self.data)
        with graphmill.LinkLoader(self.data, definition=path, as_="numpy"
                                  ) as loader:
            made = {(batch.key.epoch, batch.key.step): batch.digest()
                    for _ in range(2) for batch in loader}
        self.assertEqual(made, batches(self.data, negatives=2))
        for same in np.int64(2), {"count": np.int32(2)}:
            self.assertEqual(made, batches(self.data, negatives=same))

    def test_sentences(self):
        def failing(why, source=self.data, **options):
            with self.assertRaisesRegex(graphmill.DefinitionError, why):
                with graphmill.LinkLoader(source, **options) as loader:
                    next(iter(loader))
        failing("no task.*likes", task="likes")
        failing("mode of negatives is 'all'", negatives="all")
        failing("negatives has no amount", negatives={"amount": 2})
        for wrong in 2.0, [1], True:
            failing("negatives is .*: give a mode", negatives=wrong)
        failing("count of negatives is 2.5", negatives={"count": 2.5})
        failing("negatives has no 3", negatives={3: 2})
        failing("mode of negatives is \\[\\]", negatives={"mode": []})
        failing("a triplet keeps an end",
                negatives={"mode": "triplet", "corrupt": "pair"})
        failing("take triplets", negatives={"kind": "joint"})
        failing("triplets are links", self.kinds, task="rating",
                negatives="triplet")
        failing("is for links", self.kinds, task="rating", negatives=3)
        failing("`count` of negatives is", negatives=60000)
        failing("have no negatives", negatives={"kind": "given"})
        failing("exclude", exclude="row")
        failing("exclude is for links", self.kinds, task="rating", exclude="pair")
        failing("smaller than the number of nodes", split="val", negatives=NODES)
        failing("give a LinkLoader pairs", seeds=[1])
        failing("ids of type \"node\" go from 0 to 239", pairs=[[1], [240]])
        failing("shape \\(1, 2\\)", pairs=[[1, 2]])
        failing("pairs have no negatives", pairs=[[1], [2]], negatives=1)
        failing("pairs cannot be read as ids", pairs=[[1], [2, 3]])
        failing("pairs has node -1, and ids go from 0 on", pairs=[[1], [-1]])
        failing("no id has more than 63 bits",
                pairs=np.array([[1], [2**63]], np.uint64))
        failing("the type float64.*astype", pairs=[[1.0], [2.0]])
        failing("not a mask", pairs=np.ones((2, 3), bool))
        for key in 7, ("a", "b"), "":
            failing("names no edge type", self.triples, pairs={key: [[1], [2]]})
        failing("has 3 edge types", self.triples, pairs=[[1], [2]])
        failing("does not have", self.triples, pairs={"r9": [[1], [2]]})
        with self.assertRaisesRegex(graphmill.DefinitionError, "`pairs`"):
            next(iter(graphmill.Loader(self.data, [2], seeds=[1],
                                       overrides=["task=link"])))
        path = self.write({}, self.data)
        failing("names no task", definition=path)

    def test_a_split_without_edges(self):
        folder = self.top / "no-validation"
        imported("csv", "--edges", self.top / "groups/edges.csv", "--undirected",
                 "--nodes", self.top / "groups/nodes.csv",
                 "--split-edges", "0.9,0,0.1", "--out", folder)
        for rank in 0, 1:
            with self.assertRaisesRegex(
                    graphmill.DefinitionError,
                    "split 'val' of the dataset 'no-validation' has no edges: "
                    "give `pairs` or another split, or .*--split-edges"):
                iter(self.loader(folder, split="val", rank=rank, world_size=2))
        self.assertEqual(len(list(self.loader(folder, split="val",
                                              pairs=[[1], [2]]))), 1)
        self.assertEqual(list(self.loader(folder, split="val",
                                          pairs=np.empty((2, 0), int))), [])

    def test_the_only_task_needs_no_name(self):
        self.assertEqual(batches(self.kinds, epochs=1),
                         batches(self.kinds, epochs=1, task="rating"))
        # One that a definition or an override names is not replaced.
        self.assertEqual(batches(self.kinds, epochs=1, overrides=["task=rating"]),
                         batches(self.kinds, epochs=1))
        about = json.loads((self.kinds / "dataset.json").read_text())
        for tasks, said in (
                ([], "has no task of edges: import it with `--split-edges`"),
                ([{**about["tasks"][0], "name": name} for name in ("a", "b")],
                 "has 2 tasks of edges: give `task`, one of 'a', 'b'")):
            other = self.top / f"tasks-{len(tasks)}"
            other.mkdir()
            (other / "dataset.json").write_text(json.dumps({**about, "tasks": tasks}))
            with self.assertRaisesRegex(graphmill.DefinitionError, said):
                next(iter(graphmill.LinkLoader(other, [2])))

    # -- others

    def test_data_of_pyg(self):
        """With a stand-in, for PyG may not be installed: triplets are at the node
        types of their ends."""
        import types

        class Data:
            def __init__(self):
                self.stores = {}

            def __getitem__(self, of):
                return self.stores.setdefault(of, types.SimpleNamespace())
        package = types.ModuleType("torch_geometric")
        package.data = types.ModuleType("torch_geometric.data")
        package.data.Data = package.data.HeteroData = Data
        for name, module in (("torch_geometric", package),
                             ("torch_geometric.data", package.data)):
            sys.modules[name] = module
            self.addCleanup(sys.modules.pop, name)
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("PyTorch is not installed")
        rates = "user", "rates", "item"
        data = next(iter(self.loader(self.rated, task="rating", as_="pyg",
                                     negatives=THREE)))
        self.assertEqual(len(data["user"].src_index), 100)
        self.assertEqual(tuple(data["item"].dst_neg_index.shape), (100, 3))
        self.assertEqual(data[rates].batch_size, 100)
        timed, _ = payments(self.top / "paid", np.random.default_rng(SEED))
        for negatives, name in (("triplet", "seed_time"),
                                ("binary", "edge_label_time")):
            data = next(iter(self.loader(
                timed, as_="pyg", negatives=negatives, time="strict", disjoint=True,
                edge_ages=True, overrides=["evaluate.negatives=2"])))
            self.assertEqual(hasattr(data, name), True)
        data = next(iter(self.loader(as_="pyg")))
        self.assertEqual(tuple(data.edge_label_index.shape), (2, 200))
        self.assertEqual((data.batch_size, len(data.edge_label)), (100, 200))

    def test_the_example_learns(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("PyTorch is not installed")
        done = subprocess.run(
            [sys.executable, ROOT / "examples/own_links.py", self.data,
             "--epochs", "12", "--batch-size", "200"], text=True,
            capture_output=True, timeout=runs.PATIENCE_SECONDS,
            env={**os.environ, "PYTHONPATH": str(ROOT / "actors/python"),
                 "OMP_NUM_THREADS": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.findall(r"loss ([\d.]+), validation mrr ([\d.]+)", done.stdout)
        losses, ranks = zip(*(map(float, both) for both in found))
        self.assertEqual(len(losses), 12)
        # Of 50 negatives, a dozen are of the group: 0.09 by chance. Features name the
        # group, so that a new model ranks as well; only its loss is large.
        self.assertGreater(ranks[-1], 0.2)
        self.assertLess(losses[-1], losses[0])


def sage_layer(weights, batch):
    """The outputs of a model of one layer at the seeds of a batch."""
    count = batch.num_sampled_nodes[0]
    source, destination = batch.edge_index
    means = np.zeros((count, batch.x.shape[1]))
    np.add.at(means, destination, batch.x[source].astype(np.float64))
    means /= np.maximum(np.bincount(destination, minlength=count), 1)[:, None]
    return (batch.x[:count] @ weights["layer1.self.weight"]
            + means @ weights["layer1.neighbours.weight"] + weights["layer1.bias"])


if __name__ == "__main__":
    unittest.main()

"""The Python package makes the batches of `graphmill train`, whatever happens on
the way, and says what is wrong."""

import collections
import concurrent.futures
import copy
import inspect
import json
import os
import pathlib
import pickle
import pydoc
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from edge_weights import random_weights, weighted
from imports import save, sixty_nodes
from runs import merged, partitioned, small_rmat
from support import ROOT, Dataset, imported, np, program

sys.path.insert(0, str(ROOT / "actors/python"))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402

SETTINGS = {"fanouts": [4, 3], "batch_size": 33, "seed": 7}
SLOW = ["faults.fetcher_delay_ms=10000"]


def batches(source, epochs=2, **options):
    """Digests, by epoch and step."""
    out = {}
    with graphmill.Loader(source, **{**SETTINGS, "as_": "numpy", **options}
                          ) as loader:
        for _ in range(epochs):
            for batch in loader:
                out[batch.key.epoch, batch.key.step] = batch.digest()
    return out


def two_layers(weights, batch):
    """The logits of a GraphSAGE of two layers, for the seeds."""
    h = batch.x.astype(np.float64)
    for layer, hops in (1, 2), (2, 1):
        # Of nodes that a hop less finds, by the edges of that many hops.
        ends = sum(batch.num_sampled_nodes[:hops])
        source, end = batch.edge_index[:, :sum(batch.num_sampled_edges[:hops])]
        means = np.zeros((ends, h.shape[1]))
        np.add.at(means, end, h[source])
        means /= np.maximum(np.bincount(end, minlength=ends), 1)[:, None]
        h = (h[:ends] @ weights[f"layer{layer}.self.weight"]
             + means @ weights[f"layer{layer}.neighbours.weight"]
             + weights[f"layer{layer}.bias"])
        h = np.maximum(h, 0) if layer == 1 else h
    return h


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"


def wait_until(condition, what):
    deadline = time.monotonic() + runs.PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} does not come"
        time.sleep(0.01)


def typed_dataset(folder, *flags):
    """Papers that cite each other, with weights, and authors without features."""
    rng = np.random.default_rng(8)
    source = folder.with_name(f"{folder.name}-source")
    source.mkdir()
    (source / "meta.json").write_text(json.dumps({
        "name": "typed", "node_types": {
            "author": {"num_nodes": 30},
            "paper": {"num_nodes": 80, "num_classes": 3}}}))
    order = rng.permutation(80)
    save(source, **{
        "paper.features": rng.normal(size=(80, 5)).astype(np.float32),
        "paper.labels": rng.integers(0, 3, 80),
        "paper.train_idx": order[:50], "paper.val_idx": order[50:65],
        "paper.test_idx": order[65:],
        "paper__cites__paper.edges": rng.integers(0, 80, (2, 300)),
        "paper__cites__paper.edge_weight": rng.random(300, np.float32),
        "author__writes__paper.edges": np.stack(
            [rng.integers(0, 30, 150), rng.integers(0, 80, 150)])})
    imported("npy", source, *flags, "--out", folder)
    return folder


def timed_dataset(folder, unit="step"):
    """People with times, and edges with some. Returns times of people by their
    ids, and all edges as (source, destination, time)."""
    rng = np.random.default_rng(9)
    people, edges = 120, 1500
    born, ends = rng.integers(0, 100, people), rng.integers(0, people, (2, edges))
    at = rng.integers(0, 120, edges)
    source = folder.with_name(f"{folder.name}-source")
    source.mkdir()
    for name, columns in (
            ("nodes", {"id": range(people), "when": born,
                       "label": rng.integers(0, 2, people)}),
            ("edges", {"source": ends[0], "target": ends[1], "at": at})):
        lines = zip(*[map(str, column) for column in columns.values()])
        (source / f"{name}.csv").write_text(
            "\n".join([",".join(columns), *map(",".join, lines), ""]))
    imported("csv", "--nodes", source / "nodes.csv", "--edges",
             source / "edges.csv", "--edge-time", "at", "--node-time", "when",
             "--time-unit", unit, "--split", "0.6,0.2,0.2", "--by", "time",
             "--out", folder)
    return born, set(zip(*ends.tolist(), at.tolist()))


class Times(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.top / "timed"
        cls.born, cls.edges = timed_dataset(cls.data)
        cls.at = np.load(cls.data / "edges/node__to__node/times.npy")

    def seen(self, **options):
        """Batches of an epoch, copied."""
        with graphmill.Loader(self.data, **{
                "fanouts": [-1, 4], "batch_size": 16, "as_": "numpy",
                "edge_ids": True, **options}) as loader:
            return [batch.copy() for batch in loader]

    def test_trees_hear_of_the_past_of_their_seed(self):
        for time, rule in ("strict", np.less), ("inclusive", np.less_equal):
            edges, same = 0, 0
            for batch in self.seen(time=time, disjoint=True, window=60):
                source, end = batch.edge_index
                seeds = self.born[batch.n_id[batch.batch[end]]]
                self.assertTrue(np.array_equal(batch.batch[source],
                                               batch.batch[end]))
                at = self.at[batch.e_id]
                self.assertLessEqual(
                    set(zip(*batch.n_id[batch.edge_index].tolist(), at.tolist())),
                    self.edges)
                self.assertTrue(rule(at, seeds).all())
                self.assertTrue((at >= seeds - 60).all())
                self.assertTrue(np.array_equal(
                    batch.batch[:batch.batch_size],
                    np.arange(batch.batch_size)))
                # A node is there once in each tree, and none is left out that
                # the first hop, which takes all, should have.
                self.assertEqual(
                    len(np.unique(batch.batch * 1000 + batch.n_id)),
                    batch.num_nodes)
                edges, same = edges + len(at), same + (at == seeds).sum()
            self.assertGreater(edges, 100)
            self.assertEqual(same > 0, time == "inclusive")

    def test_edges_have_ages_and_seeds_have_times(self):
        for options in ({"time": "strict", "latest": True}, {"time": "inclusive"}):
            edges = 0
            for batch in self.seen(edge_ages=True, disjoint=True, **options):
                seeds = self.born[batch.n_id[:batch.batch_size]]
                self.assertTrue(np.array_equal(batch.seed_time, seeds))
                self.assertTrue(np.array_equal(
                    batch.edge_age,
                    seeds[batch.batch[batch.edge_index[1]]] - self.at[batch.e_id]))
                edges += len(batch.edge_age)
            self.assertGreater(edges, 100)
        for batch in self.seen(edge_ages=True, time="strict", shuffle=False):
            first = self.born[batch.n_id[:batch.batch_size]].min()
            self.assertTrue(np.array_equal(batch.edge_age, first - self.at[batch.e_id]))
            with self.assertRaisesRegex(AttributeError, "disjoint=True and edge_ages"):
                batch.seed_time
        wanted = {"time": "strict", "disjoint": True, "edge_ages": True}
        self.assertEqual(batches(partitioned(self.data, 3, "random"), **wanted),
                         batches(self.data, **wanted))

    def test_ages_are_in_seconds(self):
        data = self.top / "seconds"
        timed_dataset(data, unit="s")
        at = np.load(data / "edges/node__to__node/times.npy")
        with graphmill.Loader(data, [-1], time="strict", disjoint=True, as_="numpy",
                              edge_ids=True, edge_ages=True) as loader:
            batch = next(iter(loader))
            ages = (batch.seed_time[batch.batch[batch.edge_index[1]]]
                    - at[batch.e_id])
            self.assertGreater(len(ages), 0)
            self.assertTrue((ages % 1_000_000 == 0).all())
            self.assertTrue(np.array_equal(batch.edge_age, ages // 1_000_000))

    def test_ages_that_there_are_not(self):
        for options, said in (
                ({"time": "ignore"}, "give time=\"strict\" or \"inclusive\""),
                ({"time": "strict", "shuffle": False, "edge_ids": False,
                  "subgraph_type": "bidirectional"}, "no features and no ages")):
            with self.subTest(options), self.assertRaisesRegex(
                    graphmill.DefinitionError, said):
                self.seen(edge_ages=True, **options)

    def test_seeds_that_share_hear_of_the_past_of_the_earliest(self):
        edges = 0
        for batch in self.seen(time="strict", shuffle=False):
            first = self.born[batch.n_id[:batch.batch_size]].min()
            self.assertTrue((self.at[batch.e_id] < first).all())
            self.assertEqual(len(np.unique(batch.n_id)), batch.num_nodes)
            edges += len(batch.e_id)
        self.assertGreater(edges, 0)

    def test_the_last_edges(self):
        taken = 0
        for batch in self.seen(time="strict", latest=True, disjoint=True,
                               fanouts=[1], split="test", shuffle=False):
            everything = next(iter(self.seen(
                time="strict", disjoint=True, fanouts=[-1], shuffle=False,
                seeds=batch.n_id[:batch.batch_size], batch_size=64)))
            last = np.full(batch.batch_size, -1)
            np.maximum.at(last, everything.batch[everything.edge_index[1]],
                          self.at[everything.e_id])
            self.assertTrue(np.array_equal(
                self.at[batch.e_id], last[batch.batch[batch.edge_index[1]]]))
            taken += len(batch.e_id)
        self.assertGreater(taken, 0)

    def test_trees_do_not_depend_on_parts_and_storage(self):
        wanted = {"time": "strict", "disjoint": True}
        expected = batches(self.data, **wanted)
        cut = partitioned(self.data, 3, "random")
        self.assertEqual(batches(cut, **wanted), expected)
        self.assertEqual(batches(cut, storage="disk", threads=3, **wanted),
                         expected)

    def test_times_are_not_ignored_without_a_word(self):
        refused = graphmill.DefinitionError
        for options, said in (
                ({}, "have times: say .*time=\"strict\""),
                ({"time": "strict"}, "disjoint=True or shuffle=False"),
                ({"time": "strict", "disjoint": True, "degrees": True},
                 "leave degrees out"),
                ({"disjoint": True}, "is for `time=\"strict\""),
                ({"time": "past"}, "strict, inclusive, ignore")):
            with self.subTest(options), self.assertRaisesRegex(refused, said):
                self.seen(**options)
        with self.assertRaisesRegex(refused, "have times: say"):
            graphmill.open(self.data).sample([3, 4], [2], as_="numpy")
        # Rows of a step hear of what was before the earliest of them.
        late_first = np.argsort(self.born)[::-1][:20]
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "not in the order of time"):
            self.seen(time="strict", shuffle=False, seeds=late_first)
        one = graphmill.open(self.data).sample([3, 4], [-1], as_="numpy",
                                               time="strict", disjoint=True)
        self.assertEqual(one.batch[:2].tolist(), [0, 1])
        everything = self.seen(time="ignore", split="test")
        self.assertGreater(max(self.at[batch.e_id].max() for batch in everything),
                           self.born.max())

    def test_a_state_knows_the_times(self):
        def loader(**options):
            return graphmill.Loader(self.data, as_="numpy", **SETTINGS, **options)
        with loader(time="strict", disjoint=True) as one:
            state = one.state_dict()
        for options in ({"time": "ignore"},
                        {"time": "inclusive", "disjoint": True}):
            with loader(**options) as other:
                with self.assertRaisesRegex(
                        graphmill.StateError,
                        "time is 'strict' in the state and (not given|'inclusive')"):
                    other.load_state_dict(state)


class Loading(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.top / "small"
        small_rmat(cls.data)
        cls.whole = Dataset(cls.data)

    def loader(self, **options):
        loader = graphmill.Loader(
            self.data, **{**SETTINGS, "as_": "numpy", **options})
        self.addCleanup(loader.close)
        return loader

    # -- exactness

    def test_batches_do_not_depend_on_parts_threads_and_storage(self):
        expected = batches(self.data)
        self.assertGreater(len(expected), 6)
        for parts, method in (2, "random"), (4, "metis"):
            cut = partitioned(self.data, parts, method)
            self.assertEqual(batches(cut), expected)
            self.assertEqual(batches(cut, storage="disk", threads=3), expected)
        self.assertEqual(batches(self.data, threads=4, prefetch=1), expected)
        self.assertEqual(batches(self.data, budget=1), expected)
        self.assertNotEqual(batches(self.data, seed=8), expected)

    def test_methods(self):
        """Each draws what its name says, in any parts."""
        uniform = batches(self.data)
        data = weighted(self.data, self.top / "weighted", random_weights)
        for options in ({"method": "labor"}, {"replace": True},
                        {"method": "weighted"},
                        {"method": "weighted", "replace": True}):
            with self.subTest(options):
                expected = batches(data, **options)
                self.assertNotEqual(expected, batches(data))
                self.assertEqual(batches(partitioned(data, 2, "random"),
                                         **options), expected)
        self.assertEqual(batches(self.data, method="uniform"), uniform)
        state = self.loader().state_dict()
        with self.assertRaises(graphmill.StateError):
            self.loader(method="labor").load_state_dict(state)
        nodes = {method: sum(batch.num_nodes for batch in
                             self.loader(method=method, batch_size=100))
                 for method in ("uniform", "labor")}
        self.assertLess(nodes["labor"], nodes["uniform"])
        with graphmill.Loader(data, [2, 2], method="weighted", replace=True,
                              as_="numpy", edge_weights=True) as loader:
            for batch in loader:
                # Of weight 0 are only those in whose list all are.
                lists = np.zeros(batch.num_nodes)
                np.add.at(lists, batch.edge_index[1], batch.edge_weight)
                nothing = batch.edge_index[1][batch.edge_weight == 0]
                self.assertTrue((lists[nothing] == 0).all())

    def test_numbers_of_numpy(self):
        options = {"batch_size": np.int64(33), "seed": np.uint8(7),
                   "replace": np.bool_(False), "shuffle": np.bool_(True),
                   "prefetch": np.int32(2), "fanouts": np.array([4, 3]),
                   "degrees": np.bool_(False), "rank": np.int64(0)}
        self.assertEqual(batches(self.data, **options), batches(self.data))

    def test_arguments_of_others(self):
        """Those of PyG's loaders, of torch's below, and of no one."""
        for name, instead in (
                ("num_neighbors", "`fanouts`"), ("input_nodes", "`seeds`"),
                ("input_time", "node_time"), ("directed", "`subgraph_type`"),
                ("temporal_strategy", "latest=True"),
                ("time_attr", 'time="inclusive"'),
                ("weight_attr", 'method="weighted"'),
                ("transform_sampler_output", "`transform`"),
                ("is_sorted", "leave it out"), ("num_workers", "`threads`"),
                ("filter_per_worker", "`prefetch`"), ("pairs", "LinkLoader"),
                ("batchsize", "did you mean `batch_size`"),
                ("colour", "help\\(graphmill.Loader\\)")):
            with self.subTest(name), self.assertRaisesRegex(
                    graphmill.DefinitionError, f"no argument `{name}`.*{instead}"):
                graphmill.Loader(self.data, [2], **{name: None})
        for name, instead in (("neg_sampling", "`negatives`"),
                              ("edge_label_index", "`pairs`"),
                              ("edge_label_time", "`time`")):
            with self.assertRaisesRegex(graphmill.DefinitionError, instead):
                graphmill.LinkLoader(self.data, [2], **{name: None})
        with self.assertRaisesRegex(graphmill.DefinitionError, "a dict: .*import_"):
            graphmill.Loader({"x": 1}, [2])

    def test_batches_are_those_of_train(self):
        for ranks in 1, 2:
            definition = merged(runs.SMALL, {
                "train": {"record_steps": True, "seed_order": "global"},
                "trainer": {"replicas": ranks}})
            summary = self.train(definition, self.data)
            lines = (pathlib.Path(summary["run"]) / "steps.jsonl").read_text()
            trained = {}
            for line in map(json.loads, lines.splitlines()):
                if line["phase"] == "train":
                    trained[line["epoch"], line["step"],
                            line["rank"]] = line["seeds"]
            fed = {}
            for rank in range(ranks):
                loader = self.loader(rank=rank, world_size=ranks)
                for epoch in range(2):
                    for batch in loader:
                        key = batch.key
                        fed[epoch + 1, key.step + 1, rank] = (
                            batch.n_id[:batch.batch_size].tolist())
            first = min(trained)  # Whether they count from 0 or from 1.
            shift = 1 - first[0], 1 - first[1]
            self.assertEqual(
                {(e + shift[0], s + shift[1], r): seeds
                 for (e, s, r), seeds in trained.items()}, fed)

    def test_neighbours_are_those_of_train(self):
        """By the losses of a model of two layers that hardly changes."""
        definition = merged(runs.SMALL, {
            "model": {"dropout": 0}, "optimizer": {"learning_rate": 1e-9},
            "train": {"record_steps": True, "seed_order": "global"}})
        summary = self.train(definition, self.data)
        lines = (pathlib.Path(summary["run"]) / "steps.jsonl").read_text()
        trained = [line for line in map(json.loads, lines.splitlines())
                   if line["phase"] == "train"]
        weights, loader = self.weights(summary), self.loader()
        fed = [batch.copy() for _ in range(2) for batch in loader]
        self.assertEqual(len(fed), len(trained))
        for batch, line in zip(fed, trained):
            logits = two_layers(weights, batch)
            logits -= logits.max(1, keepdims=True)
            logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
            loss = -logs[np.arange(batch.batch_size), batch.y].sum()
            self.assertAlmostEqual(loss / line["loss_sum"], 1, delta=1e-4)

    def test_any_number_of_ranks_shares_the_same_steps(self):
        expected = [batch.n_id[:batch.batch_size].tolist()
                    for batch in self.loader()]
        for world in 2, 3, 5:
            loaders = [self.loader(rank=rank, world_size=world)
                       for rank in range(world)]
            self.assertEqual({len(loader) for loader in loaders},
                             {len(expected)})
            for wanted, *made in zip(expected, *loaders):
                self.assertEqual(wanted, [
                    seed for batch in made
                    for seed in batch.n_id[:batch.batch_size].tolist()])
                self.assertAlmostEqual(sum(b.weight for b in made), world)

    def test_a_rank_may_have_no_seeds(self):
        loader = self.loader(seeds=[5, 6, 7], batch_size=2, rank=1, world_size=2,
                             shuffle=False)
        first, last = [batch.copy() for batch in loader]
        self.assertEqual(first.n_id[:1].tolist(), [6])
        self.assertEqual((last.batch_size, last.global_batch_size), (0, 1))
        self.assertEqual((last.x.shape, last.edge_index.shape, last.weight),
                         ((0, 12), (2, 0), 0))

    def test_it_goes_on_from_every_step_at_any_world_size(self):
        expected = batches(self.data)
        steps = len(self.loader())
        loader = self.loader()
        rows = {batch.key[1:3]: batch.input_id.tolist()
                for _ in range(2) for batch in loader}
        for at in range(2 * steps):
            loader = self.loader()
            state = loader.state_dict()
            done = 0
            while done < at:
                for batch in loader:
                    done += 1
                    state = loader.state_dict()
                    if done == at:
                        break
            state = json.loads(json.dumps(state))
            resumed = self.loader()
            resumed.load_state_dict(state)
            self.assertEqual(resumed.epoch, at // steps)
            made = {}
            while len(made) < 2 * steps - at:
                for batch in resumed:
                    made[batch.key.epoch, batch.key.step] = batch.digest()
            self.assertEqual(made, {key: digest for number, (key, digest)
                                    in enumerate(sorted(expected.items()))
                                    if number >= at})
            others = [self.loader(rank=rank, world_size=3) for rank in range(3)]
            shared = []
            for other in others:
                other.load_state_dict(state)
                batch = next(iter(other))
                self.assertEqual(batch.key[1:3], divmod(at, steps))
                shared += batch.input_id.tolist()
            self.assertEqual(shared, rows[divmod(at, steps)])
            for one in loader, resumed, *others:
                one.close()

    def test_states_of_others_are_refused(self):
        state = self.loader().state_dict()
        with self.assertRaisesRegex(graphmill.StateError,
                                    "seed is 7 in the state and 8 here"):
            self.loader(seed=8).load_state_dict(state)
        other = self.loader(fanouts=[4], method="labor", batch_size=40, seeds=[3])
        with self.assertRaises(graphmill.StateError) as told:
            other.load_state_dict({**state, "dataset": "f00"})
        self.assertEqual(str(told.exception), (
            "the state is of another loader: its dataset has the digest f00, and that "
            f"of this loader {state['dataset']}; fanouts is [4, 3] in the state and "
            "[4] here; method is 'uniform' in the state and 'labor' here; batch_size "
            "is 33 in the state and 40 here; seeds is given here and not in the state."
            " Make the loader as it was, or begin anew with load_state_dict({})"
        ).replace("seeds is", "seeds are"))
        with self.assertRaisesRegex(graphmill.StateError, "seeds are others"):
            self.loader(seeds=[4]).load_state_dict(
                self.loader(seeds=[5]).state_dict())
        for options, said in (
                ({"overrides": ["train.shuffle=false"]}, "shuffle is True in the "
                 "state and False here"),
                ({"seed_order": "local", "rank": 0, "world_size": 2},
                 "seed_order is not given in the state and 'local' here"),
                ({"overrides": ["evaluate.neighbours=all"]},
                 "evaluate.neighbours is not given in the state and 'all' here")):
            with self.subTest(options), self.assertRaisesRegex(
                    graphmill.StateError, said):
                self.loader(**options).load_state_dict(state)
        self.loader(shuffle=True).load_state_dict(state)
        # Of older packages, too.
        self.assertEqual(len(json.loads(state["definition"])), 6)
        with self.assertRaisesRegex(graphmill.StateError, "its dataset has the digest"):
            self.loader().load_state_dict({**state, "dataset": "f00"})

    # -- what is in a batch

    def test_states_that_are_none(self):
        loader = self.loader()
        state = loader.state_dict()
        for wrong in 5, None, {"epoch": 1}, {**state, "step": len(loader)}:
            with self.assertRaises(graphmill.StateError):
                loader.load_state_dict(wrong)
        with self.assertRaisesRegex(graphmill.DefinitionError, "epoch"):
            loader.load_state_dict({**state, "epoch": -1})

    def test_imports_that_are_refused(self):
        graph = {"edge_index": [[0, 1], [1, 0]], "num_nodes": 2, "y": [0, 1],
                 "train_mask": [True, True]}
        file = self.top / "file"
        file.write_text("")
        masked = np.ma.array([[1.0], [2.0]], mask=[[False], [True]])
        for why, place, change, options in (
                ("cannot write into", file / "data", {}, {}),
                ("list of texts", self.top / "no", {},
                 {"import_flags": "--sparse"}),
                ("masked values", self.top / "no", {"x": masked}, {})):
            with self.assertRaisesRegex(graphmill.DataError, why):
                graphmill.import_({**graph, **change}, place, **options)
        self.assertFalse((self.top / "no").exists())

    def test_one_thread_at_a_time(self):
        entered, leave = threading.Event(), threading.Event()

        def wait(batch):
            entered.set()
            self.assertTrue(leave.wait(runs.PATIENCE_SECONDS))
            return batch.key.step

        loader = self.loader(transform=wait)
        running, steps = iter(loader), []
        first = threading.Thread(target=lambda: steps.append(next(running)))
        first.start()
        self.assertTrue(entered.wait(runs.PATIENCE_SECONDS))
        # That is not an error of the epoch.
        for ask in running.__next__, loader.__iter__, loader.verdict:
            with self.assertRaisesRegex(graphmill.StateError, "another thread"):
                ask()
        leave.set()
        first.join(runs.PATIENCE_SECONDS)
        self.assertEqual(steps + list(running), list(range(len(loader))))

    def test_induced_batches_have_all_edges_among_their_nodes(self):
        name, = self.whole.edge_types()
        edges = self.whole.edges(name)
        for fanouts in [4, 3], [5]:
            sampled = [batch.copy() for batch in self.loader(fanouts=fanouts)]
            made = [batch.copy() for batch in self.loader(
                fanouts=fanouts, subgraph_type="induced", edge_ids=True)]
            more = 0
            for before, batch in zip(sampled, made, strict=True):
                self.assertEqual(batch.n_id.tolist(), before.n_id.tolist())
                inside = np.isin(edges, batch.n_id).all(axis=0)
                self.assertEqual(np.sort(batch.e_id).tolist(),
                                 np.flatnonzero(inside).tolist())
                self.assertTrue(np.array_equal(batch.n_id[batch.edge_index],
                                               edges[:, batch.e_id]))
                self.assertEqual(sum(batch.num_sampled_edges),
                                 batch.edge_index.shape[1])
                self.assertEqual(
                    batch.num_sampled_nodes[:2],
                    [batch.batch_size, batch.num_nodes - batch.batch_size])
                more += batch.edge_index.shape[1] > before.edge_index.shape[1]
            self.assertGreater(more, 0)

    def test_bidirectional_batches_have_sampled_edges_both_ways(self):
        for fanouts in [4, 3], [5]:
            sampled = [batch.copy() for batch in self.loader(fanouts=fanouts)]
            made = [batch.copy() for batch in self.loader(
                fanouts=fanouts, subgraph_type="bidirectional", edge_ids=True)]
            for before, batch in zip(sampled, made, strict=True):
                self.assertEqual(batch.n_id.tolist(), before.n_id.tolist())
                one_way = collections.Counter(zip(*before.edge_index.tolist()))
                self.assertEqual(
                    collections.Counter(zip(*batch.edge_index.tolist())),
                    one_way | collections.Counter(
                        {pair[::-1]: n for pair, n in one_way.items()}))

    def test_subgraphs_do_not_depend_on_parts_threads_and_storage(self):
        cut = partitioned(self.data, 3, "random")
        for kind in "induced", "bidirectional":
            expected = batches(self.data, subgraph_type=kind)
            self.assertNotEqual(batches(self.data), expected)
            for source in self.data, cut:
                self.assertEqual(
                    batches(source, subgraph_type=kind, storage="disk",
                            threads=3), expected)

    def test_visits_weigh_edges(self):
        options = {"method": "pinsage", "walks": 12, "walk_length": 3,
                   "restart": 0.25, "edge_weights": True}
        edges = 0
        for batch in self.loader(**options):
            _, ends = batch.edge_index
            visits = batch.edge_weight
            self.assertTrue((visits == visits.astype(int)).all())
            self.assertTrue((visits >= 1).all())
            per_node = np.bincount(ends, visits, batch.num_nodes)
            self.assertLessEqual(per_node.max(), 12 * 3)
            self.assertLessEqual(np.bincount(ends).max(), 4)
            same = ends[1:] == ends[:-1]  # The most visited first.
            self.assertTrue((visits[1:] <= visits[:-1])[same].all())
            edges += len(visits)
        self.assertGreater(edges, 0)

    def test_budgets_and_walks_take_all_edges_among_their_nodes(self):
        name, = self.whole.edge_types()
        edges = self.whole.edges(name)
        for options, most in (
                ({"method": "hgt", "fanouts": [20, 10]}, 30),
                ({"method": "saint", "fanouts": [-1, -1], "walk_length": 3},
                 33 * 3)):
            found = 0
            for batch in self.loader(edge_ids=True, **options):
                new = batch.num_nodes - batch.batch_size
                self.assertLessEqual(new, most)
                found += new
                inside = np.isin(edges, batch.n_id).all(axis=0)
                self.assertEqual(np.sort(batch.e_id).tolist(),
                                 np.flatnonzero(inside).tolist())
            self.assertGreater(found, 0)

    def test_walks_and_budgets_do_not_depend_on_parts_and_storage(self):
        cut = partitioned(self.data, 3, "random")
        for options in ({"method": "pinsage", "edge_weights": True},
                        {"method": "hgt", "fanouts": [20, 10]},
                        {"method": "saint", "fanouts": [-1, -1]}):
            with self.subTest(options):
                expected = batches(self.data, **options)
                self.assertEqual(batches(cut, storage="disk", threads=3,
                                         **options), expected)

    def test_subgraphs_that_there_are_not(self):
        for options, said in (
                ({"subgraph_type": "all"}, "directional, bidirectional, induced"),
                ({"method": "best"}, "uniform, weighted"),
                ({"method": "pinsage", "edge_ids": True}, "leave edge_ids"),
                ({"method": "saint"}, "-1 or 0"),
                ({"walks": 3}, "is for `method=\"pinsage\"`"),
                ({"method": "weighted"}, "have no weights")):
            with self.subTest(options), self.assertRaisesRegex(
                    graphmill.DefinitionError, said):
                next(iter(self.loader(**options)))
        state = self.loader().state_dict()
        with self.assertRaises(graphmill.StateError):
            self.loader(subgraph_type="induced").load_state_dict(state)

    def test_arrays_are_those_of_the_dataset(self):
        features = self.whole.node_array("node", "features")
        labels = self.whole.node_array("node", "labels")
        name, = self.whole.edge_types()
        edges = self.whole.edges(name)
        loader = self.loader(edge_ids=True, degrees=True)
        for batch in loader:
            source, destination = batch.edge_index
            np.testing.assert_array_equal(batch.x, features[batch.n_id])
            np.testing.assert_array_equal(
                batch.y, labels[batch.n_id[:batch.batch_size]])
            np.testing.assert_array_equal(
                self.whole.node_array("node", "train")[batch.input_id],
                batch.n_id[:batch.batch_size])
            np.testing.assert_array_equal(
                np.stack([batch.n_id[source], batch.n_id[destination]]),
                edges[:, batch.e_id])
            np.testing.assert_array_equal(
                batch.degree, np.bincount(edges[1], minlength=len(labels))[
                    batch.n_id])
            self.assertEqual(sum(batch.num_sampled_nodes), len(batch.n_id))
            self.assertEqual(sum(batch.num_sampled_edges), len(source))
            self.assertEqual(batch.num_sampled_nodes[0], batch.batch_size)
            # The edges of the first hop end at seeds.
            self.assertLess(destination[:batch.num_sampled_edges[0]].max(),
                            batch.batch_size)
            self.assertLessEqual(np.bincount(destination).max(), 4)

    def test_lists_are_the_pairs(self):
        pairs = [batch.copy() for batch in self.loader()]
        for pair, lists in zip(pairs, self.loader(form="csr"), strict=True):
            rows = np.repeat(np.arange(len(lists.indptr) - 1),
                             np.diff(lists.indptr))
            np.testing.assert_array_equal(pair.edge_index,
                                          np.stack([lists.indices, rows]))

    def test_several_types(self):
        data = typed_dataset(self.top / "typed")
        whole = Dataset(data)
        features = whole.node_array("paper", "features")
        labels = whole.node_array("paper", "labels")
        options = {"fanouts": {"default": [3, 2],
                               ("author", "writes", "paper"): [2, 0]},
                   "batch_size": 20, "edge_ids": True, "edge_weights": True}
        cut = partitioned(data, 3, "random")
        self.assertEqual(batches(cut, **options), batches(data, **options))
        loader = graphmill.Loader(data, as_="numpy", **options)
        self.addCleanup(loader.close)
        for batch in loader:
            np.testing.assert_array_equal(batch["paper"].x,
                                          features[batch["paper"].n_id])
            np.testing.assert_array_equal(
                batch.y, labels[batch["paper"].n_id[:batch.batch_size]])
            self.assertEqual(list(batch.x_dict), ["paper"])
            for kind, pairs in batch.edge_index_dict.items():
                edges = whole.edges("__".join(kind))
                drawn = np.stack([batch[kind[0]].n_id[pairs[0]],
                                  batch[kind[2]].n_id[pairs[1]]])
                np.testing.assert_array_equal(drawn, edges[:, batch[kind].e_id])
            cites = "paper", "cites", "paper"
            weights = whole.edge_array("__".join(cites), "weights")
            np.testing.assert_array_equal(batch[cites].edge_weight,
                                          weights[batch[cites].e_id])
            self.assertEqual(
                batch.num_sampled_edges["author", "writes", "paper"][1], 0)
            with self.assertRaisesRegex(AttributeError, "several types"):
                batch.edge_index
            self.check_names_of_pyg(batch)

    def check_names_of_pyg(self, batch):
        """Of HeteroData that NeighborLoader makes, and what to use in place of others
        of its names."""
        paper, cites = batch["paper"], ("paper", "cites", "paper")
        self.assertEqual(batch.input_type, "paper")
        self.assertEqual(paper.batch_size, batch.batch_size)
        np.testing.assert_array_equal(paper.input_id, batch.input_id)
        self.assertEqual(batch.num_sampled_nodes_dict, batch.num_sampled_nodes)
        self.assertEqual(batch.num_sampled_edges_dict, batch.num_sampled_edges)
        self.assertEqual(paper.num_sampled_nodes, batch.num_sampled_nodes["paper"])
        self.assertEqual(batch[cites].num_sampled_edges,
                         batch.num_sampled_edges[cites])
        self.assertEqual(batch[cites].num_edges, batch[cites].edge_index.shape[1])
        self.assertEqual(batch.num_edges, sum(
            pairs.shape[1] for pairs in batch.edge_index_dict.values()))
        self.assertEqual(batch.metadata(), (batch.node_types, batch.edge_types))
        # By its ends or its name, which no other edge type has.
        for short in ("author", "paper"), "writes":
            np.testing.assert_array_equal(
                batch[short].edge_index,
                batch["author", "writes", "paper"].edge_index)
        for name, there in (("x", True), ("paper", True), (cites, True),
                            ("pos", False), ("author", True)):
            self.assertEqual(name in batch, there, name)
        self.assertEqual(("x" in paper, "x" in batch["author"]), (True, False))
        with self.assertRaisesRegex(KeyError, "no type of this graph.*'author'"):
            batch["venue"]
        for ask, said in (
                (lambda: batch.train_mask, "seeds of one split"),
                (lambda: batch.x, "see x_dict, or batch\\['paper'\\].x"),
                (lambda: batch.cuda(), "use to\\(\"cuda\"\\)"),
                (lambda: batch.degree, "degrees=True"),
                (lambda: batch.edge_attr_dict, "edge_attr=True"),
                (lambda: batch.seed_time, "edge_ages=True"),
                (lambda: batch["author"].x, "'author' has no x.*'paper' has"),
                (lambda: batch["author"].batch_size, "seeds are of 'paper'"),
                (lambda: batch["author"].num_sampled_edges, "edge types have"),
                (lambda: batch[cites].num_nodes, "node types have"),
                (lambda: batch.colour, "no colour; there are .*n_id")):
            with self.subTest(said), self.assertRaisesRegex(AttributeError, said):
                ask()

    def test_names_of_pyg_of_one_type(self):
        batch = next(iter(self.loader()))
        self.assertIs(batch["x"], batch.x)
        self.assertEqual(batch.num_edges, batch.edge_index.shape[1])
        self.assertEqual(batch["node"].batch_size, batch.batch_size)
        for name, said in (("x_dict", "one type, see x$"),
                           ("num_sampled_nodes_dict", "see num_sampled_nodes$"),
                           ("val_mask", "seeds of one split"),
                           ("edge_weight", "edge_weights=True")):
            with self.subTest(name), self.assertRaisesRegex(AttributeError, said):
                getattr(batch, name)

    def test_assigned_values(self):
        batch = next(iter(self.loader()))
        kind, = batch.edge_types
        before, sampled = batch.digest(), batch.x
        batch["node"].x = batch.x + 1
        batch.place = np.arange(batch.num_nodes)
        batch[kind].share = np.ones(batch.num_edges)
        copied = batch.copy()
        for other in copied, pickle.loads(pickle.dumps(batch)), batch.as_numpy():
            np.testing.assert_array_equal(other.x, sampled + 1)
            np.testing.assert_array_equal(other["node"].place, batch.place)
            np.testing.assert_array_equal(other.share, batch[kind].share)
            self.assertEqual(other.digest(), before)
        self.assertIs(batch["place"], batch["node"].place)
        self.assertFalse(np.shares_memory(copied.place, batch.place))
        for name in "copy", "key", "digest", "num_nodes", "weight":
            for of in batch, batch["node"]:
                with self.assertRaisesRegex(AttributeError, "choose another name"):
                    setattr(of, name, 1)
        with self.assertRaisesRegex(AttributeError, "'node' has it"):
            batch[kind].x = sampled
        batch.release()
        with self.assertRaisesRegex(graphmill.Error, "released"):
            batch.x

    def test_assigned_values_of_several_types(self):
        data = typed_dataset(self.top / "assigned")

        def with_rows(batch):
            batch["author"].x = batch["author"].n_id[:, None] * 1.0
            batch.y = batch.y + 1
            batch.note = "told"
            return batch
        with graphmill.Loader(data, [3, 2], as_="numpy", transform=with_rows
                              ) as loader:
            batch = next(iter(loader))
        for other in batch, batch.copy(), pickle.loads(pickle.dumps(batch)):
            self.assertEqual(set(other.x_dict), {"author", "paper"})
            np.testing.assert_array_equal(other["author"].x[:, 0],
                                          other["author"].n_id)
            self.assertGreaterEqual(other["paper"].y.min(), 1)
            self.assertEqual((other.note, other.digest()), ("told", batch.digest()))
        batch["author"].weight = batch["author"].n_id
        self.assertEqual(("x" in batch["author"], "note" in batch,
                          list(batch.weight_dict)), (True, True, ["author"]))
        for name, said in (("x", "see x_dict, or batch\\['paper'\\].x"),
                           ("x_dict", "batch\\['paper'\\].x = "),
                           ("copy", "choose another name")):
            with self.assertRaisesRegex(AttributeError, said):
                setattr(batch, name, {})

    def test_what_batches_say_of_themselves(self):
        batch = next(iter(self.loader()))
        nodes, edges = batch.num_nodes, batch.num_edges
        self.assertEqual(repr(batch), (
            f"Batch({batch.key}, batch_size=33, num_nodes={nodes}, "
            f"x=[{nodes}, 12], n_id=[{nodes}], y=[33], input_id=[33], "
            f"edge_index=[2, {edges}])"))
        self.assertLessEqual({"x", "y", "edge_index", "copy"}, set(dir(batch)))
        batch.part = batch.x[:5]
        self.assertIn("part=[5, 12]", repr(batch))
        self.assertIn("part", dir(batch))
        with graphmill.Loader(typed_dataset(self.top / "said"), [3], as_="numpy"
                              ) as loader:
            batch = next(iter(loader))
        paper, author = (batch[of].num_nodes for of in ("paper", "author"))
        inner = f"n_id=[{paper}], x=[{paper}, 5], y=[50], input_id=[50]"
        self.assertEqual(repr(batch["paper"]), f"TypeView('paper', {inner})")
        self.assertIn(f"'author'={{n_id=[{author}]}}, 'paper'={{{inner}}}, ",
                      repr(batch))
        self.assertNotIn("\n", repr(batch))
        names = {"x_dict", "edge_index_dict", "y", "num_nodes_dict"}
        self.assertLessEqual(names, set(dir(batch)))
        self.assertNotIn("x", dir(batch))
        self.assertIn("x", dir(batch["paper"]))
        for name in set(dir(batch)) | names:
            getattr(batch, name)
        self.assertEqual(batch.num_nodes_dict, {"author": author, "paper": paper})
        self.assertEqual(batch.batch_size_dict, {"paper": 50})
        self.assertEqual(sum(batch.num_edges_dict.values()), batch.num_edges)
        with self.assertRaisesRegex(AttributeError, "key_dict: see key$"):
            batch.key_dict

    def test_every_type_has_fanouts(self):
        data = typed_dataset(self.top / "fanouts")
        cites, writes = ("paper", "cites", "paper"), ("author", "writes", "paper")
        some = {cites: [4, 3, 2]}
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "none for author__writes__paper"):
            batches(data, fanouts=some)
        # Of "hgt", they are of node types.
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "none for author, paper: name each type"):
            batches(data, method="hgt", fanouts={"journal": [6]})
        said = batches(data, fanouts={**some, writes: [2, 0, 1]})
        for other in ({**some, "default": [2, 0, 1]},
                      {"cites": [4, 3, 2], "writes": [2, 0, 1]}):
            self.assertEqual(batches(data, fanouts=other), said)

    def test_kinds_of_labels(self):
        """Of label sets and of a type's own; of the last nodes none is known."""
        rng = np.random.default_rng(6)
        own = rng.integers(0, 3, 60)
        tags = rng.integers(0, 2, (60, 4)).astype(np.uint8)
        sizes = rng.normal(size=(60, 2)).astype(np.float32)
        own[50:], tags[50:], sizes[50:] = -1, 255, np.nan
        splits = {f"train_idx{of}": np.arange(40) for of in ("", ".tags", ".sizes")}
        several = sixty_nodes(self.top, "tags", labels=tags, train_idx=np.arange(40))
        numbers = sixty_nodes(self.top, "sizes", None, "--regression", labels=sizes,
                              train_idx=np.arange(40))
        sets = sixty_nodes(self.top, "sets", None, "--regression-set", "sizes",
                           labels=own, **{"labels.tags": tags,
                                          "labels.sizes": sizes}, **splits)
        parts = {data: partitioned(data, 2, "random")
                 for data in (several, numbers, sets)}
        for data, name, labels in (
                (several, None, tags), (numbers, None, sizes), (sets, None, own),
                (sets, "tags", tags), (sets, "sizes", sizes)):
            for source in data, parts[data]:
                with self.subTest(source=source.name, labels=name), graphmill.Loader(
                        source, [2], as_="numpy", labels=name, batch_size=7,
                        seeds=rng.permutation(60)) as loader:
                    for batch in loader:
                        expected = labels[batch.n_id[:batch.batch_size]]
                        self.assertEqual(batch.y.dtype, labels.dtype)
                        np.testing.assert_array_equal(batch.y, expected)

    def test_seeds_of_ones_own(self):
        mask = np.zeros(1024, bool)
        mask[[3, 900, 17]] = True
        for seeds in mask, [3, 17, 900], ("node", [3, 17, 900]):
            batch, = self.loader(seeds=seeds, split="test")
            self.assertEqual(batch.n_id[:3].tolist(), [3, 17, 900])
        cut = partitioned(self.data, 3, "random")
        for source in self.data, cut:
            batch = graphmill.open(source).sample([900, 3], [2, 2], as_="numpy")
            self.assertEqual(batch.n_id[:2].tolist(), [900, 3])
        for seeds, why in ([3, 3], "twice"), ([1024], "go from 0 to 1023"):
            with self.assertRaisesRegex(graphmill.DefinitionError, why):
                next(iter(self.loader(seeds=seeds)))

    def samplers(self, graph):
        """Processes that wait for its next sample, by the options."""
        return [loader.engine_pid for _, loader in graph._samplers._idle]

    def test_samples_share_an_engine(self):
        cut = partitioned(self.data, 3, "random")
        options = {"as_": "numpy", "edge_ids": True}
        wanted = [[900, 3], [7], list(range(1000)), [3, 900], [900, 3]]

        def fresh(ids):
            with graphmill.open(self.data) as graph:
                return graph.sample(ids, [3, 2], **options).digest()

        expected = [fresh(ids) for ids in wanted]
        self.assertEqual(expected[0], expected[4])
        self.assertEqual(len({*expected}), 4)
        for source in self.data, cut:
            with graphmill.open(source) as graph:
                kept = [graph.sample(ids, [3, 2], **options) for ids in wanted]
                self.assertEqual([batch.digest() for batch in kept], expected)
                one, = self.samplers(graph)
                with concurrent.futures.ThreadPoolExecutor(3) as threads:
                    self.assertEqual([*threads.map(
                        lambda ids: graph.sample(ids, [3, 2], **options).digest(),
                        wanted * 4)], expected * 4)
                with self.assertRaisesRegex(graphmill.DefinitionError, "twice"):
                    graph.sample([3, 3], [3, 2], **options)
                os.kill(self.samplers(graph)[-1], signal.SIGKILL)
                self.assertEqual(graph.sample(wanted[0], [3, 2], **options).digest(),
                                 expected[0])
                for fanout in range(1, 7):
                    graph.sample([7], [fanout], as_="numpy")
                left = self.samplers(graph)
                self.assertEqual(len(left), 4)
            for pid in one, *left:
                wait_until(lambda: not is_running(pid), "the end of a sampler")

    def test_samples_differ_by_their_options(self):
        """Also by those that look the same."""
        class Named:
            def __init__(self, name):
                self.name = name

            def __call__(self, batch):
                return self.name

            def __repr__(self):
                return "a transform"

        file = self.top / "sampling.yaml"
        with graphmill.open(self.data) as graph:
            for name in "first", "second":
                self.assertEqual(graph.sample([7], [2], transform=Named(name)), name)
            for fanout in 1, 2:
                batch = graph.sample([900], map(int, [fanout]), as_="numpy")
                self.assertEqual(batch.num_edges, fanout)
                batch = graph.sample(
                    [900], [3], as_="numpy",
                    overrides=iter([f"sampler.fanouts=[{fanout}]"]))
                self.assertEqual(batch.num_edges, fanout)
                file.write_text(
                    f"name: x\ndataset: small\nsampler: {{fanouts: [{fanout}]}}\n")
                batch = graph.sample([900], None, definition=file, as_="numpy")
                self.assertEqual(batch.num_edges, fanout)
            with self.assertRaisesRegex(graphmill.DefinitionError, "give a function"):
                graph.sample([7], [2], transform=3)

    def test_samples_are_of_the_dataset_that_is_there(self):
        data = self.top / "replaced"
        small_rmat(data)
        with graphmill.open(data) as graph:
            before = graph.sample([7], [2], as_="numpy").digest()
            small_rmat(self.top / "other", seed=4)
            shutil.rmtree(data)
            (self.top / "other").rename(data)
            after = graph.sample([7], [2], as_="numpy").digest()
        with graphmill.open(data) as graph:
            self.assertEqual(after, graph.sample([7], [2], as_="numpy").digest())
        self.assertNotEqual(after, before)

    def test_samples_of_a_closed_graph_leave_no_engine(self):
        graph = graphmill.open(self.data)
        graph.sample([7], [2], as_="numpy")
        one, = self.samplers(graph)
        graph.close()
        self.assertFalse(is_running(one))
        graph.sample([7], [2], as_="numpy")
        self.assertEqual(self.samplers(graph), [])

    def test_closing_wakes_a_waiting_thread(self):
        with graphmill.open(self.data) as graph, \
                concurrent.futures.ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(graph.sample, [7], [2], overrides=SLOW)
            wait_until(lambda: any(loader._engine for loader in graph._loaders),
                       "the engine of a sample")
            graph.close()
            with self.assertRaises(graphmill.Cancelled):
                waiting.result(runs.PATIENCE_SECONDS)

    def test_a_larger_sample(self):
        """Than the engine was started for."""
        data = self.top / "larger"
        small_rmat(data, scale=11)
        with graphmill.open(data) as graph:
            for count in 3, 2048, 1025:
                batch = graph.sample(range(count), [2], as_="numpy")
                self.assertEqual(batch.n_id[:batch.batch_size].tolist(),
                                 [*range(count)])
            self.assertEqual(len(self.samplers(graph)), 2)

    def test_a_fork_samples_by_an_engine_of_its_own(self):
        graph = graphmill.open(self.data)
        self.addCleanup(graph.close)
        expected = graph.sample([900, 3], [3, 2], as_="numpy").digest()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = int(graph.sample([900, 3], [3, 2], as_="numpy").digest()
                             != expected)
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(graph.sample([900, 3], [3, 2], as_="numpy").digest(), expected)

    def test_seeds_of_another_type(self):
        """Batches of all neighbours have the nodes that two hops find from authors,
        by the edges of the dataset."""
        data = typed_dataset(self.top / "of-authors", "--reverse")
        whole = Dataset(data)
        into = collections.defaultdict(set)
        for kind in graphmill.open(data).info.edge_types:
            for source, end in whole.edges("__".join(kind)).T.tolist():
                into[kind[2], end].add((kind[0], source))
        seeds = [29, 3, 17, 8]
        options = {"seeds": ("author", seeds), "batch_size": 3, "shuffle": False}
        loader = graphmill.Loader(data, [-1, -1], as_="numpy", **options)
        self.addCleanup(loader.close)
        found = []
        for batch in loader:
            own = batch["author"].n_id[:batch.batch_size].tolist()
            near = {("author", seed) for seed in own}
            for _ in range(2):
                near = {*near, *(other for node in near for other in into[node])}
            self.assertEqual({(kind, node) for kind in batch.node_types
                              for node in batch[kind].n_id.tolist()}, near)
            self.assertEqual(batch.input_type, "author")
            with self.assertRaisesRegex(AttributeError, "another type"):
                batch.y
            found += own
        self.assertEqual(found, seeds)
        drawn = {**options, "fanouts": [3, 2], "seeds": ("author", range(30))}
        expected = batches(data, **drawn)
        self.assertEqual(batches(partitioned(data, 3, "random"), **drawn), expected)
        self.assertEqual(batches(data, **drawn, storage="disk"), expected)
        batch = graphmill.open(data).sample(("author", [5]), [2, 2], as_="numpy")
        self.assertEqual(batch["author"].n_id[0], 5)
        self.check_states_of_types(data)
        for wrong, why in (
                ({"seeds": ("author", [30])}, "\"author\" go from 0 to 29"),
                ({"seeds": ("author", np.ones(80, bool))}, "mask of 80 .* there are 30"),
                ({"seeds": ("venue", [1])}, "'venue'.* are .*'author'"),
                ({"seeds": ("author", [1]), "labels": "x"},
                 "\"author\" have no labels: leave labels out")):
            with self.subTest(why), self.assertRaisesRegex(
                    graphmill.DefinitionError, why):
                next(iter(graphmill.Loader(data, [2, 2], **wrong)))

    def check_states_of_types(self, data):
        """The same ids of another type are other seeds."""
        def loader(*type):
            seeds = (*type, [1, 2]) if type else [1, 2]
            out = graphmill.Loader(data, [2, 2], seeds=seeds)
            self.addCleanup(out.close)
            return out
        loader().load_state_dict(loader("paper").state_dict())
        with self.assertRaisesRegex(graphmill.StateError, "seeds are others"):
            loader().load_state_dict(loader("author").state_dict())

    def test_info(self):
        info = graphmill.open(self.data).info
        self.assertEqual((info.num_features, info.num_classes), (12, 4))
        self.assertEqual(info.digest, self.whole.info["digest"])
        self.assertEqual(info.node_types["node"].count, 1024)

    def test_a_definition(self):
        path = self.write(merged(runs.SMALL, {"train": {"seed_order": "global"}}),
                          self.data)
        expected = batches(self.data)
        with graphmill.Loader(self.data, definition=path, as_="numpy") as loader:
            self.assertEqual(expected, {
                (batch.key.epoch, batch.key.step): batch.digest()
                for _ in range(2) for batch in loader})

    # -- order

    def test_an_iterator_that_is_left_early_disturbs_no_other(self):
        expected = batches(self.data)
        loader = self.loader()
        for count in 1, 2, 0:
            loader.load_state_dict({})
            for number, batch in enumerate(loader):
                self.assertEqual(batch.digest(), expected[0, number])
                if number == count:
                    break
        self.assertEqual([batch.digest() for batch in loader],
                         [digest for (epoch, _), digest
                          in sorted(expected.items()) if epoch == 1])
        first = iter(loader)
        next(first)
        iter(loader)
        with self.assertRaisesRegex(graphmill.Cancelled, "newer iterator"):
            next(first)

    def test_epochs_can_be_set(self):
        expected = batches(self.data)
        loader = self.loader()
        for epoch in 1, 0, 1:
            loader.set_epoch(epoch)
            self.assertEqual([batch.digest() for batch in loader],
                             [digest for (of, _), digest
                              in sorted(expected.items()) if of == epoch])

    def test_the_last_step_can_be_dropped(self):
        whole = self.loader()
        dropping = self.loader(drop_last=True)
        self.assertEqual(len(dropping), len(whole) - 1)
        self.assertEqual({batch.batch_size for batch in dropping}, {33})

    # -- what limits

    def test_the_verdict_names_what_limits(self):
        """The loop that takes its time, or the stage that is slow; also while
        batches are waiting that nobody has asked for."""
        for wait, overrides, limit, said in (
                (0.1, [], "loop", "your loop is the limit"),
                (0, ["faults.fetcher_delay_ms=150"], "fetcher", "the fetcher"),
                (0, ["faults.sampler_delay_ms=150"], "sampler", "the sampler")):
            with self.subTest(limit):
                loader = self.loader(overrides=overrides)
                self.assertEqual(loader.verdict().limit, "")
                found, told = {}, []
                for _ in range(3):
                    for batch in loader:
                        found[batch.key[1:3]] = batch.digest()
                        told.append(loader.verdict())
                        time.sleep(wait)
                self.assertEqual(told[-1].limit, limit, told[-1])
                self.assertIn(said, told[-1].sentence)
                self.assertRegex(told[-1].evidence[0], "your loop: busy .* waits")
                expected = batches(self.data, 3)
                self.assertEqual(found, expected)

    # -- memory

    def test_batches_that_are_kept(self):
        kept = []
        with self.assertRaisesRegex(graphmill.CreditError, "you hold 3 batches"):
            for batch in self.loader():
                kept.append(batch.x[:5])  # A view holds all of it.
        loader = self.loader(hold=100)
        kept = list(loader)
        self.assertEqual([batch.digest() for batch in kept],
                         [batch.digest() for batch in self.loader()])
        copies = [batch.copy() for batch in self.loader()]
        self.assertEqual([batch.digest() for batch in copies],
                         [batch.digest() for batch in kept])

    def test_pickles_and_deep_copies_hold_one_batch(self):
        batch = next(iter(self.loader()))
        content = pickle.dumps(batch)
        # The memory of all batches has a GiB.
        self.assertLess(len(content), 1 << 20)
        for other in pickle.loads(content), copy.deepcopy(batch):
            self.assertEqual((other.key, other.digest()),
                             (batch.key, batch.digest()))
            self.assertFalse(np.shares_memory(other.x, batch.x))
            self.assertEqual(pickle.loads(pickle.dumps(other)).digest(),
                             batch.digest())

    def test_memory_is_used_again(self):
        loader = self.loader()
        places = set()
        for _ in range(20):
            for batch in loader:
                places.add(batch.x.ctypes.data)
        self.assertLess(len(places), 40)

    def test_arrays_outlive_their_loader(self):
        loader = self.loader()
        batch = next(iter(loader))
        expected = batch.digest()
        loader.close()
        self.assertEqual(batch.digest(), expected)
        with self.assertRaises(graphmill.Cancelled):
            iter(loader)

    # -- trouble

    def test_a_killed_engine(self):
        loader = self.loader(overrides=SLOW)
        iterator = iter(loader)
        threading.Timer(
            0.2, os.kill, (loader.engine_pid, signal.SIGKILL)).start()
        with self.assertRaisesRegex(graphmill.EngineError, "by signal 9"):
            next(iterator)
        with self.assertRaisesRegex(graphmill.EngineError, "by signal 9"):
            iter(loader)

    def test_a_killed_consumer(self):
        script = ("import graphmill, sys, time\n"
                  f"loader = graphmill.Loader({str(self.data)!r}, [4, 3])\n"
                  "iterator = iter(loader)\n"
                  "print(loader.engine_pid, flush=True)\n"
                  "time.sleep(1000)\n")
        consumer = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "actors/python")})
        self.addCleanup(consumer.stdout.close)
        engine = int(consumer.stdout.readline())
        self.assertTrue(is_running(engine))
        consumer.kill()
        consumer.wait()
        wait_until(lambda: not is_running(engine), "the end of the engine")

    def test_a_fork(self):
        loader = self.loader()
        iterator = iter(loader)
        next(iterator)
        child = os.fork()
        if child == 0:
            try:
                next(iterator)
            except graphmill.ForkError:
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(next(iterator).key.step, 1)

    def test_an_interrupt(self):
        loader = self.loader(overrides=SLOW)
        iterator = iter(loader)
        main = threading.main_thread().ident
        threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            next(iterator)
        engine = loader.engine_pid
        loader.close()
        self.assertFalse(is_running(engine))

    def test_no_batch_in_time(self):
        loader = self.loader(overrides=SLOW)
        iterator = iter(loader)
        loader._timeout = 0.2  # Not of its start, which may take longer.
        for _ in range(2):  # The epoch has not ended.
            with self.assertRaisesRegex(graphmill.Timeout, "no batch within 0.2 s"):
                next(iterator)

    def test_it_goes_on_after_an_error(self):
        broken = [True]

        def transform(batch):
            if batch.key.step == 1 and broken:
                raise LookupError("no such thing")
            return batch.key.step

        loader = self.loader(transform=transform)
        iterator = iter(loader)
        self.assertEqual(next(iterator), 0)
        for _ in range(2):
            with self.assertRaisesRegex(LookupError, "no such thing"):
                next(iterator)
        broken.clear()
        with self.assertRaises(LookupError):
            next(iterator)
        loader.load_state_dict(loader.state_dict())
        self.assertEqual(list(loader), list(range(1, len(loader))))

    def test_the_first_use_of_several_threads(self):
        with self.loader() as loader:
            ready, pids = threading.Barrier(4), []

            def ask():
                ready.wait(runs.PATIENCE_SECONDS)
                pids.append(loader.engine_pid)

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(runs.PATIENCE_SECONDS)
            self.assertEqual(len(pids), 4)
            self.assertEqual(len(set(pids)), 1)

    def test_a_transform_may_not_ask_its_loader(self):
        loader = self.loader(transform=lambda batch: loader.verdict())
        with self.assertRaisesRegex(graphmill.StateError, "by its own transform"):
            next(iter(loader))

    def test_arrays_of_objects(self):
        with graphmill.open(self.data) as graph:
            wanted = graph.sample([7, 3], [2], as_="numpy").digest()
            for seeds in (np.array([7, 3], object), ("node", [7, 3]),
                          np.array([np.int32(7), 3], object)):
                self.assertEqual(graph.sample(seeds, [2], as_="numpy").digest(),
                                 wanted)
            mask = np.zeros(graph.info.node_types["node"].count, bool)
            mask[[3, 7]] = True
            for seeds in mask.astype(object), ("node", mask):
                batch = graph.sample(seeds, [2], as_="numpy")
                self.assertEqual(batch.n_id[:batch.batch_size].tolist(), [3, 7])
                self.assertIn("batch_size", batch)
            for seeds in (np.array([7, None], object), np.array([7, True], object),
                          np.array([7, 1 << 70], object)):
                with self.assertRaises(graphmill.DefinitionError):
                    graph.sample(seeds, [2])
            with self.assertRaisesRegex(graphmill.DefinitionError,
                                        "of type 'author'.*node types are 'node'"):
                graph.sample(("author", [1]), [2])

    def test_damage_is_told(self):
        cut = partitioned(self.data, 1, "random")
        name = next((cut / "part-0/edges").iterdir()) / "indices.npy"
        content = bytearray(name.read_bytes())
        content[-1] ^= 1
        name.write_bytes(content)
        loader = graphmill.Loader(cut, [4, 3], as_="numpy")
        self.addCleanup(loader.close)
        with self.assertRaisesRegex(graphmill.DataError, "indices.npy"):
            deadline = time.monotonic() + runs.PATIENCE_SECONDS
            while time.monotonic() < deadline:
                for _ in loader:
                    pass

    def scripted(self, script, within=()):
        """What a script prints that reads the dataset `sys.argv[1]`."""
        done = subprocess.run(
            [*within, sys.executable, "-c", script, self.data],
            capture_output=True, text=True, timeout=runs.PATIENCE_SECONDS,
            env={**os.environ, "PYTHONPATH": str(ROOT / "actors/python")})
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_few_descriptors(self):
        printed = self.scripted(
            "import resource, sys, graphmill\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
            "loader = graphmill.Loader(sys.argv[1], [4, 3], as_='numpy', "
            "batch_size=3)\n"
            "print(sum(1 for _ in range(5) for _ in loader))\n")
        self.assertGreater(int(printed), 100)

    def test_a_small_shm(self):
        """Batches that are kept take more than /dev/shm has."""
        within = ["unshare", "-m", "--propagation", "private", "sh", "-ec",
                  "mount -t tmpfs -o size=1m none /dev/shm; exec \"$@\"", "sh"]
        probe = subprocess.run([*within, "true"], text=True, capture_output=True)
        if probe.returncode != 0:
            self.skipTest(f"no /dev/shm of its own: {probe.stderr.strip()}")
        room, kept = map(int, self.scripted(
            "import os, sys, graphmill\n"
            "shm = os.statvfs('/dev/shm')\n"
            "loader = graphmill.Loader(sys.argv[1], [-1, -1], as_='numpy', "
            "hold=30)\n"
            "batches = [next(iter(loader)) for _ in range(30)]\n"
            "print(shm.f_frsize * shm.f_blocks, sum(batch.x.nbytes "
            "+ batch.edge_index.nbytes for batch in batches))\n",
            within).split())
        self.assertEqual(room, 1 << 20)
        self.assertGreater(kept, 2 * room)

    def test_the_program_needs_no_models(self):
        linked = subprocess.run(
            ["ldd", pathlib.Path(program()).with_name("graphmill-feed")],
            capture_output=True, text=True, check=True).stdout
        self.assertIn("libcaf_core", linked)
        self.assertNotRegex(linked, "torch|blas")

    def test_ids_and_masks(self):
        """What may be meant in two ways, or would be changed, is refused."""
        nodes = self.whole.node_type("node")["count"]
        graph = graphmill.open(self.data)
        flags = np.zeros(nodes, np.uint8)
        flags[5] = 1
        for given, why in (
                (flags, "8 bits, each 0 or 1.*astype\\(bool\\)"),
                (np.array([2**63], np.uint64), "node 9223372036854775808.*63 bits"),
                ([2**64], "node 18446744073709551616.*63 bits"),
                ([3, -1], "node -1, and ids go from 0 on"),
                ([1.0, 2.0], "type float64.*astype\\(numpy.int64\\)"),
                (["a"], "the type <U1"), (np.ones(nodes - 1, bool), "mask of 1023"),
                ([[1]], "one dimension")):
            for ask in (graph.features, lambda ids: graph.sample(ids, [2]),
                        lambda ids: self.loader(seeds=ids)):
                with self.subTest(why), self.assertRaisesRegex(
                        graphmill.DefinitionError, why):
                    ask(given)
        same = [graph.features(ids).tobytes() for ids in (
            [5, 7], np.array([5, 7], np.uint8), np.array([5, 7], np.uint64),
            np.isin(np.arange(nodes), [5, 7]))]
        self.assertEqual(len(set(same)), 1)
        self.assertEqual(graph.features([False] * nodes).shape, (0, 12))

    def test_errors_speak_of_arguments(self):
        """Not of the flags and fields by which the program knows them."""
        path = self.write(merged(runs.SMALL, {"sampler": {"window": 3}}), self.data)
        for options, said in (
                ({"fanouts": [0]}, "`fanouts` are 0 in every hop, which takes no "
                 "neighbours: .* -1 for all neighbours, or None"),
                ({"fanouts": []}, "`fanouts` has 0 elements"),
                ({"window": 3}, "`window` is for `time=\"strict\"`"),
                ({"method": "hgt", "fanouts": [-1]}, "`fanouts` has -1, and with "
                 "`method=\"hgt\"`"),
                ({"batch_size": 0}, "^`batch_size` is `0`.* seeds$"),
                ({"overrides": ["model.x=3"]}, "`x` is not a field of `model`"),
                ({"definition": path}, r":1:1: `sampler.window` is for `sampler.time")):
            with self.subTest(options), self.assertRaisesRegex(
                    graphmill.DefinitionError, said) as told:
                next(iter(self.loader(**options)))
            self.assertNotIn("--set", str(told.exception))

    def test_values_of_odd_kinds(self):
        """Each is refused with the name of its argument."""
        odd = 5, [1], {"a": 1}, object(), b"x", np.zeros(3)
        for name in ("split", "as_", "form", "time", "method", "subgraph_type",
                     "seed_order", "labels", "definition", "overrides", "storage"):
            for value in odd:
                with self.subTest(name, value=value), self.assertRaisesRegex(
                        graphmill.DefinitionError, f"{name} is "):
                    self.loader(**{name: value})
        for name, value in (("restart", "x"), ("budget", 2.5), ("memory", [1]),
                            ("verify", 3)):
            with self.subTest(name), self.assertRaisesRegex(
                    graphmill.DefinitionError, f"{name} is "):
                self.loader(**{name: value})
        for name in "data", "key", "insecure":
            with self.subTest(name), self.assertRaisesRegex(
                    graphmill.DefinitionError, f"{name} is "):
                graphmill.Loader("tcp://localhost:1", [2], **{name: 5})
        with self.assertRaisesRegex(graphmill.DefinitionError, "source is a bytes"):
            graphmill.Loader(b"data", [2])

    def test_sentences(self):
        def failing(kind, why, source=self.data, **options):
            with self.assertRaisesRegex(kind, why):
                with graphmill.Loader(source, **options) as loader:
                    next(iter(loader))
        wrong = graphmill.DefinitionError
        failing(wrong, 'split is \'dev\'.*as_ is \'jax\'', split="dev", as_="jax")
        failing(wrong, 'device needs as_="torch"', as_="numpy", device="cpu")
        failing(wrong, "rank is 2 of 2", rank=2, world_size=2)
        failing(wrong, "rank is 'a'", rank="a")
        failing(wrong, "7 names no edge type", fanouts={7: [2]})
        failing(wrong, "seeds cannot be read as ids", seeds=[[1], [2, 3]])
        failing(wrong, "fanouts", fanouts=[4, -3])
        failing(wrong, "no weights", fanouts=[2], edge_weights=True)
        failing(wrong, "method is 'best': .*labor", method="best")
        failing(wrong, "labor\"` draws without replacement", fanouts=[2],
                method="labor", replace=True)
        failing(wrong, "`weighted`, but edges of .* have no weights",
                fanouts=[2], method="weighted")
        failing(wrong, "of type 'author'.*node types are 'node'",
                seeds=("author", [1]))
        failing(wrong, "budget is 'many'", budget="many")
        failing(wrong, "no label set", fanouts=[2], labels="colour")
        failing(wrong, "one dimension", seeds=[[1]])
        nodes = self.whole.node_type("node")["count"]
        failing(wrong, "one dimension", seeds=np.ones((nodes, 1), bool))
        failing(wrong, f"mask of 7 nodes, and there are {nodes}",
                seeds=np.ones(7, bool))
        for fanouts in [2.5], [True], [None], ["all"], "all", 5, {}:
            failing(wrong, "fanouts", fanouts=fanouts)
        for name, values in {
                "shuffle": [1, "no"], "drop_last": [2], "timeout": [None, "1", -1],
                "transform": [3], "overrides": ["seed=1"], "prefetch": [1.5],
                "hold": ["x"], "batch_size": [2.5, True], "seed": [1 << 64]}.items():
            for value in values:
                failing(wrong, f"{name} is ", fanouts=[2], **{name: value})
        loader = self.loader()
        for epoch in 1.5, -1, "x":
            with self.assertRaisesRegex(wrong, "epoch is"):
                loader.set_epoch(epoch)
        graph = graphmill.open(self.data)
        with self.assertRaisesRegex(wrong, "leave batch_size out"):
            graph.sample([1], [2], batch_size=1)
        for mask in np.ones((1, nodes), bool), np.ones(nodes + 1, bool):
            with self.assertRaisesRegex(wrong, "mask"):
                graph.features(mask)
            with self.assertRaisesRegex(wrong, "mask"):
                graph.sample(mask, [2])
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            failing(graphmill.Unavailable, "nobody listens", fanouts=[2],
                    source=f"tcp://127.0.0.1:{deaf.getsockname()[1]}",
                    data=self.data, insecure=True)
        failing(graphmill.DataError, "nothing-here",
                source=self.top / "nothing-here")
        with self.assertRaisesRegex(graphmill.Error, "pickled"):
            pickle.dumps(self.loader())
        batch = next(iter(self.loader()))
        with self.assertRaisesRegex(AttributeError, "no e_id"):
            batch.e_id

    def test_a_split_without_nodes(self):
        source, data = self.top / "bare-source", self.top / "bare"
        source.mkdir()
        save(source, features=np.ones((30, 4), np.float32),
             edges=np.stack([np.arange(30), np.roll(np.arange(30), 1)]))
        imported("npy", source, "--out", data)
        options = {"fanouts": [2], "as_": "numpy"}
        for at in data, partitioned(data, 2, "random"):
            for split in "train", "val", "test":
                for rank in 0, 1:
                    loader = graphmill.Loader(at, split=split, rank=rank,
                                              world_size=2, **options)
                    self.addCleanup(loader.close)
                    self.assertEqual(len(loader), 0)
                    with self.assertRaisesRegex(
                            graphmill.DefinitionError,
                            f"split '{split}' of the dataset 'bare' has no nodes"
                            ": give `seeds` or another split, or .*--split"):
                        iter(loader)
            # Seeds of one's own may be none, and a rank may have no share of them.
            self.assertEqual(list(graphmill.Loader(at, seeds=[], **options)), [])
            batch, = graphmill.Loader(at, seeds=[5], rank=1, world_size=2, **options)
            self.assertEqual(batch.batch_size, 0)
            self.assertEqual(graphmill.open(at).sample([5], **options).batch_size, 1)
        # More ranks than seeds: the split has some, whoever takes them.
        few = Dataset(self.data).node_type("node")["splits"]["val"] + 1
        last = graphmill.Loader(self.data, split="val", rank=few - 1,
                                world_size=few, **options)
        self.addCleanup(last.close)
        self.assertEqual({batch.batch_size for batch in last}, {0})

    def test_labels_of_any_nodes(self):
        """Of each kind, whole and in parts, and those that batches have."""
        source, data = self.top / "kinds-source", self.top / "kinds"
        source.mkdir()
        rng = np.random.default_rng(4)
        classes = rng.integers(-1, 3, 60)
        classes[:40] = np.abs(classes[:40])
        several = rng.integers(0, 2, (60, 4)).astype(np.uint8)
        several[50] = 255
        numbers = rng.normal(size=(60, 2)).astype(np.float32)
        numbers[51] = np.nan
        save(source, features=rng.normal(size=(60, 3)).astype(np.float32),
             edges=rng.integers(0, 60, (2, 200)), labels=classes,
             train_idx=rng.permutation(40), **{
                 "labels.several": several, "labels.numbers": numbers,
                 "train_idx.several": np.arange(30), "val_idx.numbers": np.arange(9)})
        imported("npy", source, "--regression-set", "numbers", "--out", data)
        whole, ids = Dataset(data), rng.integers(0, 60, 100)
        for at in data, *(partitioned(data, *cut) for cut in (
                (2, "random"), (3, "metis"))):
            graph = graphmill.open(at)
            for name, made, split in ((None, classes, "train"),
                                      ("several", several, "train"),
                                      ("numbers", numbers, "val")):
                file = "labels" if name is None else f"labels.{name}"
                stored = whole.node_array("node", file)
                np.testing.assert_array_equal(stored, made)
                found = graph.labels(ids, labels=name)
                self.assertEqual((found.dtype, found.shape, found.tobytes()),
                                 (stored.dtype, stored[ids].shape,
                                  stored[ids].tobytes()))
                self.assertEqual(graph.labels([], "node", name).shape,
                                 stored[:0].shape)
                mask = np.arange(60) % 3 == 0
                self.assertEqual(graph.labels(mask, labels=name).tobytes(),
                                 stored[mask].tobytes())
                with graph.loader([3], as_="numpy", labels=name, split=split
                                  ) as loader:
                    for batch in loader:
                        rows = graph.labels(batch.n_id, labels=name)
                        self.assertEqual(len(rows), batch.num_nodes)
                        np.testing.assert_array_equal(rows[:batch.batch_size],
                                                      batch.y)
        for wrong, why in (
                (([60],), "ids has node 60.* go from 0 to 59"), (([-1],), "node -1"),
                (([0.5],), "type float64"), ((np.ones(7, bool),), "mask of 7"),
                (([0], "paper"), "no node type 'paper', but 'node'"),
                (([0], None, "size"), "no label set 'size', but 'several', 'num"
                                      "|no label set 'size', but 'numbers', 'sev")):
            with self.assertRaisesRegex(graphmill.DefinitionError, why):
                graph.labels(*wrong)
        typed = graphmill.open(typed_dataset(self.top / "labels-of-types"))
        self.assertEqual(typed.labels([3, 1]).shape, (2,))  # Of the target.
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "type 'author' have no labels"):
            typed.labels([0], "author")
        (partitioned(data, 2, "random") / "part-1/nodes/node/labels.npy").unlink()
        with self.assertRaisesRegex(graphmill.DataError, "labels.npy.*all parts here"):
            graphmill.open(partitioned(data, 2, "random")).labels(np.arange(60))

    def test_options_are_named(self):
        """What PyG's users ask for first, in the signatures and in the help."""
        as_open = inspect.signature(graphmill.open).parameters
        for of in graphmill.Loader, graphmill.LinkLoader, graphmill.Graph.loader:
            named = inspect.signature(of).parameters
            for name in as_open:
                if name != "source":
                    self.assertIn(name, named)
                    self.assertIsNone(named[name].default, name)
            self.assertIn("batch_size", named)
        page = pydoc.plain(pydoc.render_doc(graphmill.Loader))
        self.assertIn("place of ``num_workers``", page)
        _, _, explained = inspect.getdoc(graphmill.Loader).partition("begin another")
        heads = {name for line in explained.split("\n")
                 if re.fullmatch(r"\w+(, \w+)*", line) for name in line.split(", ")}
        self.assertEqual(heads, {*inspect.signature(graphmill.Loader).parameters}
                         - {"others"})
        links = pydoc.plain(pydoc.render_doc(graphmill.LinkLoader))
        for name in "threads", "budget", "verify", "batch_size":
            self.assertIn(f"{name}: ", links)
        # Those that are not given are those of the graph.
        graph = graphmill.open(self.data, storage="disk", threads=3, budget=1 << 20)
        opening = graph.loader([2], budget="2 MiB", as_="numpy")._opening
        self.assertEqual((opening.storage, opening.threads, opening.budget),
                         ("disk", 3, "2 MiB"))
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "no argument `num_workers`.*`threads`"):
            graph.loader([2], num_workers=4)


if __name__ == "__main__":
    unittest.main()

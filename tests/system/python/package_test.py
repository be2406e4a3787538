"""What the Python package does beside its loaders: graphs, datasets of other
libraries, finished runs, blocks of DGL; and its types, examples in docstrings
and help."""

import collections
import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import pathlib
import pickle
import pkgutil
import pydoc
import shutil
import subprocess
import sys
import types
import unittest
import unittest.mock

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
import support
from conversions import graph_of_40
from imports import save
from runs import partitioned, small_rmat
from support import ROOT, Dataset, imported, np, program

PACKAGE = ROOT / "actors/python"
sys.path.insert(0, str(PACKAGE))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

# What users of the package write, for the checker of types.
USE = '''
import numpy as np
import graphmill

def learn(data: str) -> float:
    graph = graphmill.open(data, budget="512 MiB")
    features: int = graph.info.num_features
    with graph.loader([10, 5], batch_size=64, as_="numpy") as loader:
        state = loader.state_dict()
        loader.load_state_dict(state)
        total = 0.0
        for batch in loader:
            total += float(batch.x.sum()) * batch.weight + features
    rows = graph.features(np.arange(3))
    run = graphmill.Run("runs/one")
    losses = [line["loss"] for line in run.metrics()]
    kept = {name: value.shape for name, value in run.weights().items()}
    found = graphmill.Loader(data, {"default": [3], ("a", "b", "c"): [0]})
    steps: int = len(found) + len(losses) + len(kept) + rows.shape[0]
    try:
        graphmill.import_({"edge_index": np.zeros((2, 0))}, "new", ignore=["z"])
    except graphmill.DataError as error:
        print(error.code)
    return total + steps
'''
MISUSE = '''
import graphmill
graphmill.open("data", budgets="1 GiB")
graphmill.Loader("data", [10], batch_size="many")
graphmill.Loader("data", [10], num_workers=4)
graphmill.open("data").info.num_feature
'''


class FakeBlock:
    """What `dgl.create_block` makes, as far as batches need it: it refuses what
    DGL refuses."""

    def __init__(self, data, num_src_nodes, num_dst_nodes):
        self.typed = isinstance(data, dict)
        if not self.typed:
            assert isinstance(num_src_nodes, int) and isinstance(num_dst_nodes, int)
            data = {("_N", "_E", "_N"): data}
            num_src_nodes = {"_N": num_src_nodes}
            num_dst_nodes = {"_N": num_dst_nodes}
        for (source, _, end), (u, v) in data.items():
            assert len(u) == len(v) and u.dtype == v.dtype
            assert not len(u) or (int(u.max()) < num_src_nodes[source]
                                  and int(v.max()) < num_dst_nodes[end])
        self.pairs, self.sources, self.ends = data, num_src_nodes, num_dst_nodes

        def frames(counts):
            return {of: types.SimpleNamespace(data=Frame(count))
                    for of, count in counts.items()}
        self.srcnodes, self.dstnodes = frames(num_src_nodes), frames(num_dst_nodes)
        self.edges = frames({of: len(u) for of, (u, _) in data.items()})
        if not self.typed:
            self.srcdata = self.srcnodes["_N"].data
            self.dstdata = self.dstnodes["_N"].data
            self.edata = self.edges["_N", "_E", "_N"].data


class Frame(dict):
    """Data of nodes or edges: a row for each."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def __setitem__(self, name, rows):
        assert len(rows) == self.count, (name, len(rows), self.count)
        super().__setitem__(name, rows)


def halved(data, folder):
    """The same dataset with features of 16 bits."""
    shutil.copytree(data, folder)
    path = folder / "nodes/node/features.npy"
    rows = np.load(path).astype(np.float16)
    np.save(path, rows)
    about = json.loads((folder / "dataset.json").read_text())
    about["node_types"][0]["feature_type"] = "float16"
    for name in "digest", "array_digests":
        about.pop(name, None)
    (folder / "dataset.json").write_text(json.dumps(about))
    return rows.astype(np.float32)


def sparse_dataset(folder):
    source = folder.with_name("sparse-source")
    source.mkdir()
    rng = np.random.default_rng(5)
    dense = rng.normal(size=(50, 9)).astype(np.float32)
    dense[rng.random((50, 9)) < 0.7] = 0
    dense[7] = 0
    dense[8, 2] = -0.0
    save(source, features=dense, labels=rng.integers(0, 3, 50),
         edges=rng.integers(0, 50, (2, 200)), train_idx=rng.permutation(50)[:30])
    imported("npy", source, "--sparse", "--out", folder)
    return dense


class Package(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.top / "data/small"
        cls.data.parent.mkdir()
        small_rmat(cls.data)
        cls.whole = Dataset(cls.data)
        cls.definition = {**runs.SMALL, "dataset": "small"}

    @contextlib.contextmanager
    def at_the_top(self):
        before = os.getcwd()
        os.chdir(self.top)
        try:
            yield
        finally:
            os.chdir(before)

    def finished_run(self):
        """A run of `data/small`, made once."""
        folder = self.runs / "small"
        if not folder.exists():
            made = pathlib.Path(self.train(runs.SMALL, self.data)["run"])
            folder.symlink_to(made)
        return graphmill.Run(folder)

    # -- graphs

    def check_features(self, data, dense, cuts):
        """Rows in any order, and those that batches have."""
        rng = np.random.default_rng(1)
        ids = rng.integers(0, len(dense), 60)
        for source in data, *(partitioned(data, *cut) for cut in cuts):
            graph = graphmill.open(source)
            self.assertEqual(graph.features(ids).tobytes(), dense[ids].tobytes())
            self.assertEqual(graph.features([]).shape, (0, dense.shape[1]))
            mask = np.arange(len(dense)) % 3 == 0
            self.assertEqual(graph.features(mask).tobytes(),
                             dense[mask].tobytes())
            with graph.loader([4, 3], as_="numpy", batch_size=20) as loader:
                for batch in loader:
                    self.assertEqual(graph.features(batch.n_id).tobytes(),
                                     batch.x.tobytes())
        return source

    def test_features(self):
        dense = self.whole.node_array("node", "features")
        cut = self.check_features(self.data, dense,
                                  [(3, "random"), (4, "metis")])
        # Parts of an older Graphmill have no order.
        shutil.rmtree(cut / "order")
        np.testing.assert_array_equal(
            graphmill.open(cut).features([9, 1, 9]), dense[[9, 1, 9]])
        shutil.rmtree(cut / "part-1")
        with self.assertRaisesRegex(graphmill.DataError, "are all parts here"):
            graphmill.open(cut).features(np.arange(1024))

    def test_features_of_16_bits(self):
        half = self.top / "half"
        self.check_features(half, halved(self.data, half), [(2, "random")])

    def test_sparse_features(self):
        data = self.top / "sparse"
        dense = sparse_dataset(data)
        self.assertTrue(graphmill.open(data).info.node_types["node"].sparse)
        cut = self.check_features(data, dense, [(3, "random")])
        path = cut / "part-0/nodes/node/features.indices.npy"
        columns = np.load(path)
        columns[0] = 9
        np.save(path, columns)
        with self.assertRaisesRegex(graphmill.DataError, "indices.npy is damaged"):
            graphmill.open(cut).features(np.arange(50))

    def test_features_that_there_are_not(self):
        graph = graphmill.open(self.data)
        for ids, of, why in (
                ([1024], None, "ids has node 1024.* go from 0 to 1023"),
                ([-1], None, "ids has node -1"), ([0.5], None, "type float64"),
                ([0], "paper", "no node type 'paper', but 'node'")):
            with self.assertRaisesRegex(graphmill.DefinitionError, why):
                graph.features(ids, of)
        with self.assertRaisesRegex(graphmill.DataError, "neither dataset.json"):
            graphmill.open(self.top).features([0])
        with self.assertRaisesRegex(graphmill.DataError, "no folder"):
            graphmill.open(self.top / "nothing").info
        newer = self.top / "newer"
        newer.mkdir()
        about = {**self.whole.info, "format_version": 99}
        (newer / "dataset.json").write_text(json.dumps(about))
        with self.assertRaisesRegex(graphmill.Unavailable, "format version 99"):
            graphmill.open(newer).info

    def test_info(self):
        """Of a whole dataset and of parts, with label sets, weights and tasks."""
        source = self.top / "about-source"
        source.mkdir()
        rng = np.random.default_rng(2)
        edges = rng.permutation(30 * 30)[:200]
        (source / "meta.json").write_text(json.dumps(
            {"name": "about", "class_names": ["a", "b", "c"]}))
        save(source, features=rng.normal(size=(30, 4)).astype(np.float32),
             labels=np.arange(30) % 3, train_idx=np.arange(12),
             val_idx=np.arange(12, 20), edges=np.stack(divmod(edges, 30)),
             edge_weight=rng.random(200, np.float32),
             **{"labels.size": np.arange(30) % 2,
                "train_idx.size": np.arange(5)})
        data = self.top / "about"
        imported("npy", source, "--split-edges", "0.8,0.1,0.1", "--out", data)
        whole = graphmill.open(data).info
        node, = whole.node_types.values()
        self.assertEqual(
            (node.count, node.features, node.classes, node.class_names,
             node.labels, node.precision, node.sparse),
            (30, 4, 3, ["a", "b", "c"], "classes", "float32", False))
        self.assertEqual(node.splits, {"train": 12, "validation": 8, "test": 0})
        size = node.label_sets["size"]
        self.assertEqual((size.classes, size.splits["train"]), (2, 5))
        kind, = whole.edge_types
        self.assertEqual((whole.edge_types[kind], whole.weighted), (200, [kind]))
        task, = whole.tasks.values()
        self.assertEqual((task.kind, task.edge_types), ("link", [kind]))
        self.assertEqual(task.splits,
                         {"train": 160, "validation": 20, "test": 20})
        self.assertEqual(whole.digest, Dataset(data).info["digest"])
        self.assertEqual(graphmill.open(partitioned(data, 2, "random")).info,
                         whole)
        with graphmill.Loader(data, [2], as_="numpy") as loader:
            self.assertEqual(loader.info, whole)

    def test_a_graph_is_pickled_and_closed(self):
        graph = graphmill.open(self.data, threads=2)
        expected = graph.features([4]).tobytes()
        other = pickle.loads(pickle.dumps(graph))
        self.assertEqual((other.info, other.features([4]).tobytes()),
                         (graph.info, expected))
        with other:
            loader = other.loader([2], as_="numpy")
            next(iter(loader))
        with self.assertRaises(graphmill.Cancelled):
            iter(loader)

    def test_samples_do_not_depend_on_ranks(self):
        os.environ.update(RANK="1", WORLD_SIZE="2")
        self.addCleanup(os.environ.pop, "RANK")
        self.addCleanup(os.environ.pop, "WORLD_SIZE")
        batch = graphmill.open(self.data).sample([5], [2], as_="numpy")
        self.assertEqual(batch.n_id[:1].tolist(), [5])

    # -- datasets

    def test_import_and_write(self):
        graph = graph_of_40()
        with self.at_the_top():
            done = graphmill.import_(graph, "forty")
            self.assertTrue(done["imported"])
            self.assertEqual(sorted(path.name for path in self.top.glob("forty*")),
                             ["forty"])
            info = graphmill.open("forty").info
            self.assertEqual((info.num_features, info.num_classes), (5, 3))
            np.testing.assert_array_equal(
                graphmill.open("forty").features(np.arange(40)), graph["x"])
            written = graphmill.write(graph, "arrays")
            self.assertEqual(written["arrays"], "arrays")
            np.testing.assert_array_equal(np.load("arrays/edges.npy"),
                                          graph["edge_index"])
            done = support.graphmill(*written["command"].split()[1:])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(graphmill.open("arrays.dataset").info.digest,
                             info.digest)
            with self.assertRaisesRegex(graphmill.DataError, "there already"):
                graphmill.import_(graph, "forty")
            with self.assertRaisesRegex(graphmill.DataError, "import failed"):
                graphmill.import_({**graph, "x": graph["x"] * np.nan}, "bad")
            self.assertEqual(list(self.top.glob("bad*")), [])

    def test_arguments_of_imports(self):
        """Wrong ones are refused by their names, all of them at once, before anything
        is read."""
        graph = graph_of_40()
        place = self.top / "never"
        for name, values in {
                "ignore": ["pos", 5, [5]], "no_label": ["x", 5],
                "import_flags": ["--sparse", 5, [5]], "rename": [["a"], 5, {"a": 5}],
                "edge": [3, {5: "a"}, "label=x"], "num_nodes": ["x", 2.5, [3]],
                "num_classes": ["x", 0], "split_index": ["a", -1],
                "chunk_bytes": ["a", 0], "weight": [3, ""], "edge_attr": [["a"]],
                "edge_time": [["a"]], "node_time": [["a"]], "time_unit": [5, "days"],
                "name": [5], "undirected": ["yes"], "keep_arrays": ["x"],
                "split_idx": [5, [1]], "arrays": [5], "program": [5]}.items():
            for value in values:
                with self.subTest(name, value=value), self.assertRaisesRegex(
                        graphmill.DataError, f"^{name} is .*: give "):
                    graphmill.import_(graph, place, **{name: value})
        with self.assertRaisesRegex(graphmill.DataError,
                                    "^folder is 5: give a path; weight is 3"):
            graphmill.write(graph, 5, weight=3)
        with self.assertRaisesRegex(graphmill.DataError, "leave arrays out"):
            graphmill.write(graph, place, arrays=self.top / "other")
        with self.assertRaisesRegex(graphmill.DataError, "num_nodes is 'x'"):
            graphmill.write({**graph, "num_nodes": "x"}, place)
        self.assertFalse(place.exists())

    def test_imports_speak_of_arguments(self):
        graph = graph_of_40()
        for options, said in (
                ({"weight": "w"}, "weight='w': no edge has such an attribute"),
                ({"ignore": ["w"]}, r"ignore=\['w'\]: there is no such"),
                ({"rename": {"club": "y"}}, r"rename\['club'\]: no node has"),
                ({"edge": {"sign": "w"}}, r"edge=\{'sign': 'w'\}: split, label"),
                ({"num_nodes": {"paper": 3}}, r"num_nodes=\{TYPE: N\}")):
            with self.subTest(options), self.assertRaisesRegex(
                    graphmill.DataError, said) as told:
                graphmill.write(graph, self.top / "never", **options)
            self.assertNotIn("--", str(told.exception))
        with self.assertRaises(graphmill.DataError) as told:
            graphmill.write({**graph, "strange": graph["x"]}, self.top / "never")
        self.assertIn('ignore=["strange"]; or say by rename={NAME: "y"} that',
                      str(told.exception))
        self.assertNotIn("--", str(told.exception))

    def test_sentences_of_programs(self):
        """In words of Python; those that it cannot know stay as they are."""
        from graphmill import _wording
        for words, said, expected in (
                (_wording.of_loaders,
                 "--set sampler.fanouts={\"default\": [4]}: must be from 1",
                 "fanouts: must be from 1"),
                (_wording.of_loaders,
                 "--set sampler.time=strict: `sampler.time` needs the time of each "
                 "seed; import them with times (--node-time COLUMN)",
                 "`time` needs the time of each seed; import them with times "
                 "(`node_time` of graphmill.import_)"),
                (_wording.of_loaders,
                 "loader:1:1: set `sampler.disjoint: true`, as an import that splits "
                 "--by time does",
                 "set `disjoint=True`, as an import that splits `--by time` of "
                 "`import_flags` does"),
                (_wording.of_loaders,
                 "`negatives.corrupt: pair` and `evaluate.negatives`",
                 "`negatives={\"corrupt\": \"pair\"}` and `count` of negatives"),
                (_wording.of_loaders, "my.yaml:3:4: `sampler.time: strict` is",
                 "my.yaml:3:4: `sampler.time: strict` is"),
                (_wording.of_loaders, "start one with `graphmill node --serve`",
                 "start one with `graphmill node --serve`"),
                (_wording.of_predictions, "predict in batches, without --all",
                 "predict in batches, without `neighbours=None`"),
                (_wording.of_predictions, "say with --memory how much",
                 "say with `--memory` of `options` how much"),
                (_wording.of_imports, "give --regression to the import",
                 "give `--regression` of `import_flags` to the import"),
                (_wording.of_imports, "; --split 0.8,0.1,0.1 (of the command: after "
                 "--) makes one",
                 "; `--split 0.8,0.1,0.1` of `import_flags` makes one")):
            self.assertEqual(words(said), expected)

    def test_fields_are_arguments(self):
        """Those that sentences speak of exist."""
        from graphmill import _wording
        for fields, of in ((_wording.FIELDS, graphmill.Loader),
                           (_wording.FIELDS_OF_LINKS, graphmill.LinkLoader),
                           (_wording.FIELDS_OF_NEGATIVES, graphmill.Negatives)):
            known = [*inspect.signature(of).parameters, "threads", "budget"]
            self.assertLessEqual(set(fields.values()), set(known))

    def test_no_program(self):
        with unittest.mock.patch.dict(os.environ, {
                "GRAPHMILL_BIN": str(self.top)}):
            os.environ.pop("GRAPHMILL")
            with self.assertRaisesRegex(graphmill.Unavailable,
                                        "no program graphmill at"):
                graphmill.import_(graph_of_40(), self.top / "never")
            with self.assertRaisesRegex(graphmill.Unavailable, "GRAPHMILL_BIN"):
                self.finished_run().predict()
        self.assertFalse((self.top / "never").exists())

    # -- runs

    def test_a_run(self):
        run = self.finished_run()
        folder = run.folder.resolve()
        lines = (folder / "metrics.jsonl").read_text().splitlines()
        self.assertEqual(run.metrics(), list(map(json.loads, lines)))
        self.assertEqual(run.summary(),
                         json.loads((folder / "summary.json").read_text()))
        self.assertIn("fanouts", run.definition())
        expected = self.weights({"run": folder})
        made = run.weights()
        self.assertEqual(list(made), list(expected))
        for name, value in made.items():
            np.testing.assert_array_equal(value, expected[name])
            value += 1  # It is the user's own.

    def test_predictions(self):
        run = self.finished_run()
        out = self.top / "expected.npy"
        done = support.graphmill("predict", run.folder, "--all", "--logits",
                                 "--embeddings", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        all_of = {name: np.load(out.with_suffix(f".{name}.npy"))
                  for name in ("logits", "embeddings")}
        found = run.predict(logits=True, embeddings=True)
        np.testing.assert_array_equal(found.values, np.load(out))
        np.testing.assert_array_equal(found.ids, np.arange(1024))
        np.testing.assert_array_equal(found.logits, all_of["logits"])
        np.testing.assert_array_equal(found.embeddings, all_of["embeddings"])
        self.assertIsNone(found.probabilities)
        ids = [900, 3, 17]
        some = run.predict(ids, logits=True)
        np.testing.assert_array_equal(some.ids, ids)
        np.testing.assert_array_equal(some.logits, all_of["logits"][ids])
        np.testing.assert_array_equal(run.embeddings(ids),
                                      all_of["embeddings"][ids])
        self.assertEqual(len(run.embeddings(ids, type="node")), 3)
        batches = run.predict(ids, neighbours="all", probabilities=True)
        np.testing.assert_array_equal(batches.values, some.values)
        np.testing.assert_allclose(batches.probabilities.sum(1), 1, atol=1e-6)
        moved = self.top / "moved"
        shutil.copytree(self.data, moved)
        np.testing.assert_array_equal(
            graphmill.Run(run.folder, data=moved).predict(ids).values, some.values)

    def test_predictions_of_links(self):
        data = self.top / "links"
        source = self.top / "links-source"
        source.mkdir()
        rng = np.random.default_rng(4)
        save(source, features=rng.normal(size=(60, 6)).astype(np.float32),
             edges=np.stack(divmod(rng.permutation(3600)[:400], 60)))
        imported("npy", source, "--split-edges", "0.8,0.1,0.1", "--out", data)
        run = graphmill.Run(self.train({
            "task": "link", "sampler": {"fanouts": [4]},
            "model": {"kind": "sage", "hidden": 8},
            "train": {"batch_size": 64, "epochs": 1}}, data)["run"])
        pairs = np.array([[3, 1, 40], [5, 2, 7]])
        found = run.predict(pairs=pairs, neighbours="all")
        np.testing.assert_array_equal(found.ids, pairs)
        self.assertEqual((found.values.shape, found.values.dtype),
                         ((3,), np.float64))
        single = run.predict(pairs=pairs[:, 1:2], neighbours="all")
        np.testing.assert_allclose(single.values, found.values[1:2], rtol=1e-5)
        np.testing.assert_array_equal(run.predict(pairs=pairs).values, found.values)
        rows = run.embeddings()
        self.assertEqual((rows.shape, rows.dtype), ((60, 8), np.float32))
        np.testing.assert_array_equal(run.embeddings([9, 2], type="node"),
                                      rows[[9, 2]])
        for call, why in (
                (run.predict, "the task 'link' of edges: give `pairs`"),
                (lambda: run.predict(pairs=[[1], [2, 3]]), "pairs cannot be read as ids"),
                (lambda: run.predict(pairs={3: [[1], [2]]}), "names no edge type"),
                (lambda: run.embeddings([60]), "ids from 0 to 59")):
            with self.assertRaisesRegex(graphmill.DefinitionError, why):
                call()

    def test_embeddings_of_ends_of_several_types(self):
        source = self.top / "shop-source"
        source.mkdir()
        rng = np.random.default_rng(6)
        (source / "meta.json").write_text(json.dumps({
            "name": "shop", "target": "user", "node_types": {
                "user": {"num_nodes": 20}, "item": {"num_nodes": 30}}}))
        save(source, **{
            "user.features": rng.normal(size=(20, 4)).astype(np.float32),
            "item.features": rng.normal(size=(30, 4)).astype(np.float32),
            "user__buys__item.edges":
                np.stack(divmod(rng.permutation(600)[:200], 30))})
        data = self.top / "shop"
        imported("npy", source, "--reverse", "--split-edges", "0.8,0.1,0.1",
                 "--out", data)
        run = graphmill.Run(self.train({
            "task": "link", "sampler": {"fanouts": [4]},
            "model": {"kind": "hetero_sage", "hidden": 8},
            "train": {"batch_size": 64, "epochs": 1}}, data)["run"])
        for of, count in ("user", 20), ("item", 30):
            self.assertEqual(run.embeddings(type=of).shape, (count, 8))
        with self.assertRaisesRegex(graphmill.DefinitionError,
                                    "give `type`, one of 'item', 'user'"):
            run.embeddings()
        pairs = {("user", "buys", "item"): [[1, 2], [3, 4]]}
        self.assertEqual(run.predict(pairs=pairs).ids.tolist(), [[1, 2], [3, 4]])

    def test_masks_of_runs(self):
        """Have a value for each node."""
        run = self.finished_run()
        mask = np.isin(np.arange(1024), [3, 17, 900])
        np.testing.assert_array_equal(run.predict(mask).values,
                                      run.predict([3, 17, 900]).values)
        flags = mask.astype(np.uint8)
        for ask in (run.predict, run.embeddings,
                    lambda nodes: run.embeddings(nodes, type="node")):
            for given, why in ((mask[:-1], "mask of 1023 nodes, and there are 1024"),
                               (np.append(mask, True), "mask of 1025 nodes"),
                               (flags, "may be a mask or ids"),
                               ([-1], "node -1"), ([1.5], "type float64")):
                with self.assertRaisesRegex(graphmill.DefinitionError, why):
                    ask(given)

    def test_what_runs_refuse(self):
        run = self.finished_run()
        with self.assertRaisesRegex(graphmill.DataError, "no run.json"):
            graphmill.Run(self.top)
        with self.assertRaisesRegex(graphmill.DataError, "5000"):
            run.predict([5000])
        with self.assertRaisesRegex(graphmill.DefinitionError, "has learnt nodes"):
            run.predict(pairs=[[1], [2]])
        with self.assertRaisesRegex(graphmill.DefinitionError, "empty"):
            run.predict([])
        with self.assertRaisesRegex(graphmill.Error, "nothing-here"):
            graphmill.Run(run.folder, data="nothing-here").predict([1])
        copy = self.top / "copy"
        shutil.copytree(run.folder.resolve(), copy)
        unfinished = graphmill.Run(copy)
        weights = (copy / "weights.safetensors").read_bytes()
        for damaged in weights[:100], weights[:-3], b"", b"\xff" * 40:
            (copy / "weights.safetensors").write_bytes(damaged)
            with self.assertRaisesRegex(graphmill.DataError, "cannot read"):
                unfinished.weights()
        for name in "weights.safetensors", "summary.json":
            (copy / name).unlink()
        with self.assertRaisesRegex(graphmill.DataError, "has not ended"):
            unfinished.weights()
        with self.assertRaisesRegex(graphmill.DataError, "has not ended"):
            unfinished.summary()
        with open(copy / "metrics.jsonl", "a") as file:
            file.write('{"half a li')
        self.assertEqual(unfinished.metrics(), run.metrics())

    # -- DGL

    def dgl_of(self, source, **options):
        """Batches of torch, and what DGL is given of them."""
        if torch is None:
            self.skipTest("PyTorch is not installed (Debian: python3-torch)")
        stand_in = types.ModuleType("dgl")
        stand_in.create_block = FakeBlock
        sys.modules["dgl"] = stand_in
        self.addCleanup(sys.modules.pop, "dgl", None)
        options = {"batch_size": 20, "edge_ids": True, **options}
        with graphmill.Loader(source, **options, as_="dgl") as blocks, \
                graphmill.Loader(source, **options) as batches:
            for triple, batch in zip(blocks, batches, strict=True):
                yield triple, batch.copy()

    def test_blocks_of_dgl(self):
        for (inputs, outputs, blocks), batch in self.dgl_of(
                self.data, fanouts=[4, 3, 2], degrees=True):
            self.assertEqual(inputs.tolist(), batch.n_id.tolist())
            self.assertEqual(outputs.tolist(),
                             batch.n_id[:batch.batch_size].tolist())
            counts = np.cumsum(batch.num_sampled_nodes)
            # The outermost first, and each begins where the one before ends.
            self.assertEqual([(b.sources["_N"], b.ends["_N"]) for b in blocks],
                             list(zip(counts[:0:-1], counts[-2::-1])))
            for block in blocks:
                end = block.ends["_N"]
                (u, v), = block.pairs.values()
                kept = batch.edge_index[1] < end
                self.assertTrue(torch.equal(torch.stack([u, v]),
                                            batch.edge_index[:, kept]))
                self.assertTrue(torch.equal(block.edata["_ID"], batch.e_id[kept]))
                for data, count in ((block.srcdata, block.sources["_N"]),
                                    (block.dstdata, end)):
                    for name, of in (("feat", batch.x), ("_ID", batch.n_id),
                                     ("degree", batch.degree)):
                        self.assertTrue(torch.equal(data[name], of[:count]))
            self.assertTrue(torch.equal(blocks[-1].dstdata["label"], batch.y))
            self.assertNotIn("label", blocks[0].dstdata)

    def test_assigned_values_in_blocks_of_dgl(self):
        for _, batch in self.dgl_of(self.data, fanouts=[4, 3]):
            edges = batch.num_edges
            batch.x = batch.x * 2
            batch.edge_part = torch.arange(edges)
            batch.y = batch.y + 1
            batch.of_seeds = batch.y
            inner = batch.as_dgl()[2][-1]
            self.assertTrue(torch.equal(inner.srcdata["feat"],
                                        batch.x[:inner.sources["_N"]]))
            self.assertTrue(torch.equal(inner.edata["edge_part"],
                                        batch.edge_part[:batch.num_sampled_edges[0]]))
            self.assertTrue(torch.equal(inner.dstdata["label"], batch.y))
            self.assertNotIn("of_seeds", inner.dstdata)
            batch.edge_index = batch.edge_index.flip(0)
            with self.assertRaisesRegex(graphmill.Error, "edge_index was assigned"):
                batch.as_dgl()

    def test_typed_blocks_of_dgl(self):
        source = self.top / "typed-source"
        source.mkdir()
        rng = np.random.default_rng(8)
        (source / "meta.json").write_text(json.dumps({
            "name": "typed", "node_types": {
                "author": {"num_nodes": 30},
                "paper": {"num_nodes": 80, "num_classes": 3}}}))
        save(source, **{
            "paper.features": rng.normal(size=(80, 5)).astype(np.float32),
            "paper.labels": rng.integers(0, 3, 80),
            "paper.train_idx": np.arange(50),
            "paper__cites__paper.edges": rng.integers(0, 80, (2, 300)),
            "paper__cites__paper.edge_weight": rng.random(300, np.float32),
            "author__writes__paper.edges": np.stack(
                [rng.integers(0, 30, 150), rng.integers(0, 80, 150)])})
        data = self.top / "typed"
        imported("npy", source, "--out", data)
        for (inputs, outputs, blocks), batch in self.dgl_of(
                data, fanouts=[3, 2], edge_weights=True):
            self.assertEqual(set(inputs), {"author", "paper"})
            batch["author"].x = batch["author"].n_id[:, None] * 1.0
            for block in batch.as_dgl()[2]:
                self.assertTrue(torch.equal(
                    block.srcnodes["author"].data["feat"],
                    batch["author"].x[:block.sources["author"]]))
            self.assertEqual(list(outputs), ["paper"])
            for block in blocks:
                for kind, (u, v) in block.pairs.items():
                    of = batch[kind]
                    kept = of.edge_index[1] < block.ends[kind[2]]
                    self.assertTrue(torch.equal(torch.stack([u, v]),
                                                of.edge_index[:, kept]))
                    if kind[1] == "cites":
                        self.assertTrue(torch.equal(
                            block.edges[kind].data["edge_weight"],
                            of.edge_weight[kept]))
                self.assertTrue(torch.equal(
                    block.srcnodes["paper"].data["feat"],
                    batch["paper"].x[:block.sources["paper"]]))
            self.assertTrue(torch.equal(
                blocks[-1].dstnodes["paper"].data["label"], batch.y))

    def test_dgl_is_not_installed(self):
        if importlib.util.find_spec("dgl") is not None:
            self.skipTest("DGL is installed")
        with graphmill.Loader(self.data, [2], as_="dgl") as loader:
            with self.assertRaisesRegex(graphmill.Error, "DGL is not installed"):
                next(iter(loader))
        with self.assertRaisesRegex(graphmill.DefinitionError, "needs form"):
            graphmill.Loader(self.data, [2], as_="dgl", form="csr")

    # -- an example

    def loop_of_numpy(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, ROOT / "examples/own_numpy_model.py", self.data,
             *arguments], text=True, capture_output=True,
            timeout=runs.PATIENCE_SECONDS,
            env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment})

    def test_a_loop_of_numpy(self):
        done = self.loop_of_numpy("--epochs", "8", "--batch-size", "30")
        self.assertEqual(done.returncode, 0, done.stderr)
        accuracies = [float(line.split()[-1]) for line in
                      done.stdout.splitlines()]
        self.assertEqual(len(accuracies), 8)
        self.assertGreater(accuracies[-1], 0.35)  # Of four classes.

    def test_a_loop_of_numpy_has_no_ranks(self):
        """Each would learn from its share of the seeds alone."""
        done = self.loop_of_numpy(RANK="1", WORLD_SIZE="2")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("one process, and WORLD_SIZE is 2", done.stderr)

    # -- what is written about it

    def test_examples_in_docstrings(self):
        self.finished_run()
        names = ["graphmill"] + [
            name for _, name, _ in pkgutil.walk_packages(
                graphmill.__path__, "graphmill.") if name != "graphmill.__main__"]
        counted = collections.Counter()
        with self.at_the_top():
            for name in names:
                module = importlib.import_module(name)
                for test in doctest.DocTestFinder(exclude_empty=True).find(
                        module, name, extraglobs={"graphmill": graphmill,
                                                  "np": np}):
                    out = io.StringIO()
                    failed, tried = doctest.DocTestRunner(
                        optionflags=doctest.NORMALIZE_WHITESPACE).run(
                            test, out=out.write)
                    self.assertEqual(failed, 0, out.getvalue())
                    counted[test.name] += tried
        for name in ("graphmill.loader.Graph.features", "graphmill.run.Run",
                     "graphmill.loader.Loader", "graphmill.data.import_"):
            self.assertGreater(counted[name], 0, name)

    def test_help_answers(self):
        page = pydoc.plain(pydoc.render_doc(graphmill.Loader))
        for word in ("edge_index", "batch_size", "n_id", "num_sampled_nodes",
                     "state_dict", "kill -9", "set_epoch", "torchrun", "RANK",
                     "order", "CreditError", "EngineError", "DefinitionError",
                     "Timeout", "ForkError", "-1: all"):
            self.assertIn(word, page, word)
        for name in graphmill.__all__:
            self.assertTrue(inspect.getdoc(getattr(graphmill, name)), name)

    def checked_types(self, *arguments):
        return subprocess.run(
            ["mypy", "--strict", "--cache-dir", self.top / "types", *arguments],
            text=True, capture_output=True, cwd=self.top,
            env={**os.environ, "MYPYPATH": str(PACKAGE)},
            timeout=runs.PATIENCE_SECONDS)

    def test_types(self):
        if shutil.which("mypy") is None:
            self.skipTest("mypy is not installed (Debian: mypy)")
        (self.top / "use.py").write_text(USE)
        done = self.checked_types(PACKAGE / "graphmill", "use.py")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (self.top / "misuse.py").write_text(MISUSE)
        done = self.checked_types("misuse.py")
        for what in "budgets", "batch_size", "num_workers", "num_feature":
            self.assertRegex(done.stdout, f'misuse.py.*"{what}"')

    def test_the_import_is_light(self):
        """Neither torch nor anything else but NumPy, whatever is installed."""
        done = subprocess.run(
            [sys.executable, "-c", "import graphmill, sys; print("
             "*[n for n in ('torch', 'dgl', 'torch_geometric', 'scipy', 'pandas')"
             " if n in sys.modules])"], text=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        self.assertEqual((done.stdout.strip(), done.stderr), ("", ""))

    def test_the_package_is_python_alone(self):
        """It is one package for all processors: programs lie in another one."""
        files = [path for path in (PACKAGE / "graphmill").rglob("*")
                 if path.is_file() and "__pycache__" not in path.parts]
        self.assertIn(PACKAGE / "graphmill/loader.py", files)
        self.assertEqual([str(path) for path in files
                          if path.read_bytes().startswith(b"\x7fELF")], [])


if __name__ == "__main__":
    unittest.main()

"""Graphs of PyG, DGL and OGB become datasets, array by array, by
graphmill.data: with stand-ins that have the attributes of these
libraries."""

import json
import pathlib
import shutil
import sys
import tracemalloc
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from conversions import Conversion, Refused, convert
from graph_objects import (DglGraph, HeteroData, Matrix, OgbLinks, OgbNodes,
                           SparseTensor, Store, Tensor)
from support import Dataset, graphmill, np

CITES, WRITES = ("paper", "cites", "paper"), ("author", "writes", "paper")


def csr(dense):
    rows, columns = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(len(dense) + 1))
    return indptr, columns, dense[rows, columns]


class OneType(Conversion):
    def test_data(self):
        """As PyG has it: tensors, labels [N, 1], masks; and a run trains."""
        data = Store({name: Tensor(value) for name, value in
                      self.good.items()}, edge_attr=None)
        data["y"] = Tensor(self.good["y"][:, None])
        self.check_40(self.written(data))
        done = graphmill("inspect", self.out, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        definition = self.top / "run.yaml"
        definition.write_text(json.dumps({
            "dataset": "set", "sampler": {"fanouts": [4, 3]},
            "model": {"kind": "sage", "hidden": 8},
            "train": {"batch_size": 8, "epochs": 1}}))
        done = graphmill("train", definition, "--data", self.out, "--runs",
                         self.top / "runs", "--json", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout.splitlines()[-1])
        self.assertTrue((pathlib.Path(summary["run"])
                         / "weights.safetensors").exists())

    def test_attributes_that_nothing_reads(self):
        data = Store(self.good, edge_kind=np.ones(300), name="mine")
        self.refused(data, "edge_kind", "name", "--ignore",
                     'ignore=["edge_kind", "name"]')
        self.refused(data, "name", ignore=["edge_kind"])
        self.refused(data, "nothing", ignore=["edge_kind", "name", "nothing"])
        self.check_40(self.written(data, ignore=["edge_kind", "name"]))
        self.assertEqual(self.report["ignored"], ["edge_kind", "name"])

    def test_several_splits(self):
        masks = np.stack([~self.good["train_mask"], self.good["train_mask"]], 1)
        data = Store(self.good, train_mask=Tensor(masks))
        self.refused(data, "train_mask", "2 splits")
        self.refused(data, "2 splits", split_index=2)
        self.check_40(self.written(data, split_index=1))

    def test_adj_t_and_sparse_features(self):
        edges = self.good["edge_index"]
        by = np.lexsort((edges[0], edges[1]))
        self.good["edge_index"] = edges[:, by]
        data = Store(self.good)
        del data["edge_index"]
        indptr = np.searchsorted(edges[1][by], np.arange(41))
        dense = np.where(self.good["x"] > 0.3, self.good["x"], 0)
        self.good["x"] = dense
        data["adj_t"] = SparseTensor(indptr, edges[0][by], None, (40, 40))
        data["x"] = Matrix("csr", dense.shape, **dict(
            zip(("indptr", "indices", "data"), csr(dense))))
        # So few at a time that lists of neighbours lie across blocks.
        self.check_40(self.written(data, chunk_bytes=7 * 96))

    def test_adj_t_of_torch(self):
        """As PyG makes it without torch_sparse."""
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed (Debian: python3-torch)")
        edges = self.good["edge_index"]
        edges = np.unique(edges[::-1], axis=1)[::-1]  # By destination.
        self.good["edge_index"] = edges
        data = Store(self.good)
        del data["edge_index"]
        indptr = torch.from_numpy(np.searchsorted(edges[1], np.arange(41)))
        count = edges.shape[1]
        for weights in np.ones(count), np.arange(count) / 7:
            data["adj_t"] = torch.sparse_csr_tensor(
                indptr, torch.from_numpy(edges[0].copy()),
                torch.from_numpy(weights.astype(np.float32)), (40, 40))
            got = self.written(data)
            self.check_40(got)
            self.assertEqual(got.info["edge_types"][0].get("weights", False),
                             bool(weights[0] == 0))
            shutil.rmtree(self.out)
        data["adj_t"] = torch.eye(40)
        self.refused(data, "save edge_index instead")

    def test_sparse_features_stay_sparse(self):
        dense = np.where(self.good["x"] > 0.3, self.good["x"], 0)
        indptr, indices, values = csr(dense)
        got = self.written(
            Store(self.good, x=Matrix("csr", dense.shape, indptr=indptr,
                                      indices=indices, data=values)),
            import_flags=["--sparse"])
        self.check_nodes(got, "node", features=None, **{
            "features.indptr": indptr, "features.indices": indices,
            "features.values": values})

    def test_labels(self):
        some = self.good["y"].astype(np.float64)
        some[~self.good["train_mask"]] = np.nan
        data = Store(self.good, y=some[:, None])
        del data["val_mask"], data["test_mask"]
        got = self.written(data)
        self.check_nodes(got, "node", val=None, labels=np.where(
            self.good["train_mask"], self.good["y"], -1))
        self.assertIn("node.y: 20 of 40 nodes have no label",
                      self.report["notes"])

    def test_labels_that_are_texts(self):
        texts = np.array(["sea", "air", "land"])[self.good["y"]]
        self.refused(Store(self.good, y=texts), "3 classes", num_classes=4)
        got = self.written(Store(self.good, y=list(texts)))
        self.assertEqual(got.node_type("node")["class_names"],
                         ["air", "land", "sea"])
        self.check_nodes(got, "node", labels=np.array([2, 0, 1])[
            self.good["y"]])

    def test_labels_that_say_none(self):
        """They leave the splits, too."""
        texts = np.array(["sea", "unknown", "land"])[self.good["y"]]
        known = self.good["y"] != 1
        train = np.flatnonzero(self.good["train_mask"] & known)
        got = self.written(Store(self.good, y=list(texts)),
                           no_label=["unknown", "tbd"])
        self.assertEqual(got.node_type("node")["class_names"], ["land", "sea"])
        self.check_nodes(got, "node", train=train, labels=np.array(
            [1, -1, 0])[self.good["y"]])
        self.assertIn("--no-label tbd: no label is written so",
                      self.report["notes"])
        shutil.rmtree(self.out)
        numbers = np.where(known, self.good["y"] // 2, -9999)
        self.refused(Store(self.good, y=numbers), "with --no-label -9999")
        got = self.written(Store(self.good, y=Tensor(numbers)),
                           no_label=[-9999])
        self.check_nodes(got, "node", train=train, labels=np.where(
            known, self.good["y"] // 2, -1))
        shutil.rmtree(self.out)
        got = self.written(Store(self.good, y=Tensor(numbers * 1.0)),
                           no_label=["-9999"], import_flags=["--regression"])
        self.check_nodes(got, "node", train=train, labels=np.where(
            known, self.good["y"] // 2, np.nan).astype(np.float32)[:, None])

    def test_edges_both_ways_and_nodes_without_any(self):
        half = self.good["x"][:, 0].astype(np.float16)
        data = Store(edge_index=np.array([[3, 4, 3], [4, 3, 9]], np.int32),
                     x=half, n_id=Tensor(np.arange(40) * 10))
        self.refused(data, "'paper'", num_nodes={"paper": 41})
        self.refused(data, "--num-nodes has 41", num_nodes=41)
        got = self.written(data, num_nodes=40, undirected=True)
        self.assertEqual(set(map(tuple, got.edges("node__to__node").T)),
                         {(3, 4), (4, 3), (3, 9), (9, 3)})
        self.check_nodes(got, "node", labels=None,
                         features=half.astype(np.float32)[:, None])
        self.assertEqual(self.names(), list(range(0, 400, 10)))

    def test_times(self):
        """They are read to split by them, and refused otherwise."""
        times = np.random.default_rng(6).permutation(40) / 4
        data = Store(edge_index=self.good["edge_index"], time=times,
                     kind=self.good["y"], num_nodes=40)
        flags = ["--split", "0.5,0.25,0.25"]
        self.refused(data, "time, kind", import_flags=flags)
        self.refused(data, "time", rename={"kind": "y"}, import_flags=flags)
        self.refused(data, "--rename what", rename={"what": "y"})
        self.refused(Store(data, train_mask=np.zeros(40, bool)),
                     "nothing to train on", "--split 0.8,0.1,0.1",
                     rename={"kind": "y"}, ignore=["time"])
        got = self.written(data, rename={"kind": "y"},
                           import_flags=[*flags, "--by", "time"])
        order = np.argsort(times)
        for name, part in zip(("train", "val", "test"),
                              np.split(order, (20, 30))):
            np.testing.assert_array_equal(
                np.sort(got.node_array("node", name)), np.sort(part))
        self.check_nodes(got, "node", labels=self.good["y"])
        # To sample by them they are asked for.
        self.out = self.top / "timed" / "set"
        self.results = self.out.parent
        self.results.mkdir()
        self.written(Store(data, time=times * 4), node_time="time",
                     time_unit="step", rename={"kind": "y"}, import_flags=flags)
        np.testing.assert_array_equal(
            np.load(self.out / "nodes/node/times.npy"), times * 4)

    def test_lists(self):
        """Their first rows do not say what the others hold."""
        numbers = [20 - i / 2 if i % 2 else 20 - i // 2 for i in range(40)]
        data = Store(edge_index=self.good["edge_index"],
                     x=[[number, 2] for number in numbers], time=numbers,
                     y=self.good["y"].tolist())
        by_time = ["--split", "0.5,0.25,0.25", "--by", "time"]
        got = self.written(data, import_flags=by_time)
        self.check_nodes(got, "node", labels=self.good["y"], features=np.array(
            [[number, 2] for number in numbers], np.float32))
        for name, part in (("train", range(20, 40)), ("val", range(10, 20)),
                           ("test", range(10))):
            np.testing.assert_array_equal(
                np.sort(got.node_array("node", name)), part)
        self.out = self.top / "masks" / "set"
        self.results = self.out.parent
        self.results.mkdir()
        self.refused(Store(data, time=np.arange(40).astype("M8[s]")),
                     "node.time holds datetime64[s]", import_flags=by_time)
        self.check_40(self.written(Store(self.good, train_mask=[
            [False, mask] for mask in self.good["train_mask"].tolist()]),
            split_index=1))

    def test_several_labels(self):
        labels = (np.arange(120).reshape(40, 3) % 4 < 2).astype(np.uint8)
        rows = labels.astype(np.float32)
        unlabelled = self.good.pop("test_mask")
        rows[unlabelled] = np.nan
        labels[unlabelled] = 255
        dataset = self.written(Store(self.good, y=Tensor(rows)))
        self.assertEqual(dataset.node_type("node")["labels"], "multi_label")
        np.testing.assert_array_equal(dataset.node_array("node", "labels"),
                                      labels)

    def test_rows_of_one_label_each(self):
        rows = np.eye(3)[self.good["y"]]
        got = self.written(Store(self.good, y=rows),
                           import_flags=["--multi-label"])
        self.check_nodes(got, "node", labels=rows)
        self.assertEqual(got.node_type("node")["labels"], "multi_label")

    def test_numbers_as_labels(self):
        values = np.linspace(-1, 1, 80).reshape(40, 2)
        values[self.good.pop("test_mask")] = np.nan
        got = self.written(Store(self.good, y=Tensor(values)),
                           import_flags=["--regression"])
        self.check_nodes(got, "node", test=None,
                         labels=values.astype(np.float32))
        self.assertEqual(got.node_type("node")["labels"], "regression")

    def test_refusals(self):
        good = self.good
        for change, *fragments in (
                ({"y": good["y"] + 0.5}, "node.y", "regression"),
                ({"y": np.eye(3)[good["y"]]}, "3 values", "argmax"),
                ({"y": np.full((40, 3), 0.5)}, "a label is 0.5"),
                ({"y": np.tile([1, -1, 1], (40, 1))}, "part of a row"),
                ({"y": good["y"][:-1]}, "40", "39"),
                ({"y": good["y"] - 2}, "-2", "no label"),
                ({"y": ["a", 1] * 20}, "mixes"),
                ({"x": good["x"].astype(str)}, "features are numbers"),
                ({"x": good["x"][None]}, "numbers of nodes differ"),
                ({"x": [[1.0]] * 39 + [[1.0, 2.0]]}, "node.x", "of one length",
                 "row 39 has 2 values, and row 0 has 1"),
                ({"x": [[1.0]] * 39 + [None]}, "node.x", "row 39 is no list"),
                ({"feat": good["x"]}, "x and feat"),
                ({"train_mask": good["y"]}, "true and false"),
                ({"train_idx": np.arange(3)}, "train_mask and train_idx"),
                ({"edge_index": good["edge_index"].T}, "[300, 2]"),
                ({"edge_index": good["edge_index"] + 1}, "40 nodes"),
                ({"edge_index": good["edge_index"] * 1.0}, "integers"),
                ({"num_nodes": 41}, "num_nodes has 41", "x has 40"),
        ):
            with self.subTest(change=list(change), fragments=fragments):
                self.refused(Store(good, **change), *fragments)
        self.refused(Store(edge_index=good["edge_index"]), "--num-nodes")
        self.refused(Store(good), "no option source", "(SOURCE, DESTINATION)",
                     source="a")
        self.refused(object(), "object is none of")
        self.refused(Store(x=good["x"]), "neither edge_index nor adj_t")
        # The import refuses, too: what it says comes through.
        good["x"][31, 2] = np.nan
        self.refused(Store(good), "the import failed", "31")

    def test_program_is_not_there(self):
        report = convert(Store(self.good), self.out, run_import=False)
        arrays = pathlib.Path(report["arrays"])
        self.assertFalse(self.out.exists())
        words = report["command"].split()
        self.assertEqual(words[0], "graphmill")
        done = graphmill(*words[1:])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_40(Dataset(self.out))
        with self.assertRaises(Refused):
            convert(Store(self.good), self.out, run_import=False)
        self.assertTrue(arrays.exists())

    def test_memory(self):
        """Never a second copy: arrays go by in chunks, columns first or not."""
        rng = np.random.default_rng(5)
        n, chunk = 100_000, 4 << 20
        labels = rng.integers(0, 9, n).astype(np.float64)
        labels[::7] = np.nan
        edges = rng.integers(0, n, (2, 2_000_000))
        features = np.asfortranarray(rng.normal(size=(n, 60)))
        data = Store(edge_index=Tensor(edges), x=features, y=labels,
                     train_mask=Tensor(labels == 3))
        Tensor.most = 0
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        before, _ = tracemalloc.get_traced_memory()
        report = convert(data, self.out, run_import=False, chunk_bytes=chunk)
        _, most = tracemalloc.get_traced_memory()
        self.assertLess(most - before, 1.2 * chunk)
        self.assertLess(Tensor.most * 8, chunk)
        arrays = pathlib.Path(report["arrays"])
        np.testing.assert_array_equal(np.load(arrays / "edges.npy"), edges)
        np.testing.assert_array_equal(np.load(arrays / "features.npy"),
                                      features.astype(np.float32))


class SeveralTypes(Conversion):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(4)
        self.cites = rng.integers(0, 40, (2, 90))
        self.writes = np.stack([rng.integers(0, 12, 70),
                                rng.integers(0, 40, 70)])
        self.year = np.arange(40) % 7

    def check_types(self, got, author="author", writes="writes"):
        self.assertEqual({t["name"]: t["count"] for t in
                          got.info["node_types"]}, {"paper": 40, author: 12})
        self.assertEqual(got.info["target"], "paper")
        self.check_edges(got, "paper__cites__paper", self.cites, (40, 40))
        self.check_edges(got, f"{author}__{writes}__paper", self.writes,
                         (12, 40))
        self.check_nodes(got, "paper", features=self.good["x"],
                         labels=self.good["y"],
                         train=np.flatnonzero(self.good["train_mask"]))
        self.check_nodes(got, author, features=None, labels=None)

    def paper(self):
        return {name: self.good[name] for name in
                ("x", "y", "train_mask", "val_mask", "test_mask")}

    def test_hetero_data(self):
        data = HeteroData(
            {"paper": Store(self.paper(), year=self.year),
             "_author/s": Store(num_nodes=12)},
            {CITES: Store(edge_index=Tensor(self.cites)),
             ("_author/s", "writes__it", "paper"): Store(
                 edge_index=Tensor(self.writes), time=np.zeros(70))},
            {"made": "today"})
        names = "author-s--9c00324fb942", "writes_it--183378b23609"
        time = "_author/s__writes__it__paper.time"
        self.refused(data, f"{time} of edges", "made of the graph",
                     "paper.year of nodes")
        self.refused(data, "paper", "year", ignore=[time, "made"])
        data.parts["_author/s"].clear()
        self.refused(data, "TYPE=N", ignore=[time, "made", "paper.year"],
                     num_nodes=12)
        self.check_types(self.written(
            data, ignore=[time, "made", "paper.year"],
            num_nodes={"_author/s": 12}), *names)
        self.out = self.top / "named" / "set"
        self.results = self.out.parent
        data.parts["_author/s"]["num_nodes"] = 12
        got = self.written(data, ignore=[time, "made", "paper.year"])
        self.check_types(got, *names)
        self.assertIn(f"the type '_author/s' is called {names[0]}",
                      self.report["notes"])
        self.assertEqual(
            json.loads((self.out / "original_names.json").read_text()),
            {names[0]: "_author/s",
             f"{names[0]}__{names[1]}__paper": "writes__it"})
        self.assertEqual(self.report["ignored"], ["paper.year", time, "made"])

    def test_names_that_are_alike(self):
        """Each type has a name by its own text alone."""
        data = HeteroData({"a": Store(num_nodes=2), "a_": Store(num_nodes=2)},
                          {("a", "to", "a_"): Store(
                              edge_index=np.zeros((2, 1), np.int64))})
        got = self.written(data)
        first, second = [t["name"] for t in got.info["node_types"]]
        self.assertEqual(first, "a")
        self.assertRegex(second, r"\Aa--[0-9a-f]{12}\Z")

    def test_dgl(self):
        graph = DglGraph(
            {"paper": 40, "author": 12},
            {CITES: tuple(map(Tensor, self.cites)),
             WRITES: tuple(map(Tensor, self.writes))},
            {"paper": {"feat": Tensor(self.good["x"]), "label":
                       Tensor(self.good["y"]), **{name: Tensor(
                           self.good[name]) for name in
                           ("train_mask", "val_mask", "test_mask")}},
             "author": {"_ID": Tensor(np.arange(100, 112))}},
            {CITES: {"w": Tensor(np.ones(90))}})
        self.refused(graph, "paper__cites__paper.w")
        self.check_types(self.written(graph, ignore=["w"]))
        self.assertEqual(self.names("author"), list(range(100, 112)))

    def test_dgl_of_one_type(self):
        good = self.good
        graph = DglGraph(
            {"_N": 40}, {("_N", "_E", "_N"): tuple(good["edge_index"])},
            {"_N": {"feat": good["x"], "label": good["y"], **{
                name: good[name] for name in good if "mask" in name}}})
        self.check_40(self.written(graph))

    def test_ogb_nodes(self):
        """As OGB's own loader gives it, of several types and of one."""
        masks = {"train": "train_mask", "valid": "val_mask",
                 "test": "test_mask"}
        split = {which: np.flatnonzero(self.good[mask])
                 for which, mask in masks.items()}
        graph = {"edge_index_dict": {CITES: self.cites, WRITES: self.writes},
                 "edge_feat_dict": {CITES: None, WRITES: None},
                 "node_feat_dict": {"paper": self.good["x"]},
                 "num_nodes_dict": {"paper": 40, "author": 12},
                 "node_year": {"paper": self.year}}
        dataset = OgbNodes((graph, {"paper": self.good["y"][:, None]}),
                           {which: {"paper": ids}
                            for which, ids in split.items()})
        self.refused(dataset, "node_year")
        self.check_types(self.written(dataset, ignore=["node_year"]))
        one = OgbNodes(({"edge_index": self.good["edge_index"],
                         "edge_feat": None, "node_feat": self.good["x"],
                         "num_nodes": 40}, self.good["y"][:, None]), split)
        self.out = self.top / "one" / "set"
        self.results = self.out.parent
        self.check_40(self.written(one))

    def test_ogb_links(self):
        dataset = OgbLinks(Store(edge_index=self.good["edge_index"],
                                 x=self.good["x"], num_nodes=40),
                           {"train": {"edge": self.good["edge_index"].T}})
        self.refused(dataset, "edge_split")
        got = self.written(dataset, ignore=["edge_split"])
        self.check_edges(got, "node__to__node", self.good["edge_index"],
                         (40, 40))
        self.check_nodes(got, "node", features=self.good["x"], labels=None)


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)

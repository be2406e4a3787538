"""Imports of arrays by the built program, checked by an independent reader."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from imports import Workplace, save, small_set
from support import Dataset, imported, np


def dense(folder, prefix, nodes, width):
    """The CSR features of a folder as a matrix."""
    indptr = np.load(folder / f"{prefix}features_indptr.npy")
    out = np.zeros((nodes, width), np.float32)
    rows = np.repeat(np.arange(nodes), np.diff(indptr))
    out[rows, np.load(folder / f"{prefix}features_indices.npy")] = np.load(
        folder / f"{prefix}features_values.npy")
    return out


class NpyImport(Workplace):

    def test_one_node_type(self):
        arrays = small_set(self.source)
        summary = imported("npy", self.source, "--out", self.out)
        self.assertTrue(summary["built"])
        got = Dataset(self.out)
        self.assertEqual(got.info["name"], self.out.name)
        (edge_type,) = got.edge_types()
        self.check_edges(got, edge_type, arrays["edges"], (40, 40))
        (node_type,) = (t["name"] for t in got.info["node_types"])
        for name, of in (("features", "features"), ("labels", "labels"),
                         ("train", "train_idx"), ("val", "val_idx"),
                         ("test", "test_idx")):
            stored = got.node_array(node_type, name)
            np.testing.assert_array_equal(stored, arrays[of])
        self.assertEqual(got.node_array(node_type, "features").dtype,
                         np.float32)
        self.assertEqual(got.node_array(node_type, "labels").dtype, np.int64)

        again = imported("npy", self.source, "--out", self.out)
        self.assertFalse(again["built"])
        self.assertEqual(again["digest"], summary["digest"])
        other = imported("npy", self.source, "--out", self.results / "other")
        self.assertEqual(other["digest"], summary["digest"])

    def test_reverse(self):
        arrays = small_set(self.source)
        imported("npy", self.source, "--reverse", "--out", self.out)
        got = Dataset(self.out)
        forward, reverse = got.edge_types()
        self.assertEqual(reverse.split("__")[1],
                         "rev_" + forward.split("__")[1])
        self.check_edges(got, forward, arrays["edges"], (40, 40))
        self.check_edges(got, reverse, arrays["edges"][::-1], (40, 40))

    def test_shared_sets_of_one_type(self):
        for name in ("cora", "citeseer"):
            source = support.SHARED / name
            if not source.exists():
                self.skipTest(f"{source} is not there")
            meta = json.loads((source / "meta.json").read_text())
            out = self.results / name
            imported("npy", source, "--out", out)
            got = Dataset(out)
            labels = np.load(source / "labels.npy")
            (node_type,) = (t["name"] for t in got.info["node_types"])
            np.testing.assert_array_equal(
                got.node_array(node_type, "labels"), labels)
            np.testing.assert_array_equal(
                got.node_array(node_type, "features"),
                dense(source, "", len(labels), meta["num_features"]))
            for split in ("train", "val", "test"):
                np.testing.assert_array_equal(
                    got.node_array(node_type, split),
                    np.load(source / f"{split}_idx.npy"))
            self.check_edges(got, got.edge_types()[0],
                             np.load(source / "edges.npy"),
                             (len(labels), len(labels)))

    def test_shared_set_of_several_types(self):
        source = support.SHARED / "imdb"
        if not source.exists():
            self.skipTest(f"{source} is not there")
        imported("npy", source, "--reverse", "--out", self.out)
        got = Dataset(self.out)
        sizes = {t["name"]: t["count"] for t in got.info["node_types"]}
        self.assertEqual(sizes, {"movie": 4278, "director": 2081,
                                 "actor": 5257})
        self.assertEqual(got.info["target"], "movie")
        np.testing.assert_array_equal(
            got.node_array("movie", "features"),
            dense(source, "movie.", 4278, 5682))
        self.assertIsNone(got.node_array("actor", "features"))
        self.assertIsNone(got.node_array("director", "labels"))
        np.testing.assert_array_equal(got.node_array("movie", "labels"),
                                      np.load(source / "movie.labels.npy"))
        self.assertEqual(len(got.edge_types()), 4)
        for other in ("director", "actor"):
            edges = np.load(source / f"movie__to__{other}.edges.npy")
            self.check_edges(got, f"movie__to__{other}", edges,
                             (4278, sizes[other]))
            self.check_edges(got, f"{other}__rev_to__movie", edges[::-1],
                             (sizes[other], 4278))


class BadNpy(Workplace):
    """Each way to break a folder of arrays."""

    def check(self, *fragments, **arrays):
        """Fails with some arrays replaced."""
        save(self.source, **arrays)
        self.check_fails(["npy", self.source], *fragments)

    def setUp(self):
        super().setUp()
        self.good = small_set(self.source)

    def test_source_is_missing(self):
        self.check_fails(["npy", self.top / "nowhere"], "nowhere")

    def test_edges_are_missing(self):
        (self.source / "edges.npy").unlink()
        self.check_fails(["npy", self.source], "edges")

    def test_truncated(self):
        path = self.source / "features.npy"
        whole = path.read_bytes()
        for size in (0, 5, 60, len(whole) - 1):
            with self.subTest(size=size):
                path.write_bytes(whole[:size])
                self.check_fails(["npy", self.source], "features.npy")

    def test_garbage(self):
        path = self.source / "edges.npy"
        rng = np.random.default_rng(5)
        for size in (1, 100, 5000):
            path.write_bytes(rng.bytes(size))
            self.check_fails(["npy", self.source], "edges.npy")

    def test_wrong_dtype(self):
        self.check("edges.npy", "float64",
                   edges=self.good["edges"].astype(np.float64))
        save(self.source, edges=self.good["edges"])
        self.check("labels.npy", "float32",
                   labels=self.good["labels"].astype(np.float32))

    def test_wrong_shape(self):
        self.check("edges.npy", edges=self.good["edges"].T.copy())
        save(self.source, edges=self.good["edges"])
        self.check("labels", labels=self.good["labels"][:-1])

    def test_edge_to_a_missing_node(self):
        for bad in (40, -1, 2**40):
            edges = self.good["edges"].copy()
            edges[1, 123] = bad
            self.check(str(bad), "123", edges=edges)

    def test_label_out_of_range(self):
        for bad in (3, -2):
            labels = self.good["labels"].copy()
            labels[17] = bad
            self.check(str(bad), "17", labels=labels)

    def test_empty_splits(self):
        none = np.array([], np.int64)
        self.check("no split of node has a node", train_idx=none, val_idx=none,
                   test_idx=none)

    def test_seeds(self):
        self.check("train", "40", train_idx=np.array([1, 40]))
        self.check("3", train_idx=np.array([3, 5, 3]))
        self.check("9", train_idx=np.array([3, 9]))  # Also validates.
        labels = self.good["labels"].copy()
        labels[3] = -1
        self.check("3", labels=labels, train_idx=np.array([3]))

    def test_features_that_are_no_numbers(self):
        for bad in (np.nan, np.inf):
            features = self.good["features"].copy()
            features[31, 2] = bad
            self.check("31", features=features)

    def test_broken_meta(self):
        (self.source / "meta.json").write_text('{"name": ')
        self.check_fails(["npy", self.source], "meta.json")

    def test_meta_that_disagrees(self):
        (self.source / "meta.json").write_text(
            '{"name": "small", "num_nodes": 41, "num_classes": 3}')
        self.check_fails(["npy", self.source], "41")

    def test_broken_csr(self):
        (self.source / "features.npy").unlink()
        csr = {"features_indptr": np.arange(0, 82, 2),
               "features_indices": np.tile([0, 4], 40).astype(np.int32),
               "features_values": np.ones(80, np.float32)}
        save(self.source, **csr)
        imported("npy", self.source, "--out", self.top / "good")
        for name, at, bad in (("features_indptr", 7, 90),
                              ("features_indptr", 40, 79),
                              ("features_indptr", 0, 1),
                              ("features_indices", 9, 5),
                              ("features_indices", 9, -1),
                              ("features_values", 9, np.nan)):
            with self.subTest(name=name, at=at):
                broken = csr[name].copy()
                broken[at] = bad
                self.check("features", **{name: broken})
                save(self.source, **csr)


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)

"""examples/add_hops.py: means of neighbours as features, and what is trained of
them."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "examples"))
import add_hops
import runs
from runs import merged, partitioned
from support import ROOT, Dataset, imported, np, program

NODES, WIDTH, HOPS = 150, 3, 2
DEFINITION = {
    "sampler": {"fanouts": [0, 0]},
    "model": {"kind": "mlp", "hidden": 8},
    "train": {"batch_size": 40, "epochs": 2, "seed_order": "global"},
}


class Hops(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(3)
        source = cls.top / "source"
        source.mkdir()
        cls.edges = {
            "paper__cites__paper": rng.integers(0, NODES, (2, 500)),
            "paper__near__paper": rng.integers(0, NODES // 2, (2, 90))}
        for name, array in {
                "paper.features": rng.integers(-4, 5, (NODES, WIDTH)).astype(
                    np.float32),
                "paper.labels": rng.integers(0, 3, NODES),
                "paper.train_idx": rng.permutation(60),
                "paper.val_idx": np.arange(60, 100),
                "paper.test_idx": np.arange(100, NODES),
                "paper.labels.other": 3 * rng.integers(0, 2, NODES),
                "paper.train_idx.other": np.arange(90, 20, -1),
                **{f"{name}.edges": ends
                   for name, ends in cls.edges.items()}}.items():
            np.save(source / f"{name}.npy", array)
        (source / "meta.json").write_text(json.dumps({"node_types": {
            "paper": {"num_nodes": NODES, "class_names": ["a", "b", "c"],
                      "label_sets": {"other": {
                          "class_names": ["k", "l", "m", "n"]}}}}}))
        cls.data = cls.top / "plain"
        imported("npy", source, "--out", cls.data)
        (cls.data / "nodes/paper/ids.txt").write_text("one\ntwo\n")
        cls.wide = cls.top / "wide"
        done = cls.command(cls.data, cls.wide, "--hops", HOPS)
        assert done.returncode == 0, done.stderr

    @staticmethod
    def command(*arguments):
        return subprocess.run(
            [sys.executable, ROOT / "examples/add_hops.py",
             *map(str, arguments), "--program", program()],
            text=True, capture_output=True, timeout=100)

    def mean(self, rows):
        """Node by node, over the edges of both types."""
        out = np.zeros_like(rows, np.float64)
        for node in range(NODES):
            sources = np.concatenate([ends[0][ends[1] == node]
                                      for ends in self.edges.values()])
            if len(sources):
                out[node] = rows[sources].astype(np.float64).mean(axis=0)
        return out.astype(np.float32)

    def test_features_are_means_over_all_neighbours(self):
        features = Dataset(self.wide).node_array("paper", "features")
        self.assertEqual(features.shape, (NODES, WIDTH * (HOPS + 1)))
        rows = Dataset(self.data).node_array("paper", "features")
        for hop in range(HOPS + 1):
            got = features[:, hop * WIDTH:(hop + 1) * WIDTH]
            np.testing.assert_allclose(got, rows, rtol=1e-6, atol=1e-6)
            rows = self.mean(got)

    def test_all_else_stays(self):
        old, new = Dataset(self.data), Dataset(self.wide)
        for name in ("labels", "train", "val", "test", "labels.other",
                     "train.other"):
            np.testing.assert_array_equal(old.node_array("paper", name),
                                          new.node_array("paper", name))
        for name in self.edges:
            for array in ("indptr", "indices"):
                path = f"edges/{name}/{array}.npy"
                np.testing.assert_array_equal(np.load(self.data / path),
                                              np.load(self.wide / path))
        self.assertEqual(
            new.info["node_types"][0]["class_names"], ["a", "b", "c"])
        sets = new.info["node_types"][0]["label_sets"]
        self.assertEqual(sets, old.info["node_types"][0]["label_sets"])
        self.assertEqual(sets[0]["class_names"], ["k", "l", "m", "n"])
        self.assertEqual((self.wide / "nodes/paper/ids.txt").read_text(),
                         "one\ntwo\n")
        self.assertEqual([path.name for path in self.top.glob(".wide*")], [])

    def test_labels_stay_what_they_are(self):
        """Rows of one, too, which an import would take for classes."""
        ids = np.arange(NODES)
        one = np.where(ids < 100, ids % 2, -1)[:, None]
        each = np.eye(3, dtype=np.int8)[ids % 3]
        value = np.where(ids < 100, ids / 8, np.nan)
        for name, labels, flag in (("one", one, "--multi-label"),
                                   ("each", each, "--multi-label"),
                                   ("value", value, "--regression")):
            with self.subTest(name):
                arrays = self.top / f"{name}-arrays"
                arrays.mkdir()
                for array, content in (
                        ("edges", self.edges["paper__cites__paper"]),
                        ("features", np.ones((NODES, 1), np.float32)),
                        ("labels", labels), ("train_idx", np.arange(50)),
                        ("labels.too", labels)):
                    np.save(arrays / f"{array}.npy", content)
                imported("npy", arrays, "--out", self.top / name, flag,
                         f"{flag}-set", "too")
                out = self.top / f"{name}-hops"
                add_hops.add_hops(self.top / name, out, 1, program())
                old, new = Dataset(self.top / name), Dataset(out)
                for key in ("labels", "class_count", "splits", "label_sets"):
                    self.assertEqual(old.info["node_types"][0][key],
                                     new.info["node_types"][0][key], key)
                for array in ("labels", "labels.too"):
                    np.testing.assert_array_equal(
                        old.node_array("node", array),
                        new.node_array("node", array))

    def test_pieces_do_not_matter(self):
        """Whole numbers add up to the same in any pieces."""
        kept = add_hops.NODES, add_hops.VALUES
        try:
            add_hops.NODES, add_hops.VALUES = 7, 5 * WIDTH
            add_hops.add_hops(self.data, self.top / "pieces", 1, program())
        finally:
            add_hops.NODES, add_hops.VALUES = kept
        np.testing.assert_array_equal(
            Dataset(self.top / "pieces").node_array("paper", "features"),
            Dataset(self.wide).node_array("paper", "features")[:, :2 * WIDTH])

    def test_training_is_the_same_for_any_parts(self):
        whole = self.train(DEFINITION, self.wide)
        parts = self.train(merged(DEFINITION, {"sampler": {"replicas": 2}}),
                           partitioned(self.wide, 2, "random"))
        self.assertEqual(whole["digest"], parts["digest"])

    def test_what_cannot_be_done_is_told(self):
        typed = self.top / "typed"
        (typed / "nodes").mkdir(parents=True)
        (typed / "dataset.json").write_text(json.dumps(
            {"node_types": [{"name": "a"}, {"name": "b"}], "edge_types": []}))
        strange = self.top / "strange"
        strange.mkdir()
        (strange / "dataset.json").write_text(json.dumps(
            {"node_types": [{"name": "a", "labels": "songs"}],
             "edge_types": []}))
        for arguments, told in (
                ((self.data, self.wide), "is there already"),
                ((self.top / "nowhere", self.top / "x"), "has no dataset.json"),
                ((self.data, self.top / "x", "--hops", 0), "0 hops are none"),
                ((typed, self.top / "x"), "has 2 node types"),
                ((strange, self.top / "x"), "labels of the kind songs")):
            done = self.command(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(told, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse((self.top / "x").exists())


if __name__ == "__main__":
    program()
    unittest.main()

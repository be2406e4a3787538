"""Odd and broken arrays for `import`: what is fed, and what is answered.

Each row of the two tables is fed to the built program. A row that is refused
says the exit code 1 and words of the one sentence; a row that is taken says
words of the notes and what must be in the dataset."""

import json
import pathlib
import shutil
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from imports import Workplace, save, small_set
from support import Dataset, np


def mask_of(ids, dtype=bool):
    out = np.zeros(40, dtype)
    out[ids] = 1
    return out


TRAIN = [7, 3, 5, 0, 1]

# Name; files added, or removed where None; flags; words of the sentence.
REFUSED = [
    ("feature", {"feature": np.ones((40, 2))}, [],
     ["feature.npy (features.npy?)", "--ignore feature.npy"]),
    ("valid_idx", {"valid_idx": np.arange(3)}, [],
     ["valid_idx.npy (val_idx.npy?)"]),
    ("too few weights", {"edge_weight": np.ones(299)}, [],
     ["edge_weight.npy", "299", "300"]),
    ("negative weights", {"edge_weight": -np.ones(300)}, [],
     ["edge_weight.npy: element 0", "is -1"]),
    ("features twice", {"features_indptr": np.arange(41)}, [],
     ["features_indptr.npy", "features.npy is there, too"]),
    ("half a CSR", {"features_values": np.ones(3)}, [],
     ["features_values.npy", "features_indptr.npy"]),
    ("another edge type", {"a__b__c.edges": np.ones((2, 3), int)}, [],
     ["a__b__c.edges.npy"]),
    ("times unasked", {"time": np.arange(40)}, [], ["time.npy", "--by time"]),
    ("edges of another name", {"edges": None, "edge_index": np.ones((2, 3))},
     [], ["edge_index.npy (edges.npy?)"]),
    ("nothing to ignore", {}, ["--ignore", "weights.npy"],
     ["--ignore weights.npy", "no such file"]),
    ("a row for each edge", {"edges": np.ones((300, 2), int)}, [],
     ["edges.npy", "[300, 2]", "(.T)"]),
    ("edges of booleans", {"edges": np.ones((2, 300), bool)}, [],
     ["edges.npy holds bool"]),
    ("edges of floats", {"edges": np.ones((2, 300))}, [],
     ["edges.npy holds float64"]),
    ("ids beyond 2^63", {"edges": np.full((2, 300), 2**63, np.uint64)}, [],
     ["edges.npy", "9223372036854775808", "2^63"]),
    ("one-hot labels", {"labels": np.eye(3, dtype=int)[np.arange(40) % 3]},
     [], ["labels.npy marks one of 3 classes", "argmax", "--multi-label"]),
    ("several masks", {"train_idx": None, "train_mask":
                       np.ones((40, 10), bool)}, [],
     ["train_mask.npy has 10 columns"]),
    ("a short mask", {"train_idx": None, "train_mask": np.ones(39, bool)}, [],
     ["train_mask.npy has 39 elements", "40"]),
    ("a mask of numbers", {"train_idx": None,
                           "train_mask": np.arange(40)}, [],
     ["train_mask.npy", "element 2 is 2"]),
    ("a mask beside ids", {"train_mask": mask_of(TRAIN)}, [],
     ["both train_idx.npy and train_mask.npy"]),
    ("features of three extents", {"features": np.ones((40, 5, 1))}, [],
     ["features.npy", "[40, 5, 1]"]),
    ("columns at odds", {"features": np.ones((40, 6))}, [],
     ["features.npy has 6 columns; meta.json says 5"]),
    ("large integers", {"features": np.full((40, 5), 2**24 + 1)}, [],
     ["features.npy", "16777217, which float32 would round to 16777216"]),
    ("a label below -1", {"labels": np.where(np.arange(40) == 2, -7, 1)}, [],
     ["labels.npy: the label of node 2 is -7", "-1 is for nodes without"]),
    ("a class that meta.json has not",
     {"labels": np.where(np.arange(40) == 2, 9, 1)}, [],
     ["labels.npy: the label of node 2 is 9", "meta.json tells of",
      '"class_names"']),
    ("texts", {"labels": np.array(["a"] * 40)}, [],
     ["labels.npy", "not supported"]),
    ("big-endian", {"labels": np.zeros(40, ">i8")}, [],
     ["labels.npy", "big-endian"]),
    ("labels of a set for too few nodes", {"labels.t": np.zeros(39, int)}, [],
     ["labels.t.npy", "40"]),
    ("a split of a set twice", {"train_idx.t": np.arange(3),
                                "train_mask.t": mask_of(TRAIN)}, [],
     ["both train_idx.t.npy and train_mask.t.npy"]),
    ("numbers in a set", {"labels.t": np.arange(40) / 2}, [],
     ["labels.t.npy holds float64", "--regression-set t"]),
    ("one-hot labels of a set", {"labels.t": np.eye(3, dtype=int)[
        np.arange(40) % 3]}, [],
     ["labels.t.npy marks one of 3 classes", "--multi-label-set t"]),
    ("a set of numbers that is not there", {}, ["--regression-set", "t"],
     ["--regression-set t", "no labels.t.npy"]),
    ("a set of an odd name", {"labels.a b": np.zeros(40, int)}, [],
     ['cannot be called "a b"']),
    ("a seed of a set that is no node", {"train_idx.t": np.array([40])}, [],
     ["train split of node (label set t)", "node 40", "does not exist"]),
    ("a split beside --split", {}, ["--split", "0.5,0.2,0.2"],
     ["a split already"]),
]

# Name; files; flags; words of notes; array of the dataset, what it must be.
TAKEN = [
    ("left out", {"edge_weight": np.ones(300)}, ["--ignore", "edge_weight"],
     ["edge_weight.npy: left out"], None, None),
    ("masks", {"train_idx": None, "train_mask": mask_of(TRAIN)}, [],
     ["train_mask.npy", "a mask"], "train", sorted(TRAIN)),
    ("a mask of 0 and 1", {"train_idx": None,
                           "train_mask": mask_of(TRAIN, np.int64)}, [],
     ["a mask"], "train", sorted(TRAIN)),
    ("a mask that is called ids", {"train_idx": mask_of(TRAIN)}, [],
     ["train_idx.npy", "a mask"], "train", sorted(TRAIN)),
    ("one feature", {"features": np.arange(40.0)}, ["--name", "one"],
     ["1 features"], "features", np.arange(40.0)[:, None]),
    ("features of uint8", {"features": np.full((40, 5), 200, np.uint8)}, [],
     ["from uint8"], "features", np.full((40, 5), 200.0)),
    ("features of booleans", {"features": np.ones((40, 5), bool)}, [],
     ["from bool"], "features", np.ones((40, 5))),
    ("Fortran order", {"features": np.asfortranarray(
        np.arange(200.0).reshape(40, 5))}, [], [], "features",
     np.arange(200.0).reshape(40, 5)),
    ("labels in a column", {"labels": np.arange(40)[:, None] % 3}, [], [],
     "labels", np.arange(40) % 3),
    ("several labels", {"labels": np.ones((40, 3))}, [],
     ["any of 3 labels for each node"], "labels", np.ones((40, 3), np.uint8)),
    ("labels of uint64", {"labels": np.arange(40).astype(np.uint64) % 3}, [],
     [], "labels", np.arange(40) % 3),
    ("a label set", {"labels.t": np.arange(40) % 2}, [],
     ["label set t of node: 2 classes, and no split of its own",
      "27 of 27 seeds"], "labels.t", np.arange(40) % 2),
    ("a label set of rows", {"labels.t": np.ones((40, 3))}, [],
     ["label set t of node: any of 3 labels for each node"], "labels.t",
     np.ones((40, 3), np.uint8)),
    ("a label set of rows that mark one", {"labels.t": np.eye(
        2, dtype=int)[np.arange(40) % 2]}, ["--multi-label-set", "t"],
     ["label set t of node: any of 2 labels for each node"], "labels.t",
     np.eye(2, dtype=np.uint8)[np.arange(40) % 2]),
    ("a label set of numbers", {"labels.t": np.arange(40) / 2},
     ["--regression-set", "t"], ["label set t of node: 1 number for each node"],
     "labels.t", (np.arange(40, dtype=np.float32) / 2)[:, None]),
    ("another split", {"train_idx.t": np.array([4, 2])}, [],
     ["label set t of node: 3 classes, with its own split"], "train.t",
     [4, 2]),
    ("gaps between labels of a set", {"labels.t": np.arange(40) % 2 * 5}, [],
     ["label set t of node: 2 classes"], "labels.t", np.arange(40) % 2),
    ("times", {"time": np.arange(40) / 2, "train_idx": None, "val_idx": None,
               "test_idx": None},
     ["--split", "0.5,0.25,0.25", "--by", "time"],
     ["time.npy: times of node, from float64"], "train", np.arange(20)),
    ("no label", {"labels": np.where(np.arange(40) < 38, np.arange(40) % 3,
                                     -1), "test_idx": np.arange(20, 38)}, [],
     ["labels.npy: label -1 of 2 nodes says that no label is known"], None,
     None),
    ("standardised", {"features": np.arange(200.0).reshape(40, 5)},
     ["--normalise", "standardise"], [], None, None),
]


class Arrays(Workplace):

    def feed(self, files):
        """A good folder with these files."""
        shutil.rmtree(self.source)
        self.source.mkdir()
        small_set(self.source)
        for name, array in files.items():
            if array is None:
                (self.source / f"{name}.npy").unlink()
            else:
                save(self.source, **{name: array})

    def test_refused(self):
        for name, files, flags, words in REFUSED:
            with self.subTest(name):
                self.feed(files)
                self.check_fails(["npy", self.source, *flags], *words)

    def test_taken(self):
        for name, files, flags, words, array, expected in TAKEN:
            with self.subTest(name):
                self.feed(files)
                if name == "one feature":
                    (self.source / "meta.json").unlink()
                summary = self.taken(["npy", self.source, *flags])
                for word in words:
                    self.assertIn(word, "\n".join(summary["notes"]))
                if array is not None:
                    np.testing.assert_array_equal(
                        Dataset(self.out).node_array("node", array), expected)

    def test_kinds_of_numbers(self):
        """All that the page of the format names, of whatever is read."""
        integers = [np.dtype(f"{sign}int{bits}") for sign in ("", "u")
                    for bits in (8, 16, 32, 64)]
        for kind in integers + [np.dtype(f"float{bits}")
                                for bits in (16, 32, 64)]:
            with self.subTest(kind=kind):
                features = (np.arange(200) % 100).reshape(40, 5)
                files = {"features": features.astype(kind)}
                if kind in integers:
                    files["labels"] = (np.arange(40) % 3).astype(kind)
                    files["train_idx"] = np.array(TRAIN).astype(kind)
                    files["edges"] = (np.arange(600) % 40).reshape(
                        2, 300).astype(kind)
                self.feed(files)
                self.taken(["npy", self.source])
                got = Dataset(self.out)
                np.testing.assert_array_equal(
                    got.node_array("node", "features"), features)
                np.testing.assert_array_equal(
                    got.node_array("node", "train"), TRAIN)
                if kind in integers:
                    self.check_edges(got, "node__to__node",
                                     files["edges"].astype(int), (40, 40))

    def test_single_values(self):
        for name in "labels", "features", "edges":
            with self.subTest(name=name):
                self.feed({name: np.array(3)})
                self.check_fails(["npy", self.source], f"{name}.npy",
                                 "holds a single value")

    def test_archives(self):
        self.feed({})
        np.savez(self.source / "features.npz", x=np.ones(3))
        self.check_fails(["npy", self.source], "features.npz", "an archive")

    def test_edges_in_fortran_order(self):
        self.feed({})
        edges = np.load(self.source / "edges.npy")
        np.save(self.source / "edges.npy", np.ascontiguousarray(edges.T).T)
        self.taken(["npy", self.source])
        self.check_edges(Dataset(self.out), "node__to__node", edges, (40, 40))

    def test_gaps_between_labels(self):
        self.feed({"labels": np.arange(40) % 3 * 10})
        (self.source / "meta.json").unlink()
        summary = self.taken(["npy", self.source])
        self.assertIn("labels are numbered anew",
                      "\n".join(summary["notes"]))
        got = Dataset(self.out)
        self.assertEqual(got.node_type("node")["class_names"],
                         ["0", "10", "20"])
        np.testing.assert_array_equal(got.node_array("node", "labels"),
                                      np.arange(40) % 3)

    def test_keys_of_others(self):
        """What PyG calls counts is no slip of the pen; a letter or two are."""
        self.feed({})
        path = self.source / "meta.json"
        told = json.loads(path.read_text())
        path.write_text(json.dumps({**told, "num_node_features": 7,
                                    "num_edge_types": 7}))
        self.taken(["npy", self.source])
        path.write_text(json.dumps({**told, "num_clases": 3}))
        self.check_fails(["npy", self.source], 'nothing reads "num_clases"',
                         'did you mean "num_classes"?')

    def test_a_random_split(self):
        self.feed({"train_idx": None, "val_idx": None, "test_idx": None})
        for order in ("random", "label"):
            summary = self.taken(["npy", self.source, "--split",
                                       "0.5,0.25,0.25", "--by", order])
            got = Dataset(self.out)
            ids = np.concatenate([got.node_array("node", name)
                                  for name in ("train", "val", "test")])
            self.assertEqual(len(set(ids)), len(ids))
            self.assertGreater(summary["node_types"][0]["train"], 15)


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)

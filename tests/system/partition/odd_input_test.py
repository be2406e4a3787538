"""Odd and broken input of `import`: what is fed, and what is answered.

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
from support import Dataset, graphmill, np

NODES = "id,label,split,f\na,x,train,1\nb,y,val,2\nc,x,test,4\n"

# Name; edge list; node table or None; flags; words of the sentence.
CSV_REFUSED = [
    ("weights", "source,target,weight\na,b,1\n", None, [],
     ["e.csv:1", '"weight"', "no weights", "--ignore"]),
    ("times", "src,dst,timestamp\na,b,1\n", None, [],
     ["e.csv:1", '"timestamp"', "--ignore"]),
    ("three columns, no header", "1 2 0.5\n2 3 0.5\n", None, [],
     ["e.csv:1", "columns 1, 2, 3", "by number"]),
    ("three names that say nothing", "one,two,three\n1,2,3\n", None, [],
     ["e.csv:1", '"one", "two", "three"', "by name"]),
    ("two sources", "source,src,target\na,b,c\n", None, [],
     ["e.csv:1", "both look like source"]),
    ("one column", "1\n2\n", None, [], ["e.csv:1", "one field"]),
    ("a row too long", "1,2\n2,3,4\n", None, [],
     ["e.csv:2", "3 fields; 2 expected", "first row"]),
    ("a row too short", "a,b\nc\n", None, [], ["e.csv:2", "one field"]),
    ("a header that is an edge", "1,2\n2,3\n", None, ["--header"],
     ["e.csv:1", "looks like an edge", "--header="]),
    ("no such column", "1,2\n2,3\n", None, ["--source", "7"],
     ["--source 7", "no table has such a column"]),
    ("no such column of a table", "1,2\n2,3\n", None, ["--source", "to=x"],
     ["e.csv:1", "--source to=x", "there are 1, 2"]),
    ("ignored, but not there", "1,2\n", None, ["--ignore", "year"],
     ["--ignore year", "no table"]),
    ("one column, two roles", "a,b\n", None,
     ["--source", "1", "--destination", "1"],
     ["column 1 cannot be both source and destination"]),
    ("an end is left out", "1,2\n", None, ["--ignore", "1"],
     ["a source and a destination expected"]),
    ("a label of an edge list", "1,2\n", None, ["--label", "to=1"],
     ["--label to=1", "an edge list has no such column"]),
    ("an empty relation", "head,relation,tail\na,,b\n", None, [],
     ["e.csv:2", "relation is empty"]),
    ("an unknown node", "a,z\n", NODES, [], ["e.csv:1", '"z"', "table of"]),
    ("an empty id", "a,b\n,b\n", None, [], ["e.csv:2", "id is empty"]),
    ("no ids of nodes", "a,b\n", NODES.replace("id,", "name,"), [],
     ["n.csv:1", "--id", '"name"']),
    ("a class beside labels", "a,b\n", NODES.replace(",f", ",class"), [],
     ["n.csv:1", '"class" looks like labels', "--label class"]),
    ("y", "a,b\n", NODES.replace("label", "y"), [],
     ["n.csv:1", '"y" looks like labels', "--feature y"]),
    ("a mask", "a,b\n", NODES.replace("split", "train_mask"), [],
     ["n.csv:1", "looks like split", "--split-column train_mask"]),
    ("two labels", "a,b\n", NODES.replace(",f", ",label"), [],
     ["n.csv:1", 'two columns "label"']),
    ("an unknown split", "a,b\n", NODES.replace("train", "learn"), [],
     ["n.csv:2", '"learn"']),
    ("text as a feature", "a,b\n", NODES.replace(",1", ",red"), [],
     ["n.csv:2", '"red"', "--ignore f"]),
    ("an id twice", "a,b\n", NODES.replace("b,y", "a,y"), [],
     ["n.csv:3", "there already"]),
    ("a split that is there", "a,b\n", NODES, ["--split", "0.5,0.25,0.25"],
     ["--split", "a split already", "--ignore"]),
    ("shares above 1", "a,b\n", NODES, ["--split", "0.8,0.8,0.1"],
     ["sum at most 1"]),
    ("two shares", "a,b\n", NODES, ["--split", "0.8,0.2"],
     ["--split 0.8,0.2", "0.8,0.1,0.1"]),
    ("an order without shares", "a,b\n", NODES, ["--by", "label"],
     ["--split is missing"]),
    ("by time, without times", "a,b\n", NODES,
     ["--ignore", "split", "--split", "0.5,0.3,0.2", "--by", "time"],
     ["--split by time", "--time COLUMN"]),
    ("a date as time", "a,b\n", NODES.replace(",1", ",2001-01-01"),
     ["--time", "f", "--ignore", "split", "--split", "0.5,0.3,0.2", "--by",
      "time"], ["n.csv:2", "2001-01-01", "seconds"]),
    ("times that nobody wants", "a,b\n", NODES, ["--time", "f"],
     ["--time f", "--by time"]),
    ("sums of duplicates", "a,b\n", None, ["--duplicates", "sum"],
     ["no weights yet"]),
    ("undirected between two types", "a,b\n", None,
     ["--undirected=buys"], ["--undirected", "two types", "--reverse"]),
    ("undirected, but not there", "a,b\n", None, ["--undirected=likes"],
     ["--undirected=likes", "no such edge type"]),
    ("an unknown scale", "a,b\n", NODES, ["--normalise", "l3"],
     ["--normalise l3", "standardise"]),
    ("a scale of no type", "a,b\n", NODES, ["--normalise", "cow=l1"],
     ["--normalise", '"cow"']),
    ("no features to scale", "a,b\n", None, ["--normalise", "l2"],
     ["--normalise", "no features"]),
    ("no features of a type", "a,b\n", NODES.replace(",f", ",t"),
     ["--ignore", "t", "--normalise", "node=l2"],
     ["--normalise", '"node" have no features']),
    ("Parquet", "PAR1\x15\x04", None, [], ["e.csv is a Parquet file"]),
    ("Matrix Market", "%%MatrixMarket matrix coordinate real\n3 3 1\n1 2 5\n",
     None, ["--ignore", "3"], ["e.csv is a Matrix Market file"]),
    ("no text", "a,b\n\0\0\0", None, [], ["e.csv is no text"]),
    ("a second label", "a,b\n", NODES.replace(",f", ",label2"), [],
     ["n.csv:1", '"label2" looks like labels', "--label-set label2"]),
    ("a mask of a like name", "a,b\n", NODES.replace(",f", ",fold_mask"), [],
     ["n.csv:1", '"fold_mask" looks like split']),
    ("a label set without a name", "a,b\n",
     NODES.replace(",f", ",label.a b"), [], ['cannot be called "a b"']),
    ("two columns of a set", "a,b\n",
     "id,label,split,label.t,labels.t\na,x,train,1,1\nb,y,val,2,2\n", [],
     ["n.csv:1", 'both labels of the label set "t"']),
    ("an empty label set", "a,b\n",
     "id,label,split,label.t\na,x,train,\nb,y,val,\n", [],
     ['label set "t" has no label']),
    ("a split of no labels", "a,b\n", "id,split.t\na,train\nb,val\n", [],
     ['label set "t" has a split alone']),
    ("a seed without a label in a set", "a,b\n",
     "id,label,split,label.t,split.t\na,x,train,u,train\nb,y,val,,test\n",
     [], ["test split of node (label set t)", "node 1", "no label"]),
    ("an open quote", 'a,b\n"c,d\n', None, [], ["e.csv:2", "does not end"]),
]

# Name; edge list; node table or None; flags; words of notes; nodes, edges.
CSV_TAKEN = [
    ("ids as names", "user_id,item_id\nu,i\nv,i\n", None, [],
     ['source "user_id"', 'destination "item_id"'], 3, [2]),
    ("SNAP", "# a comment\nFromNodeId\tToNodeId\n1\t2\n2\t3\n", None, [],
     ['source "FromNodeId"'], 3, [2]),
    ("WN18RR", "head,relation,tail\na,_is,b\nb,has,c\nc,_is,a\n", None, [],
     ['relation "relation"', "2 edge types", 'is for "_is"'], 3, [2, 1]),
    ("weights left out", "source,target,weight\na,b,1\n", None,
     ["--ignore", "weight"], ['left out "weight"'], 2, [1]),
    ("numbers of columns", "5,1,2\n5,2,3\n", None,
     ["--ignore", "1", "--source", "2", "--destination", "3"],
     ["no header, source 2, destination 3, left out 1"], 3, [2]),
    ("text that may be a header", "ann,bob\nbob,eve\n", None, [],
     ["its first row is taken for an edge (ann, bob)", "--header"], 3, [2]),
    ("said to be a header", "ann,bob\nbob,eve\n", None, ["--header"],
     ["a header"], 2, [1]),
    ("said to be a header, by file", "ann,bob\nbob,eve\n", None,
     ["--header=e.csv"], ["a header"], 2, [1]),
    ("said to be none", "source,target\na,b\n", None, ["--no-header"],
     ["no header"], 4, [2]),
    ("an empty list", "", NODES, [], [], 3, [0]),
    ("labels of another name", "a,b\n", NODES.replace("label", "class"),
     ["--label", "class"], ['label "class"', '1 features ("f")'], 3, [1]),
    ("undirected", "1,2\n2,1\n1,2\n3,3\n", None, ["--undirected"], [], 3,
     [3]),
    ("loops and duplicates dropped", "1,2\n1,2\n3,3\n", None,
     ["--self-loops", "drop", "--duplicates", "drop"],
     ["1 self-loop and 1 duplicate dropped"], 3, [1]),
    ("a label set", "a,b\n",
     "id,label,split,label.t\na,x,train,u\nb,y,val,v\nc,x,test,\n", [],
     ['label of a set "label.t"', "label set t of node: 2 classes",
      "2 of 3 seeds"], 3, [1]),
    ("a label set by flag", "a,b\n", NODES.replace(",f", ",topic"),
     ["--label-set", "topic"], ["label set topic of node: 3 classes"], 3, [1]),
    ("a label set of numbers", "a,b\n",
     "id,label,split,label.t\na,x,train,0.5\nb,y,val,-2\nc,x,test,\n",
     ["--regression-set", "t"],
     ["label set t of node: 1 number for each node", "2 of 3 seeds"], 3, [1]),
    ("another split", "a,b\n",
     "id,label,split,split.two\na,x,train,test\nb,y,val,train\nc,x,test,\n",
     [], ["label set two of node: 2 classes, with its own split"], 3, [1]),
    ("a split of sets alone", "a,b\n",
     "id,label.s,label.t\na,x,u\nb,y,u\nc,x,v\n",
     ["--split", "0.4,0.3,0.3"],
     ["label set s of node: 2 classes, split by --split",
      "label set t of node: 2 classes, split by --split"], 3, [1]),
    ("another spelling", "a,b\n", NODES, ["--normalize", "node=l1"], [], 3,
     [1]),
    ("a split by time", "a,b\n", NODES.replace("f", "born"),
     ["--ignore", "split", "--time", "born", "--split", "0.4,0.3,0.3", "--by",
      "time"], ['time "born"', 'left out "split"'], 3, [1]),
]


class Csv(Workplace):

    def arguments(self, edges, nodes, flags):
        (self.source / "e.csv").write_text(edges)
        kind = "user__buys__item=" if "--undirected=buys" in flags else ""
        out = ["csv", "--edges", f"{kind}{self.source / 'e.csv'}", *flags]
        if nodes is not None:
            (self.source / "n.csv").write_text(nodes)
            out += ["--nodes", self.source / "n.csv"]
        return out

    def test_refused(self):
        for name, edges, nodes, flags, words in CSV_REFUSED:
            with self.subTest(name):
                self.check_fails(self.arguments(edges, nodes, flags), *words)

    def test_taken(self):
        for name, edges, nodes, flags, words, count, sizes in CSV_TAKEN:
            with self.subTest(name):
                summary = taken(self.out, self.arguments(edges, nodes, flags))
                for word in words:
                    self.assertIn(word, "\n".join(summary["notes"]))
                self.assertEqual(summary["node_types"][0]["count"], count)
                self.assertEqual([t["count"] for t in summary["edge_types"]],
                                 sizes)


def taken(out, arguments):
    """Imports anew and returns the summary."""
    shutil.rmtree(out, ignore_errors=True)
    done = graphmill("import", *arguments, "--quiet", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def mask_of(ids, dtype=bool):
    out = np.zeros(40, dtype)
    out[ids] = 1
    return out


TRAIN = [7, 3, 5, 0, 1]

# Name; files added, or removed where None; flags; words of the sentence.
NPY_REFUSED = [
    ("feature", {"feature": np.ones((40, 2))}, [],
     ["feature.npy (features.npy?)", "--ignore feature.npy"]),
    ("valid_idx", {"valid_idx": np.arange(3)}, [],
     ["valid_idx.npy (val_idx.npy?)"]),
    ("edge_weight", {"edge_weight": np.ones(300)}, [],
     ["edge_weight.npy", "no weights"]),
    ("features twice", {"features_indptr": np.arange(41)}, [],
     ["features_indptr.npy", "features.npy is there, too"]),
    ("half a CSR", {"features_values": np.ones(3)}, [],
     ["features_values.npy", "features_indptr.npy"]),
    ("another edge type", {"a__b__c.edges": np.ones((2, 3), int)}, [],
     ["a__b__c.edges.npy"]),
    ("times unasked", {"time": np.arange(40)}, [], ["time.npy", "--by time"]),
    ("edges of another name", {"edges": None, "edge_index": np.ones((2, 3))},
     [], ["edge_index.npy meant to be edges.npy"]),
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
    ("large integers", {"features": np.full((40, 5), 2**25)}, [],
     ["features.npy", "33554432", "2^24"]),
    ("texts", {"labels": np.array(["a"] * 40)}, [],
     ["labels.npy", "not supported"]),
    ("big-endian", {"labels": np.zeros(40, ">i8")}, [],
     ["labels.npy", "big-endian"]),
    ("labels of a set for too few nodes", {"labels.t": np.zeros(39, int)}, [],
     ["labels.t.npy", "40"]),
    ("a split of a set twice", {"train_idx.t": np.arange(3),
                                "train_mask.t": mask_of(TRAIN)}, [],
     ["both train_idx.t.npy and train_mask.t.npy"]),
    ("a set without training", {"labels.t": np.zeros(40, int),
                                "val_idx.t": np.arange(3)}, [],
     ["train split of node (label set t) is empty"]),
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
NPY_TAKEN = [
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
     ["any of 3 for each node"], "labels", np.ones((40, 3), np.uint8)),
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
    ("standardised", {"features": np.arange(200.0).reshape(40, 5)},
     ["--normalise", "standardise"], [], None, None),
]


class Npy(Workplace):

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
        for name, files, flags, words in NPY_REFUSED:
            with self.subTest(name):
                self.feed(files)
                self.check_fails(["npy", self.source, *flags], *words)

    def test_taken(self):
        for name, files, flags, words, array, expected in NPY_TAKEN:
            with self.subTest(name):
                self.feed(files)
                if name == "one feature":
                    (self.source / "meta.json").unlink()
                summary = taken(self.out, ["npy", self.source, *flags])
                for word in words:
                    self.assertIn(word, "\n".join(summary["notes"]))
                if array is not None:
                    np.testing.assert_array_equal(
                        Dataset(self.out).node_array("node", array), expected)

    def test_archives(self):
        self.feed({})
        np.savez(self.source / "features.npz", x=np.ones(3))
        self.check_fails(["npy", self.source], "features.npz", "an archive")

    def test_edges_in_fortran_order(self):
        self.feed({})
        edges = np.load(self.source / "edges.npy")
        np.save(self.source / "edges.npy", np.ascontiguousarray(edges.T).T)
        taken(self.out, ["npy", self.source])
        self.check_edges(Dataset(self.out), "node__to__node", edges, (40, 40))

    def test_gaps_between_labels(self):
        self.feed({"labels": np.arange(40) % 3 * 10})
        (self.source / "meta.json").unlink()
        summary = taken(self.out, ["npy", self.source])
        self.assertIn("labels are numbered anew",
                      "\n".join(summary["notes"]))
        got = Dataset(self.out)
        self.assertEqual(got.node_type("node")["class_names"],
                         ["0", "10", "20"])
        np.testing.assert_array_equal(got.node_array("node", "labels"),
                                      np.arange(40) % 3)

    def test_a_random_split(self):
        self.feed({"train_idx": None, "val_idx": None, "test_idx": None})
        for order in ("random", "label"):
            summary = taken(self.out, ["npy", self.source, "--split",
                                       "0.5,0.25,0.25", "--by", order])
            got = Dataset(self.out)
            ids = np.concatenate([got.node_array("node", name)
                                  for name in ("train", "val", "test")])
            self.assertEqual(len(set(ids)), len(ids))
            self.assertGreater(summary["node_types"][0]["train"], 15)


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)

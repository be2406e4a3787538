"""Odd and broken tables for `import`: what is fed, and what is answered.

Each row of the two tables is fed to the built program. A row that is refused
says the exit code 1 and words of the one sentence; a row that is taken says
words of the notes and what must be in the dataset."""

import pathlib
import shutil
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from imports import Workplace
from runs import partitioned

NODES = "id,label,split,f\na,x,train,1\nb,y,val,2\nc,x,test,4\n"

# Name; edge list; node table or None; flags; words of the sentence.
REFUSED = [
    ("an unknown column", "source,target,year\na,b,1\n", None, [],
     ["e.csv:1", '"year"', "--weight", "--relation", "--ignore"]),
    ("a weight that is none", "source,target,weight\na,b,1\nb,c,x\n", None, [],
     ["e.csv:3", 'the weight "x" is no number']),
    ("a negative weight", "source,target,weight\na,b,-1\n", None, [],
     ["e.csv:2", "the weight of an edge is -1"]),
    ("no weight", "source,target,weight\na,b,nan\n", None, [],
     ["e.csv:2", "the weight of an edge is nan"]),
    ("a weight of a node", "a,b\n", NODES, ["--weight", "f"],
     ["--weight f", "only a node table has such a column"]),
    ("two weights of a pair", "a,b,1\nb,a,2\n", None,
     ["--weight", "3", "--undirected"],
     ['between "b" and "a"', "1 and 2", "--duplicates sum"]),
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
    ("a row too short", "1,2\n3\n", None, [], ["e.csv:2", "one field"]),
    ("a header that is an edge", "1,2\n2,3\n", None, ["--header"],
     ["e.csv:1", "looks like an edge", "--header="]),
    ("a header of no table", "1,2\n2,3\n", None, ["--header=nosuch"],
     ["--header=nosuch", "no table has this type or file name"]),
    ("a header and none", "1,2\n2,3\n", None,
     ["--header=e.csv", "--no-header=e.csv"], ["exclude each other"]),
    ("the index of pandas", "a,b\n",
     ",id,label,split,f\n0,a,x,train,1\n1,b,y,val,2\n", [],
     ["n.csv:1", "column 1 has no name", "--ignore n.csv=1"]),
    ("no such column", "1,2\n2,3\n", None, ["--source", "7"],
     ["--source 7", "no table has such a column"]),
    ("no such column of a table", "1,2\n2,3\n", None, ["--source", "to=x"],
     ["e.csv:1", "--source to=x", "there are 1, 2"]),
    ("ignored, but not there", "1,2\n", None, ["--ignore", "year"],
     ["--ignore year", "no table"]),
    ("one column, two roles", "1,2\n", None,
     ["--source", "1", "--destination", "1"],
     ["column 1 cannot be both source and destination"]),
    ("an end is left out", "1,2\n", None, ["--ignore", "1"],
     ["a source and a destination expected"]),
    ("a label of an edge list", "1,2\n", None, ["--label", "to=1"],
     ["--label to=1", "this is an edge list", "--label is for node tables"]),
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
     ["n.csv:1", "looks like the mask of a split", "--train-mask train_mask"]),
    ("two labels", "a,b\n", NODES.replace(",f", ",label"), [],
     ["n.csv:1", 'two columns "label"']),
    ("an unknown split", "a,b\n", NODES.replace("train", "learn"), [],
     ["n.csv:2", '"learn"']),
    ("text as a feature", "a,b\n", NODES.replace(",1", ",red"), [],
     ["n.csv:2", '"red"', '(column', '"f")', "--ignore"]),
    ("an id twice", "a,c\n", NODES.replace("b,y", "a,y"), [],
     ["n.csv:3", "there already"]),
    ("a split that is there", "a,b\n", NODES, ["--split", "0.5,0.25,0.25"],
     ["--split", "a split already", "--ignore"]),
    ("shares above 1", "a,b\n", NODES, ["--split", "0.8,0.8,0.1"],
     ["sum at most 1"]),
    ("two shares", "a,b\n", NODES, ["--split", "0.8,0.2"],
     ["--split 0.8,0.2", "0.8,0.1,0.1"]),
    ("an order without shares", "a,b\n", NODES, ["--by", "label"],
     ["--by needs --split"]),
    ("by time, without times", "a,b\n", NODES,
     ["--ignore", "split", "--split", "0.5,0.3,0.2", "--by", "time"],
     ["--split by time", "--time COLUMN"]),
    ("a date as time", "a,b\n", NODES.replace(",1", ",2001-01-01"),
     ["--time", "f", "--ignore", "split", "--split", "0.5,0.3,0.2", "--by",
      "time"], ["n.csv:2", "2001-01-01", "seconds"]),
    ("times that nobody wants", "a,b\n", NODES, ["--time", "f"],
     ["--time f", "--by time"]),
    ("sums of duplicates", "1,2\n", None, ["--duplicates", "sum"],
     ["--duplicates sum", "no weights"]),
    ("undirected between two types", "1,2\n", None,
     ["--undirected=buys"], ["--undirected", "two types", "--reverse"]),
    ("undirected and reversed", "1,2\n", None,
     ["--undirected", "--reverse"],
     ["--reverse adds nothing where --undirected"]),
    ("undirected, but not there", "1,2\n", None, ["--undirected=likes"],
     ["--undirected=likes", "no such edge type"]),
    ("an unknown scale", "a,b\n", NODES, ["--normalise", "l3"],
     ["--normalise l3", "standardise"]),
    ("a scale of no type", "a,b\n", NODES, ["--normalise", "cow=l1"],
     ["--normalise", '"cow"']),
    ("no features to scale", "1,2\n", None, ["--normalise", "l2"],
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
     ["n.csv:1", '"fold_mask" looks like splits', "--train-mask"]),
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
    ("an open quote", '1,2\n"c,d\n', None, [], ["e.csv:2", "does not end"]),
]

# Name; edge list; node table or None; flags; words of notes; nodes, edges.
TAKEN = [
    ("ids as names", "user_id,item_id\nu,i\nv,i\n", None, [],
     ['source "user_id"', 'destination "item_id"',
      '"user_id" and "item_id" have ids of the same nodes'], 3, [2]),
    ("SNAP", "# Directed graph\n# Nodes: 3 Edges: 2\n"
     "# FromNodeId\tToNodeId\n1\t2\n2\t3\n", None, [],
     ["no header, source 1", "3 comment lines skipped (#)"], 3,
     [2]),
    ("comments", "FromNodeId\tToNodeId\n% a\n1\t2\n% b\n2\t3\n", None,
     ["--comments", "%"],
     ['source "FromNodeId"', "2 comment lines skipped (%)"], 3,
     [2]),
    ("comments of nodes", "a,b\n", "# nodes\n" + NODES, ["--comments", "#"],
     ["n.csv: 1 comment line skipped (#)"], 3, [1]),
    ("WN18RR", "head,relation,tail\na,_is,b\nb,has,c\nc,_is,a\n", None, [],
     ['relation "relation"', "2 edge types", 'is--3f9549f49f12 for "_is"'], 3, [2, 1]),
    ("weights", "source,target,weight\na,b,0.5\n", None, [],
     ['weight "weight"'], 2, [1]),
    ("weights by number, added up", "a,b,1\na,b,2\n", None,
     ["--weight", "3", "--duplicates", "sum"], ["weight 3"], 2, [1]),
    ("weights left out", "source,target,weight\na,b,1\n", None,
     ["--ignore", "weight"], ['left out "weight"'], 2, [1]),
    ("numbers of columns", "5,1,2\n5,2,3\n", None,
     ["--ignore", "1", "--source", "2", "--destination", "3"],
     ["no header, source 2, destination 3, left out 1"], 3, [2]),
    ("a first row whose end recurs", "ann,bob\nbob,eve\n", None, [],
     ["no header"], 3, [2]),
    ("ids with a hash", "#red,u1\n#blue,u2\ngreen,u1\n", None, [],
     ["no header"], 5, [3]),
    ("a header above nodes", "payer,payee\na,b\n", NODES, [],
     ['source "payer"', 'destination "payee"'], 3, [1]),
    ("a header that has a chosen name", "p,q\na,b\n", None,
     ["--source", "q", "--destination", "p"],
     ['source "q"', 'destination "p"'], 2, [1]),
    ("columns of two types in the other order", "item_id,user_id\ni,u\n",
     None, ["--header=buys"],
     ['source "user_id"', 'destination "item_id"'], 1, [1]),
    ("two of many columns", "a,payer,b,payee,c\n1,x,2,y,3\n", None,
     ["--source", "payer", "--destination", "payee", "--ignore", "*"],
     ['left out "a", "b", "c"'], 2, [1]),
    ("a list in one direction", "1,2\n2,1\n2,3\n3,4\n", None, [],
     ["edges both ways: 33.3 % of node__to__node", "--undirected"], 4, [4]),
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
    ("the index of pandas as a feature", "a,b\n",
     ",id,label,split,f\n0,a,x,train,1\n1,b,y,val,2\n",
     ["--feature", "n.csv=1"], ["2 features"], 2, [1]),
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


class Tables(Workplace):

    def arguments(self, edges, nodes, flags):
        (self.source / "e.csv").write_text(edges)
        two_types = {"--undirected=buys", "--header=buys"} & set(flags)
        kind = "user__buys__item=" if two_types else ""
        out = ["csv", "--edges", f"{kind}{self.source / 'e.csv'}", *flags]
        if nodes is not None:
            (self.source / "n.csv").write_text(nodes)
            out += ["--nodes", self.source / "n.csv"]
        return out

    def test_refused(self):
        for name, edges, nodes, flags, words in REFUSED:
            with self.subTest(name):
                self.check_fails(self.arguments(edges, nodes, flags), *words)

    def test_classes_of_another_dataset(self):
        """Its numbers, whatever labels come first here."""
        first = self.arguments("a,b\n", NODES, [])
        self.taken(first)
        learnt = self.out.rename(self.top / "learnt")
        nodes = NODES.replace("a,x", "a,y").replace("train", "test")
        both = ["--classes-of", learnt]
        summary = self.taken(self.arguments("a,b\n", nodes, both))
        self.assertIn("no node of type `node` is in the train split",
                      "\n".join(summary["notes"]))
        before, now = support.Dataset(learnt), support.Dataset(self.out)
        for rows, want in ((before, NODES), (now, nodes)):
            names = rows.node_type("node")["class_names"]
            self.assertEqual(names, ["x", "y"])
            self.assertEqual(
                [names[at] for at in rows.node_array("node", "labels")],
                [line.split(",")[1] for line in want.splitlines()[1:]])
        parts = partitioned(learnt, 2, "random")
        self.taken(self.arguments("a,b\n", nodes,
                                  ["--classes-of", parts]))
        self.assertEqual(
            support.Dataset(self.out).node_type("node")["class_names"],
            ["x", "y"])
        shutil.rmtree(self.out)
        self.check_fails(self.arguments(
            "a,b\n", nodes.replace("b,y", "b,z"), both),
            'the label "z" is none of the classes of node: x, y')
        self.check_fails(
            ["csv", "--edges", f"n__to__n={self.source / 'e.csv'}", "--nodes",
             f"n={self.source / 'n.csv'}", *both],
            "no node table has labels of a node type")

    def test_taken(self):
        for name, edges, nodes, flags, words, count, sizes in TAKEN:
            with self.subTest(name):
                summary = self.taken(self.arguments(edges, nodes, flags))
                for word in words:
                    self.assertIn(word, "\n".join(summary["notes"]))
                self.assertEqual(summary["node_types"][0]["count"], count)
                self.assertEqual([t["count"] for t in summary["edge_types"]],
                                 sizes)


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)

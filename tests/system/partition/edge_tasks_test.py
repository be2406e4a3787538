"""Tasks of edges: knowledge-graph triples in three files, rated edges and an
undirected graph, imported, partitioned and inspected by the built program."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from imports import Workplace
from support import graphmill, np, program

DATA = pathlib.Path(__file__).resolve().parents[4] / "shared/data"


def rows(folder, task, split, name):
    return np.load(folder / "tasks" / task / f"{split}.{name}.npy")


class EdgeTasks(Workplace):
    def checked(self, folder):
        done = graphmill("inspect", folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(told["broken"], [])
        return told

    def test_triples(self):
        """Every triple is a row of its split, and known links are all of them."""
        source = DATA / "umls"
        if not source.is_dir():
            self.skipTest("no UMLS in shared/data")
        self.taken(["csv", "--task-train", source / "train.txt",
                    "--task-val", source / "valid.txt",
                    "--task-test", source / "test.txt", "--source", "1",
                    "--relation", "2", "--destination", "3", "--no-header",
                    "--separator", "tab", "--reverse"])
        about = json.loads((self.out / "dataset.json").read_text())
        (task,) = about["tasks"]
        self.assertEqual((about["format_version"], task["kind"]), (6, "link"))
        names = (self.out / "nodes/node/ids.txt").read_text().split("\n")
        original = json.loads(
            (self.out / "original_names.json").read_text()
        ) if (self.out / "original_names.json").exists() else {}
        triples = {}
        for split, stem in (("train", "train"), ("val", "valid"),
                            ("test", "test")):
            triples[split] = {tuple(line.split("\t")) for line in
                              (source / f"{stem}.txt").read_text().splitlines()}
            found = set()
            for (head, tail), at in zip(rows(self.out, "link", split, "edges"),
                                        rows(self.out, "link", split, "types")):
                name = task["edge_types"][at]
                found.add((names[head],
                           original.get(name, name.split("__")[1]),
                           names[tail]))
            self.assertEqual(found, triples[split])
        everything = set().union(*triples.values())
        edges = rows(self.out, "link", "test", "edges")
        types = rows(self.out, "link", "test", "types")
        lists = rows(self.out, "link", "test", "known.rows")
        ends = rows(self.out, "link", "test", "known.indptr")
        known = rows(self.out, "link", "test", "known.ids")
        for row in range(0, len(edges), 37):
            name = task["edge_types"][types[row]]
            relation = original.get(name, name.split("__")[1])
            head = names[edges[row][0]]
            of = lists[row][0]
            self.assertEqual({names[i] for i in known[ends[of]:ends[of + 1]]},
                             {t for h, r, t in everything
                              if (h, r) == (head, relation)})
        told = self.checked(self.out)["tasks"][0]
        self.assertEqual(told["overlapping"], 0)
        self.assertGreater(told["reversed"], 0)
        # Held out are as many edges of relations as of their reverses, at least.
        hidden = 0
        for edge_type in about["edge_types"]:
            folder = self.out / "edges" / "__".join(
                edge_type[key] for key in ("source", "name", "destination"))
            visible = np.load(folder / "visible.npy")
            degrees = np.load(folder / "in_degrees.npy")
            self.assertTrue((visible[:, 1] >= visible[:, 0]).all())
            self.assertTrue((degrees >= visible[:, 1]).all())
            hidden += (degrees - visible[:, 0]).sum()
        self.assertEqual(hidden, 2 * (task["splits"]["val"]
                                      + task["splits"]["test"]))
        self.check_parts("link")

    def check_parts(self, task):
        parts = self.results / "parts"
        done = graphmill("partition", self.out, "--parts", "3", "--method",
                         "random", "--out", parts, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        about = json.loads((parts / "partitions.json").read_text())
        originals = np.concatenate(
            [np.load(parts / f"part-{p}/nodes/node/original_ids.npy")
             for p in range(3)])
        for split in ("train", "val", "test"):
            np.testing.assert_array_equal(
                originals[rows(parts, task, split, "edges")],
                rows(self.out, task, split, "edges"))
            np.testing.assert_array_equal(rows(parts, task, split, "ids"),
                                          rows(self.out, task, split, "ids"))
            self.assertIn(f"tasks/{task}/{split}.edges.npy",
                          about["seed_digests"])
        self.assertEqual(self.checked(parts)["tasks"],
                         self.checked(self.out)["tasks"])
        self.check_damage(parts, task)

    def check_damage(self, parts, task):
        """What is wrong beside the parts is found there, too."""
        for name, said in ((f"tasks/{task}/train.ids.npy", "train.ids.npy"),
                           ("originals/node.npy", "is what it has become")):
            place = parts / name
            kept = place.read_bytes()
            array = np.load(place)
            array[[0, -1]] = array[[-1, 0]]
            np.save(place, array)
            done = graphmill("inspect", parts, "--quiet")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(said, done.stdout)
            place.write_bytes(kept)

    def test_ratings_by_time(self):
        """Numbers of edges, split by their times; equal times stay together."""
        table = self.source / "r.csv"
        rng = np.random.default_rng(5)
        times = rng.integers(0, 50, 400)
        values = rng.integers(-10, 11, 400)
        table.write_text("from,to,stars,when\n" + "".join(
            f"{a},{b},{v},{t}\n" for a, b, v, t in
            zip(rng.integers(0, 30, 400), rng.integers(0, 30, 400), values,
                times)))
        self.taken(["csv", "--edges", table, "--task-kind", "edge_value",
                    "--task-name", "stars", "--task-label", "stars",
                    "--task-time", "when", "--split-edges", "0.7,0.15,0.15",
                    "--by", "time"])
        cuts = np.quantile(times, [0.7, 0.85])
        for split, among in (
                ("train", times <= cuts[0]),
                ("val", (times > cuts[0]) & (times <= cuts[1])),
                ("test", times > cuts[1])):
            order = np.flatnonzero(among)
            order = order[np.argsort(times[order], kind="stable")]
            np.testing.assert_array_equal(rows(self.out, "stars", split,
                                               "times"), times[order])
            np.testing.assert_array_equal(
                rows(self.out, "stars", split, "labels")[:, 0], values[order])
        self.checked(self.out)

    def several(self):
        """A table with what three tasks need."""
        table = self.source / "wires.csv"
        table.write_text("from,to,kind,sum,when\n" + "".join(
            f"{i % 20},{i * 7 % 20},{('fine', 'fraud')[i % 3 == 0]},{i / 4},{i}\n"
            for i in range(40)))
        return ["csv", "--edges", f"account__pays__account={table}",
                "--source", "from", "--destination", "to"]

    def check_several(self):
        about = json.loads((self.out / "dataset.json").read_text())
        self.assertEqual([(task["name"], task["kind"], task["splits"])
                          for task in about["tasks"]], [
            ("fraud", "edge_class", {"train": 24, "val": 8, "test": 8}),
            ("sum", "edge_value", {"train": 24, "val": 8, "test": 8}),
            ("link", "link", {"train": 20, "val": 10, "test": 10})])
        self.assertEqual(about["tasks"][0]["class_names"], ["fine", "fraud"])
        np.testing.assert_array_equal(
            rows(self.out, "fraud", "test", "labels"),
            [int(i % 3 == 0) for i in range(32, 40)])
        np.testing.assert_array_equal(
            rows(self.out, "sum", "val", "labels")[:, 0],
            [i / 4 for i in range(24, 32)])
        self.assertEqual(len(self.checked(self.out)["tasks"]), 3)

    def test_several_tasks(self):
        """One command makes them, by options or by a columns file."""
        flags = ["--task-kind", "fraud=edge_class",
                 "--task-kind", "sum=edge_value", "--task-kind", "link",
                 "--task-label", "fraud=kind", "--task-label", "sum",
                 "--split-edges", "0.6,0.2,0.2",
                 "--split-edges", "link=0.5,0.25,0.25",
                 "--by", "time", "--by", "link=random", "--edge-time", "when",
                 "--time-unit", "step", "--seed", "5"]
        self.taken([*self.several(), *flags])
        self.check_several()
        by_options = (self.out / "dataset.json").read_bytes()
        columns = self.source / "columns.yaml"
        columns.write_text("""
tasks:
  fraud: {kind: edge_class, label: kind, split_edges: [0.6, 0.2, 0.2], by: time}
  sum: {kind: edge_value, label: pays=sum, split_edges: [0.6, 0.2, 0.2], by: [time]}
  link: {edges: [account__pays__account], split_edges: [0.5, 0.25, 0.25]}
pays: {edge_time: when}
""")
        self.taken([*self.several(), "--columns", columns, "--time-unit", "step",
                    "--seed", "5", "--replace"])
        self.check_several()
        self.assertEqual(
            json.loads(by_options)["tasks"],
            json.loads((self.out / "dataset.json").read_text())["tasks"])

    def test_several_tasks_are_refused(self):
        two = ["--task-kind", "a=edge_class", "--task-kind", "b=edge_value"]
        for flags, words in (
                (["--task-kind", "edge_clas"],
                 "--task-kind edge_clas: link, edge_class, edge_labels or"),
                (["--task-kind", "=link"], "with NAME= before it"),
                ([*two, "--task-name", "c"],
                 "--task-name c: --task-kind names a, b; leave --task-name out"),
                ([*two, "--split-edges", "c=1,0,0"],
                 '--split-edges c=1,0,0: there is no task "c"; there are a, b'),
                (["--by", "c=time"], "--task-kind NAME=KIND makes one"),
                ([*two, "--by", "a=time", "--task-label", "kind"],
                 "--by a=time: it needs --split-edges"),
                ([*two, "--split-edges", "a=1,0,0", "--split-edges", "a=0.5,0.5,0"],
                 "--split-edges 1,0,0 0.5,0.5,0: one value expected for the task"),
                (["--task-kind", "link", "--task-kind", "link",
                  "--split-edges", "1,0,0"],
                 "two tasks are called link; give each a name"),
                (["--by", "pairs"], "--by pairs: random, label, time or pair"),
                ([*two, "--task-label", "a=kind", "--task-label", "b=sum",
                  "--split-edges", "a=1,0,0"],
                 "task b: nothing says which edges train")):
            with self.subTest(flags):
                self.check_fails([*self.several(), "--ignore", "*", *flags],
                                 words)
        columns = self.source / "columns.yaml"
        for text, words in (
                ("{a: {kinds: link}}", "`kinds` is not a word for tasks; did you "
                 "mean `kind`?"),
                ("{a: {kind: [link, link]}}", "`kind` must be one text"),
                ("{a__b: {}}", '"a__b" cannot name a type'),
                ("[a]", "`tasks` must be a map"),
                ("{a: {label: kind}}", "a task of kind link has no labels")):
            with self.subTest(text):
                columns.write_text(f"tasks: {text}\n")
                self.check_fails([*self.several(), "--ignore", "*",
                                  "--columns", columns], words)

    def test_what_spoils_splits_is_told(self):
        table = self.source / "t.csv"
        table.write_text("source,target,how,set\na,b,likes,train\n"
                         "a,b,likes,test\nb,a,likes,val\na,a,likes,train\n"
                         "a,a,likes,train\nc,a,hates,test\nd,c,likes,test\n"
                         "a,c,likes,\na,d,likes,\n")
        self.taken(["csv", "--edges", table, "--relation", "how",
                    "--task-split", "set"])
        done = graphmill("inspect", self.out, "--quiet")
        for said in ("1 row with the nodes of a row of an earlier split",
                     "2 rows whose reverse is a row of an earlier split",
                     "1 row with the nodes of an earlier row of their split",
                     "1 row of edge types that no training row has",
                     "1 row whose source has known links to all nodes",
                     "2 nodes that no training row has"):
            self.assertIn(f"  {said}", done.stdout)
        told = self.checked(self.out)["tasks"][0]
        self.assertEqual(
            [told[key] for key in ("untrained", "without_destinations",
                                   "without_sources")], [1, 1, 0])

    def test_undirected(self):
        """A pair is one row; both of its directions are held out together."""
        table = self.source / "e.csv"
        table.write_text("a,b\n" + "".join(f"{i},{(i * 7 + 1) % 60}\n"
                                           for i in range(60)))
        self.taken(["csv", "--edges", table, "--undirected", "--self-loops",
                    "drop", "--split-edges", "0.8,0.1,0.1", "--seed", "3"])
        about = json.loads((self.out / "dataset.json").read_text())
        (task,) = about["tasks"]
        folder = self.out / "edges/node__to__node"
        visible = np.load(folder / "visible.npy")
        self.assertEqual(visible[:, 0].sum(), 2 * task["splits"]["train"])
        sources = np.load(folder / "indices.npy")
        indptr = np.load(folder / "indptr.npy")
        shown = {(sources[e], v) for v in range(len(indptr) - 1)
                 for e in range(indptr[v], indptr[v] + visible[v, 0])}
        self.assertEqual(shown, {(b, a) for a, b in shown})
        self.assertEqual(self.checked(self.out)["tasks"][0]["unseen"],
                         len(set(rows(self.out, "link", "val", "edges").flat)
                             .union(rows(self.out, "link", "test",
                                         "edges").flat)
                             - set(rows(self.out, "link", "train",
                                        "edges").flat)))

    def test_labels_of_nodes_need_no_split_beside_a_task(self):
        table = self.source / "e.csv"
        table.write_text("a,b\n" + "".join(f"{i},{(i * 7 + 1) % 60}\n"
                                           for i in range(60)))
        nodes = self.source / "n.csv"
        nodes.write_text("id,kind\n" + "".join(f"{i},{'xy'[i % 2]}\n"
                                               for i in range(60)))
        words = ["csv", "--nodes", nodes, "--edges", table, "--label", "kind"]
        self.check_fails(words, "no split of node has a node")
        self.taken([*words, "--split-edges", "0.8,0.1,0.1"])
        self.checked(self.out)

    def test_refusals(self):
        table = self.source / "e.csv"
        table.write_text("source,target\na,b\nb,c\n")
        for flags, words in (
                (["--task-edges", "to"], ["nothing says which edges train"]),
                (["--task-edges", "likes", "--split-edges", "1,0,0"],
                 ["--task-edges likes: there is no such edge type"]),
                (["--split-edges", "1,0,0", "--by", "label"],
                 ["--split-edges by label", "random, time or pair"]),
                (["--split-edges", "0,1,0"], ["above 0"]),
                (["--task-kind", "edge_class", "--split-edges", "1,0,0"],
                 ["--task-kind edge_class: no edge list has a column"])):
            with self.subTest(flags):
                self.check_fails(["csv", "--edges", table, *flags], *words)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

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

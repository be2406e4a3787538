"""Imports by the built program, checked by an independent reader."""

import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from imports import Workplace, save, small_set
from support import Dataset, graphmill, imported, np


class Destination(Workplace):

    def test_a_folder_with_other_things_stays(self):
        self.out.mkdir()
        (self.out / "thesis.txt").write_text("years of work")
        small_set(self.source)
        done = graphmill("import", "npy", self.source, "--out", self.out)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no dataset", done.stderr)
        self.assertEqual((self.out / "thesis.txt").read_text(),
                         "years of work")

    def test_other_options_are_refused(self):
        small_set(self.source)
        imported("npy", self.source, "--out", self.out)
        digest = Dataset(self.out).info["digest"]
        done = graphmill("import", "npy", self.source, "--normalise", "l2",
                         "--out", self.out)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("other options (normalise)", done.stderr)
        done = graphmill("import", "rmat", "--scale", 4, "--out", self.out)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("kind of import", done.stderr)
        # A default is the same whether it is said or not.
        imported("npy", self.source, "--self-loops", "keep", "--out", self.out)
        # Made by somebody else: nobody knows with which options.
        (self.out / "import.json").unlink()
        imported("npy", self.source, "--normalise", "l2", "--out", self.out)
        self.assertEqual(Dataset(self.out).info["digest"], digest)

    def test_the_name_is_that_of_the_folder(self):
        small_set(self.source)
        imported("npy", self.source, "--out", f"{self.out}/")
        self.assertEqual(Dataset(self.out).info["name"], self.out.name)
        named = self.results / "named"
        imported("npy", self.source, "--name", "other", "--out", named)
        self.assertEqual(Dataset(named).info["name"], "other")

    def test_a_file_stays(self):
        self.out.write_text("a file")
        small_set(self.source)
        done = graphmill("import", "npy", self.source, "--out", self.out)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.out.read_text(), "a file")

    def test_a_newer_version_stays(self):
        small_set(self.source)
        imported("npy", self.source, "--out", self.out)
        path = self.out / "dataset.json"
        newer = json.loads(path.read_text())
        newer["format_version"] = 99
        path.write_text(json.dumps(newer))
        for arguments in (["import", "npy", self.source, "--out", self.out],
                          ["inspect", self.out]):
            done = graphmill(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("99", done.stderr)
            self.assertIn("version", done.stderr)

    def test_inspect_finds_nothing_wrong(self):
        small_set(self.source)
        imported("npy", self.source, "--out", self.out)
        done = graphmill("inspect", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("300", done.stdout)


PEOPLE = """id,label,split,age,"height, m"
ann,blue,train,31,1.7
bob,red,val,40,1.8
"c,arl",,,5,1
dora,red,test,7.5,1.1
eve,blue,train,2e1,-1
"""


class CsvImport(Workplace):

    def write(self, name, text):
        path = self.source / name
        if name.endswith(".gz"):
            with gzip.open(path, "wt", newline="") as file:
                file.write(text)
        else:
            path.write_text(text, newline="")
        return path

    def test_edge_list_alone(self):
        rng = np.random.default_rng(3)
        edges = rng.integers(0, 30, (2, 200))
        text = "".join(f"n{s}\tn{d}\n" for s, d in edges.T)
        imported("csv", "--edges", self.write("edges.tsv.gz", text), "--out",
                 self.out)
        got = Dataset(self.out)
        # Nodes are numbered as they come.
        numbers = {}
        for name in edges.T.flatten():
            numbers.setdefault(int(name), len(numbers))
        mapped = np.vectorize(numbers.get)(edges)
        self.check_edges(got, got.edge_types()[0], mapped,
                         (len(numbers),) * 2)

    def test_a_file_twice(self):
        edges = self.write("e.csv", "ann,bob\n")
        people = self.write("people.csv", PEOPLE)
        self.check_fails(["csv", "--edges", edges, "--edges", edges],
                         "e.csv is given twice for the type node__to__node")
        self.check_fails(["csv", "--edges", edges, "--nodes", people,
                          "--nodes", people],
                         "people.csv is given twice for the type node")

    def test_standard_input(self):
        for edges in ("1,2\n2,3\n", gzip.compress(b"1,2\n2,3\n")):
            shutil.rmtree(self.out, ignore_errors=True)
            words = ["import", "csv", "--edges", "-", "--out", self.out]
            for code, text in ((0, edges), (0, edges), (1, "1,2\n3,2\n")):
                done = subprocess.run(
                    [support.program(), *words],
                    input=text if isinstance(text, bytes) else text.encode(),
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(b"/dev/stdin has changed", done.stderr)
            self.assertEqual(Dataset(self.out).edges("node__to__node").shape,
                             (2, 2))
            self.assertEqual(list(self.results.iterdir()), [self.out])

    def test_a_columns_file_names_a_file_of_a_pattern(self):
        for number in (1, 2):
            self.write(f"n-{number}.csv", f"id,f\n{number},0.5\n")
        columns = self.write("c.yaml", "n-1.csv:\n  features: {f: number}\n")
        support.imported(
            "csv", "--nodes", self.source / "n-*.csv", "--edges",
            self.write("e.csv", "1,2\n"), "--columns", columns, "--out",
            self.out)
        self.assertEqual(Dataset(self.out).node_type("node")["count"], 2)

    def test_the_rest_of_standard_input(self):
        path = self.write("rest.csv", "a title\n1,2\n2,3\n")
        with open(path, "rb", buffering=0) as rest:
            rest.seek(len("a title\n"))
            done = subprocess.run(
                [support.program(), "import", "csv", "--edges", "-", "--out",
                 self.out], stdin=rest, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Dataset(self.out).edges("node__to__node").shape,
                         (2, 2))

    def test_a_draft_of_standard_input(self):
        done = subprocess.run(
            [support.program(), "import", "csv", "--suggest", "--nodes", "-",
             "--edges", self.write("e.csv", "ann,bob\n")],
            input="id,age\nann,4\nbob,5\n", text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"age": {as: number', done.stdout)

    def test_typed_tables(self):
        people = self.write("people.csv", PEOPLE.replace("\n", "\r\n"))
        likes = self.write("likes.csv.gz",
                           'from,to\nann,"c,arl"\nbob,ann\ndora,ann\n')
        owns = self.write("owns.csv", "from,to\neve,dog\nann,cat\neve,cat\n")
        imported("csv", "--nodes", f"person={people}", "--edges",
                 f"person__likes__person={likes}", "--edges",
                 f"person__owns__pet={owns}", "--reverse", "--out", self.out)
        got = Dataset(self.out)
        person = got.node_type("person")
        self.assertEqual(person["count"], 5)
        self.assertEqual(person["class_names"], ["blue", "red"])
        self.assertEqual(got.info["target"], "person")
        np.testing.assert_array_equal(got.node_array("person", "labels"),
                                      [0, 1, -1, 1, 0])
        np.testing.assert_allclose(
            got.node_array("person", "features"),
            [[31, 1.7], [40, 1.8], [5, 1], [7.5, 1.1], [20, -1]], rtol=1e-6)
        for split, ids in (("train", [0, 4]), ("val", [1]), ("test", [3])):
            np.testing.assert_array_equal(got.node_array("person", split),
                                          ids)
        likes_edges = np.array([[0, 1, 3], [2, 0, 0]])
        owns_edges = np.array([[4, 0, 4], [0, 1, 1]])
        self.check_edges(got, "person__likes__person", likes_edges, (5, 5))
        self.check_edges(got, "person__rev_likes__person", likes_edges[::-1],
                         (5, 5))
        self.check_edges(got, "person__owns__pet", owns_edges, (5, 2))
        self.check_edges(got, "pet__rev_owns__person", owns_edges[::-1],
                         (2, 5))

    def test_classes_are_told_with_their_seeds(self):
        edges = self.write("e.csv", "a,b\nb,c\n")
        nodes = self.write("n.csv", "id,label,split,label.risk\n"
                           "a,good,train,low\nb,fraud,val,high\n"
                           "c,unknown,train,\n")
        arguments = ["csv", "--edges", edges, "--no-header", "--nodes", nodes]
        done = graphmill("import", *arguments, "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = [line.split() for line in done.stdout.splitlines()]
        self.assertIn(["0", "fraud", "1", "0", "1", "0"], told)
        self.assertIn(["1", "good", "1", "1", "0", "0"], told)
        self.assertIn(["2", "unknown", "1", "1", "0", "0"], told)
        self.assertIn(["1", "low", "1", "1", "0", "0"], told)
        for warning in (
                'labels of node: "unknown" is class 2 and has 1 of 3 labelled '
                "nodes. If it says that no label is known, import with "
                "--no-label 'unknown'",
                "labels of node: 1 of 3 classes have no node in the train "
                'split, so that no model can learn them: "fraud" (1 node)',
                "label set risk of node: 1 of 2 classes have no node in the "
                'train split, so that no model can learn them: "high" (1 '
                "node)"):
            self.assertIn(f"warning: {warning}\n", done.stdout)
        told = self.taken([*arguments, "--no-label", "unknown"])
        node = told["node_types"][0]
        self.assertEqual(node["classes"], [
            {"index": 0, "name": "fraud", "nodes": 1, "train": 0, "val": 1,
             "test": 0},
            {"index": 1, "name": "good", "nodes": 1, "train": 1, "val": 0,
             "test": 0}])
        self.assertEqual(node["label_sets"][0]["classes"][0]["name"], "high")
        self.assertIn("n.csv: label unknown of 1 node says that no label is "
                      "known", told["notes"])

    def check_bad(self, people, edges, *fragments):
        self.check_fails(
            ["csv", "--nodes", f"person={self.write('people.csv', people)}",
             "--edges",
             f"person__likes__person={self.write('likes.csv', edges)}"],
            *fragments)

    def test_bad_tables(self):
        edges = "from,to\nann,eve\n"
        self.check_bad(PEOPLE, edges + "ann,zoe\n", "likes.csv:3", "zoe")
        self.check_bad(PEOPLE, edges + "ann\n", "likes.csv:3")
        self.check_bad(PEOPLE.replace("40", "old"), edges, "people.csv:3",
                       "old")
        self.check_bad(PEOPLE.replace("40", "nan"), edges, "people.csv:3")
        self.check_bad(PEOPLE.replace("val", "wall"), edges, "people.csv:3",
                       "wall")
        self.check_bad(PEOPLE.replace("bob", "ann"), edges, "people.csv:3",
                       "ann")
        self.check_bad(re.sub("train|val|test", "", PEOPLE), edges,
                       "no split of person has a node")
        self.check_bad(PEOPLE.replace(",1.8", ""), edges, "people.csv:3")
        self.check_bad(PEOPLE.replace("id,", "name,"), edges, "people.csv:1")
        self.check_bad("", edges, "people.csv")
        self.check_bad(PEOPLE + '"open', edges, "people.csv:7")

    def test_truncated_gzip(self):
        path = self.write("likes.csv.gz", "1,2\n" * 5000)
        path.write_bytes(path.read_bytes()[:-9])
        self.check_fails(["csv", "--edges", path], "likes.csv.gz")

    def test_missing_file(self):
        self.check_fails(["csv", "--edges", self.top / "nowhere.csv"],
                         "nowhere.csv")


class Sources(Workplace):
    """A dataset is that of its sources as they are, or nobody says so."""

    def setUp(self):
        super().setUp()
        self.edges = self.source / "e.csv"
        self.edges.write_text("1,2\n2,3\n")

    def again(self, *flags, words=None):
        return graphmill("import", *(words or ["csv", "--edges", self.edges]),
                         "--out", self.out, *flags)

    def refused(self, *fragments, words=None):
        before = self.state()
        done = self.again(words=words)
        self.assertEqual(done.returncode, 1, done.stdout)
        for fragment in fragments:
            self.assertIn(fragment, done.stderr)
        self.assertEqual(self.state(), before)

    def state(self):
        return {path.relative_to(self.out): path.read_bytes()
                for path in self.out.rglob("*") if path.is_file()}

    def test_changed_sources_are_refused(self):
        self.assertEqual(self.again().returncode, 0)
        self.assertIn("nothing done", self.again().stdout)
        self.edges.touch()  # Another time, the same content.
        self.assertIn("nothing done", self.again().stdout)
        self.edges.write_text("1,2\n3,2\n")
        self.refused("e.csv has changed", "--replace")
        self.edges.unlink()
        self.refused("e.csv is gone")
        self.edges.write_text("1,2\n2,3\n")
        self.assertIn("nothing done", self.again().stdout)

    def test_a_pattern_that_matches_more(self):
        words = ["csv", "--edges", self.source / "e*.csv"]
        self.assertEqual(self.again(words=words).returncode, 0)
        more = self.source / "e2.csv"
        more.write_text("3,1\n")
        self.refused("e2.csv is new", words=words)
        self.assertEqual(self.again("--replace", words=words).returncode, 0)
        self.assertEqual(Dataset(self.out).edges("node__to__node").shape,
                         (2, 3))
        more.unlink()
        self.refused("e2.csv is gone", words=words)

    def test_arrays(self):
        self.edges.unlink()
        small_set(self.source)
        save(self.source, extra=np.zeros(3))
        words = ["npy", self.source, "--ignore", "extra"]
        self.assertEqual(self.again(words=words).returncode, 0)
        save(self.source, extra=np.ones(3))  # Which nothing reads.
        self.assertIn("nothing done", self.again(words=words).stdout)
        save(self.source, features=np.zeros((40, 5), np.float32))
        self.refused("features.npy has changed", words=words)

    def test_no_record(self):
        self.assertEqual(self.again().returncode, 0)
        path = self.out / "import.json"
        record = json.loads(path.read_text())
        self.assertEqual([source["path"] for source in record["sources"]],
                         [str(self.edges)])
        del record["sources"]
        path.write_text(json.dumps(record))
        done = self.again()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no record of its sources", done.stdout)

    def test_replace(self):
        self.assertEqual(self.again("--replace").returncode, 0)
        self.edges.write_text("1,2\n")
        (self.out / "notes.txt").touch()
        done = self.again("--replace", "--undirected")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Dataset(self.out).edges("node__to__node").shape,
                         (2, 2))
        self.assertFalse((self.out / "notes.txt").exists())
        before = self.state()
        self.edges.write_text("1,2\n3\n")
        done = self.again("--replace")
        self.assertEqual(done.returncode, 1)
        self.assertIn("e.csv:2", done.stderr)
        self.assertEqual(self.state(), before)
        self.assertEqual(list(self.results.iterdir()), [self.out])

    def test_what_is_no_dataset_is_not_replaced(self):
        self.out.mkdir()
        (self.out / "thesis.txt").write_text("years of work")
        done = self.again("--replace")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is no dataset", done.stderr)
        self.assertEqual((self.out / "thesis.txt").read_text(),
                         "years of work")

    def test_killed_replacements(self):
        """Whenever one is killed, the old dataset is whole or the new one."""
        sizes = {16: 300, 32: 700}  # Nodes, edges.

        def words(nodes):
            return ["rmat", "--scale", nodes.bit_length() - 1, "--edges",
                    sizes[nodes], "--features", 4]

        imported(*words(16), "--out", self.out)
        seen = set()
        wait = 0.0
        while wait < 0.2 or len(seen) < 2:
            self.assertLess(wait, 60)
            process = subprocess.Popen(
                [support.program(), "import", *map(str, words(32)),
                 "--replace", "--quiet", "--out", self.out],
                stdout=subprocess.DEVNULL)
            time.sleep(wait)
            process.kill()
            process.wait()
            done = graphmill("inspect", self.out)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            nodes = Dataset(self.out).node_type("node")["count"]
            self.assertEqual(
                Dataset(self.out).edges("node__links__node").shape[1],
                sizes[nodes])
            seen.add(nodes)
            if nodes == 32:
                imported(*words(16), "--replace", "--out", self.out)
            wait = wait * 1.3 + 0.002
        imported(*words(16), "--replace", "--out", self.out)
        self.assertEqual(list(self.results.iterdir()), [self.out])


class Generated(Workplace):

    def test_rmat(self):
        summary = imported("rmat", "--scale", 8, "--edges", 2000, "--seed", 5,
                           "--out", self.out)
        self.assertEqual(summary["edge_types"][0]["count"], 2000)
        got = Dataset(self.out)
        edges = got.edges("node__links__node")
        self.assertTrue((edges[0] != edges[1]).all())
        self.check_edges(got, "node__links__node", edges, (256, 256))
        again = imported("rmat", "--scale", 8, "--edges", 2000, "--seed", 5,
                         "--out", self.results / "again")
        self.assertEqual(again["digest"], summary["digest"])

    def test_rmat_refuses(self):
        self.check_fails(["rmat", "--scale", 99], "99")
        self.check_fails(["rmat", "--scale", 8, "--edges", -1], "-1")

    def test_wordnet(self):
        if not pathlib.Path("/usr/share/wordnet/data.noun").exists():
            self.skipTest("the package wordnet-base is not installed")
        summary = imported("wordnet", "--features", 16, "--out", self.out)
        got = Dataset(self.out)
        self.assertEqual(got.node_type("synset")["count"], 117659)
        total = sum(t["count"] for t in summary["edge_types"])
        self.assertEqual(total, 364552)
        hypernym = got.edges("synset__hypernym__synset")
        hyponym = got.edges("synset__hyponym__synset")
        self.assertEqual(set(map(tuple, hypernym.T)),
                         set(map(tuple, hyponym[::-1].T)))

    def test_wordnet_is_missing(self):
        self.check_fails(["wordnet", "--source", self.source],
                         "wordnet-base", "data.noun")


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)

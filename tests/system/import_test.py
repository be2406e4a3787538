"""Imports by the built program, checked by an independent reader."""

import gzip
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import support
from support import (Dataset, graphmill, imported, np, program,
                     sorted_by_destination)


class Workplace(unittest.TestCase):
    """A temporary folder per test; `self.out` is where imports go."""

    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-"))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.source = self.top / "source"
        self.source.mkdir()
        self.results = self.top / "results"
        self.results.mkdir()
        self.out = self.results / "set"

    def check_edges(self, dataset, edge_type, edges, sizes):
        """`edges` [2, E] must be what is stored, with the right degrees."""
        np.testing.assert_array_equal(dataset.edges(edge_type),
                                      sorted_by_destination(edges))
        for name, row, size in (("in_degrees", 1, sizes[1]),
                                ("out_degrees", 0, sizes[0])):
            np.testing.assert_array_equal(
                dataset.edge_array(edge_type, name),
                np.bincount(edges[row], minlength=size))

    def check_fails(self, arguments, *fragments):
        """One clear sentence, exit code not 0, nothing left behind."""
        shutil.rmtree(self.out, ignore_errors=True)
        done = graphmill("import", *arguments, "--quiet", "--out", self.out)
        self.assertNotEqual(done.returncode, 0, arguments)
        lines = done.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("graphmill: "), lines[0])
        for fragment in fragments:
            self.assertIn(fragment, lines[0])
        self.assertEqual(done.stdout, "")
        self.assertEqual(list(self.results.iterdir()), [])


def save(folder, **arrays):
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)


def small_set(folder):
    """Writes a random graph of 40 nodes and returns its arrays."""
    rng = np.random.default_rng(11)
    edges = rng.integers(0, 40, (2, 300))
    arrays = {
        "edges": edges,
        "features": rng.normal(size=(40, 5)).astype(np.float32),
        "labels": rng.integers(0, 3, 40),
        "train_idx": np.array([7, 3, 5, 0, 1]),
        "val_idx": np.array([9, 8]),
        "test_idx": np.arange(20, 40),
    }
    save(folder, **arrays)
    (folder / "meta.json").write_text(json.dumps(
        {"name": "small", "num_nodes": 40, "num_classes": 3,
         "num_features": 5}))
    return arrays


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
        self.assertEqual(got.info["name"], "small")
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

    def test_empty_train_split(self):
        self.check("train", train_idx=np.array([], np.int64))

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


class Interrupted(Workplace):
    """Leaves nothing behind, hidden or not, and may be done again."""

    def start(self, folder, *sizes):
        return subprocess.Popen(
            [program(), "import", "rmat", "--quiet", *sizes, "--out",
             folder / "rmat"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait_until(self, process, there):
        while not there():
            self.assertIsNone(process.poll(), "it ends by itself")
            time.sleep(0.001)

    def check_stopped(self, process, number):
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("stopped by the user; nothing was kept", said)

    def check(self, number):
        folder = self.out.parent / f"stopped-by-{number}"
        folder.mkdir()
        process = self.start(folder, "--scale", "22", "--edges", "50000000",
                             "--features", "64")
        self.wait_until(
            process, lambda: any(folder.glob(".rmat.partial-*/**/*.npy")))
        self.check_stopped(process, number)
        self.assertEqual(list(folder.iterdir()), [])
        imported("rmat", "--scale", 4, "--edges", 50, "--out",
                 folder / "rmat")

    def test_interrupt(self):
        self.check(signal.SIGINT)

    def test_terminate(self):
        self.check(signal.SIGTERM)

    def test_while_leftovers_are_removed(self):
        left = self.results / ".rmat.partial-1"
        left.mkdir()
        for i in range(20000):
            (left / str(i)).touch()
        process = self.start(self.results, "--scale", "22", "--edges",
                             "50000000")
        self.wait_until(process, (self.results / ".rmat.lock").exists)
        self.check_stopped(process, signal.SIGINT)
        self.assertEqual(list(self.results.iterdir()), [])

    def test_too_late(self):
        """The dataset is there: it stays, and nobody says otherwise."""
        out = self.results / "rmat"
        process = self.start(self.results, "--scale", "4", "--edges", "50")
        while not out.exists() and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        # Once the dataset is reported, signals are nothing special.
        self.assertIn(process.returncode, (0, -signal.SIGINT))
        self.assertEqual(said, "")
        self.assertEqual(list(self.results.iterdir()), [out])
        Dataset(out)


class InterruptedPartition(Workplace):
    """As above: neither folder nor lock is left."""

    def check(self, *numbers):
        data = self.results / "rmat"
        imported("rmat", "--scale", 16, "--edges", 1500000, "--features", 4,
                 "--out", data)
        out = self.results / "parts"
        out.mkdir()
        process = subprocess.Popen(
            [program(), "partition", data, "--parts", "4", "--quiet",
             "--no-verify", "--out", out / "rmat"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        while not any(out.glob(".rmat.partial-*")):
            self.assertIsNone(process.poll(), "it ends by itself")
            time.sleep(0.001)
        for number in numbers:
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("stopped", said)
        self.assertEqual(list(out.iterdir()), [])

    def test_interrupt(self):
        self.check(signal.SIGINT)

    def test_terminate(self):
        self.check(signal.SIGTERM)

    def test_hangup(self):
        self.check(signal.SIGHUP, signal.SIGHUP)


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

    def check_bad(self, people, edges, *fragments):
        self.check_fails(
            ["csv", "--nodes", f"person={self.write('people.csv', people)}",
             "--edges",
             f"person__likes__person={self.write('likes.csv', edges)}"],
            *fragments)

    def test_bad_tables(self):
        edges = "from,to\nann,bob\n"
        self.check_bad(PEOPLE, edges + "ann,zoe\n", "likes.csv:3", "zoe")
        self.check_bad(PEOPLE, edges + "ann\n", "likes.csv:3")
        self.check_bad(PEOPLE.replace("40", "old"), edges, "people.csv:3",
                       "old")
        self.check_bad(PEOPLE.replace("40", "nan"), edges, "people.csv:3")
        self.check_bad(PEOPLE.replace("val", "wall"), edges, "people.csv:3",
                       "wall")
        self.check_bad(PEOPLE.replace("bob", "ann"), edges, "people.csv:3",
                       "ann")
        self.check_bad(PEOPLE.replace("train", "test"), edges, "train")
        self.check_bad(PEOPLE.replace(",1.8", ""), edges, "people.csv:3")
        self.check_bad(PEOPLE.replace("id,", "name,"), edges, "people.csv:1")
        self.check_bad("", edges, "people.csv")
        self.check_bad(PEOPLE + '"open', edges, "people.csv:7")

    def test_truncated_gzip(self):
        path = self.write("likes.csv.gz", "a,b\n" * 5000)
        path.write_bytes(path.read_bytes()[:-9])
        self.check_fails(["csv", "--edges", path], "likes.csv.gz")

    def test_missing_file(self):
        self.check_fails(["csv", "--edges", self.top / "nowhere.csv"],
                         "nowhere.csv")


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

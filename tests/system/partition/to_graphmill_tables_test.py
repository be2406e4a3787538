"""Matrices, tables and graphs of networkx become datasets by
graphmill.data, and files by its command. What needs SciPy, pandas,
pyarrow, torch or networkx is skipped where they are not installed."""

import json
import pathlib
import struct
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from conversions import Conversion, Refused, convert
from graph_objects import (ArrowTable, Categories, Matrix, ParquetFile,
                           Store)
from support import Dataset, np
from graphmill.data.command import load

COMMAND = support.ROOT / "examples" / "to_graphmill.py"


def library(name):
    """A library, or None; the test that needs it is skipped then."""
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        return None


class MatricesAndTables(Conversion):
    def matrix(self, values):
        """Entries of a matrix, by rows, and the same as CSR."""
        edges = np.unique(self.good["edge_index"], axis=1)
        indptr = np.searchsorted(edges[0], np.arange(41))
        return edges, Matrix("csr", (40, 40), indptr=indptr, indices=edges[1],
                             data=np.full(edges.shape[1], values))

    def test_matrix(self):
        edges, matrix = self.matrix(1.0)
        got = self.written(matrix)
        self.check_edges(got, "node__to__node", edges, (40, 40))
        self.out = self.results / "columns"
        matrix.format = "csc"  # The same arrays then mean the transpose.
        convert(matrix, self.out, program=support.program())
        self.check_edges(Dataset(self.out), "node__to__node", edges[::-1],
                         (40, 40))

    def test_matrix_with_weights(self):
        edges, matrix = self.matrix(0.5)
        matrix.format = "lil"
        self.refused(matrix, "tocsr")
        matrix.format, matrix.shape = "csr", (40, 41)
        self.refused(matrix, "40 rows and 41 columns")
        matrix.shape = (40, 40)
        self.refused(matrix, "nodes: options for tables",
                     nodes=ArrowTable(self.NODES))
        got = self.written(matrix, ignore=["data"])
        self.check_edges(got, "node__to__node", edges, (40, 40))

    def test_damaged_matrix(self):
        edges, matrix = self.matrix(1.0)
        good = matrix.indptr
        for place, value in ((0, 1), (40, edges.shape[1] - 1),
                             (20, good[22] + 1)):
            matrix.indptr = good.copy()
            matrix.indptr[place] = value
            self.refused(matrix, "one after the other")
        matrix.indptr = good[:0]
        self.refused(matrix, "one after the other")
        pairs = Matrix("coo", (40, 40), row=edges[0], col=edges[1][:-1],
                       data=np.ones(edges.shape[1]))
        self.refused(pairs, "the same length")
        pairs.col = edges[1]
        self.check_edges(self.written(pairs), "node__to__node", edges, (40, 40))

    def command(self, *arguments):
        return subprocess.run([sys.executable, COMMAND, *map(str, arguments)],
                              text=True, capture_output=True,
                              timeout=support.TIMEOUT_SECONDS)

    def test_command(self):
        edges, matrix = self.matrix(1.0)
        path = self.top / "adj.npz"
        np.savez(path, format=b"csr", shape=(40, 40), indptr=matrix.indptr,
                 indices=matrix.indices, data=matrix.data)
        done = self.command(path, self.out, "--json", "--graphmill",
                            support.program(), "--", "--reverse")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout.splitlines()[-1])
        self.assertTrue(report["imported"])
        got = Dataset(self.out)
        self.check_edges(got, "node__to__node", edges, (40, 40))
        self.assertEqual(len(got.edge_types()), 2)
        done = self.command(path, self.out, "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is there already", done.stderr)
        self.assertEqual(json.loads(done.stdout)["error"],
                         done.stderr.strip().removeprefix("to_graphmill: "))
        self.assertEqual(self.command(path).returncode, 2)
        self.assertEqual(self.command("--help").returncode, 0)

    def test_arrays_of_a_graph(self):
        """As `numpy.savez` saves them, by the names that PyG's have."""
        edges = np.array([[0, 1, 2, 2], [1, 2, 0, 1]])
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        path = self.top / "graph.npz"
        np.savez(path, edge_index=edges, x=x, y=np.array([0, 1, 0]),
                 train_mask=np.array([True, False, False]))
        done = self.command(path, self.out, "--graphmill", support.program())
        self.assertEqual(done.returncode, 0, done.stderr)
        got = Dataset(self.out)
        self.check_edges(got, "node__to__node", edges, (3, 3))
        np.testing.assert_array_equal(got.node_array("node", "features"), x)
        np.testing.assert_array_equal(got.node_array("node", "labels"),
                                      [0, 1, 0])
        np.testing.assert_array_equal(got.node_array("node", "train"), [0])
        np.savez(path, features=x)
        done = self.command(path, self.top / "never")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no edge_index, which arrays of a graph have: features",
                      done.stderr)

    def test_pickled_matrices(self):
        """As many old archives have them: only for whoever trusts them."""
        edges, matrix = self.matrix(1.0)
        x = np.arange(80, dtype=np.float32).reshape(40, 2)
        path = self.top / "old.npz"
        np.savez(path, adj=np.array(matrix, object), x=x)
        done = self.command(path, self.out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds pickled objects (adj; beside them: x), and "
                      "reading them would run what is in them: say --unpickle",
                      done.stderr)
        got = self.written(load(path, unpickle=True))
        self.check_edges(got, "node__to__node", edges, (40, 40))
        np.testing.assert_array_equal(got.node_array("node", "features"), x)
        np.savez(path, a=np.array(matrix, object), b=np.array(matrix, object))
        with self.assertRaisesRegex(Refused, "a and b may all have the edges"):
            load(path, unpickle=True)

    def test_folders(self):
        (self.source / "edges.npy").touch()
        (self.source / "y.npy").touch()
        done = self.command(self.source, self.out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is a folder, and a file is expected", done.stderr)
        self.assertIn("It holds edges.npy, y.npy. A folder of .npy arrays is "
                      f"for `graphmill import npy {self.source}`", done.stderr)

    def test_command_with_bad_files(self):
        path = self.top / "adj.npz"
        np.savez(path, format="csr", shape=(2, 2), indptr=[0, 1, 1],
                 data=[1.0])
        there = path.read_bytes()
        for name, content, text in (
                ("no.npz", None, "no file"), ("a.xyz", b"garbage", "kinds"),
                ("bad.npz", b"garbage", "cannot read"),
                ("cut.npz", there[:-30], "cannot read"),
                ("indices.npz", there, "it has no indices")):
            with self.subTest(name=name):
                bad = self.top / name
                if content is not None:
                    bad.write_bytes(content)
                done = self.command(bad, self.top / "never")
                self.assertEqual(done.returncode, 1)
                self.assertIn(text, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_small_file_with_large_arrays(self):
        """It says that it has some, which are not read: they may be zeros
        without end, that take no room in it."""
        path = self.top / "bomb.npz"
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("indices.npy", b"")
        content = bytearray(path.read_bytes())
        entry = content.index(b"PK\x01\x02")  # Of the directory at its end.
        struct.pack_into("<I", content, entry + 24, 3 << 29)
        path.write_bytes(content)
        done = self.command(path, self.top / "never")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"has {len(content)} bytes, and its arrays would have "
                      "1610612736; save it without compression", done.stderr)

    def test_command_with_csv(self):
        path = self.top / "edges.csv"
        path.write_text("a,b\nx,y\ny,z\nz,x\n")
        done = self.command(path, self.out, "--source", "a", "--destination",
                            "b", "--graphmill", support.program(), "--",
                            "--header")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Dataset(self.out).info["edge_types"][0]["count"], 3)
        for flags in (["--num-nodes", "4"], ["--split-index", "0"],
                      ["--keep-arrays"]):
            done = self.command(path, self.top / "never", *flags)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{flags[0]} is not for tables", done.stderr)

    @unittest.skipUnless(library("torch"), "torch is not installed")
    def test_torch(self):
        """A file of torch: dense features, and sparse ones."""
        torch = library("torch")
        graph = {name: torch.from_numpy(value)
                 for name, value in self.good.items()}
        graph["y"] = graph["y"][:, None]
        path = self.top / "graph.pt"
        for features, more in ((graph["x"], []),
                               (graph["x"].to_sparse_csr(), ["--unpickle"])):
            torch.save({**graph, "x": features, "edge_attr": torch.ones(300)},
                       path)
            done = self.command(path, self.out, "--ignore", "edge_attr",
                                "--graphmill", support.program(), *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_40(Dataset(self.out))
            self.out = self.results / "again"

    @unittest.skipUnless(library("torch"), "torch is not installed")
    def test_a_file_that_is_a_program(self):
        ran = self.top / "ran"

        class Program:
            def __reduce__(self):
                return open, (str(ran), "w")

        path = self.top / "program.pt"
        library("torch").save(Program(), path)
        done = self.command(path, self.top / "never")
        self.assertEqual(done.returncode, 1)
        self.assertIn("say --unpickle if you trust", done.stderr)
        self.assertFalse(ran.exists())
        self.command(path, self.top / "never", "--unpickle")
        self.assertTrue(ran.exists())

    @unittest.skipUnless(library("networkx"), "networkx is not installed")
    def test_networkx(self):
        nx = library("networkx")
        graph = nx.Graph([("a", "b"), ("b", "c"), ("a", "d")], name="g")
        for name, label in zip("abcd", (0, 1, 1, None)):
            graph.nodes[name].update({"y": label} if label is not None else {},
                                     train_mask=name == "a",
                                     x=[1.0, ord(name)])
        graph.edges["a", "b"]["weight"] = 2
        graph.nodes["a"]["club"] = "x"
        self.refused(graph, "club of nodes", "name of the graph",
                     'ignore=["name", "club"]', "--ignore name --ignore club",
                     "--rename")
        del graph.nodes["a"]["club"]
        got = self.written(graph, ignore=["weight", "name"])
        names = self.names()
        self.assertEqual(sorted(names), list("abcd"))
        pairs = {tuple(names[end] for end in pair) for pair in
                 got.edges("node__to__node").T}
        self.assertEqual(pairs, {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"),
                                 ("a", "d"), ("d", "a")})
        self.check_nodes(got, "node", features=np.array(
            [[1, ord(name)] for name in names], np.float32), labels=[
                {"a": 0, "b": 1, "c": 1, "d": -1}[name] for name in names])
        self.refused_elsewhere(nx.MultiGraph([(0, 1), (0, 1)]), "MultiGraph")
        graph.nodes["a"]["num_nodes"] = 3
        self.refused(graph, "num_nodes twice")

    def refused_elsewhere(self, graph, *fragments):
        self.out = self.top / "elsewhere" / "set"
        self.results = self.out.parent
        self.results.mkdir()
        self.refused(graph, *fragments)

    @unittest.skipUnless(library("scipy.sparse"), "scipy is not installed")
    def test_scipy(self):
        sparse = library("scipy.sparse")
        edges, _ = self.matrix(1)
        matrix = sparse.coo_matrix((np.ones(edges.shape[1]), tuple(edges)),
                                   (40, 40))
        for form in ("coo", "csr", "csc"):
            out = self.results / form
            convert(matrix.asformat(form), out, program=support.program())
            edges_got = Dataset(out).edges("node__to__node")
            self.assertEqual(set(map(tuple, edges_got.T)),
                             set(map(tuple, edges.T)), form)
        path = self.top / "adj.npz"
        sparse.save_npz(path, matrix.tocsr())
        done = self.command(path, self.out, "--graphmill", support.program())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_edges(Dataset(self.out), "node__to__node", edges, (40, 40))

    def check_tables(self, edges, nodes):
        """Ids c, b, a; texts at the ends of edges."""
        options = {"nodes": nodes, "features": ["f", "g"]}
        self.refused(edges, "w", **options)
        got = self.written(edges, ignore=["w"], **options)
        self.check_edges(got, "node__to__node",
                         np.array([[2, 1, 0], [1, 0, 2]]), (3, 3))
        self.check_nodes(got, "node", labels=[1, -1, 0], train=[0],
                         features=np.array([[1, 4], [2, 5], [3, 6]], "f4"))
        self.assertEqual(self.names(), ["c", "b", "a"])

    EDGES = {"source": ["a", "b", "c"], "target": ["b", "c", "a"],
             "w": [1.0, 2.0, 3.0]}
    NODES = {"id": ["c", "b", "a"], "y": [1, None, 0], "f": [1.0, 2.0, 3.0],
             "g": [4, 5, 6], "train_mask": [True, False, False]}

    def test_arrow(self):
        """As pyarrow has it, in stand-ins, and two rows at a time."""
        self.check_tables(ArrowTable(self.EDGES), ArrowTable(self.NODES))
        first, self.out = Dataset(self.out), self.top / "file" / "set"
        nodes = ParquetFile({**self.NODES, "abstract": ["long"] * 3})
        convert(ParquetFile(self.EDGES), self.out, program=support.program(),
              nodes=nodes, features=["f", "g"], ignore=["w", "abstract"],
              chunk_bytes=2 * 96)
        self.assertEqual(nodes.columns_read, set(self.NODES))
        for path in self.out.rglob("*.npy"):
            np.testing.assert_array_equal(
                np.load(path),
                np.load(first.folder / path.relative_to(self.out)))

    def test_categories(self):
        """What is missing is none of them."""
        edges = ArrowTable({**self.EDGES, "source": Categories("abc")})
        nodes = ArrowTable({**self.NODES, "y": Categories(["sea", None,
                                                           "air"])})
        got = self.written(edges, nodes=nodes, features=["f", "g"],
                           ignore=["w"])
        self.check_edges(got, "node__to__node",
                         np.array([[2, 1, 0], [1, 0, 2]]), (3, 3))
        self.check_nodes(got, "node", labels=[1, -1, 0])
        self.assertEqual(got.node_type("node")["class_names"], ["air", "sea"])

    def test_names_that_are_there_twice(self):
        edges = ArrowTable(self.EDGES)
        for change, name in (({"x": self.NODES["f"]}, "x and --feature"),
                             ({"num_nodes": self.NODES["f"]}, "num_nodes"),
                             ({"node_names": self.NODES["id"]}, "node_names"),
                             ({7: [0, 1, 2], "7": [2, 1, 0]}, "same name")):
            with self.subTest(name=name):
                self.refused(edges, name, ignore=["w"], features=["f", "g"],
                             nodes=ArrowTable({**self.NODES, **change}))
        got = self.written(edges, ignore=["w", "x"], features=["f", "g"],
                           nodes=ArrowTable({**self.NODES, "x": [7, 8, 9]}))
        self.check_nodes(got, "node", features=np.array(
            [[1, 4], [2, 5], [3, 6]], np.float32))
        self.out = self.top / "beside" / "set"
        self.results = self.out.parent
        self.results.mkdir()
        good = Store(self.good, labels=None)
        del good["y"]
        labels = self.good["y"]
        self.refused(Store(good, labels=labels), "labels twice", labels=labels)
        split = {"train": np.arange(3)}
        self.refused(Store(good, train_idx=np.arange(4)), "train_idx twice",
                     split_idx=split)
        self.check_40(self.written(good, labels=labels))

    def test_integers_of_64_bits(self):
        """Two that are the same as floats are two ids."""
        ids = np.array([2**60, 2**60 + 1])
        nodes = ArrowTable({"id": ids})
        ends = {"source": ids, "target": ids[::-1]}
        for column in ends:
            self.refused(ArrowTable({**ends, column: ids.astype(np.uint64)}),
                         column, "sign", nodes=nodes)
        self.refused(ArrowTable({**ends, "source": ids.astype(np.uint64)}),
                     "target", "sign")
        got = self.written(ArrowTable(ends), nodes=nodes)
        self.check_edges(got, "node__to__node", np.array([[0, 1], [1, 0]]),
                         (2, 2))
        self.assertEqual(self.names(), ids.tolist())

    @unittest.skipUnless(library("pandas"), "pandas is not installed")
    def test_columns_of_lists(self):
        frame = library("pandas").DataFrame
        ids = {"id": ["a", "b", "c"]}
        edges = frame({name: self.EDGES[name] for name in ("source", "target")})
        for rows, text in (([[1, 2], [3], [4, 5]], "as many numbers"),
                           ([[1, 2], None, [4, 5]], "as many numbers"),
                           ([["1"], ["2"], ["3"]], "features are numbers"),
                           ([[1], [2], [2**24 + 1]], "would round to")):
            with self.subTest(rows=rows):
                self.refused(edges, text, nodes=frame({**ids, "x": rows}))
        rows = [[1, 0.5], [2, 0.25], [3, 4]]
        got = self.written(edges, nodes=frame({**ids, "x": rows}))
        self.check_nodes(got, "node", features=np.array(rows, np.float32))

    @unittest.skipUnless(library("pandas"), "pandas is not installed")
    def test_pandas(self):
        frame = library("pandas").DataFrame
        self.check_tables(frame(self.EDGES), frame(self.NODES))
        self.refused_elsewhere(frame({"source": ["a"], "b": ["b"]}), "--source")
        self.refused(frame({"source": [7, -3], "target": ["x", "y"]}), "texts")
        self.out = self.results / "ids"
        got = self.written(frame({"src": [70, 5, 9], "dst": [5, 9, 70]}))
        self.check_edges(got, "node__to__node",
                         np.array([[2, 0, 1], [0, 1, 2]]), (3, 3))
        self.assertEqual(self.names(), [5, 9, 70])

    @unittest.skipUnless(library("pyarrow.parquet"), "pyarrow is not installed")
    def test_pyarrow(self):
        table = library("pyarrow").table
        edges, nodes = table(self.EDGES), table(self.NODES)
        self.check_tables(edges, nodes)
        for name, of in (("edges", edges), ("nodes", nodes)):
            library("pyarrow.parquet").write_table(
                of, self.top / f"{name}.parquet")
        out = self.top / "parquet"
        done = self.command(
            self.top / "edges.parquet", out, "--nodes",
            self.top / "nodes.parquet", "--feature", "f", "--feature", "g",
            "--ignore", "w", "--graphmill", support.program())
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in self.out.rglob("*.npy"):
            np.testing.assert_array_equal(
                np.load(path), np.load(out / path.relative_to(self.out)))


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)

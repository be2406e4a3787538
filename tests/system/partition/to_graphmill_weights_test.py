"""Weights of edges of other libraries' graphs become those of datasets, by
graphmill.data: with stand-ins that have the attributes of these
libraries."""

import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from conversions import Conversion, Refused, convert
from graph_objects import (ArrowTable, DglGraph, HeteroData, Matrix,
                           ParquetFile, SparseTensor, Store, Tensor)
from support import np

CITES, WRITES = ("paper", "cites", "paper"), ("author", "writes", "paper")


class NetworkGraph:
    """A graph of networkx, of nodes 0 to 3."""

    def __init__(self, edges, directed):
        self.listed, self.directed, self.graph = edges, directed, {}

    def is_directed(self):
        return self.directed

    def is_multigraph(self):
        return False

    def number_of_edges(self):
        return len(self.listed)

    def nodes(self, data=False):
        return [(i, {}) for i in range(4)] if data else list(range(4))

    def edges(self, data=False):
        if data is True:
            return list(self.listed)
        if data is False:
            return [(u, v) for u, v, _ in self.listed]
        return [(u, v, values.get(data)) for u, v, values in self.listed]


class Weights(Conversion):
    def stored(self, graph, edge_type="node__to__node", **options):
        """The edges and weights that are written, each time somewhere else."""
        self.out = self.results / f"set-{len(list(self.results.iterdir()))}"
        report = convert(graph, self.out, program=support.program(), **options)
        self.notes = report["notes"]
        path = self.out / "edges" / edge_type / "weights.npy"
        edges = support.Dataset(self.out).edges(edge_type)
        return edges, np.load(path) if path.exists() else None

    def check(self, got, edges, weights):
        by = np.argsort(edges[1], kind="stable")
        np.testing.assert_array_equal(got[0], edges[:, by])
        np.testing.assert_array_equal(got[1],
                                      np.asarray(weights, np.float32)[by])

    def test_data(self):
        """As PyG has it: edge_weight, or another attribute by its name."""
        edges = self.good["edge_index"]
        weights = np.linspace(0, 4, 300)
        column = np.linspace(1, 2, 300, dtype=np.float32)[:, None]
        self.check(self.stored(Store(self.good, edge_weight=Tensor(weights))),
                   edges, weights)
        self.assertIn("edge_weight: weights of edges", self.notes)
        self.check(self.stored(Store(self.good, edge_attr=Tensor(column)),
                               weight="edge_attr"), edges, column[:, 0])
        self.check(self.stored(
            Store(self.good, edge_attr=column, edge_weight=weights),
            ignore=["edge_attr"]), edges, weights)
        # A few at a time.
        self.check(self.stored(Store(self.good, edge_weight=weights),
                               chunk_bytes=7 * 96), edges, weights)
        self.assertIsNone(self.stored(Store(self.good, edge_weight=weights),
                                      ignore=["edge_weight"])[1])

    def test_what_is_no_weight(self):
        for value, text in ((np.ones((300, 2)), "[300, 2]"),
                            (np.ones(299), "[299]"),
                            (np.ones(300, bool), "weights are numbers"),
                            (-np.ones(300), "is -1"),
                            (np.full(300, np.nan), "is nan")):
            with self.subTest(text=text):
                self.refused(Store(self.good, edge_weight=value), text)
        self.refused(Store(self.good, edge_kind=np.ones(300)), "edge_kind",
                     "--weight NAME")
        self.refused(Store(self.good), "--weight w: no edge has such",
                     weight="w")
        # Of a node or of an edge? The store does not say.
        self.refused(Store(self.good, weight=np.ones(40)),
                     "nothing reads weight of nodes, the graph, or edges")
        # What has a row for each edge is of edges.
        features = {"edge_attr": np.ones((300, 2), np.float32)}
        with self.assertRaisesRegex(Refused, "nothing reads t of edges.*"
                                    "--edge-time NAME") as caught:
            convert(Store(self.good, t=np.ones(300), **features), self.results / "no")
        self.assertNotIn("--node-time", str(caught.exception))
        # Some of a graph are of neither.
        self.refused(Store(self.good, t=np.ones(7), **features),
                     "nothing reads t of nodes, the graph, or edges")

    def test_several_types(self):
        edges = np.array([[0, 1, 2], [1, 2, 0]])
        graph = HeteroData(
            {"paper": Store(num_nodes=3), "author": Store(num_nodes=3)},
            {CITES: Store(edge_index=edges, edge_weight=np.array([1, 2, 3])),
             WRITES: Store(edge_index=edges)})
        got = self.stored(graph, "paper__cites__paper")
        self.check(got, edges, [1, 2, 3])
        self.assertFalse((self.out / "edges" / "author__writes__paper"
                          / "weights.npy").exists())
        graph.parts[CITES]["weight"] = np.ones(3)
        self.refuse(graph, "edge_weight and weight may both", "--weight NAME")
        dgl = DglGraph({"_N": 3}, {("_N", "_E", "_N"): edges}, {},
                       {("_N", "_E", "_N"): {"w": Tensor(np.ones(3) / 3)}})
        self.check(self.stored(dgl, weight="w"), edges, np.ones(3) / 3)
        self.refuse(dgl, "w of edges")

    def refuse(self, graph, *fragments, **options):
        with self.assertRaises(Refused) as caught:
            self.stored(graph, **options)
        for fragment in fragments:
            self.assertIn(fragment, str(caught.exception))

    def test_matrices(self):
        """Of SciPy, and torch_sparse's: what is stored of an edge."""
        edges = np.unique(self.good["edge_index"], axis=1)
        values = np.linspace(1, 2, edges.shape[1])
        rows = np.searchsorted(edges[0], np.arange(41))
        matrix = Matrix("csr", (40, 40), indptr=rows, indices=edges[1],
                        data=values)
        self.check(self.stored(matrix), edges, values)
        self.check(self.stored(Matrix("coo", (40, 40), row=edges[0],
                                      col=edges[1], data=values)),
                   edges, values)
        self.assertIsNone(self.stored(matrix, ignore=["data"])[1])
        matrix.data = np.ones(edges.shape[1])
        self.assertIsNone(self.stored(matrix)[1])
        by = np.lexsort((edges[0], edges[1]))
        transposed = SparseTensor(np.searchsorted(edges[1][by], np.arange(41)),
                                  edges[0][by], values[by], (40, 40))
        data = Store(adj_t=transposed, num_nodes=40)
        self.check(self.stored(data), edges, values)

    def test_networkx(self):
        edges = [(0, 1, {"weight": 2}), (1, 2, {"weight": 0.5}), (0, 3, {})]
        graph = NetworkGraph(edges, directed=True)
        self.refuse(graph, "weight: some edges have no weight")
        edges[2][2]["weight"] = np.float32(3)
        ends = np.array([[0, 1, 0], [1, 2, 3]])
        self.check(self.stored(graph), ends, [2, 0.5, 3])
        graph.directed = False
        both, weights = self.stored(graph)
        self.assertEqual(
            {(*pair, weight) for pair, weight in zip(both.T.tolist(), weights)
             for pair in [tuple(pair)]},
            {(u, v, w) for a, b, w in ((0, 1, 2), (1, 2, 0.5), (0, 3, 3))
             for u, v in ((a, b), (b, a))})
        edges[1][2]["weight"] = "heavy"
        self.refuse(graph, "weight: it holds object, and weights are numbers")

    def test_tables(self):
        columns = {"source": ["a", "b", "c"], "target": ["b", "c", "a"],
                   "w": [1.0, 2.0, 3.0]}
        ends = np.array([[0, 1, 2], [1, 2, 0]])
        for table in (ArrowTable(columns), ParquetFile(columns)):
            self.check(self.stored(table, weight="w"), ends, [1, 2, 3])
            self.check(self.stored(table, weight="w", chunk_bytes=2 * 96),
                       ends, [1, 2, 3])
            self.refuse(table, "w of edges", "--weight NAME")
            self.refuse(table, "--weight v: no edge", weight="v")
        named = ArrowTable({"source": columns["source"],
                            "target": columns["target"],
                            "weight": [1, 2, 3]})
        self.check(self.stored(named), ends, [1, 2, 3])


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)

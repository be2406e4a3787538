"""What tests of graphmill.data share: a graph, and how datasets that
come of it are compared with it."""

import json
import pathlib
import sys

import support
from imports import Workplace
from support import Dataset, np

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[3] / "actors/python"))
from graphmill.data.convert import convert  # noqa: E402
from graphmill.data.values import Refused  # noqa: E402


def graph_of_40():
    rng = np.random.default_rng(3)
    order = rng.permutation(40)
    return {"edge_index": rng.integers(0, 40, (2, 300)),
            "x": rng.normal(size=(40, 5)).astype(np.float32),
            "y": rng.integers(0, 3, 40),
            **{f"{which}_mask": np.isin(np.arange(40), part) for which, part in
               zip(("train", "val", "test"), np.split(order, (20, 30)))}}


class Conversion(Workplace):
    def setUp(self):
        super().setUp()
        self.good = graph_of_40()

    def written(self, graph, **options):
        report = convert(graph, self.out, program=support.program(), **options)
        self.assertTrue(report["imported"])
        self.assertEqual(list(self.results.iterdir()), [self.out])
        self.report = report
        return Dataset(self.out)

    def refused(self, graph, *fragments, **options):
        with self.assertRaises(Refused) as caught:
            convert(graph, self.out, program=support.program(), **options)
        for fragment in fragments:
            self.assertIn(fragment, str(caught.exception))
        self.assertEqual(list(self.results.iterdir()), [])

    def check_nodes(self, got, name, **arrays):
        for which, expected in arrays.items():
            stored = got.node_array(name, which)
            if expected is None:
                self.assertIsNone(stored, which)
            else:
                np.testing.assert_array_equal(stored, expected, which)

    def check_40(self, got):
        good = self.good
        self.check_edges(got, "node__to__node", good["edge_index"], (40, 40))
        self.check_nodes(got, "node", features=good["x"], labels=good["y"],
                         **{which: np.flatnonzero(good[f"{which}_mask"])
                            for which in ("train", "val", "test")})

    def names(self, node_type="node"):
        path = self.out / "nodes" / node_type / "node_names.txt"
        return [json.loads(line) for line in path.read_text().splitlines()]

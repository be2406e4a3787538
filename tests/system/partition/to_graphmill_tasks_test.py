"""What edges of other libraries' graphs have for a task of edges comes over, by
graphmill.data: with stand-ins that have the attributes of these
libraries."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from conversions import Conversion, Refused, convert
from graph_objects import HeteroData, Store, Tensor
from support import np, program

RATES = ("user", "rates", "item")


class Tasks(Conversion):
    def task(self, graph, *flags, **options):
        """The one task of the dataset that is made, and its rows by split."""
        self.out = self.results / f"set-{len(list(self.results.iterdir()))}"
        convert(graph, self.out, program=support.program(), import_flags=flags,
              **options)
        (task,) = json.loads((self.out / "dataset.json").read_text())["tasks"]
        folder = self.out / "tasks" / task["name"]
        return task, {path.name.removesuffix(".npy"): np.load(path)
                      for path in folder.glob("*.npy")}

    def test_data(self):
        """As PyG has it: links by shares, and splits and labels of its own."""
        edges = self.good["edge_index"]
        task, _ = self.task(Store(self.good), "--split-edges", "0.8,0.1,0.1",
                            "--by", "pair")
        self.assertEqual(task["kind"], "link")
        splits = np.arange(300) % 4 - 1
        marks = Tensor(np.arange(300) % 3)
        task, rows = self.task(
            Store(self.good, fold=Tensor(splits), edge_attr=marks),
            "--task-kind", "edge_class",
            edge={"split": "fold", "label": "edge_attr"})
        self.assertEqual((task["kind"], task["class_count"]), ("edge_class", 3))
        for split, name in enumerate(("train", "val", "test")):
            taken = splits == split
            np.testing.assert_array_equal(rows[f"{name}.edges"],
                                          np.asarray(edges)[:, taken].T)
            np.testing.assert_array_equal(rows[f"{name}.labels"],
                                          (np.arange(300) % 3)[taken])

    def test_several_tasks(self):
        """Each has a label of its own; they share splits, and an attribute."""
        signs, stars = np.arange(300) % 2, np.arange(300) / 2
        splits = np.arange(300) % 3
        self.out = self.results / "several"
        convert(Store(self.good, fold=Tensor(splits), sign=Tensor(signs),
                      stars=Tensor(stars)),
                self.out, program=support.program(),
                import_flags=["--task-kind", "link",
                              "--task-kind", "sign=edge_class",
                              "--task-kind", "stars=edge_value"],
                edge={"split": "fold", "sign.label": "sign",
                      "stars.label": "stars", "link.row_weight": "stars",
                      "stars.row_weight": "stars"})
        about = json.loads((self.out / "dataset.json").read_text())
        self.assertEqual(
            [(task["name"], task["kind"], task.get("weights", False))
             for task in about["tasks"]],
            [("link", "link", True), ("sign", "edge_class", False),
             ("stars", "edge_value", True)])
        for task, labels in (("sign", signs), ("stars", stars[:, None])):
            np.testing.assert_array_equal(
                np.load(self.out / f"tasks/{task}/val.labels.npy"),
                labels[splits == 1])

    def test_several_types(self):
        """Numbers of edges between two types, with times and weights of rows."""
        rng = np.random.default_rng(2)
        pairs = np.stack([rng.integers(0, 5, 40), rng.integers(0, 9, 40)])
        stars = rng.random((40, 2)).astype(np.float32)
        task, rows = self.task(
            HeteroData({"user": Store({"num_nodes": 5}),
                        "item": Store({"num_nodes": 9})},
                       {RATES: Store({"edge_index": Tensor(pairs),
                                      "stars": Tensor(stars),
                                      "when": Tensor(np.arange(40.)),
                                      "counts": Tensor(np.full(40, 0.5))})}),
            "--task-kind", "edge_value", "--split-edges", "0.5,0.25,0.25",
            "--by", "time", "--reverse",
            edge={"label": "stars", "time": "when", "row_weight": "counts"})
        self.assertEqual((task["class_count"], task["times"], task["weights"]),
                         (2, True, True))
        np.testing.assert_array_equal(rows["train.labels"], stars[:20])
        np.testing.assert_array_equal(rows["test.edges"], pairs[:, 30:].T)

    def test_times_of_edges(self):
        """Rows have them, too."""
        rng = np.random.default_rng(3)
        pairs, when = rng.integers(0, 9, (2, 40)), rng.permutation(40)
        order = np.argsort(when)
        for name, options in (("edge_time", {}), ("when", {"edge_time": "when"})):
            task, rows = self.task(
                Store(edge_index=Tensor(pairs), num_nodes=9,
                      **{name: Tensor(when)}),
                "--split-edges", "0.5,0.25,0.25", "--by", "time",
                time_unit="step", **options)
            self.assertTrue(task["times"])
            np.testing.assert_array_equal(rows["test.edges"],
                                          pairs[:, order[30:]].T)
            np.testing.assert_array_equal(rows["train.times"], np.arange(20))
            about = json.loads((self.out / "dataset.json").read_text())
            self.assertTrue(about["edge_types"][0]["times"])
        both = Store(edge_index=Tensor(pairs), num_nodes=9,
                     edge_time=Tensor(when), at=Tensor(when))
        for options, said in (
                ({}, "nothing reads at"),
                ({"edge": {"time": "at"}}, "leave out --edge time=at"),
                ({"ignore": ["at"], "edge_time": "never"},
                 "--edge-time never: no edge"),
                ({"ignore": ["at"], "node_time": "never"},
                 "--node-time never: no node")):
            with self.subTest(options), self.assertRaisesRegex(Refused, said):
                convert(both, self.results / "refused", **options)

    def test_times_of_numpy(self):
        dates = np.array(["2024-05-01", "2024-05-02", "2024-05-01"], "datetime64[s]")
        pairs = np.array([[0, 1, 2], [1, 2, 0]])
        graph = Store(edge_index=Tensor(pairs), num_nodes=3, at=dates)
        split = "--split-edges", "0.4,0.3,0.3", "--by", "time"
        for options in {"edge_time": "at"}, {"node_time": "at"}, {"edge": {"time": "at"}}:
            with self.subTest(options), self.assertRaises(Refused) as caught:
                convert(graph, self.results / "refused", **options)
            said = str(caught.exception)
            self.assertIn("node.time holds datetime64[s]" if "node_time" in options else
                          "at: it holds datetime64[s], and times are numbers", said)
            self.assertIn('.astype("datetime64[us]").astype("int64"), and say '
                          'time_unit="us"', said)
        graph = Store(edge_index=Tensor(pairs), num_nodes=3,
                      at=dates.astype("datetime64[us]").astype("int64"))
        task, rows = self.task(graph, *split, edge_time="at", time_unit="us")
        self.assertEqual(rows["test.edges"].tolist(), [[1, 2]])

    def test_refusals(self):
        for edge, said in (({"colour": "fold"}, "--edge colour=fold: split, "),
                           ({".label": "fold"}, "--edge .label=fold: split, "),
                           ({"label": "none"}, "no edge has such an attribute"),
                           ({"label": "short"}, "a row for each of 300 edges")):
            with self.assertRaisesRegex(Refused, said):
                convert(Store(self.good, fold=Tensor(np.zeros(300)),
                            short=Tensor(np.zeros((7, 2)))),
                      self.results / "refused", edge=edge,
                      ignore=[name for name in ("fold", "short")
                              if name not in edge.values()])


if __name__ == "__main__":
    program()
    unittest.main()

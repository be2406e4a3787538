"""Datasets with several label sets: a definition that chooses one trains as on
a dataset that has no other labels."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from imports import save
from runs import merged, partitioned
from support import ROOT, Dataset, graphmill, imported, np, program

NODES = 90

DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 3]},
    "model": {"kind": "sage", "hidden": 8, "dropout": 0.2},
    "train": {"batch_size": 11, "epochs": 2, "seed_order": "global"},
    "evaluate": {"batch_size": 20},
}
TOPIC = {"labels": "topic"}
METRICS = {"tags": {}, "height": {"evaluate": {"metric": "mse"}}}


def write_graph(folder):
    """A graph without labels."""
    folder.mkdir()
    rng = np.random.default_rng(4)
    save(folder, edges=rng.integers(0, NODES, (2, 700)),
         features=rng.normal(size=(NODES, 6)).astype(np.float32))
    return folder


def label_arrays(seed, classes):
    """Labels of all nodes but for nine, and splits, by the names of files."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(NODES)
    labels = rng.integers(0, classes, NODES)
    labels[order[81:]] = -1
    return {"labels": labels, "train_idx": order[:40],
            "val_idx": order[40:60], "test_idx": order[60:81]}


def kind_arrays():
    """Of both other kinds, by the names of label sets: several labels, and two
    numbers, of all nodes but for nine."""
    rng = np.random.default_rng(3)
    kinds = {}
    for name, labels, unknown in (
            ("tags", rng.integers(0, 2, (NODES, 3)), -1),
            ("height", rng.normal(size=(NODES, 2)).astype(np.float32),
             np.nan)):
        order = rng.permutation(NODES)
        labels[order[81:]] = unknown
        kinds[name] = {"labels": labels, "train_idx": order[:40],
                       "val_idx": order[40:60], "test_idx": order[60:81]}
    return kinds


class LabelKinds(runs.Workplace):
    """Label sets that are several labels, or numbers, of nodes whose own labels
    are classes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kinds = kind_arrays()
        source = write_graph(cls.top / "source")
        save(source, **label_arrays(1, 3),
             **{f"{array}.{name}": content
                for name, arrays in cls.kinds.items()
                for array, content in arrays.items()})
        cls.all = cls.top / "all"
        imported("npy", source, "--regression-set", "height", "--out", cls.all)
        cls.parts = partitioned(cls.all, 3, "random")
        cls.alone = {}
        for name, arrays in cls.kinds.items():
            source = write_graph(cls.top / f"source-{name}")
            save(source, **arrays)
            cls.alone[name] = cls.top / name
            imported("npy", source, "--out", cls.alone[name],
                     *(["--regression"] if name == "height" else []))

    def test_what_is_written(self):
        dataset = Dataset(self.all)
        self.assertEqual(dataset.info["format_version"], 4)
        self.assertNotIn("labels", dataset.node_type("node"))
        self.assertEqual({each["name"]: each["labels"] for each in
                          dataset.node_type("node")["label_sets"]},
                         {"tags": "multi_label", "height": "regression"})
        for name, alone in self.alone.items():
            for array in ("labels", "train", "val", "test"):
                np.testing.assert_array_equal(
                    dataset.node_array("node", f"{array}.{name}"),
                    Dataset(alone).node_array("node", array))
        for folder in (self.parts, self.all):
            done = graphmill("inspect", folder, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
        for name, what in (("tags", "3 labels"), ("height", "2 numbers")):
            self.assertIn(f"label set {name} of node (train 40, val 20, test "
                          f"21): {what}, 9 nodes without", done.stdout)
        told = {each["name"]: each for each in
                self.ask("inspect", self.all)["node_types"][0]["label_sets"]}
        self.assertTrue(told["tags"]["multi_label"])
        self.assertEqual(len(told["height"]["values"]), 2)

    def test_weights(self):
        """The same as where these are the own labels: whole, in parts and on a
        cluster."""
        wants = {name: self.train(merged(DEFINITION, METRICS[name]), alone)
                 for name, alone in self.alone.items()}
        for name, want in wants.items():
            definition = merged(DEFINITION, METRICS[name], {"labels": name})
            for data in (self.all, self.parts):
                with self.subTest(labels=name, data=data.name):
                    got = self.train(definition, data)
                    self.assertEqual(got["digest"], want["digest"])
                    self.assertEqual(got["test"], want["test"])
            about = (pathlib.Path(got["run"]) / "run.json").read_text()
            self.assertIn("regression" if name == "height" else "multi_label",
                          about)
        with Cluster(self.top / "cluster", self.parts,
                     ["0", "1,2"]) as cluster:
            for name, want in wants.items():
                summary = cluster.run(self.write(
                    merged(DEFINITION, METRICS[name], {"labels": name}),
                    self.parts))
                self.assertEqual(summary["digest"], want["digest"], name)

    def test_a_folder_keeps_its_kind(self):
        run = self.train(merged(DEFINITION, {"labels": "tags"}),
                         self.all)["run"]
        done = graphmill("resume", run, "--from-start", "--with-changes",
                         "--set", "labels=height", "--set",
                         "evaluate.metric=mse")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("instead of any of several labels", done.stderr)


class LabelSets(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        own, topic = label_arrays(1, 3), label_arrays(2, 5)
        both = write_graph(cls.top / "source-both")
        save(both, **own, **{f"{name}.topic": array
                             for name, array in topic.items()})
        # Another split of the same labels.
        save(both, **{"train_idx.fold": own["test_idx"],
                      "test_idx.fold": own["train_idx"]})
        cls.both = cls.taken(both)
        alone = write_graph(cls.top / "source-topic")
        save(alone, **topic)
        cls.topic = cls.taken(alone)
        alone = write_graph(cls.top / "source-own")
        save(alone, **own)
        cls.own = cls.taken(alone)
        cls.arrays = {"": own, "topic": topic}
        cls.parts = partitioned(cls.both, 3, "random")

    @classmethod
    def taken(cls, source):
        out = cls.top / source.name.removeprefix("source-")
        cls.summary = imported("npy", source, "--out", out)
        return out

    def test_what_is_written(self):
        dataset = Dataset(self.both)
        self.assertEqual(dataset.info["format_version"], 2)
        self.assertEqual(Dataset(self.own).info["format_version"], 1)
        sets = {each["name"]: each
                for each in dataset.node_type("node")["label_sets"]}
        self.assertEqual(sorted(sets), ["fold", "topic"])
        self.assertEqual(sets["topic"]["class_count"], 5)
        self.assertEqual(sets["topic"]["splits"],
                         {"train": 40, "val": 20, "test": 21})
        self.assertEqual(sets["fold"]["splits"],
                         {"train": 21, "val": 0, "test": 40})
        for name, array in (("labels.topic", "labels"),
                            ("train.topic", "train_idx")):
            np.testing.assert_array_equal(dataset.node_array("node", name),
                                          self.arrays["topic"][array])
        np.testing.assert_array_equal(dataset.node_array("node",
                                                         "labels.fold"),
                                      self.arrays[""]["labels"])
        done = graphmill("inspect", self.both, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("label set topic of node (train 40, val 20, test 21)",
                      done.stdout)

    def test_weights(self):
        """The same as where there is nothing to choose, whole and in parts."""
        for labels, alone in (({}, self.own), (TOPIC, self.topic)):
            want = self.train(DEFINITION, alone)
            definition = merged(DEFINITION, labels)
            for data in (self.both, self.parts):
                with self.subTest(**labels, data=data.name):
                    got = self.train(definition, data)
                    self.assertEqual(got["digest"], want["digest"])
                    self.assertEqual(got["test_accuracy"],
                                     want["test_accuracy"])
                    self.assertEqual(*(
                        {key: value for key, value in self.ask(
                            "evaluate", run["run"], "--data", where).items()
                         if key in ("accuracy", "seeds")}
                        for run, where in ((got, data), (want, alone))))

    def test_a_split_of_its_own(self):
        summary = self.train(merged(DEFINITION, {"labels": "fold"}), self.both)
        # 21 seeds in steps of 11, twice.
        self.assertEqual(summary["steps"], 4)

    def test_example_reads_weights(self):
        run = self.train(merged(DEFINITION, {
            **TOPIC, "fetch": {"precision": "float16"}}), self.both)["run"]
        whole = ["--data", self.both, "--quiet"]
        told = self.ask("evaluate", run, *whole, "--neighbours", "all")
        self.ask("predict", run, *whole, "--all", "--logits", "--out",
                 self.top / "topics.npy")
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "examples/read_weights.py", run,
             "--compare", self.top / "topics.logits.npy"], text=True,
            capture_output=True, timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"test accuracy {told['accuracy']:.4f}", done.stdout)

    def test_a_cluster(self):
        alone = self.train(merged(DEFINITION, TOPIC), self.parts)
        with Cluster(self.top / "cluster", self.parts,
                     ["0", "1", "2"]) as cluster:
            summary = cluster.run(
                self.write(merged(DEFINITION, TOPIC), self.parts))
            self.assertEqual(summary["digest"], alone["digest"])
            self.assertEqual(summary["test_accuracy"],
                             alone["test_accuracy"])

    def test_refused(self):
        path = self.write(merged(DEFINITION, {"labels": "tropic"}), self.both)
        for command in ("validate", "train", "plan"):
            done = graphmill(command, path, "--data", self.both)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("have no label set \"tropic\"; there are \"fold\", "
                          "\"topic\"", done.stderr)
        run = self.train(merged(DEFINITION, TOPIC), self.both)["run"]
        done = graphmill("resume", run, "--set", "labels=fold")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("labels", done.stderr)
        # Its best epoch so far is the best of other seeds.
        done = graphmill("resume", run, "--set", "labels=fold", "--set",
                         "train.epochs=9", "--with-changes")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("`labels` has chosen the best epoch", done.stderr)

    def test_a_folder_keeps_its_kind_of_labels(self):
        """Own labels are several, those of the label set are one class."""
        source = write_graph(self.top / "source-kinds")
        rng = np.random.default_rng(7)
        save(source, labels=rng.integers(0, 2, (NODES, 3)).astype(np.uint8),
             train_idx=np.arange(40), val_idx=np.arange(40, 60),
             test_idx=np.arange(60, 90),
             **{f"{name}.topic": array
                for name, array in self.arrays["topic"].items()})
        data = self.top / "kinds"
        imported("npy", source, "--out", data)
        run = pathlib.Path(self.train(DEFINITION, data)["run"])
        about = (run / "run.json").read_text()
        self.assertIn("multi_label", about)
        before = (run / "definition.yaml").read_text()
        other = pathlib.Path(
            self.train(merged(DEFINITION, TOPIC), data)["run"])
        checkpoint = next(other.glob("checkpoints/*/state.json")).parent
        for more in (["--from-start", "--with-changes", "--set",
                      "labels=topic"], ["--from", checkpoint]):
            done = graphmill("resume", run, *more)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("would learn one class for each node instead of any "
                          "of several labels", done.stderr)
        self.assertEqual((run / "run.json").read_text(), about)
        self.assertEqual((run / "definition.yaml").read_text(), before)
        with Cluster(self.top / "kinds-cluster",
                     partitioned(data, 2, "random"), ["0,1"]) as cluster:
            for option in ("--predict", "--evaluate"):
                self.assertRegex(
                    cluster.refused("submit", option, run, "--set",
                                    "labels=topic"),
                    "are one class for each node.*has learnt any of several")


if __name__ == "__main__":
    program()
    unittest.main()

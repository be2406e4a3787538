"""Features that are stored without their zeros: what is written, and that runs
on them end with the same weights however the graph is cut and served: those of
runs on dense ones, or, where products add up in another order, all but them."""

import json
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
WIDTH = 60
MOST = 5  # Values in a row.
ROW_BYTES = 4 * (1 + 2 * MOST)  # Of a packed row.

DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 3]},
    "model": {"kind": "sage", "hidden": 8, "dropout": 0.2},
    "train": {"batch_size": 11, "epochs": 2, "seed_order": "global"},
    "evaluate": {"batch_size": 20},
}
# By steps along the gradient alone rounding stays as small as it is: Adam makes
# steps of the same length of gradients however small they are.
PLAIN = {"optimizer": {"kind": "sgd", "learning_rate": 0.05}}


def sparse_rows():
    """[NODES, WIDTH] with 0 to MOST values in a row; the first has MOST."""
    rng = np.random.default_rng(8)
    rows = np.zeros((NODES, WIDTH), np.float32)
    for i in range(NODES):
        count = MOST if i == 0 else rng.integers(0, MOST + 1)
        columns = rng.choice(WIDTH, count, replace=False)
        rows[i, columns] = rng.normal(size=count) + 3
    return rows


def compressed(rows):
    """indptr, indices and values of rows."""
    owners, columns = np.nonzero(rows)
    ends = np.bincount(owners, minlength=len(rows)).cumsum()
    return (np.concatenate(([0], ends)).astype(np.int64),
            columns.astype(np.int32), rows[owners, columns])


def write_graph(folder, **features):
    folder.mkdir()
    rng = np.random.default_rng(4)
    order = rng.permutation(NODES)
    save(folder, edges=rng.integers(0, NODES, (2, 700)),
         labels=rng.integers(0, 3, NODES), train_idx=order[:40],
         val_idx=order[40:60], test_idx=order[60:81], **features)
    return folder


class SparseFeatures(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rows = sparse_rows()
        cls.source = write_graph(cls.top / "source", features=cls.rows)
        cls.dense = cls.taken("dense")
        cls.sparse = cls.taken("sparse", "--sparse")
        cls.parts = partitioned(cls.sparse, 3, "random")

    @classmethod
    def taken(cls, name, *flags, source=None):
        out = cls.top / name
        cls.summary = imported("npy", source or cls.source, "--out", out,
                               *flags)
        return out

    def check_arrays(self, dataset, rows):
        for name, want in zip(("indptr", "indices", "values"),
                              compressed(rows)):
            got = dataset.node_array("node", f"features.{name}")
            self.assertEqual(got.dtype, want.dtype)
            np.testing.assert_array_equal(got, want)
        self.assertIsNone(dataset.node_array("node", "features"))

    def test_what_is_written(self):
        dataset = Dataset(self.sparse)
        self.assertEqual(dataset.info["format_version"], 3)
        self.assertEqual(Dataset(self.dense).info["format_version"], 1)
        entries = int(np.count_nonzero(self.rows))
        self.assertEqual(dataset.node_type("node")["sparse_features"],
                         {"entries": entries, "most_in_row": MOST})
        self.check_arrays(dataset, self.rows)
        told = self.ask("inspect", self.sparse, "--quiet")
        self.assertEqual(
            told["node_types"][0]["sparse_features"],
            {"entries": entries, "most_in_row": MOST,
             "bytes": 8 * (NODES + 1) + 8 * entries})
        done = graphmill("inspect", self.sparse, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"node: sparse features, {entries} values", done.stdout)

    def test_parts(self):
        for p in range(3):
            part = Dataset(self.parts / f"part-{p}")
            owned = part.node_array("node", "original_ids")
            self.check_arrays(part, self.rows[owned])
            self.assertEqual(
                part.node_type("node")["sparse_features"]["most_in_row"], MOST)
        done = graphmill("inspect", self.parts, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_compressed_rows_as_source(self):
        indptr, indices, values = compressed(self.rows)
        source = write_graph(
            self.top / "source-compressed", features_indptr=indptr,
            features_indices=indices, features_values=values)
        (source / "meta.json").write_text(json.dumps({"num_features": WIDTH}))
        digest = Dataset(self.sparse).info["digest"]
        self.taken("compressed", "--sparse", source=source)
        self.assertEqual(self.summary["digest"], digest)

    def test_normalised(self):
        scaled = Dataset(self.taken("l1", "--normalise", "l1"))
        self.check_arrays(
            Dataset(self.taken("l1-sparse", "--normalise", "l1", "--sparse")),
            scaled.node_array("node", "features"))

    def check_close(self, summary, other):
        """Both runs have learnt the same but for rounding."""
        weights, others = self.weights(summary), self.weights(other)
        self.assertEqual(sorted(weights), sorted(others))
        for name, values in weights.items():
            np.testing.assert_allclose(values, others[name], rtol=1e-3,
                                       atol=1e-4, err_msg=name)

    def test_weights(self):
        for change in ({},
                       {"model": {"kind": "gcn"},
                        "fetch": {"precision": "float16"}},
                       {"model": {"kind": "gat"}},
                       {"model": {"kind": "hgt", "heads": 2}},
                       {"trainer": {"replicas": 2, "threads": 2}},
                       {"faults": {"crash_every": 7}}):
            definition = merged(DEFINITION, PLAIN, change)
            with self.subTest(**change):
                whole = self.train(definition, self.sparse)
                self.check_close(whole, self.train(definition, self.dense))
                parts = self.train(definition, self.parts)
                self.assertEqual(parts["digest"], whole["digest"])

    def test_weights_of_kinds_that_unpack(self):
        definition = merged(DEFINITION, {"model": {"kind": "sage_max"}})
        want = self.train(definition, self.dense)
        for data in (self.sparse, self.parts):
            got = self.train(definition, data)
            self.assertEqual(got["digest"], want["digest"])
            self.assertEqual(got["test_accuracy"], want["test_accuracy"])

    def test_from_disk(self):
        definition = merged(DEFINITION, {"fetch": {"precision": "float16"}})
        want = self.train(definition, self.sparse)
        done = graphmill(*self.arguments(definition, self.parts)[1:],
                         "--storage", "disk")
        self.assertEqual(done.returncode, 0, done.stderr)
        got = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(got["digest"], want["digest"])

    def test_predictions(self):
        for kind in ("sage", "gcn", "gin", "sage_pool", "sage_max", "gat",
                     "gatv2", "rgcn", "rgat", "hgt"):
            with self.subTest(kind=kind):
                self.check_predictions(
                    merged(DEFINITION, {"model": {"kind": kind}}))

    def check_predictions(self, definition):
        run = self.train(definition, self.sparse)["run"]
        whole = pathlib.Path(run) / "whole.npy"
        parts = pathlib.Path(run) / "parts.npy"
        for data, out in ((self.sparse, whole), (self.parts, parts)):
            self.ask("predict", run, "--data", data, "--all", "--logits",
                     "--out", out, "--quiet")
        np.testing.assert_array_equal(
            *(np.load(out.with_suffix(".logits.npy")) for out in (whole, parts)))
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "examples/read_weights.py", run,
             "--compare", whole.with_suffix(".logits.npy")], text=True,
            capture_output=True, timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_cluster(self):
        with Cluster(self.top / "cluster", self.parts,
                     ["0-1", "2"]) as cluster:
            for i, change in enumerate((
                    {"fetch": {"precision": "float16"}},
                    {"fetch": {"cache": "1 KiB"},
                     "trainer": {"replicas": 2}})):
                definition = merged(DEFINITION, change)
                alone = self.train(definition, self.sparse)
                summary = cluster.run(
                    self.write(definition, self.parts, f"-{i}"))
                self.assertEqual(summary["digest"], alone["digest"])
                self.assertEqual(summary["test_accuracy"],
                                 alone["test_accuracy"])
                rows = next(each for each in summary["stages"]
                            if each["stage"] == "wire: feature rows")
                self.assertGreater(rows["items"], 0)
                self.assertEqual(rows["bytes"], ROW_BYTES * rows["items"])
            said = cluster.refused("submit", self.write(
                merged(DEFINITION, {"fetch": {"verify": 0.5}}), self.parts,
                "-verified"))
            self.assertIn("the features of `node` are sparse", said)

    def test_plan(self):
        bytes_of = {}
        for data in (self.dense, self.sparse):
            path = self.write(DEFINITION, data, f"-{data.name}")
            plan = self.ask("plan", path, "--data", data)
            bytes_of[data] = plan["train"]["bytes"]
        # Each node has a packed row instead of one of 4 * WIDTH bytes.
        self.assertLess(bytes_of[self.sparse], bytes_of[self.dense])

    def test_refused(self):
        for flags, said in (
                (["--normalise", "standardise"],
                 "standardised features have no zeros to leave out"),
                (["--ignore", "features.npy"], "there are no features")):
            done = graphmill("import", "npy", self.source, "--out",
                             self.top / "refused", "--sparse", *flags)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    program()
    unittest.main()

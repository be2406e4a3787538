"""Ages of edges as inputs of layers: a class that only the age of the last
message tells, the same weights for any parts, storage and daemons, refusals."""

import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from exactness_test import TROUBLE
from imports import save
from runs import merged, partitioned
from support import graphmill, imported, np, program

SEED = 40
NODES, DAY = 1500, 86400
KINDS = ("sage", "sage_sum", "gin", "gat", "gatv2", "rgcn", "hetero_sage",
         "rgat", "hgt")

LEARN = {
    "seed": 3,
    "sampler": {"fanouts": [1, 1], "time": "strict", "latest": True,
                "disjoint": True},
    "model": {"kind": "sage", "hidden": 32, "dropout": 0,
              "edge_ages": "cosine", "age_unit": DAY, "age_width": 8},
    "optimizer": {"learning_rate": 0.01},
    "train": {"batch_size": 100, "epochs": 20, "seed_order": "global"},
    "evaluate": {"batch_size": 200},
}
LOG = {"model": {"edge_ages": "log", "age_unit": DAY}, "train": {"epochs": 40}}


def without_ages(definition):
    model = {key: value for key, value in definition["model"].items()
             if key not in ("edge_ages", "age_unit", "age_width")}
    return {**definition, "model": model}


def planted(source):
    """A node sees four messages. Its class is the day of the last one before
    its time, and nothing else tells it: features are noise, and each node has as
    many messages. Edges have features, too, of noise."""
    rng = np.random.default_rng(SEED)
    label = rng.integers(0, 3, NODES)
    time = rng.integers(100 * DAY, 130 * DAY, NODES)
    last = ((label + rng.uniform(0.15, 0.85, NODES)) * DAY).astype(np.int64)
    ages = np.stack([last, last + rng.integers(DAY, 20 * DAY, NODES),
                     last + rng.integers(DAY, 20 * DAY, NODES),
                     -rng.integers(0, DAY, NODES)], axis=1)  # The future.
    edges = np.stack([rng.integers(0, NODES, 4 * NODES),
                      np.repeat(np.arange(NODES), 4)])
    order = rng.permutation(4 * NODES)
    seeds = rng.permutation(NODES)
    source.mkdir()
    save(source, edges=edges[:, order], labels=label, time=time,
         edge_time=(time[:, None] - ages).reshape(-1)[order],
         features=rng.normal(size=(NODES, 4)).astype(np.float32),
         edge_attr=rng.normal(size=(4 * NODES, 2)).astype(np.float32),
         train_idx=np.sort(seeds[:1000]), val_idx=np.sort(seeds[1000:1200]),
         test_idx=np.sort(seeds[1200:]))
    return source


class EdgeAges(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = planted(cls.top / "planted")
        cls.data = cls.top / "data"
        imported("npy", source, "--edge-time", "--node-time", "--time-unit",
                 "s", "--out", cls.data)
        cls.parts = partitioned(cls.data, 4, "random")

    def check_refused(self, change, *fragments):
        done = graphmill(*self.arguments(merged(LEARN, change), self.data)[1:])
        self.assertEqual(done.returncode, 1, done.stdout)
        for fragment in fragments:
            self.assertIn(fragment, done.stderr)

    # -- what is learnt

    def test_the_age_of_the_last_message_tells_the_class(self):
        """With learnt cosines by each kind, and with logarithms by one of each
        family: what both are for a layer, the test of models says."""
        for kind, change in [*((kind, {}) for kind in KINDS),
                             *((kind, LOG) for kind in ("sage", "gat", "rgcn"))]:
            with self.subTest(kind, **change):
                definition = merged(LEARN, {"model": {"kind": kind}})
                if change:
                    definition = merged(without_ages(definition), change)
                found = self.train(definition, self.data)["test"]["accuracy"]
                print(f"  {kind}: {found:.3f}")
                self.assertGreater(found, 0.95)

    def test_without_ages_it_is_chance(self):
        for kind in KINDS:
            with self.subTest(kind):
                found = self.train(merged(without_ages(LEARN),
                                          {"model": {"kind": kind}}), self.data)
                self.assertLess(found["test"]["accuracy"], 0.45)

    def test_evaluations_and_predictions_read_them(self):
        summary = self.train(LEARN, self.data)
        told = self.ask("evaluate", summary["run"], "--split", "test", "--quiet")
        self.assertEqual(told["accuracy"], summary["test"]["accuracy"])
        out = self.top / "rows.npy"
        cut = self.top / "cut.npy"
        for path, data in ((out, self.data), (cut, self.parts)):
            self.ask("predict", summary["run"], "--data", data, "--out", path)
        found = np.load(out)
        label = np.load(self.top / "planted/labels.npy")
        self.assertGreater((found == label).mean(), 0.95)
        self.assertEqual(out.read_bytes(), cut.read_bytes())

    # -- the same bits

    def test_parts_and_trouble_and_disk(self):
        short = {"train": {"epochs": 2}, "trainer": {"replicas": 2},
                 "sampler": {"fanouts": [3, 2], "latest": False}}
        for kind in KINDS:
            with self.subTest(kind):
                definition = merged(LEARN, short, {"model": {"kind": kind}})
                self.assertEqual(
                    self.digest(merged(definition, TROUBLE), self.parts,
                                "--storage", "disk"),
                    self.digest(definition, self.data))

    def test_steps_and_windows(self):
        """One time for all rows of a step, and all ways to choose edges."""
        for sampler in ({"disjoint": False, "latest": False},
                        {"time": "inclusive", "window": 5 * DAY},
                        {"replace": True, "latest": False}):
            with self.subTest(sampler):
                definition = merged(LEARN, LOG, {
                    "sampler": sampler,
                    "train": {"epochs": 1, "shuffle": False, "batch_size": 1},
                    "evaluate": {"batch_size": 1}})
                definition["train"]["max_steps"] = 40
                definition["model"].pop("age_width")
                self.assertEqual(self.digest(definition, self.parts),
                                 self.digest(definition, self.data))

    def test_large_requests_are_sampled_in_pieces(self):
        """More nodes of a hop than one thread samples at a time."""
        rng = np.random.default_rng(SEED)
        nodes = 20000
        source = self.top / "large-source"
        source.mkdir()
        save(source, edges=rng.integers(0, nodes, (2, 3 * nodes)),
             labels=rng.integers(0, 3, nodes),
             time=rng.integers(10, 20, nodes),
             edge_time=rng.integers(0, 20, 3 * nodes),
             features=rng.normal(size=(nodes, 2)).astype(np.float32),
             edge_attr=rng.normal(size=(3 * nodes, 2)).astype(np.float32),
             train_idx=np.arange(18000), val_idx=np.arange(18000, 19000),
             test_idx=np.arange(19000, nodes))
        data = self.top / "large"
        imported("npy", source, "--edge-time", "--node-time", "--time-unit",
                 "step", "--out", data)
        definition = merged(LEARN, {
            "sampler": {"latest": False, "fanouts": [2, 1]},
            "model": {"age_unit": 1},
            "train": {"batch_size": 18000, "epochs": 1}})
        pieces = merged(definition, {"sampler": {"threads": 3}})
        self.assertEqual(self.digest(pieces, data),
                         self.digest(definition, data))

    def test_a_cluster(self):
        parts = partitioned(self.data, 2, "random")
        short = merged(LEARN, {"train": {"epochs": 2},
                               "sampler": {"fanouts": [3, 2],
                                           "latest": False}})
        with Cluster(self.top / "cluster", parts, ["0", "1"]) as cluster:
            for kind in "sage", "gatv2", "hgt":
                definition = merged(short, {"model": {"kind": kind}})
                whole = self.digest(definition, self.data)
                for more in ({}, {"placement": {"trainers": ["d0"],
                                                "samplers": ["d1"]}}):
                    summary = cluster.run(self.write(
                        merged(definition, more), parts,
                        f"-{kind}{len(more)}"))
                    self.assertEqual(summary["digest"], whole, cluster.logs())

    # -- what does not go

    def test_refusals(self):
        self.check_refused({"sampler": {"time": "ignore", "latest": False,
                                        "disjoint": False}},
                           "`model.edge_ages` needs the time of each row")
        self.check_refused({"model": {"kind": "sage_max"}},
                           "`model.edge_ages` is for kinds that read features "
                           "of edges, and sage_max does not")
        self.check_refused({"model": {"edge_ages": "log"}},
                           "`model.age_width` is for `edge_ages: cosine` alone")
        self.check_refused({"model": {"edge_ages": "none"}},
                           "`model.age_unit` is for `edge_ages: log`")

    def test_all_nodes_at_once_have_no_time(self):
        run = self.train(merged(LEARN, {"train": {"epochs": 1}}),
                         self.data)["run"]
        done = graphmill("predict", run, "--all", "--out",
                         self.top / "all.npy")
        self.assertEqual(done.returncode, 1, done.stdout)


if __name__ == "__main__":
    program()
    unittest.main()

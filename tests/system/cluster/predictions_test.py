"""A cluster predicts all nodes: the same bits as one process by batches of the
same nodes, for any number of parts and daemons. Of tasks of edges it computes
embeddings of all nodes, or predicts the edges of a split."""

import json
import pathlib
import stat
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster, Daemon
from imports import rows_of, save, sixty_nodes, write_table
from runs import merged, partitioned, small_rmat
from support import graphmill, imported, np, program

# 1024 nodes in 16 steps.
DEFINITION = merged(runs.SMALL, {
    "evaluate": {"neighbours": "all", "batch_size": 64}})
NODES, CLASSES = 1024, 4

SEED = 381
USERS, ITEMS, WIDTH = 37, 20, 6

LINKS = {
    "seed": 5,
    "task": "link",
    "sampler": {"fanouts": [4, 4]},
    "model": {"kind": "hetero_sage", "hidden": 8, "width": WIDTH,
              "embedding": 8},
    "decoder": {"kind": "distmult"},
    "train": {"batch_size": 32, "epochs": 1},
    "evaluate": {"neighbours": "all", "batch_size": 16, "negatives": 3},
}


def columns_of(path, *names):
    lines = rows_of(path)
    return [[line[name] for line in lines] for name in names]


class Predictions(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.whole = small_rmat(cls.top / "rmat")
        cls.parts = {count: partitioned(cls.whole, count, "random")
                     for count in (2, 3)}

    def cluster(self, data, shares, name=""):
        made = Cluster(self.top / f"{self.own_name}{name}", data,
                       shares)
        self.addCleanup(made.__exit__)
        return made

    def trained(self, trainers=1):
        """A finished run in one process."""
        return self.train(merged(DEFINITION,
                                 {"trainer": {"replicas": trainers}}),
                          self.whole)

    def alone(self, run, *more):
        """What one process predicts: logits and classes."""
        out = self.top / f"{self.own_name}.npy"
        self.ask("predict", run, "--logits", "--quiet", "--out", out, *more)
        return np.load(out.with_suffix(".logits.npy")), np.load(out)

    def there(self, folder):
        return (np.load(folder / "logits.npy"),
                np.load(folder / "predictions.npy"))

    def assert_same(self, got, expected):
        for have, want in zip(got, expected):
            self.assertEqual(have.dtype, want.dtype)
            self.assertEqual(have.shape, want.shape)
            self.assertEqual(have.tobytes(), want.tobytes())

    def test_any_parts_and_daemons(self):
        for trainers in (1, 2):
            run = self.trained(trainers)
            expected = self.alone(run["run"])
            self.assertEqual(expected[0].shape, (NODES, CLASSES))
            for parts, shares in ((2, ["0", "1"]), (3, ["1", "0,2"])):
                with self.subTest(trainers=trainers, parts=parts):
                    cluster = self.cluster(self.parts[parts], shares,
                                           f"-{trainers}-{parts}")
                    summary = cluster.ask("submit", "--predict", run["run"],
                                          "--watch", "--quiet")
                    self.assertEqual(summary["predicted"], NODES)
                    self.assertEqual(summary["digest"], run["digest"])
                    self.assertEqual(summary["steps"], 0)
                    folder = pathlib.Path(summary["run"])
                    self.assert_same(self.there(folder), expected)
                    for name in ("logits.npy", "predictions.npy"):
                        self.assertEqual(stat.S_IMODE(
                            (folder / name).stat().st_mode), 0o600)
                    self.assertEqual((folder / "metrics.jsonl").read_text(),
                                     "")
                    self.assertEqual(list(folder.glob(".*.tmp")), [])
        # Layer by layer, rows are multiplied in other company.
        layers, _ = self.alone(run["run"], "--all")
        np.testing.assert_allclose(layers, expected[0],
                                   atol=1e-5 * np.abs(layers).max())

    def test_what_is_fetched_and_predicted_again(self):
        run = self.trained()
        expected = self.alone(run["run"])
        cluster = self.cluster(self.parts[2], ["0", "1"])
        name = cluster.ask("submit", "--predict", run["run"])["run"]
        cluster.ask("watch", name, "--quiet")
        fetched = self.top / "fetched"
        cluster.ask("fetch", name, "--out", fetched)
        self.assert_same(self.there(fetched), expected)
        # Its folder has the weights, too.
        self.assert_same(self.alone(fetched, "--data", self.whole), expected)
        again = cluster.ask("submit", "--predict", fetched, "--watch",
                            "--quiet", "--set", "evaluate.neighbours=sampled",
                            "--set", "sampler.fanouts=[-1, -1]")
        self.assert_same(self.there(pathlib.Path(again["run"])), expected)

    def test_a_daemon_is_lost(self):
        """The pass begins anew, and ends with the same bits."""
        run = self.trained()
        expected = self.alone(run["run"])
        cluster = self.cluster(self.parts[2], ["0", "1"])
        name = cluster.ask("submit", "--predict", run["run"], "--set",
                           "faults.sampler_delay_ms=500")["run"]
        folder = cluster.folder / "runs" / name
        cluster.wait_until(lambda: list(folder.glob(".logits.npy.*")),
                           "first row")
        cluster.daemons[1].kill()
        cluster.add("1", name="d1")
        summary = cluster.ask("watch", name, "--quiet")
        self.assertEqual(summary["attempts"], 2, cluster.logs())
        self.assertEqual(summary["predicted"], NODES)
        self.assert_same(self.there(folder), expected)
        self.assertEqual(list(folder.glob(".*.tmp")), [])

    def listed(self, data, split):
        """A CSV of the edges of a split, in order."""
        (task,) = (data / "tasks").iterdir()
        edges = np.load(task / f"{split}.edges.npy")
        info = json.loads((data / "dataset.json").read_text())
        names = info["tasks"][0]["edge_types"]
        kinds = task / f"{split}.types.npy"
        types = (np.load(kinds) if kinds.exists()
                 else np.zeros(len(edges), int))
        out = self.top / f"{data.name}-{split}.csv"
        several = len(names) > 1
        write_table(out, ["source", "destination"] + ["type"] * several,
                    [*edges.T] + [[names[i] for i in types]] * several)
        return out

    def scores(self, run, pairs, *more):
        """What `--pairs` says, and where it took outputs from."""
        out = self.top / "scores.csv"
        told = self.ask("predict", run, "--pairs", pairs, "--nodes-by",
                        "number", "--quiet", "--out", out, *more)
        (found,) = columns_of(out, "score")
        return np.array(found, np.float32), told["stored_embeddings"]

    def best(self, run, *more):
        out = self.top / "best.csv"
        told = self.ask("predict", run, "--top", "3", "--quiet", "--out", out,
                        *more)
        *ends, scores = columns_of(out, "source", "destination", "type",
                                   "score")
        return ends, np.array(scores, float), told["stored_embeddings"]

    def test_links(self):
        """Embeddings are those of one process, and serve it from then on."""
        print(f"seed {SEED}")
        rng = np.random.default_rng(SEED)
        flags = ["--reverse", "--split-edges", "0.8,0.1,0.1"]
        for name, end, count in (("buys", "item", ITEMS),
                                 ("knows", "user", USERS)):
            pairs = rng.choice(USERS * count, 300, replace=False)
            # All nodes are met.
            pairs[:USERS] = (np.arange(USERS) * count
                             + np.arange(USERS) % count)
            pairs = np.unique(pairs)
            table = self.top / f"{name}.csv"
            write_table(table, ["from", "to"], divmod(pairs, count))
            flags += ["--edges", f"user__{name}__{end}={table}"]
        shop = self.top / "shop"
        imported("csv", *flags, "--out", shop)
        run = self.train(LINKS, shop)["run"]
        told = self.ask("predict", run, "--all", "--quiet", "--out",
                        self.top / "shop.npy")
        layers = {name: np.load(told[f"embeddings.{name}"])
                  for name in ("user", "item")}
        made = []
        for parts, shares in ((2, ["0", "1"]), (3, ["1", "0,2"])):
            cluster = self.cluster(partitioned(shop, parts, "random"), shares,
                                   f"-{parts}")
            summary = cluster.ask("submit", "--predict", run, "--watch",
                                  "--quiet")
            self.assertEqual(summary["predicted"], USERS + ITEMS)
            folder = pathlib.Path(summary["run"])
            made.append({name: np.load(folder / f"embeddings.{name}.npy")
                         for name in layers})
            self.assertFalse((folder / "logits.npy").exists())
        self.assertEqual(layers["user"].shape, (USERS, WIDTH))
        for name, rows in layers.items():
            self.assert_same([made[0][name]], [made[1][name]])
            np.testing.assert_allclose(made[0][name], rows, rtol=1e-4,
                                       atol=1e-6)
        fetched = self.top / "links-fetched"
        cluster.ask("fetch", folder.name, "--out", fetched)
        here = ("--data", shop)
        pairs = self.listed(shop, "test")
        expected, stored = self.scores(run, pairs)
        self.assertFalse(stored)
        got, stored = self.scores(fetched, pairs, *here)
        self.assertTrue(stored)
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)
        again, stored = self.scores(fetched, pairs, *here, "--neighbours",
                                    "all")
        self.assertFalse(stored)
        self.assert_same([again], [expected])
        ends, scores, stored = self.best(run)
        self.assertFalse(stored)
        there, found, stored = self.best(fetched, *here)
        self.assertTrue(stored)
        self.assertEqual(there, ends)
        np.testing.assert_allclose(found, scores, rtol=1e-4, atol=1e-6)
        # Edges of a split, by batches of the same ones.
        summary = cluster.ask("submit", "--predict", run, "--split", "test",
                              "--watch", "--quiet")
        self.assertEqual(summary["predicted"], len(expected))
        self.assert_same(self.there(pathlib.Path(summary["run"])),
                         (expected[:, None], expected))
        broken = fetched / "embeddings.item.npy"
        np.save(broken, np.load(broken)[:-1])
        done = graphmill("predict", fetched, "--top", "3", *here, "--out",
                         self.top / "no.csv", "--json")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("embeddings.item.npy", done.stdout)

    def test_classes_of_edges(self):
        rng = np.random.default_rng(SEED)
        table = self.top / "rated.csv"
        write_table(table, ["from", "to", "kind"],
                    [*rng.integers(0, 40, (2, 300)),
                     rng.choice(["bad", "fair", "good"], 300)])
        data = self.top / "rated"
        imported("csv", "--edges", table, "--task-kind", "edge_class",
                 "--task-name", "kind", "--task-label", "kind",
                 "--split-edges", "0.7,0.1,0.2", "--out", data)
        run = self.train(merged(LINKS, {"task": "kind", "model": {
            "kind": "sage"}, "decoder": {"kind": "mlp"}, "evaluate": {
                "negatives": 100}}), data)["run"]
        out = self.top / "kinds.csv"
        self.ask("predict", run, "--pairs", self.listed(data, "test"),
                 "--nodes-by", "number", "--quiet", "--out", out)
        (classes,) = columns_of(out, "class")
        cluster = self.cluster(partitioned(data, 2, "random"), ["0", "1"])
        summary = cluster.ask("submit", "--predict", run, "--split", "test",
                              "--watch", "--quiet")
        logits, there = self.there(pathlib.Path(summary["run"]))
        np.testing.assert_array_equal(there, np.array(classes, int))
        self.assertEqual(logits.shape, (len(classes), 3))
        summary = cluster.ask("submit", "--predict", run, "--watch", "--quiet")
        self.assertEqual(
            np.load(pathlib.Path(summary["run"])
                    / "embeddings.node.npy").shape, (40, WIDTH))

    def typed(self, name, seed):
        """Papers with features, and authors without."""
        source = self.top / f"{name}-source"
        source.mkdir()
        rng = np.random.default_rng(seed)
        save(source, **{
            "paper.features": rng.normal(size=(60, 5)).astype(np.float32),
            "paper.labels": np.arange(60) % 3,
            "paper.train_idx": np.arange(30),
            "paper.val_idx": np.arange(30, 40),
            "paper.test_idx": np.arange(40, 60),
            "author__writes__paper.edges":
                rng.integers(0, [[20], [60]], (2, 200))})
        (source / "meta.json").write_text(json.dumps({"node_types": {
            "paper": {"num_nodes": 60}, "author": {"num_nodes": 20}}}))
        imported("npy", source, "--out", self.top / name)
        return self.top / name

    def test_rows_that_other_nodes_have_learnt(self):
        """There are as many authors, and they are other people."""
        yesterday, today = self.typed("yesterday", 1), self.typed("today", 2)
        run = self.train(merged(DEFINITION, {"model": {"kind": "rgcn"}}),
                         yesterday)["run"]
        cluster = self.cluster(partitioned(today, 2, "random"), ["0,1"])
        self.assertIn("nodes of type author have no features",
                      cluster.refused("submit", "--predict", run, "--set",
                                      "dataset=today"))
        self.assertEqual(cluster.ask("runs")["runs"], [])

    def test_tomorrows_graph(self):
        """It needs no labels, and what it calls its own is not asked for."""
        split = {"train_idx": np.arange(40), "val_idx": np.arange(40, 50),
                 "test_idx": np.arange(50, 60)}
        learnt = ["cook", "judge", "smith"]
        known = sixty_nodes(self.top, "known", learnt,
                            labels=np.arange(60) % 3, **split)
        run = self.train(merged(DEFINITION, {"evaluate": {"batch_size": 4}}),
                         known)["run"]
        expected = self.alone(run)
        for name, names, modulus in (("none", None, 0),
                                     ("renamed", ["baker", "cook", "judge"], 3),
                                     ("fewer", ["cook", "judge"], 2)):
            labels = ({"labels": np.arange(60) % modulus, **split}
                      if modulus else {})
            data = sixty_nodes(self.top, name, names, **labels)
            with self.subTest(name):
                cluster = self.cluster(partitioned(data, 2, "random"),
                                       ["0", "1"], f"-{name}")
                there = ("--set", f"dataset={name}")
                summary = cluster.ask("submit", "--predict", run, "--watch",
                                      "--quiet", *there)
                folder = pathlib.Path(summary["run"])
                self.assert_same(self.there(folder), expected)
                about = json.loads((folder / "run.json").read_text())
                self.assertEqual(about["class_names"], learnt)
                self.assertIn(
                    "no labels to measure the run by" if not modulus else
                    "are not those that the run has learnt",
                    cluster.refused("submit", "--evaluate", run, *there))
                if modulus:
                    continue
                # Attempts that follow know it, too: without a daemon, and when
                # the coordinator is started anew.
                for lost in (1, 0):
                    waiting = cluster.ask(
                        "submit", "--predict", run, *there, "--set",
                        "faults.sampler_delay_ms=150")["run"]
                    folder = cluster.folder / "runs" / waiting
                    cluster.wait_until(
                        lambda: list(folder.glob(".logits.npy.*")), "first row")
                    address = cluster.daemons[lost].address()
                    cluster.daemons[lost].kill()
                    if lost == 0:
                        cluster.daemons[0] = Daemon(
                            cluster.folder, "d0", cluster.data, "0",
                            listen=address)
                        cluster.daemons[0].address()
                    else:
                        cluster.add("1", name="d1")
                    cluster.ask("watch", waiting, "--quiet")
                    self.assert_same(self.there(folder), expected)
        scaled = sixty_nodes(self.top, "scaled", None, "--normalise", "l2")
        cluster = self.cluster(partitioned(scaled, 2, "random"), ["0,1"],
                               "-scaled")
        self.assertIn("are scaled by `--normalise l2` here and `none` there",
                      cluster.refused("submit", "--predict", run, "--set",
                                      "dataset=scaled"))

    def test_refused(self):
        run = self.trained()
        cluster = self.cluster(self.parts[2], ["0", "1"])
        bare = self.write(merged(DEFINITION, {"evaluate": {"predict": True}}),
                          self.whole)
        self.assertIn("begins with the weights of a finished run",
                      cluster.refused("submit", bare))
        self.assertIn("nowhere", cluster.refused("submit", "--predict",
                                                 "nowhere"))
        self.assertIn("has learnt nodes", cluster.refused(
            "submit", "--predict", run["run"], "--split", "test"))
        self.assertIn("is above 65536, which is the most with "
                      "`evaluate.predict`",
                      cluster.refused("submit", "--predict", run["run"],
                                      "--set", "evaluate.batch_size=all"))
        self.assertEqual(cluster.ask("runs")["runs"], [])
        # What has been trained since it was submitted would not count.
        trained = cluster.run(self.write(DEFINITION, self.whole, "-plain"))
        self.assertIn("begins with the weights of a finished run",
                      cluster.refused("resume", pathlib.Path(
                          trained["run"]).name, "--set",
                          "evaluate.predict=true", "--with-changes"))
        done = graphmill("train", bare, "--data", self.whole, "--runs",
                         self.top / "never", "--json", "--quiet")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("`evaluate.predict` is for a cluster",
                      json.loads(done.stdout.splitlines()[-1])["error"])
        for more in ([], [bare, "--predict", run["run"]],
                     ["--predict", run["run"], "--repeat", "2"],
                     ["--predict", run["run"], "--tensorboard"]):
            done = graphmill("submit", *more)
            self.assertEqual(done.returncode, 2, done.stdout)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

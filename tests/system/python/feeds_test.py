"""Batches that a cluster samples for a consumer in Python: those of one machine,
whatever happens to daemons, to the coordinator and to the consumer."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import clusters
import members
import runs
from clusters import PATIENCE_SECONDS, free_port
from edge_weights import random_weights, weighted
from imports import save
from support import ROOT, imported, program

sys.path.insert(0, str(ROOT / "actors/python"))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402
from graphmill._cluster import served_here  # noqa: E402
from links_test import groups  # noqa: E402
from loader_test import timed_dataset, typed_dataset  # noqa: E402
from support import np  # noqa: E402

SETTINGS = {"fanouts": [4, 3], "batch_size": 9, "seed": 7, "as_": "numpy",
            "edge_ids": True, "degrees": True}
STEPS = 3  # Of an epoch, before something happens.
MOST_FEEDS = 64  # That are on at a time.
CHILD = """
import sys, graphmill
loader = graphmill.Loader(sys.argv[1], data=sys.argv[2], fanouts=[4, 3],
                          batch_size=9, seed=7, as_="numpy")
for step, batch in enumerate(loader):
    if step == 2:
        print("there", flush=True)
        sys.stdin.readline()
"""


def digests(loader, epochs=2):
    """By epoch and step."""
    return {(batch.key.epoch, batch.key.step): batch.digest()
            for _ in range(epochs) for batch in loader}


class Feeds(clusters.ClusterWorkplace):
    def feed(self, cluster, **options):
        loader = graphmill.Loader(
            cluster.coordinator,
            **{"data": self.parts, "timeout": float(PATIENCE_SECONDS),
               **SETTINGS, **options})
        self.addCleanup(loader.close)
        return loader

    def expected(self, epochs=2, **options):
        with graphmill.Loader(self.data, **{**SETTINGS, **options}) as loader:
            return digests(loader, epochs)

    def feeds(self, cluster):
        """Daemons that take batches."""
        return [name for name, state in cluster.states().items()
                if "/feed-" in name and state != "lost"]

    def record(self, cluster, run):
        return cluster.ask("runs", run)["runs"][0]

    @staticmethod
    def actors(cluster, run, daemon):
        """Kinds of those that a daemon tells of, as far as it has."""
        done = cluster.call("status", run)
        if done.returncode != 0:
            return set()
        told = json.loads(done.stdout.splitlines()[-1])
        return {actor["kind"] for one in told.get("daemons", [])
                if one["daemon"] == daemon for actor in one["actors"]}

    def await_end(self, cluster, run):
        """Of a run. @return its record."""
        cluster.wait_until(lambda: self.record(cluster, run)["state"]
                           not in ("queued", "running"), f"end of {run}")
        return self.record(cluster, run)

    # -- a run like any other

    def test_batches_are_those_of_one_machine(self):
        cluster = self.cluster(["0", "1"])
        loader = self.feed(cluster)
        found = digests(loader)
        self.assertEqual(found, self.expected())
        status = cluster.status()
        run = status["running"]
        taker, = self.feeds(cluster)
        row, = (daemon for daemon in status["daemons"]
                if daemon["name"] == taker)
        self.assertEqual((row["parts"], row["slots"]), ([], 0))
        cluster.wait_until(
            lambda: self.actors(cluster, run, taker)
            >= {"trainer", "sampler", "sampling proxy"}, "health of the feed")
        loader.close()
        self.assertEqual(self.await_end(cluster, run)["state"], "finished")
        self.assertEqual(self.feeds(cluster), [])
        found_folders = [at for at in cluster.folder.rglob(run) if at.is_dir()]
        self.assertEqual(found_folders, [])
        # Any of the addresses may be the coordinator's.
        self.assertTrue(served_here(
            f"tcp://127.0.0.1:{free_port()},{cluster.coordinator}", "", False))
        # The folder is that of a daemon here; and a rank has its share.
        for rank in range(2):
            with self.feed(cluster, data=None, rank=rank, world_size=2) as own:
                self.assertEqual(
                    digests(own, 1),
                    self.expected(1, rank=rank, world_size=2))

    def test_seeds_splits_and_passes(self):
        cluster = self.cluster(["0", "1"])
        graph = graphmill.open(cluster.coordinator, data=self.parts)
        self.addCleanup(graph.close)
        whole = graphmill.open(self.data)
        self.assertEqual(graph.info.node_types, whole.info.node_types)
        for options in ({"as_": "numpy"}, {"as_": "numpy", "form": "csr"}):
            batch = graph.sample([9, 4, 7], [-1, 5], **options)
            self.assertEqual(batch.digest(), whole.sample(
                [9, 4, 7], [-1, 5], **options).digest())
        loader = self.feed(cluster, split="val", shuffle=True)
        expected = self.expected(3, split="val", shuffle=True)
        for batch in loader:
            self.assertEqual(batch.digest(), expected[0, 0])
            break  # The pass is abandoned.
        loader.set_epoch(2)
        self.assertEqual(digests(loader, 1), {
            at: digest for at, digest in expected.items() if at[0] == 2})

    def test_a_cancelled_run_ends_the_loop(self):
        cluster = self.cluster(["0", "1"])
        loader = self.feed(cluster)
        steps = iter(loader)
        next(steps)
        run = cluster.status()["running"]
        cluster.ask("cancel", run)
        with self.assertRaisesRegex(graphmill.Cancelled, "was cancelled"):
            for _ in range(10_000):
                for _ in steps:
                    pass
                steps = iter(loader)
        self.assertEqual(self.await_end(cluster, run)["state"], "cancelled")

    def test_times(self):
        data = self.top / "timed"
        timed_dataset(data)
        cluster = self.cluster(["0", "1"], data=runs.partitioned(
            data, 2, "random"))
        for options in ({"time": "strict", "disjoint": True, "window": 60},
                        {"time": "inclusive", "shuffle": False}):
            settings = {**SETTINGS, "degrees": False, **options}
            with self.subTest(options), \
                    graphmill.Loader(data, **settings) as whole, \
                    self.feed(cluster, data=cluster.data,
                              **settings) as loader:
                self.assertEqual(digests(loader, 1), digests(whole, 1))

    def test_seeds_of_another_type(self):
        data = typed_dataset(self.top / "typed", "--reverse")
        cluster = self.cluster(["0", "1"], data=runs.partitioned(
            data, 2, "random"))
        settings = {"fanouts": [3, 2, 2], "batch_size": 7,
                    "seeds": ("author", range(30))}
        with graphmill.Loader(data, **{**SETTINGS, **settings}) as whole, self.feed(
                cluster, data=cluster.data, **settings) as loader:
            self.assertEqual(digests(loader), digests(whole))

    def test_times_of_seeds_of_another_type(self):
        """Those of the dataset's target have none."""
        data = self.top / "timed-authors"
        source = self.top / "timed-authors-source"
        source.mkdir()
        rng = np.random.default_rng(5)
        (source / "meta.json").write_text(json.dumps({
            "name": "typed", "node_types": {
                "author": {"num_nodes": 30},
                "paper": {"num_nodes": 80, "num_classes": 3}}}))
        save(source, **{
            "paper.labels": rng.integers(0, 3, 80), "paper.train_idx": np.arange(80),
            "author.time": rng.integers(50, 90, 30),
            "paper__by__author.edges": np.stack(
                [rng.integers(0, 80, 300), rng.integers(0, 30, 300)]),
            "paper__by__author.edge_time": rng.integers(0, 100, 300)})
        imported("npy", source, "--edge-time", "--node-time", "--time-unit", "step",
                 "--out", data)
        cluster = self.cluster(["0", "1"], data=runs.partitioned(
            data, 2, "random"))
        settings = {**SETTINGS, "degrees": False, "fanouts": [3], "time": "strict",
                    "disjoint": True}
        ids = ("author", range(30))
        with graphmill.Loader(data, **settings, seeds=ids) as whole, self.feed(
                cluster, data=cluster.data, **settings, seeds=ids) as loader:
            self.assertEqual(digests(loader), digests(whole))
        for source in {"source": data}, {"source": cluster.coordinator,
                                         "data": cluster.data}:
            with self.assertRaisesRegex(graphmill.DefinitionError,
                                        "\"paper\" .* have no times"):
                graphmill.Loader(**source, **settings, seeds=[1, 2]).state_dict()

    def test_weights(self):
        data = weighted(self.data, self.top / "weighted", random_weights)
        cluster = self.cluster(["0", "1"], data=runs.partitioned(
            data, 2, "random"))
        loader = self.feed(cluster, data=cluster.data, edge_weights=True)
        with graphmill.Loader(data, **SETTINGS, edge_weights=True) as whole:
            self.assertEqual(digests(loader, 1), digests(whole, 1))

    def test_links(self):
        data = groups(self.top / "groups", np.random.default_rng(5))
        cluster = self.cluster(["0", "1"], data=runs.partitioned(
            data, 2, "random"))
        for options in ({"negatives": {"mode": "triplet", "count": 2}},
                        {"split": "val", "negatives": 3}):
            found = []
            for source, more in ((data, {}), (cluster.coordinator,
                                              {"data": cluster.data})):
                with graphmill.LinkLoader(
                        source, [4, 3], batch_size=200, as_="numpy", **options,
                        **more) as loader:
                    found.append(digests(loader, 1))
            self.assertGreater(len(found[0]), 0)
            self.assertEqual(*found)

    def test_the_verdict_names_what_limits(self):
        """The loop, if it takes its time; then the stage that is slow."""
        cluster = self.cluster(["0", "1"])
        for wait, overrides, limit, told in (
                (0.05, [], "trainer", "loop"),
                (0, ["faults.fetcher_delay_ms=200"], "fetcher", "fetcher")):
            loader = self.feed(cluster, overrides=overrides)
            over = threading.Event()
            verdicts = []

            def loop():
                while not over.is_set():
                    for _ in loader:
                        if over.wait(wait):
                            break
                verdicts.append(loader.verdict())

            thread = threading.Thread(target=loop)
            thread.start()
            try:
                cluster.wait_until(lambda: cluster.status().get("running"),
                                   "a run of the feed")
                run = cluster.status()["running"]
                cluster.wait_until(
                    lambda: self.limit_of(cluster, run).startswith(limit),
                    f"{limit} as the limit")
            finally:
                over.set()
                thread.join(PATIENCE_SECONDS)
            self.assertEqual([one.limit.split()[0] for one in verdicts], [told])
            loader.close()
            self.await_end(cluster, run)

    @staticmethod
    def limit_of(cluster, run):
        said = cluster.call("status", run).stdout.splitlines()
        return json.loads(said[-1])["verdict"]["limit"] if said else ""

    # -- several

    def test_several_feeds_beside_a_run(self):
        cluster = self.cluster(["0", "1"])
        definition = self.write(runs.merged(
            runs.SMALL, {"train": {"epochs": 2},
                         "faults": {"fetcher_delay_ms": 20}}), self.parts)
        trained = cluster.ask("submit", definition)["run"]
        expected = self.expected()
        found = {}

        def take(number):
            with self.feed(cluster, prefetch=1 + number) as loader:
                found[number] = digests(loader)

        threads = [threading.Thread(target=take, args=(number,))
                   for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        self.assertEqual(found, dict.fromkeys(range(3), expected))
        self.assertEqual(self.await_end(cluster, trained)["state"], "finished")
        # Its trainers were on daemons with slots alone.
        summary = json.loads((cluster.folder / "runs" / trained
                              / "summary.json").read_text())
        self.assertLessEqual(set(summary["daemons"]), {"d0", "d1"})

    def test_one_feed_too_many_waits_for_another(self):
        """It is told what it waits for, and goes on when one of them ends."""
        cluster = self.cluster(["0", "1"])

        def first_of(loader):
            """The digest of its first batch, or why there is none."""
            loader.set_epoch(0)
            try:
                return next(iter(loader)).digest()
            except graphmill.Timeout as told:
                return str(told)
        expected = self.expected(1)[0, 0]
        loaders = [self.feed(cluster, prefetch=1) for _ in range(MOST_FEEDS)]
        self.assertEqual({first_of(loader) for loader in loaders}, {expected})
        late = self.feed(cluster, prefetch=1, timeout=1.0)
        cluster.wait_until(
            lambda: first_of(late).endswith(
                f"is queued: waits: {MOST_FEEDS} feeds are on, as many as may "
                "be"), "word of what the loader waits for")
        status = cluster.status()
        self.assertEqual(1 + len(status["also_running"]), MOST_FEEDS)
        self.assertEqual(len(status["queued"]), 1)
        loaders[3].close()
        cluster.wait_until(lambda: first_of(late) == expected,
                           "batch in the place of another feed")

    # -- losses

    def after_some_steps(self, loader, happens):
        """Digests of an epoch, in which something happens."""
        found = {}
        for batch in loader:
            found[batch.key.epoch, batch.key.step] = batch.digest()
            if len(found) == STEPS:
                happens()
        return found

    def test_an_owner_dies_and_comes_back(self):
        cluster = self.cluster(["0", "1"])
        loader = self.feed(cluster, prefetch=1)
        expected = self.expected(1)

        def lose():
            cluster.daemons[1].kill()
            cluster.add("1", name="d1")

        self.assertEqual(self.after_some_steps(loader, lose), expected)
        self.assertGreater(len(cluster.ask("runs")["runs"]), 1)

    def test_another_owner_takes_over(self):
        cluster = self.cluster(["0,1", "0,1", "0,1"])
        loader = self.feed(cluster, prefetch=1,
                           overrides=["placement.owners=3"])

        def lose():
            # Data that nobody has verified may have been used: the run would end.
            cluster.wait_until(
                lambda: "the data of daemon d2 are sound" in cluster.logs(),
                "verified data")
            cluster.daemons[2].kill()

        self.assertEqual(self.after_some_steps(loader, lose), self.expected(1))
        self.assertEqual(len(cluster.ask("runs")["runs"]), 1)

    def test_an_owner_that_does_not_come_back_is_an_error(self):
        cluster = self.cluster(["0", "1"])
        loader = self.feed(cluster, prefetch=1,
                           overrides=["recovery.wait=1"])
        with self.assertRaisesRegex(graphmill.Unavailable, "recovery.wait"):
            for _ in range(10_000):
                self.after_some_steps(loader, cluster.daemons[1].kill)

    def test_the_coordinator_dies_and_comes_back(self):
        port = free_port()
        cluster = self.cluster([])
        cluster.add("0", listen=f"tcp://127.0.0.1:{port}")
        cluster.add("1")
        cluster.await_daemons(2)
        loader = self.feed(cluster, prefetch=1)

        def lose():
            first = cluster.daemons[0]
            first.kill()
            cluster.daemons[0] = clusters.Daemon(
                cluster.folder, first.name, self.parts, "0",
                listen=f"tcp://127.0.0.1:{port}")

        self.assertEqual(self.after_some_steps(loader, lose),
                         self.expected(1))

    def test_batches_go_on_without_the_coordinator(self):
        """It serves no part. Who watches the loop hears that it is lost, and of its
        return."""
        listen = f"tcp://127.0.0.1:{free_port()}"
        cluster = self.cluster([])
        cluster.add("none", "--slots", "0", listen=listen)
        cluster.add("0")
        cluster.add("1")
        cluster.await_daemons(3)
        loader = self.feed(cluster, prefetch=1)
        found = digests(loader, 1)
        deadline = time.monotonic() + PATIENCE_SECONDS

        def until(told, count):
            while len(told.output) < count:
                self.assertLess(time.monotonic(), deadline, cluster.logs())
                found.update(digests(loader, 1))

        with self.assertLogs("graphmill", "WARNING") as told:
            cluster.daemons[0].kill()
            until(told, 1)
            self.assertIn(f"asking the coordinator at {listen}: ",
                          told.output[0])
            found.update(digests(loader, 1))  # Longer than batches made ahead.
            cluster.daemons[0] = clusters.Daemon(
                cluster.folder, "d0", self.parts, "none", "--slots", "0",
                listen=listen)
            until(told, 2)
        self.assertIn("has stopped waiting", told.output[1])
        found.update(digests(loader, 1))
        self.assertEqual(found, self.expected(loader.epoch))

    def test_a_coordinator_that_does_not_come_back_is_an_error(self):
        """It served a part, so batches end with it."""
        cluster = self.cluster(["0", "1"])
        loader = self.feed(cluster, prefetch=1,
                           overrides=["recovery.wait=3"])
        lost = cluster.coordinator
        with self.assertLogs("graphmill", "WARNING") as told, \
                self.assertRaisesRegex(
                    graphmill.Unavailable,
                    f"asking the coordinator at {lost}: .*recovery.wait"):
            for _ in range(10_000):
                self.after_some_steps(loader, cluster.daemons[0].kill)
        self.assertEqual(len(told.output), 1)
        self.assertIn(f"asking the coordinator at {lost}: ",
                      told.output[0])

    def test_the_consumer_dies(self):
        """By SIGKILL: its run ends, and another consumer goes on."""
        cluster = self.cluster(["0", "1"])
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, cluster.coordinator,
             str(self.parts)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "actors/python")})
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stdin.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), b"there\n")
        run = cluster.status()["running"]
        os.kill(child.pid, signal.SIGKILL)
        self.assertEqual(self.await_end(cluster, run)["state"], "finished")
        cluster.wait_until(lambda: not self.feeds(cluster), "end of the feed")
        loader = self.feed(cluster)
        whole = self.expected(1)
        loader.load_state_dict({**loader.state_dict(), "step": STEPS})
        self.assertEqual(digests(loader, 1), {
            at: digest for at, digest in whole.items() if at[1] >= STEPS})

    def test_the_engine_dies(self):
        cluster = self.cluster(["0", "1"])
        loader = self.feed(cluster)
        next(iter(loader))
        run = cluster.status()["running"]
        os.kill(loader.engine_pid, signal.SIGKILL)
        with self.assertRaisesRegex(graphmill.EngineError, "by signal 9"):
            next(iter(loader))
        self.assertEqual(self.await_end(cluster, run)["state"], "failed")

    # -- what is wrong

    def test_what_is_wrong_is_told(self):
        cluster = self.cluster(["0", "1"])
        with self.assertRaisesRegex(graphmill.Unavailable, "dataset"):
            other = runs.partitioned(self.data, 2, "metis")
            next(iter(self.feed(cluster, data=other)))
        with self.assertRaisesRegex(graphmill.DefinitionError, "999999"):
            self.feed(cluster, seeds=[999999]).state_dict()
        with self.assertRaisesRegex(graphmill.DefinitionError, "cluster"):
            graphmill.open(self.data, key="k")
        with self.assertRaisesRegex(graphmill.Unavailable, "nobody listens"):
            port = free_port()
            loader = graphmill.Loader(f"tcp://127.0.0.1:{port}",
                                      data=self.parts, **SETTINGS)
            self.addCleanup(loader.close)
            next(iter(loader))


class FeedsWithRoles(members.MembersWorkplace):
    def test_the_key_of_a_daemon_has_several_feeds(self):
        cluster = clusters.Cluster(self.folder, self.data, [])
        self.addCleanup(cluster.__exit__)
        cluster.add("0", "--key", self.key("d0"), "--members", self.members)
        cluster.add("1", "--key", self.key("d1"))
        cluster.await_daemons(2)
        with graphmill.Loader(self.data, **SETTINGS) as whole:
            expected = digests(whole, 1)
        loaders = [graphmill.Loader(
            cluster.coordinator, data=self.data, key=self.key("d1"),
            timeout=float(PATIENCE_SECONDS), **SETTINGS) for _ in range(2)]
        for loader in loaders:
            self.addCleanup(loader.close)
        passes = [iter(loader) for loader in loaders]
        found = [dict.fromkeys(expected) for _ in loaders]
        for _ in expected:
            for steps, digest in zip(passes, found):
                batch = next(steps)
                digest[batch.key.epoch, batch.key.step] = batch.digest()
        self.assertEqual(found, [expected, expected])
        names = [name for name in cluster.states() if "/" in name]
        self.assertEqual([name.split("-")[0] for name in names],
                         ["d1/feed", "d1/feed"])
        with self.assertRaisesRegex(graphmill.DefinitionError, "alice"):
            with graphmill.Loader(cluster.coordinator, data=self.data,
                                  key=self.key("alice"), **SETTINGS) as wrong:
                len(wrong)


if __name__ == "__main__":
    unittest.main()

"""What crosses between daemons: float16, and the cache of remote rows."""

import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import ClusterWorkplace
from runs import imported_rmat, merged, partitioned
from support import graphmill, np, program

FEATURES = 12  # Of what the workplace has.
DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 3]},
    "model": {"kind": "sage", "hidden": 16},
    "trainer": {"replicas": 2},
    "train": {"batch_size": 33, "epochs": 2},
    "evaluate": {"batch_size": 40},
}
HALF = {"fetch": {"precision": "float16"}}


def cached(size, **more):
    return {"fetch": {"cache": size, **more}}


def stage(summary, name):
    found = [s for s in summary["stages"] if s["stage"] == name]
    assert len(found) == 1, summary["stages"]
    return found[0]


class CacheTest(ClusterWorkplace):
    def submit(self, cluster, change, name):
        return cluster.run(
            self.write(merged(DEFINITION, change), self.parts, name))

    def test_sizes(self):
        alone = self.train(DEFINITION, self.parts)
        cluster = self.cluster(["0", "1"])
        plain = self.submit(cluster, {}, "-plain")
        self.assertIsNone(plain["cache"])
        wanted = stage(plain, "wire: feature rows")["items"]
        self.assertGreater(wanted, 0)
        for order in ("vip", "degree"):
            for size in ("4 KiB", "1 GiB"):
                with self.subTest(order=order, size=size):
                    summary = self.submit(
                        cluster, cached(size, cache_order=order),
                        f"-{order}-{size[0]}")
                    self.assertEqual(summary["digest"], alone["digest"])
                    self.check_spared(summary, wanted, size)

    def check_spared(self, summary, wanted, size):
        cache = summary["cache"]
        rows = stage(summary, "wire: feature rows")
        self.assertEqual(cache["rows_wanted"], wanted)
        self.assertEqual(cache["rows_found"] + rows["items"], wanted)
        self.assertEqual(cache["bytes_saved"],
                         4 * FEATURES * cache["rows_found"])
        self.assertGreater(cache["filling_bytes"], 0)
        if size == "1 GiB":
            self.assertEqual(rows["bytes"], 0)
            self.assertEqual(cache["hit_rate"], 1)
            self.assertEqual(cache["rows_kept"], 1 << 10)
        else:
            self.assertTrue(0 < cache["hit_rate"] < 1, cache)
            # Of each daemon.
            self.assertEqual(cache["rows_kept"],
                             2 * (4096 // (4 * FEATURES)))

    def test_uneven(self):
        """Daemons with two parts, with two trainers, and without any."""
        quarters = partitioned(self.data, 4, "random")
        cluster = self.cluster(["0-1", "2", "3"], data=quarters)
        for trainers in (1, 3):
            definition = merged(DEFINITION, {"trainer": {"replicas": trainers}},
                                cached("6 KiB"))
            alone = self.train(definition, quarters)
            self.assertIsNone(alone["cache"])
            file = self.write(definition, quarters, f"-{trainers}")
            placed = cluster.ask("plan", file)["daemons"]
            with_trainers = sum(1 for d in placed if d["ranks"])
            summary = cluster.run(file)
            self.assertEqual(summary["digest"], alone["digest"])
            self.assertEqual(summary["cache"]["rows_kept"],
                             with_trainers * (6144 // (4 * FEATURES)))
            self.assertGreater(summary["cache"]["rows_found"], 0)

    def test_float16(self):
        exact = self.train(DEFINITION, self.parts)
        alone = self.train(merged(DEFINITION, HALF), self.parts)
        self.assertNotEqual(alone["digest"], exact["digest"])
        self.assertAlmostEqual(alone["test_accuracy"], exact["test_accuracy"],
                               delta=0.05)
        cluster = self.cluster(["0", "1"])
        plain = self.submit(cluster, HALF, "-plain")
        self.assertEqual(plain["digest"], alone["digest"])
        rows = stage(plain, "wire: feature rows")
        self.assertEqual(rows["bytes"], 2 * FEATURES * rows["items"])
        spared = self.submit(cluster, merged(HALF, cached("8 KiB")), "-cache")
        self.assertEqual(spared["digest"], alone["digest"])
        self.assertEqual(spared["cache"]["bytes_saved"],
                         2 * FEATURES * spared["cache"]["rows_found"])
        # They are kept as they travel: twice as many.
        self.assertEqual(spared["cache"]["rows_kept"],
                         2 * (8192 // (2 * FEATURES)))

    def test_beyond_float16(self):
        data = self.top / "far"
        imported_rmat(data, scale=6, edges=300, features=2, classes=2, seed=1)
        file = data / "nodes" / "node" / "features.npy"
        features = np.load(file)
        features[17, 1] = -70000
        np.save(file, features)
        file = self.write(merged(DEFINITION, HALF), data)
        done = graphmill("train", file, "--data", data, "--runs", self.runs,
                         "--no-verify")
        self.assertEqual(done.returncode, 1)
        self.assertIn("node 17", done.stderr)
        self.assertIn("fetch.precision", done.stderr)

    def check_killed_while_filling(self, trainers):
        """Rows take seconds to come, if the one who has them lives."""
        cluster = self.cluster(["0", "1"])
        slow = merged(DEFINITION, cached("64 KiB"),
                      {"trainer": {"replicas": trainers},
                       "faults": {"reply_delay_ms": 10000},
                       "recovery": {"wait": 0}})
        run = cluster.ask("submit",
                          self.write(slow, self.parts, "-slow"))["run"]
        cluster.wait_until(
            lambda: "cache of remote rows: fetching"
            in cluster.daemons[0].log.read_text(), "filling of a cache")
        cluster.daemons[1].kill()
        self.assertIn("d1", cluster.await_state(run, "failed")["message"])
        self.assertNotIn("filled with", cluster.daemons[0].log.read_text())
        cluster.add("1", name="d1")
        cluster.await_daemons(2)
        summary = self.submit(cluster, cached("64 KiB"), "-next")
        self.assertGreater(summary["cache"]["rows_found"], 0)

    def test_data_daemon_killed_while_filling(self):
        self.check_killed_while_filling(1)

    def test_trainer_killed_while_filling(self):
        self.check_killed_while_filling(2)

    def test_plan_counts(self):
        """What `plan --cache` counts is what a run asks for, row by row."""
        data = self.top / "training-only"
        imported_rmat(data, scale=9, edges=3000, features=FEATURES, classes=4,
                      seed=3, train=0.4, validation=0, test=0)
        parts = partitioned(data, 2, "random")
        definition = merged(DEFINITION, {"train": {"epochs": 1}})
        cluster = self.cluster(["0", "1"], data=parts)
        self.check_plan(cluster, parts, definition)
        self.check_plan(cluster, parts, merged(definition, HALF))

    def check_plan(self, cluster, parts, definition):
        file = self.write(merged(definition, cached("64 KiB")), parts)
        plan = self.ask("plan", file, "--data", parts, "--cache")
        self.assertGreater(plan["memory"]["cache of remote rows"], 0)
        sizes = plan["cache"]["sizes"]
        for smaller, larger in zip(sizes, sizes[1:]):
            for order in ("vip_rows", "degree_rows", "least_rows"):
                self.assertLessEqual(larger[order], smaller[order])
        self.assertEqual(sizes[0]["vip_rows"], sizes[0]["degree_rows"])
        self.assertEqual(sizes[-1]["least_rows"], 0)
        for size in (sizes[0], sizes[3]):
            for order in ("vip", "degree"):
                summary = cluster.run(self.write(
                    merged(definition,
                           cached(size["bytes"], cache_order=order)),
                    parts, f"-{size['bytes']}-{order}"))
                self.assertEqual(stage(summary, "wire: feature rows")["items"],
                                 size[f"{order}_rows"])


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

"""A daemon outlives whatever a run needs and cannot get."""

import pathlib
import shutil
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from runs import SMALL, merged, partitioned, small_rmat
from support import np, program, within_obstacles

TWO = merged(SMALL, {"trainer": {"replicas": 2, "threads": 2},
                      "recovery": {"wait": 0}})


class FailedPreparation(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")

    def start(self, parts, within=(), *more):
        """Two daemons, the second of which will lack something."""
        self.cluster = Cluster(self.top / "cluster", parts, ["0"], *more)
        self.addCleanup(self.cluster.__exit__)
        self.cluster.add("1", within=within)
        self.cluster.await_daemons(2)

    def failed(self, file, name):
        """Submits a run that cannot begin; returns what is said of it."""
        run = self.cluster.ask("submit", file)["run"]

        def now():
            return self.cluster.ask("runs", run)["runs"][0]
        self.cluster.wait_until(
            lambda: now()["state"] not in ("queued", "running"),
            f"end of a run without {name}")
        said = now()["message"]
        print(f"  {name}: {said}")
        self.assertEqual(now()["state"], "failed")
        self.assertNotIn("lost", said)
        for daemon in self.cluster.daemons:
            self.assertIsNone(daemon.process.poll(), self.cluster.logs())
        return said

    def check_threads(self, *more):
        """However many threads may still be started."""
        limit = self.top / "threads"
        self.start(self.parts, within_obstacles(REFUSED_THREADS=limit), *more)
        file = self.write(TWO, self.parts)
        for most in range(3):
            limit.write_text(f"{most}")
            said = self.failed(file, f"more than {most} threads")
            limit.unlink()
            self.assertIn("Resource temporarily unavailable", said)
        self.assertEqual(self.cluster.run(file)["digest"],
                         self.train(TWO, self.parts)["digest"])

    def test_without_threads_in_memory(self):
        self.check_threads("--storage", "memory")

    def test_without_threads_from_disk(self):
        self.check_threads("--storage", "disk")

    def check_file(self, harm):
        """The daemon has found the file as it should be."""
        parts = self.top / self.own_name
        shutil.copytree(self.parts, parts)
        self.start(parts)
        definition = self.write(TWO, parts)
        self.cluster.run(definition)
        file = next(parts.glob("part-1/**/indices.npy"))
        harm(file)
        said = self.cluster.refused("submit", definition, "--watch", "--quiet")
        print(f"  {said.strip()}")
        self.assertIn(file.name, said)
        for daemon in self.cluster.daemons:
            self.assertIsNone(daemon.process.poll(), self.cluster.logs())

    def test_without_a_file(self):
        self.check_file(lambda file: file.unlink())

    def test_with_an_empty_file(self):
        self.check_file(lambda file: file.write_bytes(b""))

    def test_with_an_array_of_another_shape(self):
        self.check_file(lambda file: np.save(file, np.load(file)[:-1]))


if __name__ == "__main__":
    program()
    unittest.main()

"""A daemon outlives whatever a run needs and cannot get."""

import unittest

import runs
from clusters import Cluster
from runs import SMALL, merged, partitioned, small_rmat
from support import program


class FailedPreparation(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")

    def setUp(self):
        self.cluster = Cluster(self.top / "cluster", self.parts, ["0", "1"])
        self.addCleanup(self.cluster.__exit__)

    def check_alive(self):
        self.assertEqual(len(self.cluster.states()), 2)
        for daemon in self.cluster.daemons:
            self.assertIsNone(daemon.process.poll(), self.cluster.logs())

    def failed(self, change, name):
        """Submits a run that cannot begin; returns what is said of it."""
        file = self.write(merged(SMALL, {"trainer": {"replicas": 2}}, change),
                          self.parts, name)
        said = self.cluster.refused("submit", file, "--watch", "--quiet")
        print(f"  {name}: {said.strip()}")
        self.check_alive()
        self.assertNotIn("lost", said)
        return said

    def test_runs_that_cannot_begin(self):
        said = self.failed({"model": {"kind": "gat", "heads": 9, "hidden": 2}},
                           "heads")
        self.assertIn("heads", said)
        said = self.failed({"trainer": {"replicas": 2, "device": "cuda:0"}},
                           "device")
        self.assertIn("cuda", said)
        file = self.write(SMALL, self.parts)
        alone = self.train(SMALL, self.parts)
        self.assertEqual(self.cluster.run(file)["digest"], alone["digest"])
        # Noticed before the run is taken, or while it is prepared.
        missing = next(self.parts.glob("part-1/**/indices.npy"))
        missing.unlink()
        self.assertIn(missing.name, self.failed({}, "file"))


if __name__ == "__main__":
    program()
    unittest.main()

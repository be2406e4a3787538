"""Parts that two daemons serve: one of the two may die."""

import json
import os
import pathlib
import re
import signal
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from runs import SMALL, merged, partitioned, small_rmat
from support import program

EPOCHS = 16

# d0 and d1 train, d2 and d3 serve the data, and do nothing else.
SHARES = ["none", "none", "0-1", "0-1"]
TRAINED = merged(SMALL, {"trainer": {"replicas": 2},
                         "train": {"epochs": EPOCHS},
                         "placement": {"trainers": ["d0", "d1"],
                                      "owners": 2}})


class ReplicaTest(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")

    def setUp(self):
        self.cluster = Cluster(self.top / self.own_name, self.parts, SHARES)
        self.addCleanup(self.cluster.__exit__)

    def begin(self, *changes):
        """Submits a run of which each step takes a moment; returns its id once
        it is in the middle of an epoch."""
        slow = merged(TRAINED, {"faults": {"trainer_delay_ms": 150}}, *changes)
        run = self.cluster.ask("submit",
                               self.write(slow, self.parts, "-slow"))["run"]
        metrics = self.cluster.folder / "runs" / run / "metrics.jsonl"
        self.cluster.wait_until(
            lambda: metrics.exists() and metrics.read_text().count("\n") > 1,
            "end of a phase")
        # A run can spare nobody whose data may be damaged.
        for daemon in ("d2", "d3"):
            self.cluster.wait_until(
                lambda: f"run {run}: the data of daemon {daemon} are sound"
                in self.cluster.daemons[0].log.read_text(),
                "verified data")
        return run

    def check_finished(self, run):
        """It has the weights of a run that nothing happened to, and is the run
        that began."""
        record = self.cluster.await_state(run, "finished")
        folder = self.cluster.folder / "runs" / run
        summary = json.loads((folder / "summary.json").read_text())
        alone = self.train(TRAINED, self.parts)
        self.assertEqual(summary["digest"], alone["digest"])
        self.assertEqual(summary["steps"], alone["steps"])
        epochs = [json.loads(line)["epoch"] for line in
                  (folder / "metrics.jsonl").read_text().splitlines()
                  if '"train"' in line]
        self.assertEqual(epochs, list(range(1, EPOCHS + 1)))
        return record

    def test_both_are_shown_and_asked(self):
        file = self.write(TRAINED, self.parts)
        plan = {one["name"]: one
                for one in self.cluster.ask("plan", file)["daemons"]}
        self.assertEqual([(plan[d]["parts"], plan[d]["replicas"])
                          for d in ("d2", "d3")], [([0], [1]), ([1], [0])])
        self.assertEqual(
            self.cluster.status()["owners"],
            [{"part": part, "daemons": ["d2", "d3"]} for part in (0, 1)])
        done = self.cluster.run(file)["daemons"]
        for daemon in ("d2", "d3"):
            items = {stage["stage"]: stage["items"]
                     for stage in done[daemon]["stages"]}
            self.assertGreater(items["sampling service"], 0)
            self.assertGreater(items["feature service"], 0)

    def test_one_is_killed(self):
        run = self.begin()
        self.cluster.daemons[2].kill()
        record = self.check_finished(run)
        self.assertIn('went on without daemon "d2"', record["message"])
        self.assertEqual(record.get("attempt", 1), 1)
        self.assertEqual(len(self.cluster.ask("runs")["runs"]), 1)
        # Those who asked it have noticed for themselves.
        log = "".join(daemon.log.read_text()
                      for daemon in self.cluster.daemons[:2])
        self.assertIn("daemon d2 does not answer; other owners", log)

    def test_one_is_stopped(self):
        """The other one is asked, and it is used again later."""
        run = self.begin()
        stopped = self.cluster.daemons[2].process.pid
        os.kill(stopped, signal.SIGSTOP)
        try:
            self.cluster.wait_until(
                lambda: any("daemon d2 does not answer; other owners"
                            in daemon.log.read_text()
                            for daemon in self.cluster.daemons[:2]),
                "other owner that is asked")
        finally:
            os.kill(stopped, signal.SIGCONT)
        self.check_finished(run)

    def test_one_is_killed_while_values_are_checked(self):
        run = self.begin({"fetch": {"verify": 0.5, "cache": 20000}})
        self.cluster.daemons[3].kill()
        record = self.check_finished(run)
        self.assertIn('went on without daemon "d3"', record["message"])

    def test_one_is_started_anew(self):
        run = self.begin()
        address = self.cluster.daemons[2].address()
        self.cluster.daemons[2].kill()
        self.cluster.add("0-1", name="d2", listen=address)
        self.check_finished(run)
        # It has no share of that run, and one of the next.
        self.cluster.await_daemons(4)
        again = self.cluster.run(self.write(TRAINED, self.parts))
        self.assertIn("d2", again["daemons"])

    def test_one_leaves(self):
        run = self.begin()
        self.assertEqual(self.cluster.daemons[2].stop(), 0)
        record = self.check_finished(run)
        self.assertIn('daemon "d2" has left the cluster', record["message"])

    def test_both_are_killed(self):
        """The run does not go on as if nothing had happened, and says why."""
        run = self.begin({"train": {"epochs": 100000}})
        self.cluster.daemons[2].kill()
        self.cluster.wait_until(
            lambda: "went on without" in self.cluster.record(run)["message"],
            "run without d2")
        self.cluster.daemons[3].kill()

        def says_why():
            record = self.cluster.record(run)
            return (record["state"] != "running"
                    and re.search(r"d3|part", record["message"]))
        self.cluster.wait_until(says_why, "reason")
        self.assertNotEqual(self.cluster.record(run)["state"], "finished")


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

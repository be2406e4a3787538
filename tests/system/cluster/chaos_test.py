"""Ten plans of chaos.py, all within one limit: daemons are killed at moments of
runs, and the runs go on. Also what `graphmill chaos` refuses."""

import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[0] / "support"))
sys.path.insert(0, str(HERE.parents[0]))
import chaos
import runs
from clusters import Cluster
from runs import SMALL, merged
from support import program

# Of all ten plans, whatever comes.
LIMIT_SECONDS = 180
ONE_RUN_SECONDS = 60

# Every kind that needs one cluster alone, every moment.
PLANS = [
    ("owner", "start_up"), ("trainer", "filling_caches"),
    ("sampler", "mid_epoch"), ("trainer", "mid_epoch"),
    ("coordinator", "mid_epoch"), ("trainer", "exchange"),
    ("coordinator", "checkpoint"), ("owner", "epoch_edge"),
    ("trainer", "evaluation"), ("coordinator", "drain"),
]


class Chaos(runs.Workplace):
    def test_runs_go_on(self):
        """None is lost, none hangs."""
        began = time.monotonic()
        plans = [chaos.Plan(kind, moment, 0.1) for kind, moment in PLANS]
        results = chaos.carry_out_all(plans, self.top, ONE_RUN_SECONDS,
                                      lambda one: print(" ", one, flush=True))
        print(chaos.table_of(results))
        self.assertEqual([one for one in results if not one["passed"]], [])
        self.assertEqual(len(results), len(PLANS))
        # The moments that always come did: somebody was killed there.
        came = [one["moment"] for one in results if one.get("came")]
        for moment in ("start_up", "mid_epoch", "exchange", "checkpoint"):
            self.assertIn(moment, came)
        self.assertLess(time.monotonic() - began, LIMIT_SECONDS)


class Refused(runs.Workplace):
    def test_a_cluster_that_does_not_allow_it(self):
        data = chaos.make_data(self.top)
        with Cluster(self.top / "cluster", data, ["0-1"]) as cluster:
            said = cluster.refused("chaos", "--seed", "1", "--during", "x")
            self.assertIn("d0 was started without --chaos-allowed", said)
            said = cluster.refused("chaos", "--daemon", "d0", "--kinds",
                                   "kill")
            self.assertIn("does not let itself be harmed", said)
            self.assertFalse(cluster.status()["daemons"][0]["chaos"])
            self.assertIsNone(cluster.daemons[0].process.poll())

    def test_a_cluster_that_does(self):
        """What is harmless enough for one process changes no digest."""
        data = chaos.make_data(self.top)
        definition = self.write(
            merged(SMALL, {"train": {"epochs": 30}}), data)
        with Cluster(self.top / "cluster", data, ["0", "1"],
                     "--chaos-allowed") as cluster:
            calm = cluster.run(definition)["digest"]
            run = cluster.ask("submit", definition)["run"]
            done = cluster.ask("chaos", "--seed", "3", "--during", run,
                               "--kinds", "delay,cut,corrupt", "--every",
                               "0.3")
            self.assertEqual(done["state"], "finished", done)
            record = cluster.ask("runs", run)["runs"][0]
            self.assertEqual(record["summary"]["digest"], calm)
            asked = [one for one in done["faults"]
                     if one["outcome"] == "asked"]
            audit = cluster.folder / "runs" / "audit.jsonl"
            cluster.wait_until(
                lambda: audit.read_text().count('"what":"chaos"')
                == len(asked), "line for each fault")


if __name__ == "__main__":
    program()
    unittest.main()

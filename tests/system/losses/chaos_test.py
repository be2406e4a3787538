"""Ten plans of chaos.py: daemons are killed at moments of
runs, and the runs go on. Also what `graphmill chaos` refuses."""

import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[0] / "support"))
sys.path.insert(0, str(HERE.parents[0]))
import chaos
import runs
from clusters import Cluster
from runs import SMALL, merged
from support import program

# Small runs, of seconds each on an idle machine.
ONE_RUN_SECONDS = 150

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
        """None is lost, none hangs, and all weights are those of a run in
        peace."""
        plans = [chaos.Plan(kind, moment, 0.1) for kind, moment in PLANS]
        results = chaos.carry_out_all(plans, self.top, ONE_RUN_SECONDS,
                                      lambda one: print(" ", one, flush=True),
                                      again=True)
        print(chaos.table_of(results))
        self.assertEqual(len(results), len(PLANS))
        self.assertTrue(chaos.all_is_well(results), results)
        # The moments that always come did: somebody was killed there.
        passed = [one for one in results if one["outcome"] == chaos.PASSED]
        self.assertLessEqual(
            {"start_up", "mid_epoch", "exchange", "checkpoint"},
            {one["moment"] for one in passed})
        self.assertEqual({one["kind"] for one in passed},
                         {kind for kind, _ in PLANS})


class Table(unittest.TestCase):
    """Plans whose moment did not come have neither passed nor failed."""

    def results(self, *outcomes):
        return [{"kind": "trainer", "moment": "drain", "outcome": outcome}
                for outcome in outcomes]

    def test_what_is_well(self):
        done = (chaos.PASSED,) * 4
        for last, well in ((chaos.PASSED, True), (chaos.NOT_REACHED, True),
                           (chaos.FAILED, False)):
            self.assertEqual(chaos.all_is_well(self.results(*done, last)),
                             well)
        self.assertFalse(chaos.all_is_well(
            self.results(*done, *[chaos.NOT_REACHED] * 2)))

    def test_cells(self):
        self.assertEqual(chaos.cell_of([]), "-")
        missed = self.results(chaos.NOT_REACHED)
        self.assertEqual(chaos.cell_of(missed), "not reached")
        some = self.results(chaos.PASSED, chaos.FAILED, chaos.NOT_REACHED,
                            chaos.NOT_REACHED)
        some[0]["seconds"] = 1.5
        some[1]["seconds"] = 0.5
        self.assertEqual(chaos.cell_of(some), "1/2 1.5, 2 not reached")
        self.assertIn("not reached", chaos.table_of(missed))


    def test_late(self):
        """The witness stands still for 0.6 s, and the dead one is started again
        after 0.2 s."""
        some = [{"kind": kind, "moment": moment, "seconds": seconds}
                for kind, moment, seconds in (
                    ("owner, replica", "mid_epoch", 1.7),
                    ("owner, replica", "mid_epoch", 1.9),
                    ("trainer", "start_up", 20), ("trainer", "exchange", 3.7),
                    ("owner", "mid_epoch", 20))]
        some.append({"kind": "trainer", "moment": "mid_epoch"})
        self.assertEqual(
            chaos.late(some),
            ["late: owner, replica at mid_epoch: 1.9 s, where 1 s and 0.8 s "
             "are allowed"])


class Refused(runs.Workplace):
    def test_a_cluster_that_does_not_allow_it(self):
        data = chaos.make_data(self.top)
        with Cluster(self.top / "cluster", data, ["0-1"]) as cluster:
            said = cluster.refused("chaos", "--seed", "1", "--during", "x")
            self.assertIn("d0 was started without --chaos-allowed", said)
            said = cluster.refused("chaos", "--daemon", "d0", "--kinds",
                                   "kill")
            self.assertIn("does not allow chaos", said)
            self.assertFalse(cluster.status()["daemons"][0]["chaos"])
            self.assertIsNone(cluster.daemons[0].process.poll())

    def test_a_moment_that_never_comes(self):
        """The one trainer is at the first daemon, which leads."""
        data = chaos.make_data(self.top)
        definition = self.write(
            merged(SMALL, {"train": {"epochs": 100000},
                           "placement": {"trainers": ["d0"]}}), data)
        with Cluster(self.top / "moments", data, ["0", "1"],
                     "--chaos-allowed") as cluster:
            run = cluster.ask("submit", definition)["run"]
            cluster.wait_until(
                lambda: cluster.ask("runs", run)["runs"][0]["state"]
                == "running", "run that is on")

            def stop(daemon, at):
                return ("chaos", "--daemon", daemon, "--kinds", "stop",
                        "--lasts", "1", "--at", at)
            for moment in ("checkpoint", "exchange"):
                self.assertIn(f"never comes to the moment `{moment}`",
                              cluster.refused(*stop("d1", moment)))
            # It trains, but with nobody else.
            self.assertIn("no other one to exchange with",
                          cluster.refused(*stop("d0", "exchange")))
            cluster.ask(*stop("d1", "mid_epoch"))
            cluster.ask(*stop("d0", "checkpoint"))
            cluster.wait_until(
                lambda: "chaos: stop d0" in cluster.daemons[0].log.read_text(),
                "checkpoint")

    def test_a_cluster_that_does(self):
        """What is harmless enough for one process changes no digest."""
        data = chaos.make_data(self.top)
        definition = merged(SMALL, {"train": {"epochs": 30}})
        # So that it is on still when a fault comes.
        slow = merged(definition, {"faults": {"trainer_delay_ms": 50}})
        with Cluster(self.top / "cluster", data, ["0", "1"],
                     "--chaos-allowed") as cluster:
            calm = cluster.run(self.write(definition, data))["digest"]
            run = cluster.ask("submit", self.write(slow, data, "-slow"))["run"]
            done = cluster.ask("chaos", "--seed", "3", "--during", run,
                               "--kinds", "delay,cut,corrupt", "--every",
                               "0.3")
            self.assertEqual(done["state"], "finished", done)
            record = cluster.ask("runs", run)["runs"][0]
            self.assertEqual(record["summary"]["digest"], calm)
            asked = [one for one in done["faults"]
                     if one["outcome"] == "asked"]
            self.assertTrue(asked, done)
            audit = cluster.folder / "runs" / "audit.jsonl"

            def noted():
                lines = map(json.loads, audit.read_text().splitlines())
                return [line for line in lines if line["what"] == "chaos"
                        and line["result"] == "ok"]
            # An answer that an earlier fault has damaged is none: such a fault
            # was not asked for with success, and its line says so, too.
            cluster.wait_until(lambda: len(noted()) == len(asked),
                               "line for each fault")


if __name__ == "__main__":
    program()
    unittest.main()

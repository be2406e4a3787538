"""What `graphmill status RUN` tells of a run whose services answer late, and of
one that has ended; and what the summary of a short run says of its limit."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from runs import SMALL, merged, partitioned, small_rmat
from support import graphmill, program

LATE = merged(SMALL, {"train": {"epochs": 100000}, "checkpoint": {"keep": 0},
                      "faults": {"reply_delay_ms": 80}})
# What must go between two daemons of which each has a part and a trainer.
FLOWS = ["requests", "mean_round_trip", "sent_per_second",
         "received_per_second", "asked_per_second", "served_per_second",
         "gradients_sent_per_second", "gradients_received_per_second", "in_state"]


class Health(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")

    def health(self, cluster, run):
        """What is known; nothing as long as nothing is."""
        done = cluster.call("status", run)
        if done.returncode != 0:
            return {"daemons": [], "verdict": {"limit": ""}}
        return {"daemons": [], "verdict": {"limit": ""},
                **json.loads(done.stdout.splitlines()[-1])}

    def test_late_replies(self):
        with Cluster(self.top / "late", self.parts, ["0", "1"]) as cluster:
            run = cluster.ask("submit", self.write(LATE, self.parts))["run"]
            cluster.wait_until(
                lambda: "service" in
                self.health(cluster, run)["verdict"]["limit"],
                "verdict that blames a service")

            def both_tell():
                seen.append(self.health(cluster, run))
                return len(seen[-1]["daemons"]) == 2 and not seen[-1]["silent"]
            seen = []
            cluster.wait_until(both_tell, "health of both daemons")
            now = seen[-1]
            print(f"  {now['verdict']['sentence']}")
            kinds = {actor["kind"] for daemon in now["daemons"]
                     for actor in daemon["actors"]}
            self.assertLessEqual({"sampling service", "sampler", "fetcher",
                                  "batcher", "trainer", "dispatcher",
                                  "sampling proxy", "feature proxy",
                                  "conductor"}, kinds)
            self.assertEqual(now["progress"]["epochs"], 100000)
            for daemon in now["daemons"]:
                self.assertGreater(daemon["memory_bytes"], 0)
                self.assertGreater(daemon["descriptors"], 0)
            cluster.ask("cancel", run)
            cluster.wait_until(
                lambda: cluster.ask("runs", run)["runs"][0]["state"]
                == "cancelled", "run that is cancelled")
            self.assertEqual(cluster.ask("status", run)["state"], "cancelled")

    def test_a_job_that_sleeps(self):
        """It is seen at once, with the batch that it is at and since when."""
        definition = merged(SMALL, {
            "train": {"epochs": 100000}, "checkpoint": {"keep": 0},
            "placement": {"trainers": ["d0"], "samplers": ["d0"]},
            "faults": {"sampler_delay_ms": 10000, "daemons": ["d0"]}})
        with Cluster(self.top / "sleeps", self.parts, ["0", "1"]) as cluster:
            run = cluster.ask("submit",
                              self.write(definition, self.parts))["run"]

            def sleepers():
                return [actor for daemon in self.health(cluster, run)["daemons"]
                        for actor in daemon["actors"]
                        if actor["kind"] == "sampler"
                        and actor["state"] == "running"
                        and actor["in_state"] > 2]
            seen = []
            cluster.wait_until(lambda: seen.extend(sleepers()) or seen,
                               "sampler that sleeps")
            self.assertEqual(seen[0]["batch"]["phase"], "train")
            self.assertEqual(seen[0]["batch"]["epoch"], 0)
            lines = graphmill("status", run, "--cluster", cluster.coordinator)
            self.assertRegex(lines.stdout, r"sampler +\d+ .* running\n")
            self.assertRegex(lines.stdout, r"trainer +\d+ .* starved\n")
            self.assertLessEqual(len(lines.stdout.splitlines()), 40)
            lines = graphmill("status", run, "--actors", "--cluster",
                              cluster.coordinator)
            self.assertRegex(lines.stdout, r"sampler +running +\d+ s .* "
                                           r"train 1/\d+")
            self.assertRegex(lines.stdout, r"trainer 0 +starved ")
            cluster.ask("cancel", run)

    def test_workers_that_die(self):
        """They are among the events of the run, and those of one daemon are
        shown alone."""
        definition = merged(SMALL, {
            "train": {"epochs": 100000}, "checkpoint": {"keep": 0},
            "faults": {"crash_every": 50, "daemons": ["d1"]}})
        with Cluster(self.top / "die", self.parts, ["0", "1"]) as cluster:
            run = cluster.ask("submit",
                              self.write(definition, self.parts))["run"]

            def warned():
                lines = cluster.call("events", run).stdout.splitlines()
                return [event for event in map(json.loads, lines)
                        if "replaced so far" in event["text"]]
            cluster.wait_until(warned, "event of workers that died")
            for event in warned():
                self.assertEqual((event["kind"], event["who"], event["run"]),
                                 ("trouble", "d1", run))
                self.assertIn("faults.crash_every", event["text"])
            told = json.loads(cluster.call("status", run, "--daemon", "d0")
                              .stdout.splitlines()[-1])
            self.assertEqual([daemon["daemon"] for daemon in told["daemons"]],
                             ["d0"])
            self.assertIn('daemon \\"nobody\\" has reported nothing about run',
                          cluster.call("status", run, "--daemon", "nobody")
                          .stdout)
            cluster.ask("cancel", run)

    def test_what_goes_between_daemons(self):
        definition = merged(LATE, {"trainer": {"replicas": 2},
                                   "placement": {"trainers": ["d0", "d1"]}})
        with Cluster(self.top / "between", self.parts, ["0", "1"],
                     "--storage", "disk", "--disk-cache", "1MiB") as cluster:
            run = cluster.ask("submit",
                              self.write(definition, self.parts))["run"]

            def both_tell():
                seen.append(self.health(cluster, run)["daemons"])
                peers = {daemon["daemon"]: daemon["peers"]
                         for daemon in seen[-1]}
                return ({name: [peer["name"] for peer in told]
                         for name, told in peers.items()}
                        == {"d0": ["d1"], "d1": ["d0"]}
                        and all(told[0][what] > 0 for told in peers.values()
                                for what in FLOWS)
                        # Rows come again in each epoch, and there is no cache.
                        and all(daemon["cache_offer_spared"] > 0
                                for daemon in seen[-1]))
            seen = []
            cluster.wait_until(both_tell, "flows both ways")
            for daemon in seen[-1]:
                peer = daemon["peers"][0]
                self.assertEqual((peer["state"], peer["why"]), ("running", ""))
                for way in ("sent", "received"):
                    self.assertGreater(peer[f"{way}_per_second"],
                                       peer[f"gradients_{way}_per_second"])
                # Its own rows come from disk.
                self.assertEqual(daemon["most_disk_cache_bytes"], 1 << 20)
                self.assertGreater(daemon["disk_cache_bytes"], 0)
                self.assertLessEqual(daemon["disk_cache_bytes"], 1 << 20)
                self.assertGreater(daemon["disk_rows_wanted"],
                                   daemon["disk_rows_found"])
                self.assertGreater(daemon["mapped_bytes"], 0)
                # All rows together have less than that.
                self.assertEqual(daemon["cache_offer_bytes"], 1 << 20)
            cluster.ask("cancel", run)

    def test_a_run_that_is_over_before_a_report_is_due(self):
        with Cluster(self.top / "short", self.parts, ["0", "1"]) as cluster:
            for seed in range(3):
                definition = merged(SMALL, {"seed": seed,
                                            "trainer": {"replicas": 2}})
                summary = cluster.run(self.write(definition, self.parts))
                self.assertGreater(summary["steps"], 0)
                self.assertNotEqual(summary["verdict"],
                                    "no batch has been trained yet")


if __name__ == "__main__":
    program()
    unittest.main()

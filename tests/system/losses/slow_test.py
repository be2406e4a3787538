"""Slow is not dead: a daemon that is stopped for ten seconds loses nothing."""

import json
import os
import pathlib
import signal
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import ClusterWorkplace
from runs import SMALL, merged
from support import program

STOPPED_SECONDS = 10

# Some 4 steps in an epoch, each of which takes a while.
LASTS = merged(SMALL, {"train": {"epochs": 20}, "trainer": {"replicas": 2}})


class Slow(ClusterWorkplace):
    def check_stopped(self, which, seconds=STOPPED_SECONDS):
        """The run pauses, goes on, and ends with the weights of any other."""
        alone = self.train(LASTS, self.parts)
        slowed = merged(LASTS, {"faults": {"trainer_delay_ms": 150}})
        cluster = self.cluster(["0", "1"])
        run = cluster.ask("submit", self.write(slowed, self.parts))["run"]
        folder = cluster.folder / "runs" / run
        metrics = folder / "metrics.jsonl"
        cluster.wait_until(
            lambda: metrics.exists() and metrics.read_text().count("\n") > 1,
            "end of a phase")
        stopped = [cluster.daemons[each].process.pid for each in which]
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        for each in which:
            self.addCleanup(cluster.daemons[each].end)
        before = metrics.read_text()
        self.assertFalse((folder / "summary.json").exists(), "too short")
        end = time.monotonic() + seconds
        if 0 not in which:
            time.sleep(seconds / 2)
            status = cluster.call("status")
            self.assertEqual(status.returncode, 3)
            notes = {one["name"]: one["note"] for one
                     in json.loads(status.stdout.splitlines()[-1])["daemons"]}
            for each in which:
                self.assertRegex(notes[f"d{each}"],
                                 "leaves signs of life unanswered for")
        time.sleep(max(0, end - time.monotonic()))
        self.assertLess(metrics.read_text().count("\n") - before.count("\n"),
                        3, "it was not needed")
        for process in stopped:
            os.kill(process, signal.SIGCONT)
        cluster.wait_until(
            lambda: cluster.ask("runs", run)["runs"][0]["state"]
            not in ("queued", "running"), "end of the run")
        record = cluster.ask("runs", run)["runs"][0]
        self.assertEqual(record["state"], "finished", cluster.logs())
        summary = json.loads((folder / "summary.json").read_text())
        self.assertEqual(summary["digest"], alone["digest"])
        self.assertNotIn("is lost", cluster.logs())

    def test_coordinator_of_a_run_that_waits(self):
        """For a daemon that is lost: it does not give up when it wakes."""
        definition = merged(LASTS, {"faults": {"trainer_delay_ms": 50},
                                    "recovery": {"wait": STOPPED_SECONDS - 2}})
        cluster = self.cluster(["0", "1"])
        run = cluster.ask("submit", self.write(definition, self.parts))["run"]
        folder = cluster.folder / "runs" / run
        cluster.wait_until(lambda: list((folder / "checkpoints").glob("*-*")),
                           "checkpoint")
        cluster.daemons[1].kill()
        cluster.wait_until(
            lambda: cluster.ask("runs", run)["runs"][0]["state"] == "queued",
            "run that waits")
        coordinator = cluster.daemons[0]
        os.kill(coordinator.process.pid, signal.SIGSTOP)
        self.addCleanup(coordinator.end)
        cluster.add("1", name="d1")  # Which it hears of when it wakes.
        time.sleep(STOPPED_SECONDS)
        os.kill(coordinator.process.pid, signal.SIGCONT)
        cluster.wait_until(
            lambda: cluster.ask("runs", run)["runs"][0]["state"]
            not in ("queued", "running"), "end of the run")
        record = cluster.ask("runs", run)["runs"][0]
        self.assertEqual(record["state"], "finished",
                         f"{record['message']}\n{cluster.logs()}")

    def test_daemon(self):
        self.check_stopped([1])

    def test_coordinator(self):
        self.check_stopped([0])

    def test_everybody(self):
        """As long as a daemon on another machine would take them for lost."""
        self.check_stopped([0, 1], seconds=18)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

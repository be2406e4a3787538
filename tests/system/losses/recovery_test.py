"""A daemon of a run is killed: the run goes on, and ends with the weights of one
that was never disturbed."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import event_files
from clusters import ClusterWorkplace
from runs import SMALL, merged
from support import program

# 13 steps an epoch, of which the checkpoints tell how many are done.
DEFINITION = merged(SMALL, {
    "train": {"batch_size": 8, "epochs": 3},
    "checkpoint": {"every_steps": 2},
})
TWO_TRAINERS = {"trainer": {"replicas": 2},
                "placement": {"trainers": ["d1", "d2"]}}
SLOW = {"faults": {"trainer_delay_ms": 200}}


class Recovery(ClusterWorkplace):
    def begin(self, cluster, definition, *options):
        """Submits a run; returns its id once it is within its second epoch."""
        run = cluster.ask("submit", self.write(merged(definition, SLOW),
                                               self.parts, "-slow"),
                          *options)["run"]
        self.folder = cluster.folder / "runs" / run

        def positions():
            return [self.position(path) for path in
                    (self.folder / "checkpoints").glob("*/state.json")]
        cluster.wait_until(
            lambda: any(epoch == 1 and step >= 4
                        for epoch, step in positions()),
            "checkpoint in the second epoch")
        return run

    @staticmethod
    def position(path):
        """Of a checkpoint; one that is half there stands nowhere."""
        try:
            state = json.loads(path.read_text())["state"]
        except (OSError, ValueError):
            return -1, -1
        return state["epoch"], state["step"]

    def lines(self, name):
        return [json.loads(line) for line in
                (self.folder / name).read_text().splitlines()]

    def check_undisturbed(self, cluster, definition):
        """What the run has left is what one leaves that was not disturbed."""
        whole = self.train(definition, self.parts)
        summary = json.loads((self.folder / "summary.json").read_text())
        self.assertEqual(summary["digest"], whole["digest"], cluster.logs())
        for key in ("steps", "epochs", "test_accuracy"):
            self.assertEqual(summary[key], whole[key], key)
        expected = [json.loads(line) for line in
                    (pathlib.Path(whole["run"]) / "metrics.jsonl")
                    .read_text().splitlines()]
        told = self.lines("metrics.jsonl")
        for line in expected + told:
            del line["seconds"], line["ended"]
        self.assertEqual(told, expected)
        return summary

    def lose_one_of_two_trainers(self, changes):
        """Another one takes its place. Returns the cluster, and the summary of
        the run, which has ended as if nothing had happened."""
        definition = merged(DEFINITION, TWO_TRAINERS, changes)
        cluster = self.cluster(["0", "1", "none"])
        run = self.begin(cluster, definition)
        cluster.daemons[2].kill()
        cluster.add("none", name="d2")
        cluster.await_state(run, "finished")
        return cluster, self.check_undisturbed(cluster, definition)

    def test_a_trainer_with_a_survivor(self):
        cluster, summary = self.lose_one_of_two_trainers({})
        self.assertEqual(summary["attempts"], 2, cluster.logs())
        # The survivor has what the other one had, and no checkpoint is needed.
        log = cluster.daemons[0].log.read_text()
        self.assertRegex(log, r"its state in epoch \d, step \d+ is taken from "
                              "daemon d1")
        story = (self.folder / "log.txt").read_text()
        self.assertRegex(story, "attempt 1 has ended: .*d2")
        self.assertRegex(story, r"attempt 2 goes on from epoch [23], step \d+; "
                                "daemons d0, d1, d2")

    def test_both_of_two_trainers_one_after_the_other(self):
        definition = merged(DEFINITION, TWO_TRAINERS)
        cluster = self.cluster(["0-1", "none", "none"])
        run = self.begin(cluster, definition)
        for number, daemon in enumerate(("d1", "d2"), 2):
            victim = next(one for one in reversed(cluster.daemons)
                          if one.name == daemon)
            victim.kill()
            cluster.add("none", name=daemon)
            cluster.wait_until(
                lambda: f"attempt {number} goes on"
                in (self.folder / "log.txt").read_text(),
                f"attempt {number}")
        cluster.await_state(run, "finished")
        summary = self.check_undisturbed(cluster, definition)
        self.assertEqual(summary["attempts"], 3, cluster.logs())

    def test_the_only_trainer(self):
        """It goes on from the last checkpoint, and so do its curves."""
        definition = merged(DEFINITION, {"placement": {"trainers": ["d1"]}})
        cluster = self.cluster(["0", "1"])
        run = self.begin(cluster, definition, "--tensorboard")
        cluster.daemons[1].kill()
        cluster.add("1", name="d1")
        cluster.await_state(run, "finished")
        summary = self.check_undisturbed(cluster, definition)
        self.assertEqual(summary["attempts"], 2, cluster.logs())
        self.assertNotIn("is taken from daemon",
                         cluster.daemons[0].log.read_text())
        curves = event_files.scalars(self.folder / "tensorboard")
        self.assertEqual(curves, event_files.of_metrics(self.folder))
        self.assertIn(("train/loss", summary["steps"]), curves)

    def test_parts_that_another_daemon_can_serve(self):
        """It is not started again: another one takes its place."""
        definition = merged(DEFINITION, {"placement": {"trainers": ["d0"]}})
        cluster = self.cluster(["0", "1", "any"])
        run = self.begin(cluster, definition)
        cluster.daemons[1].kill()
        cluster.await_state(run, "finished")
        summary = self.check_undisturbed(cluster, definition)
        self.assertEqual(summary["attempts"], 2, cluster.logs())
        # So could one that is not told what to serve.
        cluster.add(None, name="d3")
        cluster.await_daemons(3)
        self.assertEqual([sorted(one["daemons"])
                          for one in cluster.status()["owners"]],
                         [["d0", "d2", "d3"], ["d2", "d3"]])

    def test_each_step_is_recorded_once(self):
        self.lose_one_of_two_trainers({"train": {"record_steps": True}})
        steps = [(line["epoch"], line["step"], line["rank"])
                 for line in self.lines("steps.jsonl")
                 if line["phase"] == "train"]
        self.assertEqual(sorted(steps),
                         [(epoch, step, rank) for epoch in range(1, 4)
                          for step in range(1, 14) for rank in range(2)])
        for epoch in range(1, 4):
            seeds = [seed for line in self.lines("steps.jsonl")
                     if line["phase"] == "train" and line["epoch"] == epoch
                     for seed in line["seeds"]]
            self.assertEqual(len(seeds), len(set(seeds)))

    def test_nobody_comes_back(self):
        definition = merged(DEFINITION, {"placement": {"trainers": ["d0"]},
                                         "recovery": {"wait": 1}})
        cluster = self.cluster(["0", "1"])
        run = self.begin(cluster, definition)
        cluster.daemons[1].kill()
        record = cluster.await_state(run, "failed")
        self.assertIn("d1", record["message"])
        self.assertIn("no daemon serves part 1", record["message"])
        self.assertRegex(record["message"],
                         f"`graphmill resume {re.escape(run)}` with --cluster "
                         "goes on from its last checkpoint")
        cluster.add("1", name="d1")
        cluster.await_daemons(2)
        again = cluster.ask("resume", run)["run"]
        self.folder = cluster.folder / "runs" / again
        cluster.await_state(again, "finished")
        self.check_undisturbed(cluster, definition)

    def test_cancelled_while_it_waits(self):
        # So long that it is on still when another one has been submitted.
        definition = merged(DEFINITION, {"train": {"epochs": 100000},
                                         "placement": {"trainers": ["d0"]}})
        cluster = self.cluster(["0", "1"])
        run = self.begin(cluster, definition)
        # What comes behind it does not take its place.
        behind = cluster.ask("submit", self.write(
            merged(SMALL, {"placement": {"trainers": ["d0"]}}), self.parts,
            "-behind"))["run"]
        cluster.daemons[1].kill()
        cluster.wait_until(
            lambda: "waits until" in cluster.record(run)["message"],
            "run that waits")
        record = cluster.record(run)
        self.assertEqual(record["state"], "queued")
        self.assertIn("no daemon serves part 1", record["message"])
        self.assertIn("lost: d1", record["message"])
        self.assertEqual([cluster.call("status", each).returncode
                          for each in (run, behind)], [3, 0])
        self.assertEqual(cluster.status()["queued"], [run, behind])
        cluster.ask("cancel", run)
        record = cluster.await_state(run, "cancelled")
        self.assertEqual(record["message"], "cancelled before its next attempt")
        cluster.ask("cancel", behind)
        # Its epoch and more had been trained, in the time that is told.
        summary = json.loads((self.folder / "summary.json").read_text())
        self.assertGreaterEqual(summary["steps"], 13 + 4)
        self.assertGreater(summary["seconds"], 0)
        for stage in summary["stages"]:
            if stage["replicas"]:
                self.assertLessEqual(
                    stage["busy_seconds"],
                    1.1 * stage["replicas"] * summary["seconds"], stage)
        self.assertIn(f"and {summary['steps']} training steps: cancelled",
                      (self.folder / "log.txt").read_text())


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

"""A run whose number of trainers may change: it goes on with fewer, takes
others in at the edge of an epoch, and can be had again by its record."""

import contextlib
import json
import os
import pathlib
import signal
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import ClusterWorkplace
from runs import SMALL, merged
from support import program

# 13 steps an epoch.
DEFINITION = merged(SMALL, {
    "train": {"batch_size": 8, "epochs": 3, "record_steps": True},
    "trainer": {"replicas": {"min": 1, "max": 2}},
    "placement": {"trainers": ["d1", "d2", "d3"]},
    "checkpoint": {"every_steps": 2},
})
SLOW = {"faults": {"trainer_delay_ms": 40}}
STEPS = 13
ONE_SLOT = ("--slots", "1")


def as_texts(sizes):
    """A record of sizes as `trainer.sizes` has it."""
    return [f"{size['epoch']}/{size['step']}:{size['replicas']}"
            for size in sizes]


class Elastic(ClusterWorkplace):
    def submit(self, cluster, definition, name):
        run = cluster.ask("submit", self.write(definition, self.parts,
                                               name))["run"]
        self.folder = cluster.folder / "runs" / run
        return run

    def begin(self, cluster, definition):
        """Submits a run; returns its id once it is within its second epoch."""
        run = self.submit(cluster, merged(definition, SLOW), "-slow")

        def is_there():
            return any(path.name >= "0000001-0000000004" for path in
                       (self.folder / "checkpoints").glob("0*"))
        cluster.wait_until(is_there, "checkpoint in the second epoch")
        return run

    def await_finished(self, cluster, run):
        record = cluster.await_state(run, "finished")
        summary = json.loads((self.folder / "summary.json").read_text())
        self.assertEqual(record["summary"]["sizes"], summary["sizes"])
        self.assertEqual(
            json.loads((self.folder / "sizes.json").read_text()),
            summary["sizes"])
        return summary

    def await_attempt(self, cluster, number):
        cluster.wait_until(
            lambda: f"attempt {number} goes on"
            in (self.folder / "log.txt").read_text()
            or (self.folder / "summary.json").exists(),
            f"attempt {number}")

    def count_steps(self):
        return (self.folder / "steps.jsonl").read_text().count("\n")

    @contextlib.contextmanager
    def held(self, trainer):
        """Stops a trainer, and with it the run, for the time of two questions:
        not so long that it counts as lost."""
        os.kill(trainer.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(trainer.process.pid, signal.SIGCONT)

    def check_steps(self, sizes, epochs):
        """Each rank that there was has told of each step once, and each seed
        was had once in each epoch."""
        lines = [json.loads(line) for line in
                 (self.folder / "steps.jsonl").read_text().splitlines()]
        lines = [line for line in lines if line["phase"] == "train"]

        def trainers(epoch, step):
            return [size["replicas"] for size in sizes
                    if (size["epoch"], size["step"]) <= (epoch, step)][-1]
        self.assertEqual(
            sorted((line["epoch"], line["step"], line["rank"])
                   for line in lines),
            [(epoch + 1, step + 1, rank)
             for epoch in range(epochs) for step in range(STEPS)
             for rank in range(trainers(epoch, step))])
        seeds = [sorted(seed for line in lines if line["epoch"] == epoch + 1
                        for seed in line["seeds"])
                 for epoch in range(epochs)]
        self.assertEqual(len(seeds[0]), len(set(seeds[0])))
        self.assertEqual(seeds, [seeds[0]] * epochs)

    def check_same(self, one, other):
        for key in ("digest", "steps", "epochs", "test_accuracy", "sizes"):
            self.assertEqual(one[key], other[key], key)

    def test_fewer_and_more_and_again(self):
        epochs = 16
        definition = merged(DEFINITION, {"train": {"epochs": epochs}})
        cluster = self.cluster(["0", "1", "none", "none"], *ONE_SLOT)
        cluster.ask("drain", "d3")  # Comes later, and need not start then.
        run = self.begin(cluster, definition)
        cluster.daemons[2].kill()
        self.await_attempt(cluster, 2)
        before = self.count_steps()
        cluster.wait_until(lambda: self.count_steps() > before, "step of it")
        with self.held(cluster.daemons[1]):
            so_far = cluster.record(run)["summary"]["sizes"]
            cluster.ask("drain", "d3", "--back")
        self.assertEqual([size["replicas"] for size in so_far], [2, 1],
                         cluster.logs())
        summary = self.await_finished(cluster, run)

        sizes = summary["sizes"]
        self.assertEqual(sizes[0], {"epoch": 0, "step": 0, "replicas": 2})
        self.assertEqual([size["replicas"] for size in sizes], [2, 1, 2],
                         cluster.logs())
        self.assertEqual(sizes[:2], so_far)
        self.assertGreaterEqual(sizes[1]["epoch"], 1)
        self.assertEqual(sizes[2]["step"], 0)
        self.assertGreater(sizes[2]["epoch"], sizes[1]["epoch"])
        self.assertEqual(summary["attempts"], 3)
        self.assertEqual(summary["steps"], epochs * STEPS)
        self.check_steps(sizes, epochs)
        story = (self.folder / "log.txt").read_text()
        self.assertRegex(story, "attempt 1 has ended: .*d2")
        self.assertRegex(story, r"attempt 2 goes on from epoch \d+, step \d+; "
                                "daemons d0, d1; 1 trainer\n")
        self.assertRegex(story, "attempt 2 has paused after .* and 0 steps of "
                                "the next one")
        self.assertRegex(story, r"attempt 3 goes on from epoch \d+, step 1; "
                                "daemons d0, d1, d3; 2 trainers\n")

        # The record alone gives the same run, in one process and on a cluster.
        again = merged(definition, {"trainer": {"sizes": as_texts(sizes)}})
        self.check_same(self.train(again, self.parts), summary)
        replayed = self.submit(cluster, again, "-again")
        self.check_same(self.await_finished(cluster, replayed), summary)
        self.check_steps(sizes, epochs)

    def test_one_that_comes_back_in_time(self):
        """Nothing changes, unless it takes longer than it is waited for."""
        cluster = self.cluster(["0", "1", "none"], *ONE_SLOT)
        run = self.begin(cluster, DEFINITION)
        cluster.daemons[2].kill()
        cluster.add("none", name="d2")
        summary = self.await_finished(cluster, run)
        self.assertIn([size["replicas"] for size in summary["sizes"]],
                      ([2], [2, 1], [2, 1, 2]))
        self.check_steps(summary["sizes"], 3)
        again = merged(DEFINITION, {
            "trainer": {"sizes": as_texts(summary["sizes"])}})
        self.check_same(self.train(again, self.parts), summary)

    def test_what_it_has_paused_with_is_not_lost(self):
        """No daemon has a place for the next size."""
        definition = merged(DEFINITION, {
            "trainer": {"sizes": ["0/0:1", "0/5:2"]},
            "checkpoint": {"every_steps": 0}})
        cluster = self.cluster(["0", "1", "none"], *ONE_SLOT)
        cluster.ask("drain", "d2")  # It may be had again, so runs are taken.
        for wait, state, says in (
                (0, "failed",
                 "it pauses to go on with another number of trainers; it could "
                 "not go on within 5 seconds: the run needs what is draining: "
                 "d2; .*; `graphmill resume .*` with --cluster goes on from "
                 "its last checkpoint, 0000000-0000000005$"),
                (300, "cancelled", "^cancelled before its next attempt$")):
            run = self.submit(
                cluster, merged(definition, {"recovery": {"wait": wait}}),
                f"-{state}")
            if state == "cancelled":
                cluster.wait_until(
                    lambda run=run: "what is draining: d2"
                    in cluster.record(run)["message"],
                    "run that waits for a place")
                cluster.ask("cancel", run)
            cluster.wait_until(
                lambda run=run: cluster.record(run)["state"] == state,
                f"run that is {state}")
            self.assertRegex(cluster.record(run)["message"], says)
            self.assertEqual(
                [path.name for path in
                 (self.folder / "checkpoints").glob("0*")],
                ["0000000-0000000005"], cluster.logs())
            summary = json.loads((self.folder / "summary.json").read_text())
            self.assertEqual(summary["steps"], 5)
        cluster.ask("drain", "d2", "--back")
        again = cluster.ask("resume", run)["run"]
        self.folder = cluster.folder / "runs" / again
        self.check_same(self.await_finished(cluster, again),
                        self.train(definition, self.parts))

    def test_sizes_in_one_process(self):
        plain = merged(DEFINITION, {"trainer": {"replicas": 2}})
        whole = self.train(plain, self.parts)
        self.assertNotIn("sizes", whole)
        largest = self.train(DEFINITION, self.parts)
        self.assertEqual(largest["digest"], whole["digest"])
        self.assertEqual(as_texts(largest["sizes"]), ["0/0:2"])
        texts = ["0/0:1", "0/5:2", "1/13:1", "2/0:2"]
        changed = merged(DEFINITION, {"trainer": {"sizes": texts}})
        first = self.train(changed, self.parts)
        self.assertEqual(as_texts(first["sizes"]), texts)
        self.assertEqual(first["steps"], 3 * STEPS)
        self.folder = pathlib.Path(first["run"])
        self.check_steps(first["sizes"], 3)
        self.assertEqual(self.train(changed, self.parts)["digest"],
                         first["digest"])

    def test_sizes_that_find_no_place(self):
        cluster = self.cluster(["0", "1"], *ONE_SLOT)
        definition = merged(DEFINITION, {"trainer": {
            "replicas": {"min": 2, "max": 2}}})
        said = cluster.refused("submit", self.write(definition, self.parts))
        self.assertIn("asks for 2 trainers", said)
        definition["trainer"]["sizes"] = ["0/0:1"]
        said = cluster.refused("submit", self.write(definition, self.parts))
        self.assertIn("must have from 2 to 2 trainers", said)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

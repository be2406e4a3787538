"""Clusters on which several runs are on at once (`--runs-at-once`)."""

import itertools
import json

import runs
from clusters import Cluster, Daemon, free_port
from runs import SMALL, merged, partitioned, small_rmat

# Steps are slow, so that runs meet, and that they can be caught in the middle.
TRAINED = merged(SMALL, {"train": {"batch_size": 8, "epochs": 6},
                         "checkpoint": {"every_steps": 2}})
SLOW = {"faults": {"trainer_delay_ms": 120}}


class Led(Cluster):
    """A coordinator with nothing else to do, at an address where another one
    can follow it, and daemons that all serve all parts."""

    def __init__(self, folder, data, at_once, slots):
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.at_once = at_once
        super().__init__(folder, data, [])
        self.lead()
        for count in slots:
            self.add("0-1", "--slots", count)
        self.await_daemons(1 + len(slots))

    @property
    def coordinator(self):
        return self.address

    def lead(self):
        self.daemons[:1] = [Daemon(
            self.folder, "d0", self.data, "none", "--slots", 0,
            "--runs-at-once", self.at_once, listen=self.address)]
        self.daemons[0].address()  # A client asks only for some seconds.

    def running(self):
        status = self.status()
        if status["running"] is None:
            return []
        return [status["running"], *status["also_running"]]


class SeveralRuns(runs.Workplace):
    """Of tests with such clusters."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")
        cls.alone = {}
        cls.numbers = itertools.count()

    def cluster(self, at_once, slots, name=""):
        made = Led(self.top / (self.own_name + name), self.parts, at_once,
                   slots)
        self.addCleanup(made.__exit__)
        return made

    def submit(self, cluster, definition, *options):
        return cluster.ask("submit", self.write(
            merged(definition, SLOW), self.parts,
            f"-{next(self.numbers)}"), *options)["run"]

    def summary(self, cluster, run):
        return json.loads((cluster.folder / "runs" / run
                           / "summary.json").read_text())

    def await_checkpoints(self, cluster, *ids):
        """Until each of the runs is in the middle."""
        def have_some():
            return all(
                any((cluster.folder / "runs" / run / "checkpoints")
                    .glob("*/state.json")) for run in ids)
        cluster.wait_until(have_some, f"checkpoints of {ids}")
        self.assertEqual(cluster.running(), list(ids), cluster.logs())

    def check_as_alone(self, cluster, run, definition, attempts=1):
        """It has the weights that it has alone, in one process."""
        cluster.await_state(run, "finished")
        key = json.dumps(definition, sort_keys=True)
        if key not in self.alone:
            self.alone[key] = self.train(definition, self.parts)["digest"]
        summary = self.summary(cluster, run)
        self.assertEqual(summary["digest"], self.alone[key], cluster.logs())
        self.assertEqual(summary.get("attempts", 1), attempts, cluster.logs())

    def on(self, seed, *daemons, trainers=1):
        return merged(TRAINED, {
            "seed": seed, "trainer": {"replicas": trainers},
            "placement": {"daemons": list(daemons)} if daemons else {}})

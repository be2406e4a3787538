"""Coordinators that follow each other: the queue and the run that was on go on,
to the weights of runs that nobody has disturbed."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster, Daemon, free_port
from runs import PATIENCE_SECONDS, SMALL, merged, partitioned, small_rmat
from support import program

EPOCHS = 8
TRAINED = merged(SMALL, {"train": {"epochs": EPOCHS},
                         "checkpoint": {"every_steps": 3}})
# Slow enough that it can be caught in the middle.
SLOW = merged(TRAINED, {"faults": {"trainer_delay_ms": 200}})


def address():
    return f"tcp://127.0.0.1:{free_port()}"


class Led(Cluster):
    """Two daemons with a part each, and coordinators without any at the first
    address, and perhaps at others later."""

    def __init__(self, folder, data, *addresses):
        self.addresses = addresses
        super().__init__(folder, data, [])
        # A client asks no longer than for some seconds.
        self.lead(addresses[0]).address()
        for share in ("0", "1"):
            self.add(share)
        self.await_daemons(3)

    @property
    def coordinator(self):
        return ",".join(self.addresses)

    def lead(self, where, *more, name="d0", folder=None):
        """Starts a coordinator, in the place of the first daemon."""
        daemon = Daemon(folder or self.folder, name, self.data, "none",
                        "--slots", 0, *more, listen=where)
        self.daemons[:1] = [daemon]
        return daemon


class Restarted(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")

    def setUp(self):
        self.definitions = [SLOW, TRAINED, merged(TRAINED, {"seed": 8})]
        self.whole = [self.train(definition, self.parts)
                      for definition in self.definitions[1:]]
        self.whole.insert(0, self.whole[0])  # Delays change nothing.

    def cluster(self, *addresses):
        made = Led(self.top / self.own_name, self.parts, *addresses)
        self.addCleanup(made.__exit__)
        return made

    def begin(self, cluster, submitted=lambda run: None):
        """Submits three runs; returns their ids once the first is in the middle
        of an epoch and has left checkpoints. `submitted` is told of that one
        before it begins, or soon after."""
        files = [self.write(definition, self.parts, f"-{number}")
                 for number, definition in enumerate(self.definitions)]
        ids = [cluster.ask("submit", files[0])["run"]]
        submitted(ids[0])
        ids.append(cluster.ask("submit", files[1])["run"])
        self.folder = cluster.folder / "runs"

        def has_begun():
            made = self.folder / ids[0] / "checkpoints"
            return made.exists() and len(self.epochs(ids[0])) >= 2 \
                and any(made.iterdir())
        cluster.wait_until(has_begun, "checkpoint of a run that is on")
        # Whoever was told that a run is taken need not ask again.
        return ids + [cluster.ask("submit", files[2])["run"]]

    def epochs(self, run):
        """Epochs that were trained, by metrics.jsonl."""
        lines = (self.folder / run / "metrics.jsonl").read_text().split("\n")
        return [json.loads(line)["epoch"] for line in lines[:-1]
                if '"train"' in line]

    def check_all_finish(self, cluster, ids):
        for run, whole in zip(ids, self.whole):
            cluster.wait_until(
                lambda: cluster.ask("runs", run)["runs"][0]["state"]
                not in ("queued", "running"), f"end of {run}")
            record = cluster.ask("runs", run)["runs"][0]
            self.assertEqual(record["state"], "finished", record)
            summary = json.loads(
                (self.folder / run / "summary.json").read_text())
            self.assertEqual(summary["digest"], whole["digest"])
            self.assertEqual(summary["steps"], whole["steps"])
            self.assertEqual(summary["test_accuracy"], whole["test_accuracy"])
            self.assertEqual(self.epochs(run), list(range(1, EPOCHS + 1)))
        started = [cluster.ask("runs", run)["runs"][0]["started"]
                   for run in ids]
        self.assertEqual(started, sorted(started))

    def test_started_again(self):
        where = address()
        cluster = self.cluster(where)
        followed = cluster.folder / "followed"
        followers = []

        def follow(run):
            with followed.open("w") as out:
                followers.append(subprocess.Popen(
                    [program(), "logs", "--follow", run, "--cluster", where],
                    stdout=out, stderr=subprocess.DEVNULL))
            self.addCleanup(followers[0].kill)
        ids = self.begin(cluster, follow)
        cluster.wait_until(lambda: "train epoch 1" in followed.read_text(),
                           "log that is followed")
        cluster.daemons[0].kill()
        again = cluster.lead(where)
        again.address()  # It is there.
        self.check_all_finish(cluster, ids)
        self.assertEqual(followers[0].wait(PATIENCE_SECONDS), 0)
        self.assertIn("run ended after", followed.read_text())
        self.check_written(ids[0], [line.split(maxsplit=4)[4] for line in
                                    followed.read_text().splitlines()])
        # Who begins to watch sees what the coordinator before has told, too.
        rows = re.findall(r"^ +(\d+) +\d+\.\d{4} ",
                          cluster.call("watch", ids[0]).stderr, re.MULTILINE)
        self.assertEqual(sorted(set(map(int, rows))),
                         list(range(1, EPOCHS + 1)))
        said = again.log.read_text()
        self.assertIn(f"run {ids[0]}: waits for attempt 2, as the coordinator "
                      "was started anew", said)
        self.assertIn("the coordinator was started anew: attempt 2 follows",
                      (self.folder / ids[0] / "log.txt").read_text())
        self.assertIn(f"run {ids[0]}: attempt 2 goes on from epoch", said)
        for run in ids[1:]:
            self.assertIn(f"run {run} is queued still", said)
        self.check_events(cluster, ids[0])
        self.check_logs(cluster, ids[0])

    def check_events(self, cluster, run):
        """Those of both coordinators, each once and in their order."""
        events = [json.loads(line) for line in
                  cluster.call("events", run).stdout.splitlines()]
        numbers = [event["seq"] for event in events]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(sorted({number >> 32 for number in numbers}), [1, 2])
        told = [(event["seq"] >> 32, event["kind"]) for event in events]
        self.assertEqual(told.count((1, "started")), 1)
        self.assertIn((2, "started"), told)
        self.assertEqual(told[-1], (2, "ended"))

    def check_logs(self, cluster, run):
        """What both coordinators have said, each line once."""
        said = [json.loads(line)["text"] for line in
                cluster.call("logs", run).stdout.splitlines()]
        self.check_written(run, said)

    def check_written(self, run, said):
        """Each line of the run's own log was told once."""
        written = [line.split("] ", 2)[2] for line in
                   (self.folder / run / "log.txt").read_text().splitlines()]
        self.assertIn("attempt 2", " ".join(written))
        for text in written:
            self.assertEqual(said.count(text), written.count(text), text)

    def test_events_that_cannot_be_kept(self):
        """Whoever looks at events sees that those of before are not there."""
        where = address()
        cluster = self.cluster(where)
        file = cluster.folder / "runs" / "events.jsonl"
        cluster.wait_until(
            lambda: file.exists() and '"d2"' in file.read_text(), "its file")
        cluster.daemons[0].kill()
        file.unlink()
        file.mkdir()
        cluster.lead(where).address()

        def await_warning(words):
            def warnings():
                return [event["text"] for event in
                        map(json.loads,
                            cluster.call("events").stdout.splitlines())
                        if event["kind"] == "warning"]
            cluster.wait_until(
                lambda: any("events.jsonl" in text and words in text
                            for text in warnings()), f"warning: {words}")
        await_warning("events before its start are lost")
        await_warning("a restart of the coordinator loses the events")
        cluster.await_daemons(3)
        file.rmdir()
        cluster.daemons[1].kill()  # An event that is noted.
        await_warning("events can be written to ")

    def test_a_stand_in_takes_over(self):
        first, second = address(), address()
        cluster = self.cluster(first, second)
        leader = cluster.daemons[0]
        ids = self.begin(cluster)
        # Who does not stand by is told who is there.
        rival = Daemon(cluster.folder, "rival", self.parts, "none")
        self.addCleanup(rival.end)
        self.assertNotEqual(rival.process.wait(PATIENCE_SECONDS), 0)
        self.assertIn(f"process {leader.process.pid} on host",
                      rival.log.read_text())
        stand_in = cluster.lead(second, "--standby", name="stand-in")
        self.addCleanup(leader.end)
        cluster.wait_until(
            lambda: f"process {leader.process.pid}" in stand_in.log.read_text(),
            "stand-in that waits")
        leader.kill()
        stand_in.address()
        now = cluster.status()
        self.assertEqual(now["coordinator"], "stand-in")
        self.assertEqual(now["stand_ins"], [])
        cluster.addresses = (second,)  # Or each command would try both.
        self.check_all_finish(cluster, ids)
        self.assertIn("takes over", stand_in.log.read_text())

    def test_a_stand_in_ends_with_the_whole_cluster(self):
        first, second = address(), address()
        cluster = self.cluster(first)
        daemons = list(cluster.daemons)
        for daemon in daemons:
            self.addCleanup(daemon.end)

        def stand_by(name):
            made = cluster.lead(second, "--standby", name=name)
            self.addCleanup(made.end)
            return made
        stand_in = stand_by("stand-in")
        cluster.wait_until(lambda: "stands by" in stand_in.log.read_text(),
                           "stand-in that waits")
        cluster.wait_until(
            lambda: cluster.status()["stand_ins"] == ["stand-in"],
            "stand-in that is listed")
        cluster.ask("stop", "--all")
        for daemon in [*daemons, stand_in]:
            self.assertEqual(daemon.process.wait(PATIENCE_SECONDS), 0)
        said = stand_in.log.read_text()
        self.assertIn("was told to end: ends, too", said)
        self.assertNotIn("takes over", said)
        # Who is started now is meant to lead, and is missed if it is killed.
        leader = stand_by("leader")
        leader.address()
        heir = cluster.lead(first, "--standby", name="heir")
        cluster.wait_until(lambda: "stands by" in heir.log.read_text(),
                           "stand-in that waits for it")
        leader.kill()
        heir.address()

    def test_an_old_coordinator_that_wakes_up_does_no_harm(self):
        """Its storage has gone to another machine, where another one leads."""
        first, second = address(), address()
        cluster = self.cluster(first, second)
        old = cluster.daemons[0]
        self.addCleanup(old.end)
        ids = self.begin(cluster)
        os.kill(old.process.pid, signal.SIGSTOP)
        elsewhere = cluster.folder / "elsewhere"
        elsewhere.mkdir()
        shutil.copytree(self.folder, elsewhere / "runs")
        self.folder = elsewhere / "runs"
        cluster.lead(second, name="successor", folder=elsewhere).address()
        cluster.addresses = (second,)
        cluster.wait_until(
            lambda: cluster.status()["running"] in ids, "run that goes on")
        os.kill(old.process.pid, signal.SIGCONT)
        self.assertNotEqual(old.process.wait(PATIENCE_SECONDS), 0)
        self.assertIn("obeys it any more", old.log.read_text())
        self.check_all_finish(cluster, ids)


if __name__ == "__main__":
    program()
    unittest.main()

"""A daemon with a key of its own lies to the coordinator: it neither ends it nor
makes a run go wrong, hang or begin forever."""

import json
import pathlib
import queue
import subprocess
import sys
import threading
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import Cluster
from members import MembersWorkplace
from runs import PATIENCE_SECONDS, SMALL, merged
from support import program

DEFINITION = merged(SMALL, {"train": {"epochs": 3},
                            "checkpoint": {"every_steps": 2},
                            "recovery": {"wait": 60, "attempts": 3}})
SLOW = {"faults": {"trainer_delay_ms": 60}}


class Liar:
    """What it says comes line by line."""

    def __init__(self, coordinator, key):
        file = pathlib.Path(program()).parents[1] / "tests/system/hostile/liar"
        self.process = subprocess.Popen(
            [file, coordinator, "liar", key], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        self.said = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())

    def tell(self, *words):
        print(*words, file=self.process.stdin)

    def await_line(self, wanted):
        while True:
            self.said.append(self.lines.get(timeout=PATIENCE_SECONDS))
            if self.said[-1] == wanted:
                return

    def end(self):
        """Returns all that it has said."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        self.reader.join(PATIENCE_SECONDS)
        self.process.stdin.close()
        self.process.stdout.close()
        while not self.lines.empty():
            self.said.append(self.lines.get())
        return self.said


class Liars(MembersWorkplace):
    def setUp(self):
        super().setUp()
        self.keygen("--daemon", "liar")

    def cluster(self, *shares):
        made = Cluster(self.folder, self.data, [])
        self.addCleanup(made.__exit__)
        made.add(shares[0], "--key", self.key("d0"), "--members", self.members)
        for share in shares[1:]:
            made.add(share, "--key", self.key("d1"))
        made.await_daemons(len(shares))
        return made

    def liar(self, cluster, parts, slots, **settings):
        about = json.loads((self.data / "partitions.json").read_text())
        it = Liar(cluster.coordinator, self.key("liar"))
        self.addCleanup(it.end)
        for what, value in settings.items():
            it.tell("set", what, value)
        it.tell("join", about["dataset"]["name"], about["dataset"]["digest"],
                ",".join(about["part_digests"]), parts, slots)
        it.await_line("joined")
        return it

    def submit(self, cluster, definition):
        return cluster.ask("submit", self.write(definition, self.data))["run"]

    def check_undisturbed(self, cluster, run, definition):
        cluster.await_state(run, "finished")
        summary = json.loads(
            (self.folder / "runs" / run / "summary.json").read_text())
        self.assertEqual(summary["digest"],
                         self.train(definition, self.data)["digest"])

    def test_another_coordinator_is_said_to_lead(self):
        cluster = self.cluster("0-1")
        self.liar(cluster, "0,1", 0, orders="superseded")
        run = self.submit(cluster, DEFINITION)
        self.check_undisturbed(cluster, run, DEFINITION)
        self.assertIsNone(cluster.daemons[0].process.poll())
        self.assertEqual(cluster.states(), {"d0": "ready", "liar": "damaged"})
        self.assertIn('daemon "liar" says that another coordinator leads',
                      cluster.daemons[0].log.read_text())

    def test_who_had_no_trainers_is_not_asked_what_is_kept(self):
        # Of seconds, so that it is on still when it loses a daemon.
        definition = merged(DEFINITION, {"train": {"epochs": 40},
                                         "placement": {"trainers": ["d0"]}})
        cluster = self.cluster("0", "1")
        liar = self.liar(cluster, "-", 0, kept="far")
        run = self.submit(cluster, merged(definition, SLOW))
        made = self.folder / "runs" / run / "checkpoints"
        cluster.wait_until(lambda: made.exists() and any(made.iterdir()),
                           "checkpoint")
        cluster.daemons[1].kill()
        cluster.add("1", "--key", self.key("d1"), name="d1")
        self.check_undisturbed(cluster, run, definition)
        self.assertIn("is taken from daemon d0",
                      cluster.daemons[0].log.read_text())
        self.assertNotIn("asked for what is kept", liar.end())

    def test_what_a_trainer_keeps_is_held_against_the_run(self):
        cluster = self.cluster("0-1")
        liar = self.liar(cluster, "-", 1, kept="far", fails="yes")
        run = self.submit(cluster, merged(
            DEFINITION, {"placement": {"trainers": ["liar"]},
                         "recovery": {"attempts": 100}}))
        cluster.wait_until(
            lambda: "what daemon liar says it has kept is not used: the run "
            "cannot be in epoch 1000000"
            in cluster.daemons[0].log.read_text(), "offer that is refused")
        # It can be cancelled while an answer is waited for.
        liar.tell("set", "kept", "silent")
        liar.await_line("does not answer")
        cluster.ask("cancel", run, "--now")
        cluster.await_state(run, "cancelled")
        cluster.ask("stop", "--all")
        self.assertEqual(
            cluster.daemons[0].process.wait(PATIENCE_SECONDS), 0)

    def test_a_member_fails_again_and_again(self):
        cluster = self.cluster("0-1")
        liar = self.liar(cluster, "0,1", 0, fails="trained")
        run = self.submit(cluster, DEFINITION)
        record = cluster.await_state(run, "failed")
        self.assertIn("3 attempts in a row have trained nothing new",
                      record["message"])
        said = liar.end()
        self.assertEqual(said.count("step refused"), 3)
        self.assertNotIn("step taken", said)


if __name__ == "__main__":
    program()
    unittest.main()

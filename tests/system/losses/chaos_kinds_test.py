"""What `graphmill chaos` does to a daemon, one kind after the other: it does
happen, and the run that is on ends with the weights of a run in peace."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[0] / "support"))
sys.path.insert(0, str(HERE.parents[0]))
import chaos
import runs
from over_http import get, told_at
from runs import merged
from supervised import Supervised
from support import program

ONE_RUN_SECONDS = 150
STOPPED_MILLISECONDS = 6000
FULL_MILLISECONDS = 2000
DELAY = ("delay", "--lasts", 1500, "--each", 100)
# Long enough to be seen in figures, which are means of the last seconds.
LONG_DELAY = ("delay", "--lasts", 4000, "--each", 200)
LATE_SECONDS = 0.04
DAMAGED = 3  # Messages.

DEFINITION = merged(chaos.DEFINITION, {
    "placement": {"samplers": [], "owners": 1},
    "checkpoint": {"every_steps": 2},
    "faults": {"trainer_delay_ms": 300},
})
TELLS = ("--metrics", "127.0.0.1:0")
LAYOUT = [("c", "none", "--slots", "0", "--http", "127.0.0.1:0"),
          ("t0", "0", "--slots", "1", *TELLS),
          ("t1", "1", "--slots", "1", *TELLS)]


class Kinds(runs.Workplace):
    """One cluster, which each test leaves whole."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = chaos.make_data(cls.top)
        cls.cluster = Supervised(cls.top / "cluster", cls.parts, LAYOUT)
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.digest = None

    def setUp(self):
        if self.digest is None:
            quick = merged(DEFINITION, {"faults": {"trainer_delay_ms": 0}})
            type(self).digest = self.train(quick, self.parts)["digest"]
        self.drill = chaos.Drill(
            self.cluster, self.write(DEFINITION, self.parts, "-slow"),
            ONE_RUN_SECONDS)
        self.drill.digest = self.digest
        self.await_it(self.cluster.all_there, "daemons")

    def await_it(self, condition, what):
        self.assertTrue(
            self.cluster.wait_until(condition, what, ONE_RUN_SECONDS),
            f"no {what}\n{self.cluster.logs()}")

    def folder(self, run):
        return self.cluster.folder / "runs" / run

    def begin(self):
        """Submits a run; returns its id once it has a checkpoint."""
        run = self.drill.submit()
        self.await_it(
            lambda: list((self.folder(run) / "checkpoints").glob("[0-9]*")),
            "checkpoint")
        return run

    def harm(self, name, kind, *more):
        """Asks for a fault; returns the daemon's process."""
        process = self.cluster.daemon(name).process
        done = self.cluster.call("chaos", "--daemon", name, "--kinds", kind,
                                 *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return process

    def check_finished(self, run):
        wrong = self.drill.what_is_wrong(
            run, self.drill.await_end(run, ONE_RUN_SECONDS))
        self.assertIsNone(wrong, self.cluster.logs())
        return json.loads((self.folder(run) / "summary.json").read_text())

    def test_kill(self):
        run = self.begin()
        process = self.harm("t1", "kill", "--at", "mid_epoch")
        self.await_it(lambda: process.poll() is not None, "death")
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertGreaterEqual(self.check_finished(run)["attempts"], 2)
        self.assertIn("chaos: kill t1",
                      self.cluster.daemon("t1").log.read_text())
        # An operator reads what has happened.
        story = (self.folder(run) / "log.txt").read_text()
        self.assertIn("attempt 1 has ended: ", story)
        self.assertRegex(story, r"attempt \d+ goes on from ")
        self.assertIn("a client asks for chaos: kill t1",
                      self.cluster.call("events", run).stdout)

    def test_stop(self):
        run = self.begin()
        process = self.harm("t1", "stop", "--lasts", STOPPED_MILLISECONDS)
        self.await_it(lambda: self.cluster.is_stopped("t1"), "stop")
        self.assertFalse((self.folder(run) / "summary.json").exists())
        self.assertEqual(self.check_finished(run).get("attempts", 1), 1)
        self.assertFalse(self.cluster.is_stopped("t1"))
        self.assertIs(self.cluster.daemon("t1").process, process)
        self.assertIsNone(process.poll())

    def figures(self, name, metric, of="itself"):
        """By labels, from what a daemon tells."""
        page = get(told_at(self.cluster.daemon(name), of), "/metrics")[1]
        return {labels: float(value) for labels, value in re.findall(
            rf"^{metric}(?:\{{(.*)\}})? (\S+)$", page, re.MULTILINE)}

    def count(self, name, metric):
        return self.figures(name, f"graphmill_transport_{metric}_total")[""]

    def answers_late(self):
        trips = self.figures("c", "graphmill_peer_round_trip_seconds",
                             of="the cluster")
        return trips.get('daemon="t0",peer="t1"', 0) > LATE_SECONDS

    def check_of_links(self, *faults, seen=lambda: True):
        """The run ends as in peace after faults of a daemon's connections, of
        which something is seen meanwhile."""
        run = self.begin()
        process = self.cluster.daemon("t1").process
        before = len(self.cluster.daemon("t1").log.read_text())
        for kind, *more in faults:
            self.harm("t1", kind, *more)
        self.await_it(seen, f"sign of {faults}")
        self.assertFalse((self.folder(run) / "summary.json").exists())
        summary = self.check_finished(run)
        self.assertIs(self.cluster.daemon("t1").process, process)
        self.assertIsNone(process.poll())
        told = self.cluster.daemon("t1").log.read_text()[before:]
        for kind, *_ in faults:
            self.assertIn(f"chaos: {kind} ", told)
        return summary

    def test_delay(self):
        summary = self.check_of_links(LONG_DELAY, seen=self.answers_late)
        self.assertEqual(summary.get("attempts", 1), 1)  # Slow is not dead.

    def test_cut(self):
        before = self.count("t1", "retries")
        self.check_of_links(
            ("cut",), seen=lambda: self.count("t1", "retries") > before)

    def test_cut_while_messages_are_late(self):
        """Whoever asks for the second fault hears that it will be."""
        self.check_of_links(DELAY, ("cut",))

    def test_corrupt(self):
        """Some of the messages may end with the connection of the first."""
        before = self.count("t0", "malformed_messages")

        def damaged():
            return self.count("t0", "malformed_messages") - before
        self.check_of_links(("corrupt", "--messages", DAMAGED), seen=damaged)
        self.assertLessEqual(damaged(), DAMAGED)

    def test_disk(self):
        """The run's records of its steps cannot be written: it ends with its
        last checkpoint, from which it goes on when there is room again."""
        run = self.begin()
        self.harm("c", "disk", "--lasts", FULL_MILLISECONDS)
        record = self.drill.await_end(run, ONE_RUN_SECONDS)
        self.assertEqual((record or {}).get("state"), "failed", record)
        self.assertIn("No space left on device", record["message"])
        self.assertNotIn("\n", record["message"])
        again = []

        def goes_on():
            answer = self.cluster.answer("resume", run)
            again.extend([answer["run"]] if answer else [])
            return again
        self.await_it(goes_on, "room")
        record = self.drill.await_end(again[0], ONE_RUN_SECONDS)
        self.assertEqual((record or {}).get("state"), "finished", record)
        self.assertEqual(record["summary"]["digest"], self.digest)

    def test_whole_plan(self):
        """By a seed, as users have it: its plan kills the coordinator and a
        trainer, and what it kills is started again."""
        run = self.begin()
        command = subprocess.Popen(
            [program(), "chaos", "--seed", "7", "--during", run, "--kinds",
             "kill,cut,delay,corrupt", "--faults", "4", "--every", "0.5",
             "--cluster", self.cluster.coordinator, "--json"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(command.kill)
        self.await_it(lambda: command.poll() is not None, "end of the chaos")
        out, err = command.communicate()
        self.assertEqual(command.returncode, 0, err + self.cluster.logs())
        done = json.loads(out.splitlines()[-1])
        self.assertEqual(done["state"], "finished", done)
        self.assertIn(("kill", "c", "asked"),
                      [(one["kind"], one["daemon"], one["outcome"])
                       for one in done["faults"]])
        self.assertGreaterEqual(self.check_finished(run)["attempts"], 2)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

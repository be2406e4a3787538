"""Whoever belongs to a cluster and asks for more than its share starves nobody:
others are answered, a run goes on to its digest, and daemons that nobody can
reach are none."""

import json
import pathlib
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from asker import Bystanders
from clusters import PATIENCE_SECONDS, ClusterWorkplace, Daemon, free_port
from runs import SMALL, merged
from support import program

WATCHES = 24000
GREETINGS = 4200
REPORTS = 700
REPORTERS = 2
JOINS = 60
# Of one client and of one host; see client_limits.hpp, coordinator_limits.hpp.
WATCHES_OF_CLIENT = 16
RUNS_OF_HOST = 90
STATUSES = 20


class Flood(ClusterWorkplace):
    def flood(self, *arguments):
        """Starts a flooder; returns once it has sent everything."""
        flooder = (pathlib.Path(program()).parents[1]
                   / "tests/system/hostile/flooder")
        process = subprocess.Popen(
            [flooder, *map(str, arguments)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.wait, PATIENCE_SECONDS)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "flooding\n")
        return process

    def end(self, flooder):
        said, _ = flooder.communicate(timeout=PATIENCE_SECONDS)
        return said.split()

    def check_served(self, cluster, during):
        """Other clients are answered; says how long the slowest one took, with
        the start of its process."""
        slowest = 0
        for _ in range(STATUSES):
            start = time.monotonic()
            self.assertEqual(len(cluster.status()["daemons"]), 2)
            slowest = max(slowest, time.monotonic() - start)
        print(f"slowest of {STATUSES} statuses during {during}: "
              f"{slowest:.2f} s")

    def audit(self, cluster):
        path = cluster.folder / "runs" / "audit.jsonl"
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        return [json.loads(line) for line in path.read_text().splitlines()]

    def test_watches(self):
        cluster = self.cluster(["0", "1"], "--insecure")
        definition = self.write(SMALL, self.parts)
        before = cluster.run(definition)
        # A run that waits, so that its watchers do.
        cluster.ask("drain", "d1")
        run = cluster.ask("submit", definition)["run"]
        flooder = self.flood("watch", cluster.coordinator, run, WATCHES)
        self.check_served(cluster, f"{WATCHES} watches")
        self.assertIsNone(flooder.poll())
        cluster.wait_until(
            lambda: f"{WATCHES_OF_CLIENT} requests of yours for `watch`"
            in cluster.logs(), "complaint about watches")
        cluster.ask("drain", "d1", "--back")
        after = cluster.run(definition)
        self.assertEqual(after["digest"], before["digest"])
        self.end(flooder)
        cluster.wait_until(
            lambda: any(line["what"] == "watch"
                        and line["result"] == "refused"
                        and line["who"] == "flooder"
                        for line in self.audit(cluster)),
            "line about the flooder in the audit log")
        done = [(line["what"], line.get("object"))
                for line in self.audit(cluster) if line["result"] == "ok"]
        self.assertIn(("drain", "d1"), done)
        self.assertIn(("drain", "d1 (back)"), done)
        self.assertIn(("submit", run), done)
        self.assertIn(("deploy", f"{run} on d1"), done)
        self.assertEqual([what for what, _ in done].count("submit"), 3)

    def test_runs(self):
        """By a client that fills the queue; some places are left to others."""
        cluster = self.cluster(["0", "1"], "--insecure")
        definition = self.write(SMALL, self.parts)
        with Bystanders(self, cluster, self.parts):
            cluster.ask("drain", "d1")  # So that all of them wait.
            cluster.ask("submit", definition)
            said = cluster.refused("submit", definition, "--quiet",
                                   "--repeat", RUNS_OF_HOST)
        self.assertIn(f"{RUNS_OF_HOST - 1} of {RUNS_OF_HOST} runs are queued",
                      said)
        self.assertIn(f"{RUNS_OF_HOST} of them from your host", said)
        self.assertEqual(len(cluster.status()["queued"]), RUNS_OF_HOST)
        cluster.wait_until(
            lambda: any(line["what"] == "submit"
                        and line["result"] == "refused"
                        and line["code"] == "unavailable"
                        for line in self.audit(cluster)),
            "line about the runs in the audit log")

    def test_reports_of_health(self):
        """By clients, of a run that is on: nothing of them is kept, or even
        read."""
        cluster = self.cluster(["0", "1"], "--insecure")
        definition = self.write(
            merged(SMALL, {"train": {"epochs": 60}}), self.parts)
        before = cluster.run(definition)
        run = cluster.ask("submit", definition, "--set",
                          "faults.trainer_delay_ms=40")["run"]
        flooders = [self.flood("report", cluster.coordinator, run, REPORTS)
                    for _ in range(REPORTERS)]
        self.check_served(cluster,
                          f"{REPORTERS * REPORTS} reports of health")
        cluster.wait_until(lambda: "`health_report`" in cluster.logs(),
                           "complaint about reports")
        after = cluster.ask("watch", run, "--quiet")
        self.assertEqual(after["digest"], before["digest"])
        for flooder in flooders:
            self.assertEqual(self.end(flooder)[:2], ["served", "0"])

    def test_greetings(self):
        cluster = self.cluster(["0", "1"], "--insecure")
        definition = self.write(SMALL, self.parts)
        before = cluster.run(definition)
        flooder = self.flood("greet", cluster.coordinator, GREETINGS)
        self.check_served(cluster, f"{GREETINGS} greetings")
        after = cluster.run(definition)
        self.assertEqual(after["digest"], before["digest"])
        what, answered = self.end(flooder)
        print(f"{answered} of {GREETINGS} greetings were answered")
        self.assertEqual(what, "answered")
        self.assertGreater(int(answered), 0)
        self.check_served(cluster, "nothing")

    def test_a_name_that_commands_terminals(self):
        """It stands before each line of the daemon's own log."""
        cluster = self.cluster([], "--insecure")
        daemon = cluster.add("0-1", name="d\x1b[2J\nforged")
        cluster.await_daemons(1)
        log = daemon.log.read_text()
        self.assertNotIn("\x1b", log)
        self.assertIn(" d\\u001b[2J\\nforged: serves ", log)

    def test_a_daemon_that_comes_and_goes(self):
        """In a loop: the log tells of it in a few lines, and sums up."""
        cluster = self.cluster(["0", "1"], "--insecure")
        about = json.loads((self.parts / "partitions.json").read_text())
        with Bystanders(self, cluster, self.parts):
            flooder = self.flood(
                "join", cluster.coordinator, about["dataset"]["name"],
                about["dataset"]["digest"], ",".join(about["part_digests"]),
                JOINS)
            _, joined, _, back = self.end(flooder)
        self.assertGreater(int(joined), JOINS // 2)
        self.assertEqual(int(back), 0)  # Who has left does not come back.
        for said in ("more within 10 s like: daemon flooder at ",
                     "more within 10 s like: daemon flooder has left"):
            cluster.wait_until(lambda said=said: said in cluster.logs(), said)
        lines = [line for line in cluster.logs().splitlines()
                 if "daemon flooder" in line]
        self.assertLess(len(lines), JOINS)
        # Of others nothing is left out.
        self.assertIn("daemon d1 at ", cluster.logs())
        self.assertEqual(cluster.states(), {"d0": "ready", "d1": "ready"})

    def haunt(self, cluster):
        """Starts daemons that nobody can reach; waits for their refusals."""
        address = cluster.coordinator
        ghosts = [Daemon(cluster.folder, f"ghost{i}", self.parts, "1",
                         "--insecure", "--advertise",
                         f"127.0.0.1:{free_port()}", join=address)
                  for i in range(2)]
        # One that gives the address of another daemon.
        ghosts.append(Daemon(
            cluster.folder, "thief", self.parts, "1", "--insecure",
            "--advertise", cluster.daemons[1].address().split("//")[1],
            join=address))
        for ghost in ghosts:
            self.addCleanup(ghost.end)
        for said in ("cannot reach daemon \"ghost0\"", "nobody answers there",
                     "cannot reach daemon \"thief\"",
                     "another process answers there"):
            cluster.wait_until(lambda said=said: said in cluster.logs(), said)
        self.assertEqual(cluster.states(), {"d0": "ready", "d1": "ready"})
        return ghosts

    def test_ghosts(self):
        """Daemons that give an address where nobody is."""
        cluster = self.cluster(["0", "1"], "--insecure")
        with Bystanders(self, cluster, self.parts):
            ghosts = self.haunt(cluster)
        self.assertEqual(cluster.states(), {"d0": "ready", "d1": "ready"})
        for ghost in ghosts:
            self.assertFalse(ghost.ready.exists())
        self.assertTrue(any(
            line["what"] == "join" and line["result"] == "refused"
            # Those of one host are one line, with the name of the first.
            and line["who"] in ("ghost0", "ghost1", "thief")
            for line in self.audit(cluster)))


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

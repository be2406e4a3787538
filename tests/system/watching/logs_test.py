"""What all daemons of a cluster log of a run, by commands, and what happens to
them; the log of a daemon as lines of JSON in files of a bounded size."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import PATIENCE_SECONDS, ClusterWorkplace
from over_http import get, told_at
from runs import SMALL, merged
from support import graphmill, program

# Slow, so that it does not write a checkpoint all the time.
ENDLESS = merged(SMALL, {"train": {"batch_size": 8, "epochs": 100000},
                         "checkpoint": {"every_steps": 2},
                         "faults": {"trainer_delay_ms": 40}})


class Logs(ClusterWorkplace):
    def lines(self, cluster, *arguments):
        done = cluster.call("logs", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def begin(self, cluster):
        run = cluster.ask("submit", self.write(ENDLESS, self.parts))["run"]
        cluster.wait_until(
            lambda: any("train epoch 1" in line["text"]
                        for line in self.lines(cluster, run)
                        if "text" in line),
            "line of the end of a phase")
        return run

    def test_two_daemons(self):
        cluster = self.cluster(["0", "1"], "--http", "127.0.0.1:0")
        at = told_at(cluster.daemons[0], "the cluster")
        run = self.begin(cluster)
        follower = subprocess.Popen(
            [program(), "logs", run, "--follow", "--cluster",
             cluster.coordinator], stdout=subprocess.PIPE, text=True)
        self.addCleanup(follower.kill)
        # Whoever does not answer within seconds is not waited for.
        lines = []

        def has_ready_line():
            lines[:] = self.lines(cluster, run)
            return any(line["text"] == f"run {run}: ready"
                       and line["daemon"] == "d1"
                       and line["module"] == "agent" for line in lines)
        cluster.wait_until(has_ready_line, "line of d1")
        self.assertEqual({line["daemon"] for line in lines}, {"d0", "d1"})
        self.assertEqual({line["run"] for line in lines}, {run})
        of_one = self.lines(cluster, run, "--daemon", "d1")
        self.assertEqual({line["daemon"] for line in of_one}, {"d1"})
        cluster.daemons[1].kill()
        cluster.wait_until(
            lambda: self.lines(cluster, run, "--level", "warn"), "warning")
        cluster.wait_until(lambda: "lost" in self.kinds(cluster, run),
                           "event of a loss")
        self.assertLessEqual(
            {line["level"] for line in
             self.lines(cluster, run, "--level", "warn")},
            {"warn", "error", "critical"})
        told = json.loads(get(at, f"/api/logs?run={run}&level=warn")[1])
        self.assertEqual({line["run"] for line in told["lines"]}, {run})
        self.assertEqual(get(at, "/api/logs?level=loud")[0], 400)
        cluster.add("1", name="d1")
        cluster.wait_until(
            lambda: "recovered" in self.kinds(cluster, run),
            "event of a recovery")
        cluster.ask("cancel", run)
        followed, _ = follower.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(follower.returncode, 0)
        self.assertIn(" d1 info  ", followed)
        self.assertIn("run ended after", followed)
        self.assertLessEqual({"joined", "lost", "checkpoint", "recovered",
                              "ended"}, self.kinds(cluster))
        self.assertNotIn("joined", self.kinds(cluster, run))
        done = graphmill("events", run, "--follow", "--cluster",
                         cluster.coordinator)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("  recovered ", done.stdout)

    def kinds(self, cluster, *arguments):
        done = cluster.call("events", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {json.loads(line)["kind"] for line in done.stdout.splitlines()}

    def test_a_name_that_commands_terminals(self):
        cluster = self.cluster([], "--insecure")
        cluster.add("0-1", name="d\x1b[2J\nforged")
        cluster.await_daemons(1)
        summary = cluster.run(self.write(SMALL, self.parts))
        for command in (["logs", pathlib.Path(summary["run"]).name],
                        ["events"]):
            done = graphmill(*command, "--cluster", cluster.coordinator,
                             "--insecure")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("\x1b", done.stdout)
            self.assertIn("d\\u001b[2J\\nforged", done.stdout)
            self.assertFalse(any(line.startswith("forged")
                                 for line in done.stdout.splitlines()))

    def test_files_of_a_bounded_size(self):
        cluster = self.cluster([])
        log = cluster.folder / "daemon.json"
        daemon = cluster.add("0-1", "--log-file", log, "--log-format", "json",
                             "--log-level", "warn,transport=debug,agent=info",
                             "--log-file-size", "4KiB", "--log-files", "3")
        cluster.await_daemons(1)
        files = [log, log.with_name("daemon.json.1"),
                 log.with_name("daemon.json.2")]
        cluster.wait_until(  # Each client comes and leaves.
            lambda: cluster.status() and all(file.exists() for file in files),
            "files that are full")
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(
            {file.name for file in cluster.folder.glob("daemon.json*")},
            {file.name for file in files})
        modules = set()
        for file in files:
            self.assertLessEqual(file.stat().st_size, 4096)
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)
            for line in file.read_text().splitlines():
                told = json.loads(line)
                modules.add(told["module"])
                self.assertEqual(told["daemon"], "d0")
                if told["level"] in ("debug", "info"):
                    self.assertIn(told["module"], ("transport", "agent"))
        self.assertIn("transport", modules)


if __name__ == "__main__":
    program()
    unittest.main()

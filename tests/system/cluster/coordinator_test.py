"""A coordinator in trouble: its disk is full, it is killed, it is told to end,
daemons that its runs need are away."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import ClusterWorkplace
from runs import PATIENCE_SECONDS, SMALL, merged
from support import program

# Goes on until somebody ends it, or it loses a daemon. Without checkpoints,
# which come and go on a disk that a test fills to the byte.
LONG = merged(SMALL, {"train": {"epochs": 100000}, "checkpoint": {"keep": 0},
                      "recovery": {"wait": 0}})


class CoordinatorTest(ClusterWorkplace):
    def setUp(self):
        self.small = self.write(SMALL, self.parts)
        self.long = self.write(LONG, self.parts, "-long")

    def submit(self, cluster, file, *more):
        return cluster.ask("submit", file, *more)["run"]

    def begin_long(self, cluster, *more):
        """Submits a run that does not end; returns its id once it is on."""
        run = self.submit(cluster, self.long, *more)
        cluster.wait_until(lambda: "train epoch 2" in self.log(cluster, run),
                           "end of a phase")
        return run

    def log(self, cluster, run):
        done = cluster.call("logs", run)
        return done.stdout if done.returncode == 0 else ""


class FullDisk(CoordinatorTest):
    def cluster_on(self, size):
        """A cluster whose runs go to a tiny file system; also returns the way
        there, as the coordinator alone sees it."""
        probe = subprocess.run(["unshare", "-m", "true"], capture_output=True)
        if os.geteuid() != 0 or probe.returncode != 0:
            self.skipTest("needs root, to mount a tiny file system")
        cluster = self.cluster([])
        folder = cluster.folder / "runs"
        folder.mkdir()
        first = cluster.add("0", within=[
            "unshare", "-m", "--propagation", "private", "sh", "-c",
            f"mount -t tmpfs -o size={size},mode=700 none \"$0\" && exec \"$@\"",
            str(folder)])
        first.address()
        cluster.add("1")
        cluster.await_daemons(2)
        return cluster, pathlib.Path(
            f"/proc/{first.process.pid}/root{folder}")

    @staticmethod
    def fill(disk):
        with (disk / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass

    def test_full_while_a_checkpoint_comes(self):
        trained = pathlib.Path(self.train(SMALL, self.parts)["run"])
        checkpoint = sorted((trained / "checkpoints").glob("[0-9]*"))[-1]
        cluster, disk = self.cluster_on("1m")
        self.fill(disk)
        self.assertIn("cannot keep what is uploaded",
                      cluster.refused("resume", "--from", checkpoint))
        (disk / "filler").unlink()
        self.assertIn("train.epochs: 2, now 3",
                      cluster.refused("resume", "--from", checkpoint, "--set",
                                      "train.epochs=3"))

    def test_full_while_a_run_is_on(self):
        cluster, disk = self.cluster_on("1m")
        run = self.begin_long(cluster)
        queued = self.submit(cluster, self.small)
        watcher = subprocess.Popen(
            [program(), "watch", run, "--json", "--quiet", "--cluster",
             cluster.coordinator], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(watcher.kill)
        self.fill(disk)
        # The run has failed, says everybody, and why twice over.
        out, err = watcher.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(watcher.returncode, 1, err)
        self.assertEqual(json.loads(out)["run"].split("/")[-1], run)
        for text in (json.loads(out)["error"], err,
                     cluster.record(run)["message"]):
            self.assertIn("metrics.jsonl: No space left on device", text)
            self.assertIn("could not be saved", text)
            self.assertIn("weights.safetensors: No space left", text)
        self.assertEqual(cluster.record(run)["state"], "failed")
        listed = {one["run"]: one["state"]
                  for one in cluster.ask("runs")["runs"]}
        self.assertEqual(listed, {run: "failed", queued: "queued"})
        self.assertIn("is failed already", cluster.refused("cancel", run))
        status = cluster.status()
        self.assertIsNone(status["running"])
        self.assertIn("kept in memory alone", status["note"])
        # No run is taken that would be lost.
        self.assertIn("No space left", cluster.refused("submit", self.small))
        self.assertEqual({one.name for one in disk.iterdir()
                          if one.is_dir()}, {run, queued})
        # What waits does not fail for what is no fault of its own.
        record = cluster.record(queued)
        self.assertEqual(record["state"], "queued")
        self.assertIn("database or disk is full", record["message"])
        # With room again, all goes on, and the history catches up.
        (disk / "filler").unlink()
        cluster.wait_until(lambda: not cluster.status()["note"],
                           "history that is written")
        self.assertEqual(cluster.record(run)["state"], "failed")
        self.assertGreater(cluster.run(self.small)["steps"], 0)
        self.assertEqual(cluster.record(queued)["state"], "finished")


class Ends(CoordinatorTest):
    def restart(self, cluster):
        """A coordinator with the same runs, alone."""
        for daemon in cluster.daemons:
            daemon.end()
        cluster.daemons = []
        cluster.add("0-1")
        cluster.await_daemons(1)

    def test_killed(self):
        """What was on and what was queued is found by the next coordinator,
        though it has no checkpoint, and other daemons. It waits for the old
        ones for longer than its run would for any."""
        cluster = self.cluster(["0", "1"])
        run = self.begin_long(cluster, "--set", "recovery.wait=1")
        queued = self.submit(cluster, self.small)
        gone = self.submit(cluster, self.small)
        before = cluster.record(run)
        cluster.daemons[0].kill()
        shutil.rmtree(cluster.folder / "runs" / gone)
        self.restart(cluster)
        record = cluster.record(gone)
        self.assertEqual(record["state"], "failed")
        self.assertIn("started anew and cannot go on with it",
                      record["message"])
        self.assertEqual(cluster.status()["queued"][-1], queued)
        self.assertEqual(cluster.record(queued)["state"], "queued")
        record = cluster.await_state(run, "running")
        self.assertEqual(record["started"], before["started"])
        cluster.wait_until(
            lambda: "attempt 2 goes on from the beginning"
            in cluster.daemons[0].log.read_text(), "second attempt")
        cluster.ask("cancel", run)
        cluster.await_state(run, "cancelled")
        cluster.await_state(queued, "finished")
        # The next coordinator leaves it at that.
        self.restart(cluster)
        self.assertEqual(cluster.record(run)["state"], "cancelled")
        self.assertIsNone(cluster.status()["running"])
        self.assertGreater(cluster.run(self.small)["steps"], 0)
        # The list, page by page.
        pages = [cluster.ask("runs", "--limit", 2)]
        last = pages[0]["runs"][-1]["run"]
        pages.append(cluster.ask("runs", "--limit", 2, "--before", last))
        self.assertEqual([page["more"] for page in pages], [True, False])
        self.assertEqual({one["run"] for page in pages
                          for one in page["runs"]} & {run, queued},
                         {run, queued})

    def check_ended(self, number):
        cluster = self.cluster(["0", "1"])
        run = self.begin_long(cluster)
        queued = self.submit(cluster, self.small)
        first = cluster.daemons[0]
        os.kill(first.process.pid, number)
        self.assertEqual(first.process.wait(PATIENCE_SECONDS), 0,
                         cluster.logs())
        folder = cluster.folder / "runs" / run
        self.assertTrue((folder / "weights.safetensors").exists())
        self.restart(cluster)
        record = cluster.record(run)
        self.assertEqual(record["state"], "cancelled", record)
        self.assertGreater(record["summary"]["steps"], 0)
        # The queue is left to the next one.
        cluster.await_state(queued, "finished")

    def test_told_to_end(self):
        self.check_ended(signal.SIGTERM)

    def test_hung_up(self):
        self.check_ended(signal.SIGHUP)

    def test_the_only_trainer_leaves_with_its_weights_saved(self):
        cluster = self.cluster(["0", "1"])
        run = self.begin_long(cluster, "--set", "placement.trainers=[d1]")
        self.assertEqual(cluster.daemons[1].stop(), 0)
        record = cluster.await_state(run, "failed")
        self.assertIn('"d1" has left', record["message"])
        folder = cluster.folder / "runs" / run
        self.assertTrue((folder / "weights.safetensors").exists(),
                        cluster.logs())
        self.assertNotIn("d1", cluster.states())


class Resumed(CoordinatorTest):
    def test_a_run_that_lost_a_daemon(self):
        """It goes on with the daemons that are left, to the same weights."""
        definition = merged(SMALL, {
            "checkpoint": {"every_steps": 2}, "train": {"epochs": 8},
            "recovery": {"wait": 0}})
        whole = self.train(definition, self.parts)
        slow = self.write(merged(definition,
                                 {"faults": {"trainer_delay_ms": 200}}),
                          self.parts, "-slow")
        cluster = self.cluster(["0-1", "1"])
        run = self.submit(cluster, slow, "--set", "placement.trainers=[d1]")
        cluster.wait_until(lambda: "train epoch 2" in self.log(cluster, run),
                           "end of a phase")
        cluster.daemons[1].kill()
        cluster.await_state(run, "failed")
        self.assertIn("train.epochs: 8, now 9",
                      cluster.refused("resume", run, "--set",
                                      "train.epochs=9", "--set",
                                      "placement.trainers=[d0]"))
        again = cluster.ask("resume", run, "--set",
                            "faults.trainer_delay_ms=0", "--set",
                            "placement.trainers=[d0]")["run"]
        self.assertNotEqual(again, run)
        cluster.await_state(again, "finished")
        folder = cluster.folder / "runs" / again
        summary = json.loads((folder / "summary.json").read_text())
        self.assertEqual(summary["digest"], whole["digest"])
        self.assertEqual(summary["steps"], whole["steps"])
        lines = (folder / "metrics.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["epoch"] for line in lines
                          if '"train"' in line], list(range(1, 9)))


class Away(CoordinatorTest):
    """Runs wait for daemons that are out of service."""

    def test_draining(self):
        cluster = self.cluster(["0-1", "1"])
        needs = ["--set", "placement.trainers=[d1]"]
        long = self.begin_long(cluster)
        waits = self.submit(cluster, self.small, *needs)
        cluster.ask("drain", "d1")
        also = self.submit(cluster, self.small, *needs)
        other = self.submit(cluster, self.small)
        cluster.ask("cancel", long)
        # What needs d1 waits and says so; what does not goes past it.
        cluster.await_state(other, "finished")
        for run in (waits, also):
            record = cluster.record(run)
            self.assertEqual(record["state"], "queued")
            self.assertIn("draining: d1", record["message"])
            self.assertNotIn("start one", record["message"])
        self.assertEqual(cluster.status()["queued"], [waits, also])
        cluster.ask("cancel", also)
        cluster.ask("drain", "d1", "--back")
        record = cluster.await_state(waits, "finished")
        self.assertEqual(record["message"], "")

    def test_lost(self):
        cluster = self.cluster(["0", "1"])
        long = self.begin_long(cluster)
        waits = self.submit(cluster, self.small)
        cluster.daemons[1].kill()
        cluster.await_state(long, "failed")
        cluster.wait_until(
            lambda: "lost: d1" in cluster.record(waits)["message"],
            "reason to wait")
        self.assertEqual(cluster.record(waits)["state"], "queued")
        cluster.add("1", name="d1")
        cluster.await_state(waits, "finished")


if __name__ == "__main__":
    program()
    unittest.main()

"""Checkpoints that a cluster has never seen are uploaded, and gone on with."""

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
from runs import (PATIENCE_SECONDS, SMALL, Running, merged, partitioned,
                  small_rmat)
from support import graphmill, program

# Eight epochs of four steps, with checkpoints within epochs.
DEFINITION = merged(SMALL, {
    "train": {"epochs": 8}, "checkpoint": {"every_steps": 3},
    "recovery": {"wait": 0}})
SLOW = merged(DEFINITION, {"faults": {"trainer_delay_ms": 100}})


class Upload(ClusterWorkplace):
    def setUp(self):
        self.runs = self.top / f"{self.own_name}-runs"

    def killed(self):
        """Trains in one process that is killed; returns its last checkpoint,
        copied elsewhere."""
        def made(run):
            return sorted((run.folder() / "checkpoints").glob("[0-9]*"))
        with Running(self.arguments(SLOW, self.parts)) as run:
            run.wait_until(lambda: run.folder() and made(run),
                           "checkpoint")
            run.signal(signal.SIGKILL)
            run.end()
        copied = self.top / f"{self.own_name}-copied"
        shutil.copytree(made(run)[-1], copied)
        shutil.rmtree(run.folder())
        return copied

    def uploaded(self, cluster):
        """The files of uploads at the coordinator."""
        return [file for _, _, files in
                os.walk(cluster.folder / "runs" / ".uploads")
                for file in files]

    def await_no_uploads(self, cluster):
        cluster.wait_until(lambda: not self.uploaded(cluster),
                           "end of uploads")

    def test_a_run_that_the_cluster_has_never_seen(self):
        whole = self.train(DEFINITION, self.parts)
        self.runs = self.runs.with_name("killed")
        checkpoint = self.killed()
        cluster = self.cluster(["0", "1"])
        run = cluster.ask("resume", "--from", checkpoint, "--set",
                          "faults.trainer_delay_ms=0")["run"]
        cluster.await_state(run, "finished")
        folder = cluster.folder / "runs" / run
        summary = json.loads((folder / "summary.json").read_text())
        self.assertEqual(summary["digest"], whole["digest"])
        self.assertEqual(summary["steps"], whole["steps"])
        lines = [json.loads(line) for line in
                 (folder / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([line["epoch"] for line in lines
                          if line["phase"] == "train"], list(range(1, 9)))
        self.await_no_uploads(cluster)

    def test_a_queued_run_outlives_the_coordinator(self):
        """It has its checkpoint from then on, though it keeps nothing for
        attempts."""
        whole = self.train(DEFINITION, self.parts)
        self.runs = self.runs.with_name("queued")
        checkpoint = self.killed()
        cluster = self.cluster(["0", "1"])
        long = self.write(merged(SMALL, {"train": {"epochs": 100000},
                                         "recovery": {"wait": 0}}),
                          self.parts, "-long")
        first = cluster.ask("submit", long)["run"]
        run = cluster.ask("resume", "--from", checkpoint, "--set",
                          "faults.trainer_delay_ms=0")["run"]
        shutil.rmtree(checkpoint)
        cluster.await_state(first, "running")
        for daemon in cluster.daemons:
            daemon.end()
        left = cluster.folder / "runs" / ".uploads" / "1" / "1" / "state.json"
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_text("{}")
        cluster.daemons = []
        cluster.add("0-1")
        cluster.await_daemons(1)
        self.assertEqual(self.uploaded(cluster), [])
        cluster.ask("cancel", first)
        cluster.await_state(run, "finished")
        summary = json.loads(
            (cluster.folder / "runs" / run / "summary.json").read_text())
        self.assertEqual(summary["digest"], whole["digest"])

    def test_weights_of_another_run(self):
        """They begin a run on a cluster as they do in one process."""
        first = self.train(SMALL, self.parts)
        begun = merged(SMALL, {
            "seed": 8,
            "model": {"weights": f"{first['run']}/weights.safetensors"}})
        alone = self.train(begun, self.parts)
        anew = self.train(merged(begun, {"model": {"weights": ""}}),
                          self.parts)
        self.assertNotEqual(alone["digest"], anew["digest"])
        cluster = self.cluster(["0", "1"])
        file = self.write(begun, self.parts, "-begun")
        self.assertEqual(len(cluster.ask("plan", file)["daemons"]), 2)
        summary = cluster.run(file)
        self.assertEqual(summary["digest"], alone["digest"])
        self.assertEqual(summary["steps"], alone["steps"])
        self.await_no_uploads(cluster)
        said = cluster.refused("submit", self.write(
            merged(begun, {"model": {"hidden": 8}}), self.parts, "-narrow"))
        self.assertIn("has shape", said)
        self.await_no_uploads(cluster)
        # What it began with is in no cluster's way later.
        checkpoint = max(pathlib.Path(alone["run"], "checkpoints")
                         .glob("[0-9]*"))
        longer = ["--set", "train.epochs=3", "--with-changes"]
        run = cluster.ask("resume", "--from", checkpoint, *longer)["run"]
        record = cluster.await_state(run, "finished")
        here = self.ask("resume", alone["run"], *longer)
        self.assertEqual(record["summary"]["digest"], here["digest"])

    def test_refused(self):
        checkpoint = self.killed()
        cluster = self.cluster(["0", "1"])

        def refused(*more):
            said = cluster.refused("resume", "--from", checkpoint, *more)
            self.assertEqual(cluster.ask("runs")["runs"], [])
            self.await_no_uploads(cluster)
            return said

        self.assertIn("train.epochs: 8, now 9",
                      refused("--set", "train.epochs=9"))
        self.assertIn("trainer.replicas",
                      refused("--set", "trainer.replicas=2"))
        # A bit of the weights, then of the state, which is read here, too.
        tensors = checkpoint / "tensors.safetensors"
        sound = tensors.read_bytes()
        tensors.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
        said = refused()
        self.assertIn("the checkpoint that was uploaded is refused", said)
        self.assertIn("tensors.safetensors is damaged", said)
        tensors.write_bytes(sound[:-1])
        self.assertIn("is damaged", refused())
        # More than its model has; then so much that it is not even sent. Holes
        # take no room here.
        with tensors.open("r+b") as file:
            file.truncate(32 << 20)
        self.assertIn("the weights and moments of its model", refused())
        with tensors.open("r+b") as file:
            file.truncate((8 << 30) + 1)
        self.assertIn("takes no more than 8589934592", refused())
        tensors.write_bytes(sound)
        state = checkpoint / "state.json"
        text = state.read_bytes()
        state.write_bytes(text.replace(b'"epoch":', b'"epocH":', 1))
        self.assertIn("has not the digest that stands in it", refused())
        state.unlink()
        self.assertIn("is no checkpoint", refused())
        state.write_bytes(text)
        for where in ([], ["--cluster", cluster.coordinator]):
            done = graphmill("resume", *where)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("say what", done.stderr)

    def test_a_run_that_is_over(self):
        cluster = self.cluster(["0", "1"])
        run = cluster.ask("submit", self.write(SMALL, self.parts))["run"]
        cluster.await_state(run, "finished")
        folder = cluster.folder / "runs" / run
        summary = json.loads((folder / "summary.json").read_text())
        told = cluster.ask("status", run)["summary"]
        self.assertEqual(told["digest"], summary["digest"])
        done = graphmill("status", run, "--cluster", cluster.coordinator)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\ntest accuracy +0\.\d{4}\n")
        self.assertRegex(done.stdout,
                         rf"\nweights digest +{summary['digest']}\n")
        self.assertIn("no step is left to train",
                      cluster.refused("resume", run))
        self.assertIn("has shape",
                      cluster.refused("resume", run, "--set",
                                      "model.hidden=64", "--with-changes"))
        said = cluster.refused("resume", folder)
        self.assertIn("is a path", said)
        self.assertIn(f"give {run} if", said)
        self.assertEqual([one["run"] for one in cluster.ask("runs")["runs"]],
                         [run])
        fetched = self.top / "fetched"
        done = graphmill("fetch", run, "--out", fetched, "--cluster",
                         cluster.coordinator)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("goes on with it", done.stdout)  # It is over.
        done = graphmill("resume", fetched)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("--from-start", done.stderr)
        shutil.rmtree(folder)
        for command in (["resume"],
                        ["fetch", "--out", self.top / "nothing"]):
            self.assertIn(f'has no folder of run "{run}"',
                          cluster.refused(*command[:1], run, *command[1:]))

    def test_another_dataset(self):
        checkpoint = self.killed()
        other = partitioned(small_rmat(self.top / "other" / "rmat", seed=4), 1,
                            "random")
        cluster = self.cluster(["0"], data=other)
        said = cluster.refused("resume", "--from", checkpoint)
        self.assertIn("serves another dataset than the one that", said)
        self.assertIn("`graphmill stop --all` and start its daemons with "
                      "--data of the other one", said)
        # It tells the front of the digest that was sent, and of its own none.
        sent = json.loads((checkpoint / "state.json").read_text())[
            "state"]["dataset_digest"]
        own = json.loads((other / "partitions.json").read_text())[
            "dataset"]["digest"]
        self.assertNotEqual(sent, own)
        self.assertIn(sent[:9], said)
        self.assertNotIn(sent, said)
        self.assertNotIn(own[:9], said)
        self.await_no_uploads(cluster)

    def test_a_client_that_is_killed(self):
        """What it has sent goes with it."""
        checkpoint = self.killed()
        with (checkpoint / "tensors.safetensors").open("r+b") as file:
            file.truncate(4 << 30)
        cluster = self.cluster(["0", "1"])
        client = subprocess.Popen(
            [program(), "resume", "--from", str(checkpoint), "--cluster",
             cluster.coordinator, "--quiet"])
        self.addCleanup(client.kill)
        cluster.wait_until(
            lambda: "tensors.safetensors" in self.uploaded(cluster), "upload")
        client.kill()
        client.wait(PATIENCE_SECONDS)
        self.await_no_uploads(cluster)
        self.assertEqual(cluster.ask("runs")["runs"], [])


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

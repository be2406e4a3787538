"""Damaged data: found while a run trains, named, and nothing succeeds on them."""

import json
import os
import pathlib
import shutil
import signal
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import clusters
import runs
import support
from runs import merged, partitioned, small_rmat
from support import graphmill, np

BITS = 2000


def flip(path, bit, seed=1):
    """Flips a bit of many elements. Their file keeps its size."""
    array = np.load(path, mmap_mode="r+")
    words = array.view(np.uint32).reshape(-1)
    at = np.random.default_rng(seed).choice(words.size, min(BITS, words.size),
                                            replace=False)
    words[at] ^= np.uint32(1 << bit)
    array.flush()


class Damage(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat")
        cls.parts = partitioned(cls.data, 2, "random")

    def damaged(self, name, bit):
        """A copy of the parts with flipped bits in a file; returns both."""
        copy = self.top / self.own_name
        shutil.copytree(self.parts, copy)
        flip(copy / name, bit)
        return copy, copy / name

    def fails(self, *arguments):
        done = graphmill(*arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stdout + done.stderr

    def check_damage(self, name, bit):
        copy, file = self.damaged(name, bit)
        path = self.write(runs.SMALL, copy)
        train = ["train", path, "--data", copy, "--runs", self.runs]
        said = self.fails(*train)
        self.assertIn(f"{file} is damaged", said)
        self.assertIn(f"{file} is damaged", self.fails("inspect", copy))
        # Who insists gets other weights than those of the sound data.
        done = graphmill(*train, "--no-verify", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        sound = self.train(runs.SMALL, self.parts)
        self.assertNotEqual(
            json.loads(done.stdout.splitlines()[-1])["digest"],
            sound["digest"])
        for command in ("evaluate", "predict"):
            more = (["--out", self.top / "p.npy"] if command == "predict"
                    else [])
            self.assertIn(
                f"{file} is damaged",
                self.fails(command, sound["run"], "--data", copy, *more))

    def test_exponents_of_features(self):
        self.check_damage("part-1/nodes/node/features.npy", 27)

    def test_low_bits_of_indices(self):
        edges = next((self.parts / "part-0" / "edges").iterdir()).name
        self.check_damage(f"part-0/edges/{edges}/indices.npy", 0)

    def test_data_that_are_damaged_in_use_end_a_run(self):
        copy = self.top / "in-use"
        shutil.copytree(self.parts, copy)
        long = self.write(merged(runs.SMALL, {
            "train": {"epochs": 100000},
            "faults": {"trainer_delay_ms": 20}}), copy)
        file = copy / "part-1/nodes/node/features.npy"
        for interrupted in (False, True):
            home = self.top / f"in-use-runs-{interrupted}"
            with runs.Running([support.program(), "train", str(long), "--data",
                               str(copy), "--runs", str(home),
                               "--quiet"]) as run:
                run.await_phases(2)
                flip(file, 27)
                if interrupted:
                    run.signal(signal.SIGINT)
                code, _, said = run.end()
            self.assertEqual(code, 1, said)
            self.assertIn(str(file), said)
            flip(file, 27)  # Back again.

    def test_a_dataset_is_verified_before_it_is_cut(self):
        copy = self.top / "whole"
        shutil.copytree(self.data, copy)
        features = copy / "nodes" / "node" / "features.npy"
        flip(features, 27)
        said = self.fails("partition", copy, "--parts", 2, "--method",
                          "random", "--out", self.top / "never")
        self.assertIn(f"{features} is damaged", said)

    def test_what_was_verified_is_not_read_again(self):
        copy = self.top / "again"
        shutil.copytree(self.parts, copy)

        def has_verified():
            summary = self.train(runs.SMALL, copy)
            return "verified" in (pathlib.Path(summary["run"])
                                  / "log.txt").read_text()
        self.assertTrue(has_verified())
        # Files that have just been written are not remembered.
        deadline = time.monotonic() + clusters.PATIENCE_SECONDS
        while has_verified():
            self.assertLess(time.monotonic(), deadline)

    def cluster(self, data):
        return clusters.Cluster(self.top / f"{data.name}-cluster", data,
                                ["0", "1"])

    def await_state(self, cluster, name, state):
        cluster.wait_until(lambda: cluster.states().get(name) == state,
                           f"daemon {name} that is {state}")
        return next(d for d in cluster.status()["daemons"]
                    if d["name"] == name)

    def test_a_daemon_says_that_its_data_are_damaged(self):
        copy, file = self.damaged("part-1/nodes/node/features.npy", 27)
        with self.cluster_of_damaged(copy) as cluster:
            daemon = self.await_state(cluster, "d1", "damaged")
            self.assertIn(f"{file} is damaged", daemon["note"])
            path = self.write(runs.SMALL, copy)
            said = cluster.refused("submit", path)
            self.assertIn("no daemon serves part 1", said)
            self.assertIn(f"{file} is damaged", said)
            # Restored, it serves again.
            shutil.copy(self.parts / "part-1/nodes/node/features.npy", file)
            self.await_state(cluster, "d1", "ready")
            summary = cluster.run(self.write(
                merged(runs.SMALL, {"trainer": {"replicas": 2}}), copy))
            self.assertIn("digest", summary)

    def test_seeds_that_were_restored_are_read_again(self):
        copy = self.top / "seeds"
        shutil.copytree(self.parts, copy)
        file = next((copy / "seeds").rglob("train.npy"))
        sound = file.read_bytes()
        seeds = np.load(file)
        seeds[:50] ^= 1
        np.save(file, seeds)
        with self.cluster_of_damaged(copy) as cluster:
            for name in ("d0", "d1"):
                note = self.await_state(cluster, name, "damaged")["note"]
                self.assertIn(f"{file} is damaged", note)
            file.write_bytes(sound)
            for name in ("d0", "d1"):
                self.await_state(cluster, name, "ready")
            summary = cluster.run(self.write(runs.SMALL, copy))
        self.assertEqual(summary["digest"],
                         self.train(runs.SMALL, self.parts)["digest"])

    def test_a_daemon_does_not_go_on_with_another_graph(self):
        copy = self.top / "another"
        shutil.copytree(self.parts, copy)
        book = copy / "partitions.json"
        sound = book.read_text()
        with self.cluster(copy) as cluster:
            about = json.loads(sound)
            about["dataset"]["node_types"][0]["class_names"] = []
            about["dataset"]["edge_types"][0]["max_in_degree"] += 1
            del about["own_digest"]
            book.write_text(json.dumps(about))
            for name in ("d0", "d1"):
                # A look that was on when the file changed says only that it did.
                self.await_state(cluster, name, "damaged")
                cluster.wait_until(
                    lambda: any(f"{copy} is another graph" in daemon["note"]
                                for daemon in cluster.status()["daemons"]
                                if daemon["name"] == name),
                    f"word of another graph from {name}")
            book.write_text(sound)
            for name in ("d0", "d1"):
                self.await_state(cluster, name, "ready")

    def test_what_is_said_of_the_arrays(self):
        copy = self.top / "said"
        shutil.copytree(self.data, copy)
        book = copy / "dataset.json"
        about = json.loads(book.read_text())
        about["node_types"][0]["class_count"] += 1
        book.write_text(json.dumps(about))
        self.check_refused(copy, f"{book} is damaged")

    def test_an_array_without_a_digest(self):
        copy = self.top / "unrecorded"
        shutil.copytree(self.data, copy)
        book = copy / "dataset.json"
        about = json.loads(book.read_text())
        name = next(name for name in about["array_digests"]
                    if name.endswith("features.npy"))
        del about["array_digests"][name]
        book.write_text(json.dumps(about))
        self.check_refused(copy, f"{copy / name} has no digest on record")

    def check_refused(self, data, why):
        """By all that reads a whole dataset; --no-verify takes it."""
        path = self.write(runs.SMALL, data)
        train = ["train", path, "--data", data, "--runs", self.runs]
        self.assertIn(why, self.fails(*train))
        self.assertIn(why, self.fails("inspect", data))
        self.assertIn(why, self.fails("partition", data, "--parts", 2,
                                      "--out", self.top / "never"))
        done = graphmill(*train, "--no-verify")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_weights(self):
        run = pathlib.Path(self.train(runs.SMALL, self.data)["run"])
        weights = run / "weights.safetensors"
        sound = weights.read_bytes()
        bad = bytearray(sound)
        bad[-2] ^= 0x40
        out = ["--out", self.top / "classes.npy"]
        for command, more in (("evaluate", []), ("predict", out)):
            with self.subTest(command):
                weights.write_bytes(sound)
                self.ask(command, run, *more)
                weights.write_bytes(bad)
                self.assertIn(f"{weights} is damaged",
                              self.fails(command, run, *more))
                self.ask(command, run, "--no-verify", *more)
        (run / "summary.json").unlink()
        self.ask("evaluate", run)

    def test_a_pipe_in_the_place_of_an_array(self):
        copy = self.top / "pipe"
        shutil.copytree(self.parts, copy)
        file = next((copy / "part-1").rglob("features.npy"))
        file.unlink()
        os.mkfifo(file)
        path = self.write(runs.SMALL, copy)
        for storage in ("memory", "disk"):
            self.assertIn(f"{file} is not a file", self.fails(
                "train", path, "--data", copy, "--runs", self.runs,
                "--storage", storage))
        self.assertIn(f"{file} is not a file", self.fails("inspect", copy))

    def cluster_of_damaged(self, data):
        """Does not wait for daemons to be ready: one will not be."""
        out = clusters.Cluster(self.top / f"{data.name}-cluster", data, [])
        out.add("0")
        out.add("1")
        return out

    def copy_of_parts(self, name):
        """A copy of the parts, and a file of it; returns both."""
        copy = self.top / name
        shutil.copytree(self.parts, copy)
        return copy, copy / "part-1/nodes/node/features.npy"

    def begin_long_run(self, cluster, data):
        """Submits a run that does not end by itself; returns its name."""
        long = merged(runs.SMALL, {"train": {"epochs": 100000},
                                   "faults": {"trainer_delay_ms": 20}})
        run = cluster.ask("submit", self.write(long, data, "-long"))["run"]
        metrics = cluster.folder / "runs" / run / "metrics.jsonl"
        cluster.wait_until(lambda: metrics.exists() and metrics.read_text(),
                           "end of an epoch")
        return run

    def await_failure(self, cluster, run):
        """Waits until a run has failed; returns what it says of that."""
        return cluster.await_state(run, "failed")["message"]

    def test_a_file_truncated_in_use_fails_that_run_only(self):
        copy, file = self.copy_of_parts("truncated")
        with self.cluster(copy) as cluster:
            run = self.begin_long_run(cluster, copy)
            again = self.write(runs.SMALL, copy, "-again")
            waiting = [cluster.ask("submit", again)["run"] for _ in range(3)]
            os.truncate(file, 4096)
            self.assertIn(str(file), self.await_failure(cluster, run))
            daemon = self.await_state(cluster, "d1", "damaged")
            self.assertIn(str(file), daemon["note"])
            for one in waiting:
                self.assertEqual(cluster.record(one)["state"], "queued")
            shutil.copy(self.parts / "part-1/nodes/node/features.npy", file)
            self.await_state(cluster, "d1", "ready")
            summary = cluster.run(again)
            for one in waiting:
                self.assertEqual(cluster.record(one)["state"],
                                 "finished")
        self.assertEqual(summary["digest"],
                         self.train(runs.SMALL, self.parts)["digest"])

    def test_a_file_flipped_in_use_ends_the_run(self):
        copy, file = self.copy_of_parts("flipped")
        with self.cluster(copy) as cluster:
            run = self.begin_long_run(cluster, copy)
            # On a slow machine the first look may still be under way.
            cluster.wait_until(
                lambda: "verified" in cluster.daemons[1].log.read_text(),
                "data that are verified")
            flip(file, 27)
            self.assertIn(f"{file} is damaged",
                          self.await_failure(cluster, run))


class Arithmetic(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")

    def test_daemons_that_round_differently_do_not_train_together(self):
        two = merged(runs.SMALL, {"trainer": {"replicas": 2}})
        with clusters.Cluster(self.top / "mixed", self.parts, ["0"]) as mixed:
            # A kind of CPU without fused products.
            mixed.add("1", within=["env", "OPENBLAS_CORETYPE=Nehalem"])
            mixed.await_daemons(2)
            said = mixed.refused("submit", self.write(two, self.parts))
            self.assertIn("Nehalem", said)
            self.assertIn("OPENBLAS_CORETYPE=Haswell", said)
            mixed.run(self.write(runs.SMALL, self.parts, "-one"))


if __name__ == "__main__":
    support.program()
    unittest.main()

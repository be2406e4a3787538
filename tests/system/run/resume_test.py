"""Runs that are killed at any moment, and gone on with: the same weights."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from exactness_test import write_typed_set
from runs import (PATIENCE_SECONDS, Running, merged, partitioned,
                  read_safetensors, small_rmat)
from support import graphmill, imported, np, program

SEED = 20
# Each round of a case is a run that is killed three times.
ROUNDS = int(os.environ.get("GRAPHMILL_ROUNDS", "1"))

# Some seconds long, with checkpoints within epochs.
DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 3]},
    "model": {"kind": "sage", "hidden": 16, "dropout": 0.3},
    "train": {"batch_size": 16, "epochs": 6},
    "evaluate": {"batch_size": 40},
    "faults": {"trainer_delay_ms": 25},
    "checkpoint": {"every_steps": 3},
}

CASES = {
    "sage": {},
    "two_trainers": {"trainer": {"replicas": 2}},
    "cosine": {"optimizer": {"schedule": "cosine", "warmup_epochs": 1}},
    "early_stopping": {"train": {"epochs": 40, "patience": 2,
                                 "patience_window": 1}},
    "sgd": {"optimizer": {"kind": "sgd", "momentum": 0.9,
                          "learning_rate": 0.05}},
    "rgcn_with_embeddings": {"model": {"kind": "rgcn", "embedding": 8}},
}


class Resumed(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat", train=0.1, validation=0.1,
                              test=0.1)
        # With authors without features, so that embeddings are learnt.
        cls.typed = cls.top / "typed"
        imported("npy", write_typed_set(cls.top / "source"), "--reverse",
                 "--out", cls.typed)

    def setUp(self):
        self.runs = self.top / self.own_name

    def data_of(self, name):
        return self.typed if "embeddings" in name else self.data

    def resume(self, run, *options):
        done = graphmill("resume", run, "--quiet", "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def refused(self, run, *options):
        done = graphmill("resume", run, *options)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stderr

    def undisturbed(self, name, *changes):
        keep, self.runs = self.runs, self.top / "undisturbed"
        summary = self.train(merged(DEFINITION, CASES[name],
                                    {"faults": {"trainer_delay_ms": 0}},
                                    *changes),
                             self.data_of(name))
        self.runs = keep
        return summary

    def metrics(self, folder):
        """What a run tells of its phases, but for the time they took."""
        lines = [json.loads(line) for line in
                 (pathlib.Path(folder) / "metrics.jsonl").read_text()
                 .splitlines()]
        for line in lines:
            del line["seconds"], line["ended"]
        return lines

    def killed(self, arguments, seconds):
        """Runs a command that trains, and kills it so long after its run began
        to train; returns whether it was killed in time."""
        with Running(arguments) as run:
            run.await_log("run began")
            try:
                run.process.wait(seconds)
                return False
            except subprocess.TimeoutExpired:
                run.signal(signal.SIGKILL)
                run.end()
                return True

    def check_case(self, name):
        expected = self.undisturbed(name)
        draws = random.Random(f"{SEED} {name}")
        for number in range(ROUNDS):
            self.runs = self.top / f"{name}-{number}"
            self.check_killed(name, expected, draws)

    def check_killed(self, name, expected, draws, kills=3):
        definition = merged(DEFINITION, CASES[name])
        data = self.data_of(name)
        self.killed(self.arguments(definition, data), draws.uniform(0, 1.2))
        folder = next(self.runs.glob("*"))
        for _ in range(kills - 1):
            begun = subprocess.Popen(
                [program(), "resume", str(folder), "--quiet"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draws.uniform(0.2, 1.2))
            begun.kill()
            begun.wait(PATIENCE_SECONDS)
        summary = self.resume(folder)
        print(f"  {name} (seed {SEED}): {summary['digest']} after "
              f"{summary['steps']} steps")
        self.assertEqual(summary["digest"], expected["digest"])
        self.assertEqual(summary["steps"], expected["steps"])
        self.assertEqual(summary["epochs"], expected["epochs"])
        self.assertEqual(summary["test_accuracy"], expected["test_accuracy"])
        self.assertEqual(self.metrics(folder), self.metrics(expected["run"]))

    def test_checkpoints_are_for_numpy(self):
        summary = self.undisturbed("sage")
        folder = pathlib.Path(summary["run"]) / "checkpoints"
        # The one before it is of no use any more.
        last, = folder.iterdir()
        self.assertEqual(summary["checkpoint_bytes"], sum(
            path.stat().st_size for path in last.iterdir()))
        self.assertEqual(summary["bytes"], sum(
            path.stat().st_size for path in folder.parent.rglob("*")
            if path.is_file() and path.name != "summary.json"))
        state = json.loads((last / "state.json").read_text())["state"]
        self.assertEqual(state["epoch"], 6)
        self.assertEqual(state["step"], 0)
        self.assertEqual(state["train_steps"], summary["steps"])
        tensors = read_safetensors(last / "tensors.safetensors")
        weights = self.weights(summary)
        for name, values in weights.items():
            # The run ends with its best weights.
            np.testing.assert_array_equal(tensors[f"best.{name}"], values)
            self.assertEqual(tensors[name].shape, values.shape)
            self.assertEqual(tensors[f"optimizer.first.{name}"].shape,
                             values.shape)
        for path in [folder, last, *last.iterdir()]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_cancelled(self):
        expected = self.undisturbed("sage")
        # Long enough that it can be caught.
        slow = merged(DEFINITION, {"faults": {"trainer_delay_ms": 150}})
        with Running(self.arguments(slow, self.data)) as run:
            run.await_phases(2)
            run.signal(signal.SIGINT)
            code, out, err = run.end()
            self.assertEqual(code, 130, err)
            stopped = json.loads(out)
        folder = pathlib.Path(stopped["run"])
        newest = sorted((folder / "checkpoints").iterdir())[-1]
        state = json.loads((newest / "state.json").read_text())["state"]
        self.assertEqual(state["train_steps"], stopped["steps"])
        summary = self.resume(folder)
        self.assertEqual(summary["digest"], expected["digest"])
        self.assertEqual(self.metrics(folder), self.metrics(expected["run"]))
        # There is nothing left to do, and it comes to the same end.
        self.assertEqual(self.resume(folder)["digest"], expected["digest"])

    def test_damaged_and_copied(self):
        # The first and the last one are always written; on a slow disk, those
        # between them may be left out.
        expected = self.undisturbed("sage", {"checkpoint": {
            "every_steps": 3, "keep": 3}})
        folder = self.top / "copy-of-a-run"
        shutil.copytree(expected["run"], folder)
        *_, older, newer = sorted((folder / "checkpoints").iterdir())
        copied = self.top / "elsewhere" / older.name
        shutil.copytree(older, copied)
        tensors = newer / "tensors.safetensors"
        damaged = bytearray(tensors.read_bytes())
        damaged[-1] ^= 1
        tensors.write_bytes(damaged)
        done = graphmill("resume", folder, "--json", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("is damaged", done.stderr)
        self.assertIn("the checkpoint before it is used", done.stderr)
        self.assertEqual(json.loads(done.stdout)["digest"],
                         expected["digest"])
        # A checkpoint by itself gets a run of its own.
        # The dataset may be named by the folder that holds it, as for `train`.
        summary = self.resume(copied, "--runs", self.runs, "--data",
                              pathlib.Path(self.data).parent)
        self.assertEqual(pathlib.Path(summary["run"]).parent, self.runs)
        self.assertEqual(summary["digest"], expected["digest"])
        self.assertEqual(self.metrics(summary["run"]),
                         self.metrics(expected["run"]))
        self.assertIn("is a checkpoint",
                      self.refused(copied, "--from", older.name))
        # Nor need it be the newest one of the run.
        first = min((folder / "checkpoints").iterdir()).name
        self.assertEqual(self.resume(folder, "--from", first)["digest"],
                         expected["digest"])
        self.assertIn("there is no checkpoint none",
                      self.refused(folder, "--from", "none"))
        for around in (folder, folder / "checkpoints"):
            newest = max((folder / "checkpoints").glob("[0-9]*"))
            said = self.refused(folder, "--from", around)
            self.assertIn("is no checkpoint", said)
            self.assertIn(f"the newest of those in it is {newest}", said)

    def test_changes(self):
        definition = merged(DEFINITION, {"train": {"epochs": 3},
                                         "faults": {"trainer_delay_ms": 0}})
        short = self.train(definition, self.data)
        folder = short["run"]
        said = self.refused(folder, "--set", "train.epochs=6")
        self.assertIn("train.epochs: 3, now 6", said)
        self.assertIn("--with-changes", said)
        said = self.refused(folder, "--data", self.typed)
        self.assertIn("another dataset", said)
        # What only decides how fast it is may change.
        same = self.resume(folder, "--set", "sampler.replicas=2")
        self.assertEqual(same["digest"], short["digest"])
        longer = self.resume(folder, "--set", "train.epochs=6",
                             "--with-changes")
        self.assertEqual(longer["epochs"], 6)
        whole = self.undisturbed("sage")
        self.assertEqual(longer["digest"], whole["digest"])

    def quick(self, *changes):
        """A short run, in one process; returns its summary and folder."""
        summary = self.train(
            merged(DEFINITION, {"train": {"epochs": 2},
                                "faults": {"trainer_delay_ms": 0}}, *changes),
            self.data)
        return summary, pathlib.Path(summary["run"])

    @staticmethod
    def files(folder):
        return {path: path.read_bytes() for path in folder.rglob("*")
                if path.is_file()}

    def test_a_change_that_is_refused_leaves_the_run_alone(self):
        summary, folder = self.quick()
        before = self.files(folder)
        for hidden in (8, 64):
            said = self.refused(folder, "--set", f"model.hidden={hidden}",
                                "--with-changes")
            self.assertIn("has shape", said)
            self.assertEqual(self.files(folder), before)
        self.assertEqual(self.ask("evaluate", folder)["accuracy"],
                         summary["test_accuracy"])

    def test_a_run_that_cannot_be_prepared_is_left_alone(self):
        _, folder = self.quick({"trainer": {
            "replicas": {"min": 1, "max": 2},
            "sizes": ["0/0:1", "1/0:2"]}})
        self.assertEqual(len(json.loads((folder / "sizes.json").read_text())),
                         2)
        damaged = self.top / "damaged-data"
        shutil.copytree(self.data, damaged)
        os.truncate(damaged / "edges" / "node__links__node" / "indices.npy", 64)
        before = self.files(folder)
        for more in ([], ["--from-start"]):
            self.refused(folder, "--tensorboard", "--data", damaged, *more)
            after = self.files(folder)
            # The log alone may say that it was tried.
            del after[folder / "log.txt"]
            self.assertEqual(after, {path: content
                                     for path, content in before.items()
                                     if path in after})
            self.assertEqual(len(after), len(before) - 1)
            self.assertFalse((folder / "tensorboard").exists())

    def test_what_has_no_checkpoint_is_not_replaced(self):
        summary, folder = self.quick()
        copied = self.top / "copied-without-checkpoints"
        shutil.copytree(folder, copied,
                        ignore=shutil.ignore_patterns("checkpoints"))
        before = self.files(copied)
        said = self.refused(copied)
        self.assertIn("has weights, but no checkpoint", said)
        self.assertIn("--from-start", said)
        self.assertEqual(self.files(copied), before)
        again = self.resume(copied, "--from-start")
        self.assertEqual(again["digest"], summary["digest"])
        self.assertEqual(self.metrics(copied), self.metrics(folder))

    def test_a_run_that_writes_no_checkpoints(self):
        summary, folder = self.quick(
            {"checkpoint": {"every_steps": 0, "keep": 0}})
        more = ["--set", "train.epochs=3", "--with-changes"]
        before = self.files(folder)
        self.assertIn("has weights", self.refused(folder, *more))
        self.assertEqual(self.files(folder), before)
        (folder / "weights.safetensors").unlink()
        self.assertIn("has metrics, but no checkpoint", self.refused(folder))
        (folder / "metrics.jsonl").write_text("")
        self.assertEqual(self.resume(folder)["digest"], summary["digest"])

    def test_a_finished_run(self):
        summary, folder = self.quick()
        before = self.files(folder)
        self.assertEqual(self.resume(folder), summary)
        done = graphmill("resume", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("has finished", done.stdout)
        self.assertIn("--set train.epochs=N --with-changes", done.stdout)
        self.assertEqual(self.files(folder), before)
        # One that lacks its end is brought there once more.
        (folder / "summary.json").unlink()
        self.assertEqual(self.resume(folder)["digest"], summary["digest"])

    def test_a_run_of_the_cluster(self):
        with unittest.mock.patch.dict(
                os.environ, {"GRAPHMILL_CLUSTER": "tcp://127.0.0.1:1"}):
            said = self.refused("some-run")
        self.assertIn("there is no run folder some-run", said)
        self.assertIn("`graphmill resume some-run --cluster "
                      "tcp://127.0.0.1:1`", said)

    def test_weights_of_another_run(self):
        quick = {"faults": {"trainer_delay_ms": 0}}
        first = self.train(merged(DEFINITION, quick), self.data)
        begun = merged(DEFINITION, quick, {
            "train": {"epochs": 1},
            "model": {"weights": f"{first['run']}/weights.safetensors"}})
        second = self.train(begun, self.data)
        anew = self.train(merged(begun, {"model": {"weights": ""}}), self.data)
        self.assertNotEqual(second["digest"], anew["digest"])
        self.assertLess(self.metrics(second["run"])[0]["loss"],
                        self.metrics(anew["run"])[0]["loss"])
        done = subprocess.run(
            self.arguments(merged(begun, {"model": {"hidden": 8}}), self.data),
            text=True, capture_output=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("has shape", done.stderr)
        # A GCN has some of the weights of GraphSAGE, in the same shapes.
        done = subprocess.run(
            self.arguments(merged(begun, {"model": {"kind": "gcn"}}),
                           self.data),
            text=True, capture_output=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("which the model has not", done.stderr)

    def test_on_parts_of_the_graph(self):
        """A run on the whole graph goes on with three parts of it."""
        expected = self.undisturbed("sage")
        with Running(self.arguments(DEFINITION, self.data)) as run:
            run.await_phases(3)
            run.signal(signal.SIGKILL)
            run.end()
            folder = run.folder()
        summary = self.resume(folder, "--data",
                              partitioned(self.data, 3, "random"))
        for key in ("digest", "steps", "epochs", "test_accuracy"):
            self.assertEqual(summary[key], expected[key], key)

    def test_a_run_that_is_on_is_left_alone(self):
        long = merged(DEFINITION, {"train": {"epochs": 100000}})
        with Running(self.arguments(long, self.data)) as run:
            run.await_log("run began")
            self.assertIn("another process writes to its folder",
                          self.refused(run.folder()))


def add_cases():
    for name in CASES:
        setattr(Resumed, f"test_killed_{name}",
                lambda self, name=name: self.check_case(name))


add_cases()

if __name__ == "__main__":
    program()
    unittest.main()

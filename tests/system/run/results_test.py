"""What a finished run leaves, and what can be done with it."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import imported_rmat, merged, partitioned
from support import Dataset, graphmill, np, program

DEFINITION = {
    "seed": 3,
    "sampler": {"fanouts": [8, 8]},
    "model": {"kind": "sage", "hidden": 16, "dropout": 0.1},
    "train": {"batch_size": 64, "epochs": 6},
    "evaluate": {"neighbours": "all", "batch_size": 50},
    "faults": {"crash_every": 20},
}


class FinishedRun(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = imported_rmat(cls.top / "rmat", scale=10, edges=8000,
                                 features=10, classes=3, train=0.4,
                                 validation=0.2, test=0.3)
        cls.parts = partitioned(cls.data, 3, "metis")
        cls.summary = cls("train").train(DEFINITION, cls.parts)
        cls.run_folder = pathlib.Path(cls.summary["run"])

    def runTest(self):
        """Lets a test be made while the class is set up."""

    def test_run_folder(self):
        self.assertEqual(
            sorted(p.name for p in self.run_folder.iterdir()),
            ["checkpoints", "definition.yaml", "log.txt", "metrics.jsonl",
             "run.json", "summary.json", "weights.safetensors"])
        summary = json.loads((self.run_folder / "summary.json").read_text())
        self.assertEqual(summary, self.summary)
        self.assertFalse(summary["cancelled"])
        self.assertIn("crash_every",
                      (self.run_folder / "definition.yaml").read_text())
        self.assertIn(self.summary["digest"],
                      (self.run_folder / "log.txt").read_text())

    def test_others_cannot_read_it(self):
        for path in [self.run_folder, *self.run_folder.iterdir()]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_metrics(self):
        lines = [json.loads(line) for line in
                 (self.run_folder / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([line["phase"] for line in lines],
                         ["train", "validation"] * 6 + ["test"])
        dataset = Dataset(self.data)
        for line in lines:
            split = {"validation": "val"}.get(line["phase"], line["phase"])
            seeds = len(dataset.node_array("node", split))
            self.assertEqual(line["seeds"], seeds)
            batch = 64 if split == "train" else 50
            self.assertEqual(line["steps"], -(-seeds // batch))
            self.assertTrue(np.isfinite(line["loss"]))
        best = max(line["accuracy"] for line in lines
                   if line["phase"] == "validation")
        self.assertEqual(self.summary["validation_accuracy"], best)
        self.assertEqual(self.summary["best_epoch"],
                         next(line["epoch"] for line in lines
                              if line["phase"] == "validation"
                              and line["accuracy"] == best))
        self.assertEqual(self.summary["test_accuracy"], lines[-1]["accuracy"])
        # Of these weights, and not of the last ones.
        self.assertEqual(lines[-1]["epoch"], self.summary["best_epoch"])
        losses = [line["loss"] for line in lines if line["phase"] == "train"]
        self.assertLess(losses[-1], losses[0])

    def test_definition_repeats_the_run(self):
        """The definition that a run keeps says all there is to know."""
        done = graphmill("train", self.run_folder / "definition.yaml",
                         "--data", self.data, "--runs", self.runs, "--json",
                         "-q", "--set", "train.seed_order=local")
        self.assertEqual(done.returncode, 0, done.stderr)
        again = json.loads(done.stdout)
        print(f"  {self.summary['digest']} and again {again['digest']}")
        self.assertEqual(again["digest"], self.summary["digest"])
        self.assertNotEqual(again["run"], self.summary["run"])

    def test_stages_have_worked(self):
        stages = {s["stage"]: s for s in self.summary["stages"]}
        steps = sum(json.loads(line)["steps"] for line in
                    (self.run_folder / "metrics.jsonl").read_text()
                    .splitlines())
        for name in ("fetcher", "batcher", "trainer"):
            self.assertGreaterEqual(stages[name]["items"], steps, name)
        self.assertEqual(stages["trainer"]["items"], steps)
        self.assertGreater(stages["sampler"]["restarts"], 0)
        self.check_limit(self.summary)
        for name in ("sampler", "fetcher"):
            self.assertGreater(stages[name]["reply_wait_seconds"], 0, name)

    def check_limit(self, summary):
        """What limits is an actor that such a run has, or its credit, and the
        verdict says that of it, and nothing else."""
        said = {"none": ("well balanced: ",),
                "trainer": ("the trainers' arithmetic is the limit: ",
                            # Where other tests have the processors.
                            "the trainers are the limit: "),
                "gradient group": ("the exchange of gradients limits: ",),
                "credit": ("credit limits: ",)}
        services = [f"{what} service of part {part}"
                    for what in ("sampling", "feature") for part in range(3)]
        for name in ("sampler", "fetcher", "batcher", *services):
            said[name] = (f"the {name} limits: ",)
        for name in services:
            said[name] += (f"the {name} answers late, ",)
        limit, verdict = summary["bottleneck"], summary["verdict"]
        if summary["seconds"] < 2:
            self.assertEqual(limit, "")
            self.assertTrue(verdict.startswith("too little data: "), verdict)
        elif verdict.startswith(("trainers starve, but no stage is full",
                               "trainers starve only while there are no ")):
            # Then it is the busiest one. The second is said of so short a run
            # where its begin takes long.
            self.assertEqual(limit, max(
                summary["stages"],
                key=lambda one: one["replicas"]
                and one["busy_seconds"] / one["replicas"])["stage"])
        else:
            self.assertIn(limit, said)
            self.assertTrue(verdict.startswith(said[limit]), (limit, verdict))

    def test_late_replies_are_the_limit(self):
        """Not the trainer, which is busy for a small share of the time."""
        done = graphmill("train", self.run_folder / "definition.yaml",
                         "--data", self.data, "--runs", self.runs, "--json",
                         "-q", "--set", "faults.crash_every=0",
                         "--set", "faults.reply_delay_ms=60",
                         "--set", "train.epochs=5")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        print(f"  {summary['verdict']}")
        self.check_limit(summary)
        self.assertIn(" service of part ", summary["bottleneck"])
        self.assertIn("answers late", summary["verdict"])

    def test_evaluate(self):
        for data in (self.data, self.parts):
            done = self.ask("evaluate", self.run_folder, "--data", data)
            print(f"  {data.name}: {done['accuracy']} as in the run")
            self.assertEqual(done["accuracy"], self.summary["test_accuracy"])
        for name in ("validation", "val"):
            validation = self.ask("evaluate", self.run_folder, "--split", name)
            self.assertEqual(validation["accuracy"],
                             self.summary["validation_accuracy"])
            self.assertEqual(validation["split"], "validation")

    def test_evaluate_with_sampled_neighbours(self):
        """Draws are those of the epochs that the run's numbers are of."""
        for replicas in (1, 2):
            definition = merged(DEFINITION, {
                "sampler": {"fanouts": [1, 1]}, "train": {"epochs": 4},
                "evaluate": {"neighbours": "sampled"},
                "trainer": {"replicas": replicas}})
            summary = self.train(definition, self.data)
            lines = [json.loads(line) for line in
                     pathlib.Path(summary["run"], "metrics.jsonl").read_text()
                     .splitlines()]
            test, = [line for line in lines if line["phase"] == "test"]
            best, = [line for line in lines if line["phase"] == "validation"
                     and line["epoch"] == summary["best_epoch"]]
            for split, then in (("test", test), ("validation", best)):
                done = self.ask("evaluate", summary["run"], "--split", split)
                self.assertEqual(done["seeds"], then["seeds"])
                self.assertEqual(done["accuracy"], then["accuracy"])
                self.assertEqual(done["loss"], then["loss"])

    def test_predict(self):
        predictions = {}
        for data in (self.data, self.parts):
            out = self.top / f"{data.name}.npy"
            self.ask("predict", self.run_folder, "--data", data, "--out", out,
                     "--embeddings")
            predictions[data] = np.load(out)
            dataset = Dataset(self.data)
            test = dataset.node_array("node", "test")
            labels = dataset.node_array("node", "labels")
            accuracy = (predictions[data] == labels)[test].mean()
            print(f"  {data.name}: {accuracy} by numpy, "
                  f"{self.summary['test_accuracy']} in the run")
            self.assertAlmostEqual(accuracy, self.summary["test_accuracy"],
                                   places=12)
            self.check_by_numpy(dataset, predictions[data], np.load(
                out.with_suffix(".embeddings.npy")))
        np.testing.assert_array_equal(predictions[self.data],
                                      predictions[self.parts])

    def test_predict_where_nothing_can_be_written(self):
        nowhere = self.top / "none" / "predictions.npy"
        done = graphmill("predict", self.run_folder, "--data", self.data,
                         "--out", nowhere)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(nowhere), done.stderr)
        # It has not begun to work, which would show.
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(list(self.top.glob(".*.tmp")), [])

    def check_by_numpy(self, dataset, predictions, embeddings):
        """GraphSAGE once more, from the weights and the dataset alone."""
        weights = self.weights(self.summary)
        sources, targets = dataset.edges("node__links__node")
        hidden = dataset.node_array("node", "features").astype(np.float64)
        degrees = np.maximum(1, np.bincount(targets, minlength=len(hidden)))
        for layer in ("layer1", "layer2"):
            mean = np.zeros_like(hidden)
            np.add.at(mean, targets, hidden[sources])
            inputs = hidden
            hidden = (hidden @ weights[f"{layer}.self.weight"]
                      + mean / degrees[:, None]
                      @ weights[f"{layer}.neighbours.weight"]
                      + weights[f"{layer}.bias"])
            if layer == "layer1":
                hidden = np.maximum(hidden, 0)
        np.testing.assert_allclose(embeddings, inputs, rtol=1e-4, atol=1e-5)
        # Classes whose scores are as good as equal may come in either order.
        best = hidden.max(axis=1)
        chosen = np.take_along_axis(hidden, predictions[:, None], 1)[:, 0]
        np.testing.assert_allclose(chosen, best, rtol=1e-4, atol=1e-4)

    def test_refusals(self):
        other = imported_rmat(self.top / "other", scale=10, edges=8000,
                              features=11, classes=3, seed=9)
        for arguments, part in (
                (["evaluate", self.run_folder, "--data", other],
                 "of another model or dataset"),
                (["evaluate", self.top / "nothing"], "there is no run folder"),
                (["evaluate", self.top], "it has no run.json"),
                (["predict", self.run_folder, "--out",
                  self.top / "no" / "way.npy"], "way.npy")):
            done = graphmill(*arguments)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(part, done.stderr)

    def test_another_dataset_of_the_same_schema(self):
        """It is taken, as tomorrow's graph, and its digest told."""
        other = imported_rmat(self.top / "tomorrow", scale=10, edges=8000,
                              features=10, classes=3, seed=9)
        done = graphmill("evaluate", self.run_folder, "--data", other)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("another dataset", done.stderr)
        self.assertIn("digest", done.stderr)

    def test_problems_of_a_definition(self):
        done = graphmill("validate", self.write(
            merged(DEFINITION, {"model": {"kind": "nothing"}}), self.data),
            "--data", self.data, "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        told = json.loads(done.stdout)
        self.assertFalse(told["valid"])
        self.assertIn(told["problems"][0]["message"], told["error"])
        self.assertEqual(told["code"], "invalid_argument")

    def test_damaged_weights(self):
        copy = self.top / "damaged"
        copy.mkdir()
        for file in filter(pathlib.Path.is_file, self.run_folder.iterdir()):
            (copy / file.name).write_bytes(file.read_bytes())
        weights = copy / "weights.safetensors"
        whole = weights.read_bytes()
        for damaged in (whole[:-4], whole[:100], b"", b"\xff" * len(whole)):
            weights.write_bytes(damaged)
            done = graphmill("evaluate", copy)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("weights.safetensors", done.stderr)

    def test_no_validation_and_no_test(self):
        data = self.top / "bare"
        imported_rmat(data, scale=8, edges=900, features=4, classes=2,
                      train=0.5, validation=0, test=0)
        summary = self.train(merged(DEFINITION, {"faults": {}}), data)
        self.assertIsNone(summary["test_accuracy"])
        self.assertIsNone(summary["validation_accuracy"])
        self.assertIsNone(summary["best_epoch"])


if __name__ == "__main__":
    program()
    unittest.main()

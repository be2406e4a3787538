"""`submit --grid --repeat`: many runs of a cluster, and the table of them."""

import json
import pathlib
import signal
import statistics
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import PATIENCE_SECONDS, ClusterWorkplace
from runs import SMALL, merged
from support import graphmill, program


class Sweep(ClusterWorkplace):
    def test_grid_and_repeats(self):
        cluster = self.cluster(["0", "1"])
        definition = self.write(SMALL, self.parts)
        done = cluster.call("submit", definition, "--quiet",
                            "--grid", "model.hidden=8,16",
                            "--grid", "train.epochs=1,2", "--repeat", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout.splitlines()[-1])
        self.assertIsNone(told["error"])
        rows = told["sweep"]
        self.assertEqual(
            sorted(tuple(row["settings"].items()) for row in rows),
            [(("model.hidden", hidden), ("train.epochs", epochs))
             for hidden in ("16", "8") for epochs in ("1", "2")])
        means = [row["validation_accuracy"]["mean"] for row in rows]
        self.assertEqual(means, sorted(means, reverse=True))
        for row in rows:
            self.assertEqual([run["seed"] for run in row["runs"]],
                             [SMALL["seed"], SMALL["seed"] + 1])
            for metric in ("validation_accuracy", "test_accuracy"):
                values = [run[metric] for run in row["runs"]]
                self.assertAlmostEqual(row[metric]["mean"],
                                       statistics.mean(values))
                self.assertAlmostEqual(row[metric]["deviation"],
                                       statistics.stdev(values))
            for run in row["runs"]:
                self.check_run(cluster, row["settings"], run)

    def check_run(self, cluster, settings, run):
        """It is what a run with these settings is, in one process, too."""
        summary = json.loads((cluster.folder / "runs" / run["run"]
                              / "summary.json").read_text())
        self.assertEqual(summary["test_accuracy"], run["test_accuracy"])
        alone = self.train(merged(SMALL, {
            "seed": run["seed"],
            "model": {"hidden": int(settings["model.hidden"])},
            "train": {"epochs": int(settings["train.epochs"])}}), self.parts)
        self.assertEqual(summary["digest"], alone["digest"])

    def test_table(self):
        cluster = self.cluster(["0", "1"])
        done = graphmill("submit", self.write(SMALL, self.parts), "--repeat",
                         "2", "--cluster", cluster.coordinator)
        self.assertEqual(done.returncode, 0, done.stderr)
        head, row, best = done.stdout.splitlines()
        self.assertRegex(head, r"^settings +validation accuracy +test accuracy "
                               r"+finished$")
        self.assertRegex(row, r"^as the file says  0\.\d{4} \+- 0\.\d{4} +"
                              r"0\.\d{4} \+- 0\.\d{4} +2/2$")
        ids = {one["run"] for one in cluster.ask("runs")["runs"]}
        self.assertEqual(
            set(best.removeprefix("best: runs ").split(", ")), ids)

    def test_names_and_tags(self):
        cluster = self.cluster(["0", "1"])
        definition = self.write(SMALL, self.parts)
        told = cluster.ask("submit", definition, "--quiet", "--tag", "first",
                           "--grid", "model.hidden=8", "--grid",
                           "sampler.fanouts=[3,3],[4,2]", "--repeat", "2")
        ids = [run["run"] for row in told["sweep"] for run in row["runs"]]
        for text in ("3x3-seed7", "3x3-seed8", "4x2-seed7", "4x2-seed8"):
            self.assertEqual(len([one for one in ids if
                                  f"-first-hidden8-fanouts{text}-" in one]), 1,
                             ids)
        self.assertIn("--tag `a/b`: a tag has only letters", cluster.refused(
            "submit", definition, "--tag", "a/b"))

    def test_random_search(self):
        cluster = self.cluster(["0", "1"])
        definition = self.write(SMALL, self.parts)
        arguments = ("submit", definition, "--quiet", "--random", "3",
                     "--grid", "model.hidden=4..16", "--grid",
                     "optimizer.learning_rate=log:1e-3..1e-1")
        told = cluster.ask(*arguments)
        settings = [row["settings"] for row in told["sweep"]]
        self.assertEqual(len(settings), 3)
        for one in settings:
            self.assertTrue(4 <= int(one["model.hidden"]) <= 16)
            self.assertTrue(
                1e-3 <= float(one["optimizer.learning_rate"]) <= 1e-1)
        again = [row["settings"] for row in cluster.ask(*arguments)["sweep"]]
        key = lambda one: sorted(one.items())  # noqa: E731
        self.assertEqual(sorted(settings, key=key), sorted(again, key=key))
        other = [row["settings"] for row in cluster.ask(
            *arguments, "--search-seed", "2")["sweep"]]
        self.assertNotEqual(sorted(settings, key=key), sorted(other, key=key))

    def test_successive_halving(self):
        """The last one has the weights of a run that never stopped."""
        cluster = self.cluster(["0", "1"])
        definition = merged(SMALL, {"train": {"epochs": 4}})
        told = cluster.ask("submit", self.write(definition, self.parts),
                           "--quiet", "--halving", "2", "--grid",
                           "model.hidden=4,8,12,16")
        rows = told["sweep"]
        self.assertEqual([row["epochs"] for row in rows], [4, 2, 1, 1])
        first = [row["validation_accuracy"]["mean"] for row in rows]
        self.assertGreaterEqual(first[2], first[3])
        for epochs in (1, 2):
            self.check_rung(rows, merged(definition, {
                "train": {"epochs": epochs}}), epochs)
        best = rows[0]["runs"][0]
        summary = json.loads((cluster.folder / "runs" / best["run"]
                              / "summary.json").read_text())
        self.assertEqual(summary["epochs"], 4)
        alone = self.train(merged(definition, {"model": {
            "hidden": int(rows[0]["settings"]["model.hidden"])}}), self.parts)
        self.assertEqual(summary["digest"], alone["digest"])

    def check_rung(self, rows, definition, epochs):
        """Those that went on were no worse than those that did not."""
        scores = {True: [], False: []}
        for row in rows:
            if row["epochs"] < epochs:
                continue
            alone = self.train(merged(definition, {"model": {
                "hidden": int(row["settings"]["model.hidden"])}}), self.parts)
            scores[row["epochs"] > epochs].append(alone["validation_accuracy"])
        self.assertGreaterEqual(min(scores[True]), max(scores[False]))

    def test_halving_that_would_not_be_exact(self):
        cluster = self.cluster(["0", "1"])
        grid = ("--halving", "2", "--grid", "model.hidden=4,8")
        for changed, sentence in (
                ({"optimizer": {"schedule": "cosine"}}, "schedule: cosine"),
                ({"train": {"max_steps": 3}}, "train.max_steps"),
                ({"checkpoint": {"keep": 0}}, "checkpoint.keep: 0"),
                ({"train": {"epochs": 1}}, "nothing to halve")):
            self.assertIn(sentence, cluster.refused(
                "submit", self.write(merged(SMALL, changed), self.parts),
                *grid))
        definition = self.write(SMALL, self.parts)
        self.assertIn("--grid train.epochs and --halving", cluster.refused(
            "submit", definition, "--halving", "2", "--grid",
            "train.epochs=1,2"))
        self.assertIn("a range: --random N draws N settings", cluster.refused(
            "submit", definition, "--grid", "model.dropout=0..0.5"))
        self.assertEqual(cluster.ask("runs")["runs"], [])

    def test_a_grid_that_is_refused(self):
        """Before anybody is asked, in words of the option that is wrong."""
        for grid, sentence in (
                ("optimizer.lr=1,2", "--grid optimizer.lr=1: `lr` is not a "
                                     "field of `optimizer`"),
                ("evaluate.metric=accuracy,f1_macro",
                 "--grid evaluate.metric: runs are compared by their metric")):
            done = graphmill("submit", self.write(SMALL, self.parts), "--grid",
                             grid, "--cluster", "tcp://127.0.0.1:1")
            self.assertEqual(done.returncode, 1)
            self.assertIn(sentence, done.stderr)

    def test_nobody_waits(self):
        """By Ctrl-C the table has what there is, and the runs go on."""
        cluster = self.cluster(["0", "1"])
        long = merged(SMALL, {"train": {"epochs": 100000},
                              "checkpoint": {"keep": 0}})
        told = cluster.folder / "told.txt"
        with told.open("w") as errors:
            process = subprocess.Popen(
                [program(), "submit", self.write(long, self.parts),
                 "--repeat", "2", "--json", "--cluster", cluster.coordinator],
                text=True, stdout=subprocess.PIPE, stderr=errors)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        cluster.wait_until(lambda: "2 runs submitted" in told.read_text(),
                           "runs that are submitted")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 130, told.read_text())
        line = json.loads(out.splitlines()[-1])
        self.assertEqual(line["code"], "cancelled")
        self.assertIn("the runs go on", line["error"])
        self.assertIn("the runs go on", told.read_text())
        row, = line["sweep"]
        self.assertIsNone(row["validation_accuracy"])
        listed = cluster.ask("runs")["runs"]
        self.assertEqual({run["run"] for run in row["runs"]},
                         {one["run"] for one in listed})
        self.assertLessEqual({one["state"] for one in listed},
                             {"queued", "running"})

    def test_nothing_is_queued_if_anything_is_wrong(self):
        cluster = self.cluster(["0", "1"])
        definition = self.write(SMALL, self.parts)
        self.assertIn("hiden", cluster.refused(
            "submit", definition, "--grid", "model.hidden=8",
            "--grid", "model.hiden=8,16"))
        self.assertIn("--grid has more than 2 combinations", cluster.refused(
            "submit", definition, "--grid", "train.epochs=1,2,3",
            "--repeat", "40"))
        self.assertIn("--grid seed and --repeat exclude", cluster.refused(
            "submit", definition, "--grid", "seed=1,2", "--repeat", "2"))
        self.assertIn("--grid model.hidden and --set", cluster.refused(
            "submit", definition, "--grid", "model.hidden=8,16", "--set",
            "model.hidden=4"))
        done = cluster.call("submit", definition, "--grid", "model.hidden")
        self.assertEqual(done.returncode, 2)
        self.assertIn("model.hidden=64,256", done.stderr)
        self.assertEqual(cluster.ask("runs")["runs"], [])


if __name__ == "__main__":
    program()
    unittest.main()

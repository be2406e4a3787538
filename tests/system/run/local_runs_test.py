"""Folders of runs: what is refused leaves none, and what there is can be listed
and removed."""

import json
import os
import pathlib
import re
import shutil
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import SMALL, merged, small_rmat
from support import graphmill, program


class LocalRuns(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat", train=0.1, validation=0.1,
                              test=0.1)

    def setUp(self):
        self.runs = self.top / self.own_name

    def listed(self, *options):
        done = graphmill("runs", "--local", self.runs, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_run_that_is_refused_leaves_no_folder(self):
        wrong = self.top / "wrong.safetensors"
        wrong.write_bytes(b"no weights")
        for change in ({"model": {"weights": str(wrong)}},
                       {"trainer": {"device": "cuda:99"}}):
            with self.subTest(change=change):
                definition = self.write(merged(SMALL, change), self.data)
                for more in ([], ["--tensorboard", self.top / "curves"]):
                    done = graphmill("train", definition, "--data", self.data,
                                     "--runs", self.runs, "--json", "-q",
                                     *more)
                    self.assertEqual(done.returncode, 1, done.stdout)
                    self.assertEqual(list(self.runs.glob("*")), [])
                    self.assertEqual(list(self.top.glob("curves/*")), [])
        trained = self.train(SMALL, self.data)
        self.assertTrue(pathlib.Path(trained["run"], "summary.json").exists())

    def test_classes_without_training_nodes_are_told(self):
        source = self.top / "tables"
        source.mkdir()
        (source / "e.csv").write_text("a,b\nb,c\nc,a\nd,a\n")
        (source / "n.csv").write_text(
            "id,label,split,f\na,x,train,1\nb,x,train,2\nc,y,val,3\nd,x,test,"
            "4\n")
        data = self.top / "three-nodes"
        done = graphmill("import", "csv", "--edges", source / "e.csv",
                         "--no-header", "--nodes", source / "n.csv", "--out",
                         data)
        self.assertEqual(done.returncode, 0, done.stderr)
        definition = self.write(SMALL, data)
        done = graphmill("train", definition, "--data", data, "--runs",
                         self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: labels of node: 1 of 2 classes have no node in "
                      'the train split, so that no model can learn them: "y" '
                      "(1 node)\n", done.stderr)
        self.assertRegex(done.stdout, r"\ndisk  .*, .* of it for "
                                      r"checkpoints, to train for longer\n")

    def test_runs_are_listed_and_removed(self):
        summaries = [self.train(SMALL, self.data) for _ in range(3)]
        names = {pathlib.Path(one["run"]).name: one for one in summaries}
        (self.runs / "thesis").mkdir()
        found = {one["run"]: one for one in self.listed()["runs"]}
        self.assertEqual(set(found), set(names))
        for name, summary in names.items():
            self.assertEqual(found[name]["state"], "finished")
            self.assertEqual(found[name]["test_accuracy"],
                             summary["test_accuracy"])
            self.assertEqual(found[name]["checkpoint_bytes"],
                             summary["checkpoint_bytes"])
            self.assertGreater(found[name]["bytes"], summary["bytes"])
        text = graphmill("runs", "--local", self.runs).stdout
        for name, summary in names.items():
            self.assertRegex(text, re.escape(name) + r" +finished .* accuracy "
                             f"{summary['test_accuracy']:.4f}\n")
        self.assertRegex(text, r"\n3 runs: .* on disk, .* of it checkpoints\n")
        old, *rest = sorted(names)
        for path in (self.runs / old).iterdir():
            if path.is_file():
                week = time.time() - 8 * 24 * 3600
                os.utime(path, (week, week))
        removed = self.listed("--remove", "7d", "--dry-run")
        self.assertEqual(removed["removed"], [old])
        self.assertTrue((self.runs / old).exists())
        removed = self.listed("--remove", "7d", "--remove", rest[0])
        self.assertEqual(sorted(removed["removed"]), sorted([old, rest[0]]))
        self.assertGreater(removed["bytes"], 0)
        self.assertEqual({one.name for one in self.runs.iterdir()},
                         {rest[1], "thesis"})
        for wrong in ("thesis", "../runs", "yesterday", old):
            done = graphmill("runs", "--local", self.runs, "--remove", wrong)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("neither a run in the folder", done.stderr)
        done = graphmill("runs", "--local", self.top / "nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot list the runs in", done.stderr)

    def test_by_age_only_runs_that_have_ended_are_removed(self):
        ended = pathlib.Path(self.train(SMALL, self.data)["run"])
        begun = shutil.copytree(ended, self.runs / "begun")
        (begun / "summary.json").unlink()
        for path in self.runs.glob("*/*"):
            os.utime(path, (1, 1))
        self.assertEqual(self.listed("--remove", "7d")["removed"],
                         [ended.name])
        self.assertEqual(list(self.runs.iterdir()), [begun])
        self.assertEqual(self.listed("--remove", "begun")["removed"],
                         ["begun"])

    def test_runs_are_listed_with_their_metric_and_tags(self):
        definition = self.write(merged(SMALL, {
            "evaluate": {"metric": "f1_macro"}}), self.data)
        trained = self.ask("train", definition, "--data", self.data, "--runs",
                           self.runs, "-q", "--tag", "first", "--tag", "wide")
        found, = self.listed()["runs"]
        self.assertIn("-first-wide-", found["run"])
        self.assertEqual(found["metric"], "f1_macro")
        self.assertEqual(found["test"], trained["test"])
        text = graphmill("runs", "--local", self.runs).stdout
        self.assertIn(f" f1_macro {trained['test']['f1_macro']:.4f}\n", text)


if __name__ == "__main__":
    program()
    unittest.main()

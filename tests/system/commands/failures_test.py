"""Every command that fails says so by its exit code, in a sentence on standard
error, and with --json in a line of JSON on standard output."""

import json
import pathlib
import signal
import socket
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from command_tree import command_tree
from support import program

# A port that is taken, so that nobody else gets it, and at which nobody listens.
TAKEN = socket.socket()
TAKEN.bind(("127.0.0.1", 0))
NOBODY = ("--cluster", f"tcp://127.0.0.1:{TAKEN.getsockname()[1]}")
# A command that fails at its work, for each that there is.
FAILING = {
    ("train",): ("nowhere.yaml",),
    ("resume",): ("nowhere",),
    ("evaluate",): ("nowhere",),
    ("predict",): ("nowhere",),
    ("import", "wordnet"): ("--source", "nowhere", "--out", "set"),
    ("import", "npy"): ("nowhere", "--out", "set"),
    ("import", "csv"): ("--edges", "nowhere", "--out", "set"),
    ("import", "rmat"): ("--scale", "4", "--out", "file/set"),
    ("append",): ("nowhere", "--edges", "nowhere"),
    ("inspect",): ("nowhere",),
    ("partition",): ("nowhere", "--parts", "2"),
    ("validate",): ("nowhere.yaml",),
    ("plan",): ("nowhere.yaml",),
    ("submit",): ("nowhere.yaml",),
    ("watch",): ("run", *NOBODY),
    ("status",): NOBODY,
    ("top",): NOBODY,
    ("runs",): NOBODY,
    ("logs",): ("run", *NOBODY),
    ("events",): ("run", *NOBODY),
    ("trace",): ("run", *NOBODY),
    ("cancel",): ("run", *NOBODY),
    ("fetch",): ("run", *NOBODY),
    ("drain",): ("daemon", *NOBODY),
    ("stop",): ("daemon", *NOBODY),
    ("chaos",): ("--seed", "1", "--during", "run", *NOBODY),
    ("keygen",): ("nowhere/key",),
    ("up",): ("nowhere.yaml", "--local", "2"),
    ("node",): ("--data", "nowhere"),
    ("help",): ("nothing",),
    ("bench",): ("nothing",),
}
# Print what they are made of, or stay; and cannot fail at their work, or have
# nobody who would read JSON.
WITHOUT_JSON = {("node",), ("completion",), ("manual",)}
FOLDERS = {(), ("import",)}


class Failures(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tree = command_tree()
        (cls.top / "file").write_text("")

    def call(self, *words):
        return subprocess.run([program(), *words], cwd=self.top, text=True,
                              capture_output=True,
                              timeout=runs.PATIENCE_SECONDS)

    def check_json(self, done, sentence):
        told = json.loads(done.stdout.splitlines()[-1])
        self.assertTrue(told["error"])
        self.assertTrue(told["code"])
        self.assertIn(told["error"].split("\n")[0], sentence)

    def test_the_table_has_every_command(self):
        self.assertEqual(set(self.tree) - FOLDERS,
                         set(FAILING) | WITHOUT_JSON)
        for words in set(self.tree) - FOLDERS:
            self.assertEqual("--json" in self.tree[words]["options"],
                             words not in WITHOUT_JSON, words)

    def test_work_that_fails(self):
        started = {}
        for words, arguments in FAILING.items():  # Some wait for seconds.
            more = () if words in WITHOUT_JSON else ("--json",)
            started[words] = subprocess.Popen(
                [program(), *words, *arguments, *more], cwd=self.top,
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for words, process in started.items():
            with self.subTest(command=" ".join(words)):
                out, errors = process.communicate(
                    timeout=runs.PATIENCE_SECONDS)
                # To ask for help on nothing is a wrong command line.
                self.assertEqual(process.returncode,
                                 2 if words == ("help",) else 1, errors)
                self.assertTrue(errors.strip())
                if words not in WITHOUT_JSON:
                    self.check_json(subprocess.CompletedProcess(
                        (), 1, out, errors), errors)

    def test_wrong_words(self):
        for words in self.tree:
            with self.subTest(command=" ".join(words)):
                done = self.call(*words, "--no-such-option", "--json")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.check_json(done, done.stderr)
                self.assertIn("--no-such-option", done.stderr)

    def test_words_that_were_meant(self):
        for words, meant in (
                (("trian",), "`trian`; did you mean `train`?"),
                (("import", "pyg"), "`pyg`"),
                (("import", "cvs"), "did you mean `csv`?"),
                (("import", "e.csv", "--out", "set"),
                 "needs the kind first, and then `e.csv`"),
                (("train", "d.yaml", "--epochs", "3"),
                 "is set by --set train.epochs=VALUE"),
                (("train", "d.yaml", "--learning-rate", "3"),
                 "is set by --set optimizer.learning_rate=VALUE"),
                (("train", "d.yaml", "--lr=3"),
                 "is set by --set optimizer.learning_rate=VALUE"),
                (("import", "csv", "--edges", "e.csv", "--out", "set",
                  "--separator", "::"), "one character between columns")):
            done = self.call(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(meant, done.stderr)

    def test_help_lists_the_exit_codes(self):
        text = self.call("--help").stdout
        for code in (0, 1, 2, 3, 4, 70, 130):
            self.assertRegex(text, rf"(?m)^ +{code}  \S")

    def test_cancelled(self):
        """By Ctrl-C and its kin: the exit code is 130, and a run is saved."""
        data = runs.small_rmat(self.top / "rmat")
        long = runs.merged(runs.SMALL, {"train": {"epochs": 100000},
                                        "checkpoint": {"keep": 0}})
        arguments = self.arguments(long, data)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                arguments[arguments.index("--runs") + 1] = str(
                    self.top / number.name)
                with runs.Running(arguments) as run:
                    run.await_phases(1)
                    run.signal(number)
                    code, out, errors = run.end()
                    self.assertEqual(code, 130, errors)
                    self.assertTrue(json.loads(out.splitlines()[-1])["error"])
                    self.assertTrue(
                        (run.folder() / "weights.safetensors").exists())


if __name__ == "__main__":
    program()
    unittest.main()

"""What commands that take a while show in a terminal while they do."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import clusters
import runs
from runs import PATIENCE_SECONDS, SMALL, merged
from support import graphmill, imported, np, program
from terminals import Terminal, lines_shown

EPOCHS = 4
DEFINITION = merged(SMALL, {"train": {"epochs": EPOCHS}})
ROW = re.compile(r" +(\d+)(?: +\S+)+")


class Display(clusters.ClusterWorkplace):
    def on_terminal(self, *arguments, columns=100):
        terminal = Terminal(24, columns)
        self.addCleanup(terminal.close)
        code, output = terminal.run([program(), *map(str, arguments)],
                                    PATIENCE_SECONDS)
        self.assertEqual(code, 0, output.decode())
        return output

    def train_arguments(self):
        return ("train", self.write(DEFINITION, self.data), "--data",
                self.data, "--runs", self.runs)

    def check_table(self, output):
        """Bars leave nothing behind, and the rows of the epochs stand below
        each other."""
        lines = lines_shown(output, 100)
        self.assertEqual([line for line in lines if "[#" in line], [])
        head = next(place for place, line in enumerate(lines)
                    if line.startswith("epoch "))
        rows = [ROW.fullmatch(line)
                for line in lines[head + 1:head + 1 + EPOCHS]]
        self.assertTrue(all(rows), lines)
        self.assertEqual([int(row.group(1)) for row in rows],
                         list(range(1, EPOCHS + 1)))
        self.assertFalse(ROW.fullmatch(lines[head + 1 + EPOCHS]), lines)

    def test_rows_of_train(self):
        output = self.on_terminal(*self.train_arguments())
        self.assertIn(b"[#", output)
        self.check_table(output)

    def test_rows_of_watch(self):
        cluster = self.cluster(["0", "1"])
        self.check_table(self.on_terminal(
            "submit", self.write(DEFINITION, self.parts), "--watch",
            "--cluster", cluster.coordinator))

    def test_a_narrow_terminal(self):
        """A bar that went on in the next line could not be drawn over."""
        output = self.on_terminal(*self.train_arguments(), columns=40)
        self.assertIn(b"[#", output)
        self.assertEqual([line for line in lines_shown(output, 40)
                          if "[#" in line], [])

    def test_work_is_called_by_its_name(self):
        run = self.train(DEFINITION, self.data)["run"]
        for command, shown in (
                (("predict", run, "--out", self.top / "classes.npy"),
                 rb"\x1b\[Kpredict  "),
                (("evaluate", run, "--split", "validation"),
                 rb"\x1b\[Kevaluate validation  ")):
            with self.subTest(command=command[0]):
                output = self.on_terminal(*command)
                self.assertRegex(output, shown)
                self.assertNotRegex(output, rb"\x1b\[Ktest  ")

    def test_layers_end_at_100_percent(self):
        """On a terminal, where what was written stands on lines of its own,
        and in a file."""
        run = self.train(DEFINITION, self.data)["run"]
        words = ("predict", run, "--all", "--out", self.top / "all.npy")
        output = self.on_terminal(*words)
        shown = re.findall(rb"\x1b\[Klayers [^\x1b]*\] +(\d+) %", output)
        self.assertEqual((shown[0], shown[-1]), (b"0", b"100"))
        self.assertIn("wrote the classes", "\n".join(
            line for line in lines_shown(output, 100)
            if line.startswith("wrote ")))
        said = graphmill(*words).stderr
        self.assertRegex(said, r"\nlayers .* 100 %\n$")


class NothingToMeasure(runs.Workplace):
    def dataset(self, name, validation):
        """Without test nodes, and with so many of validation."""
        source = self.top / f"{name}-source"
        source.mkdir()
        random = np.random.default_rng(5)
        for file, values in {
                "edges": random.integers(0, 40, (2, 300)),
                "features": random.normal(size=(40, 5)).astype(np.float32),
                "labels": np.arange(40) % 3,
                "train_idx": np.arange(20),
                "val_idx": np.arange(20, 20 + validation),
                "test_idx": np.arange(0)}.items():
            np.save(source / f"{file}.npy", values)
        imported("npy", source, "--out", self.top / name)
        return self.top / name

    def test_the_row_of_the_last_epoch(self):
        """Neither a validation nor a test comes behind it."""
        data = self.dataset("training-alone", 0)
        done = graphmill("train", self.write(DEFINITION, data), "--data", data,
                         "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^ +(\d+) +\d+\.\d{4} ", done.stdout,
                          re.MULTILINE)
        self.assertEqual(rows, [str(n + 1) for n in range(EPOCHS)])

    def test_an_empty_split(self):
        summary = self.train(SMALL, self.dataset("data", 5))
        self.assertIsNone(summary["test_accuracy"])
        done = graphmill("evaluate", summary["run"], "--json", "--quiet")
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(told["code"], "invalid_argument")
        self.assertIn("the test split has no seeds", told["error"])
        self.assertIn(told["error"], done.stderr)
        more = self.ask("evaluate", summary["run"], "--split", "validation")
        self.assertEqual(more["seeds"], 5)


if __name__ == "__main__":
    program()
    unittest.main()

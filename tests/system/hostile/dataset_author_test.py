"""A dataset or a folder of a run that somebody made to do harm is refused with
a sentence, by each command that opens it, within little memory; nothing in it
runs, and what it calls itself cannot reach the terminal as a command."""

import contextlib
import json
import os
import pathlib
import pickle
import random
import shutil
import sqlite3
import sys
import unicodedata
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from imports import save, small_set
from runs import SMALL, partitioned, small_rmat
from support import graphmill, np, program

# KiB of data that a process may have.
MEMORY = ["sh", "-c", f'ulimit -d {1 << 20} && exec "$0" "$@"']
FEATURES = "nodes/node/features.npy"
EDGES = "edges/node__links__node"
# Clears a screen, sets a title, begins a line of a log that is none, and the
# same with a control character of the upper half.
ESCAPES = "a\x1b[2J\x1b]0;evil\x07b\r\n19:00:00 forged\x9b2Jc\x7f"
DEEP = "[" * 300000
# More than any machine has of memory.
HOLE = 1 << 42
DEEP_TEXTS = {"brackets": DEEP, "braces": '{"a":' * 300000}


class Payload:
    """What a reader of pickles would run: it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def header(shape, descr="<f4", body=b"\0" * 64):
    """The bytes of an .npy file that claims to have a shape."""
    text = (f"{{'descr': '{descr}', 'fortran_order': False, "
            f"'shape': {shape}, }}").encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return (b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
            + body)


def rewritten(file, change):
    """Changes a JSON file; what tells of changes is left out."""
    about = json.loads(file.read_text())
    change(about)
    for name in ("own_digest", "array_digests", "digest"):
        about.pop(name, None)
    file.write_text(json.dumps(about))


class DatasetAuthor(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat")
        cls.parts = partitioned(cls.data, 2, "random")

    def copy(self, data):
        """A copy of a dataset to change."""
        out = self.top / f"{self.own_name}-{data.name}"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(data, out)
        return out

    def commands(self, data, *more):
        """All that opens a dataset, whole or in parts."""
        definition = self.write(SMALL, self.data)
        train = ["train", definition, "--data", data, "--runs", self.runs,
                 "--quiet", *more]
        if (data / "dataset.json").exists():
            return [["inspect", data], train, self.cut(data)]
        return [["inspect", data], train, [
            "node", "--data", data, "--listen", "tcp://127.0.0.1:0", "--runs",
            self.runs, "--insecure"]]

    def cut(self, data):
        return ["partition", data, "--parts", 2, "--method", "random",
                "--out", self.top / "never"]

    def import_of(self, source):
        return ["import", "npy", source, "--quiet", "--out",
                self.top / "never"]

    def said(self, command, codes=(1,)):
        """What a command says that ends with one of some exit codes."""
        done = graphmill(*command, within=MEMORY)
        said = done.stdout + done.stderr
        self.assertIn(done.returncode, codes, f"{command}: {said[-2000:]}")
        if done.returncode == 1 and command[0] != "inspect":
            self.assertRegex(done.stderr, "(?m)^graphmill: |: 1 problem")
        raw = {c for c in said
               if unicodedata.category(c) == "Cc" and c != "\n"}
        self.assertEqual(raw, set(), f"{command}: {said[-2000:]!r}")
        self.assertFalse((self.top / "never").exists())
        return said

    def check(self, commands, *reasons):
        for command in commands:
            with self.subTest(command=command[0]):
                said = self.said(command)
                self.assertTrue(any(reason in said for reason in reasons),
                                said[-2000:])

    def test_sound_data_fit_into_that_memory(self):
        self.said(["inspect", self.data], [0])
        self.said(self.commands(self.parts)[1], [0])

    def test_values_nested_deeply(self):
        source = self.top / "deep"
        source.mkdir()
        small_set(source)
        for name, text in DEEP_TEXTS.items():
            with self.subTest(name):
                (source / "meta.json").write_text(text)
                whole, parts = self.copy(self.data), self.copy(self.parts)
                (whole / "dataset.json").write_text(text)
                (parts / "partitions.json").write_text(text)
                self.check([*self.commands(whole), *self.commands(parts),
                            self.import_of(source)], "nested deeper")
        for file in ("partitions.json", "part-0/dataset.json"):
            parts = self.copy(self.parts)
            # Below fields that are known.
            about = (parts / file).read_text().rstrip()
            (parts / file).write_text(
                about[:-1] + f', "x": {DEEP}{DEEP.replace("[", "]")}}}')
            self.check(self.commands(parts)[:2], "nested deeper")

    def test_pickles(self):
        """Are not read, so that nothing in them runs."""
        ran = self.top / "ran"
        pickled = header("(1,)", "|O", pickle.dumps([Payload(ran)]))
        # It would.
        pickle.loads(pickle.dumps(Payload(ran))).close()
        ran.unlink()
        source = self.top / "pickles"
        source.mkdir()
        small_set(source)
        (source / "features.npy").write_bytes(pickled)
        whole, parts = self.copy(self.data), self.copy(self.parts)
        (whole / FEATURES).write_bytes(pickled)
        (parts / "part-0" / FEATURES).write_bytes(pickled)
        self.check([*self.commands(whole), *self.commands(parts)[:2],
                    self.import_of(source)], "pickled")
        self.assertFalse(ran.exists())

    def test_absurd_shapes(self):
        """That would overflow, or take all memory if they were believed."""
        source = self.top / "shapes"
        source.mkdir()
        for shape in ("(4611686018427387904, 4)", "(281474976710656, 12)",
                      "(99999999999999999999,)", "(-1, 12)"):
            with self.subTest(shape):
                small_set(source)
                (source / "features.npy").write_bytes(header(shape))
                whole = self.copy(self.data)
                (whole / FEATURES).write_bytes(header(shape))
                self.check([["inspect", whole], self.cut(whole),
                            self.import_of(source)], "features.npy")

    def test_absurd_counts(self):
        for field, value in (("count", 1 << 62), ("count", 1 << 47),
                             ("feature_width", 1 << 62),
                             ("feature_width", 1 << 24), ("count", -1)):
            with self.subTest(field=field, value=value):
                whole = self.copy(self.data)
                rewritten(whole / "dataset.json",
                          lambda about, field=field, value=value:
                          about["node_types"][0].update({field: value}))
                self.check([["inspect", whole], self.cut(whole)],
                           "dataset.json", ".npy")

    def test_labels_far_apart(self):
        """Three labels would make two million classes, and weights for each."""
        source = self.top / "labels"
        source.mkdir()
        good = small_set(source)
        (source / "meta.json").write_text("{}")
        save(source, labels=good["labels"] * 1000000)
        self.check([self.import_of(source)], "2000001 classes")
        for data, file in ((self.data, "dataset.json"),
                           (self.parts, "partitions.json")):
            copy = self.copy(data)
            rewritten(copy / file, lambda about: about.get(
                "dataset", about)["node_types"][0].update(
                    class_count=2000001))
            said = self.said(self.commands(copy, "--no-verify")[1])
            self.assertRegex(said, "2000001 classes|damaged|class")

    def test_damaged_order_of_edges(self):
        """Places of edges in the list that they came from, with numbers whose
        sum overflows."""
        end = np.iinfo(np.int64)
        for value in (end.min, end.max, -1):
            with self.subTest(value=value):
                parts = self.copy(self.parts)
                file = parts / "part-0" / EDGES / "original_begin.npy"
                begin = np.load(file)
                low, high = np.iinfo(begin.dtype).min, np.iinfo(
                    begin.dtype).max
                begin[...] = min(max(value, low), high)
                np.save(file, begin)
                self.check(self.commands(parts)[:2], "is damaged")
                # Who insists may get a run, but no crash.
                self.said(self.commands(parts, "--no-verify")[1], (0, 1))

    def test_links_out_of_the_folder(self):
        """Lead to nothing that would be told, and to no device."""
        secret = self.top / "secret"
        secret.write_text("the word is swordfish\n" * 1000)
        source = self.top / "links"
        source.mkdir()
        small_set(source)
        for target in (secret, pathlib.Path("/dev/zero")):
            with self.subTest(target=target.name):
                for folder, name in ((self.copy(self.data), FEATURES),
                                     (self.copy(self.data), "dataset.json"),
                                     (source, "features.npy")):
                    (folder / name).unlink()
                    (folder / name).symlink_to(target)
                    commands = (self.commands(folder)
                                if name != "features.npy"
                                else [self.import_of(folder)])
                    if name == "dataset.json":
                        commands = [["inspect", folder], self.cut(folder)]
                    for command in commands:
                        self.assertNotIn("swordfish", self.said(command))

    def test_links_in_a_folder_of_runs(self):
        """Nothing is written where they lead when the run is gone on with."""
        made = pathlib.Path(self.train(SMALL, self.data)["run"])
        victim, missing = self.top / "victim", self.top / "made"
        victim.mkdir()
        file = victim / "bashrc"
        file.write_text("precious\n")
        again = ["--set", "train.epochs=3", "--with-changes", "--quiet"]
        for name, target in (("log.txt", file), ("steps.jsonl", missing),
                             ("metrics.jsonl", file), ("checkpoints", victim),
                             ("tensorboard", victim)):
            with self.subTest(name):
                run = self.copy(made)
                if (run / name).is_dir():
                    shutil.rmtree(run / name)
                else:
                    (run / name).unlink(missing_ok=True)
                (run / name).symlink_to(target)
                said = self.said(["resume", run, *again])
                self.assertIn(f"{run / name} is a link", said)
        # Files that take the place of others get names that can be guessed.
        run, out = self.copy(made), self.top / "classes.npy"
        for command, scratch in (
                (["resume", run, *again], run / ".definition.yaml"),
                (["predict", run, "--out", out, "--quiet"],
                 out.with_name(f".{out.name}"))):
            with self.subTest(command[0]):
                done = graphmill(*command, within=[
                    "sh", "-c", f"ln -s '{file}' '{scratch}'.$$.tmp && "
                    'exec "$0" "$@"'])
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(out.is_file() and not out.is_symlink())
        self.assertEqual(file.read_text(), "precious\n")
        self.assertEqual(list(victim.iterdir()), [file])
        self.assertFalse(missing.exists())

    def test_forged_histories(self):
        """Of a coordinator's runs, by whoever has made the folder: what it says
        of itself is not carried out."""
        folder = self.top / "histories"
        file = self.write(SMALL, self.data)
        database = folder / "runs" / "runs.sqlite"
        with Cluster(folder, self.parts, ["0-1"]) as cluster:
            cluster.run(file)
        with contextlib.closing(sqlite3.connect(database)) as forged:
            forged.execute("CREATE TRIGGER forged AFTER INSERT ON runs "
                           "BEGIN DELETE FROM runs; END")
            forged.commit()
        with Cluster(folder, self.parts, ["0-1"]) as cluster:
            cluster.run(file)
            self.assertEqual(len(cluster.ask("runs")["runs"]), 2)
        node = ["node", "--data", self.parts, "--listen",
                "tcp://127.0.0.1:0", "--runs", folder / "runs", "--insecure"]
        database.write_bytes(random.Random(7).randbytes(9000))
        self.check([node], "is no database")
        database.unlink()
        database.symlink_to("/etc/passwd")
        self.check([node], "is no file for the run history")

    def test_holes_in_a_dataset(self):
        """An array of any number of nodes, which takes no room on disk."""
        source = self.top / "hole"
        source.mkdir()
        small_set(source)
        (source / "meta.json").write_text("{}")
        for name, descr in (("labels", "<i8"), ("features", "<f4")):
            about = header(f"({HOLE // 16}, 1)" if name == "features"
                           else f"({HOLE // 16},)", descr, b"")
            file = source / f"{name}.npy"
            file.write_bytes(about)
            os.truncate(file, len(about) + HOLE // 16 * int(descr[2:]))
        self.check([self.import_of(source)], "not enough memory")

    def test_holes_in_a_folder_of_runs(self):
        """Files of any length, which take no room on disk."""
        made = pathlib.Path(self.train(SMALL, self.data)["run"])
        run = self.copy(made)
        steps = run / "steps.jsonl"
        steps.touch()
        os.truncate(steps, HOLE)
        self.said(["resume", run, "--set", "train.epochs=3", "--with-changes",
                   "--quiet"], [0])
        self.assertLess(steps.stat().st_size, HOLE)
        weights = run / "weights.safetensors"
        about = json.dumps({"x": {
            "dtype": "F32", "shape": [HOLE // 4],
            "data_offsets": [0, HOLE]}}).encode()
        about += b" " * (-len(about) % 8)
        weights.write_bytes(len(about).to_bytes(8, "little") + about)
        os.truncate(weights, 8 + len(about) + HOLE)
        self.check([["evaluate", run],
                    ["predict", run, "--out", self.top / "none.npy"],
                    ["train", self.write(SMALL, self.data), "--data",
                     self.data, "--runs", self.runs, "--quiet", "--set",
                     f"model.weights={weights}"]],
                   "which are read into memory")

    def test_names_that_are_commands_of_terminals(self):
        whole = self.copy(self.data)
        rewritten(whole / "dataset.json", lambda about: about.update(
            name=ESCAPES, provenance=ESCAPES))
        rewritten(whole / "dataset.json", lambda about:
                  about["node_types"][0].update(class_names=[
                      f"{ESCAPES}{i}" for i in range(4)]))
        said = self.said(["inspect", whole], (0, 1))
        self.assertIn("evil", said)
        # The definition names another one.
        said = self.said(self.commands(whole, "--no-verify")[1])
        self.assertIn("evil", said)
        types = self.copy(self.data)
        rewritten(types / "dataset.json", lambda about:
                  about["node_types"][0].update(name=ESCAPES))
        self.check([["inspect", types], self.cut(types)],
                   "cannot name a type")

    def test_names_that_are_paths(self):
        for name in ("..", "../../etc", "/etc", "a/b", "."):
            with self.subTest(name):
                whole = self.copy(self.data)
                rewritten(whole / "dataset.json", lambda about, name=name:
                          about["node_types"][0].update(name=name))
                self.check([["inspect", whole], self.cut(whole)],
                           "cannot name a type")


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

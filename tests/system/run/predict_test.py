"""What `predict` gives: for all nodes or a list, layer by layer or in batches,
as arrays or CSV, and on other data than those of the run."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from exactness_test import write_typed_set
from imports import rows_of, save, sixty_nodes
from runs import imported_rmat, merged, partitioned, small_rmat
from support import ROOT, graphmill, imported, np, program

DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 4]},
    "model": {"kind": "sage", "hidden": 8},
    "train": {"batch_size": 40, "epochs": 1},
    "evaluate": {"neighbours": "all", "batch_size": 300},
}


def beside(out, what):
    return out.with_name(f"{out.stem}.{what}{out.suffix}")


class Predict(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat", scale=11, edges=12000)
        cls.typed = cls.top / "typed"
        imported("npy", write_typed_set(cls.top / "source"), "--reverse",
                 "--out", cls.typed)
        cls.trained = {}

    def run_of(self, kind, data=None):
        """The folder of a run of this kind."""
        data = data or self.data
        if kind not in self.trained:
            self.trained[kind] = self.train(
                merged(DEFINITION, {"model": {"kind": kind}}), data)["run"]
        return self.trained[kind]

    def predict(self, run, name, *more, data=None):
        """Where it went, and what was told."""
        out = self.top / name
        told = self.ask("predict", run, "--data", data or self.data,
                        "--out", out, "--quiet", *more)
        self.assertEqual(told["predictions"], str(out))
        return out, told

    def fails(self, *arguments, code="invalid_argument", exit_code=1):
        """The sentence of a refusal, which leaves nothing behind."""
        before = sorted(self.top.iterdir())
        done = graphmill("predict", *arguments, "--json")
        self.assertEqual(done.returncode, exit_code, done.stdout)
        told = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(told["code"], code)
        self.assertIn("graphmill: " if exit_code == 1 else told["error"],
                      done.stderr)
        self.assertEqual(sorted(self.top.iterdir()), before)
        return told["error"]

    def test_layers_are_the_same_however_they_are_computed(self):
        parts = partitioned(self.data, 3, "random")
        for kind in ("gcn", "sage_pool", "gat"):
            run = self.run_of(kind)
            outputs = []
            for name, data, more in (
                    ("whole", self.data, ()), ("parts", parts, ()),
                    ("disk", parts, ("--storage", "disk"))):
                out, told = self.predict(run, f"{kind}-{name}.npy", "--all",
                                         "--logits", "--embeddings", *more,
                                         data=data)
                self.assertTrue(told["layer_by_layer"])
                self.assertEqual(told["scratch_bytes"] > 0, name == "disk")
                outputs.append([path.read_bytes() for path in (
                    out, beside(out, "logits"), beside(out, "embeddings"))])
            self.assertEqual(outputs[0], outputs[1])
            self.assertEqual(outputs[0], outputs[2])
            out, told = self.predict(run, f"{kind}-batches.npy", "--logits")
            self.assertFalse(told["layer_by_layer"])
            logits = np.load(beside(out, "logits"))
            layers = np.load(self.top / f"{kind}-whole.logits.npy")
            np.testing.assert_allclose(layers, logits,
                                       atol=1e-5 * np.abs(logits).max())
        self.assertEqual(list(self.top.glob(".*.tmp")), [])

    def test_probabilities(self):
        out, _ = self.predict(self.run_of("sage"), "p.npy", "--all",
                              "--logits", "--probabilities")
        logits = np.load(beside(out, "logits")).astype(np.float64)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        made = np.load(beside(out, "probabilities"))
        np.testing.assert_allclose(
            made, powers / powers.sum(axis=1, keepdims=True), atol=1e-6)
        np.testing.assert_array_equal(np.load(out), logits.argmax(axis=1))

    def test_a_list_of_nodes(self):
        run = self.run_of("sage")
        wanted = [2000, 3, 3, 77, 0]
        text = self.top / "wanted.txt"
        text.write_text("2000\n3\n\n 3 \n77\r\n0")
        array = self.top / "wanted.npy"
        np.save(array, np.array(wanted, dtype=np.int32))
        whole, _ = self.predict(run, "whole.npy", "--all", "--logits")
        for name, file in (("text", text), ("array", array)):
            for more in ((), ("--all",)):
                out, told = self.predict(run, f"{name}.npy", "--nodes", file,
                                         "--logits", "--embeddings", *more)
                self.assertEqual(told["nodes"], 5)
                np.testing.assert_array_equal(
                    np.load(beside(out, "ids")), wanted)
                logits = np.load(beside(out, "logits"))
                want = np.load(beside(whole, "logits"))[wanted]
                np.testing.assert_allclose(logits, want,
                                           atol=1e-5 * np.abs(want).max())
                np.testing.assert_array_equal(np.load(out),
                                              logits.argmax(axis=1))
                self.assertEqual(np.load(beside(out, "embeddings")).shape,
                                 (5, 8))
        parts = partitioned(self.data, 2, "random")
        out, _ = self.predict(run, "cut.npy", "--nodes", text, "--logits",
                              data=parts)
        np.testing.assert_allclose(np.load(beside(out, "logits")), want,
                                   atol=1e-5 * np.abs(want).max())

    def test_lists_that_are_wrong(self):
        run = self.run_of("sage")
        out = self.top / "never.npy"
        bad = self.top / "bad.txt"
        for text, code, told in (
                ("0\n2048\n-1\n", "not_found",
                 "2 of 3, `2048` as line 2, `-1` as line 3; numbers go from 0 "
                 "to 2047, and the dataset has no names"),
                ("0\nnode 7\n", "not_found", "`node 7` as line 2"),
                ("0\n1.5\n", "not_found", "`1.5` as line 2"),
                ("99999999999999999999\n", "not_found", "line 1"),
                ("\n\n", "invalid_argument", "lists no node")):
            with self.subTest(text):
                bad.write_text(text)
                self.assertIn(told, self.fails(
                    run, "--data", self.data, "--out", out, "--nodes", bad,
                    code=code))
        array = self.top / "square.npy"
        np.save(array, np.zeros((2, 2), dtype=np.int64))
        self.assertIn(str(array), self.fails(
            run, "--data", self.data, "--out", out, "--nodes", array,
            code="invalid_data"))

    def named_graph(self, name, ids):
        """A CSV import whose nodes are called so, and a run on it."""
        nodes = self.top / f"{name}-nodes.csv"
        edges = self.top / f"{name}-edges.csv"
        nodes.write_text("id,label,x\n" + "".join(
            f"{node},c{i % 2},{i}\n" for i, node in enumerate(ids)))
        edges.write_text("source,target\n" + "".join(
            f"{ids[i]},{ids[(7 * i + 1) % len(ids)]}\n"
            for i in range(len(ids))))
        data = self.top / name
        imported("csv", "--nodes", nodes, "--edges", edges, "--split",
                 "0.6,0.2,0.2", "--out", data)
        return data, self.train(DEFINITION, data)["run"]

    def names_of(self, data, run, text, *more):
        listed = self.top / "names.txt"
        listed.write_text(text)
        table, _ = self.predict(run, "named.csv", "--nodes", listed, *more,
                                data=data)
        return [(row["id"], row["name"]) for row in rows_of(table)]

    def test_nodes_by_their_names(self):
        ids = [f"p{i}" for i in range(40)]
        data, run = self.named_graph("people", ids)
        cut = partitioned(data, 2, "random")
        for place in (data, cut):
            self.assertEqual(self.names_of(place, run, "p7\np3\np7\n"),
                             [("7", "p7"), ("3", "p3"), ("7", "p7")])
            self.assertEqual(self.names_of(place, run, "7\n"), [("7", "p7")])
        told = self.fails(run, "--data", data, "--nodes",
                          self.top / "names.txt", "--nodes-by", "name",
                          "--out", self.top / "no.npy", code="not_found")
        self.assertIn("1 of 1, `7` as line 1; names are those of", told)
        (self.top / "names.txt").write_text("p1\nP2\n41\n")
        self.assertIn("2 of 3, `P2` as line 2, `41` as line 3", self.fails(
            run, "--data", data, "--nodes", self.top / "names.txt", "--out",
            self.top / "no.npy", code="not_found"))

    def test_numbers_that_are_names_are_not_guessed(self):
        data, run = self.named_graph("numbered",
                                     [str(39 - i) for i in range(40)])
        listed = self.top / "names.txt"
        listed.write_text("3\n")
        told = self.fails(run, "--data", data, "--nodes", listed, "--out",
                          self.top / "no.npy")
        self.assertIn("3 is node 3 by its number, and node 36 has that name",
                      told)
        self.assertEqual(
            self.names_of(data, run, "3\n", "--nodes-by", "number"),
            [("3", "36")])
        self.assertEqual(
            self.names_of(data, run, "3\n", "--nodes-by", "name"),
            [("36", "3")])
        # A name that is gone is not another node's number.
        data, run = self.named_graph(
            "gaps", [str(i) for i in range(1, 42) if i != 11])
        for text in ("11\n", "2\n11\n"):
            listed.write_text(text)
            self.assertIn("may be a number or a name", self.fails(
                run, "--data", data, "--nodes", listed, "--out",
                self.top / "no.npy"))
        self.assertEqual(
            self.names_of(data, run, "11\n", "--nodes-by", "number"),
            [("11", "13")])
        # Names that are the numbers are no riddle.
        data, run = self.named_graph("plain", [str(i) for i in range(40)])
        self.assertEqual(self.names_of(data, run, "3\n"), [("3", "3")])

    def test_names_that_to_graphmill_has_noted(self):
        run = self.run_of("rgcn", self.typed)
        names = self.typed / "nodes" / "paper" / "node_names.txt"
        names.write_text("".join(json.dumps(f"n\u00f6de, {i}") + "\n"
                                 for i in range(300)))
        self.addCleanup(names.unlink)
        self.assertEqual(
            self.names_of(self.typed, run, "n\u00f6de, 5\n"),
            [("5", "n\u00f6de, 5")])

    def test_csv(self):
        run = self.run_of("sage")
        listed = self.top / "few.txt"
        listed.write_text("9\n4\n")
        arrays, _ = self.predict(run, "few.npy", "--nodes", listed, "--all",
                                 "--logits", "--probabilities", "--embeddings")
        table, told = self.predict(run, "few.csv", "--nodes", listed, "--all",
                                   "--logits", "--probabilities",
                                   "--embeddings")
        rows = rows_of(table)
        self.assertEqual([row["id"] for row in rows], ["9", "4"])
        self.assertEqual([int(row["class"]) for row in rows],
                         np.load(arrays).tolist())
        for name, prefix in (("logits", "logit_"),
                             ("probabilities", "probability_")):
            want = np.load(beside(arrays, name))
            got = [[np.float32(row[f"{prefix}{c}"]) for c in range(4)]
                   for row in rows]
            np.testing.assert_array_equal(got, want)
        rows = rows_of(told["embeddings"])
        self.assertEqual([row["id"] for row in rows], ["9", "4"])
        np.testing.assert_array_equal(
            [[np.float32(row[f"embedding_{c}"]) for c in range(8)]
             for row in rows], np.load(beside(arrays, "embeddings")))
        table, _ = self.predict(run, "all.csv", "--all")
        self.assertEqual(len(table.read_text().splitlines()), 2049)

    def test_embeddings_of_other_types(self):
        run = self.run_of("rgcn", self.typed)
        out, told = self.predict(run, "t.npy", "--all", "--embeddings",
                                 "--embeddings-of", "author", data=self.typed)
        self.assertEqual(np.load(beside(out, "embeddings")).shape, (300, 8))
        self.assertEqual(np.load(told["embeddings.author"]).shape, (80, 8))
        where = ["--data", self.typed, "--out", self.top / "never.npy"]
        self.assertIn("--all", self.fails(run, *where, "--embeddings-of",
                                          "author", exit_code=2))
        self.assertIn("editor", self.fails(
            run, *where, "--all", "--embeddings-of", "editor",
            code="not_found"))

    def test_what_does_not_go_with_layers(self):
        run = self.run_of("sage")
        where = ["--data", self.data, "--out", self.top / "never.npy"]
        self.assertIn("all neighbours", self.fails(
            run, *where, "--all", "--neighbours", "sampled", exit_code=2))
        self.assertIn("leave it out", self.fails(
            run, *where, "--scratch", self.top, exit_code=2))
        self.assertIn("neither in .npy nor in .csv", self.fails(
            run, "--data", self.data, "--out", self.top / "never.txt",
            exit_code=2))
        missing = self.top / "missing"
        self.assertIn(str(missing), self.fails(
            run, *where, "--all", "--storage", "disk", "--scratch", missing,
            code="not_found"))

    def test_layers_over_damaged_data_are_not_told(self):
        run = self.run_of("sage")
        damaged = self.top / "damaged"
        shutil.copytree(self.data, damaged)
        features, = damaged.glob("nodes/*/features.npy")
        values = bytearray(features.read_bytes())
        values[-4] ^= 1  # The last bit of a number that stays one.
        features.write_bytes(values)
        self.assertIn(f"{features} is damaged", self.fails(
            run, "--data", damaged, "--out", self.top / "never.npy", "--all",
            code="invalid_data"))
        self.predict(run, "anyway.npy", "--all", "--no-verify", data=damaged)

    def test_other_data_of_the_same_schema(self):
        run = self.run_of("sage")
        other = small_rmat(self.top / "tomorrow", scale=9, edges=3000, seed=8)
        for more in ((), ("--all",)):
            out = self.top / "tomorrow.npy"
            done = graphmill("predict", run, "--data", other, "--out", out,
                             "--quiet", "--json", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("another dataset", done.stderr)
            self.assertTrue(json.loads(done.stdout)["other_dataset"])
            self.assertEqual(np.load(out).shape, (512,))
        self.ask("evaluate", run, "--data", other, "--quiet")
        wide = imported_rmat(self.top / "wide", scale=9, edges=3000,
                             features=13, classes=4, seed=8)
        for more in ((), ("--all",)):
            self.assertIn("of the weights has shape", self.fails(
                run, "--data", wide, "--out", self.top / "never.npy", *more,
                code="invalid_data"))

    def signed(self, name, rows):
        """A graph of 20 nodes, with a sign in each row of its edges."""
        source = self.top / f"{name}-source"
        source.mkdir()
        nodes = ["id,label,split,f,g"]
        for i in range(20):
            split = ("train", "train", "val", "test")[i % 4]
            nodes.append(f"n{i},{'ab'[i % 3 % 2]},{split},{i % 3 % 2},{i / 7}")
        (source / "n.csv").write_text("\n".join(nodes) + "\n")
        (source / "e.csv").write_text(
            "head,sign,tail\n" + "".join(f"{row}\n" for row in rows))
        imported("csv", "--edges", source / "e.csv", "--nodes",
                 source / "n.csv", "--relation", "sign", "--out",
                 self.top / name)
        return self.top / name

    def test_relations_of_other_data(self):
        """Weights belong to relations, whatever comes first in a table."""
        rows = [f"n{(7 * i + k) % 20},{sign},n{i}" for i in range(20)
                for k, sign in enumerate(["+1", "-1", "~1"])]
        data = self.signed("signed", rows)
        run = self.train(merged(DEFINITION, {
            "model": {"kind": "rgcn"}, "train": {"epochs": 3}}), data)["run"]
        other = self.signed("signed-otherwise", rows[::-1])
        known, _ = self.predict(run, "signed.npy", "--all", "--logits",
                                data=data)
        again, told = self.predict(run, "again.npy", "--all", "--logits",
                                   data=other)
        self.assertTrue(told["other_dataset"])
        np.testing.assert_allclose(np.load(beside(again, "logits")),
                                   np.load(beside(known, "logits")), atol=1e-5)
        names = other / "original_names.json"
        names.write_text(names.read_text().replace('"+1"', '"plus"'))
        for words in (["predict", run, "--out", self.top / "never.npy"],
                      ["evaluate", run]):
            done = graphmill(*words, "--data", other, "--quiet")
            self.assertEqual(done.returncode, 1)
            self.assertIn('stands for "plus" here and "+1" there', done.stderr)
        path = self.top / "begin.yaml"
        path.write_text(json.dumps(merged(DEFINITION, {
            "dataset": other.name, "model": {
                "kind": "rgcn",
                "weights": str(pathlib.Path(run) / "weights.safetensors")}})))
        done = graphmill("train", path, "--data", other, "--runs",
                         self.top / "runs-never", "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertIn('stands for "plus" here and "+1" there', done.stderr)

    def test_other_data_without_validation(self):
        run = self.train(merged(DEFINITION, {
            "train": {"patience": 3}, "evaluate": {"metric": "roc_auc"}}),
            self.data)["run"]
        source = self.top / "unvalidated-source"
        source.mkdir()
        rng = np.random.default_rng(6)
        save(source, edges=rng.integers(0, 50, (2, 300)),
             features=rng.normal(size=(50, 12)).astype(np.float32),
             labels=np.arange(50) % 4, train_idx=np.arange(30),
             test_idx=np.arange(30, 50))
        other = self.top / "unvalidated"
        imported("npy", source, "--out", other)
        for more in ((), ("--all",)):
            out, _ = self.predict(run, "unvalidated.npy", *more, data=other)
            self.assertEqual(np.load(out).shape, (50,))
        told = self.ask("evaluate", run, "--data", other, "--quiet")
        self.assertEqual(told["seeds"], 20)
        self.assertIn("roc_auc", told)

    def graph_with(self, name, names=None, **labels):
        flags = ["--regression"] if name.startswith("numbers") else []
        return sixty_nodes(self.top, name, names, *flags, **labels)

    def test_other_data_without_labels(self):
        """Labels are not read of other data, and say nothing of outputs."""
        split = {"train_idx": np.arange(40), "val_idx": np.arange(40, 50),
                 "test_idx": np.arange(50, 60)}
        rng = np.random.default_rng(8)
        none = self.graph_with("unlabelled")
        parts = partitioned(none, 3, "random")
        for kind, labels, names in (
                ("classes", np.arange(60) % 3, ["cook", "judge", "smith"]),
                ("labels", rng.integers(0, 2, (60, 4)), None),
                ("numbers", rng.normal(size=(60, 2)).astype(np.float32),
                 None)):
            with self.subTest(kind):
                data = self.graph_with(kind, names, labels=labels, **split)
                metric = {"numbers": "mse", "labels": "f1_micro"}.get(
                    kind, "accuracy")
                run = self.train(merged(DEFINITION, {
                    "evaluate": {"metric": metric}}), data)["run"]
                for more in (("--neighbours", "all"), ("--all",)):
                    if kind != "numbers":
                        more += ("--logits",)
                    known, _ = self.predict(run, "known.npy", *more,
                                            data=data)
                    for other in (none, parts):
                        out, told = self.predict(run, "none.npy", *more,
                                                 data=other)
                        self.assertTrue(told["other_dataset"])
                        np.testing.assert_array_equal(np.load(out),
                                                      np.load(known))
                        if kind != "numbers":
                            np.testing.assert_array_equal(
                                np.load(beside(out, "logits")),
                                np.load(beside(known, "logits")))
                self.assertIn("it has no labels, which `evaluate` needs",
                              self.refused_evaluation(run, none))

    def test_other_data_with_other_classes(self):
        """Classes are called as where they were learnt, and are not compared
        with others of the same number."""
        split = {"train_idx": np.arange(40), "val_idx": np.arange(40, 50),
                 "test_idx": np.arange(50, 60)}
        learnt = ["cook", "judge", "smith"]
        run = self.train(DEFINITION, self.graph_with(
            "learnt", learnt, labels=np.arange(60) % 3, **split))["run"]
        for name, names, modulus, said in (
                ("renamed", ["baker", "cook", "judge"], 3,
                 "number 0 is `baker` here and `cook` there"),
                ("fewer", ["cook", "judge"], 2,
                 "there are 2 here and 3 there")):
            data = self.graph_with(name, names, labels=np.arange(60) % modulus,
                                   **split)
            for more in ((), ("--all",)):
                out, _ = self.predict(run, f"{name}.csv", *more, data=data)
                for row in rows_of(out):
                    self.assertEqual(row["class_name"],
                                     learnt[int(row["class"])])
            self.assertIn(said, self.refused_evaluation(run, data))
        same = self.graph_with("same", learnt, labels=(np.arange(60) + 1) % 3,
                               **split)
        self.ask("evaluate", run, "--data", same, "--quiet")

    def refused_evaluation(self, run, data):
        done = graphmill("evaluate", run, "--data", data, "--quiet", "--json")
        self.assertEqual(done.returncode, 1, done.stdout)
        return json.loads(done.stdout.splitlines()[-1])["error"]

    def test_other_nodes_have_no_learnt_rows(self):
        run = self.run_of("rgcn", self.typed)
        source = self.top / "other-source"
        write_typed_set(source)
        features = np.load(source / "paper.features.npy")
        np.save(source / "paper.features.npy", features + 1)
        other = self.top / "other-typed"
        imported("npy", source, "--reverse", "--out", other)
        self.assertIn("author have no features", self.fails(
            run, "--data", other, "--out", self.top / "never.npy", "--all",
            code="invalid_data"))

    def test_example_reads_weights(self):
        for kind, data in (("gatv2", self.data), ("gin", self.data),
                           ("rgcn", self.typed)):
            run = self.run_of(kind, data)
            out, _ = self.predict(run, f"{kind}.npy", "--all", "--logits",
                                  data=data)
            for file, code in ((beside(out, "logits"), 0), (out, 1)):
                done = subprocess.run(
                    [sys.executable, "-B", ROOT / "examples/read_weights.py",
                     run, "--compare", file], text=True, capture_output=True,
                    timeout=runs.PATIENCE_SECONDS)
                self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn("has the shape", done.stderr)


if __name__ == "__main__":
    program()
    unittest.main()

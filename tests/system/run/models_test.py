"""What every kind of model computes, by numpy from weights and dataset."""

import pathlib
import re
import shutil
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "examples"))
import runs
from edge_weights import random_weights, weighted
from exactness_test import write_typed_set
from imports import save
from numpy_models import KINDS, Folder, Model, cross_entropy
from runs import merged, model_kinds, small_rmat
from support import graphmill, imported, np, program

DEFINITION = {
    "seed": 5,
    "sampler": {"fanouts": [4, 4]},
    "model": {"hidden": 8, "dropout": 0.2},
    "train": {"batch_size": 40, "epochs": 2},
    "evaluate": {"neighbours": "all", "batch_size": 70},
}
LAYERS = 2


class Models(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat")
        cls.typed = cls.top / "typed"
        imported("npy", write_typed_set(cls.top / "source"), "--reverse",
                 "--out", cls.typed)
        cls.weighted = weighted(cls.data, cls.top / "weighted", random_weights)
        first = Folder(cls.typed).edge_types()[:-1]  # The last one has none.
        cls.typed_weighted = weighted(
            cls.typed, cls.top / "typed-weighted", random_weights, first)
        cls.typed_featured = cls.top / "typed-featured"

    def test_all_kinds_are_here(self):
        self.assertEqual(sorted(KINDS), sorted(model_kinds()))

    def test_plain(self):
        for kind in KINDS:
            self.check({"kind": kind}, self.data)

    def test_layer_norm(self):
        for kind in ("sage", "gin"):
            self.check({"kind": kind, "layer_norm": True}, self.data)

    def test_jumping_knowledge_and_residual_layers(self):
        for kind in ("gcn", "gat", "gin"):
            self.check({"kind": kind, "jumping": True, "residual": True},
                       self.data)

    def test_attention(self):
        for kind in ("gat", "gatv2"):
            self.check({"kind": kind, "output_heads": 3,
                        "attention_dropout": 0.25,
                        "attention_residual": True,
                        "message_dropout": 0.25}, self.data)
        self.check({"kind": "rgat", "output_heads": 3,
                    "attention_dropout": 0.25}, self.typed)

    def test_typed(self):
        for kind in ("rgcn", "mlp", "hetero_sage", "rgat", "hgt"):
            self.check({"kind": kind, "layer_norm": True}, self.typed)
        for relations in ("mean", "mean_of_all"):
            self.check({"kind": "hetero_sage", "relations": relations},
                       self.typed)
        self.check({"kind": "hgt", "jumping": True, "residual": True,
                    "attention_dropout": 0.25}, self.typed)

    def test_record_from_before_relations(self):
        """It means what the run computed; a copy of it means neither."""
        summary = self.train(merged(DEFINITION, {"model": {
            "kind": "hetero_sage", "relations": "mean_of_all"}}), self.typed)
        record = pathlib.Path(summary["run"]) / "definition.yaml"
        out = pathlib.Path(summary["run"]) / "old.npy"

        def logits():
            self.ask("predict", summary["run"], "--data", self.typed,
                     "--all", "--logits", "--out", out)
            return np.load(out.with_suffix(".logits.npy"))

        def without_field(record):
            (line,) = re.findall("  relations: .*\n", record.read_text())
            record.write_text(record.read_text().replace(line, ""))

        want = logits()
        copy = self.top / "copy.yaml"
        shutil.copy(record, copy)
        without_field(record)
        np.testing.assert_array_equal(logits(), want)
        without_field(copy)
        done = graphmill("train", copy, "--data", self.typed)
        self.assertEqual(done.returncode, 1)
        self.assertIn("add `relations: mean_of_all` to train as that run did",
                      done.stderr)

    def test_weights_of_edges(self):
        for kind in ("gcn", "sage", "sage_sum", "gin", "gat", "gatv2"):
            self.check({"kind": kind}, self.weighted)
        for kind in ("rgcn", "hetero_sage", "rgat", "hgt"):
            self.check({"kind": kind}, self.typed_weighted)
        self.check({"kind": "rgcn", "relations": "mean"},
                   self.typed_weighted)
        self.check({"kind": "gat", "edge_weights": "ignore"}, self.weighted)
        self.check({"kind": "gcn", "edge_weights": "ignore"}, self.weighted)

    def test_features_of_edges(self):
        rng = np.random.default_rng(7)
        source = self.top / "featured-source"
        source.mkdir()
        order = rng.permutation(60)
        save(source, edges=rng.integers(0, 60, (2, 200)),
             features=rng.normal(size=(60, 6)),
             edge_attr=rng.normal(size=(200, 3)).astype(np.float32),
             labels=rng.integers(0, 3, 60), train_idx=order[:40],
             val_idx=order[40:50], test_idx=order[50:])
        featured = self.top / "featured"
        imported("npy", source, "--out", featured)
        for kind in ("gcn", "sage", "sage_sum", "gin", "gat", "gatv2"):
            self.check({"kind": kind}, featured)
        self.check({"kind": "sage", "edge_features": "ignore"}, featured)
        # Of one type alone.
        source = write_typed_set(self.top / "typed-featured-source")
        save(source, **{"paper__cites__paper.edge_attr":
                        rng.normal(size=(700, 3)).astype(np.float32)})
        imported("npy", source, "--reverse", "--out", self.typed_featured)
        for kind in ("rgcn", "hetero_sage", "rgat", "hgt"):
            self.check({"kind": kind}, self.typed_featured)

    def test_an_edge_type_that_is_missing(self):
        """Weights are refused on data without an edge type that they have
        learnt; with that type and no edges they predict by the others."""
        rng = np.random.default_rng(6)
        bought = rng.integers(0, [[30], [50]], (2, 200))

        def taken(name, **more):
            source = self.top / f"{name}-source"
            source.mkdir()
            save(source, **{
                "item.features": np.ones((50, 4)) * np.arange(50)[:, None],
                "item.labels": np.arange(50) % 3,
                "item.train_idx": np.arange(20),
                "item.val_idx": np.arange(20, 30),
                "item.test_idx": np.arange(30, 50),
                "user.features": np.ones((30, 3)),
                "item__next__item.edges": rng.integers(0, 50, (2, 120)),
                **{f"user__{edges}__item.edges": array
                   for edges, array in more.items()}})
            imported("npy", source, "--out", self.top / name)
            return self.top / name
        both = taken("bought-and-seen", buys=bought, sees=bought)
        empty = taken("unseen", buys=bought, sees=np.zeros((2, 0), int))
        lacking = taken("bought", buys=bought)
        for kind in ("rgcn", "hetero_sage", "rgat", "hgt"):
            definition = merged(DEFINITION, {"model": {"kind": kind}})
            if kind in ("rgat", "hgt"):
                definition["model"]["heads"] = 2
            with self.subTest(kind=kind):
                summary = self.train(definition, both)
                for words in (("predict",), ("predict", "--all"),
                              ("evaluate",)):
                    self.check_refused_and_taken(words, summary, lacking,
                                                 empty)

    def check_refused_and_taken(self, words, summary, lacking, empty):
        said = []
        for data, code in ((lacking, 1), (empty, 0)):
            out = pathlib.Path(summary["run"]) / f"{'-'.join(words)}.npy"
            done = graphmill(words[0], summary["run"], *words[1:], "--data",
                             data, *(("--out", out) * (words[0] == "predict")))
            self.assertEqual(done.returncode, code, done.stderr)
            said.append(done.stderr)
        self.assertIn("the weights have learnt from edges of type "
                      "user__sees__item, and dataset \"bought\" has no such "
                      "edge type", said[0])

    def test_self_loops(self):
        """A self-loop of the data counts beside the one that layers add; by
        `--self-loops drop` there is one, as PyG has it."""
        source = self.top / "loops-source"
        source.mkdir()
        rng = np.random.default_rng(3)
        edges = rng.integers(0, 40, (2, 160))
        edges[1, :20] = edges[0, :20]
        order = rng.permutation(40)
        save(source, edges=edges, features=rng.normal(size=(40, 6)),
             labels=rng.integers(0, 3, 40), train_idx=order[:20],
             val_idx=order[20:30], test_idx=order[30:])
        kept, dropped = self.top / "loops", self.top / "loops-dropped"
        imported("npy", source, "--out", kept)
        imported("npy", source, "--out", dropped, "--self-loops", "drop")
        for kind in ("gcn", "gat", "gatv2"):
            with self.subTest(kind=kind):
                self.check({"kind": kind}, kept)  # One more than PyG.
                self.check_single_loops(kind, kept, dropped)

    def check_single_loops(self, kind, kept, dropped):
        definition = merged(DEFINITION, {"model": {"kind": kind}})
        if kind != "gcn":
            definition["model"]["heads"] = 2
        summary = self.train(definition, dropped)
        dataset = Folder(kept)
        plain = Model(kind, dataset, self.weights(summary))
        for relation in plain.relations:
            sources, targets = relation.edges
            relation.edges = relation.edges[:, sources != targets]
            relation.by = relation.by[sources != targets]
        self.compare(summary, Folder(dropped), "node",
                     *plain.run(LAYERS, "node"))

    def check(self, model, data):
        definition = merged(DEFINITION, {"model": model})
        # Fields that would be without effect are refused.
        if model["kind"] in ("gat", "gatv2", "rgat", "hgt"):
            definition["model"]["heads"] = 2
        if data in (self.typed, self.typed_weighted, self.typed_featured):
            definition["model"]["embedding"] = 5
        with self.subTest(data=data.name, **model):
            summary = self.train(definition, data)
            dataset = Folder(data)
            target = next(t["name"] for t in dataset.info["node_types"]
                          if dataset.node_array(t["name"], "labels")
                          is not None)
            plain = Model(model["kind"], dataset, self.weights(summary),
                          model.get("residual", False),
                          model.get("edge_weights", "use") == "use",
                          model.get("relations", "sum"))
            last_input, logits = plain.run(LAYERS, target)
            self.compare(summary, dataset, target, last_input, logits)
            if model.keys() <= {"kind", "relations"}:
                self.compare_loss(summary, dataset, target, logits)

    def compare(self, summary, dataset, target, last_input, logits):
        out = pathlib.Path(summary["run"]) / "predictions.npy"
        self.ask("predict", summary["run"], "--data", dataset.folder,
                 "--out", out, "--embeddings")
        embeddings = np.load(out.with_suffix(".embeddings.npy"))
        scale = np.abs(last_input).max()
        np.testing.assert_allclose(embeddings, last_input, atol=1e-5 * scale)
        # Classes whose scores are as good as equal may come in either order.
        scale = np.abs(logits).max()
        chosen = np.take_along_axis(logits, np.load(out)[:, None], 1)[:, 0]
        np.testing.assert_allclose(chosen, logits.max(axis=1),
                                   atol=1e-4 * scale)
        self.compare_layers(summary, dataset, last_input, logits)

    def compare_loss(self, summary, dataset, target, logits):
        test = dataset.node_array(target, "test")
        labels = dataset.node_array(target, "labels")
        got = self.ask("evaluate", summary["run"], "--data", dataset.folder)
        want = cross_entropy(logits[test], labels[test])
        self.assertAlmostEqual(got["loss"], want, delta=1e-4 * (1 + want))

    def compare_layers(self, summary, dataset, last_input, logits):
        out = pathlib.Path(summary["run"]) / "layers.npy"
        self.ask("predict", summary["run"], "--data", dataset.folder, "--all",
                 "--out", out, "--logits", "--embeddings")
        for name, want in (("logits", logits), ("embeddings", last_input)):
            got = np.load(out.with_suffix(f".{name}.npy"))
            np.testing.assert_allclose(got, want,
                                       atol=1e-5 * np.abs(want).max())


if __name__ == "__main__":
    program()
    unittest.main()

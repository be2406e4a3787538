"""Weights do not depend on how a run was laid out, nor on what went wrong."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import (SMALL, described, imported_rmat, merged, model_kinds,
                  partitioned, small_rmat)
from support import Dataset, imported, np, program

DEFINITION = merged(SMALL, {"trainer": {"replicas": 2}})

# What must not change one bit of the weights.
LAYOUTS = [
    {},
    {"sampler": {"replicas": 3}},
    {"sampler": {"threads": 4}},
    {"fetch": {"replicas": 4}},
    {"fetch": {"threads": 4}},
    {"budget": {"batches": 1}},
    {"budget": {"bytes": 1}},
    {"budget": {"batches": 64}},
    {"faults": {"reply_delay_ms": 4}},
    {"faults": {"crash_every": 7}},
    {"faults": {"trainer_delay_ms": 3}, "sampler": {"replicas": 3}},
    {"faults": {"sampling_service_delay_ms": 2, "sampler_delay_ms": 3,
                "feature_service_delay_ms": 2, "fetcher_delay_ms": 4,
                "batcher_delay_ms": 3, "exchange_delay_ms": 2}},
]

# As much trouble as possible.
TROUBLE = {
    "sampler": {"replicas": 3, "threads": 4},
    "fetch": {"replicas": 2, "threads": 3},
    "budget": {"batches": 3},
    "faults": {"crash_every": 11, "reply_delay_ms": 3},
}

# Learning rates of models that sum as many rows as a node has neighbours.
RATES = {"gin": 0.05, "sage_sum": 0.05}

GLOBAL = {"train": {"seed_order": "global"}}


class Digests(runs.Workplace):
    """Runs that must end with the same weights, bit for bit."""

    def digest(self, definition, data):
        summary = self.train(definition, data)
        self.assertEqual(len(summary["digest"]), 32)
        if definition.get("faults", {}).get("crash_every"):
            self.assertGreater(sum(s["restarts"] for s in summary["stages"]),
                               0, "no stage died")
        return summary["digest"]

    def check_all(self, cases):
        """Cases (name, definition, data) that must give the same digest."""
        digests = {}
        for name, definition, data in cases:
            digests[name] = self.digest(definition, data)
            print(f"  {digests[name]}  {name}", flush=True)
        self.assertEqual(len(set(digests.values())), 1, digests)


class Layouts(Digests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat")
        cls.parts = {
            f"{count} parts by {method}": partitioned(cls.data, count, method)
            for count, method in ((1, "random"), (2, "metis"), (4, "ldg"),
                                  (4, "random"))}

    def test_layout(self):
        self.check_all((described(layout), merged(DEFINITION, layout),
                        self.data) for layout in LAYOUTS)

    def test_layout_on_parts_with_local_seed_order(self):
        parts = self.parts["2 parts by metis"]
        self.check_all((described(layout), merged(DEFINITION, layout), parts)
                       for layout in ({}, TROUBLE))

    def test_parts_with_global_seed_order(self):
        definition = merged(DEFINITION, GLOBAL)
        cases = [("whole", definition, self.data)]
        for name, data in self.parts.items():
            cases += [(name, definition, data),
                      (f"{name}, trouble", merged(definition, TROUBLE), data)]
        self.check_all(cases)

    def test_models(self):
        for kind in model_kinds():
            definition = merged(DEFINITION, GLOBAL, {"model": {"kind": kind}})
            self.check_all([
                (kind, definition, self.data),
                (f"{kind}, trouble, 4 parts", merged(definition, TROUBLE),
                 self.parts["4 parts by random"])])

    def test_ways_to_learn(self):
        """Dropped attention, decay of some weights, clipping, class weights."""
        averaging = {"output_heads": 2}
        untyped = {**averaging, "attention_residual": True,
                   "message_dropout": 0.4}
        for kind, more in (("gat", untyped), ("gatv2", untyped),
                           ("rgat", averaging), ("hgt", {})):
            definition = merged(DEFINITION, GLOBAL, {
                "model": {"kind": kind, "attention_dropout": 0.3, **more},
                "optimizer": {"weight_decay": 0.01, "decay_layers": "first",
                              "decay_biases": False, "clip_norm": 0.5},
                "train": {"label_smoothing": 0.1, "balance_classes": True}})
            self.check_all([
                (kind, definition, self.data),
                (f"{kind}, trouble, 4 parts", merged(definition, TROUBLE),
                 self.parts["4 parts by random"])])

    def test_requests_cut_in_pieces(self):
        """Big enough for a request to be spread over several threads."""
        data = self.top / "wide"
        imported_rmat(data, scale=16, edges=600000, features=4, classes=3,
                      train=0.5, a=0.25, b=0.25, c=0.25)
        definition = merged(DEFINITION, GLOBAL, {
            "sampler": {"fanouts": [10, 10]}, "model": {"hidden": 4},
            "trainer": {"replicas": 1},
            "train": {"batch_size": 16384, "max_steps": 2},
            "evaluate": {"batch_size": 16384}})
        layouts = ({}, {"sampler": {"threads": 4}}, {"fetch": {"threads": 4}})
        plain, *others = [self.train(merged(definition, layout), data)
                          for layout in layouts]
        for layout, run, stage in zip(layouts[1:], others,
                                      ("sampling service", "feature service")):
            self.assertEqual(run["digest"], plain["digest"])
            whole, cut = items_of(plain, stage), items_of(run, stage)
            print(f"  {described(layout)}: {whole} requests cut in {cut}")
            self.assertGreater(cut, whole)
        self.check_all((described(layout), merged(definition, layout), data)
                       for layout in ({}, TROUBLE))

    def test_seed_and_world_size_do_matter(self):
        """Equal digests mean something only if others differ."""
        digests = [self.digest(merged(DEFINITION, change), self.data)
                   for change in ({}, {"seed": 8},
                                  {"sampler": {"fanouts": [4, 2]}})]
        self.assertEqual(len(set(digests)), 3)


def items_of(summary, stage):
    return next(s["items"] for s in summary["stages"] if s["stage"] == stage)


class TypedGraph(Digests):
    """Two node types, one of them without features: learnt embeddings."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.top / "typed"
        imported("npy", write_typed_set(cls.top / "source"), "--reverse",
                 "--out", cls.data)
        cls.parts = partitioned(cls.data, 3, "metis")

    def test_layout_and_parts(self):
        definition = merged(DEFINITION, GLOBAL, {
            "model": {"kind": "rgcn", "embedding": 8, "layer_norm": True},
            "sampler": {"fanouts": {"default": [3, 3], "writes": [2, -1]}},
            "optimizer": {"kind": "adamw", "weight_decay": 0.01,
                          "schedule": "cosine", "embedding_decay": 5,
                          "clip_norm": 0.5}})
        self.check_all([
            ("whole", definition, self.data),
            ("whole, trouble", merged(definition, TROUBLE), self.data),
            ("3 parts", definition, self.parts),
            ("3 parts, trouble", merged(definition, TROUBLE), self.parts),
            ("3 parts, one batch at a time",
             merged(definition, {"budget": {"batches": 1, "bytes": 1}}),
             self.parts)])

    def test_relations_that_share_their_attention(self):
        definition = merged(DEFINITION, GLOBAL, {
            "model": {"kind": "hgt", "embedding": 8,
                      "attention_dropout": 0.3}})
        self.check_all([
            ("hgt, whole", definition, self.data),
            ("hgt, 3 parts, trouble", merged(definition, TROUBLE),
             self.parts)])


def write_typed_set(folder):
    """Papers that cite each other, and authors without features."""
    rng = np.random.default_rng(5)
    folder.mkdir()
    for name, array in {
            "paper.features": rng.normal(size=(300, 6)).astype(np.float32),
            "paper.labels": rng.integers(0, 3, 300),
            "paper.train_idx": np.arange(100),
            "paper.val_idx": np.arange(100, 150),
            "paper.test_idx": np.arange(150, 300),
            "author__writes__paper.edges":
                rng.integers(0, [[80], [300]], (2, 900)),
            "paper__cites__paper.edges": rng.integers(0, 300, (2, 700)),
    }.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "meta.json").write_text(json.dumps({
        "name": "typed",
        "node_types": {"paper": {"num_nodes": 300, "num_features": 6,
                                 "num_classes": 3},
                       "author": {"num_nodes": 80}}}))
    return folder


class DataParallel(runs.Workplace):
    """One trainer and several compute the same step."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = imported_rmat(cls.top / "rmat", scale=9, edges=1500,
                                 features=8, classes=4, train=0.2,
                                 validation=0)
        cls.seeds = len(Dataset(cls.data).node_array("node", "train"))

    def test_replicas_agree(self):
        # The last step of an epoch has fewer seeds than there are trainers.
        batch = next(b for b in range(7, 20) if self.seeds % b == 2)
        definition = {
            "sampler": {"fanouts": [-1, -1]},
            "train": {"batch_size": batch, "epochs": 50, "max_steps": 20},
            "optimizer": {"kind": "sgd", "learning_rate": 0.5},
            "evaluate": {"neighbours": "all"},
        }
        self.assertLess(-(-self.seeds // batch), 20, "no short step in 20")
        print(f"  {self.seeds} seeds in steps of {batch}, the last of 2")
        for kind in model_kinds():
            self.check_kind(merged(definition, {
                "model": {"kind": kind, "hidden": 16, "dropout": 0},
                "optimizer": {"learning_rate": RATES.get(kind, 0.5)}}))

    def check_kind(self, definition):
        kind = definition["model"]["kind"]
        expected, start = None, None
        for replicas in (1, 2, 3) if kind == "sage" else (1, 3):
            summary = self.train(
                merged(definition, {"trainer": {"replicas": replicas}}),
                self.data)
            self.assertEqual(summary["steps"], 20)
            weights = self.weights(summary)
            if expected is None:
                expected = weights
                start = self.weights(self.train(
                    merged(definition, {"train": {"max_steps": 1},
                                        "optimizer": {"learning_rate": 1e-9}}),
                    self.data))
                continue
            error = distance(weights, expected)
            moved = distance(start, expected)
            print(f"  {kind}, {replicas} trainers: {error:.2g} apart after "
                  f"having moved by {moved:.2g}")
            self.assertLess(error, 1e-5)
            self.assertGreater(moved, 0.01)


def distance(ours, theirs):
    """Norm of the difference of all weights, relative to theirs."""
    assert list(ours) == list(theirs)

    def flat(weights):
        return np.concatenate([w.ravel() for w in weights.values()])
    return (np.linalg.norm(flat(ours) - flat(theirs))
            / np.linalg.norm(flat(theirs)))


if __name__ == "__main__":
    program()
    unittest.main()

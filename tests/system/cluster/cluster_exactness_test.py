"""What a cluster computes does not depend on its network, nor on how the seeds
fall to the trainers."""

import collections
import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import numpy as np
import support
from cluster_test import ClusterTest
from runs import SMALL as DEFINITION, merged, partitioned, small_rmat
from slow_links import SlowCluster
from support import program


class SlowLinks(ClusterTest):
    def check(self, trainers, change):
        definition = merged(DEFINITION, {"trainer": {"replicas": trainers},
                                         "train": {"epochs": 1}})
        alone = self.train(definition, self.parts[4])
        cluster = SlowCluster(self.top / self.own_name, self.parts[4],
                              ["0,3", "1", "2"])
        self.addCleanup(cluster.__exit__)
        summary = cluster.run(
            self.write(merged(definition, change), self.parts[4]))
        self.assertEqual(summary["digest"], alone["digest"], cluster.logs())
        self.assertEqual(summary["test_accuracy"], alone["test_accuracy"])
        # All went by the links, control and data by connections of their own.
        for link in cluster.links:
            self.assertGreaterEqual(link.connections, 2)
        sent = sum(stage["bytes"] for stage in summary["stages"]
                   if stage["stage"] in ("wire: sampling sent",
                                         "wire: features sent"))
        self.assertGreater(sent, 0)
        self.assertGreater(sum(link.bytes for link in cluster.links), sent)

    def test_delays(self):
        self.check(1, {})

    def test_delays_and_replies_out_of_order(self):
        self.check(2, {"faults": {"reply_delay_ms": 40},
                       "sampler": {"replicas": 2}})


class FewSeeds(ClusterTest):
    def test_parts_without_a_seed(self):
        """Five seeds in eight parts, so most have none, and steps of two."""
        whole = small_rmat(self.top / "few", train=0.005)
        seeds = support.Dataset(whole).node_array("node", "train")
        self.assertEqual(len(seeds), 5)
        parts = partitioned(whole, 8, "random")
        cluster = self.cluster(parts, ["0,2-5", "1", "6-7"])
        for trainers in (1, 3):
            with self.subTest(trainers=trainers):
                definition = merged(DEFINITION, {
                    "trainer": {"replicas": trainers},
                    "train": {"batch_size": 2}})
                alone = self.train(definition, parts)
                summary = cluster.run(self.write(definition, parts))
                self.assertEqual(summary["digest"], alone["digest"])
                self.assertEqual(summary["steps"], 6)


class Metrics(ClusterTest):
    """Counts and scores of several daemons' trainers make the same metrics."""

    def told(self, summary):
        """What depends on no time."""
        text = (pathlib.Path(summary["run"]) / "metrics.jsonl").read_text()
        lines = [{key: value for key, value in json.loads(line).items()
                  if key not in ("seconds", "ended")}
                 for line in text.splitlines()]
        return {"lines": lines, **{key: summary[key] for key in (
            "digest", "test", "validation", "metric", "best_epoch")}}

    def test_they_are_those_of_one_process(self):
        parts = self.parts[4]
        cluster = self.cluster(parts, ["0,3", "1", "2"])
        for trainers in (1, 3):
            with self.subTest(trainers=trainers):
                definition = merged(DEFINITION, {
                    "trainer": {"replicas": trainers},
                    "evaluate": {"metric": "roc_auc"}})
                alone = self.told(self.train(definition, parts))
                there = self.told(cluster.run(self.write(definition, parts)))
                self.assertEqual(there, alone)
                self.assertIsNotNone(there["test"]["roc_auc"])
                self.assertEqual(len(there["test"]["confusion"]), 4)


class Seeds(ClusterTest):
    """Recorded steps: 102 seeds in steps of 33, so that neither the seeds of an
    epoch nor those of a step divide, and one of the last step's four ranks has
    none."""

    # All neighbours, and nothing drawn: what is computed for a seed depends on
    # the seed alone, so that sums may be compared over any number of trainers.
    DEFINITION = merged(DEFINITION, {
        "sampler": {"fanouts": [-1, -1]},
        "model": {"dropout": 0},
        "optimizer": {"kind": "sgd", "learning_rate": 0.1},
        "train": {"record_steps": True},
    })
    # Of float32 sums in another order, over six steps.
    ROUNDING = 1e-4

    def steps(self, summary):
        """The recorded parts by phase, epoch and step, in order of ranks."""
        text = (pathlib.Path(summary["run"]) / "steps.jsonl").read_text()
        out = collections.defaultdict(list)
        for line in sorted(map(json.loads, text.splitlines()),
                           key=lambda part: part["rank"]):
            out[line["phase"], line["epoch"], line["step"]].append(line)
        return out

    def check_seeds(self, steps, trainers):
        for parts in steps.values():
            self.assertEqual([part["rank"] for part in parts],
                             list(range(trainers)))
            counts = [len(part["seeds"]) for part in parts]
            self.assertLessEqual(max(counts) - min(counts), 1)
        data = support.Dataset(self.data)
        for phase, split, epochs in (("train", "train", {1, 2}),
                                     ("validation", "val", {1, 2}),
                                     ("test", "test", {2})):
            expected = np.sort(data.node_array("node", split))
            self.assertEqual({e for p, e, _ in steps if p == phase}, epochs)
            for epoch in epochs:
                seen = [seed for (p, e, _), parts in steps.items()
                        if (p, e) == (phase, epoch)
                        for part in parts for seed in part["seeds"]]
                np.testing.assert_array_equal(np.sort(seen), expected)

    def check_averages(self, steps, alone, summary):
        for key, parts in steps.items():
            one = alone[key]
            self.assertEqual(sum(part["labelled"] for part in parts),
                             one[0]["labelled"])
            np.testing.assert_allclose(
                sum(part["loss_sum"] for part in parts), one[0]["loss_sum"],
                rtol=self.ROUNDING)
            self.assertEqual({s for part in parts for s in part["seeds"]},
                             set(one[0]["seeds"]))
        # A line of the metrics is the sum over what it stands for.
        text = (pathlib.Path(summary["run"]) / "metrics.jsonl").read_text()
        for line in map(json.loads, text.splitlines()):
            parts = [part for (phase, epoch, _), parts in steps.items()
                     if (phase, epoch) == (line["phase"], line["epoch"])
                     for part in parts]
            seeds = sum(part["labelled"] for part in parts)
            self.assertEqual(line["seeds"], seeds)
            self.assertEqual(line["accuracy"],
                             sum(part["correct"] for part in parts) / seeds)
            self.assertAlmostEqual(
                line["loss"], sum(p["loss_sum"] for p in parts) / seeds, 12)

    def test_every_seed_once_and_averages_exact(self):
        parts = self.parts[4]
        first = self.train(self.DEFINITION, parts)
        alone = self.steps(first)
        self.check_seeds(alone, 1)
        weights = self.weights(first)
        cluster = self.cluster(parts, ["0", "1", "2", "3"])
        for trainers in (1, 2, 3, 4):
            with self.subTest(trainers=trainers):
                summary = cluster.run(self.write(
                    merged(self.DEFINITION,
                           {"trainer": {"replicas": trainers}}), parts))
                steps = self.steps(summary)
                self.check_seeds(steps, trainers)
                self.check_averages(steps, alone, summary)
                there = self.weights(summary)
                for name, values in weights.items():
                    np.testing.assert_allclose(there[name], values,
                                               rtol=1e-3, atol=1e-5)
                if trainers == 1:
                    self.assertEqual(summary["digest"], first["digest"])


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)

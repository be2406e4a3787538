#!/usr/bin/env python3
"""Trains the GAT of `cora-gat.yaml` over a whole dataset by NumPy alone, several
times: an independent reference, of which nothing is shared with the program.

    python3 examples/plain_gat.py DATASET [--seeds 5] [--drop-projected]

The program of its authors (Velickovic et al., ICLR'18; PetarV-/GAT,
utils/layers.py) also drops out of what a layer's weights have made, ahead of the
sum over neighbours and behind the scores; their paper does not say so.
`--drop-projected` does it, too. The weights of the epoch with the smallest loss
of the validation nodes are tested. Prints mean and deviation over the seeds
1, 2 ..."""

import argparse
import pathlib
import statistics

import numpy as np

from numpy_models import Folder, elu, leaky
from plain_rgcn import both_ways, deviation

HEADS, HIDDEN = 8, 8  # Of each head.
DROPOUT, RATE, DECAY = 0.6, 0.005, 5e-4
EPOCHS, PATIENCE = 1000, 100


class Graph:
    """Edges in the order of their targets, with one from each node to itself,
    and features as a matrix."""

    def __init__(self, dataset):
        (about,) = dataset.info["node_types"]
        (name,) = dataset.edge_types()
        each = np.arange(about["count"])
        self.nodes = len(each)
        sources, targets = dataset.edges(name)
        sources = np.concatenate([sources, each])
        targets = np.concatenate([targets, each])
        order = np.argsort(targets, kind="stable")
        self.sources, self.targets = sources[order], targets[order]
        self.begins = np.searchsorted(self.targets, each)
        # The same edges by their sources, of which each node is one, too.
        self.by_source = np.argsort(self.sources, kind="stable")
        self.source_begins = np.searchsorted(
            self.sources[self.by_source], each)
        dense = dataset.features(about["name"])
        rows, columns = np.nonzero(dense)
        self.values, self.width = dense[rows, columns], dense.shape[1]
        self.features = both_ways(rows, columns, self.values, dense.shape)
        self.by_column = np.argsort(columns, kind="stable")
        self.labels, self.train, self.validation, self.test = (
            dataset.node_array(about["name"], array)
            for array in ("labels", "train", "val", "test"))
        self.classes = 1 + self.labels.max()

    def drop(self, keep):
        """Multiplies each feature that is not 0."""
        kept = self.values * keep
        self.features.values = kept[:, None]
        self.features.transposed.values = kept[self.by_column, None]

    def to_targets(self, edges):
        return np.add.reduceat(edges, self.begins)

    def to_sources(self, edges):
        return np.add.reduceat(edges[self.by_source], self.source_begins)


class Attention:
    """What one layer does with what its weights have made."""

    def __init__(self, graph, values, layer, keep):
        self.graph, self.layer, self.keep = graph, layer, keep
        self.source, self.target = (
            values[f"{layer}.{end}"] for end in ("source", "target"))
        self.bias = values[f"{layer}.bias"]

    def forward(self, rows, drop_projected):
        graph, heads = self.graph, len(self.source)
        self.rows = rows.reshape(len(rows), heads, -1)
        self.kept = (self.keep(self.rows.shape) if drop_projected
                     else np.ones(self.rows.shape))
        scores = ((self.rows * self.source).sum(2)[graph.sources]
                  + (self.rows * self.target).sum(2)[graph.targets])
        self.slope = np.where(scores > 0, 1, 0.2)
        scores = leaky(scores)
        largest = np.maximum.reduceat(scores, graph.begins)
        powers = np.exp(scores - largest[graph.targets])
        self.shares = powers / graph.to_targets(powers)[graph.targets]
        self.kept_edges = self.keep(self.shares.shape)
        self.sent = (self.rows * self.kept)[graph.sources]
        sums = graph.to_targets(
            (self.shares * self.kept_edges)[:, :, None] * self.sent)
        return sums.reshape(len(rows), -1) + self.bias

    def backward(self, change, out):
        """Of the rows; adds the gradients of the layer's own values."""
        graph = self.graph
        out[f"{self.layer}.bias"] = change.sum(0)
        got = change.reshape(self.rows.shape)[graph.targets]
        weights = (self.shares * self.kept_edges)[:, :, None]
        back = graph.to_sources(weights * got) * self.kept
        shares = (got * self.sent).sum(2) * self.kept_edges
        inner = graph.to_targets(shares * self.shares)
        scores = self.shares * (shares - inner[graph.targets]) * self.slope
        for end, name, by in ((self.source, "source",
                               graph.to_sources(scores)),
                              (self.target, "target",
                               graph.to_targets(scores))):
            out[f"{self.layer}.{name}"] = (by[:, :, None] * self.rows).sum(0)
            back += by[:, :, None] * end
        return back.reshape(len(back), -1)


class Model:
    def __init__(self, graph, seed, drop_projected=False):
        self.graph, self.drop_projected = graph, drop_projected
        self.rng = np.random.default_rng(seed)
        self.values = {}
        for layer, rows, heads, width in (
                ("1", graph.width, HEADS, HIDDEN),
                ("2", HEADS * HIDDEN, 1, graph.classes)):
            self.add(f"{layer}.weight", (rows, heads * width),
                     rows + heads * width)
            for end in ("source", "target"):
                self.add(f"{layer}.{end}", (heads, width), width + 1)
            self.values[f"{layer}.bias"] = np.zeros(heads * width)

    def add(self, name, shape, extents):
        limit = np.sqrt(6 / extents)
        self.values[name] = self.rng.uniform(-limit, limit, shape)

    def forward(self, training):
        def keep(shape):
            if not training:
                return np.ones(shape)
            return (self.rng.random(shape) >= DROPOUT) / (1 - DROPOUT)

        graph, values = self.graph, self.values
        graph.drop(keep(graph.values.shape))
        drop = training and self.drop_projected
        self.first, self.second = (
            Attention(graph, values, layer, keep) for layer in "12")
        made = self.first.forward(
            graph.features.of(values["1.weight"]), drop)
        kept = keep(made.shape)
        self.hidden = elu(made) * kept
        self.slope = np.where(made > 0, 1, elu(made) + 1) * kept
        return self.second.forward(self.hidden @ values["2.weight"], drop)

    def loss(self, logits, nodes):
        """Mean cross-entropy, and its gradient by the logits."""
        right = (nodes, self.graph.labels[nodes])
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        change = np.zeros_like(logits)
        change[nodes] = shares[nodes] / len(nodes)
        change[right] -= 1 / len(nodes)
        return -np.log(shares[right]).mean(), change

    def loss_and_gradients(self, training=True):
        loss, change = self.loss(self.forward(training), self.graph.train)
        out = {}
        change = self.second.backward(change, out)
        out["2.weight"] = self.hidden.T @ change
        change = self.first.backward(
            change @ self.values["2.weight"].T * self.slope, out)
        out["1.weight"] = self.graph.features.transposed.of(change)
        return loss, out


def test_accuracy(graph, seed, drop_projected):
    """In percent, by the weights of the best epoch."""
    model = Model(graph, seed, drop_projected)
    moments = {name: (np.zeros_like(value), np.zeros_like(value))
               for name, value in model.values.items()}
    best, tested, since = np.inf, 0, 0
    for step in range(1, EPOCHS + 1):
        _, gradients = model.loss_and_gradients()
        for name, value in model.values.items():
            first, second = moments[name]
            decay = 0 if name.endswith("bias") else DECAY
            gradient = gradients[name] + decay * value
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient ** 2 - second)
            value -= (RATE / (1 - 0.9 ** step) * first
                      / (np.sqrt(second / (1 - 0.999 ** step)) + 1e-8))
        logits = model.forward(False)
        now, _ = model.loss(logits, graph.validation)
        since += 1
        if now < best:
            best, since = now, 0
            tested = 100 * (logits[graph.test].argmax(axis=1)
                            == graph.labels[graph.test]).mean()
        if since >= PATIENCE:
            break
    return tested


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--drop-projected", action="store_true")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds must be 1 or more")
    graph = Graph(Folder(options.dataset))
    shares = [test_accuracy(graph, seed, options.drop_projected)
              for seed in range(1, options.seeds + 1)]
    print(f"{statistics.mean(shares):.1f} +- {deviation(shares):.1f}")


if __name__ == "__main__":
    main()

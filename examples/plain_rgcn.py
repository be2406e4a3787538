#!/usr/bin/env python3
"""Trains an R-GCN (Schlichtkrull et al., ESWC'18) of two layers over a whole
dataset by NumPy alone, several times: an independent reference for
`imdb.yaml`, of which nothing is shared with the program.

    python3 examples/plain_rgcn.py DATASET [--seeds 5] [--sage]

Nodes of types without features have vectors that are learnt. They are short
at first, and Adam decays all of them in each step as it does all weights: L2
is part of the gradient. The weights of the epoch with the best accuracy of
validation are tested. Prints mean and deviation over the seeds 1, 2 ...

On a dataset with one edge type the model is the GraphSAGE with means of
Hamilton et al. (NIPS'17). `--sage` trains it as `accuracies.py` trains
`sage-full-cora`: 200 epochs, and decay of the first layer alone."""

import argparse
import dataclasses
import pathlib
import statistics

import numpy as np

from numpy_models import Folder, relu

HIDDEN = EMBEDDING = 64
DROPOUT, RATE, DECAY, SHORT = 0.5, 0.01, 5e-4, 0.01


@dataclasses.dataclass(frozen=True)
class Training:
    epochs: int = 100
    patience: int = 20  # Epochs without a gain; 0: all epochs are trained.
    decays: tuple = ("embedding.", "1.", "2.")  # Begins of names.


SAGE = Training(epochs=200, patience=0, decays=("1.",))


class Sums:
    """A sparse matrix by rows: `of` multiplies it with a dense one."""

    def __init__(self, rows, columns, values, shape):
        order = np.argsort(rows, kind="stable")
        self.columns = columns[order]
        self.values = values[order, None]
        self.filled, self.begins = np.unique(rows[order], return_index=True)
        self.rows = shape[0]
        self.transposed = None

    def of(self, x):
        out = np.zeros((self.rows, x.shape[1]))
        if len(self.filled):
            out[self.filled] = np.add.reduceat(
                x[self.columns] * self.values, self.begins)
        return out


def both_ways(rows, columns, values, shape):
    out = Sums(rows, columns, values, shape)
    out.transposed = Sums(columns, rows, values, shape[::-1])
    return out


class Graph:
    """Each edge type as the matrix of means over in-neighbours, and the
    features of each node type as a matrix, if it has them."""

    def __init__(self, dataset):
        self.target = dataset.info["target"]
        self.counts = {each["name"]: each["count"]
                       for each in dataset.info["node_types"]}
        self.relations = []
        for name in dataset.edge_types():
            source, _, to = name.split("__")
            sources, targets = dataset.edges(name)
            degrees = np.bincount(targets, minlength=self.counts[to])
            self.relations.append((name, source, to, both_ways(
                targets, sources, 1 / degrees[targets],
                (self.counts[to], self.counts[source]))))
        self.features, self.widths = {}, {}
        for name in self.counts:
            dense = dataset.features(name)
            if dense is not None:
                at = np.nonzero(dense)
                self.features[name] = both_ways(*at, dense[at], dense.shape)
                self.widths[name] = dense.shape[1]
        self.labels = dataset.node_array(self.target, "labels")
        self.train, self.validation, self.test = (
            dataset.node_array(self.target, split)
            for split in ("train", "val", "test"))
        self.classes = 1 + self.labels.max()


class Model:
    def __init__(self, graph, seed):
        self.graph = graph
        self.rng = np.random.default_rng(seed)
        self.values = {}
        for name, count in graph.counts.items():
            if name not in graph.features:
                self.values[f"embedding.{name}"] = self.rng.normal(
                    0, SHORT / np.sqrt(EMBEDDING), (count, EMBEDDING))
            self.add_weight(f"1.{name}", self.width(name), HIDDEN)
            self.values[f"1.{name}.bias"] = np.zeros(HIDDEN)
        for name, source, to, _ in graph.relations:
            self.add_weight(f"1.{name}", self.width(source), HIDDEN)
            if to == graph.target:
                self.add_weight(f"2.{name}", HIDDEN, graph.classes)
        self.add_weight("2.own", HIDDEN, graph.classes)
        self.values["2.bias"] = np.zeros(graph.classes)

    def width(self, name):
        return self.graph.widths.get(name, EMBEDDING)

    def add_weight(self, name, rows, columns):
        limit = np.sqrt(6 / (rows + columns))
        self.values[name] = self.rng.uniform(-limit, limit, (rows, columns))

    def times(self, name, weight):
        """The input of a type times a matrix."""
        features = self.graph.features.get(name)
        return (self.values[f"embedding.{name}"] @ weight if features is None
                else features.of(weight))

    def forward(self, training):
        """The logits of the target, and what backward needs."""
        graph, values, hidden, kept = self.graph, self.values, {}, {}
        for name in graph.counts:
            hidden[name] = (self.times(name, values[f"1.{name}"])
                            + values[f"1.{name}.bias"])
        for name, source, to, mean in graph.relations:
            hidden[to] += mean.of(self.times(source, values[f"1.{name}"]))
        for name in graph.counts:
            keep = np.ones_like(hidden[name])
            if training:
                keep = ((self.rng.random(keep.shape) >= DROPOUT)
                        / (1 - DROPOUT))
            kept[name] = keep * (hidden[name] > 0)
            hidden[name] = relu(hidden[name]) * keep
        logits = hidden[graph.target] @ values["2.own"] + values["2.bias"]
        for name, source, to, mean in graph.relations:
            if to == graph.target:
                logits += mean.of(hidden[source] @ values[f"2.{name}"])
        return logits, hidden, kept

    def loss_and_gradients(self, training=True):
        """Of the cross-entropy of the training nodes."""
        graph, values = self.graph, self.values
        logits, hidden, kept = self.forward(training)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        right = (graph.train, graph.labels[graph.train])
        loss = -np.log(shares[right]).mean()
        change = np.zeros_like(logits)
        change[graph.train] = shares[graph.train] / len(graph.train)
        change[right] -= 1 / len(graph.train)
        out = {"2.own": hidden[graph.target].T @ change,
               "2.bias": change.sum(axis=0)}
        into = {name: np.zeros_like(rows) for name, rows in hidden.items()}
        into[graph.target] += change @ values["2.own"].T
        for name, source, to, mean in graph.relations:
            if to == graph.target:
                back = mean.transposed.of(change)
                out[f"2.{name}"] = hidden[source].T @ back
                into[source] += back @ values[f"2.{name}"].T
        for name in graph.counts:
            into[name] *= kept[name]
            out[f"1.{name}.bias"] = into[name].sum(axis=0)
            self.add_input_gradient(name, f"1.{name}", into[name], out)
        for name, source, to, mean in graph.relations:
            self.add_input_gradient(source, f"1.{name}",
                                    mean.transposed.of(into[to]), out)
        return loss, out

    def add_input_gradient(self, name, weight, change, out):
        """Of `times`."""
        features = self.graph.features.get(name)
        if features is not None:
            out[weight] = features.transposed.of(change)
            return
        rows = f"embedding.{name}"
        out[weight] = self.values[rows].T @ change
        out[rows] = out.get(rows, 0) + change @ self.values[weight].T

    def accuracy(self, logits, nodes):
        return 100 * (logits[nodes].argmax(axis=1)
                      == self.graph.labels[nodes]).mean()


def trained(graph, seed, how):
    """The model, and the test accuracy of its best epoch in percent."""
    model = Model(graph, seed)
    moments = {name: (np.zeros_like(value), np.zeros_like(value))
               for name, value in model.values.items()}
    best = tested = -1
    since = 0
    for step in range(1, how.epochs + 1):
        _, gradients = model.loss_and_gradients()
        for name, value in model.values.items():
            first, second = moments[name]
            decay = DECAY if name.startswith(how.decays) else 0
            gradient = gradients[name] + decay * value
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient ** 2 - second)
            value -= (RATE / (1 - 0.9 ** step) * first
                      / (np.sqrt(second / (1 - 0.999 ** step)) + 1e-8))
        logits, _, _ = model.forward(False)
        now = model.accuracy(logits, graph.validation)
        since += 1
        if now > best:
            best, since = now, 0
            tested = model.accuracy(logits, graph.test)
        if how.patience and since >= how.patience:
            break
    return model, tested


def deviation(shares):
    """Of a sample; 0 of a single number."""
    return statistics.stdev(shares) if len(shares) > 1 else 0.0


def accuracies(folder, seeds, how=Training()):
    """Of the test nodes of a dataset, in percent, one number a seed."""
    graph = Graph(Folder(folder))
    return [trained(graph, seed, how)[1] for seed in range(1, seeds + 1)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sage", action="store_true",
                        help="train as sage-full-cora of accuracies.py")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds must be 1 or more")
    shares = accuracies(options.dataset, options.seeds,
                        SAGE if options.sage else Training())
    print(f"{statistics.mean(shares):.1f} +- {deviation(shares):.1f}")


if __name__ == "__main__":
    main()

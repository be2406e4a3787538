"""All kinds of models once more, by numpy alone, over whole graphs: what a run
must compute when it takes all neighbours. Nothing is shared with the program
but the names of its weights. `read_weights.py` and the tests use it."""

import json
import math
import pathlib

import numpy as np


def relu(x):
    return np.maximum(x, 0)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def same(x):
    return x


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf, [float])(x / math.sqrt(2)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def leaky(x):
    return np.where(x > 0, x, 0.2 * x)


def layer_norm(x, gain, shift):
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred ** 2).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * gain + shift


def summed(values, to, rows):
    """Adds up rows that go to the same one."""
    out = np.zeros((rows, *values.shape[1:]))
    np.add.at(out, to, values)
    return out


def softmax_by(scores, to, rows, by):
    """The softmax of all scores that go to the same row, whose powers are
    multiplied by the weights of edges. Weights of 0 alone give zeros."""
    largest = np.full((rows, *scores.shape[1:]), -np.inf)
    np.maximum.at(largest, to, scores)
    powers = np.exp(scores - largest[to]) * by[:, None]
    totals = summed(powers, to, rows)
    totals[totals == 0] = 1
    return powers / totals[to]


class Folder:
    """A dataset folder as partition/dataset-format.md describes it."""

    def __init__(self, folder, held_out=True):
        """Without `held_out`, edges that tasks hold out are not there."""
        self.folder = pathlib.Path(folder)
        self.held_out = held_out
        self.info = json.loads((self.folder / "dataset.json").read_text())

    def node_array(self, node_type, name):
        """An array of a node type, or None."""
        path = self.folder / "nodes" / node_type / f"{name}.npy"
        return np.load(path) if path.exists() else None

    def features(self, node_type):
        """The features of a node type, with all their zeros, or None."""
        ends = self.node_array(node_type, "features.indptr")
        if ends is None:
            return self.node_array(node_type, "features")
        width = next(t["feature_width"] for t in self.info["node_types"]
                     if t["name"] == node_type)
        rows = np.zeros((len(ends) - 1, width))
        rows[np.repeat(np.arange(len(rows)), np.diff(ends)),
             self.node_array(node_type, "features.indices")] = \
            self.node_array(node_type, "features.values")
        return rows

    def edge_types(self):
        return [f"{t['source']}__{t['name']}__{t['destination']}"
                for t in self.info["edge_types"]]

    def edges(self, edge_type):
        """All edges as [2, E]: sources, and what they lead to."""
        folder = self.folder / "edges" / edge_type
        counts = np.diff(np.load(folder / "indptr.npy"))
        return np.stack([np.load(folder / "indices.npy").astype(np.int64),
                         np.repeat(np.arange(len(counts)), counts)
                         ])[:, self.seen(edge_type)]

    def seen(self, edge_type):
        """Which edges are there: of each list, those in front."""
        folder = self.folder / "edges" / edge_type
        visible = folder / "visible.npy"
        if self.held_out or not visible.exists():
            return slice(None)
        ends = np.load(folder / "indptr.npy")
        counts = np.diff(ends)
        places = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
        return places < np.repeat(np.load(visible)[:, 0], counts)

    def ids(self, node_type):
        """The places of nodes by their ids in the tables, or by their numbers
        where there are no ids."""
        folder = self.folder / "nodes" / node_type
        count = next(t["count"] for t in self.info["node_types"]
                     if t["name"] == node_type)
        names = map(str, range(count))
        if (folder / "ids.txt").exists():
            names = (folder / "ids.txt").read_text().split("\n")[:count]
        elif (folder / "node_names.txt").exists():
            names = [str(json.loads(line)) for line in (
                folder / "node_names.txt").read_text().splitlines()]
        return {name: place for place, name in enumerate(names)}

    def edge_weights(self, edge_type):
        """A number for each edge, or None."""
        about = self.info["edge_types"][self.edge_types().index(edge_type)]
        if not about.get("weights"):
            return None
        return np.load(self.folder / "edges" / edge_type
                       / "weights.npy").astype(np.float64)[
                           self.seen(edge_type)]


    def edge_features(self, edge_type):
        """A row for each edge."""
        return np.load(self.folder / "edges" / edge_type
                       / "features.npy").astype(np.float64)[
                           self.seen(edge_type)]


class Relation:
    """Edges in one layer, the weights of their messages, and their features
    if layers read them."""

    def __init__(self, name, source, target, edges, edge_weights,
                 features=None):
        self.name = name
        self.features = features  # [E, any]
        self.source = source
        self.target = target
        self.edges = edges
        self.by = edge_weights  # [E]; all 1 where edges have none.
        self.divisor = 1  # Of its means: [nodes of the target], or a number.

    def weighed(self, values, rows):
        """The sums of sources' values by the weights of edges."""
        sources, targets = self.edges
        return summed(values[sources] * self.by[:, None], targets, rows)

    def brought(self, weights, prefix, shape):
        """What features bring to each edge, as [E, *shape]."""
        map_ = weights.get(f"{prefix}{self.name}.edge.weight")
        if map_ is None:
            return np.zeros((self.edges.shape[1], *shape))
        return (self.features @ map_).reshape(-1, *shape)

    def with_edges(self, found, scale, weights, prefix):
        """The product of sums of neighbours with that of sums of features. In
        both, each edge has the same scale."""
        made = found @ weights[f"{prefix}{self.name}.weight"]
        map_ = weights.get(f"{prefix}{self.name}.edge.weight")
        if map_ is None:
            return made
        return made + summed(self.features * scale[:, None], self.edges[1],
                             len(found)) @ map_

    def mean(self, h, weights, prefix):
        rows = len(h[self.target])
        totals = np.bincount(self.edges[1], self.by, rows)
        totals[totals == 0] = 1  # Without neighbours that weigh something.
        mean = self.weighed(h[self.source], rows) / totals[:, None]
        return self.with_edges(mean, self.by / totals[self.edges[1]], weights,
                               prefix) / self.divisor

    def symmetric(self, h, weights, prefix):
        own = h[self.source]
        degrees = np.bincount(self.edges[1], self.by, len(own)) + 1.0
        scale = 1 / np.sqrt(degrees)
        found = self.weighed(own * scale[:, None], len(own))
        found = found * scale[:, None] + own / degrees[:, None]
        sources, targets = self.edges
        return self.with_edges(found, self.by * scale[sources] * scale[targets],
                               weights, prefix)

    def own_and_sum(self, h, weights, prefix):
        own = h[self.source]
        bias = weights.get(f"{prefix}{self.name}.edge.bias")
        rows = own[self.edges[0]]
        if bias is not None:
            rows = relu(rows + bias
                        + self.brought(weights, prefix, own.shape[1:]))
        found = ((1 + weights[f"{prefix}epsilon"]) * own
                 + summed(rows * self.by[:, None], self.edges[1], len(own)))
        return found @ weights[f"{prefix}{self.name}.weight"]

    def sum(self, h, weights, prefix):
        found = self.weighed(h[self.source], len(h[self.target]))
        return self.with_edges(found, self.by, weights, prefix)

    def nothing(self, h, weights, prefix):
        return 0

    def largest(self, values, rows):
        sources, targets = self.edges
        out = np.full((rows, values.shape[1]), -np.inf)
        np.maximum.at(out, targets, values[sources])
        return np.where(np.isinf(out), 0, out)

    def maximum(self, h, weights, prefix):
        found = self.largest(h[self.source], len(h[self.target]))
        return found @ weights[f"{prefix}{self.name}.weight"]

    def pool(self, h, weights, prefix):
        own = f"{prefix}{self.name}."
        values = relu(h[self.source] @ weights[f"{own}pool.weight"]
                      + weights[f"{own}pool.bias"])
        found = self.largest(values, len(h[self.target]))
        return found @ weights[f"{own}weight"]

    def attention(self, h, weights, prefix):
        own = h[self.source]
        everyone = np.arange(len(own))
        sources, targets = np.concatenate(
            [self.edges, [everyone, everyone]], axis=1)
        to_source = weights[f"{prefix}attention.source"]
        heads = len(to_source)
        z = (own @ weights[f"{prefix}weight"]).reshape(len(own), heads, -1)
        # A node's attention to itself has no features, and weighs 1.
        edges = np.concatenate([self.brought(weights, prefix, z.shape[1:]),
                                np.zeros(z.shape)])
        by = np.concatenate([self.by, np.ones(len(own))])
        joint = weights.get(f"{prefix}attention.weight")
        if joint is None:
            scores = leaky((z * to_source).sum(2)[sources]
                           + (z * weights[f"{prefix}attention.destination"])
                           .sum(2)[targets]
                           + self.edge_scores(edges, weights, prefix))
        else:
            y = (own @ joint).reshape(z.shape)
            scores = (leaky(z[sources] + y[targets] + edges)
                      * to_source).sum(2)
        shares = softmax_by(scores, targets, len(own), by)
        out = summed((z[sources] + edges) * shares[:, :, None], targets,
                     len(own))
        is_last = out.shape[2] == len(weights[f"{prefix}bias"])
        return out.mean(1) if is_last else out.reshape(len(own), -1)

    def edge_scores(self, edges, weights, prefix):
        """What features add to scores, in [E, heads]. @param edges `brought`"""
        return (edges * weights.get(f"{prefix}{self.name}.attention.edge", 0)
                ).sum(2)

    def relational_attention(self, h, weights, prefix):
        sources, targets = self.edges
        own = f"{prefix}{self.name}."
        rows = len(h[self.target])
        to_source = weights[f"{own}attention.source"]
        heads = len(to_source)
        z = (h[self.source] @ weights[f"{own}weight"]).reshape(
            len(h[self.source]), heads, -1)
        scores = ((z * to_source).sum(2)[sources]
                  + (h[self.target] @ weights[f"{own}attention.destination"])
                  [targets])
        edges = self.brought(weights, prefix, z.shape[1:])
        scores = scores + self.edge_scores(edges, weights, prefix)
        shares = softmax_by(leaky(scores), targets, rows, self.by)
        out = summed((z[sources] + edges) * shares[:, :, None], targets, rows)
        is_last = out.shape[2] == len(weights[f"{prefix}{self.target}.bias"])
        return out.mean(1) if is_last else out.reshape(rows, -1)


def transformer(relations, name, h, weights, prefix):
    """The messages of all relations into a type, which share one softmax, and
    what the layer makes of them and of the type's own rows."""
    own = f"{prefix}{name}."
    rows = len(h[name])
    inside = len(weights[f"{own}output.weight"])
    y = np.zeros((rows, inside))
    scores, values, targets, by = [], [], [], []
    for relation in relations:
        if relation.target != name:
            continue
        maps = weights[f"{prefix}{relation.name}.attention.weight"]
        heads, head, _ = maps.shape
        source = f"{prefix}{relation.source}."
        shape = (-1, heads, head)
        keys = (h[relation.source]
                @ weights[f"{source}key.weight"]).reshape(shape)
        value = (h[relation.source] @ weights[f"{source}value.weight"]
                 + weights[f"{source}value.bias"]).reshape(shape)
        queries = (h[name] @ weights[f"{own}query.weight"]
                   + weights[f"{own}query.bias"]).reshape(shape)
        sources, to = relation.edges
        edges = relation.brought(weights, prefix, (heads, head))
        mapped = np.einsum("ehd,hdk->ehk", keys[sources] + edges, maps)
        prior = weights[f"{prefix}{relation.name}.attention.prior"]
        scores.append((mapped * queries[to]).sum(2) * prior / math.sqrt(head))
        values.append(np.einsum(
            "ehd,hdk->ehk", value[sources] + edges,
            weights[f"{prefix}{relation.name}.message.weight"]))
        targets.append(to)
        by.append(relation.by)
    if scores:
        to = np.concatenate(targets)
        shares = softmax_by(np.concatenate(scores), to, rows,
                            np.concatenate(by))
        y = summed(np.concatenate(values) * shares[:, :, None], to,
                   rows).reshape(rows, inside)
    y = gelu(y) @ weights[f"{own}output.weight"]
    skip = weights.get(f"{own}skip.weight")
    gate = sigmoid(weights[f"{own}skip.gate"])
    return gate * y + (1 - gate) * (h[name] if skip is None
                                    else h[name] @ skip)


# By kind: its message, and what ends its layers but the last.
KINDS = {
    "sage": (Relation.mean, relu),
    "gcn": (Relation.symmetric, relu),
    "gat": (Relation.attention, elu),
    "rgcn": (Relation.mean, relu),
    "gin": (Relation.own_and_sum, relu),
    "sage_sum": (Relation.sum, relu),
    "sage_max": (Relation.maximum, relu),
    "sage_pool": (Relation.pool, relu),
    "mlp": (Relation.nothing, relu),
    "hetero_sage": (Relation.mean, relu),
    "rgat": (Relation.relational_attention, relu),
    "gatv2": (Relation.attention, elu),
    "hgt": (transformer, same),  # Of all relations at once.
}

# Of tasks of edges: kinds that learn a vector of each node and nothing else.
VECTORS = {"lookup": (Relation.nothing, same), "lightgcn": (Relation.sum, same)}


class Model:
    """A model of a kind with the weights of a run, over one dataset."""

    def __init__(self, kind, dataset, weights, residual=False,
                 weigh_edges=True, relations="sum"):
        self.residual = residual
        self.combine = relations
        self.weigh_edges = weigh_edges
        self.means = kind == "lightgcn"
        self.message, self.between = {**KINDS, **VECTORS}[kind]
        self.weights = {name: value.astype(np.float64)
                        for name, value in weights.items()}
        self.types = [t["name"] for t in dataset.info["node_types"]]
        self.typed = kind in VECTORS or any(
            name.startswith(f"layer1.{self.types[0]}.") for name in weights)
        self.relations = self.relations_of(dataset)
        self.inputs = {}
        for name in self.types:
            rows = dataset.features(name)
            self.inputs[name] = (self.weights.get(f"embedding.{name}")
                                 if rows is None else rows.astype(np.float64))

    def relations_of(self, dataset):
        names = dataset.edge_types()
        edges = [dataset.edges(name) for name in names]
        by = [self.weights_of(dataset, name, one.shape[1])
              for name, one in zip(names, edges)]
        if not self.typed:
            features = [self.features_of(dataset, "neighbours", name)
                        for name in names]
            return [Relation("neighbours", self.types[0], self.types[0],
                             np.concatenate(edges, axis=1),
                             np.concatenate(by),
                             None if features[0] is None
                             else np.concatenate(features))]
        out = [Relation(name, name.split("__")[0], name.split("__")[2], *of,
                        self.features_of(dataset, name, name))
               for name, *of in zip(names, edges, by)]
        for relation in out:
            relation.divisor = self.divisor_of(
                [other for other in out if other.target == relation.target],
                dataset)
        return out

    def divisor_of(self, relations, dataset):
        """By what the messages of relations into the same type are divided."""
        if self.combine == "sum":
            return 1
        if self.combine == "mean_of_all":
            return len(relations)
        rows = next(t["count"] for t in dataset.info["node_types"]
                    if t["name"] == relations[0].target)
        present = sum(np.bincount(one.edges[1], one.by, rows) > 0
                      for one in relations)
        return np.maximum(present, 1)[:, None]

    def features_of(self, dataset, relation, edge_type):
        """Of edges, if a layer reads them."""
        if not any(f".{relation}.edge." in name for name in self.weights):
            return None
        return dataset.edge_features(edge_type)

    def weights_of(self, dataset, edge_type, count):
        found = dataset.edge_weights(edge_type) if self.weigh_edges else None
        return np.ones(count) if found is None else found

    def layer(self, number, h, is_last):
        out = {}
        for name in self.types:
            prefix = f"layer{number}."
            own = f"{prefix}{name}." if self.typed else prefix
            if f"{own}bias" not in self.weights:
                continue  # No later layer reads it.
            get = self.weights.get
            y = 0
            if get(f"{own}self.weight") is not None:
                y = h[name] @ get(f"{own}self.weight")
            if self.message is transformer:
                y = transformer(self.relations, name, h, self.weights, prefix)
            for relation in self.relations:
                if relation.target == name and self.message is not transformer:
                    y = y + self.message(relation, h, self.weights, prefix)
            if get(f"{own}inner.weight") is not None:
                y = relu(y + get(f"{own}inner.bias"))
                y = y @ get(f"{own}inner.weight")
            y = y + get(f"{own}bias")
            if self.residual and not is_last and y.shape == h[name].shape:
                y = y + h[name]
            if get(f"{own}norm.gain") is not None:
                y = layer_norm(y, get(f"{own}norm.gain"),
                               get(f"{own}norm.shift"))
            out[name] = y if is_last else self.between(y)
        return out

    def propagated(self, h):
        """A layer without weights: sums of neighbours by degrees."""
        degrees = {name: np.zeros(len(rows)) for name, rows in h.items()
                   if rows is not None}
        for relation in self.relations:
            degrees[relation.target] += np.bincount(
                relation.edges[1], relation.by, len(h[relation.target]))
        scale = {name: np.divide(1, np.sqrt(degree), where=degree > 0,
                                 out=np.zeros(len(degree)))[:, None]
                 for name, degree in degrees.items()}
        out = {name: np.zeros_like(h[name]) for name in degrees}
        for relation in self.relations:
            rows = len(h[relation.target])
            scaled = h[relation.source] * scale[relation.source]
            out[relation.target] += (relation.weighed(scaled, rows)
                                     * scale[relation.target])
        return out

    def outputs(self, layers, types):
        """By node type, what enters the last matrix, and what the model gives:
        logits, or what a decoder takes."""
        h = self.inputs
        jumps = "jumping.weight" in self.weights
        given = [h]
        for number in range(1, layers + 1):
            h = (self.propagated(h) if self.means else
                 self.layer(number, h, number == layers and not jumps))
            given.append(h)
        out = {}
        for name in types:
            if self.means:
                last = sum(h[name] for h in given) / len(given)
                out[name] = last, last
            elif jumps:
                joined = np.concatenate([h[name] for h in given[1:]], axis=1)
                out[name] = joined, (joined @ self.weights["jumping.weight"]
                                     + self.weights["jumping.bias"])
            else:
                out[name] = given[max(layers - 1, 0)].get(name), h[name]
        return out

    def run(self, layers, target):
        """Returns what enters the last matrix, and the logits."""
        return self.outputs(layers, [target])[target]


def complex_parts(x):
    """The complex numbers of vectors that have all real parts first."""
    half = x.shape[1] // 2
    return x[:, :half] + 1j * x[:, half:]


def decoded(kind, weights, h, t, types, norm=1):
    """What a decoder makes of edges: [edges, scores, classes or numbers].
    `h` and `t` are outputs of their sources and destinations, and `types` the
    places of their edge types in the task."""
    get = {name[len("decoder."):]: value.astype(np.float64)
           for name, value in weights.items()
           if name.startswith("decoder.")}.get
    r = get("relation")
    if r is not None:
        r = r[types]
    if kind == "dot":
        out = (h * t).sum(1)
    elif kind == "cosine":
        lengths = np.linalg.norm(h, axis=1) * np.linalg.norm(t, axis=1)
        out = (h * t).sum(1) / np.where(lengths == 0, 1, lengths)
    elif kind == "distmult":
        out = (h * r * t).sum(1)
    elif kind == "complex":
        out = (complex_parts(h) * complex_parts(r)
               * complex_parts(t).conj()).sum(1).real
    elif kind == "transe":
        out = -np.linalg.norm(h + r - t, norm, axis=1)
    elif kind == "rotate":
        out = -np.abs(complex_parts(h) * np.exp(1j * r)
                      - complex_parts(t)).sum(1)
    elif kind == "bilinear":
        classes = 1 if get("bias") is None else len(get("bias"))
        maps = get("weight").reshape(-1, classes, *get("weight").shape[1:])
        out = np.einsum("ni,ncij,nj->nc", h, maps[types], t)
    elif kind == "mlp":
        width = h.shape[1]
        parts = get("hidden.weight").reshape(3, width, -1)
        inside = relu(h @ parts[0] + t @ parts[1] + (h * t) @ parts[2]
                      + get("hidden.bias")[types])
        out = inside @ get("output.weight")
    else:
        raise ValueError(f"there is no decoder {kind}")
    out = out.reshape(len(h), -1)
    bias = get("bias")
    return out if bias is None else out + bias


def cross_entropy(logits, labels):
    """The mean over all rows."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    chosen = np.take_along_axis(shifted, labels[:, None], 1)[:, 0]
    return (np.log(np.exp(shifted).sum(axis=1)) - chosen).mean()

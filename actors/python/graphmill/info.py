"""What a dataset has."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping

from .batch import EdgeType

_SPLITS = {"train": "train", "val": "validation", "test": "test"}


@dataclasses.dataclass(frozen=True)
class LabelSet:
    """Labels of a node type beside its own, or another split of them; chosen by
    ``labels`` of a loader. Fields are as in `NodeType`."""

    name: str
    classes: int
    labels: str
    splits: dict[str, int]
    class_names: list[str]


@dataclasses.dataclass(frozen=True)
class NodeType:
    """``count`` nodes with ``features`` numbers each (0: none), stored as
    ``precision`` "float32" or "float16", and ``sparse`` or not. ``classes``: of
    its labels, or labels or numbers of a node; 0: none. ``labels``: "classes",
    "multi_label" or "regression". ``splits``: seeds of "train", "validation" and
    "test"."""

    name: str
    count: int
    features: int
    classes: int
    labels: str
    splits: dict[str, int]
    label_sets: dict[str, LabelSet]
    class_names: list[str]
    precision: str = "float32"
    sparse: bool = False


@dataclasses.dataclass(frozen=True)
class Task:
    """Of edges, for a `LinkLoader`. ``kind``: "link", "edge_class",
    "edge_labels" or "edge_value". ``classes``: or labels or numbers of an edge.
    ``weighted``: rows have weights. ``splits``: edges in each."""

    kind: str
    edge_types: list[EdgeType]
    classes: int
    class_names: list[str]
    weighted: bool
    splits: dict[str, int]


@dataclasses.dataclass(frozen=True)
class Info:
    """What a dataset has. ``digest`` is of all its arrays; "" if it has none.
    ``edge_types``: edges of each; ``weighted``: those with weights."""

    name: str
    digest: str
    target: str
    node_types: dict[str, NodeType]
    edge_types: dict[EdgeType, int]
    weighted: list[EdgeType]
    tasks: dict[str, Task]

    @property
    def num_features(self) -> int:
        """Of the target type; 0: it has none."""
        return self.node_types[self.target].features

    @property
    def num_classes(self) -> int:
        """Of the target type; 0: it has no labels."""
        return self.node_types[self.target].classes

    @staticmethod
    def of(about: Mapping[str, Any]) -> "Info":
        """Of ``dataset.json``."""
        edges = {(e["source"], e["name"], e["destination"]): e
                 for e in about["edge_types"]}
        tasks = {each["name"]: Task(
            each["kind"], [_edge_type(name) for name in each["edge_types"]],
            each.get("class_count", 0), each.get("class_names", []),
            each.get("weights", False), _splits(each))
            for each in about.get("tasks", [])}
        return Info(about["name"], about.get("digest", ""), about["target"],
                    {each["name"]: _node_type(each)
                     for each in about["node_types"]},
                    {name: e["count"] for name, e in edges.items()},
                    [name for name, e in edges.items() if e.get("weights")],
                    tasks)


def _splits(of: Mapping[str, Any]) -> dict[str, int]:
    counts = of.get("splits", {})
    return {name: counts.get(short, 0) for short, name in _SPLITS.items()}


def _edge_type(name: str) -> EdgeType:
    source, relation, destination = name.split("__")
    return source, relation, destination


def _node_type(of: Mapping[str, Any]) -> NodeType:
    sets = {each["name"]: LabelSet(
        each["name"], each.get("class_count", 0), each.get("labels", "classes"),
        _splits(each), each.get("class_names", []))
        for each in of.get("label_sets", [])}
    return NodeType(of["name"], of["count"], of.get("feature_width", 0),
                    of.get("class_count", 0), of.get("labels", "classes"),
                    _splits(of), sets, of.get("class_names", []),
                    of.get("feature_type", "float32"), "sparse_features" in of)

"""What readers of all kinds of objects give: a graph as it was found."""

from __future__ import annotations

import dataclasses
import hashlib
import numbers
import re
from typing import Any, Iterable

from ..batch import EdgeType
from .values import Refused, is_array

LONGEST_NAME = 80
LONGEST_STEM = 62  # Of a derived name, before "--" and 12 digits.
# Columns that were chosen as features; no column of a table is called so.
CHOSEN_FEATURES = "--feature"


@dataclasses.dataclass
class Found:
    """A graph, with attributes under the names that they had. What they mean
    is for `arrays` to find out, and what nobody takes is refused."""

    kind: str  # What the object is, for people.
    nodes: dict[str, Any]  # Type: {attribute: value}, with num_nodes if it is known.
    edges: dict[EdgeType, Any]  # (source, name, destination): edges in blocks
    # The same keys.
    edge_data: dict[EdgeType, Any] = dataclasses.field(default_factory=dict)
    other: dict[str, Any] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)
    typed: bool = True  # False: one node type, one edge type, no names.
    one_store: bool = False  # All kinds of attributes are among those of nodes.
    undirected: bool = False  # Each pair is there once, and is meant both ways.
    # What weights of edges are called, where an edge type has several
    # attributes.
    weight_names: tuple[str, ...] = ("edge_weight", "weight")
    # Key of an edge type: (name, values), in the order of its edges.
    weights: dict[EdgeType, Any] = dataclasses.field(default_factory=dict)
    # The same of features.
    features: dict[EdgeType, Any] = dataclasses.field(default_factory=dict)
    # Key of an edge type: {role in tasks: (name, values)}, likewise.
    roles: dict[EdgeType, Any] = dataclasses.field(default_factory=dict)
    # Node type or key of an edge type: what the graph calls it, if otherwise.
    originals: dict[Any, str] = dataclasses.field(default_factory=dict)


def add_attribute(data: Any, name: str, value: Any) -> None:
    """Adds an attribute of nodes, which takes the place of no other one."""
    if data.get(str(name)) is not None:
        raise Refused(f"nodes would have {name} twice: remove one, or call it "
                      "something else")
    data[str(name)] = value


def type_name(original: str) -> str:
    """The name of a type for what the graph calls it, by that alone; the same
    as that of `import csv` (partition/dataset/meaning/type_name.hpp)."""
    valid = (re.fullmatch(r"[A-Za-z0-9-][A-Za-z0-9_.-]*", original)
             and len(original) <= LONGEST_NAME and "__" not in original
             and not original.endswith("_")
             and not re.search(r"--[0-9a-f]{12}\Z", original))
    if valid:
        return original
    # Byte by byte, as a character may have several of them.
    stem = re.sub(r"[^A-Za-z0-9_.]+", "-",
                  original.encode("utf-8", "replace").decode("latin-1"))
    stem = re.sub(r"__+", "_", stem)[:LONGEST_STEM].strip("_.-") or "name"
    digits = hashlib.blake2b(original.encode("utf-8", "replace"),
                             digest_size=32).hexdigest()[:12]
    return f"{stem}--{digits}"


def derived(name: str, notes: list[str]) -> str:
    """The name of a type; says so if it is another one than in the graph."""
    text = type_name(str(name))
    if text != name:
        note = f"the type {str(name)!r} is called {text}"
        if note not in notes:
            notes.append(note)
    return text


def with_type_names(found: Found) -> Found:
    """The same graph; no two types may come to have one name."""
    names = {name: derived(name, found.notes) for name in found.nodes}
    if len(set(names.values())) < len(names):
        raise Refused("two node types would have the same name: "
                      + ", ".join(map(repr, names)))
    keys = {key: (names[key[0]], derived(key[1], found.notes), names[key[2]])
            for key in found.edges}
    if len(set(keys.values())) < len(keys):
        raise Refused("two edge types would have the same name: "
                      + ", ".join(map(repr, keys)))
    return dataclasses.replace(
        found,
        nodes={names[name]: data for name, data in found.nodes.items()},
        edges={keys[key]: edges for key, edges in found.edges.items()},
        edge_data={keys[key]: data for key, data in found.edge_data.items()},
        weights={keys[key]: data for key, data in found.weights.items()},
        features={keys[key]: data for key, data in found.features.items()},
        roles={keys[key]: data for key, data in found.roles.items()},
        originals={**{names[name]: str(name) for name in names
                      if names[name] != str(name)},
                   **{keys[key]: str(key[1]) for key in keys
                      if keys[key][1] != str(key[1])}})


def give_to_edges(found: Found, name: str) -> None:
    """Makes an attribute one of edges. A graph of one type may have all of its
    attributes in one store, where a name alone says that it is of edges."""
    if not found.typed and len(found.edges) == 1:
        (only,), (nodes,) = found.edges, found.nodes.values()
        if name in nodes and name not in found.edge_data.get(only, {}):
            found.edge_data.setdefault(only, {})[name] = nodes.pop(name)


def rows_of_edges(found: Found, names_of_nodes: Iterable[str]) -> list[str]:
    """The attributes in the one store of a graph that have a row for each edge.
    None if there are as many nodes, by `names_of_nodes`, which are of nodes."""
    if not found.one_store:
        return []
    (edges,), (data,) = found.edges.values(), found.nodes.values()
    rows = {name: value.shape[0] if hasattr(value, "shape") else len(value)
            for name, value in data.items() if is_array(value)}
    nodes = [rows.get(name) for name in names_of_nodes]
    if isinstance(data.get("num_nodes"), numbers.Integral):
        nodes.append(data["num_nodes"])
    if edges.count in nodes:
        return []
    return [name for name, count in rows.items() if count == edges.count]


def take_weights(found: Found, chosen: Any = None) -> None:
    """Takes the weights out of the attributes of edges: those of a usual name,
    or `chosen` in their place."""
    names = (chosen,) if chosen else found.weight_names
    give_to_edges(found, chosen or "edge_weight")
    for key, data in found.edge_data.items():
        there = [name for name in names if data.get(name) is not None]
        if len(there) > 1:
            raise Refused(f"{typed_name(key)}: {' and '.join(there)} may both "
                          "be the weights of edges; --ignore one of them, or "
                          "choose by weight=NAME (--weight NAME)")
        if there:
            found.weights[key] = (there[0], data.pop(there[0]))
    if chosen and not found.weights:
        raise Refused(f"--weight {chosen}: no edge has such an attribute")


def take_features(found: Found, chosen: Any = None) -> None:
    """Takes the features out of the attributes of edges: edge_attr, or
    `chosen` in its place."""
    name = chosen or "edge_attr"
    give_to_edges(found, name)
    for key, data in found.edge_data.items():
        if data.get(name) is not None:
            found.features[key] = (name, data.pop(name))
    if chosen and not found.features:
        raise Refused(f"--edge-attr {chosen}: no edge has such an attribute")


# What attributes of edges may be of a task of edges, by the files of the import.
ROLES = ("split", "label", "time", "row_weight", "negatives")


def take_roles(found: Found, chosen: Any) -> None:
    """Takes what tasks of edges need out of their attributes.

    chosen: {role: attribute}; "TASK.role" is of that task alone."""
    for role, name in chosen.items():
        task, dot, of_task = role.rpartition(".")
        if of_task not in ROLES or (dot and type_name(task) != task):
            raise Refused(f"--edge {role}={name}: {', '.join(ROLES)} are what "
                          "edges may have for a task; one task of several has "
                          "its name before it, as in TASK.label")
        if not found.typed and len(found.edges) == 1:
            (only,), (nodes,) = found.edges, found.nodes.values()
            if name in nodes and name not in found.edge_data.get(only, {}):
                found.edge_data.setdefault(only, {})[name] = nodes.pop(name)
        of = [key for key, data in found.edge_data.items()
              if data.get(name) is not None]
        if not of:
            raise Refused(f"--edge {role}={name}: no edge has such an attribute")
        for key in of:
            found.roles.setdefault(key, {})[role] = (
                name, found.edge_data[key][name])
    for name in set(chosen.values()):  # Tasks may share one.
        for data in found.edge_data.values():
            data.pop(name, None)


def take_times(found: Found, of_edges: Any, of_nodes: Any) -> list[str]:
    """Takes the times of edges and nodes, for sampling by time, out of their
    attributes: edge_time, or `of_edges` in its place; of nodes only what
    `of_nodes` names. Returns what the import is told."""
    flags = []
    name = of_edges or "edge_time"
    give_to_edges(found, name)
    for key, data in found.edge_data.items():
        if data.get(name) is None:
            continue
        roles = found.roles.setdefault(key, {})
        if "time" in roles:
            raise Refused(f"{typed_name(key)}: {name} has the times of edges, "
                          "which rows of a task take, too; leave out --edge "
                          f"time={roles['time'][0]}")
        roles["time"] = name, data.pop(name)
        flags = ["--edge-time"]
    if of_edges and not flags:
        raise Refused(f"--edge-time {of_edges}: no edge has such an attribute")
    if not of_nodes:
        return flags
    there = [data for data in found.nodes.values()
             if data.get(of_nodes) is not None]
    if not there:
        raise Refused(f"--node-time {of_nodes}: no node has such an attribute")
    for data in there:
        add_attribute(data, "time", data.pop(of_nodes))
    return [*flags, "--node-time"]


def typed_name(key: EdgeType) -> str:
    return "__".join(key)


class Ignored:
    """What `--ignore` names: an attribute anywhere, or TYPE.attribute. Each
    name must be of something that is there."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)
        self.used: set[str] = set()
        self.dropped: list[str] = []

    def drops(self, owner: str, name: str) -> bool:
        full = f"{owner}.{name}" if owner else name
        hit = self.names & {name, full}
        self.used |= hit
        if hit:
            self.dropped.append(full)
        return bool(hit)

    def expect_all_used(self) -> None:
        left = sorted(self.names - self.used)
        if left:
            raise Refused(f"--ignore {left[0]}: there is no such attribute")

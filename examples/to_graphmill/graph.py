"""What readers of all kinds of objects give: a graph as it was found."""

import dataclasses
import re

from .values import Refused

LONGEST_NAME = 80
# Columns that were chosen as features; no column of a table is called so.
CHOSEN_FEATURES = "--feature"


@dataclasses.dataclass
class Found:
    """A graph, with attributes under the names that they had. What they mean
    is for `arrays` to find out, and what nobody takes is refused."""

    kind: str  # What the object is, for people.
    nodes: dict  # Type: {attribute: value}, with num_nodes if it is known.
    edges: dict  # (source, name, destination): edges in blocks
    edge_data: dict = dataclasses.field(default_factory=dict)  # The same keys.
    other: dict = dataclasses.field(default_factory=dict)
    notes: list = dataclasses.field(default_factory=list)
    typed: bool = True  # False: one node type, one edge type, no names.
    undirected: bool = False  # Each pair is there once, and is meant both ways.
    # What weights of edges are called, where an edge type has several
    # attributes.
    weight_names: tuple = ("edge_weight", "weight")
    # Key of an edge type: (name, values), in the order of its edges.
    weights: dict = dataclasses.field(default_factory=dict)


def add_attribute(data, name, value):
    """Adds an attribute of nodes, which takes the place of no other one."""
    if data.get(str(name)) is not None:
        raise Refused(f"nodes would have {name} twice: remove one, or call it "
                      "something else")
    data[str(name)] = value


def clean(name, notes):
    """A name that a type may have; says so if it is another one."""
    text = re.sub(r"[^A-Za-z0-9_.-]", "-", str(name))
    text = re.sub(r"__+", "_", text).strip("_").lstrip("._")
    if not text or len(text) > LONGEST_NAME:
        raise Refused(f"{str(name)!r} cannot name a type: 1 to {LONGEST_NAME} "
                      "letters, digits, '-', '.' and single '_' are expected")
    if text != name:
        note = f"the type {str(name)!r} is called {text}"
        if note not in notes:
            notes.append(note)
    return text


def with_clean_names(found):
    """The same graph; no two types may come to have one name."""
    names = {name: clean(name, found.notes) for name in found.nodes}
    if len(set(names.values())) < len(names):
        raise Refused("two node types would have the same name: "
                      + ", ".join(map(repr, names)))
    keys = {key: (names[key[0]], clean(key[1], found.notes), names[key[2]])
            for key in found.edges}
    if len(set(keys.values())) < len(keys):
        raise Refused("two edge types would have the same name: "
                      + ", ".join(map(repr, keys)))
    return dataclasses.replace(
        found,
        nodes={names[name]: data for name, data in found.nodes.items()},
        edges={keys[key]: edges for key, edges in found.edges.items()},
        edge_data={keys[key]: data for key, data in found.edge_data.items()},
        weights={keys[key]: data for key, data in found.weights.items()})


def take_weights(found, chosen=None):
    """Takes the weights out of the attributes of edges: those of a usual name,
    or `chosen` in their place."""
    names = (chosen,) if chosen else found.weight_names
    # One store may have all kinds of attributes, and only of edges is a name
    # that says so.
    if not found.typed and len(found.edges) == 1:
        (only,), (nodes,) = found.edges, found.nodes.values()
        name = chosen or "edge_weight"
        if name in nodes and not found.edge_data.get(only):
            found.edge_data[only] = {name: nodes.pop(name)}
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


def typed_name(key):
    return "__".join(key)


class Ignored:
    """What `--ignore` names: an attribute anywhere, or TYPE.attribute. Each
    name must be of something that is there."""

    def __init__(self, names):
        self.names = set(names)
        self.used = set()
        self.dropped = []

    def drops(self, owner, name):
        full = f"{owner}.{name}" if owner else name
        hit = self.names & {name, full}
        self.used |= hit
        if hit:
            self.dropped.append(full)
        return bool(hit)

    def expect_all_used(self):
        left = sorted(self.names - self.used)
        if left:
            raise Refused(f"--ignore {left[0]}: there is no such attribute")

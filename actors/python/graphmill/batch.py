"""Batches, with the names of PyTorch Geometric."""

from __future__ import annotations

import hashlib
import importlib
import struct
from typing import Any, Iterator, NamedTuple, Sequence, Union

import numpy as np

from ._dgl import triple_of
from ._types import Array
from .errors import DefinitionError, Error

EdgeType = tuple[str, str, str]
TypeName = Union[str, EdgeType]


# What rows have, of which there is one where a loader has one kind of rows.
_OF_ROWS = frozenset((
    "y", "seed_time", "input_id", "edge_label_index", "edge_label",
    "edge_label_time", "edge_label_weight",
    "src_index", "dst_pos_index", "dst_neg_index", "src_neg_index"))
_OF_TRIPLETS = frozenset(("src_index", "dst_pos_index", "dst_neg_index",
                          "src_neg_index"))
_SQUARE = frozenset(("x", "edge_index", "edge_label_index"))
_NO_TYPE: tuple[Any, ...] = (None,)
_WHOLE = ""  # In place of a type: a value of a batch with several types.
_COUNTS = ("num_nodes", "num_edges", "num_sampled_nodes", "num_sampled_edges",
           "batch_size")

# Where an attribute is that a batch does not have.
_MISSING = {
    "e_id": "give the loader edge_ids=True",
    "edge_weight": "give the loader edge_weights=True",
    "edge_attr": "give the loader edge_attr=True",
    "edge_type": "merge_edge_types=True has numbers of edge types",
    "degree": "give the loader degrees=True",
    "batch": "give the loader time=... and disjoint=True",
    "edge_index": "form=\"coo\" has it, and \"csr\" has indptr and indices",
    "indptr": "give the loader form=\"csr\"",
    "indices": "give the loader form=\"csr\"",
    "edge_label": "it is of a LinkLoader with labels or negatives in mode \"binary\"",
    "edge_label_index": "it is of a LinkLoader in mode \"binary\"",
    "x": "these nodes have no features: learn a row for each `n_id`",
    "y": "no labels are known, seeds are of another type than the dataset's target, or "
         "labels of edges are `edge_label`",
    "edge_age": "give the loader time=... and edge_ages=True",
    "edge_time": "give the loader edge_ages=True for `edge_age`: how long before its "
                 "seed an edge was",
    "seed_time": "give the loader time=..., disjoint=True and edge_ages=True",
    "edge_label_time": "give the loader time=..., disjoint=True and edge_ages=True",
    "time": "edge_ages=True has times of seeds in `seed_time` and ages of edges in "
            "`edge_age`",
    "node_time": "edge_ages=True has times of seeds in `seed_time`",
    "train_mask": "a batch has seeds of one split, the rows of `y`",
    "val_mask": "a batch has seeds of one split, the rows of `y`",
    "test_mask": "a batch has seeds of one split, the rows of `y`",
    "cuda": "use to(\"cuda\"), or give the loader a device",
    "cpu": "use to(\"cpu\")",
    "pin_memory": "give the loader a device: it copies from pinned memory",
    "keys": "as_pyg() makes Data of PyG, which has that",
    "num_features": "see `info` of the loader, or the shape of `x`",
    "num_node_features": "see `info` of the loader, or the shape of `x`",
    "to_homogeneous": "as_pyg() makes Data of PyG, which has that",
    "to_dict": "as_pyg() makes Data of PyG, which has that"}


class Key(NamedTuple):
    """Names a batch: with the loader's settings, it decides every bit of it."""

    split: str
    epoch: int
    step: int
    rank: int


class Layout:
    """What all batches of a loader have in common."""

    def __init__(self, description: dict[str, Any], split: str, rank: int,
                 world_size: int) -> None:
        self.split, self.rank, self.world_size = split, rank, world_size
        self.hops: int = description["hops"]
        self.node_types = [t["name"] for t in description["node_types"]]
        self.edge_types: list[EdgeType] = [
            (t["source"], t["name"], t["destination"])
            for t in description["edge_types"]]
        self.target: str = self.node_types[description["target"]]
        self.merged: bool = description["merged"]
        # Of the rows, where they are edges.
        self.row_types = [self.edge_types[number]
                          for number in description["row_types"]]
        # One node type and one kind of edge: attributes without types.
        self.typed = len(self.node_types) > 1 or (
            not self.merged and len(self.edge_types) > 1)
        self.edge_lists = (1 if self.merged and self.edge_types
                           else len(self.edge_types))
        self.slots: dict[str, dict[TypeName, tuple[int, np.dtype[Any]]]] = {}
        for place, slot in enumerate(description["slots"]):
            kind: Sequence[Any] = (
                self.node_types if slot["about"] == "node"
                else self.edge_types or _NO_TYPE)
            self.slots.setdefault(slot["name"], {})[kind[slot["type"]]] = (
                place, np.dtype(slot["element"]))
        self.found_at = 6
        self.edges_at = self.found_at + len(self.node_types) * (self.hops + 1)
        self.arrays_at = self.edges_at + self.edge_lists * self.hops
        self.words = self.arrays_at + 3 * len(description["slots"])
        # By array: where its words begin, its elements, and whether it always has
        # two dimensions.
        self.arrays = {
            (name, of): (self.arrays_at + 3 * place, element, name in _SQUARE)
            for name, types in self.slots.items()
            for of, (place, element) in types.items()}

    def stores_of(self, name: str, of: TypeName) -> tuple[TypeName, ...]:
        """Where PyG has an array: of triplets, at the node types of their ends."""
        if len(self.row_types) != 1 or isinstance(of, str):
            return (of,)
        if name == "seed_time":
            return of[0], of[2]
        if name not in _OF_TRIPLETS:
            return (of,)
        return (of[0] if name.startswith("src") else of[2],)


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as cause:
        raise Error("PyTorch is not installed: use as_=\"numpy\", or install "
                    "python3-torch", "not_found") from cause


def is_cuda(device: Any) -> bool:
    """Whether it names a CUDA device of PyTorch."""
    try:
        return bool(_torch().device(device).type == "cuda")
    except (RuntimeError, TypeError) as cause:
        raise DefinitionError(f"device is {device!r}: give one of PyTorch, such as "
                              "\"cpu\" or \"cuda:0\"", "invalid_argument") from cause


def _copied(value: Any) -> Any:
    """Of an array or a tensor, a copy."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return value.clone() if hasattr(value, "clone") else value


def _shape_of(value: Any) -> Any:
    return (list(value.shape) if hasattr(value, "shape")
            else type(value).__name__)


class Batch:
    """Seeds with their sampled neighbourhood.

    Of a graph with one node type and one kind of edge, attributes are arrays:

    ``x`` [nodes, features] float32; ``edge_index`` [2, edges] int64, sources above
    destinations, as rows of ``x``; ``y`` [batch_size] the labels of the seeds,
    which are the first rows; ``input_id`` [batch_size] their positions among the
    seeds of the split; ``n_id`` [nodes] ids in the dataset; ``e_id``,
    ``edge_weight``, ``edge_type`` [edges]; ``edge_attr`` [edges, width] their
    features; ``edge_age`` [edges] how long before the time of its seed an edge was,
    in seconds (or steps);
    ``degree`` [nodes]; with ``disjoint``, ``batch`` [nodes] the row of the seed in
    whose tree a node is, and ``seed_time`` [batch_size] int64, microseconds since
    1970 (or steps); with ``form="csr"``, ``indptr`` and ``indices`` in place of ``edge_index``.

    Of other graphs there are ``x_dict``, ``edge_index_dict`` and so on, and
    ``batch["paper"].x``; ``y`` and ``batch_size`` are those of the type of the seeds.
    An array that the loader was not asked for raises AttributeError.

    Batches of a `LinkLoader` have, in place of ``y``, ``edge_label_index``
    [2, pairs], rows of ``x``, and ``edge_label`` [pairs]; or ``src_index``,
    ``dst_pos_index`` and ``dst_neg_index``.

    Arrays are those of shared memory, without a copy: keep a ``copy()``, or of one
    array its ``copy()`` or ``clone()``, or the loader soon raises CreditError.

    Values can be assigned: ``batch.x = ...``, or ``batch["author"].x = ...`` of a
    graph with several types. They go along into copies, pickles and `as_pyg`,
    and to devices.
    """

    def __init__(self, layout: Layout, words: list[int],
                 root: Array | None, as_torch: bool,
                 held: dict[tuple[str, TypeName], Any] | None = None,
                 own: dict[tuple[str, TypeName], Any] | None = None) -> None:
        if len(words) != layout.words:
            raise Error("a frame of another loader came")
        self._layout, self._words, self._root = layout, words, root
        self._as_torch = as_torch
        self._held = held  # Arrays or tensors of its own, in place of the root.
        self._own = dict(own or {})  # What was assigned.
        self._cache: dict[tuple[str, TypeName], Any] = {}

    # -- what it is

    @property
    def key(self) -> Key:
        return Key(self._layout.split, self._words[3], self._words[4],
                   self._layout.rank)

    @property
    def batch_size(self) -> int:
        """Seeds of this rank, of a `LinkLoader` edges without their negatives; 0
        if the last step of an epoch has none left."""
        return sum(map(self._rows, self._layout.slots["input_id"]))

    @property
    def global_batch_size(self) -> int:
        """Seeds of the step on all ranks."""
        return self._words[5]

    @property
    def weight(self) -> float:
        """What to multiply a mean loss by, so that DistributedDataParallel's mean
        over ranks is the mean over all seeds of the step."""
        return (self._layout.world_size * self.batch_size
                / max(self.global_batch_size, 1))

    @property
    def input_type(self) -> TypeName | None:
        """The node type of the seeds, or the edge type of the links; None: they
        are of several."""
        types = self._layout.row_types
        return (self._layout.target if not types
                else types[0] if len(types) == 1 else None)

    @property
    def num_nodes(self) -> int:
        """Nodes of all types."""
        return sum(self._found(name)[-1] for name in self._layout.node_types)

    @property
    def num_edges(self) -> int:
        """Edges of all types."""
        return sum(sum(counts) for counts in self._edge_counts())

    @property
    def num_sampled_nodes(self) -> Any:
        """Nodes by hop: seeds, new ones of hop 1, ...; by type, if there are
        several; `num_sampled_nodes_dict` is the same."""
        counts = {name: TypeView(self, name).num_sampled_nodes
                  for name in self._layout.node_types}
        return counts if self._layout.typed else counts[self._layout.target]

    @property
    def num_sampled_edges(self) -> Any:
        """Edges by hop; by type, if there are several; `num_sampled_edges_dict`
        is the same."""
        lay, lists = self._layout, self._edge_counts()
        if lay.typed:
            return dict(zip(lay.edge_types, lists))
        return lists[0] if lists else [0] * lay.hops

    def _edge_counts(self) -> list[list[int]]:
        """By list and hop."""
        lay, hops = self._layout, self._layout.hops
        return [self._words[lay.edges_at + hops * i:
                            lay.edges_at + hops * (i + 1)]
                for i in range(lay.edge_lists)]

    @property
    def node_types(self) -> list[str]:
        return list(self._layout.node_types)

    @property
    def edge_types(self) -> list[EdgeType]:
        return list(self._layout.edge_types)

    def metadata(self) -> tuple[list[str], list[EdgeType]]:
        """Types of nodes and of edges, as layers of PyG take them."""
        return self.node_types, self.edge_types

    def _rows(self, of: TypeName) -> int:
        """Seeds of a type."""
        return self._words[self._layout.arrays["input_id", of][0] + 1]

    def _found(self, node_type: str) -> list[int]:
        lay = self._layout
        begin = lay.found_at + lay.node_types.index(node_type) * (lay.hops + 1)
        return self._words[begin:begin + lay.hops + 1]

    # -- its arrays

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        of = () if self._own else self._layout.slots.get(name, ())
        if len(of) == 1 and (name in _OF_ROWS or not self._layout.typed):
            return self._array(name, next(iter(of)))  # Soon, as mostly.
        if self._layout.typed and name.endswith("_dict"):
            found = self._by_type(name[:-5])
            if found:
                return found
        place = self._place(name)
        if self._has(place):
            return self._array(*place)
        raise AttributeError(f"a batch of this loader has no {name}"
                             + self._instead(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        lay, place = self._layout, self._place(name)
        if lay.typed and name.endswith("_dict"):
            raise AttributeError(f"assign values of one type at a time: batch"
                                 f"[{lay.target!r}].{name[:-5]} = ...")
        if place[1] == _WHOLE and name in lay.slots:
            raise AttributeError(f"{name} cannot be assigned" + self._instead(name))
        self._assign(place, value, type(self))

    def _assign(self, place: tuple[str, TypeName], value: Any, kind: type) -> None:
        name, of = place
        typed, others = self._layout.typed, self._types_of(name)
        if hasattr(kind, name) or not typed and hasattr(Batch, name):
            raise AttributeError(f"{name} cannot be assigned: all batches have it, "
                                 "so choose another name")
        if not typed and others and of not in others:
            # Data of PyG could not tell them apart.
            raise AttributeError(f"{name} of {of!r} cannot be assigned: "
                                 f"{others[0]!r} has it, so choose another name")
        self._own[place] = value

    def __dir__(self) -> list[str]:
        lay, names = self._layout, {name for name, _ in self._places()}
        found = {name for name in names if self._has(self._place(name))}
        if lay.typed:
            found.update(f"{name}_dict" for name in names if self._types_of(name))
            found.update(f"{name}_dict" for name in _COUNTS if self._by_type(name))
        return [*super().__dir__(), *found]

    def _place(self, name: str) -> tuple[str, TypeName]:
        """Where an attribute of the batch is, or would be."""
        lay = self._layout
        of = list(lay.slots.get(name, ())) if lay.typed else self._types_of(name)
        if len(of) == 1 and (not lay.typed or name in _OF_ROWS):
            return name, of[0]
        if lay.typed:
            return name, _WHOLE
        # As PyG guesses it.
        return name, (lay.edge_types[0] if "edge" in name and lay.edge_types
                      else lay.target)

    def _places(self) -> dict[tuple[str, TypeName], None]:
        """Of all that was sampled or assigned."""
        return dict.fromkeys((*self._layout.arrays, *self._own))

    def _has(self, place: tuple[str, TypeName]) -> bool:
        return place in self._own or place in self._layout.arrays

    def _types_of(self, name: str) -> list[TypeName]:
        """That have it."""
        of_own = [of for one, of in self._own if one == name and of != _WHOLE]
        return list(dict.fromkeys((*self._layout.slots.get(name, ()), *of_own)))

    def _by_type(self, name: str) -> dict[TypeName, Any]:
        lay = self._layout
        if name in ("num_sampled_nodes", "num_sampled_edges"):
            return dict(getattr(self, name))
        if name in _COUNTS:
            views = [TypeView(self, of) for of in (*lay.node_types, *lay.edge_types)]
            return {view._of: getattr(view, name) for view in views if name in view}
        return {of: self._array(name, of) for of in self._types_of(name)}

    def _instead(self, name: str) -> str:
        """What a user who asked for it may have meant."""
        lay, whole = self._layout, name[:-5] if name.endswith("_dict") else name
        if lay.typed and self._types_of(name):
            some = ", ".join(f"batch[{of!r}].{name}" for of in self._types_of(name)[:2])
            return f": it has several types, see {name}_dict, or {some}"
        if self._types_of(whole) or hasattr(type(self), whole):
            return f": {'' if lay.typed else 'it has one type, '}see {whole}"
        hint = _MISSING.get(whole)
        return (f": {hint}" if hint else "") + f"; there are {', '.join(lay.slots)}"

    def __contains__(self, name: object) -> bool:
        """Whether there is such an attribute, or a type of that name."""
        lay = self._layout
        return (name == "batch_size" or name in lay.node_types
                or name in lay.edge_types
                or any(name == one for one, _ in self._places()))

    def __getitem__(self, of: Any) -> Any:
        lay = self._layout
        if lay.merged and len(lay.edge_types) > 1 and of in lay.edge_types:
            raise KeyError(f"edge types are merged: edges of {of!r} are those with "
                           f"edge_type == {lay.edge_types.index(of)}")
        if of in lay.node_types or of in lay.edge_types:
            return TypeView(self, of)
        # As in PyG: an edge type by its ends or its name, if no other has these.
        alike = [kind for kind in lay.edge_types
                 if of == kind[1] or of == (kind[0], kind[2])]
        if len(alike) == 1:
            return TypeView(self, alike[0])
        if not lay.typed and self._types_of(of):
            return getattr(self, of)
        raise KeyError(
            f"{of!r} is " + (f"the name of {len(alike)} edge types" if alike else
                             "no type of this graph") + "; there are "
            + ", ".join(map(repr, [*lay.node_types, *lay.edge_types])))

    def _raw(self, name: str, of: TypeName) -> Any:
        if self._held is not None:
            return self._held[name, of]
        memory: Any = self._root
        if memory is None:
            raise Error("this batch was released", "invalid_argument")
        at, element, square = self._layout.arrays[name, of]
        offset, rows, columns = self._words[at:at + 3]
        return np.ndarray((rows, columns) if columns or square else (rows,), element,
                          memory, offset)

    def _shape(self, name: str, of: TypeName) -> Any:
        if (name, of) in self._own:
            return _shape_of(self._own[name, of])
        at, _, square = self._layout.arrays[name, of]
        rows, columns = self._words[at + 1:at + 3]
        return [rows, columns] if columns or square else [rows]

    def _array(self, name: str, of: TypeName) -> Any:
        """As it was assigned, or sampled."""
        if self._own and (name, of) in self._own:
            return self._own[name, of]
        made = self._cache.get((name, of))
        if made is None:
            made = self._raw(name, of)
            if self._as_torch and isinstance(made, np.ndarray):
                made = _torch().from_numpy(made)
            self._cache[name, of] = made
        return made

    def _all(self) -> Iterator[tuple[str, TypeName]]:
        """What was sampled."""
        return iter(self._layout.arrays)

    # -- what can be done with it

    def copy(self) -> "Batch":
        """The same batch in memory of its own, to be kept for any time. Arrays and
        tensors that were assigned are copied, too, and other values are the same."""
        return self._like(
            self._as_torch, {at: _copied(self._raw(*at)) for at in self._all()},
            {at: _copied(value) for at, value in self._own.items()})

    def __deepcopy__(self, _: Any) -> "Batch":
        return self.copy()

    def __reduce__(self) -> Any:
        # Its arrays alone: the memory is that of all batches.
        copy = self.copy()
        return Batch, (self._layout, self._words, None, self._as_torch, copy._held,
                       copy._own)

    def to(self, device: Any, non_blocking: bool = False) -> "Batch":
        """The same batch as torch tensors on a device: copies, which have ended
        when it returns, unless the device is the CPU. With ``non_blocking``, keep
        this batch until they have; a loader with ``device`` does that for you.
        Arrays of numbers that were assigned become tensors there, too. What else has
        ``to`` is moved by it, and other values are the same."""
        torch = _torch()
        where = torch.device(device)

        def moved(value: Any) -> Any:
            if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
                value = torch.as_tensor(value)
            return (value.to(where, non_blocking=non_blocking)
                    if hasattr(value, "to") else value)

        own = {at: moved(value) for at, value in self._own.items()}
        if where.type == "cpu" and self._held is None:
            return (self if self._as_torch and not own
                    else self._like(True, None, own))
        return self._like(True, {at: moved(self._raw(*at)) for at in self._all()},
                          own)

    def _tensors(self) -> list[Any]:
        """All its arrays, as they are."""
        return [self._array(*at) for at in self._all()]

    def _sources(self) -> Iterator[tuple[tuple[str, TypeName], Array, int]]:
        """Its arrays, and where they begin in the memory of all batches."""
        for at in self._all():
            yield at, self._raw(*at), self._words[self._layout.arrays[at][0]]

    def as_numpy(self) -> "Batch":
        """The same batch as NumPy arrays, of the same memory; without what autograd
        knows of tensors that were assigned."""
        held = self._held and {at: np.asarray(made)
                               for at, made in self._held.items()}
        return self._like(False, held, {
            at: np.asarray(value.detach()) if hasattr(value, "detach") else value
            for at, value in self._own.items()})

    def release(self) -> None:
        """Drops what the batch holds of shared memory; it has no arrays any more.
        Those that were taken out of it stay valid."""
        self._cache.clear()
        self._own.clear()  # They may be views.
        self._root = self._held = None

    def _like(self, as_torch: bool, held: Any, own: Any = None) -> "Batch":
        root = None if held is not None else self._root
        return Batch(self._layout, self._words, root, as_torch, held, own)

    def digest(self) -> str:
        """Of all values that were sampled: equal for the same batch on any machine,
        in any parts. What was assigned does not change it."""
        whole = hashlib.blake2b(digest_size=16)
        whole.update(struct.pack("<qq", self.batch_size, self.global_batch_size))
        for name, of in self._all():
            array = np.ascontiguousarray(self._raw(name, of))
            whole.update(repr((name, of, array.dtype.str, array.shape)).encode())
            whole.update(array.data.cast("B") if array.size else b"")
        return whole.hexdigest()

    def as_pyg(self) -> Any:
        """``torch_geometric.data.Data``, or ``HeteroData`` of a graph with several
        types, of the same memory, with what was assigned."""
        try:
            data = importlib.import_module("torch_geometric.data")
        except ImportError as cause:
            raise Error("PyTorch Geometric is not installed: it is what "
                        "as_=\"pyg\" makes batches for", "not_found") from cause
        batch = self if self._as_torch else self.to("cpu")
        lay = self._layout
        out = data.HeteroData() if lay.typed else data.Data()
        for name, of in self._places():
            stores = ([out[one] for one in lay.stores_of(name, of)]
                      if lay.typed and of != _WHOLE else [out])
            for store in stores:
                setattr(store, name, batch._array(name, of))
        if lay.typed:
            for of in lay.slots["input_id"]:
                out[of].batch_size = self._rows(of)
            for of, counts in self.num_sampled_nodes.items():
                out[of].num_sampled_nodes = counts
                if "x" not in lay.slots or of not in lay.slots["x"]:
                    out[of].num_nodes = self._found(str(of))[-1]
            for of, counts in self.num_sampled_edges.items():
                out[of].num_sampled_edges = counts
        else:
            out.batch_size = self.batch_size
            out.num_sampled_nodes = self.num_sampled_nodes
            out.num_sampled_edges = self.num_sampled_edges
            if "x" not in lay.slots:
                out.num_nodes = self.num_nodes
        return out

    def as_dgl(self) -> Any:
        """``(input_nodes, output_nodes, blocks)``, as DGL's DataLoader gives them,
        of the same memory. There is a block for each hop, the outermost first. A
        block has all edges that were sampled for its destinations, also those of
        hops further in. Its data are ``feat``, ``_ID`` (``dgl.NID``), ``degree``;
        of edges ``_ID`` (``dgl.EID``), ``edge_weight``, ``_TYPE``
        (``dgl.ETYPE``); and ``label`` of the destinations of the last block. What
        was assigned is there if it has a row for each node or each edge of a type."""
        return triple_of(self)

    def __repr__(self) -> str:
        lay, whole = self._layout, [name for name, of in self._own if of == _WHOLE]
        views = [TypeView(self, of) for of in (*lay.node_types, *lay.edge_types)]
        shapes = [f"{view._of!r}={{{view._shapes()}}}" if lay.typed
                  else view._shapes() for view in views if view._names()]
        shapes += [f"{name}={self._shape(name, _WHOLE)}" for name in whole]
        return ", ".join((f"Batch({self.key}", f"batch_size={self.batch_size}",
                          f"num_nodes={self.num_nodes}", *shapes)) + ")"


class TypeView:
    """The arrays and counts of one node type or edge type of a batch, with the names
    that stores of PyG have."""

    def __init__(self, batch: Batch, of: TypeName) -> None:
        self._batch, self._of = batch, of

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        place = self._place(name)
        if not self._batch._has(place):
            raise AttributeError(f"{self._of!r} has no {name} in this batch"
                                 + self._instead(name))
        return self._batch._array(*place)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self._batch._assign(self._place(name), value, type(self))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names()]

    def __repr__(self) -> str:
        return f"TypeView({self._of!r}, {self._shapes()})"

    def _place(self, name: str) -> tuple[str, TypeName]:
        lay, of = self._batch._layout, self._of
        if (name in _OF_TRIPLETS or name == "seed_time") and name in lay.slots:
            for row_type in lay.row_types:  # PyG has them at node types.
                if of in lay.stores_of(name, row_type):
                    of = row_type
        return name, of

    def _names(self) -> list[str]:
        return [name for name, of in self._batch._places() if of == self._of]

    def _shapes(self) -> str:
        batch = self._batch
        return ", ".join(f"{name}={batch._shape(name, self._of)}"
                         for name in self._names())

    def _instead(self, name: str) -> str:
        lay, others = self._batch._layout, self._batch._types_of(name)
        if name in ("num_nodes", "num_sampled_nodes"):
            return ": node types have"
        if name in ("num_edges", "num_sampled_edges"):
            return (": edge types are merged, see that of the batch" if lay.merged
                    and len(lay.edge_types) > 1 else ": edge types have")
        if name == "batch_size":
            return f": seeds are of {', '.join(map(repr, lay.slots['input_id']))}"
        if others:
            return ": " + ", ".join(map(repr, others)) + " has"
        return f": {_MISSING[name]}" if name in _MISSING else ""

    def __contains__(self, name: str) -> bool:
        return hasattr(self, name)

    # An AttributeError of these leads to `__getattr__`, which has the sentence.

    @property
    def num_nodes(self) -> int:
        """Of a node type."""
        if not isinstance(self._of, str):
            raise AttributeError
        return self._batch._found(self._of)[-1]

    @property
    def num_edges(self) -> int:
        """Of an edge type."""
        return sum(self.num_sampled_edges)

    @property
    def batch_size(self) -> int:
        """Seeds of a node type, or links of an edge type."""
        if self._of not in self._batch._layout.slots["input_id"]:
            raise AttributeError
        return self._batch._rows(self._of)

    @property
    def num_sampled_nodes(self) -> list[int]:
        """Of a node type, by hop."""
        if not isinstance(self._of, str):
            raise AttributeError
        found = self._batch._found(self._of)
        return [later - before for before, later in zip([0, *found], found)]

    @property
    def num_sampled_edges(self) -> list[int]:
        """Of an edge type, by hop."""
        lay = self._batch._layout
        if isinstance(self._of, str) or lay.merged and len(lay.edge_types) > 1:
            raise AttributeError
        return self._batch._edge_counts()[lay.edge_types.index(self._of)]

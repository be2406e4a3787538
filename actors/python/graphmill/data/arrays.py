"""Writes what was found as the folder that `graphmill import npy` takes."""

from __future__ import annotations

import json
import operator
import pathlib
from typing import Any, Sequence

import numpy as np

from .._types import Array
from ..batch import EdgeType
from .graph import CHOSEN_FEATURES, Found, typed_name
from .label_values import NoLabels, rows_of_labels, whole_labels
from .values import (Refused, Rows, is_array, is_missing, shape_of,
                     sparse_rows, to_numpy)

FEATURES = ("x", "feat", "feature", "features", "node_feat", CHOSEN_FEATURES)
LABELS = ("y", "label", "labels", "node_label")
NAMES = ("node_names", "node_name", "_ID", "n_id")
# Temporary arrays that a value of 8 bytes may have beside it while it is
# converted.
COPIES = 12


class NpyFile:
    """An array that is written in blocks, at any place of it."""

    def __init__(self, path: pathlib.Path, dtype: Any,
                 shape: Sequence[int]) -> None:
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.file = open(path, "xb")
        form: Any = np.lib.format
        form.write_array_header_1_0(self.file, {
            "descr": form.dtype_to_descr(self.dtype),
            "fortran_order": False, "shape": tuple(shape)})
        self.begin = self.file.tell()

    def __enter__(self) -> NpyFile:
        return self

    def __exit__(self, *_: Any) -> None:
        self.file.close()

    def write(self, first: int, block: Array) -> None:
        """Puts a block where element `first` is, counted row by row."""
        block = np.ascontiguousarray(block, dtype=self.dtype)
        if block.size:
            self.file.seek(self.begin + first * self.dtype.itemsize)
            self.file.write(block.data)


def named(data: Any, names: Any, owner: str,
          meaning: str) -> tuple[str | None, Any]:
    """The attribute that has one of these names; two would be ambiguous."""
    there = [name for name in names if name in data]
    if len(there) > 1:
        raise Refused(f"{owner}: {' and '.join(there)} may all be the "
                      f"{meaning}; --ignore those that are not")
    return (there[0], data.pop(there[0])) if there else (None, None)


def expect_integers(block: Array, where: str) -> None:
    if block.dtype.kind not in "iu":
        raise Refused(f"{where} holds {block.dtype}, and integers are expected")


class Writer:
    """Writes the arrays of a graph into a folder. `budget` bytes are what
    conversions may take beside the graph itself."""

    def __init__(self, folder: Any, found: Found, budget: int, *,
                 split_index: Any = None, num_nodes: Any = None,
                 num_classes: Any = None, times: bool = False, kind: str = "",
                 no_label: Any = ()) -> None:
        self.folder, self.found, self.budget = folder, found, budget
        self.split_index, self.times, self.kind = split_index, times, kind
        self.num_nodes, self.num_classes = num_nodes or {}, num_classes
        self.none = NoLabels(no_label)
        self.step = max(1, budget // (8 * COPIES))
        self.notes = found.notes
        self.about: dict[Any, Any] = {}

    def path(self, owner: str, name: str) -> pathlib.Path:
        return pathlib.Path(self.folder, f"{owner}.{name}" if self.found.typed
                            else name)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def write(self) -> dict[str, Any]:
        for name, data in self.found.nodes.items():
            self.about[name] = self.write_nodes(name, data)
        for text in sorted(self.none.unused):
            self.note(f"--no-label {text}: no label is written so")
        edges: dict[EdgeType, Any] = {
            key: {"num_edges": self.write_edges(key, blocks)}
            for key, blocks in self.found.edges.items()}
        for key, (name, values) in self.found.weights.items():
            self.write_weights(key, name, values, edges[key]["num_edges"])
        for key, (name, values) in self.found.features.items():
            self.write_edge_features(key, name, values,
                                     edges[key]["num_edges"])
        for key, roles in self.found.roles.items():
            for role, (name, values) in roles.items():
                self.write_role(key, role, name, values,
                                edges[key]["num_edges"])
        for key, original in self.found.originals.items():
            of: Any = self.about if key in self.about else edges
            of[key]["original_name"] = original
        types = {typed_name(key): about for key, about in edges.items()}
        meta = ({"node_types": self.about, "edge_types": types}
                if self.found.typed else
                {**self.about["node"], **edges[next(iter(edges))]})
        (self.folder / "meta.json").write_text(json.dumps(meta, indent=1))
        return {"nodes": {name: about["num_nodes"]
                          for name, about in self.about.items()},
                "edges": {name: about["num_edges"]
                          for name, about in types.items()}}

    def write_nodes(self, owner: str, data: Any) -> dict[str, Any]:
        """Writes the arrays of a node type; returns what meta.json says. What
        `unread` names must not be among them."""
        data = dict(data)
        about = {"num_nodes": self.count(owner, data)}
        count = about["num_nodes"]
        name, features = named(data, FEATURES, owner, "features")
        if name:
            about["num_features"] = self.write_features(owner, name, features,
                                                        count)
        name, labels = named(data, LABELS, owner, "labels")
        if name:
            about.update(self.write_labels(owner, name, labels, count))
        self.write_splits(owner, data, count)
        name, names = named(data, NAMES, owner, "names of nodes")
        if name:
            self.write_names(owner, name, names, count)
        if self.times and "time" in data:
            self.write_plain(owner, "time", data.pop("time"), count)
        return about

    def count(self, owner: str, data: Any) -> int:
        """How many nodes of a type there are; never guessed from edges."""
        counts = {}
        given = self.num_nodes.get(owner)
        own = data.pop("num_nodes", None)
        if given is not None:
            counts["--num-nodes"] = int(given)
        if own is not None:
            try:
                counts["num_nodes"] = operator.index(own)
            except TypeError as error:
                raise Refused(f"{owner}.num_nodes is {own!r}, and a whole number is "
                              "expected") from error
        for name in (*FEATURES, *LABELS, "train_mask"):
            if name in data:
                shape = getattr(data[name], "shape", None)
                if shape is None and hasattr(data[name], "sparse_sizes"):
                    shape = data[name].sparse_sizes()
                counts[name] = int((shape or shape_of(
                    data[name], f"{owner}.{name}") or (0,))[0])
        if not counts:
            raise Refused(f"{owner}: how many nodes there are cannot be told "
                          f"from edges, for some have none; say --num-nodes "
                          f"{owner}=N")
        if len(set(counts.values())) > 1:
            raise Refused(f"{owner}: the numbers of nodes differ: " + ", ".join(
                f"{name} has {n}" for name, n in counts.items()))
        return next(iter(counts.values()))

    def expect_rows(self, owner: str, name: str, value: Any, count: int,
                    most: int = 1) -> tuple[int, ...]:
        shape = (shape_of(value, f"{owner}.{name}") if is_array(value)
                 else ())
        if shape[:1] != (count,) or len(shape) > most:
            raise Refused(f"{owner}.{name} has the shape {list(shape)}, and a "
                          f"value for each of {count} nodes is expected; leave "
                          f"it out (--ignore {name}) if it is something else")
        return shape

    def write_blocks(self, path: pathlib.Path, rows: Any, dtype: Any) -> None:
        width = int(np.prod(rows.shape[1:], dtype=np.int64))
        step = max(1, self.step // max(1, width))
        with NpyFile(path, dtype, rows.shape) as file:
            for first, block in rows.blocks(step):
                file.write(first * width, block)

    def write_plain(self, owner: str, name: str, value: Any,
                    count: int) -> None:
        self.expect_rows(owner, name, value, count)
        rows = Rows(value)
        if rows.dtype.kind not in "iuf":
            raise Refused(f"{owner}.{name} holds {rows.dtype}, and numbers are "
                          "expected" + (of_dates(rows.dtype)
                                        or ": the more, the later"))
        self.write_blocks(self.path(owner, f"{name}.npy"), rows, rows.dtype)

    def write_features(self, owner: str, name: str, value: Any,
                       count: int) -> int:
        sparse = sparse_rows(value, f"{owner}.{name}")
        if sparse is not None:
            return self.write_sparse(owner, sparse)
        if not hasattr(value, "blocks"):
            self.expect_rows(owner, name, value, count, most=2)
            if isinstance(value, (list, tuple)) and any(
                    is_missing(row) for row in value):
                raise Refused(f"{owner}.{name}: some nodes have no features")
            value = Rows(value)
        if value.dtype == object and len(value.shape) == 1:
            value = Rows(stacked(value.value, f"{owner}.{name}"))
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
            raise Refused(f"{owner}.{name} holds {value.dtype}, and features "
                          "are numbers")
        if value.dtype == np.float64:
            self.note(f"{owner}.{name}: float64 is rounded to float32")
        dtype = np.float32 if value.dtype == np.float64 else value.dtype
        self.write_blocks(self.path(owner, "features.npy"), value, dtype)
        return int(value.shape[1]) if len(value.shape) == 2 else 1

    def write_sparse(self, owner: str, rows: Any) -> int:
        values = rows.values
        if values is None:  # Of which each is 1.
            values = np.broadcast_to(np.float32(1), shape_of(rows.indices))
        for name, array in (("indptr", rows.indptr), ("indices", rows.indices),
                            ("values", values)):
            array = Rows(array)
            self.write_blocks(self.path(owner, f"features_{name}.npy"), array,
                              array.dtype)
        return int(rows.shape[1])

    def write_labels(self, owner: str, name: str, value: Any,
                     count: int) -> dict[str, Any]:
        """Integers as they are, whole floats as integers, texts as classes."""
        where = f"{owner}.{name}"
        shape = self.expect_rows(owner, name, value, count, most=2)
        if self.kind == "--regression":
            return self.write_values(owner, where, Rows(value))
        if len(shape) == 2 and (shape[1] != 1 or self.kind):
            return self.write_label_rows(owner, where, Rows(value), shape)
        if isinstance(value, (list, tuple)):
            value = np.array(value, object)
        texts: set[str] = set()
        for _, block in Rows(value).blocks(self.step):
            if block.dtype.kind in "OU":
                texts.update(item for item in self.none.without(block).flat
                             if isinstance(item, str))
        place = {text: at for at, text in enumerate(sorted(texts))}
        missing = 0
        with NpyFile(self.path(owner, "labels.npy"), np.int64,
                     (count,)) as file:
            for first, block in Rows(value).blocks(self.step):
                labels = whole_labels(self.none.without(block.reshape(-1)),
                                      place, where)
                missing += int((labels < 0).sum())
                file.write(first, labels)
        if missing:
            self.note(f"{where}: {missing} of {count} nodes have no label")
        if place:
            if self.num_classes not in (None, len(place)):
                raise Refused(f"{where}: its texts make {len(place)} classes, "
                              f"and {self.num_classes} were announced")
            return {"num_classes": len(place), "class_names": list(place)}
        return ({"num_classes": int(self.num_classes)}
                if self.num_classes else {})

    def write_label_rows(self, owner: str, where: str, rows: Any,
                         shape: Sequence[int]) -> dict[str, Any]:
        """Several labels for each node, 1 for each that it has and 0 for the
        others; -1 throughout if nothing is known of it."""
        several = self.kind == "--multi-label"
        step = max(1, self.step // max(1, shape[1]))
        with NpyFile(self.path(owner, "labels.npy"), np.int8, shape) as file:
            for first, block in rows.blocks(step):
                labels = rows_of_labels(self.none.without(block), where)
                several |= bool(((labels[:, 0] >= 0)
                                 & ((labels == 1).sum(axis=1) != 1)).any())
                file.write(first * shape[1], labels)
        if not several:
            raise Refused(f"{where} has {shape[1]} values for each node, and "
                          "each row marks one class: give argmax(1) of it, "
                          "or the import --multi-label")
        self.note(f"{where}: any of {shape[1]} labels for each node")
        return {}

    def write_values(self, owner: str, where: str,
                     rows: Any) -> dict[str, Any]:
        """Numbers to be learnt, NaN where none is known."""
        if rows.dtype.kind not in "iuf":
            raise Refused(f"{where} holds {rows.dtype}, and not numbers")
        width = int(np.prod(rows.shape[1:], dtype=np.int64))
        dtype = np.float64 if self.none.numbers else rows.dtype
        with NpyFile(self.path(owner, "labels.npy"), dtype,
                     rows.shape) as file:
            for first, block in rows.blocks(max(1, self.step
                                                // max(1, width))):
                file.write(first * width, self.none.without(block))
        return {}

    def write_splits(self, owner: str, data: Any, count: int) -> None:
        for which in ("train", "val", "test"):
            name, mask = named(
                data, [f"{one}_mask" for one in spellings(which)], owner,
                f"{which} mask")
            other, ids = named(
                data, [f"{one}_idx" for one in spellings(which)], owner,
                f"{which} split")
            if name and other:
                raise Refused(f"{owner} has both {name} and {other}; --ignore "
                              "one of them")
            if name:
                self.write_mask(owner, which, name, mask, count)
            elif other:
                self.write_ids(owner, which, other, ids)

    def write_mask(self, owner: str, which: str, name: str, mask: Any,
                   count: int) -> None:
        shape = self.expect_rows(owner, name, mask, count, most=2)
        if len(shape) == 2:
            at = 0 if shape[1] == 1 else self.split_index
            if at is None or not 0 <= at < shape[1]:
                raise Refused(f"{owner}.{name} has {shape[1]} splits; say "
                              f"which (--split-index 0 to {shape[1] - 1})")
            mask = Rows(mask).value[:, at]
        path = self.path(owner, f"{which}_mask.npy")
        with NpyFile(path, np.bool_, (count,)) as file:
            for first, block in Rows(mask).blocks(self.step):
                if block.dtype != bool and not np.isin(block, (0, 1)).all():
                    raise Refused(f"{owner}.{name} holds other values than "
                                  "true and false")
                file.write(first, block.astype(bool))

    def write_ids(self, owner: str, which: str, name: str, ids: Any) -> None:
        rows = Rows(ids)
        if len(rows.shape) == 2 and rows.shape[1] == 1:
            rows = Rows(rows.value.reshape(-1))
        elif len(rows.shape) != 1:
            raise Refused(f"{owner}.{name} has the shape {list(rows.shape)}, "
                          "and a list of nodes is expected")
        if rows.dtype.kind not in "iu":
            raise Refused(f"{owner}.{name} holds {rows.dtype}, and ids of "
                          "nodes are integers")
        self.write_blocks(self.path(owner, f"{which}_idx.npy"), rows, np.int64)

    def write_names(self, owner: str, name: str, names: Any,
                    count: int) -> None:
        """A line of JSON for each node. The import takes no notice of it."""
        self.expect_rows(owner, name, names, count)
        with open(self.path(owner, "node_names.txt"), "x",
                  encoding="utf-8") as file:
            for first in range(0, count, self.step):
                part = names[first:first + self.step]
                part = part if isinstance(part, list) else to_numpy(part)
                for one in part:
                    one = one.item() if isinstance(one, np.generic) else one
                    plain = isinstance(one, (str, int, float))
                    file.write(json.dumps(one if plain else repr(one)) + "\n")

    def write_edges(self, key: EdgeType, edges: Any) -> int:
        where = typed_name(key)
        name = f"{where}.edges.npy" if self.found.typed else "edges.npy"
        done = 0
        with NpyFile(self.folder / name, np.int64, (2, edges.count)) as file:
            for sources, destinations in edges.blocks(self.step):
                expect_integers(sources, where)
                expect_integers(destinations, where)
                self.expect_ids(where, sources, key[0], done)
                self.expect_ids(where, destinations, key[2], done)
                file.write(done, sources)
                file.write(edges.count + done, destinations)
                done += len(sources)
        if done != edges.count:
            raise Refused(f"{where}: {edges.count} edges were announced, and "
                          f"there are {done}")
        return done

    def write_weights(self, key: EdgeType, name: str, values: Any,
                      count: int) -> None:
        """A number for each edge, in the order of edges; the import checks
        what they are."""
        where = f"{typed_name(key)}.{name}" if self.found.typed else name
        if not hasattr(values, "blocks"):
            shape = shape_of(values, where)
            if shape not in ((count,), (count, 1)):
                raise Refused(f"{where} has the shape {list(shape)}, and a "
                              f"weight for each of {count} edges is expected; "
                              f"leave it out (--ignore {name}) if it is "
                              "something else")
            values = Rows(values)
        path = self.folder / (f"{typed_name(key)}.edge_weight.npy"
                              if self.found.typed else "edge_weight.npy")
        dtype = (values.dtype if values.dtype.kind in "iuf"
                 and values.dtype.itemsize <= 8 else np.float64)
        with NpyFile(path, dtype, (count,)) as file:
            for first, block in values.blocks(self.step):
                file.write(first, numbers(block.reshape(-1), where))
        self.note(f"{where}: weights of edges")

    def write_edge_features(self, key: EdgeType, name: str, values: Any,
                            count: int) -> None:
        """A row, or a number, for each edge, in the order of edges."""
        where = f"{typed_name(key)}.{name}" if self.found.typed else name
        if not hasattr(values, "blocks"):
            shape = shape_of(values, where)
            if len(shape) not in (1, 2) or shape[0] != count:
                raise Refused(f"{where} has the shape {list(shape)}, and a row "
                              f"for each of {count} edges is expected; leave "
                              f"it out (--ignore {name}) if it is something "
                              "else")
            values = Rows(values)
        shape = tuple(getattr(values, "shape", (count,)))
        if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            raise Refused(f"{where} holds {values.dtype}, and features are "
                          "numbers")
        if values.dtype == np.float64:
            self.note(f"{where}: float64 is rounded to float32")
        dtype = np.float32 if values.dtype == np.float64 else values.dtype
        file_name = (f"{typed_name(key)}.edge_attr.npy"
                     if self.found.typed else "edge_attr.npy")
        width = int(np.prod(shape[1:], dtype=np.int64))
        step = max(1, self.step // max(1, width))
        with NpyFile(self.folder / file_name, dtype, shape) as file:
            for first, block in values.blocks(step):
                file.write(first * width, block.reshape(-1))
        self.note(f"{where}: features of edges")

    def write_role(self, key: EdgeType, role: str, name: str, values: Any,
                   count: int) -> None:
        """What a task of edges needs of each, in their order; the import
        checks what it is."""
        where = f"{typed_name(key)}.{name}" if self.found.typed else name
        if not hasattr(values, "blocks"):
            shape = shape_of(values, where)
            if len(shape) not in (1, 2) or shape[0] != count:
                raise Refused(f"{where} has the shape {list(shape)}, and a row "
                              f"for each of {count} edges is expected")
            values = Rows(values)
        columns = int(np.prod(getattr(values, "shape", (count,))[1:]))
        shape = (count,) if columns == 1 else (count, columns)
        task, _, what = role.rpartition(".")
        file_name = f"edge_{what}{task and '.'}{task}.npy"
        path = self.folder / (f"{typed_name(key)}.{file_name}"
                              if self.found.typed else file_name)
        nouns = {"row_weight": "weights", "negatives": "negatives"}
        dtype = (values.dtype if values.dtype.kind in "biuf"
                 and values.dtype.itemsize <= 8 else np.float64)
        with NpyFile(path, dtype, shape) as file:
            for first, block in values.blocks(self.step):
                flat = block.reshape(-1)
                file.write(first * columns, flat if flat.dtype.kind == "b"
                           else numbers(flat, where, nouns.get(what, what + "s")))
        self.note(f"{where}: {what} of edges"
                  + (f", for the task {task}" if task else
                     "" if what == "time" else ", for a task"))

    def expect_ids(self, where: str, ids: Any, node_type: str,
                   done: int) -> None:
        count = self.about[node_type]["num_nodes"]
        if len(ids) and not (0 <= ids.min() and ids.max() < count):
            bad = int(np.argmax((ids < 0) | (ids >= count)))
            raise Refused(f"{where}: edge {done + bad} has the end {ids[bad]}, "
                          f"and {node_type} has {count} nodes")


def numbers(block: Array, where: str, what: str = "weights") -> Array:
    """Weights, or `what` else edges have, of which none may be missing."""
    if block.dtype.kind == "O" and all(
            isinstance(item, (int, float, np.integer, np.floating))
            and not isinstance(item, bool) and not is_missing(item)
            for item in block):
        block = block.astype(np.float64)
    if block.dtype.kind not in "iuf":
        missing = block.dtype.kind == "O" and any(map(is_missing, block))
        raise Refused(f"{where}: " + (
            f"some edges have no {what.removesuffix('s')}" if missing else
            f"it holds {block.dtype}, and {what} are numbers{of_dates(block.dtype)}"))
    return block


def of_dates(dtype: Any) -> str:
    """How times of NumPy's own type become numbers; the end of a sentence."""
    return ("" if dtype.kind != "M" else
            ": make them microseconds by .astype(\"datetime64[us]\")"
            ".astype(\"int64\"), and say time_unit=\"us\" (--time-unit us)")


def spellings(which: str) -> tuple[str, ...]:
    return ("val", "valid", "validation") if which == "val" else (which,)


def unread(data: Any, times: bool) -> list[str]:
    """The attributes of nodes that nothing here reads."""
    splits = [f"{one}_{kind}" for which in ("train", "val", "test")
              for one in spellings(which) for kind in ("mask", "idx")]
    known = {*FEATURES, *LABELS, *NAMES, *splits, "num_nodes",
             *(["time"] if times else [])}
    return [name for name in data if name not in known]


def stacked(values: Any, where: str) -> Array:
    """A column of lists as a matrix."""
    try:
        return np.stack([np.asarray(value) for value in values])
    except (TypeError, ValueError) as error:
        raise Refused(f"{where}: its rows are no lists of as many numbers "
                      "each") from error

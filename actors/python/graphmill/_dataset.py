"""The folder of a dataset, read by NumPy alone (partition/dataset-format.md and
parts-format.md tell the format)."""

from __future__ import annotations

import functools
import json
import os
import pathlib
from typing import Any, Callable, Sequence

import numpy as np

from ._types import Array
from .errors import DataError, DefinitionError, Unavailable
from .info import Info, LabelSet, NodeType

_FORMAT_VERSION, _PARTS_VERSION = 7, 1
_LABELS = {"classes": "int64", "multi_label": "uint8", "regression": "float32"}


class Folder:
    """A dataset, whole or in parts. Arrays are mapped when they are needed, and
    not compared with their digests, which is for the programs."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = pathlib.Path(path)
        self._offsets: dict[str, list[int]] = {}
        self._arrays: dict[str, Array] = {}
        parts = self._path / "partitions.json"
        about = self._json(parts if parts.exists()
                           else self._path / "dataset.json")
        where = self._path / "dataset.json"
        if "offsets" in about:
            _expect_version(parts, about, _PARTS_VERSION)
            self._offsets, about = about["offsets"], about["dataset"]
            where = parts
        _expect_version(where, about, _FORMAT_VERSION)
        try:
            self.info = Info.of(about)
        except (KeyError, TypeError, ValueError, AttributeError) as cause:
            raise DataError(f"{where} is broken: {cause!r}",
                            "invalid_data") from cause

    def features(self, of: str, ids: Array) -> Array:
        """Rows of nodes by their ids, [nodes, features] float32."""
        kind = self._type(of)
        if kind.features == 0:
            raise DefinitionError(f"nodes of type {of!r} have no features",
                                  "invalid_argument")
        return self._of_nodes(kind, ids, (kind.features,), "float32",
                              functools.partial(self._rows, kind))

    def labels(self, of: str, ids: Array, name: str | None) -> Array:
        """Labels of nodes by their ids; ``name``: of a label set."""
        kind = self._type(of)
        if name is not None and name not in kind.label_sets:
            raise DefinitionError(
                f"nodes of type {of!r} have no label set {name!r}, but "
                + (", ".join(map(repr, kind.label_sets)) or "none"),
                "invalid_argument")
        chosen: NodeType | LabelSet = (kind if name is None else
                                       kind.label_sets[name])
        if chosen.classes == 0:
            raise DefinitionError(f"nodes of type {of!r} have no labels",
                                  "invalid_argument")
        element = _LABELS[chosen.labels]
        width = () if chosen.labels == "classes" else (chosen.classes,)
        file = "labels.npy" if name is None else f"labels.{name}.npy"
        return self._of_nodes(
            kind, ids, width, element,
            lambda part, rows, count: np.asarray(self._array(
                f"{part}nodes/{of}/{file}", (count, *width), element)[rows]))

    def _of_nodes(self, kind: NodeType, ids: Array, width: tuple[int, ...],
                  element: str, read: Callable[[str, Array, int], Array]) -> Array:
        """Values of nodes, each of which is in the whole dataset or in a part.

        read
            Gets the folder, rows within its arrays, and how many these have."""
        if ids.size and not 0 <= ids.min() <= ids.max() < kind.count:
            bad = ids[(ids < 0) | (ids >= kind.count)][0]
            raise DefinitionError(
                f"ids has node {bad}, but ids of type {kind.name!r} go from 0 to "
                f"{kind.count - 1}", "invalid_argument")
        out = np.empty((len(ids), *width), element)
        if not self._offsets:
            out[:] = read("", ids, kind.count)
            return out
        offsets = np.asarray(self._offsets[kind.name])
        new = np.asarray(self._order(kind, offsets)[ids], np.int64)
        owners = np.searchsorted(offsets, new, side="right") - 1
        for part in np.unique(owners):
            mine = owners == part
            out[mine] = read(f"part-{part}/", new[mine] - offsets[part],
                             int(offsets[part + 1] - offsets[part]))
        return out

    def _type(self, of: str) -> NodeType:
        if of not in self.info.node_types:
            raise DefinitionError(
                f"there is no node type {of!r}, but "
                + ", ".join(map(repr, self.info.node_types)), "invalid_argument")
        return self.info.node_types[of]

    def _rows(self, kind: NodeType, part: str, rows: Array, count: int) -> Array:
        name = f"{part}nodes/{kind.name}/features"
        if not kind.sparse:
            return np.asarray(self._array(
                f"{name}.npy", (count, kind.features), kind.precision)[rows])
        begins = self._array(f"{name}.indptr.npy", (count + 1,), "int64")
        columns = self._array(f"{name}.indices.npy", (None,), "int32")
        values = self._array(f"{name}.values.npy", (len(columns),),
                             kind.precision)
        first, lengths = begins[rows], begins[rows + 1] - begins[rows]
        if rows.size and (first.min() < 0 or lengths.min() < 0
                          or (first + lengths).max() > len(columns)):
            raise DataError(f"{self._path / name}.indptr.npy is damaged: rows lie "
                            "outside of their values", "invalid_data")
        within = np.arange(lengths.sum()) - np.repeat(
            np.cumsum(lengths) - lengths, lengths)
        places = np.repeat(first, lengths) + within
        found = columns[places]
        if found.size and not 0 <= found.min() <= found.max() < kind.features:
            raise DataError(f"{self._path / name}.indices.npy is damaged: it has "
                            "columns that there are not", "invalid_data")
        out = np.zeros((len(rows), kind.features), np.float32)
        out[np.repeat(np.arange(len(rows)), lengths), found] = values[places]
        return out

    def _order(self, kind: NodeType, offsets: Array) -> Array:
        """The ids in parts, by the ids before."""
        name = f"order/{kind.name}.npy"
        if name not in self._arrays and not (self._path / name).exists():
            # Parts of an older Graphmill have no such file.
            order = np.empty(kind.count, np.int64)
            for part, (first, last) in enumerate(zip(offsets, offsets[1:])):
                owned = self._array(
                    f"part-{part}/nodes/{kind.name}/original_ids.npy",
                    (int(last - first),), "int64")
                order[owned] = np.arange(first, last)
            self._arrays[name] = order
        return self._array(name, (kind.count,), "int32", "int64")

    def _array(self, name: str, shape: Sequence[int | None],
               *elements: str) -> Array:
        found = self._arrays.get(name)
        if found is None:
            path = self._path / name
            try:
                found = np.load(path, mmap_mode="r")
            except FileNotFoundError as cause:
                raise DataError(f"there is no {path}, which the dataset should "
                                "have; are all parts here?", "not_found") from cause
            except (OSError, ValueError) as cause:
                raise DataError(f"cannot read {path}: {cause}", "io") from cause
            if (found.dtype.name not in elements or len(found.shape) != len(shape)
                    or any(want not in (None, extent)
                           for want, extent in zip(shape, found.shape))):
                raise DataError(
                    f"{path} has {found.dtype} {list(found.shape)}, and "
                    f"{' or '.join(elements)} {list(shape)} is expected",
                    "invalid_data")
            self._arrays[name] = found
        return found

    def stamp(self) -> list[tuple[int, int, int] | None]:
        """What differs once the dataset in the folder is another one."""
        out: list[tuple[int, int, int] | None] = []
        for name in "dataset.json", "partitions.json":
            try:
                about = (self._path / name).stat()
            except OSError:
                out.append(None)
            else:
                out.append((about.st_ino, about.st_mtime_ns, about.st_size))
        return out

    def _json(self, path: pathlib.Path) -> dict[str, Any]:
        try:
            found = json.loads(path.read_text("utf-8"))
        except FileNotFoundError as cause:
            raise DataError(
                f"{self._path} is no dataset: it has neither dataset.json nor "
                "partitions.json" if self._path.is_dir() else
                f"there is no folder {self._path}", "not_found") from cause
        except (OSError, ValueError) as cause:
            raise DataError(f"cannot read {path}: {cause}", "io") from cause
        if not isinstance(found, dict):
            raise DataError(f"{path} holds no JSON object", "invalid_data")
        return found


def _expect_version(path: pathlib.Path, about: dict[str, Any],
                    newest: int) -> None:
    version = about.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise DataError(f"{path}: \"format_version\" is no number from 1 on",
                        "invalid_data")
    if version > newest:
        raise Unavailable(f"{path} has format version {version}, and this package "
                          f"knows versions up to {newest}: install a newer one",
                          "version_mismatch")

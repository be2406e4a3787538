"""Arrays of any library, taken a slice at a time, and errors in sentences."""

from __future__ import annotations

from typing import Any, Iterator, Sequence

import numpy as np

from .._types import Array
from ..errors import DataError


class Refused(DataError):
    """What cannot be written, why, and what to do instead."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "invalid_data")


def to_numpy(value: Any) -> Array:
    """A small slice of a tensor, an array or a list as a NumPy array."""
    if hasattr(value, "detach"):  # torch, on whatever device
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            raise Refused("NumPy has no bfloat16: call .float() first")
        return np.asarray(value.numpy())
    if hasattr(value, "asnumpy"):
        return np.asarray(value.asnumpy())
    if isinstance(value, np.ma.MaskedArray) and np.any(value.mask):
        raise Refused("an array has masked values, and nothing says what they "
                      "are: call .filled(VALUE) first")
    return np.asarray(value)


def shape_of(value: Any, where: str = "a list") -> tuple[int, ...]:
    """The extents of an array or tensor; of a list, those of NumPy's array."""
    if hasattr(value, "shape"):
        return tuple(int(extent) for extent in value.shape)
    try:
        return np.shape(value)
    except ValueError as error:
        raise Refused(f"{where} has rows that are not all of one length: "
                      + odd_row(value)) from error


def odd_row(rows: Any) -> str:
    """Which row of a list is not as long as the first one."""
    lengths = [len(row) if hasattr(row, "__len__") else None for row in rows]
    for place, length in enumerate(lengths):
        if length is None or length != lengths[0]:
            what = ("is no list" if length is None else
                    f"has {length} values, and row 0 has {lengths[0]}")
            return f"row {place} {what}"
    return "the lists in its rows differ in length"


def is_array(value: Any) -> bool:
    """Whether it has a value for each of several things."""
    if isinstance(value, (str, bytes, dict)):
        return False
    return (hasattr(value, "shape") and len(value.shape) > 0
            or isinstance(value, (list, tuple)))


def is_missing(value: Any) -> bool:
    """None, NaN, and what tables have in their place."""
    return (value is None or type(value).__name__ in ("NAType", "NaTType")
            or (isinstance(value, (float, np.floating)) and value != value))


class Rows:
    """An array with a row for each node; `blocks` gives some at a time, so that
    there is never a second copy of all."""

    def __init__(self, value: Any) -> None:
        self.shape = shape_of(value)
        # What a list holds cannot be told from its first row.
        self.value = (np.asarray(value) if isinstance(value, (list, tuple))
                      else value)
        self.dtype = to_numpy(self.value[:1]).dtype

    def blocks(self, step: int) -> Iterator[Any]:
        for first in range(0, self.shape[0], step):
            yield first, to_numpy(self.value[first:first + step])


class SparseRows:
    """A matrix as CSR: where each row begins, columns, and values (None: 1)."""

    def __init__(self, indptr: Any, indices: Any, values: Any,
                 shape: Sequence[int]) -> None:
        self.indptr, self.indices, self.values = indptr, indices, values
        self.shape = tuple(int(extent) for extent in shape)


def sparse_rows(value: Any, where: str) -> SparseRows | None:
    """CSR features of SciPy, torch or torch_sparse; None if they are dense."""
    if hasattr(value, "csr") and callable(value.csr):  # torch_sparse
        sizes = value.sparse_sizes()
        indptr, indices, values = value.csr()
        return SparseRows(indptr, indices, values, sizes)
    layout = str(getattr(value, "layout", "torch.strided"))
    if layout == "torch.sparse_csr":
        return SparseRows(value.crow_indices(), value.col_indices(),
                          value.values(), value.shape)
    if layout != "torch.strided":
        raise Refused(f"{where} is sparse ({layout}); call .to_sparse_csr()")
    if not hasattr(value, "nnz"):
        return None
    if getattr(value, "format", "") != "csr":
        raise Refused(f"{where} is a sparse matrix, but not CSR; call .tocsr()")
    return SparseRows(value.indptr, value.indices, value.data, value.shape)


class PairEdges:
    """Edges as two arrays, of sources and of destinations."""

    def __init__(self, sources: Any, destinations: Any) -> None:
        self.sources, self.destinations = sources, destinations
        shapes = shape_of(sources), shape_of(destinations)
        if shapes[0] != shapes[1] or len(shapes[0]) != 1:
            raise Refused(f"sources of edges have the shape {list(shapes[0])} "
                          f"and destinations {list(shapes[1])}, and two lists "
                          "of the same length are expected")
        self.count = shapes[0][0]

    def blocks(self, step: int) -> Iterator[Any]:
        for first in range(0, self.count, step):
            span = slice(first, first + step)
            yield (to_numpy(self.sources[span]),
                   to_numpy(self.destinations[span]))


class CompressedEdges:
    """Edges as CSR or CSC; `by_source` says whether lists are of a source."""

    def __init__(self, indptr: Any, indices: Any, by_source: bool) -> None:
        self.indptr = to_numpy(indptr)
        self.indices = indices
        self.by_source = by_source
        self.count = shape_of(indices)[0]
        ends = self.indptr[:1].tolist() + self.indptr[-1:].tolist()
        if (ends != [0, self.count]
                or (self.indptr[1:] < self.indptr[:-1]).any()):
            raise Refused("the lists of edges do not lie one after the other "
                          f"from 0 to {self.count}, the number of edges")

    def blocks(self, step: int) -> Iterator[Any]:
        for first in range(0, self.count, step):
            last = min(first + step, self.count)
            owners = np.searchsorted(self.indptr, np.arange(first, last),
                                     side="right") - 1
            others = to_numpy(self.indices[first:last])
            yield (owners, others) if self.by_source else (others, owners)


def edge_index(value: Any, where: str = "edge_index") -> PairEdges:
    """Edges of an array [2, E]."""
    shape = shape_of(value)
    if len(shape) != 2 or shape[0] != 2:
        raise Refused(f"{where} has the shape {list(shape)}, and [2, E] is "
                      "expected: a row of sources and one of destinations")
    return PairEdges(value[0], value[1])

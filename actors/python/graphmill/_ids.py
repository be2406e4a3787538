"""Ids of nodes, and masks, as users give them."""

from __future__ import annotations

import contextlib
import numbers
from typing import Any, Callable

import numpy as np

from ._types import Array
from .errors import DefinitionError
from .info import Info


def array_of(given: Any, what: str) -> Array:
    """An array, a tensor or a list as an array."""
    try:
        return _plain(np.asarray(given))
    except (TypeError, ValueError, RuntimeError, OverflowError) as cause:
        raise DefinitionError(f"{what} cannot be read as ids: {cause}",
                              "invalid_argument") from cause


def _plain(found: Array) -> Array:
    """Ids or a mask of Python objects, such as columns of pandas that may lack
    values, as an array of numbers or of bool."""
    if found.dtype != object or not found.size:
        return found
    if all(isinstance(one, (bool, np.bool_)) for one in found.flat):
        return found.astype(bool)
    if all(isinstance(one, numbers.Integral) and not isinstance(one, bool)
           for one in found.flat):
        with contextlib.suppress(OverflowError):  # Which others tell.
            return found.astype(np.int64)
    return found


def count_of(info: Info, of: str) -> int | None:
    """Nodes of a type; None: there is no such type, which others tell."""
    kind = info.node_types.get(of)
    return None if kind is None else kind.count


def whole_ids(found: Array, what: str) -> Array:
    """Ids as 64-bit numbers, which none of them changes by that."""
    if found.size and found.dtype.kind not in "iu":
        if found.dtype == object and all(isinstance(one, int) for one in found.flat):
            raise DefinitionError(
                f"{what} has node {max(found.flat, key=abs)}, and no id has more "
                "than 63 bits", "invalid_argument")
        of_floats = ("; whole numbers are needed: convert them with "
                     ".astype(numpy.int64), or .long() of torch"
                     if found.dtype.kind == "f" else "")
        raise DefinitionError(
            f"{what} are node ids, and these have the type {found.dtype}{of_floats}",
            "invalid_argument")
    if found.size and found.dtype.kind == "u" and int(found.max()) >= 1 << 63:
        raise DefinitionError(f"{what} has node {found.max()}, and no id has more "
                              "than 63 bits", "invalid_argument")
    if found.size and found.dtype.kind == "i" and found.min() < 0:
        raise DefinitionError(f"{what} has node {found.min()}, and ids go from 0 on",
                              "invalid_argument")
    return found.astype(np.int64)


def ids_of(given: Any, what: str, count: Callable[[], int | None]) -> Array:
    """Ids of an array, a tensor or a list; those that a mask is true for.

    count
        Tells how many nodes there are, which is the length of a mask; None: that
        is not known."""
    found = array_of(given, what)
    if found.ndim != 1:
        raise DefinitionError(
            f"{what} are node ids in one dimension, or a mask; these have the shape "
            f"{found.shape} and the type {found.dtype}", "invalid_argument")
    if found.dtype == bool:
        nodes = count()
        if nodes is not None and len(found) != nodes:
            raise DefinitionError(
                f"{what} is a mask of {len(found)} nodes, and there are {nodes}: "
                "give a value for each node, or ids", "invalid_argument")
        return np.flatnonzero(found).astype(np.int64)
    if found.size and found.dtype == np.uint8 and found.max() <= 1:
        # Masks of old versions of torch are such arrays, and so may be ids.
        raise DefinitionError(
            f"{what} are {len(found)} numbers of 8 bits, each 0 or 1, which may be a "
            "mask or ids: for a mask, convert them with .astype(bool), or .bool() of "
            "torch; for ids, with .astype(numpy.int64), or .long()",
            "invalid_argument")
    return whole_ids(found, what)

"""Labels of nodes as the import takes them."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from .._types import Array
from .values import Refused, is_missing


class NoLabels:
    """Labels that say that none is known (--no-label): texts, and the numbers
    that some of them are. `unused` are those that no label has been so far."""

    def __init__(self, values: Any) -> None:
        self.texts = list(map(str, values))
        self.unused = set(self.texts)
        self.numbers = {}
        for text in self.texts:
            try:
                self.numbers[float(text)] = text
            except ValueError:
                pass

    def has(self, label: Any) -> bool:
        """Whether a label is one of them: as a text, or as a number."""
        if isinstance(label, str):
            said = label if label in self.texts else None
        else:
            said = self.numbers.get(label)
        if said is None:
            return False
        self.unused.discard(said)
        return True

    def without(self, block: Array) -> Array:
        """A block of labels, with missing ones for those that say none. Numbers
        become floats if there are any such."""
        if block.dtype.kind in "OU":
            return np.array([None if self.has(item) else item
                             for item in block.flat], object).reshape(
                                 block.shape)
        if block.dtype.kind not in "biuf":
            return block
        for number in self.numbers:
            same = block == number
            if same.any():
                self.unused.discard(self.numbers[number])
                expect_exact(block)
                block = np.where(same, np.nan, block)
        return block


def expect_exact(block: Array) -> None:
    """Integers that become floats must stay what they are."""
    if block.dtype.kind in "iu" and (
            int(block.max()) >= 1 << 53 or int(block.min()) <= -(1 << 53)):
        raise Refused("labels of 2^53 or more cannot stand beside --no-label")


def rows_of_labels(block: Array, where: str) -> Array:
    """Rows of 0 and 1 as int8, those of NaN, -1 or 255 as -1."""
    if block.dtype.kind not in "biuf":
        raise Refused(f"{where} holds {block.dtype}, and several labels for "
                      "each node are 0 and 1")
    unknown = (block != block) | (block == -1) | (block == 255)
    wrong = ~unknown & (block != 0) & (block != 1)
    if wrong.any() or (unknown.any(axis=1) != unknown.all(axis=1)).any():
        bad = block[wrong][0] if wrong.any() else "missing in a part of a row"
        raise Refused(f"{where}: a label is {bad}; of several labels for each "
                      "node each is 0 or 1, or all are -1")
    return np.where(unknown, -1, block).astype(np.int8)


def whole_labels(block: Array, place: Mapping[str, int], where: str) -> Array:
    """Labels as int64, missing ones as -1."""
    if block.dtype.kind in "OU":
        if place and any(not isinstance(item, str) and not is_missing(item)
                         for item in block):
            raise Refused(f"{where} mixes texts and other values")
        block = np.array([np.nan if is_missing(item)
                          else place[item] if isinstance(item, str) else item
                          for item in block], object)
        try:
            block = block.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise Refused(f"{where} holds values that are neither numbers nor "
                          "texts") from error
    if block.dtype.kind == "f":
        missing = np.isnan(block)
        block = np.where(missing, -1, block)
        whole = np.isfinite(block) & (block == np.floor(block))
        if not whole.all():
            raise Refused(f"{where}: label {block[~whole][0]} is no whole "
                          "number, as classes are; give --regression to the "
                          "import if they are to be learnt as numbers")
    elif block.dtype.kind not in "biu":
        raise Refused(f"{where} holds {block.dtype}, and labels are integers "
                      "or texts")
    if len(block) and (block.min() < -1 or block.max() >= 2.0**53):
        bad = block.min() if block.min() < -1 else block.max()
        raise Refused(f"{where}: {bad} is no label; -1 means that there is "
                      f"none, and so does {bad} with --no-label {bad}")
    return block.astype(np.int64)

"""Arguments of `import_` and `write`, before anything is read."""

from __future__ import annotations

import numbers
import os
from typing import Any, Callable, Mapping

from .values import Refused


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: Any, least: int = 0) -> bool:
    return (isinstance(value, numbers.Integral) and not isinstance(value, bool)
            and int(value) >= least)


def _is_place(value: Any) -> bool:
    try:
        return isinstance(os.fspath(value), str)
    except TypeError:
        return False


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_pairs(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        _is_text(key) and _is_text(one) for key, one in value.items())


def _are_counts(value: Any) -> bool:
    return _is_count(value) or (isinstance(value, Mapping)
                                and all(map(_is_count, value.values())))


_Check = tuple[Callable[[Any], bool], str]
_NAME: _Check = _is_text, "the name of an attribute"
_YES_OR_NO: _Check = (lambda value: isinstance(value, (bool, numbers.Integral)),
                      "True or False")
_PLACE: _Check = _is_place, "a path"
_ONE_BY_ONE = "ignore", "no_label", "import_flags"
# None of any but the folder says that the default is meant.
_CHECKS: dict[str, _Check] = {
    "folder": _PLACE, "arrays": _PLACE, "program": _PLACE,
    "ignore": (_are_texts, "a list of names, such as [\"pos\"]"),
    "no_label": (lambda value: isinstance(value, list),
                 "a list of labels, such as [-1]"),
    "import_flags": (_are_texts, "a list of texts, such as [\"--regression\"]"),
    "rename": (_are_pairs, "a dictionary of names, such as {\"club\": \"y\"}"),
    "edge": (_are_pairs, "a dictionary {role: attribute}, such as "
             "{\"label\": \"rating\"}"),
    "num_nodes": (_are_counts, "a whole number, or {type: count}"),
    "num_classes": (lambda value: _is_count(value, 1), "a whole number from 1 on"),
    "split_index": (_is_count, "the number of a column of masks, from 0 on"),
    "chunk_bytes": (lambda value: _is_count(value, 1), "bytes, 1 or more"),
    "weight": _NAME, "edge_attr": _NAME, "edge_time": _NAME, "node_time": _NAME,
    "time_unit": (lambda value: value in ("s", "ms", "us", "step"),
                  "\"s\", \"ms\", \"us\" or \"step\""),
    "name": (_is_text, "a text"),
    "undirected": _YES_OR_NO, "keep_arrays": _YES_OR_NO,
    "split_idx": (lambda value: isinstance(value, Mapping),
                  "a dictionary such as {\"train\": ids}")}


def checked(folder: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say something, in the types that `convert` takes. Refuses
    all that are wrong, by their names."""
    out = {name: value for name, value in options.items() if value is not None}
    for name in _ONE_BY_ONE:
        value: Any = out.get(name)
        if hasattr(value, "__iter__") and not isinstance(value, (str, bytes, Mapping)):
            out[name] = list(value)
    wrong = [f"{name} is {value!r}: give {what}"
             for name, value in {"folder": folder, **out}.items()
             for fits, what in [_CHECKS.get(name, (lambda _: True, ""))]
             if not fits(value)]
    if wrong:
        raise Refused("; ".join(wrong))
    return out

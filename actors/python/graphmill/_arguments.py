"""Arguments of loaders: those of other libraries are refused with what takes their
place here."""

from __future__ import annotations

import difflib
import inspect
import numbers
import operator
import os
from typing import Any, Mapping, Sequence

from .errors import DefinitionError

_NO_WORKERS = ("a process of its own makes batches, without workers; `threads` and "
               "`prefetch` say how fast")

# Of NeighborLoader, of LinkNeighborLoader, and of torch's DataLoader below both.
_INSTEAD = {
    "data": "the first argument is the folder of a dataset; "
            "graphmill.import_(data, folder) makes one",
    "num_neighbors": "give `fanouts`",
    "input_nodes": "give `seeds`, or a `split` of the dataset",
    "input_time": "seeds have the times of their nodes, which imports read "
                  "(node_time=)",
    "directed": "give `subgraph_type`; True was \"directional\", and False was "
                "\"induced\"",
    "temporal_strategy": "give latest=True for \"last\", and nothing for "
                         "\"uniform\"",
    "time_attr": "times are read at the import (edge_time=); give "
                 "time=\"inclusive\", which is PyG's rule, or \"strict\"; "
                 "edge_ages=True has times in batches",
    "weight_attr": "weights are read at the import; give method=\"weighted\"",
    "transform_sampler_output": "give `transform`, which gets each batch",
    "is_sorted": "imports sort edges; leave it out",
    "filter_per_worker": _NO_WORKERS,
    "neighbor_sampler": "give `method`, `fanouts` and `replace`",
    "custom_cls": "give `transform`, which may return anything",
    "input_id": "`batch.input_id` has the positions in `seeds`",
    "edge_label_index": "give `pairs`, or a `split` of the task",
    "edge_label": "labels of edges are those of the `task`, which imports read",
    "edge_label_time": "edges of a task have their own times; give `time`",
    "neg_sampling": "give `negatives`, whose `count` is PyG's amount",
    "neg_sampling_ratio": "give `negatives`, the count for each edge",
    "num_workers": _NO_WORKERS,
    "persistent_workers": _NO_WORKERS,
    "worker_init_fn": _NO_WORKERS,
    "multiprocessing_context": _NO_WORKERS,
    "prefetch_factor": "give `prefetch`",
    "pin_memory": "give `device`: batches are copied there from pinned memory",
    "pin_memory_device": "give `device`",
    "generator": "give `seed`",
    "sampler": "give `seeds` and `shuffle`",
    "batch_sampler": "give `seeds`, `batch_size` and `shuffle`",
    "collate_fn": "give `transform`, which gets each batch",
    "dataset": "the first argument is the folder of a dataset",
    "in_order": "batches always come in their order; leave it out",
    # Of a LinkLoader.
    "task": "tasks are of edges: use a LinkLoader",
    "pairs": "pairs are edges: use a LinkLoader",
    "negatives": "negatives are of links: use a LinkLoader",
    "exclude": "edges are left out of batches of links: use a LinkLoader",
}


def refuse_unknown(unknown: Mapping[str, Any], loader: type) -> None:
    """Fails if there are arguments that a loader does not name."""
    if not unknown:
        return
    names = list(inspect.signature(loader).parameters)
    wrong = []
    for name in unknown:
        near = difflib.get_close_matches(name, names, 1)
        instead = _INSTEAD.get(name) or (
            f"did you mean `{near[0]}`?" if near else
            "help(graphmill.Loader) has all arguments")
        wrong.append(f"there is no argument `{name}`: {instead}")
    raise DefinitionError("; ".join(wrong), "invalid_argument")


def tell_options(of: Any, loader: type, *but: str) -> None:
    """Names in the signature of a function, for `help`, what its last argument,
    ``**options``, hands on to a loader."""
    own = inspect.signature(of)
    *named, _ = own.parameters.values()
    more = [each for name, each in inspect.signature(loader).parameters.items()
            if name not in own.parameters and name not in but
            and each.kind is not each.POSITIONAL_OR_KEYWORD]
    of.__signature__ = own.replace(parameters=[*named, *more])


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def whole(what: str, value: Any, least: int = 0, bits: int = 63) -> int:
    """A whole number of Python, NumPy or torch, from ``least`` to 2^bits - 1."""
    try:
        if isinstance(value, bool):
            raise TypeError
        out = operator.index(value)
    except (TypeError, ValueError) as cause:
        raise DefinitionError(f"{what} is {value!r}: give a whole number",
                              "invalid_argument") from cause
    if not least <= out < 1 << bits:
        raise DefinitionError(f"{what} is {out}: give a whole number from {least} "
                              f"to 2^{bits} - 1", "invalid_argument")
    return out


def yes_or_no(what: str, value: Any) -> bool:
    """A truth value of Python or NumPy."""
    found = plain(value)
    if not isinstance(found, bool):
        raise DefinitionError(f"{what} is {value!r}: give True or False",
                              "invalid_argument")
    return found


def seconds(what: str, value: Any) -> float:
    """A time that is longer than none."""
    found = plain(value)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not found > 0:
        raise DefinitionError(f"{what} is {value!r}: give seconds, more than 0",
                              "invalid_argument")
    return float(found)


def path(what: str, value: Any) -> str:
    """The place of a file or a folder."""
    try:
        found = os.fspath(value)
    except TypeError:
        found = None
    if not isinstance(found, str):
        raise DefinitionError(f"{what} is {value!r}: give a path", "invalid_argument")
    return found


def text(what: str, value: Any) -> str:
    """A name of something."""
    if not isinstance(value, str):
        raise DefinitionError(f"{what} is {value!r}: give a text", "invalid_argument")
    return value


def share(what: str, value: Any) -> float:
    """A real number, of which the program knows the range."""
    found = plain(value)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise DefinitionError(f"{what} is {value!r}: give a number",
                              "invalid_argument")
    return found


def not_among(given: Mapping[str, tuple[Any, Sequence[str | None]]]) -> list[str]:
    """What is wrong with arguments, each of which is one of some words, or None
    where that is among them."""
    return [f"{name} is {value!r}: give one of {', '.join(filter(None, words))}"
            for name, (value, words) in given.items()
            if not isinstance(value, (str, type(None))) or value not in words]


def texts(what: str, value: Any) -> list[str]:
    """A list of texts. A single text is a list of letters, which nobody means."""
    given: list[Any] = ([None] if isinstance(value, (str, bytes, Mapping))
                        or not hasattr(value, "__iter__") else list(value))
    if not all(isinstance(one, str) for one in given):
        raise DefinitionError(f"{what} is {value!r}: give a list of texts",
                              "invalid_argument")
    return given

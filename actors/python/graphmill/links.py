"""Mini-batches of links, and of edges with labels."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any, Mapping, Sequence

import numpy as np

from ._arguments import tell_options, texts
from ._engine import Engine
from ._ids import array_of, whole_ids
from ._types import Array
from .errors import DefinitionError
from .loader import Fanouts, Loader, Source, _type_name

_MODES = {"binary": "pairs", "triplet": "triplets"}
_MOST_EDGE_TYPES = 300  # The engine describes the arrays of all in one packet.


@dataclasses.dataclass(frozen=True)
class Negatives:
    """Pairs of nodes that links are told from.

    mode
        "binary": behind the links of a batch, as pairs with label 0. "triplet":
        nodes beside each link.
    count
        Of each link, or of a step if ``kind`` is "joint"; for both ends apart.
        Default: 1 in training, and 100 for other splits. 0: none.
    kind
        In training: "per_edge" (default), "joint" or "given". Other splits have
        those of the dataset, if it has some.
    corrupt
        The ends that are replaced: "destination" (default), "source", "both" apart,
        or "pair": both at once, as PyG's binary sampling does; not of triplets.
    weight
        Nodes by chance, in training: "uniform" (default) or "degree".
    """

    mode: str = "binary"
    count: int | None = None
    kind: str | None = None
    corrupt: str | None = None
    weight: str | None = None


class LinkLoader(Loader):
    """Makes batches of links, or of edges with labels, and their neighbourhood.

    >>> for batch in graphmill.LinkLoader("data/shop", [10, 10],
    ...                                   batch_size=256):       # doctest: +SKIP
    ...     h = model(batch.x, batch.edge_index)
    ...     source, destination = batch.edge_label_index
    ...     scores = (h[source] * h[destination]).sum(1)
    ...     loss = binary_cross_entropy_with_logits(scores, batch.edge_label)

    Batches are those of ``graphmill train`` with the same ``task``, for any number
    of ranks and parts. All that `Loader` explains applies: a *seed* is an edge of
    the task. Attributes have the names of PyG's ``LinkNeighborLoader``.

    ``edge_label_index`` [2, pairs]
        Sources above destinations, as rows of ``x``: ``batch_size`` edges, then
        their negatives, edge by edge.
    ``edge_label``
        Of links: [pairs] float32, 1 and then 0. Of edges with labels: [edges]
        classes, or [edges, labels or numbers].
    ``src_index``, ``dst_pos_index`` [edges], ``dst_neg_index``
        With triplets, in place of both. Negatives are [edges] or [edges, count];
        -1, in validations and tests: all nodes are known to be linked. Joint ones
        are [count], for all edges. ``src_neg_index``, if sources are replaced.
    ``edge_label_time`` [pairs]; with triplets, ``seed_time`` [edges]
        Times of the edges, with ``disjoint`` and ``edge_ages``: int64, microseconds
        since 1970, or steps.
    ``input_id`` [edges], ``edge_label_weight``
        Positions in the split, or in ``pairs``, where they count on from one edge
        type's array to the next; weights, if the task has some.

    Of a typed graph they are those of an edge type, ``batch[edge_type]`` and
    ``edge_label_index_dict``. With ``merge_edge_types``, ``edge_label_type`` has
    the number of the edge type, if the task has several. A graph with more than
    300 edge types needs that.

    task
        Its name in the dataset (default: its only one); see ``Info.tasks``.
    negatives
        `Negatives`, their mode, their count, or a mapping with its fields.
        Those of a link do not depend on its batch. Those of other splits are the
        same in every epoch, and are no known links.
    exclude
        "pair" (default): before neighbours are drawn, edges between both nodes of
        a link that is trained are left out, for all links of the step: of its edge
        type, in both directions if that joins nodes of one type, and of the
        reverse type. "none": they are not. Held-out edges carry no messages
        anyway; of edges back, those of a reverse type, and of ``undirected``
        imports. For links alone: where edges have labels, a row that is trained
        sees its own edge, and rows of other splits do not see theirs. With times,
        no row does (``strict``).
    pairs
        Edges of your own in place of those of a split, to score them: [2, pairs]
        ids in the dataset, or such arrays by edge type. They need not be edges of
        the graph, have no labels and no negatives, and come in their order.
        They see training edges. Where edges have times, ``split="test"`` and
        ``overrides=["evaluate.visible=past"]`` show them all edges.
    """

    _ROWS = "edges", "pairs", "--split-edges"

    def __init__(self, source: Source, fanouts: Fanouts | None = None, *,
                 task: str | None = None,
                 negatives: (Negatives | str | numbers.Integral | int
                             | Mapping[str, Any]
                             | None) = None,
                 exclude: str | None = None, pairs: Any = None,
                 split: str = "train", overrides: Sequence[str] = (),
                 **options: Any) -> None:
        for name, instead in (("seeds", "pairs"), ("labels", "task")):
            if options.get(name) is not None:
                raise DefinitionError(
                    f"{name} is for nodes: give a LinkLoader {instead}",
                    "invalid_argument")
        wanted = _negatives_of(negatives)
        trains = isinstance(split, str) and split == "train"
        given = {"task": task, "train.exclude": exclude,
                 "negatives.count" if trains else "evaluate.negatives":
                     wanted.count or None,
                 "negatives.kind": wanted.kind,
                 "negatives.corrupt": wanted.corrupt,
                 "negatives.weight": wanted.weight}
        given_texts = [f"{name}={value}" for name, value in given.items()
                       if value is not None]
        if pairs is not None:
            if wanted.count or wanted.kind or wanted.corrupt or wanted.weight:
                raise DefinitionError(
                    "pairs have no negatives: leave `negatives` out, or give the "
                    "negatives as pairs", "invalid_argument")
            if trains and "evaluate.visible=past" in texts("overrides", overrides):
                raise DefinitionError(
                    "split=\"train\" (the default) sees training edges alone, also "
                    "with evaluate.visible=past: give pairs split=\"test\", so that "
                    "they see all edges, or leave evaluate.visible out",
                    "invalid_argument")
            options.setdefault("shuffle", False)
        super().__init__(source, fanouts, split=split,
                         overrides=[*given_texts, *texts("overrides", overrides)],
                         **options)
        self._ranks_none = trains or pairs is not None or wanted.count == 0
        self._lacks_task = task is None and options.get("definition") is None
        self._request.update(rows=_MODES[wanted.mode],
                             negatives=wanted.count != 0)
        if pairs is not None:
            self._seeds, types = _triples_of(pairs)
            self._request.update(pairs=True, edge_types=types)

    def _check_request(self) -> None:
        super()._check_request()
        self._check_edge_types()
        self._choose_task()
        overrides = self._request["overrides"]
        named = [one[5:] for one in overrides if one.startswith("task=")]
        task = self.info.tasks.get(named[-1]) if named else None
        excludes = [one for one in overrides if one.startswith("train.exclude=")]
        if excludes and task is not None and task.kind != "link":
            raise DefinitionError(
                f"exclude is for links, and the rows of task {named[-1]!r} are edges "
                "with labels: a row that is trained sees its own edge, unless times "
                "are strict", "invalid_argument")
        if self._ranks_none and task is not None and task.kind == "link":
            # It is not used, and all nodes of a small graph might be refused.
            overrides.insert(0, "evaluate.negatives=1")
            self._ranks_none = False

    def _started(self) -> Engine:
        engine = super()._started()
        if not self._layout.row_types:
            raise DefinitionError("the definition names no task: give `task`",
                                  "invalid_argument")
        return engine

    def _choose_task(self) -> None:
        """Takes the only task, if none is named."""
        named = any(one.startswith("task=") for one in self._request["overrides"])
        if not self._lacks_task or named:
            return
        tasks = self.info.tasks
        if len(tasks) != 1:
            raise DefinitionError(
                "the dataset has no task of edges: import it with `--split-edges` or "
                "`--task-edges` of `import_flags`, or give `edge` to "
                "graphmill.import_" if not tasks else
                f"the dataset has {len(tasks)} tasks of edges: give `task`, one of "
                + ", ".join(map(repr, tasks)), "invalid_argument")
        self._request["overrides"].append(f"task={next(iter(tasks))}")

    def _check_edge_types(self) -> None:
        count = len(self.info.edge_types)
        if count > _MOST_EDGE_TYPES and not self._request["merge_edge_types"]:
            raise DefinitionError(
                f"the graph has {count} edge types, and batches have arrays of "
                f"up to {_MOST_EDGE_TYPES} apart: use merge_edge_types=True",
                "invalid_argument")


tell_options(LinkLoader.__init__, Loader, "seeds", "labels")


def _negatives_of(given: Any) -> Negatives:
    """What a user may give, as `Negatives`."""
    if given is None:
        out = Negatives()
    elif isinstance(given, str):
        out = Negatives(mode=given)
    elif _is_count(given):
        out = Negatives(count=given)
    elif isinstance(given, Mapping):
        unknown = set(given) - {field.name for field in dataclasses.fields(Negatives)}
        if unknown:
            raise DefinitionError(
                f"negatives has no {', '.join(sorted(map(str, unknown)))}: help("
                "graphmill.Negatives) names its fields", "invalid_argument")
        out = Negatives(**given)
    elif isinstance(given, Negatives):
        out = given
    else:
        raise DefinitionError(
            f"negatives is {given!r}: give a mode, a whole number, Negatives or a "
            "mapping with its fields", "invalid_argument")
    if out.count is not None:
        if not _is_count(out.count):
            raise DefinitionError(f"the count of negatives is {out.count!r}: give "
                                  "a whole number", "invalid_argument")
        out = dataclasses.replace(out, count=int(out.count))
    if not isinstance(out.mode, str) or out.mode not in _MODES:
        raise DefinitionError(f"the mode of negatives is {out.mode!r}: give "
                              f"{' or '.join(map(repr, _MODES))}",
                              "invalid_argument")
    if out.mode == "triplet" and out.corrupt == "pair":
        raise DefinitionError(
            "a triplet keeps an end of its link, and corrupt=\"pair\" replaces "
            "both: take mode=\"binary\", or corrupt=\"both\" for each end apart",
            "invalid_argument")
    return out


def _is_count(given: Any) -> bool:
    return isinstance(given, numbers.Integral) and not isinstance(given, bool)


def _triples_of(pairs: Any) -> tuple[Array, list[str]]:
    """Source, destination and number of the edge type of each pair, and the names
    of these types."""
    typed = isinstance(pairs, Mapping)
    parts = []
    for number, given in enumerate(pairs.values() if typed else [pairs]):
        ends = array_of(given, "pairs")
        if ends.ndim != 2 or len(ends) != 2:
            raise DefinitionError(
                "pairs are node ids [2, pairs], sources above destinations; these "
                f"have the shape {ends.shape} and the type {ends.dtype}",
                "invalid_argument")
        if ends.dtype == bool:
            raise DefinitionError("pairs are node ids, not a mask: "
                                  "give edge_index[:, mask]", "invalid_argument")
        source, destination = whole_ids(ends, "pairs")
        parts.append(np.stack(
            [source, destination, np.full_like(source, number)], 1))
    return (np.concatenate(parts) if parts else np.empty((0, 3), np.int64),
            [_type_name(key) for key in pairs] if typed else [])

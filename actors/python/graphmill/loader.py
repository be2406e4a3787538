"""Graphs and loaders."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import weakref
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

import numpy as np

from ._dataset import Folder
from ._cluster import served_here
from ._engine import Engine
from ._types import Array
from .batch import Batch, EdgeType, Layout
from .errors import Cancelled, DefinitionError, Error, StateError
from .info import Info

Source = Union[str, "os.PathLike[str]", "Graph"]
Fanouts = Union[Sequence[int], Mapping[Union[str, EdgeType], Sequence[int]]]

_SPLITS = {"train": "train", "val": "validation", "validation": "validation",
           "test": "test"}
_KINDS = "numpy", "torch", "pyg", "dgl"
_TIMES = "strict", "inclusive", "ignore"
_STATE_VERSION = 1


@dataclasses.dataclass(frozen=True)
class _Opening:
    """How the data are opened: what `open` takes."""

    data: str  # Empty: the folder of a daemon here.
    cluster: str = ""
    key: str = ""
    insecure: bool = False
    budget: int | str | None = None
    threads: int | None = None
    memory: int | str | None = None
    storage: str = "auto"
    verify: bool = True

    @staticmethod
    def of(source: str | os.PathLike[str] | None,
           data: str | os.PathLike[str] | None = None,
           key: str | os.PathLike[str] | None = None, insecure: bool = False,
           **options: Any) -> "_Opening":
        if source is None:
            source = os.environ.get("GRAPHMILL_CLUSTER", "")
            if not source:
                raise DefinitionError(
                    "there is no source: give a folder or the address of a "
                    "cluster, or set GRAPHMILL_CLUSTER", "invalid_argument")
        place = os.fspath(source)
        if not place.startswith("tcp://"):
            if data is not None or key is not None or insecure:
                raise DefinitionError(
                    f"{place} is a folder: `data`, `key` and `insecure` are for a "
                    "cluster, such as \"tcp://head:7800\"", "invalid_argument")
            return _Opening(place, **options)
        if data is None:
            data = os.environ.get("GRAPHMILL_DATA", "")
        if key is None:
            key = "" if insecure else os.environ.get("GRAPHMILL_KEY", "")
        return _Opening(os.fspath(data), place, os.fspath(key), insecure, **options)

    def folder(self) -> str:
        """Of the dataset, on this machine."""
        return self.data or served_here(self.cluster, self.key, self.insecure)


def open(source: str | os.PathLike[str] | None = None, *,
         data: str | os.PathLike[str] | None = None,
         key: str | os.PathLike[str] | None = None, insecure: bool = False,
         budget: int | str | None = None, threads: int | None = None,
         memory: int | str | None = None, storage: str = "auto",
         verify: bool = True) -> "Graph":
    """A dataset, whole or in parts, in a folder or on a cluster.

    ``source``: the folder; or the address of a cluster's coordinator, as
    "tcp://head:7800", with commas between it and its stand-ins (default:
    GRAPHMILL_CLUSTER). Of a cluster, ``data`` is a folder here with the tables of
    the same parts (default: GRAPHMILL_DATA, else that of a daemon on this
    machine), and ``key`` a key file (default: GRAPHMILL_KEY, else your own);
    ``insecure``: it has none.

    ``budget``: memory for batches that are made or under way, in bytes or as
    "512 MiB" (default: 1 GiB). ``threads`` that sample and fetch (default: one of each).
    ``storage``: "memory", "disk", or "auto": from disk if it does not fit into
    ``memory``. ``verify``: compare the files with their digests meanwhile; damage
    is a DataError. Nothing is opened before it is needed.
    """
    return Graph(_Opening.of(source, data, key, insecure, budget=budget,
                             threads=threads, memory=memory, storage=storage,
                             verify=verify))


class Graph:
    """A dataset; made by `open`. Loaders of it have engines of their own."""

    def __init__(self, opening: _Opening) -> None:
        self._opening = opening
        self._read: Folder | None = None
        self._loaders: weakref.WeakSet[Loader] = weakref.WeakSet()

    def _folder(self) -> Folder:
        if self._read is None:
            self._read = Folder(self._opening.folder())
        return self._read

    @property
    def info(self) -> Info:
        """Its types, counts, splits, labels and tasks: read once, without an
        engine. Raises DataError if the folder is no dataset."""
        return self._folder().info

    def features(self, ids: Any, type: str | None = None) -> Array:
        """Features of nodes, [nodes, features] float32: what ``x`` of a batch has
        for them, bit for bit, unless a definition rounds it (``fetch.precision``).
        Read from the files at once, without an engine.

        ids
            In the dataset, in any order, also several times; or a mask.
        type
            Of the nodes (default: the target type).

        Raises DefinitionError if there are no such nodes or features, and
        DataError if the files cannot be read. They are not compared with their
        digests; a `Loader` and ``graphmill inspect`` do that.

        >>> graphmill.open("data/small").features([5, 0, 5]).shape
        (3, 12)
        """
        return self._folder().features(
            self.info.target if type is None else type, _ids_of(ids, "ids"))

    def loader(self, fanouts: Fanouts | None = None, **options: Any) -> "Loader":
        """`Loader` of this graph."""
        return Loader(self, fanouts, **options)

    def sample(self, seeds: Any, fanouts: Fanouts, **options: Any) -> Any:
        """One batch of the given nodes, in their order: for inference. Takes the
        options of a `Loader`. Starts an engine, which takes some 10 ms; a `Loader`
        with ``seeds`` does so once.

        >>> batch = graphmill.open("data/small").sample([7, 3], [-1, -1],
        ...                                             as_="numpy")
        >>> batch.n_id[:batch.batch_size]
        array([7, 3])
        """
        ids = _ids_of(seeds)
        options = {"split": "test", "shuffle": False, "rank": 0, "world_size": 1,
                   **options}
        with Loader(self, fanouts, seeds=ids, batch_size=max(len(ids), 1),
                    **options) as loader:
            for batch in loader:
                return batch
        raise DefinitionError("seeds is empty, so there is nothing to sample",
                              "invalid_argument")

    def close(self) -> None:
        """Closes its loaders. Batches that you keep stay valid."""
        self._read = None
        for loader in list(self._loaders):
            loader.close()

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return Graph, (self._opening,)  # It opens the files where it is used.


def _array_of(given: Any, what: str) -> Array:
    try:
        return np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as cause:
        raise DefinitionError(f"{what} are no array of ids: {cause}",
                              "invalid_argument") from cause


def _ids_of(seeds: Any, what: str = "seeds") -> Array:
    """Ids of an array, a tensor or a list; those that a mask is true for."""
    found = _array_of(seeds, what)
    if found.dtype == bool:
        found = np.flatnonzero(found)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise DefinitionError(
            f"{what} are node ids in one dimension, or a mask; these have shape "
            f"{found.shape} and type {found.dtype}", "invalid_argument")
    return found.astype(np.int64)


def _bytes_of(what: str, value: int | str | None) -> int:
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
             "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1}
    for unit, factor in units.items():
        number = value.removesuffix(unit).strip()
        if value.endswith(unit) and number.replace(".", "", 1).isdigit():
            return int(float(number) * factor)
    raise DefinitionError(f"{what} is {value!r}: give bytes, or a text such as "
                          "\"512 MiB\"", "invalid_argument")


def _rank_of(name: str, value: int | None, variable: str, otherwise: int) -> int:
    if value is not None:
        try:
            return int(value)
        except (TypeError, ValueError) as cause:
            raise DefinitionError(f"{name} is {value!r}: give a whole number",
                                  "invalid_argument") from cause
    text = os.environ.get(variable, str(otherwise))
    if not text.isdigit():
        raise DefinitionError(f"{variable} is {text!r}: give {name} to the loader",
                              "invalid_argument")
    return int(text)


class Loader:
    """Makes batches of a graph, in another process, for a model of your own.

    >>> loader = graphmill.Loader("data/small", [4, 3], batch_size=40,
    ...                           as_="numpy")
    >>> for batch in loader:
    ...     assert batch.x.shape == (batch.num_nodes, 12)
    ...     assert batch.y.shape == (batch.batch_size,)
    >>> len(loader), loader.epoch
    (3, 1)

    Attributes
        ``batch.x``, ``edge_index``, ``y``, ``n_id``, ``batch_size``,
        ``num_sampled_nodes`` and so on have the names of PyG; `Batch` has their
        shapes. Seeds are the first rows of ``x``, and ``y`` is of them alone.
    Order
        Each ``for`` is one epoch, and the next one counts on. A batch depends on
        the dataset and on ``seed``, ``fanouts``, ``replace``, ``batch_size``,
        ``split``, ``shuffle``, what is said of times, epoch and step, and on
        nothing else: not on
        threads, parts or memory. With ``seed_order="global"`` its seeds do not
        depend on parts either. Batches are those of ``graphmill train`` with the
        same settings. Neighbours are drawn anew in each epoch, for every split:
        `set_epoch` repeats one. A loop may ``break``.
    Resumption
        Keep `state_dict` with your weights, and give it to `load_state_dict` in a
        new process, also after ``kill -9`` and for another number of ranks. The
        next batch is the one after the last that was handed out.
    Ranks
        Under torchrun each process gets its share of every step, by RANK and
        WORLD_SIZE. All ranks have the same number of steps. In the last one some
        may have no seeds: sum the loss, times ``world_size /
        batch.global_batch_size``. See `Batch.weight`.
    Errors
        All are `Error`. DefinitionError: an argument is wrong. DataError: the
        dataset cannot be read, or a file differs from its digest. CreditError:
        more batches are kept than ``hold``. StateError: a state of another
        dataset or of other settings. EngineError: the process that makes batches
        has ended. Timeout: no batch within ``timeout`` seconds. ForkError: a
        forked child uses the loader of its parent. Cancelled: the loader was
        closed, a newer iterator has begun, or the run was cancelled. Unavailable:
        the program ``graphmill-feed`` is missing, or the cluster lacks daemons.

    source
        The folder of a dataset, whole or in parts, the address of a cluster, or a
        `Graph`; see `open`, whose other arguments are taken here, too.
    fanouts
        In-edges per node for each hop, the first for the seeds; -1: all. Or by
        edge type: ``{"default": [10, 5], ("paper", "cites", "paper"): [5, 0]}``.
    split, seeds
        The seeds: "train", "val" or "test", or ids or a mask of nodes of the
        target type, each once. ``split`` then says as what neighbours are drawn.
    batch_size
        Seeds of a step over all ranks together.
    shuffle
        In each epoch anew (default: for "train").
    seed, replace, seed_order, drop_last
        Of all draws; draw neighbours with replacement; "global" or "local" (near
        the rank's parts); leave the last, smaller step out.
    time, latest, window, disjoint
        Where edges have times, ``time`` is needed: "strict" samples edges before
        the time of the seed alone, in all hops, "inclusive" also those of that
        time, "ignore" all. Seeds have the times of their nodes, or of their
        edges; ``pairs`` are after all edges. ``latest``: the last edges in place
        of drawn ones. ``window``: none that are older by so many seconds (or
        steps). ``disjoint``: each seed has a tree of its own, a node is there once
        for each, and ``batch.batch`` [nodes] has the rows of their seeds. Without
        it, all seeds of a step hear of what was before the earliest of them, and
        ``shuffle=False`` is needed.
    rank, world_size
        Default: what torchrun says in RANK and WORLD_SIZE, else 0 of 1.
    as_
        "torch" (default), "numpy", "pyg" for Data and HeteroData, or "dgl" for
        ``(input_nodes, output_nodes, blocks)``, see `Batch.as_dgl`.
    form, labels, edge_ids, edge_weights, edge_attr, degrees, merge_edge_types
        "coo" or "csr"; a label set of the dataset in place of its own labels;
        further arrays; all edge types as one, with ``edge_type``.
    prefetch, hold
        Batches that are made ahead; batches that you may keep, with the one at
        hand. One more is a CreditError: ``copy()`` what you keep.
    device, transform, timeout
        Copy each batch there; call this with each batch; seconds to wait for one.
    definition, overrides
        A file as for ``graphmill train``, whose sections ``sampler``, ``train``,
        ``evaluate`` and ``budget`` are used; "path=value", as for ``--set``.
        Arguments that are given win over the file.
    """

    def __init__(self, source: Source, fanouts: Fanouts | None = None, *,
                 split: str = "train", seeds: Any = None,
                 batch_size: int | None = None, shuffle: bool | None = None,
                 seed: int | None = None, replace: bool | None = None,
                 seed_order: str | None = None, drop_last: bool = False,
                 time: str | None = None, latest: bool | None = None,
                 window: int | None = None, disjoint: bool | None = None,
                 rank: int | None = None, world_size: int | None = None,
                 as_: str = "torch", form: str = "coo",
                 labels: str | None = None, edge_ids: bool = False,
                 edge_weights: bool = False, edge_attr: bool = False,
                 degrees: bool = False,
                 merge_edge_types: bool = False, prefetch: int = 4,
                 hold: int = 2, device: Any = None,
                 transform: Callable[[Any], Any] | None = None,
                 timeout: float = 600.0,
                 definition: str | os.PathLike[str] | None = None,
                 overrides: Sequence[str] = (), **of_open: Any) -> None:
        self._engine: Engine | None = None
        self._closed = False
        if isinstance(source, Graph):
            opening = dataclasses.replace(source._opening, **of_open)
            source._loaders.add(self)
        else:
            opening = _Opening.of(source, **of_open)
        wrong = []
        if split not in _SPLITS:
            wrong.append(f"split is {split!r}: give \"train\", \"val\" or \"test\"")
        if as_ not in _KINDS:
            wrong.append(f"as_ is {as_!r}: give one of {', '.join(_KINDS)}")
        if form not in ("coo", "csr"):
            wrong.append(f"form is {form!r}: give \"coo\" or \"csr\"")
        if time is not None and time not in _TIMES:
            wrong.append(f"time is {time!r}: give one of {', '.join(_TIMES)}")
        if as_ in ("pyg", "dgl") and form != "coo":
            wrong.append(f"as_=\"{as_}\" needs form=\"coo\"")
        if not 1 <= prefetch <= 1000:
            wrong.append(f"prefetch is {prefetch}: give 1 to 1000 batches")
        if hold < 1:
            wrong.append(f"hold is {hold}: the batch at hand is one already")
        if opening.storage not in ("auto", "memory", "disk"):
            wrong.append(f"storage is {opening.storage!r}: give \"auto\", "
                         "\"memory\" or \"disk\"")
        self._rank = _rank_of("rank", rank, "RANK", 0)
        self._world = _rank_of("world_size", world_size, "WORLD_SIZE", 1)
        if not 0 <= self._rank < self._world:
            wrong.append(f"rank is {self._rank} of {self._world} ranks")
        if wrong:
            raise DefinitionError("; ".join(wrong), "invalid_argument")
        self._split, self._as, self._hold = split, as_, hold
        self._device, self._transform = device, transform
        self._timeout, self._drop_last = timeout, drop_last
        self._seeds = None if seeds is None else _ids_of(seeds)
        self._shuffle = shuffle
        threads = opening.threads
        given: dict[str, Any] = {
            "seed": seed, "labels": labels, "sampler.fanouts": _fanouts(fanouts),
            "sampler.replace": replace, "sampler.time": time,
            "sampler.latest": latest, "sampler.window": window,
            "sampler.disjoint": disjoint, "train.batch_size": batch_size,
            "evaluate.batch_size": batch_size, "train.seed_order": seed_order,
            "sampler.replicas": threads, "sampler.threads": threads,
            "fetch.threads": threads,
            "budget.bytes": _bytes_of("budget", opening.budget) or None,
            "budget.batches": prefetch + 1}
        if definition is None:
            # The defaults of the definition, but for these.
            for name, value in (("train.batch_size", 1024), ("seed", 1),
                                ("evaluate.batch_size", 1024),
                                ("train.seed_order", "global")):
                if given[name] is None:
                    given[name] = value
        texts = [f"{name}={_text(value)}" for name, value in given.items()
                 if value is not None]
        self._request: dict[str, Any] = {
            "data": opening.data, "cluster": opening.cluster or None,
            "key": opening.key, "insecure": opening.insecure,
            "definition": "dataset: loader\n" if definition is None else "",
            "file": "" if definition is None else os.fspath(definition),
            "overrides": texts + list(overrides),
            "split": _SPLITS[split], "shuffle": shuffle,
            "rank": self._rank, "world_size": self._world, "form": form,
            "merge_edge_types": merge_edge_types, "edge_ids": edge_ids,
            "edge_weights": edge_weights, "edge_features": edge_attr,
            "degrees": degrees,
            "storage": opening.storage,
            "memory": _bytes_of("memory", opening.memory),
            "verify": opening.verify, "seeds": self._seeds is not None}
        self._next = 0, 0  # Epoch and step at which the next iterator begins.
        self._place = self._next  # Behind the batch that was handed out last.
        self._pass = 0
        self._at_hand: list[int] = []  # Handed out, and not returned.

    # -- its engine

    def _started(self) -> Engine:
        if self._closed:
            raise Cancelled("the loader is closed", "cancelled")
        if self._engine is None:
            self._request["data"] = self._folder()
            self._engine = Engine(self._request, self._seeds, self._timeout)
            self._layout = Layout(self._engine.description, self._split,
                                  self._rank, self._world)
        return self._engine

    def _folder(self) -> str:
        return str(self._request["data"]) or served_here(
            self._request["cluster"], self._request["key"],
            self._request["insecure"])

    @property
    def info(self) -> Info:
        """Of the dataset."""
        return Folder(self._folder()).info

    @property
    def rank(self) -> int:
        """Of this process."""
        return self._rank

    @property
    def world_size(self) -> int:
        """Ranks that share each step."""
        return self._world

    @property
    def engine_pid(self) -> int:
        """Of the process that makes batches."""
        return self._started().pid

    def close(self) -> None:
        """Ends the process that makes batches. Those that you keep stay valid."""
        self._closed = True
        if self._engine is not None:
            self._engine.close()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise Error("a loader belongs to its process and cannot be pickled: make "
                    "it where it is used; it needs no workers", "invalid_argument")

    # -- epochs

    def __len__(self) -> int:
        """Steps of an epoch, the same on all ranks."""
        about = self._started().description
        whole, rest = divmod(int(about["seeds"]), int(about["batch_size"]))
        return whole + (rest != 0 and not self._drop_last)

    @property
    def epoch(self) -> int:
        """Of the next batch."""
        return self._place[0]

    def set_epoch(self, epoch: int) -> None:
        """The epoch of the next iterator, which begins with its first step unless
        a state within this epoch was loaded. It matters for every split whose
        fanouts sample."""
        if epoch != self._next[0]:
            self._next = self._place = int(epoch), 0

    def __iter__(self) -> Iterator[Any]:
        engine, steps = self._started(), len(self)
        self._pass += 1
        self._return_all()
        epoch, step = self._place = self._next
        self._next = epoch + 1, 0
        engine.begin(self._pass, epoch, step, steps)
        return self._run(engine, self._pass, epoch, step, steps)

    def _run(self, engine: Engine, number: int, epoch: int, step: int,
             steps: int) -> Iterator[Any]:
        while step < steps:
            if number != self._pass:
                raise Cancelled("a newer iterator of this loader has begun: one "
                                "loader has one at a time", "cancelled")
            self._return_all()
            words = engine.next_batch(number, self._timeout)
            sequence = words[1]
            root = engine.lease(sequence)
            self._at_hand.append(sequence)
            step += 1
            self._place = (epoch, step) if step < steps else (epoch + 1, 0)
            batch = Batch(self._layout, words, root, self._as != "numpy")
            del root
            yield self._finish(batch)
            del batch
        self._return_all()

    def _finish(self, batch: Batch) -> Any:
        if self._device is not None:
            batch = batch.to(self._device)
        out = (batch.as_pyg() if self._as == "pyg" else
               batch.as_dgl() if self._as == "dgl" else batch)
        return out if self._transform is None else self._transform(out)

    def _return_all(self) -> None:
        """Asks for more in the place of what was handed out."""
        engine = self._started()
        engine.check_hold(self._hold)
        engine.give_back(self._at_hand)
        self._at_hand = []

    # -- resumption

    def _identity(self) -> str:
        about = self._started().description
        seeds = (None if self._seeds is None else
                 hashlib.blake2b(self._seeds.tobytes(), digest_size=16).hexdigest())
        of_rows = [self._request[name] for name in
                   ("rows", "negatives", "edge_types") if name in self._request]
        return json.dumps([about["settings"], about["batch_size"], self._split,
                           self._shuffle, self._drop_last, seeds, *of_rows],
                          sort_keys=True)

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, behind the batch that was handed out last: plain
        values, the same on all ranks. After the last batch of an epoch, that is
        the beginning of the next."""
        about = self._started().description
        epoch, step = self._place
        return {"version": _STATE_VERSION, "epoch": epoch, "step": step,
                "definition": self._identity(),
                "dataset": about["digest"]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state with the next iterator; ``{}``: from the
        beginning. The number of ranks may be another one. Raises StateError if
        the state is of another dataset or of other settings."""
        if not state:
            self._next = self._place = 0, 0
            return
        own = self.state_dict()
        if state.get("version") != _STATE_VERSION:
            raise StateError(f"a state of version {state.get('version')}, and this "
                             f"package knows {_STATE_VERSION}", "version_mismatch")
        if state["dataset"] != own["dataset"]:
            raise StateError(
                f"the state is of dataset {state['dataset']}, and this loader has "
                f"{own['dataset']}", "invalid_argument")
        if state["definition"] != own["definition"]:
            raise StateError(
                "the state is of a loader with other settings: "
                f"{state['definition']}, here {own['definition']}",
                "invalid_argument")
        self._next = self._place = int(state["epoch"]), int(state["step"])


def _fanouts(fanouts: Fanouts | None) -> Any:
    if not isinstance(fanouts, Mapping):
        return fanouts if fanouts is None else [int(f) for f in fanouts]
    return {_type_name(key): [int(f) for f in values]
            for key, values in fanouts.items()}


def _type_name(key: Any) -> str:
    """The name of an edge type in definitions and tables."""
    if isinstance(key, str) and key:
        return key
    if (isinstance(key, tuple) and len(key) == 3
            and all(isinstance(part, str) for part in key)):
        return "__".join(key)
    raise DefinitionError(
        f"{key!r} names no edge type: give its name, or (type of sources, name, "
        "type of destinations)", "invalid_argument")


def _text(value: Any) -> str:
    """A value as it stands in a definition."""
    return value if isinstance(value, str) else json.dumps(value)

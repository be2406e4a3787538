"""Finished runs of ``graphmill train``."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile
from typing import Any, Sequence

import numpy as np

from ._dataset import Folder
from ._engine import find_program
from ._ids import count_of, ids_of
from ._types import Array
from ._wording import of_predictions
from .errors import DataError, DefinitionError, Error, error_of
from .info import Info
from .links import _triples_of

_LONGEST_HEADER = 1 << 27
_OUTPUTS = "probabilities", "logits", "embeddings"


@dataclasses.dataclass(frozen=True)
class Prediction:
    """Of ``graphmill predict``. Row i is of node ``ids[i]``.

    ``values``: [nodes] int64 classes; [nodes, labels] uint8, 1 for each label;
    or [nodes] or [nodes, numbers] float32. Of pairs: [pairs] float64 scores of
    links, or the same by pair. ``ids``: [nodes] int64; of pairs [2, pairs].
    ``probabilities`` and ``logits`` [nodes, classes], ``embeddings`` [nodes,
    width]: float32, or None if they were not asked for."""

    values: Array
    ids: Array
    probabilities: Array | None = None
    logits: Array | None = None
    embeddings: Array | None = None


class Run:
    """The folder of a run, such as ``runs/people-20250101-120000``.

    data
        Its dataset, where that is not where the run found it, or another one to
        predict.

    All methods raise DataError if the folder or a file of it cannot be read.

    >>> run = graphmill.Run("runs/small")
    >>> run.metrics()[0]["phase"]
    'train'
    >>> run.weights()["layer1.bias"].shape
    (16,)
    >>> run.predict([5, 3], probabilities=True).probabilities.shape
    (2, 4)
    """

    def __init__(self, folder: str | os.PathLike[str], *,
                 data: str | os.PathLike[str] | None = None) -> None:
        self._folder = pathlib.Path(folder)
        self._data = data
        if not (self._folder / "run.json").is_file():
            raise DataError(f"{folder} is no folder of a run: it has no run.json",
                            "not_found")

    @property
    def folder(self) -> pathlib.Path:
        """Its path."""
        return self._folder

    def metrics(self) -> list[dict[str, Any]]:
        """A dictionary for each phase of each epoch so far, in their order:
        ``phase``, ``epoch`` (from 1 on), ``loss``, ``accuracy`` and so on."""
        lines = self._text("metrics.jsonl").split("\n")
        # The last is empty, or not yet complete.
        return [_object(line, "metrics.jsonl") for line in lines[:-1]]

    def summary(self) -> dict[str, Any]:
        """The result of a run that has ended."""
        if not (self._folder / "summary.json").exists():
            raise DataError(f"{self._folder} has no summary.json: the run has not "
                            "ended; `graphmill resume` goes on with it",
                            "not_found")
        return _object(self._text("summary.json"), "summary.json")

    def definition(self) -> str:
        """Its definition with every field, as YAML."""
        return self._text("definition.yaml")

    def weights(self) -> dict[str, Array]:
        """The weights of the best epoch by name, float32, in memory of their own.
        examples/guide/models.md has the formulas."""
        path = self._folder / "weights.safetensors"
        try:
            return _tensors(path.read_bytes())
        except FileNotFoundError as cause:
            raise DataError(f"there is no {path}: the run has not ended",
                            "not_found") from cause
        except (OSError, ValueError, KeyError, TypeError) as cause:
            raise DataError(f"cannot read {path}: {cause}", "io") from cause

    def predict(self, nodes: Any = None, *, neighbours: str | None = None,
                probabilities: bool = False, logits: bool = False,
                embeddings: bool = False, pairs: Any = None,
                options: Sequence[str] = ()) -> Prediction:
        """Predicts nodes by the program ``graphmill``.

        nodes
            Ids in the dataset, or a mask; None: all, in order.
        neighbours
            "all" or "sampled": by batches. None: from all neighbours, nodes layer
            by layer, which suits many, and pairs by batches.
        probabilities, logits, embeddings
            Whether these are wanted, too. Embeddings are inputs of the last
            layer.
        pairs
            Of a run of a task of edges: [2, pairs] ids, sources above
            destinations, or such arrays by edge type.
        options
            More of ``graphmill predict``, such as ``["--threshold", "0.3"]``.

        Outputs pass through a folder in TMPDIR, and so do layers that do not fit
        into memory; ``options=["--scratch", folder]`` puts these elsewhere.

        Raises Unavailable if the program is missing, and what it says.
        """
        task = self._task()
        if pairs is None and task:
            raise DefinitionError(
                f"{self._folder} has learnt the task {task!r} of edges: give "
                "`pairs`, or take embeddings()", "invalid_argument")
        wanted = [name for name, on in zip(
            _OUTPUTS, (probabilities, logits, embeddings)) if on]
        flags = [f"--{name}" for name in wanted] + list(options)
        if pairs is not None and neighbours is None:
            neighbours = "all"
        flags += self._places(neighbours)
        with tempfile.TemporaryDirectory(prefix="graphmill-") as scratch:
            place = pathlib.Path(scratch)
            if pairs is not None:
                if nodes is not None:
                    raise DefinitionError("give nodes or pairs", "invalid_argument")
                return self._pairs(place, pairs, flags)
            if neighbours is None:
                flags.append("--all")
            ids = None if nodes is None else self._ids(nodes)
            if ids is not None:
                if not len(ids):
                    raise DefinitionError("nodes is empty, so there is nothing to "
                                          "predict", "invalid_argument")
                np.save(place / "nodes.npy", ids)
                flags += ["--nodes", str(place / "nodes.npy"),
                          "--nodes-by", "number"]
            self._call(flags, place / "out.npy")
            values = np.load(place / "out.npy")
            return Prediction(
                values, np.arange(len(values)) if ids is None else ids,
                *(np.load(place / f"out.{name}.npy") if name in wanted else None
                  for name in _OUTPUTS))

    def embeddings(self, nodes: Any = None, *, type: str | None = None,
                   neighbours: str | None = None,
                   options: Sequence[str] = ()) -> Array:
        """The inputs of the last layer, [nodes, width] float32; see `predict`. Of a
        task of edges: what scores are made of.

        type
            Of the nodes (default: the target type; of a task of edges, that of
            their ends). All nodes of another type, and of ends, are computed, and
            ``nodes`` chooses among them.
        """
        if type is None and not self._task():
            out = self.predict(nodes, neighbours=neighbours, embeddings=True,
                               options=options)
            assert out.embeddings is not None
            return out.embeddings
        of = self._end_type() if type is None else type
        ids = None if nodes is None else self._ids(nodes, of)
        with tempfile.TemporaryDirectory(prefix="graphmill-") as scratch:
            told = self._call(["--all", "--embeddings-of", of, *options,
                               *self._places(neighbours)],
                              pathlib.Path(scratch) / "out.npy")
            found: Array = np.load(told[f"embeddings.{of}"])
        if ids is None:
            return found
        if ids.size and not 0 <= ids.min() <= ids.max() < len(found):
            raise DefinitionError(f"nodes of type {of!r} have ids from 0 to "
                                  f"{len(found) - 1}", "invalid_argument")
        return found[ids]

    def _task(self) -> str:
        """The task of edges that was learnt; "": nodes were."""
        found = re.search(r"^task: (.*)$", self.definition(), re.MULTILINE)
        return found[1].strip("\"' ") if found else ""

    def _place_of_data(self) -> str:
        about = _object(self._text("run.json"), "run.json")
        return os.fspath(self._data or str(about["data"]))

    def _info(self) -> Info:
        """Of its dataset."""
        return Folder(self._place_of_data()).info

    def _ids(self, nodes: Any, of: str | None = None) -> Array:
        """Ids of nodes of a type; None: the target type."""
        def count() -> int | None:
            info = self._info()
            return count_of(info, info.target if of is None else of)
        return ids_of(nodes, "nodes", count)

    def _end_type(self) -> str:
        """The node type of the ends of the task's edges."""
        tasks, task = self._info().tasks, self._task()
        if task not in tasks:
            raise DataError(f"the dataset {self._place_of_data()} has no task "
                            f"{task!r}", "not_found")
        ends = sorted({end for source, _, destination in tasks[task].edge_types
                       for end in (source, destination)})
        if len(ends) > 1:
            raise DefinitionError(
                f"edges of the task {task!r} join nodes of several types: give "
                f"`type`, one of {', '.join(map(repr, ends))}", "invalid_argument")
        return ends[0]

    def _places(self, neighbours: str | None) -> list[str]:
        return ([] if neighbours is None else ["--neighbours", neighbours]) + (
            [] if self._data is None else ["--data", os.fspath(self._data)])

    def _pairs(self, place: pathlib.Path, pairs: Any,
               flags: list[str]) -> Prediction:
        if "--logits" in flags or "--embeddings" in flags:
            raise DefinitionError("pairs have no logits and no embeddings",
                                  "invalid_argument")
        triples, names = _triples_of(pairs)
        with open(place / "pairs.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["source", "destination"] + ["type"] * bool(names))
            table.writerows([*pair, *names[number:number + 1]]
                            for *pair, number in triples.tolist())
        self._call([*flags, "--pairs", str(place / "pairs.csv"),
                    "--nodes-by", "number"], place / "out.csv")
        with open(place / "out.csv", newline="") as file:
            header, *rows = csv.reader(file)

        def columns(begin: str, element: Any) -> Array | None:
            at = [i for i, name in enumerate(header)
                  if name == begin or name.startswith(begin + "_")
                  and name[len(begin) + 1:].isdigit()]
            found = np.array([[float(row[i]) for i in at] for row in rows])
            if not at:
                return None
            return found.reshape(len(rows), len(at)).astype(element)
        kinds = {"score": np.float64, "class": np.int64, "label": np.uint8,
                 "value": np.float32}
        for begin, element in kinds.items():
            values = columns(begin, element)
            if values is not None:
                flat = begin != "label" and values.shape[1] == 1
                return Prediction(values[:, 0] if flat else values,
                                  triples[:, :2].T,
                                  columns("probability", np.float32))
        raise Error(f"graphmill predict wrote the columns {', '.join(header)}, "
                    "of which this package knows none", "version_mismatch")

    def _call(self, flags: Sequence[str], out: pathlib.Path) -> dict[str, Any]:
        """Predicts, and returns what the program tells."""
        done = subprocess.run(
            [find_program("graphmill"), "predict", str(self._folder), *flags,
             "--out", str(out), "--json", "--quiet"],
            text=True, capture_output=True, stdin=subprocess.DEVNULL)
        try:
            told = dict(json.loads(done.stdout.splitlines()[-1]))
            error = (None if done.returncode == 0 else
                     error_of(str(told["code"]), of_predictions(str(told["error"]))))
        except (IndexError, ValueError, KeyError, TypeError):
            error = Error("graphmill predict has ended with exit code "
                          f"{done.returncode}: {done.stderr.strip()[-2000:]}",
                          "internal")
        if error is not None:
            raise error
        return told

    def _text(self, name: str) -> str:
        try:
            return (self._folder / name).read_text("utf-8")
        except FileNotFoundError as cause:
            raise DataError(f"there is no {self._folder / name}",
                            "not_found") from cause
        except (OSError, ValueError) as cause:
            raise DataError(f"cannot read {self._folder / name}: {cause}",
                            "io") from cause


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        return dict(json.loads(text))
    except (TypeError, ValueError) as cause:
        raise DataError(f"{where} is broken: {cause}", "invalid_data") from cause


def _tensors(data: bytes) -> dict[str, Array]:
    """Of a safetensors file: eight bytes with the length of a JSON text, the text,
    and the values."""
    size = int.from_bytes(data[:8], "little")
    if not 2 <= size <= min(len(data) - 8, _LONGEST_HEADER):
        raise ValueError("it is cut short")
    header = json.loads(data[8:8 + size])
    body, out = memoryview(data)[8 + size:], {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        shape = tuple(entry["shape"])
        if (entry["dtype"] != "F32" or not 0 <= begin <= end <= len(body)
                or end - begin != 4 * math.prod(shape)):
            raise ValueError(f"{name} is no float32 of its shape")
        out[name] = np.frombuffer(body[begin:end], "<f4").reshape(shape).copy()
    return out

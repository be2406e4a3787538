"""Writes graphs of other libraries as datasets of Graphmill.

It knows them by their attributes and imports none of these libraries; NumPy is
all that it needs. The program does the import: it checks every value, sorts
edges in bounded memory and digests the arrays, so that there is one place which
knows the format of datasets."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from .._wording import of_imports

__all__ = ["import_", "write"]


def import_(data: Any, folder: str | os.PathLike[str], *,
            program: str | os.PathLike[str] | None = None,
            **options: Any) -> dict[str, Any]:
    """Makes a dataset of a graph of another library, in a new ``folder``.

    data
        Data or HeteroData of PyG, a graph of DGL, a dataset of OGB with one
        graph, a graph of networkx, a sparse matrix of SciPy (an entry in row i
        and column j is an edge from i to j), a table of edges of pandas or
        pyarrow, or a dictionary of arrays with the names of PyG:
        ``edge_index`` [2, edges]; ``x`` [nodes, features], dense or CSR; ``y``
        [nodes] classes or texts, [nodes, labels] 0 and 1, or numbers with
        ``import_flags=["--regression"]``, which batches have as [nodes, numbers];
        ``train_mask`` [nodes] or
        ``train_idx``, likewise ``val`` and ``test``; ``num_nodes``.
    ignore, rename
        Attributes to leave out, "NAME" or "TYPE.NAME": others that nothing reads
        are refused. ``{"club": "y"}``: what an attribute of nodes is called here.
    labels, split_idx, split_index
        Those that stand beside the graph, or dictionaries by node type; which
        column of masks [nodes, splits].
    num_nodes, num_classes
        A count, or ``{type: count}``, where the graph does not say.
    edge_time, node_time, time_unit
        The attributes with the times of edges (default: edge_time) and of nodes,
        for sampling by time; what their numbers count: "s", "ms" or "us" since
        1970, or "step" (default: told by their size).
    weight, edge_attr, edge
        The attributes with the weights and the features of edges (default:
        edge_weight and edge_attr); ``{role: attribute}`` of edges
        for tasks: split, label, time, row_weight or negatives, or as in
        ``{"sign.label": "sign"}`` for one of several.
    undirected, no_label, name
        Edges go both ways, each pair of nodes once; labels that say that none is
        known; the name of the dataset.
    nodes, ends, features, id_column
        Of tables: the table of nodes; the columns (source, destination); columns
        of nodes that are features; the column of their ids.
    import_flags
        For ``graphmill import npy``, such as ``["--sparse"]`` or ``["--split",
        "0.8,0.1,0.1"]``.
    keep_arrays, arrays, chunk_bytes, program
        Keep the arrays that are imported; where they lie meanwhile (default:
        ``folder`` + ".arrays"); memory for conversions beside the graph itself;
        the program ``graphmill``.

    Returns what was done: ``kind`` of object, numbers of ``nodes`` and ``edges``
    by type, ``ignored``, ``notes``, and ``dataset``, what the import has said.
    Raises DataError with a sentence, and then leaves nothing behind, and
    Unavailable if the program is missing.

    >>> graph = {"edge_index": [[0, 1, 2], [1, 2, 0]], "num_nodes": 3,
    ...          "x": [[1.0], [2.0], [3.0]], "y": [0, 1, 0],
    ...          "train_mask": [True, True, False],
    ...          "test_mask": [False, False, True]}
    >>> graphmill.import_(graph, "triangle")["nodes"]
    {'node': 3}
    >>> graphmill.open("triangle").features([2, 0])
    array([[3.],
           [1.]], dtype=float32)
    """
    from .convert import find_program  # Half of the time to import all.
    from .options import checked
    given = checked(folder, {"program": program, **options})
    return _converted(data, folder, {
        **given, "program": find_program(given.get("program"), needed=True)})


def write(data: Any, folder: str | os.PathLike[str],
          **options: Any) -> dict[str, Any]:
    """Writes a graph as a new ``folder`` of arrays for ``graphmill import npy``,
    without the program. Takes what `import_` takes. ``command`` in what it
    returns imports the arrays, into ``folder`` + ".dataset".

    >>> done = graphmill.write({"edge_index": [[0, 1], [1, 0]], "num_nodes": 2,
    ...                         "y": [0, 1]}, "pair")
    >>> done["command"]
    'graphmill import npy pair --out pair.dataset'
    """
    from .options import checked
    from .values import Refused
    given = checked(folder, options)
    for name in "arrays", "run_import", "program", "keep_arrays":
        if name in given:
            raise Refused(f"write() makes the arrays in `folder`, without the program: "
                          f"leave {name} out, or use import_()")
    place = pathlib.Path(folder)
    return _converted(data, place.with_name(place.name + ".dataset"), {
        **given, "arrays": place, "run_import": False})


def _converted(data: Any, folder: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What was done, in words of arguments."""
    from .convert import convert
    from .values import Refused
    try:
        done = convert(data, folder, **options)
    except Refused as error:
        raise Refused(of_imports(str(error))) from error.__cause__
    done["notes"] = [of_imports(note) for note in done["notes"]]
    return done

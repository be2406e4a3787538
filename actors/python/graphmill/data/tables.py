"""Graphs of networkx and SciPy, and tables of pandas and Arrow."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Iterator

import numpy as np

from .._types import Array
from .graph import CHOSEN_FEATURES, Found, Ignored, add_attribute
from .tensor_graphs import ONE_EDGE
from .values import CompressedEdges, PairEdges, Refused, is_missing, to_numpy

ENDS = (("source", "destination"), ("source", "target"), ("src", "dst"),
        ("from", "to"), ("head", "tail"), ("u", "v"))
IDS = ("id", "node_id", "node", "index")


class ListedEdges:
    """Edges of networkx, with positions for its nodes."""

    def __init__(self, graph: Any, position: Any) -> None:
        self.graph, self.position = graph, position
        self.count = graph.number_of_edges()

    def blocks(self, step: int) -> Iterator[Any]:
        edges = iter(self.graph.edges())
        while part := list(itertools.islice(edges, min(step, 1 << 16))):
            ends = np.array([(self.position[edge[0]], self.position[edge[1]])
                             for edge in part], np.int64)
            yield ends[:, 0], ends[:, 1]


class ListedValues:
    """An attribute of edges of networkx, in their order; None where it is
    missing."""

    def __init__(self, graph: Any, key: Any) -> None:
        self.graph, self.key = graph, key
        self.dtype = np.dtype(object)

    def blocks(self, step: int) -> Iterator[Any]:
        values = iter(self.graph.edges(data=self.key))
        first = 0
        while part := list(itertools.islice(values, min(step, 1 << 16))):
            block = np.empty(len(part), object)
            block[:] = [value for *_, value in part]
            yield first, block
            first += len(part)


def read_networkx(graph: Any) -> Found:
    directed, multi = graph.is_directed(), graph.is_multigraph()
    if multi and not directed:
        raise Refused("parallel edges of an undirected MultiGraph would become "
                      "one: write networkx.Graph(graph), or "
                      "graph.to_directed() with both directions of each")
    names = list(graph.nodes())
    data = {"num_nodes": len(names)}
    keys = dict.fromkeys(key for _, values in graph.nodes(data=True)
                         for key in values)
    for key in keys:
        add_attribute(data, key, [values.get(key)
                                  for _, values in graph.nodes(data=True)])
    if names != list(range(len(names))):
        add_attribute(data, "node_names", names)
    position = {name: place for place, name in enumerate(names)}
    edge_data = {str(key): ListedValues(graph, key)
                 for *_, values in graph.edges(data=True) for key in values}
    other = {str(key): value for key, value in graph.graph.items()}
    return Found("a graph of networkx", {"node": data},
                 {ONE_EDGE: ListedEdges(graph, position)},
                 {ONE_EDGE: edge_data}, other,
                 typed=False, undirected=not directed)


def read_matrix(matrix: Any, step: int) -> Found:
    """A sparse matrix of SciPy: an entry in row i and column j is an edge from
    i to j."""
    rows, columns = (int(extent) for extent in matrix.shape)
    if rows != columns:
        raise Refused(f"the matrix has {rows} rows and {columns} columns, and "
                      "as many are expected: an entry is an edge between nodes "
                      "of one type")
    edges: CompressedEdges | PairEdges
    if matrix.format in ("csr", "csc"):
        edges = CompressedEdges(matrix.indptr, matrix.indices,
                                matrix.format == "csr")
    elif matrix.format == "coo":
        edges = PairEdges(matrix.row, matrix.col)
    else:
        raise Refused(f"the matrix is {matrix.format}; call .tocsr()")
    values = matrix.data
    ones = all((to_numpy(values[first:first + step]) == 1).all()
               for first in range(0, edges.count, step))
    found = Found(f"a sparse matrix ({matrix.format})",
                  {"node": {"num_nodes": rows}}, {ONE_EDGE: edges},
                  {ONE_EDGE: {} if ones else {"data": values}}, typed=False,
                  weight_names=("data",))
    found.notes.append("an entry in row i and column j is an edge from i to j"
                       + ("" if ones else ", also one of 0 that is stored"))
    return found


class Table:
    """Columns of pandas, of Arrow, or of a file of Parquet, in blocks."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.frame = hasattr(table, "iloc")
        if self.frame:
            self.names, self.rows = list(table.columns), len(table)
        elif hasattr(table, "iter_batches"):
            self.names = list(table.schema_arrow.names)
            self.rows = table.metadata.num_rows
        else:
            self.names, self.rows = list(table.column_names), table.num_rows
        if len(set(map(str, self.names))) < len(self.names):
            raise Refused("two columns have the same name; there are "
                          + ", ".join(map(str, self.names)))

    def batches(self, columns: Any,
                step: int) -> Iterator[Callable[[Any], Array]]:
        """Parts of these columns, as functions from a name to an array."""
        if self.frame:
            for first in range(0, self.rows, step):
                part = self.table.iloc[first:first + step]
                yield lambda name: np.asarray(part[name].to_numpy())
            return
        if hasattr(self.table, "iter_batches"):
            parts = self.table.iter_batches(batch_size=step, columns=columns)
        else:
            parts = (batch for first in range(0, self.rows, step)
                     for batch in self.table.slice(first, step).to_batches())
        for part in parts:
            yield lambda name: of_arrow(part.column(part.schema.names.index(
                name)))

    def column(self, name: Any, step: int) -> Array:
        parts = [get(name) for get in self.batches([name], step)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


def of_arrow(column: Any) -> Array:
    """An array of Arrow as one of NumPy. Those of indices into a dictionary are
    decoded first: pyarrow gives missing values the last of the dictionary
    (https://github.com/apache/arrow/pull/10101)."""
    decode = getattr(column, "dictionary_decode", None)
    return np.asarray((decode() if decode else column).to_numpy(
        zero_copy_only=False))


class Columns:
    """Several columns as the rows of a matrix, converted in blocks."""

    def __init__(self, table: Any, names: Any) -> None:
        self.table, self.names = table, names
        self.shape = (table.rows, len(names))
        self.dtype = np.dtype(np.float32)

    def blocks(self, step: int) -> Iterator[Any]:
        first = 0
        for get in self.table.batches(self.names, step):
            columns = [get(name) for name in self.names]
            for name, values in zip(self.names, columns):
                if values.dtype.kind not in "biuf":
                    raise Refused(f"the column {name} holds {values.dtype}, "
                                  "and features are numbers")
                if values.dtype.kind in "iu" and len(values) and max(
                        -int(values.min()), int(values.max())) > 1 << 24:
                    raise Refused(f"the column {name} has integers above 2^24, "
                                  "which float32 does not hold")
            yield first, np.stack(columns, axis=1).astype(np.float32)
            first += len(columns[0])


class TableColumn:
    """A column of a table of edges, in blocks."""

    def __init__(self, table: Any, name: Any) -> None:
        self.table, self.name = table, name
        self.dtype = np.dtype(object)

    def blocks(self, step: int) -> Iterator[Any]:
        first = 0
        for get in self.table.batches([self.name], step):
            block = get(self.name)
            yield first, block
            first += len(block)


class TableEdges:
    """Edges of a table, whose ends are looked up among ids of nodes."""

    def __init__(self, table: Any, ends: Any, ids: Any, order: Any) -> None:
        self.table, self.ends, self.ids, self.order = table, ends, ids, order
        self.count = table.rows

    def blocks(self, step: int) -> Iterator[tuple[Array, Array]]:
        source, destination = self.ends
        for get in self.table.batches([source, destination], step):
            yield (self.places(get(source), source),
                   self.places(get(destination), destination))

    def places(self, values: Any, column: Any) -> Array:
        check_ids(values, column)
        if not len(self.ids):
            raise Refused("there are edges, and no nodes")
        expect_same_kind(values, self.ids, column)
        at = np.minimum(np.searchsorted(self.ids, values), len(self.ids) - 1)
        strange = self.ids[at] != values
        if strange.any():
            raise Refused(f"the column {column} has {values[strange][0]!r}, "
                          "which is the id of no node")
        return np.asarray(self.order[at])


def check_ids(values: Any, column: Any) -> None:
    if values.dtype.kind in "iu":
        return
    if values.dtype.kind not in "OU" or any(
            is_missing(value) or not isinstance(value, str)
            for value in values):
        raise Refused(f"the column {column} should hold integers or texts "
                      "alone, without missing ones, for they are ids of nodes")


def with_ids(ids: Array, values: Array, column: Any) -> Array:
    """The ids that are known, ascending, and those of a column."""
    new = np.unique(values)
    if not len(ids) or not len(new):
        return new if len(new) else ids
    expect_same_kind(new, ids, column)
    return np.union1d(ids, new)


def expect_same_kind(values: Any, ids: Any, column: Any) -> None:
    kinds = values.dtype.kind in "iu", ids.dtype.kind in "iu"
    if kinds[0] != kinds[1]:
        raise Refused(f"of the column {column} and the other ids of nodes, one "
                      "holds integers and one texts")
    # NumPy would compare them as floats, where many ids are the same.
    if all(kinds) and np.promote_types(values.dtype, ids.dtype).kind == "f":
        raise Refused(f"of the column {column} and the other ids of nodes, one "
                      "holds integers of 64 bits with a sign and one without: "
                      "convert one of them")


def end_columns(table: Any, ends: Any) -> tuple[Any, Any]:
    if ends:
        missing = [name for name in ends if name not in table.names]
        if missing:
            raise Refused(f"the table has no column {missing[0]}; there are "
                          + ", ".join(map(str, table.names)))
        source, destination = ends
        return source, destination
    known = [pair for pair in ENDS if set(pair) <= set(table.names)]
    if len(known) != 1:
        raise Refused("which columns are the ends of edges? Say --source and "
                      "--destination; there are "
                      + ", ".join(map(str, table.names)))
    return known[0]


def node_columns(nodes: Any, features: Any, id_column: Any, step: int,
                 ignored: Ignored) -> tuple[Array, dict[str, Any]]:
    """The attributes of nodes that a table has, and their ids."""
    if id_column is None:
        named = [name for name in IDS if name in nodes.names]
        if len(named) != 1:
            raise Refused("which column has the ids of nodes? Say --id; there "
                          "are " + ", ".join(map(str, nodes.names)))
        id_column = named[0]
    for name in (id_column, *features):
        if name not in nodes.names:
            raise Refused(f"the table of nodes has no column {name}")
    ids = nodes.column(id_column, step)
    check_ids(ids, id_column)
    data = {"num_nodes": nodes.rows}
    for name in nodes.names:
        if (name != id_column and name not in features
                and not ignored.drops("", str(name))):
            add_attribute(data, name, nodes.column(name, step))
    if features:
        add_attribute(data, CHOSEN_FEATURES, Columns(nodes, list(features)))
    return ids, data


def read_tables(edges: Any, nodes: Any = None, *, ends: Any = None,
                features: Any = (), id_column: Any = None, step: int,
                ignored: Ignored) -> Found:
    """A table of edges, and one of nodes or none; without one, the nodes are
    those that edges have."""
    edges = Table(edges)
    ends = end_columns(edges, ends)
    if nodes is None:
        ids = np.empty(0, np.int64)
        for get in edges.batches(list(ends), step):
            for name in ends:
                values = get(name)
                check_ids(values, name)
                ids = with_ids(ids, values, name)
        data = {"num_nodes": len(ids)}
    else:
        ids, data = node_columns(Table(nodes), features, id_column, step,
                                 ignored)
    order = np.argsort(ids, kind="stable")
    known = ids[order]
    if len(known) and (known[1:] == known[:-1]).any():
        twice = known[1:][known[1:] == known[:-1]][0]
        raise Refused(f"two nodes have the id {twice!r}")
    if ids.dtype.kind not in "iu" or (ids != np.arange(len(ids))).any():
        add_attribute(data, "node_names", ids)
    left = {str(name): TableColumn(edges, name) for name in edges.names
            if name not in ends}
    return Found("tables", {"node": data},
                 {ONE_EDGE: TableEdges(edges, ends, known, order)},
                 {ONE_EDGE: left}, typed=False)

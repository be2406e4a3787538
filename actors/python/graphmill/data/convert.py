"""From an object to the arrays, and by the program to a dataset."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
from typing import Any, Iterable, Mapping, Sequence

from .. import _engine
from ..errors import Unavailable
from . import tables, tensor_graphs
from .arrays import COPIES, FEATURES, LABELS, Writer, unread
from .graph import (Found, Ignored, rows_of_edges, take_features, take_roles,
                    take_times, take_weights, typed_name, with_type_names)
from .values import Refused

TABLE_OPTIONS = ("nodes", "ends", "features", "id_column")


def read(graph: Any, step: int, ignored: Ignored = Ignored(()),
         **options: Any) -> Found:
    """What is found in an object, by the attributes that it has.

    `options` are for tables: nodes, ends, features, id_column. Of what is
    ignored, columns of nodes are left out here, for each is read whole."""
    strange = [name for name in options if name not in TABLE_OPTIONS]
    if strange:
        raise Refused(f"there is no option {strange[0]}; those for tables are "
                      + ", ".join(TABLE_OPTIONS)
                      + ", of which ends is (SOURCE, DESTINATION)")

    def has(*names: Any) -> bool:
        return all(hasattr(graph, name) for name in names)

    found = None
    if (has("columns", "iloc") or has("column_names", "slice")
            or has("iter_batches", "schema_arrow")):
        return tables.read_tables(graph, step=step, ignored=ignored, **options)
    if isinstance(graph, tuple) and len(graph) == 2:
        found = read(graph[0], step)
        tensor_graphs.add_labels(found, graph[1])
    elif has("get_idx_split") or has("get_edge_split"):
        found = tensor_graphs.read_ogb(graph, lambda one: read(one, step))
    elif has("canonical_etypes", "ntypes"):
        found = tensor_graphs.read_dgl(graph)
    elif has("node_types", "edge_types", "stores"):
        found = tensor_graphs.read_hetero(graph)
    elif (has("edge_index") or has("adj_t") or has("edge_index_dict")
          or isinstance(graph, dict)):
        found = tensor_graphs.read_data(graph)
    elif has("is_directed", "is_multigraph", "nodes", "edges"):
        found = tables.read_networkx(graph)
    elif has("format", "nnz", "shape"):
        found = tables.read_matrix(graph, step)
    if found is None:
        raise Refused(f"{type(graph).__name__} is none of the objects that can "
                      "be written: PyG's Data and HeteroData, a DGLGraph, a "
                      "dataset of OGB, a graph of networkx, a sparse matrix of "
                      "SciPy, a table of pandas or pyarrow")
    if options:
        raise Refused(f"{', '.join(options)}: options for tables, and it is "
                      + found.kind)
    return found


def without_ignored(found: Found, ignored: Ignored) -> list[str]:
    """Leaves out what is to be ignored. Returns what the graph has beside that,
    for nothing reads it."""
    for name, data in found.nodes.items():
        owner = name if found.typed else ""
        found.nodes[name] = {
            key: value for key, value in data.items()
            if value is not None and not ignored.drops(owner, key)}
    for key, data in found.edge_data.items():
        owner = typed_name(key) if found.typed else ""
        found.edge_data[key] = {
            name: value for name, value in data.items()
            if value is not None and not ignored.drops(owner, name)}
    return [name for name, value in found.other.items()
            if value is not None and not ignored.drops("", name)]


def expect_all_read(found: Found, of_graph: Any, times: bool) -> None:
    """Refuses what nothing reads, all of it at once. (Of what edges have, the
    weights and features have been taken.)"""
    of_edges = [f"{typed_name(key)}.{name}" if found.typed else name
                for key, data in found.edge_data.items() for name in data]
    known = rows_of_edges(found, (*FEATURES, *LABELS))
    of_nodes = [f"{owner}.{name}" if found.typed else name
                for owner, data in found.nodes.items()
                for name in unread(data, times) if name not in known]
    of_edges += [name for data in found.nodes.values()
                 for name in unread(data, times) if name in known]
    left = [*of_edges, *of_graph, *of_nodes]
    if not left:
        return
    no_such = "edges"
    # One store may have all kinds of attributes.
    owners = f"nodes, the graph, or {no_such}" if found.one_store else "nodes"
    parts = [f"{', '.join(names)} of {what}" for names, what in (
        (of_nodes, owners), (of_graph, "the graph"), (of_edges, no_such))
        if names]
    flags = " ".join(f"--ignore {shlex.quote(name)}" for name in left)
    rename = ("; or say by rename={NAME: \"y\"} (--rename NAME=y) that one "
              "has the labels of nodes, or by node_time=NAME (--node-time NAME) "
              "their times" if of_nodes else "")
    if of_edges or found.one_store:
        rename += ("; or say by edge_attr=NAME (--edge-attr NAME) that one has "
                   "the features of edges, by weight=NAME (--weight NAME) that "
                   "one has their weights, by edge_time=NAME (--edge-time NAME) "
                   "that one has their times, or by edge={ROLE: NAME} (--edge "
                   "ROLE=NAME) what it is for a task of edges")
    raise Refused(f"nothing reads {'; nor '.join(parts)}. Leave out what is "
                  f"not needed by ignore={json.dumps(left)} (of the command: "
                  f"{flags}){rename}")


def renamed(found: Found, names: Any) -> None:
    """Gives attributes of nodes the names that say what they are."""
    used = set()
    for owner, data in found.nodes.items():
        for old, new in names.items():
            if old not in data:
                continue
            if new in data:
                raise Refused(f"{owner} has both {old} and {new}")
            data[new] = data.pop(old)
            used.add(old)
    left = sorted(set(names) - used)
    if left:
        raise Refused(f"--rename {left[0]}: no node has such an attribute")


def find_program(given: str | os.PathLike[str] | None = None,
                 needed: bool = False) -> str | None:
    """The program `graphmill`; one that was named must be there. Without it,
    None, or Unavailable if it is needed."""
    named = given or os.environ.get("GRAPHMILL")
    if named:
        program = shutil.which(os.fspath(named))
        if program is None:
            raise Refused(f"{named} is no program")
        return program
    try:
        return _engine.find_program("graphmill")
    except Unavailable:
        if needed:
            raise
        return None


def import_arrays(command: Sequence[str], arrays: pathlib.Path, folder: Any,
                  typed: bool) -> dict[str, Any]:
    """Imports by the program; names of nodes go beside their arrays."""
    done = subprocess.run([*command, "--json", "--quiet"], text=True,
                          capture_output=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        hint = ("; --split 0.8,0.1,0.1 (of the command: after --) makes one"
                if "nothing to train on" in lines[-1] else "")
        raise Refused(f"the import failed: {lines[-1]}{hint}")
    for path in arrays.glob("*node_names.txt"):
        name = path.name.removesuffix(".node_names.txt") if typed else "node"
        shutil.copyfile(path, folder / "nodes" / name / "node_names.txt")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def import_command(program: str, arrays: pathlib.Path, folder: Any, name: Any,
                   flags: Sequence[Any], undirected: Any) -> list[str]:
    return [str(program), "import", "npy", str(arrays), "--out", str(folder),
            *(["--name", name] if name else []),
            *(["--undirected"] if undirected else []), *map(str, flags)]


def by_time(flags: Sequence[Any]) -> bool:
    """Whether the import splits by time, and so reads times."""
    text = list(map(str, flags))
    return "--by=time" in text or any(
        pair == ("--by", "time") for pair in zip(text, text[1:]))


def labels_by(flags: Sequence[Any]) -> str:
    """The flag by which the import is told what labels are, if there is one."""
    return next((one for one in ("--regression", "--multi-label")
                 if one in map(str, flags)), "")


def flags_for_none(no_label: Any, flags: Sequence[Any]) -> list[str]:
    """Has the import leave nodes without a label out of splits, as it does when
    it is told of labels for none: here they are -1 by now, or NaN."""
    if not no_label:
        return []
    return ["--no-label", "nan" if labels_by(flags) == "--regression" else "-1"]


def convert(graph: Any, folder: str | os.PathLike[str], *,
            ignore: Iterable[str] = (), rename: Any = (), labels: Any = None,
            split_idx: Mapping[str, Any] | None = None,
            split_index: int | None = None,
            num_nodes: int | Mapping[str, int] | None = None,
            num_classes: int | None = None, weight: str | None = None,
            edge_attr: str | None = None, edge_time: str | None = None,
            node_time: str | None = None, time_unit: str | None = None,
            undirected: bool = False, name: str | None = None,
            import_flags: Sequence[str] = (),
            program: str | os.PathLike[str] | None = None,
            run_import: bool = True, keep_arrays: bool = False,
            arrays: str | os.PathLike[str] | None = None,
            chunk_bytes: int = 64 << 20, no_label: Iterable[Any] = (),
            edge: Any = (), **table_options: Any) -> dict[str, Any]:
    """Writes a graph as the dataset `folder`, and returns what was done.

    The arrays lie in `arrays` (default: `folder` + ".arrays") until they are
    imported; where there is no program, or `run_import` is false, they stay,
    and `command` says how to import them. Beside the graph itself, and what its
    library makes of it, `chunk_bytes` of memory are taken. Raises Refused, a
    sentence, and then leaves nothing behind.

    ignore: attributes to leave out, NAME or TYPE.NAME; others that nothing
    reads are refused. rename: {attribute of nodes: the name that it is known
    by}, such as {"club": "y"}. labels, split_idx: those that stand beside the
    graph, or dictionaries by node type. split_index: which column of masks [N, splits].
    num_nodes: {type: count}, or one count, where the graph does not say.
    weight: the attribute of edges that has their weights; if there is none, that
    is edge_weight or weight, and of a matrix its values unless each is 1.
    edge_attr: the attribute of edges that has their features, if it is called
    otherwise.
    edge_time, node_time: the attributes that have the times of edges (default:
    edge_time) and of nodes, for sampling by time. time_unit: what their numbers
    count, s, ms or us since 1970, or step; None: told by their size.
    edge: {role: attribute of edges} for a task of edges, as {"label": "rating"};
    roles are split (0, 1, 2, -1), label, time, row_weight and negatives;
    "TASK.label" is of that task alone.
    no_label: labels that say that none is known, as texts or numbers.
    import_flags: for `graphmill import npy`. Of tables: nodes, ends, features,
    id_column."""
    if isinstance(import_flags, str):
        raise Refused(f"import_flags is {import_flags!r}: give a list of texts, "
                      f"such as {shlex.split(import_flags)}")
    folder = pathlib.Path(folder)
    arrays = (folder.with_name(folder.name + ".arrays") if arrays is None
              else pathlib.Path(arrays))
    for path in (folder, arrays):
        if path.exists():
            raise Refused(f"{path} is there already; remove it, or choose "
                          "another place")
    found_program = find_program(program) if run_import else None
    no_label = list(no_label)
    ignored = Ignored(ignore)
    found = read(graph, max(1, chunk_bytes // (8 * COPIES)), ignored,
                 **table_options)
    add_beside(found, labels, split_idx)
    of_graph = without_ignored(found, ignored)
    ignored.expect_all_used()
    renamed(found, dict(rename))
    take_roles(found, dict(edge))
    take_weights(found, weight)
    take_features(found, edge_attr)
    timed = take_times(found, edge_time, node_time)
    times = by_time(import_flags) or "--node-time" in timed
    if time_unit is not None:
        timed += ["--time-unit", time_unit]
    expect_all_read(found, of_graph, times)
    found = with_type_names(found)
    counts = write_arrays(arrays, found, chunk_bytes, split_index=split_index,
                          num_nodes=by_type(num_nodes, found),
                          num_classes=num_classes, times=times,
                          kind=labels_by(import_flags), no_label=no_label)
    command = import_command(found_program or "graphmill", arrays, folder, name,
                             [*import_flags, *timed,
                              *flags_for_none(no_label, import_flags)],
                             undirected or found.undirected)
    report: dict[str, Any] = {
        "kind": found.kind, "folder": str(folder), **counts,
        "ignored": ignored.dropped, "notes": found.notes,
        "command": shlex.join(command), "imported": False}
    try:
        if found_program:
            report["dataset"] = import_arrays(command, arrays, folder,
                                              found.typed)
            report["imported"] = True
            # Which labels said none has been told by their own names.
            found.notes += [note for note in report["dataset"].get("notes", [])
                            if not note.startswith("--no-label ")]
    finally:
        if found_program and not keep_arrays:
            shutil.rmtree(arrays)
    if arrays.exists():
        report["arrays"] = str(arrays)
    return report


def write_arrays(arrays: pathlib.Path, found: Found, chunk_bytes: Any,
                 **options: Any) -> dict[str, Any]:
    """Writes the folder of arrays in one piece: it is there whole, or not."""
    if found.undirected:
        found.notes.append("edges have no direction, and are imported both "
                           "ways")
    try:
        arrays.parent.mkdir(parents=True, exist_ok=True)
        scratch = pathlib.Path(tempfile.mkdtemp(dir=arrays.parent,
                                                prefix=f".{arrays.name}."))
    except OSError as error:
        raise Refused(f"cannot write into {arrays.parent}: {error.strerror}; "
                      "choose another folder") from error
    try:
        counts = Writer(scratch, found, chunk_bytes, **options).write()
        scratch.rename(arrays)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return counts


def by_type(num_nodes: Any, found: Found) -> dict[str, Any]:
    """Counts of nodes that were given, as {type: count}. A type may be called
    as the graph calls it."""
    if num_nodes is None:
        return {}
    if isinstance(num_nodes, dict):
        names = {original: name for name, original in found.originals.items()
                 if name in found.nodes}
        num_nodes = {names.get(name, name): count
                     for name, count in num_nodes.items()}
    return tensor_graphs.by_node_type(
        found, num_nodes, "numbers of nodes (--num-nodes TYPE=N)")


def add_beside(found: Found, labels: Any, split_idx: Any) -> None:
    if labels is not None:
        tensor_graphs.add_labels(found, labels)
    if split_idx is not None:
        tensor_graphs.add_split(found, split_idx)

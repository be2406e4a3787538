"""The command: files in, a dataset out."""

from __future__ import annotations

import argparse
import json
import pathlib
import pickle
import subprocess
import sys
import zipfile
from typing import Any, Iterable, Sequence

import numpy as np

from .._types import Array
from .convert import convert, find_program
from .values import Refused

# What the arrays of a compressed file may have, for each byte of it and besides:
# a few bytes of zeros would be all memory.
MOST_UNPACKED_RATIO, MOST_UNPACKED_BYTES = 100, 1 << 30

KINDS = ".pt, .pth (torch), .parquet, .npz (matrices of SciPy, or arrays), .csv"


class SavedMatrix:
    """What `scipy.sparse.save_npz` has saved, read by NumPy alone."""

    ARRAYS = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"),
              "coo": ("row", "col")}

    def __init__(self, path: pathlib.Path, there: Any) -> None:
        def array(name: Any) -> Any:
            if name not in there:
                raise Refused(f"{path} is no matrix that scipy.sparse.save_npz "
                              f"has saved: it has no {name}; and it has no "
                              "edge_index, which arrays of a graph have: "
                              + (", ".join(sorted(there)) or "nothing"))
            return there[name]

        self.format = array("format").item()
        if isinstance(self.format, bytes):
            self.format = self.format.decode()
        self.shape = tuple(array("shape").tolist())
        for name in (*self.ARRAYS.get(self.format, ()), "data"):
            setattr(self, name, array(name))
        self.nnz = len(array("data"))


def expect_fair_size(path: pathlib.Path) -> None:
    """Looks at what a zip file says of itself, beyond which nobody reads."""
    with zipfile.ZipFile(path) as packed:
        unpacked = sum(part.file_size for part in packed.infolist())
    size = path.stat().st_size
    if unpacked > MOST_UNPACKED_RATIO * size + MOST_UNPACKED_BYTES:
        raise Refused(f"{path} has {size} bytes, and its arrays would have "
                      f"{unpacked}; save it without compression if that is so")


def pickled_in(file: Any) -> list[str]:
    """The arrays of an .npz that hold pickled objects: their headers say so."""
    found = []
    for name in file.files:
        with file.zip.open(name + ".npy" if name + ".npy"
                           in file.zip.namelist() else name) as part:
            form: Any = np.lib.format
            version = form.read_magic(part)
            header = (form.read_array_header_1_0 if version == (1, 0)
                      else form.read_array_header_2_0)(part)
            if header[2].hasobject:
                found.append(name)
    return found


def load_npz(path: pathlib.Path, unpickle: bool = False) -> Any:
    """A matrix of SciPy, which has a format; or else what numpy.savez has saved:
    a graph's arrays, by the names that PyG's attributes have. Pickled objects
    are programs, and read if `unpickle` says so."""
    expect_fair_size(path)
    with np.load(path, allow_pickle=unpickle) as file:
        pickled = pickled_in(file)
        if pickled and not unpickle:
            raise Refused(f"{path} holds pickled objects ({', '.join(pickled)}"
                          f"; beside them: "
                          f"{', '.join(sorted({*file.files} - {*pickled})) or 'nothing'}"
                          "), and reading them would run what is in them: say "
                          "--unpickle if you trust whoever has made it")
        there = {name: unwrapped(file[name]) for name in file.files}
    there = with_edges(path, there)
    if "format" in there or "edge_index" not in there:
        return SavedMatrix(path, there)
    return there


def unwrapped(array: Array) -> Any:
    """The object that numpy.savez has wrapped in an array without extents."""
    return array.item() if array.dtype == object and not array.shape else array


def with_edges(path: pathlib.Path, there: dict[str, Any]) -> dict[str, Any]:
    """Arrays of a graph, with `edge_index` in the place of the sparse matrix of
    as many rows as columns, if there is one such."""
    square = [name for name, value in there.items()
              if hasattr(value, "nnz") and value.shape[0] == value.shape[1]]
    if "edge_index" in there or not square:
        return there
    if len(square) > 1:
        raise Refused(f"{path}: {' and '.join(square)} may all have the edges; "
                      "save the one that does, alone, by scipy.sparse.save_npz")
    out = {name: value.tocsr() if hasattr(value, "nnz") else value
           for name, value in there.items() if name != square[0]}
    edges = there[square[0]].tocoo()
    out["edge_index"] = np.stack([edges.row, edges.col])
    out["num_nodes"] = int(edges.shape[0])
    if not (edges.data == 1).all():
        out["edge_weight"] = edges.data
    return out


def imported(name: Any, path: pathlib.Path) -> Any:
    """A library that a file needs."""
    try:
        return __import__(name, fromlist=["_"])
    except ImportError as error:
        raise Refused(f"reading {path} needs {name.split('.')[0]}, which is "
                      "not installed") from error


def load(path: pathlib.Path, unpickle: bool = False) -> Any:
    """The object that a file holds. One that is more than tensors is read if
    `unpickle` says so, and runs what it says."""
    path = pathlib.Path(path)
    if path.is_dir():
        raise Refused(f"{path} is a folder, and a file is expected: {KINDS}. "
                      f"It holds {content_of(path)}")
    if not path.is_file():
        raise Refused(f"{path} is no file")
    try:
        if path.suffix in (".pt", ".pth"):
            return load_torch(imported("torch", path), path, unpickle)
        if path.suffix == ".parquet":
            return imported("pyarrow.parquet", path).ParquetFile(path)
        if path.suffix == ".npz":
            return load_npz(path, unpickle)
    except Refused:
        raise
    except Exception as error:  # Whatever readers make of a damaged file.
        raise Refused(f"cannot read {path}: {error}") from error
    raise Refused(f"{path}: files of these kinds are read: {KINDS}")


def content_of(folder: Any) -> str:
    """What is in a folder, for people; and what reads it, if that is known."""
    names = sorted(one.name for one in folder.iterdir())
    shown = ", ".join(names[:10]) or "nothing"
    if len(names) > 10:
        shown += f" and {len(names) - 10} more"
    if any(name.endswith(".npy") for name in names):
        shown += (f". A folder of .npy arrays is for `graphmill import npy "
                  f"{folder}`")
    elif "dataset.json" in names:
        shown += ". It is a dataset already"
    return shown


def load_torch(torch: Any, path: pathlib.Path, unpickle: bool) -> Any:
    """An object that torch saved. If it holds more than tensors, reading it
    runs what it says, like every pickle."""
    if not unpickle:
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except (TypeError, pickle.UnpicklingError) as error:
            # Before torch 1.13, or with more in it.
            raise Refused(
                f"{path} cannot be read as tensors alone, and reading more of "
                "it would run what is in it: say --unpickle if you trust "
                "whoever has made it") from error
    try:
        return torch.load(path, map_location="cpu", weights_only=False)
    except TypeError:  # Before torch 1.13.
        return torch.load(path, map_location="cpu")


def import_csv(options: Any, flags: Sequence[Any]) -> int:
    """Tables of text are for the program itself: it reads them in bounded
    memory and knows their columns."""
    if options.rename:
        raise Refused("--rename is not for tables of text: say what columns "
                      "are by the flags of graphmill import csv, such as -- "
                      "--label class")
    for flag, value in (("--num-nodes", options.num_nodes),
                        ("--split-index", options.split_index is not None),
                        ("--keep-arrays", options.keep_arrays)):
        if value:
            raise Refused(f"{flag} is not for tables of text")
    command = ["import", "csv", "--edges", options.graph,
               *(["--nodes", options.nodes] if options.nodes else []),
               *(["--source", options.source] if options.source else []),
               *(["--destination", options.destination]
                 if options.destination else []),
               *(["--id", options.id] if options.id else []),
               *(["--weight", options.weight] if options.weight else []),
               *(["--undirected"] if options.undirected else []),
               *(["--name", options.name] if options.name else [])]
    for value in options.no_label:
        command += ["--no-label", value]
    for name in options.ignore:
        command += ["--ignore", name]
    for name in options.feature:
        command += ["--feature", name]
    command += ["--out", options.out, *flags]
    program = None if options.no_import else find_program(options.graphmill)
    if program is None:
        raise Refused("tables of text are imported by the program alone: "
                      + " ".join(["graphmill", *command]))
    return subprocess.run([program, *command,
                           *(["--json"] if options.json else [])]).returncode


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="to_graphmill.py", description=f"""Writes a graph as a dataset of
        Graphmill. The file may be {KINDS}. A file of torch with more than
        tensors, as an object of PyG, is a program, and so are pickled objects
        in an .npz: they are read with --unpickle alone. Where the program
        graphmill is found (--graphmill, $GRAPHMILL, build/ here, or the PATH),
        it imports the arrays; else they stay in OUT.arrays, and the command is printed.""",
        epilog="""What follows -- goes to `graphmill import npy`, such as
        -- --reverse --split 0.8,0.1,0.1 --by label. Exit codes: 0 done, 1
        refused or failed, 2 wrong use.""")
    add = made.add_argument
    add("graph", help="file of the graph, or of its edges")
    add("out", metavar="OUT", help="folder of the new dataset")
    add("--ignore", metavar="NAME", action="append", default=[],
        help="an attribute or column to leave out, NAME or TYPE.NAME; others "
        "that nothing reads are refused; may come several times")
    add("--rename", metavar="OLD=NEW", action="append", default=[],
        help="give an attribute of nodes the name that says what it is, such "
        "as class=y; may come several times")
    add("--split-index", type=int, metavar="I",
        help="which column of masks [N, splits]")
    add("--num-nodes", metavar="[TYPE=]N", action="append", default=[],
        help="how many nodes there are, where the graph does not say")
    add("--weight", metavar="NAME",
        help="the attribute or column of edges that has their weights; default: "
        "edge_weight or weight")
    add("--edge-attr", metavar="NAME",
        help="the attribute of edges that has their features; default: "
        "edge_attr")
    add("--edge-time", metavar="NAME",
        help="the attribute of edges that has their times, for sampling by time; "
        "default: edge_time")
    add("--node-time", metavar="NAME",
        help="the attribute of nodes that has their times, for sampling by time")
    add("--time-unit", choices=("s", "ms", "us", "step"),
        help="what numbers of times count; default: told by their size")
    add("--edge", metavar="ROLE=NAME", action="append", default=[],
        help="what an attribute of edges is for a task of edges: split (0, 1, "
        "2, -1), label, time, row_weight or negatives; TASK.label and so on for "
        "one task of several; may come several times")
    add("--undirected", action="store_true",
        help="edges go both ways, each pair of nodes once")
    add("--name", help="name of the dataset; default: that of the folder")
    add("--nodes", metavar="FILE", help="table of nodes, beside one of edges")
    add("--source", metavar="COLUMN", help="of edges: where they begin")
    add("--destination", metavar="COLUMN", help="of edges: where they end")
    add("--id", metavar="COLUMN", help="of nodes: their ids")
    add("--feature", metavar="COLUMN", action="append", default=[],
        help="of nodes: a feature; may come several times")
    add("--no-label", metavar="VALUE", action="append", default=[],
        help="a label that says that none is known; may come several times")
    add("--graphmill", metavar="PROGRAM", help="the program")
    add("--no-import", action="store_true", help="write the arrays alone")
    add("--keep-arrays", action="store_true",
        help="keep them in OUT.arrays after the import")
    add("--chunk-mib", type=int, default=64, metavar="MIB",
        help="memory for conversions (default: %(default)s)")
    add("--unpickle", action="store_true",
        help="read a file of torch, or pickled objects in an .npz, and run "
        "what is in it: only for files that you trust")
    add("--json", action="store_true", help="end with one line of JSON")
    return made


def counts_of(texts: Iterable[str]) -> Any:
    """`--num-nodes`: one count, or {type: count}."""
    counts = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not number.isdecimal():
            raise Refused(f"--num-nodes {text}: [TYPE=]N is expected")
        counts[name] = int(number)
    return counts[""] if set(counts) == {""} else counts or None


def names_of(texts: Iterable[str], flag: str = "--rename",
             form: str = "OLD=NEW") -> dict[str, str]:
    """`--rename`: {old: new}; `--edge`: {role: name}."""
    for text in texts:
        if "=" not in text:
            raise Refused(f"{flag} {text}: {form} is expected")
    return dict(text.split("=", 1) for text in texts)


def run(options: Any, flags: Sequence[Any]) -> dict[str, Any]:
    if options.chunk_mib < 1:
        raise Refused("--chunk-mib is 1 or more")
    if bool(options.source) != bool(options.destination):
        raise Refused("--source and --destination are needed together")
    if options.nodes:
        tables = {"nodes": load(options.nodes, options.unpickle)}
    else:
        tables = {}
    if options.source:
        tables["ends"] = (options.source, options.destination)
    if options.feature:
        tables["features"] = options.feature
    if options.id:
        tables["id_column"] = options.id
    return convert(load(options.graph, options.unpickle), options.out,
                   ignore=options.ignore, rename=names_of(options.rename),
                   split_index=options.split_index,
                   num_nodes=counts_of(options.num_nodes), weight=options.weight,
                   edge_attr=options.edge_attr, edge_time=options.edge_time,
                   node_time=options.node_time, time_unit=options.time_unit,
                   edge=names_of(options.edge, "--edge", "ROLE=NAME"),
                   undirected=options.undirected, name=options.name,
                   import_flags=flags, program=options.graphmill,
                   run_import=not options.no_import,
                   keep_arrays=options.keep_arrays, no_label=options.no_label,
                   chunk_bytes=options.chunk_mib << 20, **tables)


def main(arguments: Any = None) -> int:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    flags = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, flags = arguments[:at], arguments[at + 1:]
    options = parser().parse_args(arguments)
    try:
        if options.graph.endswith((".csv", ".csv.gz", ".tsv", ".txt")):
            return import_csv(options, flags)
        report = run(options, flags)
    except (Refused, OSError) as error:
        print(f"to_graphmill: {error}", file=sys.stderr)
        if options.json:
            print(json.dumps({"error": str(error)}))
        return 1
    for note in report["notes"]:
        print(f"note: {note}", file=sys.stderr)
    if options.json:
        print(json.dumps(report))
    elif report["imported"]:
        print(f"{report['folder']}: the dataset. The next step: graphmill "
              f"inspect {report['folder']}")
    else:
        print(f"{report['arrays']}: its arrays. The next step:\n"
              f"{report['command']}")
    return 0

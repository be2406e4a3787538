"""Every row of partition/broken-inputs.md: the input is made, the command run,
and its exit code and sentence are those of the page.

What is broken is made here and in support/broken_inputs.py; rows that
odd_tables_test.py and odd_arrays_test.py have are made by those."""

import concurrent.futures
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import odd_arrays_test
import odd_tables_test
import support
from broken_inputs import (
    DEFINITION, NODES, arrays, columns, cut, dataset, definition, element, emptied,
    field, header, labels, longer, meta, of_other_edges, parts, pickled,
    predicted, renamed, run, sparse, table, to_folder, to_loop, to_pipe, told,
    type_told, weights, with_not_a_number, within)
from runs import Workplace
from support import ROOT, graphmill, np, program

PAGE = (ROOT / "partition/broken-inputs.md").read_text()
PATIENCE_SECONDS = 100
CHECKPOINT = ("checkpoints", "0000001-0000000000")
LINKS = "edges/node__links__node"



def changed_since(place, good):
    """A dataset is there, of an edge list that is another by now."""
    words = table("1,2\n", None)(place, good)
    subprocess.run([program(), *words], cwd=place, check=True,
                   stdout=subprocess.DEVNULL)
    (place / "e.csv").write_text("2,1\n")
    return words


def old_record(place, good):
    """A record of a run of hetero_sage, from before `model.relations`."""
    text = (good / "run" / "definition.yaml").read_text()
    text = text.replace("kind: sage\n", "kind: hetero_sage\n")
    (place / "copy.yaml").write_text(
        "".join(line for line in text.splitlines(keepends=True)
                if not line.startswith("  relations:")))
    return ["train", "copy.yaml", "--data", good / "set"]


# By the headings of the page, and the first column of its tables.
MAKERS = {
    "Tables of text": {
        "a byte order mark": table("\ufeffsource,target\na,b\n",
                                    "\ufeff" + NODES),
        "line ends of Windows, in some lines": table("a,b\r\nb,c\n"),
        "line ends of old Macs": table("a,b\rb,c\r"),
        "UTF-16": table("a,b\n".encode("utf-16")),
        "UTF-32": table("a,b\n".encode("utf-32")),
        "Latin-1": table("a,b\n", NODES.replace("a,x", "Z\xfcrich,x").encode(
            "latin-1")),
        "a NUL character": table(b"a,b\nb\0,c\n"),
        "a line break in a quoted id": table('"a\nz",b\nb,c\n',
                                              None),
        "a gzip file, also of several members": table(
            gzip.compress(b"a,b\n") + gzip.compress(b"b,c\n")),
        "a gzip file that is cut": table(gzip.compress(b"a,b\n" * 99)[:-12]),
        "a zip archive": table(b"PK\3\4\n\0\0\0"),
        "a Zstandard file that is cut": table(
            b"\x28\xb5\x2f\xfd\x04\x00\n"),
        "a Zstandard file of a large window": table(
            b"\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00"),
        "an empty edge list and no table": table("", None),
        "an empty node table": table("a,b\n", ""),
        "a folder as table": table(to_folder),
        "a link to itself as table": table(to_loop),
        "a pipe as table": table(to_pipe),
        "a comment between edges": table("a,b\n# hi\nb,c\n", None),
        "a node table that may have no header": table(
            "a,b\n", "a,5\nb,6\nc,7\n", "--id", "n.csv=1"),
        "ids with and without a fraction": table("1,2.0\n2,1\n", None),
        "classes with almost the same name": table(
            "a,b\n", "id,label,split\na,Fraud,train\nb,fraud,train\n"),
        "a blank before a quoted id": table('a, "b"\nb, "c"\n', None),
        "the header again, between edges": table(
            "source,target\na,b\nsource,target\nb,c\n", None),
        "the header again, with a byte order mark": table(
            "source,target\na,b\n\ufeffSource,target\nb,c\n", None),
        "`nan` as a feature": table("a,b\n", NODES.replace(",1", ",nan")),
        "a feature beyond float32": table("a,b\n",
                                          NODES.replace(",1", ",1e39")),
        "a feature beyond float32 that is scaled": table(
            "a,b\n", NODES.replace(",1", ",1e300"), "--normalise",
            "standardise"),
        "two entries of a columns file for one table": columns(
            "node:\n  features: {f: number}\nn.csv:\n"
            "  features: {f: number}\n"),
        "no value for a feature": table("a,b\n", NODES.replace(",1", ",")),
        "`None` as a label": table("a,b\n", NODES.replace("b,y", "b,None")),
        "`-1` as a label among texts": table("a,b\n",
                                             NODES.replace("b,y", "b,-1")),
        "`-1` as a label among numbers": table("a,b\n", NODES.replace(
            "a,x", "a,7").replace("b,y,val", "b,-1,").replace("c,x", "c,8")),
        "`unknown` as a label, with `--no-label unknown`": table(
            "a,b\n", NODES.replace("b,y", "b,unknown"), "--no-label",
            "unknown"),
        "`--no-label` with a label that is not there": table(
            "a,b\n", NODES, "--no-label", "unknwon"),
        "`--no-label` twice with the same label": table(
            "a,b\n", NODES, "--no-label", "unknown", "--no-label", "unknown"),
        "a class without a training node": table("a,b\n", NODES),
        "a line break in a label": table("a,b\n",
                                         NODES.replace("a,x", 'a,"x\nz"')),
        "a line break in the name of a column": table(
            "a,b\n", NODES.replace("split,f", 'split,"f\ng"')),
        "an escape in a relation": table(
            "source,relation,target\na,r\x1b[2J,b\n", None),
        "no label of a node of a split": table("a,b\n",
                                               NODES.replace("a,x", "a,")),
        "ids that are negative, or beyond 2^63": table(
            "-1,2\n2,99999999999999999999999\n", None),
        "an integer that float32 would round": table(
            "a,b\n", NODES.replace(",1", ",16777217")),
        "such an integer, standardised": table(
            "a,b\n", NODES.replace(",1", ",16777217"), "--normalise",
            "standardise"),
        "such an integer as a weight": table(
            "source,target,weight\na,b,16777217\n"),
        "a decimal comma": table("a,b\n", NODES.replace(",1", ',"1,5"')),
        "a date that could be two": columns(
            "node: {features: {f: date}}",
            NODES.replace(",1", ",01/02/2024")),
        "a misspelt option of a column": columns(
            "node:\n  features:\n    f: {as: number, fil: mean}\n"),
        "a misspelt table in a columns file": columns("nod: {id: id}"),
        "a columns file that leaves a column out": columns(
            "node: {features: {}}"),
        "a column twice in a columns file": columns(
            "node:\n  features:\n    f: number\n    f: hash\n"),
        "labels as a feature": columns(
            "node: {label: label, features: {label: hash, f: number}}"),
        "a mask as a feature": columns(
            "node: {train_mask: tr, features: {tr: number}}",
            "id,tr\na,1\nb,0\nc,0\n"),
        "like a dataset that is not of tables": table(
            "a,b\n", NODES, "--like", "nowhere"),
        "JSON": table('{"edges": [[1, 2]]}\n', None),
        "GraphML": table('<?xml version="1.0"?>\n<graphml>\n', None),
        "GML": table("graph [\n  edge [ source 1 target 2 ]\n]\n", None),
        "a column of edges without a name": table(
            ",source,target\n0,a,b\n", None),
        "two characters between columns": table("1::2\n", None,
                                                "--separator", "::"),
        "a column that is misspelt": table("a,b\n", NODES.replace(
            "label", "job"), "--label", "jbo"),
        "the edges of one type twice": table("a,b\n", NODES, "--edges",
                                             "e.csv"),
        "two node tables of one type": table("a,b\n", NODES, "--nodes",
                                             "n.csv"),
        "a type called `..`": table("1,2\n", None, "--edges",
                                    "..__to__b=e.csv"),
        "a type with a space": table("1,2\n", None, "--edges",
                                     "x y__to__b=e.csv"),
        "a type with a slash": table("1,2\n", None, "--edges",
                                     "a/x__to__b=e.csv"),
        "a first row that may be a header": table(
            "Madrid,Valladolid\nkim,lee\n", None),
        "the numbers that pandas gives to columns": table(
            "0,1\nkim,lee\n", None),
        "a first row that may be a comment": table(
            "# made, today\nkim,lee\n", None),
        "commas and semicolons": table("1;2;0,5\n2;3;1,5\n", None),
        "ids that begin with `#`": table(
            "#red,u1\n#blue,u2\ngreen,u1\n", None),
        "columns that are called like neither type": table(
            "thing_id,buyer_id\na,b\n", None, "--edges",
            "user__buys__item=e.csv"),
        "columns of types in the other order": table(
            "item_id,user_id\na,b\n", None, "--edges",
            "user__buys__item=e.csv"),
        "text as a feature of edges": table(
            "source,target,sum\na,b,lots\n", NODES, "--feature", "sum"),
        "more than one character before comments": table(
            "1,2\n", None, "--comments", "//"),
        "errors in several rows": table("a,b\na,z\n", NODES.replace(
            "train,1", "learn,red")),
        "more bad rows than `--skip-bad-rows` allows": table(
            "a,b\na,z\nb,y\n", NODES, "--skip-bad-rows", "1"),
        "bad rows without a limit": table(
            "a,b\n", NODES, "--skip-bad-rows", "-1"),
        "no more than that": table("a,b\na,z\nb,y\n", NODES,
                                   "--skip-bad-rows", "2"),
        "unknown nodes and an empty end, with `--unknown-nodes drop`": table(
            "a,b\na,z\n,b\n", NODES, "--unknown-nodes", "drop"),
        "an unknown node with `--unknown-nodes add`": table(
            "a,b\na,z\n", NODES, "--unknown-nodes", "add"),
        "ids of edges and tables in other ways, with `--unknown-nodes add`":
            table("source,target\n1.0,2.0\n", "id\n1\n2\n",
                  "--unknown-nodes", "add"),
        "ids of edges and tables in other ways, with `--unknown-nodes drop`":
            table("source,target\n1.0,2.0\n", "id\n1\n2\n",
                  "--unknown-nodes", "drop"),
        "a pattern that matches no file": table("a,b\n", NODES, "--edges",
                                                "x-*.csv"),
        "files of one table with two headers": table(
            "source,target\na,b\n", NODES, "--edges", "n.csv"),
        "a header in a further file of an edge list": table(
            "1,2\n3,4\n", None, "--edges", "m.csv",
            more="payer_id,payee_id\n5,6\n"),
        "an empty further file of a table": table(
            "source,target\na,b\n", None, "--edges", "m.csv", more=""),
        "a file by two paths in one table": table(
            "a,b\nb,c\n", None, "--edges", "./e.csv"),
        "a quote that is closed many rows later": table(
            'source,target,kind\na,b,"k\n' + 40 * "b,c,k\n" + 'a,c,k"\n',
            None, "--ignore", "kind"),
        "a stray quote before text in quotes, with `--skip-bad-rows`": table(
            'source,target,kind\na,b,"k\nb,c,k\nc,a,"k"\n', None, "--ignore",
            "kind", "--skip-bad-rows", "1"),
        "two stray quotes around few rows": table(
            'source,target,kind\na,b,"k\nb,c,k"\nc,a,k\n', None, "--ignore",
            "kind"),
        "a decimal comma in a weight": table(
            "source;target;weight\na;b;0,5\n", None),
        "a point beside decimal commas": table(
            "source;target;weight\na;b;0.5\n", None, "--decimal", "comma"),
        "a node in two masks": table(
            "a,b\n", "id,tr,te\na,1,1\nb,0,1\n", "--train-mask", "tr",
            "--test-mask", "te"),
        "a mask of other words": table(
            "a,b\n", "id,tr\na,1\nb,perhaps\n", "--train-mask", "tr"),
        "a split and a mask": table("a,b\n", NODES, "--train-mask", "f"),
        "a source that has changed since": changed_since,
        "shares that are no numbers": table("a,b\n", NODES, "--split",
                                            "nan,0.1,0.1"),
    },
    "Arrays": {
        "pickled objects": arrays(labels=pickled),
        "records": arrays(labels=np.zeros(40, [("a", int), ("b", float)])),
        "complex numbers": arrays(features=np.ones((40, 5), complex)),
        "a file that is cut": arrays(features=cut),
        "a file that is too long": arrays(features=longer),
        "an empty file": arrays(features=emptied),
        "a header that tells of more than there is": arrays(labels=header(
            "{'descr': '<i8', 'fortran_order': False, 'shape': (40,), }")),
        "a header whose shape overflows": arrays(labels=header(
            "{'descr': '<i8', 'fortran_order': False, "
            "'shape': (4611686018427387904, 4), }")),
        "a header with a negative extent": arrays(labels=header(
            "{'descr': '<i8', 'fortran_order': False, 'shape': (-8,), }")),
        "a folder called `features.npy`": arrays(features=to_folder),
        "a pipe as array": arrays(features=to_pipe),
        "a link to itself as array": arrays(features=to_loop),
        "an array packed by gzip": arrays(features=lambda path: (
            path.write_bytes(gzip.compress(path.read_bytes())))),
        "`inf` in features": arrays(features=np.full((40, 5), np.inf)),
        "features of no node": arrays(features=np.zeros((0, 5), np.float32)),
        "features of a node too many": arrays(features=np.zeros((41, 5))),
        "ids of edges that are no numbers of nodes": arrays(
            edges=np.array([[0, 10**9], [1, 2]]), labels=None, features=None,
            meta="{}"),
        "no edges at all": arrays(edges=np.zeros((2, 0), int)),
        "a source below 0": arrays(edges=np.array([[0, 1, -1], [1, 2, 3]])),
        "a destination that is no node": arrays(
            edges=np.array([[0, 1, 2], [1, 2, 40]])),
        "labels of a node too many": arrays(labels=np.zeros(41, int)),
        "a label of -100": arrays(labels=labels(n30=-100)),
        "a label of -100, with `--no-label -100`": arrays(
            "--no-label", "-100", labels=labels(n30=-100)),
        "`--no-label` with a text, of integers": arrays(
            "--no-label", "unknown"),
        "a folder without edges": arrays(edges=None),
        "`features_data.npy`, as SciPy calls it": arrays(
            features=None, features_indptr=np.arange(41),
            features_indices=np.zeros(40, np.int64),
            features_data=np.ones(40, np.float32)),
        "a label that is no class": arrays(labels=labels(n30=3)),
        "a training node without a label": arrays(labels=labels(n7=-1)),
        "classes as floats that are whole": arrays(
            labels=labels().astype(float)),
        "a label of 2^62": arrays(labels=labels(n30=2**62), meta=meta(
            num_classes=None)),
        "a seed that is no node": arrays(train_idx=np.array([40, 2])),
        "a seed twice": arrays(train_idx=np.array([2, 2])),
        "a seed in two splits": arrays(train_idx=np.array([9, 2])),
        "no training nodes, but others": arrays(train_idx=np.zeros(0, int)),
        "no seeds at all": arrays(train_idx=None, val_idx=None, test_idx=None),
        "a single value as labels": arrays(labels=np.array(1)),
        "seeds as floats": arrays(train_idx=np.array([1.0, 2.0])),
        "a sparse feature beyond the last column": sparse(
            columns=np.full(40, 5)),
        "rows of sparse features that overlap": sparse(
            begin=np.array([0, 5, *range(2, 41)])),
        "sparse entries in no row": sparse(
            begin=np.minimum(np.arange(41), 39)),
        "a sparse column twice in a row": sparse(
            begin=np.array([0] + [40] * 40)),
        "`meta.json` that is no JSON": arrays(meta="{rubbish"),
        "`meta.json` with a key twice": arrays(
            meta='{"num_nodes": 40, "num_nodes": 41}'),
        "`meta.json` with a key twice in an object of its own": arrays(
            meta='{"num_nodes": 40, "label_sets": {"t": {}, "t": {}}}'),
        "`meta.json` with a class twice": arrays(
            meta=meta(class_names=["a", "b", "a"])),
        "`meta.json` with a line break in the name of a class": arrays(
            meta=meta(class_names=["a", "b\nc", "d"])),
        "`meta.json` with 100,000 levels": arrays(meta="[" * 100000),
        "`meta.json` with another number of nodes": arrays(
            meta=meta(num_nodes=39)),
        "`meta.json` with a negative count": arrays(meta=meta(num_nodes=-1)),
        "`meta.json` with a billion classes": arrays(
            meta=meta(num_classes=10**9)),
    },
    "Datasets and their parts": {
        "no `dataset.json`": dataset(
            lambda folder: (folder / "dataset.json").unlink()),
        "`dataset.json` that is cut": dataset(within("dataset.json", by=cut)),
        "a pipe as `dataset.json`": dataset(
            within("dataset.json", by=to_pipe)),
        "a format of the future": dataset(within("dataset.json", by=told(
            lambda document: document.update(format_version=9)))),
        "a format that never was": dataset(within("dataset.json", by=told(
            lambda document: document.update(format_version=0)))),
        "a count of nodes that arrays contradict": type_told(count=257),
        "a count of 2^62": type_told(count=2**62),
        "a type called `../x`": type_told(name="../x"),
        "a node type twice": dataset(within("dataset.json", by=told(
            lambda document: document["node_types"].append(
                document["node_types"][0])))),
        "a class twice": type_told(class_names=["a", "b", "a"]),
        "a key twice in `dataset.json`": dataset(within(
            "dataset.json", by=renamed('"count":', '"count": 1, "count":'))),
        "a feature that is no number": dataset(within(
            "nodes/node/features.npy", by=element(5, np.nan))),
        "a source that is no node": dataset(within(
            LINKS, "indices.npy", by=element(5, 256))),
        "lists of edges that overlap": dataset(within(
            LINKS, "indptr.npy", by=element(5, 900))),
        "a dataset in a link to itself": dataset(
            lambda folder: (shutil.rmtree(folder), folder.symlink_to("set"))),
        "more parts than nodes": dataset(
            lambda folder: None, "partition", "set", "--parts", "257", "--out",
            "out", "--method", "random", "--quiet"),
        "no parts": dataset(lambda folder: None, "partition", "set",
                            "--parts", "0"),
        "a part that is gone": parts(within("part-1", by=shutil.rmtree)),
        "parts that have been swapped": parts(lambda folder: [
            (folder / old).rename(folder / new) for old, new in (
                ("part-0", "x"), ("part-1", "part-0"), ("x", "part-1"))]),
        "seeds of parts that are cut": parts(within("seeds/node/train.npy",
                                                    by=cut)),
    },
    "Definitions": {
        "an empty file of a definition": definition(""),
        "a list": definition("- a\n"),
        "a definition in UTF-16": definition(DEFINITION.encode("utf-16")),
        "a definition with a byte order mark": definition("\ufeff"
                                                          + DEFINITION),
        "a pipe as definition": definition(to_pipe),
        "a file without an end": definition(
            lambda path: path.symlink_to("/dev/zero")),
        "a definition of 1 MiB": definition(DEFINITION + "#" + "x" * 2**20),
        "a tab as indentation": definition(
            "dataset: set\nmodel:\n\thidden: 8\n"),
        "a key twice": field("model: {hidden: 8, hidden: 16}"),
        "an anchor, as of a bomb": definition(
            "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
        "a tag": definition("dataset: !!python/object/apply:os.system [x]\n"),
        "100,000 open brackets": definition("dataset: " + "[" * 100000),
        "two documents": definition(f"{DEFINITION}---\n{DEFINITION}"),
        "a field that is misspelt": field("model: {hiden: 8}"),
        "a kind that is misspelt": field("model: {kind: saeg}"),
        "a field as other libraries call it": field("optimizer: {lr: 0.1}"),
        "a number of layers": field("model: {num_layers: 2}"),
        "a kind as other libraries call it": field("model: {kind: GraphSAGE}"),
        "a section that is empty": field("model:"),
        "a negative fanout": field("sampler: {fanouts: [-2, 3]}"),
        "no fanouts": field("sampler: {fanouts: []}"),
        "a fanout beyond 2^64": field(
            "sampler: {fanouts: [18446744073709551617]}"),
        "a batch of no seeds": field("train: {batch_size: 0}"),
        "a batch of 1e3 seeds": field("train: {batch_size: 1e3}"),
        "a learning rate of nan": field("optimizer: {learning_rate: nan}"),
        "a learning rate below 0": field("optimizer: {learning_rate: -0.1}"),
        "`yes` for true": field("model: {layer_norm: yes}"),
        "the copy of a `hetero_sage` run's `definition.yaml` that is older "
        "than `model.relations`": old_record,
        "a name that leads elsewhere": field("name: ../../etc"),
        "a label set that there is not": field("labels: topic"),
        "`--set` without a value": definition(DEFINITION, "--set",
                                              "model.hidden"),
    },
    "Weights, checkpoints and lists of nodes": {
        "weights that are cut": weights(cut),
        "weights that are too long": weights(longer),
        "weights in a folder": weights(to_folder),
        "the folder of a run as weights": weights(lambda path: (
            to_folder(path), (path / "weights.safetensors").touch())),
        "weights in a pipe": weights(to_pipe),
        "weights of an edge type that the data lack": weights(of_other_edges),
        "weights of PyTorch": weights(lambda path: path.write_bytes(
            b"\x80\x02}q\0." + b"x" * 99)),
        "weights with another bit": run(
            within("weights.safetensors", by=with_not_a_number), "evaluate"),
        "a definition changed beside its weights": run(
            within("definition.yaml", by=renamed("hidden: 8", "hidden: 9")),
            "evaluate"),
        "a run without `run.json`": run(
            lambda folder: (folder / "run.json").unlink(), "evaluate"),
        "a checkpoint that is cut": run(
            within(*CHECKPOINT, "tensors.safetensors", by=cut), "resume",
            "--set", "train.epochs=2", "--with-changes"),
        "a checkpoint's state that is cut": run(
            within(*CHECKPOINT, "state.json", by=cut), "resume", "--set",
            "train.epochs=2", "--with-changes"),
        "nodes that there are not": predicted(np.array([256])),
        "nodes as floats": predicted(np.array([1.5])),
        "an empty list of nodes": predicted(np.zeros(0, int)),
        "a word among nodes": predicted("1\nx\n"),
    },
}


def maker(heading, name):
    """What makes the input of a row."""
    if name in MAKERS[heading]:
        return MAKERS[heading][name]
    for row in odd_tables_test.REFUSED:
        if heading == "Tables of text" and row[0] == name:
            return table(row[1], row[2], *row[3])
    for row in odd_arrays_test.REFUSED:
        if heading == "Arrays" and row[0] == name:
            return arrays(*row[2], **row[1])
    return None


def rows_of_page():
    """Of all tables: heading, name, exit code, what is said."""
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.split(" | ")]
            if len(cells) == 3 and cells[1].isdigit():
                yield (section.splitlines()[0], cells[0].removeprefix("| "),
                       int(cells[1]), cells[2].removesuffix(" |"))


class BrokenInputs(Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.good = cls.top / "good"
        cls.good.mkdir()
        support.imported("rmat", "--out", cls.good / "set", "--scale", 8,
                         "--edges", 1000, "--features", 4, "--classes", 3,
                         "--train", 0.2)
        path = cls.good / "d.yaml"
        path.write_text(DEFINITION)
        for words in (
                ("partition", cls.good / "set", "--parts", 2, "--method",
                 "random", "--out", cls.good / "parts", "--quiet"),
                ("train", path, "--data", cls.good / "set", "--runs",
                 cls.good / "runs", "--quiet")):
            done = graphmill(*words)
            assert done.returncode == 0, done.stderr
        next((cls.good / "runs").iterdir()).rename(cls.good / "run")

    def answer(self, number, make):
        """Makes an input in a folder of its own; returns the finished
        process."""
        place = self.top / str(number)
        place.mkdir()
        words = make(place, self.good)
        return subprocess.run([program(), *map(str, words)], cwd=place,
                              text=True, errors="backslashreplace",
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE_SECONDS)

    def test_rows(self):
        rows = list(rows_of_page())
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(
                lambda numbered: self.answer(
                    numbered[0], maker(*numbered[1][:2])), enumerate(rows)))
        for (heading, name, code, said), done in zip(rows, answers):
            with self.subTest(heading, input=name):
                text = done.stdout + done.stderr
                self.assertEqual(done.returncode, code, text)
                self.check_said(text, said)
                if code != 0 and "\ngraphmill: " in "\n" + done.stderr:
                    self.assertEqual(len(done.stderr.split("graphmill: ")), 2)

    def check_said(self, text, said):
        """The pieces of a shortened sentence, in their order."""
        at = 0
        for piece in said.split(" ... "):
            self.assertIn(piece, text[at:])
            at = text.index(piece, at) + len(piece)

    def test_the_page_has_every_input(self):
        named = [(heading, name) for heading, name, *_ in rows_of_page()]
        self.assertEqual(len(named), len(set(named)))
        for heading, name in named:
            self.assertIsNotNone(maker(heading, name), name)
        self.assertLessEqual(
            {(heading, name) for heading in MAKERS
             for name in MAKERS[heading]}, set(named))


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
